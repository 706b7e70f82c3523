"""Everything that can be done to a memory: one row each, with its fields; every surface renders the rows, and all can be undone."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.model.errors import Conflict, Invalid
from holdfast.model.record import Record
from holdfast.policy.admission.admit import Waivers
from holdfast.policy.admission.refusals import explain
from holdfast.policy.ranking.trust import REASONS
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records.hot import pin, promote, unpin
from holdfast.verbs.records.lifecycle import Revision, link, record_use, restore, retire, revise, unlink
from holdfast.verbs.records.undo import Done, act, revert, version_at
from holdfast.verbs.records.write import Written, WrittenPending, cancel, confirm
from holdfast.verbs.truth.trust import change_trust
from holdfast.verbs.truth.verify import update_value, verify
from holdfast.verbs.upkeep.backups import backups_of
from holdfast.verbs.upkeep.erasing import erase

Fields = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Action:
    """What it does to a record with the fields of a form; it returns a message."""

    do: Callable[[Memory, Record, Fields], str]
    fields: tuple[str, ...] = ()


def act_on(memory: Memory, reference: str, name: str, fields: Fields) -> Done:
    """Perform an action on a memory, in the project of that memory."""
    if name not in ACTIONS:
        raise Invalid(f"There is no action {name[:40]!r}.", hint=f"Use {', '.join(ACTIONS)}.")
    record = find(memory, reference).record
    home = memory if record.project in ("", memory.project) else memory.acting_on(record.project)
    given = {field: fields.get(field, "") for field in ACTIONS[name].fields}
    return act(home, lambda acting: (ACTIONS[name].do(acting, record, given), None))


def _said(message: str, do: Callable[[Memory, Record, Fields], Any]) -> Callable[[Memory, Record, Fields], str]:
    """Return an action that does something and returns a fixed message."""

    def run(memory: Memory, record: Record, fields: Fields) -> str:
        do(memory, record, fields)
        return message

    return run


def _share(memory: Memory, record: Record, fields: Fields) -> str:
    revise(memory, record.id, Revision(visibility=fields["visibility"]))
    is_shared = fields["visibility"] == "team"
    return "Shared: it is synced to the team's replicas." if is_shared else "It stays on this machine."


def _use(memory: Memory, record: Record, fields: Fields) -> str:
    record_use(memory, [record.id], fields["outcome"], note=fields["note"])
    return f"Recorded: {fields['outcome']}."


def _trust(memory: Memory, record: Record, fields: Fields) -> str:
    raises = REASONS.get(fields["reason"], 1) > 0
    changed = change_trust(memory, record.id, fields["reason"], raises=raises, note=fields["note"])
    return f"Trust is {changed.now:.2f} now."


def _unlink(memory: Memory, record: Record, fields: Fields) -> str:
    unlink(memory, fields["source"] or record.id, fields["relation"], fields["target"])
    return "Link removed."


def _confirm(memory: Memory, record: Record, fields: Fields) -> str:
    outcome = confirm(memory, record.id, waivers=Waivers(duplicate=bool(fields["anyway"])))
    if not isinstance(outcome, Written | WrittenPending):
        raise Conflict(str(explain(outcome)))
    return "Approved."


def _erase(memory: Memory, record: Record, fields: Fields) -> str:
    if fields["sure"] != "erase":
        raise Invalid("Erasing cannot be undone.", hint="Write the word erase to confirm.")
    erased = erase(memory, record.id)
    left = [kept.path for kept in backups_of(memory, erased) if kept.holds]
    message = "Erased from the journal, its views and every copy on this machine."
    if not erased.finished:
        message = "Erased from the journal and its views. The worker removes the rest when its current job is done."
    return f"{message} Backups that still contain it: {', '.join(left)}." if left else message


ACTIONS: Mapping[str, Action] = {
    "retire": Action(
        _said("Retired. It can be restored.", lambda m, record, fields: retire(m, record.id, fields["reason"])),
        ("reason",),
    ),
    "restore": Action(_said("Restored.", lambda m, record, _: restore(m, record.id))),
    "verify": Action(
        _said("Verified.", lambda m, record, fields: verify(m, record.id, note=fields["note"])), ("note",)
    ),
    "update": Action(lambda m, record, _: f"Updated: {update_value(m, record.id).title}"),
    "revert": Action(
        _said(
            "Returned to that version.", lambda m, record, fields: revert(m, version_at(m, record.id, fields["event"]))
        ),
        ("event",),
    ),
    "pin": Action(_said("Pinned: every session of its project gets it.", lambda m, record, _: pin(m, record.id))),
    "unpin": Action(_said("No longer pinned.", lambda m, record, _: unpin(m, record.id))),
    "heat": Action(_said("In the hot set.", lambda m, record, _: promote(m, record.id))),
    "share": Action(_share, ("visibility",)),
    "use": Action(_use, ("outcome", "note")),
    "trust": Action(_trust, ("reason", "note")),
    "link": Action(
        _said("Linked.", lambda m, record, fields: link(m, record.id, fields["relation"], fields["target"])),
        ("relation", "target"),
    ),
    "unlink": Action(_unlink, ("source", "relation", "target")),
    "confirm": Action(_confirm, ("anyway",)),
    "cancel": Action(_said("Rejected.", lambda m, record, _: cancel(m, record.id))),
    "erase": Action(_erase, ("sure",)),
}

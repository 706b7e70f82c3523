"""Everything that can be done to a memory: one row each, with its fields; every surface renders the rows, and all can be undone."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.model.errors import Conflict, Invalid
from holdfast.policy.admission.admit import Waivers, explain
from holdfast.policy.ranking.weight import REASONS
from holdfast.verbs.memory import Memory, Report, find
from holdfast.verbs.records import lifecycle
from holdfast.verbs.records.hot import change_trust, pin, promote, unpin
from holdfast.verbs.records.write import Written, WrittenPending, cancel, confirm
from holdfast.verbs.truth.verify import update_value, verify
from holdfast.verbs.upkeep.erasing import backups_of, erase


@dataclass(frozen=True, slots=True)
class Action:
    """Its message, with the fields and the `result` filled in, and what it does to the record of an id with its fields."""

    message: str
    do: Callable[..., Any]
    fields: tuple[str, ...] = ()


def _share(memory: Memory, id_: str, visibility: str) -> str:
    lifecycle.revise(memory, id_, lifecycle.Revision(visibility=visibility))
    return "Shared: it is synced to the team's replicas." if visibility == "team" else "It stays on this machine."


def _trust(memory: Memory, id_: str, reason: str, note: str) -> Report:
    return change_trust(memory, id_, reason, raises=REASONS.get(reason, 1) > 0, note=note)


def _confirm(memory: Memory, id_: str, anyway: str) -> None:
    outcome = confirm(memory, id_, waivers=Waivers(duplicate=bool(anyway)))
    if not isinstance(outcome, Written | WrittenPending):
        raise Conflict(str(explain(outcome)))


def _erase(memory: Memory, id_: str, sure: str) -> str:
    if sure != "erase":
        raise Invalid("Erasing cannot be undone.", hint="Write the word erase to confirm.")
    erased = erase(memory, id_)
    left = [kept["path"] for kept in backups_of(memory, erased) if kept["holds"]]
    message = "Erased from the journal, its views and every copy on this machine."
    if not erased.finished:
        message = "Erased from the journal and its views. The worker removes the rest when its current job is done."
    return f"{message} Backups that still contain it: {', '.join(left)}." if left else message


ACTIONS: Mapping[str, Action] = {
    "retire": Action("Retired. It can be restored.", lifecycle.retire, ("reason",)),
    "restore": Action("Restored.", lifecycle.restore),
    "verify": Action("Verified.", verify, ("note",)),
    "update": Action("Updated: {result.title}", update_value),
    "revert": Action(
        "Returned to that version.",
        lambda memory, id_, event: lifecycle.revert(memory, lifecycle.version_at(memory, id_, event)),
        ("event",),
    ),
    "pin": Action("Pinned: every session of its project gets it.", pin),
    "unpin": Action("No longer pinned.", unpin),
    "heat": Action("In the hot set.", promote),
    "share": Action("{result}", _share, ("visibility",)),
    "use": Action(
        "Recorded: {outcome}.",
        lambda memory, id_, outcome, note: lifecycle.record_use(memory, [id_], outcome, note=note),
        ("outcome", "note"),
    ),
    "trust": Action("Trust is {result[now]:.2f} now.", _trust, ("reason", "note")),
    "link": Action("Linked.", lifecycle.link, ("relation", "target")),
    "unlink": Action(
        "Link removed.",
        lambda memory, id_, source, relation, target: lifecycle.unlink(memory, source or id_, relation, target),
        ("source", "relation", "target"),
    ),
    "confirm": Action("Approved.", _confirm, ("anyway",)),
    "cancel": Action("Rejected.", cancel),
    "erase": Action("{result}", _erase, ("sure",)),
}


def act_on(
    memory: Memory, reference: str, name: str, fields: Mapping[str, str], actions: Mapping[str, Action] = ACTIONS
) -> lifecycle.Done:
    """Perform an action on a memory, in the project of that memory; by default one of `ACTIONS`."""
    if name not in actions:
        raise Invalid(f"There is no action {name[:40]!r}.", hint=f"Use {', '.join(actions)}.")
    record, action = find(memory, reference).record, actions[name]
    given = {field: fields.get(field, "") for field in action.fields}

    def do(acting: Memory) -> tuple[str, Any]:
        result = action.do(acting, record.id, **given)
        return action.message.format(result=result, **given), result

    return lifecycle.act(memory.acting_on(record.project), do)

"""One memory with everything about it: text, anchors, links, history, use and trust; and the actions on it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup
from starlette.responses import Response

from holdfast.hosts.web import render
from holdfast.hosts.web.freshness import badge_of, cited_by
from holdfast.hosts.web.viewer import Ask
from holdfast.model.errors import Invalid
from holdfast.model.event import Event
from holdfast.model.fold import fold
from holdfast.model.kinds import KINDS
from holdfast.model.record import CONFIDENCES, RELATIONS, Record
from holdfast.policy.admission.admit import SecretFound, Waivers
from holdfast.policy.admission.refusals import explain
from holdfast.policy.ranking.trust import REASONS
from holdfast.policy.sessions.triggers import places_of
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.amend import amend
from holdfast.verbs.records.hot import pin, promote, unpin
from holdfast.verbs.records.lifecycle import Revision, link, record_use, restore, retire, revise, unlink
from holdfast.verbs.records.read import get, history
from holdfast.verbs.records.usage_log import uses_of
from holdfast.verbs.records.vitals import vitals_by_id
from holdfast.verbs.records.write import Written, WrittenPending, cancel, confirm
from holdfast.verbs.truth.trust import change_trust, trust_of
from holdfast.verbs.truth.verify import verify
from holdfast.verbs.upkeep.backups import backups_of
from holdfast.verbs.upkeep.erasing import erase

OUTCOMES = ("applied", "acknowledged", "ignored", "contradicted")
TEXTS = ("title", "body", "kind", "confidence", "visibility", "state")
MOST_USES = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One event of a memory, and how it changed the text."""

    event: Event
    changes: tuple[tuple[str, Markup], ...] = ()
    note: str = ""


def page(ask: Ask) -> Response:
    """Return the page of a memory."""
    shown = get(ask.memory, ask.parts["id"])
    record = shown.record
    others = {one for arrow in shown.links for one in (arrow.source, arrow.target)} - {record.id}
    near = vitals_by_id(ask.memory, others | {record.id})
    return render.page(
        ask,
        "record.html",
        title=record.title or record.id,
        shown=shown,
        record=record,
        vitals=near.get(record.id),
        others={one: near[one].record for one in others if one in near},
        badge=badge_of(home_of(ask, record), record),
        trust=trust_of(ask.memory, record.id),
        uses=uses_of(ask.memory, record.id, limit=MOST_USES),
        fields=render.fields_of(record),
        spec={one.name: one for one in KINDS[record.kind].fields} if record.kind in KINDS else {},
        places=places_of(record),
        outcomes=OUTCOMES,
        relations=RELATIONS,
        confidences=CONFIDENCES,
        reasons=REASONS,
        kind_names=list(KINDS),
    )


def history_part(ask: Ask) -> Response:
    """Return the events of a memory with their changes, as a part of the page."""
    versions = versions_of(history(ask.memory, ask.parts["id"]))
    return render.page(ask, "record_history.html", versions=list(reversed(versions)))


def anchors_part(ask: Ask) -> Response:
    """Return the cited code, then and now, as a part of the page."""
    record = get(ask.memory, ask.parts["id"]).record
    return render.page(ask, "record_anchors.html", cited=cited_by(home_of(ask, record), record), record=record)


def edit(ask: Ask) -> Response:
    """Save a new text of a memory; a refusal is explained and can be overruled."""
    record = get(ask.memory, ask.parts["id"]).record
    waivers = Waivers(duplicate=True, transient=True, scope=True) if ask.field("anyway") else Waivers()
    revision = revision_of(ask, record)
    outcome = amend(home_of(ask, record), record.id, revision, waivers=waivers)
    if isinstance(outcome, Record):
        return render.moved(ask, f"/r/{record.id}", "Saved. The previous text is in the history.")
    refusal = explain(outcome)
    return render.page(
        ask,
        "record_refused.html",
        status=409,
        title="Not saved",
        record=record,
        why=f"{refusal.reason} {refusal.hint}".strip(),
        given=ask.form,
        final=isinstance(outcome, SecretFound),
    )


def act(ask: Ask) -> Response:
    """Run one action on a memory."""
    record = get(ask.memory, ask.parts["id"]).record
    what = ask.parts["what"]
    if what not in ACTS:
        raise Invalid(f"Nothing here is called {what[:40]!r}.", hint=f"There are {', '.join(ACTS)}.")
    message = ACTS[what](home_of(ask, record), record.id, ask)
    return render.moved(ask, "/search" if what == "erase" else f"/r/{record.id}", message)


def revision_of(ask: Ask, record: Record) -> Revision:
    """Parse a form into a revision; a field that is not in the form stays as it is."""
    values: dict[str, Any] = {
        name: ask.field(name) for name in ("body", "title", "kind", "confidence") if name in ask.form
    }
    for name in ("scopes", "tags"):
        if name in ask.form:
            values[name] = tuple(part for part in ask.field(name).replace(",", " ").split() if part)
    for name in ("anchors", "triggers"):
        if name in ask.form:
            values[name] = tuple(part.strip() for part in ask.field(name).splitlines() if part.strip())
    fields = _fields(ask, record)
    return Revision(**values, fields=fields if fields != dict(record.fields) else None)


def _fields(ask: Ask, record: Record) -> dict[str, Any]:
    kind = KINDS.get(ask.field("kind") or record.kind)
    fields = dict(record.fields)
    for spec in kind.fields if kind else ():
        name = f"field.{spec.name}"
        if name not in ask.form or spec.type not in ("text", "list", "choice"):
            continue
        text = ask.field(name)
        value: Any = [line.strip() for line in text.splitlines() if line.strip()] if spec.type == "list" else text
        fields = (
            {**fields, spec.name: value} if value else {key: kept for key, kept in fields.items() if key != spec.name}
        )
    return fields


def versions_of(events: list[Event]) -> list[Version]:
    """Replay a memory's events and return what each changed."""
    versions, before = list[Version](), None
    for event in sorted(events, key=lambda one: one.id):
        after = fold(before, event)
        note = event.data.get("reason") or event.data.get("note") or ""
        versions.append(Version(event=event, changes=tuple(_changes(before, after)), note=str(note)))
        before = after
    return versions


def _changes(before: Record | None, after: Record | None) -> list[tuple[str, Markup]]:
    if before is None or after is None:
        return []
    pairs = [(name, str(getattr(before, name)), str(getattr(after, name))) for name in TEXTS]
    pairs += [
        (name, ", ".join(getattr(before, name)), ", ".join(getattr(after, name)))
        for name in ("scopes", "tags", "anchors", "triggers")
    ]
    names = dict.fromkeys((*before.fields, *after.fields))
    pairs += [(name, _plain(before.fields.get(name)), _plain(after.fields.get(name))) for name in names]
    return [(name, render.differences(old, new)) for name, old, new in pairs if old != new]


def _plain(value: Any) -> str:
    return "\n".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)


def home_of(ask: Ask, record: Record) -> Memory:
    """Return the memory acting on the record's own project."""
    return ask.memory if record.project in ("", ask.memory.project) else ask.memory.acting_on(record.project)


def _retire(memory: Memory, record_id: str, ask: Ask) -> str:
    retire(memory, record_id, ask.field("reason"))
    return "Retired. It can be restored."


def _restore(memory: Memory, record_id: str, _: Ask) -> str:
    restore(memory, record_id)
    return "Restored."


def _verify(memory: Memory, record_id: str, ask: Ask) -> str:
    verify(memory, record_id, note=ask.field("note"))
    return "Verified."


def _pin(memory: Memory, record_id: str, _: Ask) -> str:
    pin(memory, record_id)
    return "Pinned: every session of its project gets it."


def _unpin(memory: Memory, record_id: str, _: Ask) -> str:
    unpin(memory, record_id)
    return "No longer pinned."


def _heat(memory: Memory, record_id: str, _: Ask) -> str:
    promote(memory, record_id)
    return "In the hot set."


def _share(memory: Memory, record_id: str, ask: Ask) -> str:
    revise(memory, record_id, Revision(visibility=ask.field("visibility")))
    return (
        "Shared: it is synced to the team's replicas."
        if ask.field("visibility") == "team"
        else "It stays on this machine."
    )


def _use(memory: Memory, record_id: str, ask: Ask) -> str:
    record_use(memory, [record_id], ask.field("outcome"), note=ask.field("note"))
    return "Noted."


def _trust(memory: Memory, record_id: str, ask: Ask) -> str:
    reason = ask.field("reason")
    if reason not in REASONS:
        raise Invalid(f"{reason[:40]!r} is no reason.", hint=f"Use one of {', '.join(REASONS)}.")
    changed = change_trust(memory, record_id, reason, raises=REASONS[reason] > 0, note=ask.field("note"))
    return f"Trust is {changed.now:.2f} now."


def _link(memory: Memory, record_id: str, ask: Ask) -> str:
    link(memory, record_id, ask.field("relation"), ask.field("target"))
    return "Linked."


def _unlink(memory: Memory, record_id: str, ask: Ask) -> str:
    unlink(memory, ask.field("source") or record_id, ask.field("relation"), ask.field("target"))
    return "Link removed."


def _confirm(memory: Memory, record_id: str, ask: Ask) -> str:
    outcome = confirm(memory, record_id, waivers=Waivers(duplicate=True) if ask.field("anyway") else None)
    return "Saved." if isinstance(outcome, Written | WrittenPending) else str(explain(outcome))


def _cancel(memory: Memory, record_id: str, _: Ask) -> str:
    cancel(memory, record_id)
    return "Rejected."


def _erase(memory: Memory, record_id: str, ask: Ask) -> str:
    if ask.field("sure") != "erase":
        raise Invalid("Erasing cannot be undone.", hint="Write the word erase to confirm.")
    erased = erase(memory, record_id)
    left = [kept.path for kept in backups_of(memory, erased) if kept.holds]
    message = "Erased from the journal, its views and every copy on this machine." if erased.finished else _UNFINISHED
    return f"{message} Backups that still contain it: {', '.join(left)}." if left else message


_UNFINISHED = "Erased from the journal and its views. The worker removes the rest when its current job is done."


Act = Callable[[Memory, str, Ask], str]
ACTS: Mapping[str, Act] = {
    "retire": _retire,
    "restore": _restore,
    "verify": _verify,
    "pin": _pin,
    "unpin": _unpin,
    "heat": _heat,
    "share": _share,
    "use": _use,
    "trust": _trust,
    "link": _link,
    "unlink": _unlink,
    "confirm": _confirm,
    "cancel": _cancel,
    "erase": _erase,
}

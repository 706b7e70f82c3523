"""One memory with everything about it: text, anchors, links, history, use and trust; and the actions on it."""

from dataclasses import dataclass
from typing import Any

from markupsafe import Markup
from starlette.responses import Response

from holdfast.hosts.web import render
from holdfast.hosts.web.freshness import badge, cited_by
from holdfast.hosts.web.viewer import Ask
from holdfast.model.errors import Conflict, HoldfastError, Invalid
from holdfast.model.event import Event, in_words
from holdfast.model.fold import fold
from holdfast.model.kinds import KINDS, SEPARATE
from holdfast.model.record import CONFIDENCES, RELATIONS, Record
from holdfast.policy.admission.admit import SecretFound, Waivers
from holdfast.policy.admission.refusals import explain
from holdfast.policy.new_value import new_value
from holdfast.policy.ranking.trust import REASONS
from holdfast.policy.sessions.triggers import places_of
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.actions import ACTIONS, act_on
from holdfast.verbs.records.amend import amend
from holdfast.verbs.records.freshness import freshness
from holdfast.verbs.records.lifecycle import Revision
from holdfast.verbs.records.read import get, history
from holdfast.verbs.records.undo import act
from holdfast.verbs.records.usage_log import uses_of
from holdfast.verbs.records.vitals import vitals_by_id
from holdfast.verbs.truth.trust import trust_of
from holdfast.verbs.truth.verify import can_verify

OUTCOMES = ("applied", "acknowledged", "ignored", "contradicted")
TEXTS = ("title", "body", "kind", "confidence", "visibility", "state")
MOST_USES = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One event of a memory, and how it changed the text."""

    event: Event
    words: tuple[str, str]  # what happened, and by whom
    changes: tuple[tuple[str, Markup], ...] = ()
    note: str = ""


def page(ask: Ask, *, problem: HoldfastError | None = None, form: str = "", refused: bool = False) -> Response:
    """Return the page of a memory; after a refused action with the reason, and with what was typed in the open form."""
    shown = get(ask.memory, ask.parts["id"])
    record = shown.record
    others = {one for arrow in shown.links for one in (arrow.source, arrow.target)} - {record.id}
    near = vitals_by_id(ask.memory, others | {record.id})
    judged = freshness(home_of(ask, record), [record]).get(record.id)
    return render.page(
        ask,
        "record.html",
        status=400 if isinstance(problem, Invalid) else 409 if problem else 200,
        title=record.title or record.id,
        shown=shown,
        record=record,
        body="" if record.body.strip() == record.title.strip() else record.body,
        vitals=near.get(record.id),
        others={one: near[one].record for one in others if one in near},
        badge=badge(judged),
        update=new_value(record, judged.findings) if judged and record.state == "active" else None,
        verifiable=can_verify(record, judged),
        doubtful=bool(judged and judged.problems),
        trust=trust_of(ask.memory, record.id),
        uses=uses_of(ask.memory, record.id, limit=MOST_USES),
        places=places_of(record),
        outcomes=OUTCOMES,
        relations=RELATIONS,
        reasons=REASONS,
        next="",
        **_choices(record),
        problem=problem,
        open_form=form,
        can_insist=refused,
        typed=lambda name, default="": ask.field(name, default) if form else default,
    )


def edit_part(ask: Ask) -> Response:
    """Return the form that edits a memory; without scripts as a page."""
    record = get(ask.memory, ask.parts["id"]).record
    shown = {"record": record, "typed": lambda _name, default="": default, "can_insist": False, **_choices(record)}
    return render.part(
        ask, "record_edit.html", f"Edit {record.title}", f"/r/{record.id}", next=ask.text("next"), **shown
    )


def _choices(record: Record) -> dict[str, Any]:
    """Return what the form offers for a kind of memory."""
    return {
        "fields": render.fields_of(record),
        "spec": {one.name: one for one in KINDS[record.kind].fields} if record.kind in KINDS else {},
        "confidences": CONFIDENCES,
        "kind_names": [name for name in KINDS if (name in SEPARATE) == (record.kind in SEPARATE)],
    }


def history_part(ask: Ask) -> Response:
    """Return the events of a memory with their changes; without scripts as a page."""
    record = get(ask.memory, ask.parts["id"]).record
    versions = list(reversed(versions_of(history(ask.memory, record.id))))
    shown = {"versions": versions, "record": record}
    return render.part(ask, "record_history.html", f"History of {record.title}", f"/r/{record.id}", **shown)


def anchors_part(ask: Ask) -> Response:
    """Return the cited code, then and now; without scripts as a page."""
    record = get(ask.memory, ask.parts["id"]).record
    shown = {"cited": cited_by(home_of(ask, record), record), "record": record}
    return render.part(ask, "record_anchors.html", f"Code cited by {record.title}", f"/r/{record.id}", **shown)


def edit(ask: Ask) -> Response:
    """Save a new text of a memory; a refusal is explained next to the form and can be overruled."""
    record = get(ask.memory, ask.parts["id"]).record
    waivers = Waivers(duplicate=True, transient=True, scope=True) if ask.field("anyway") else Waivers()
    home = home_of(ask, record)
    revised = "Saved. The previous text is in the history."
    try:
        done = act(home, lambda acting: (revised, amend(acting, record.id, revision_of(ask, record), waivers=waivers)))
    except (Invalid, Conflict) as wrong:
        return page(ask, problem=wrong, form="edit")
    if isinstance(outcome := done.result, Record):
        return render.moved(ask, "/review" if ask.field("next") == "/review" else f"/r/{record.id}", done)
    refusal = explain(outcome)
    problem = Conflict(f"Not saved: {refusal.reason}", hint=refusal.hint)
    return page(ask, problem=problem, form="edit", refused=not isinstance(outcome, SecretFound))


def act_on_one(ask: Ask) -> Response:
    """Run one action on a memory; if it is refused, the page says why."""
    record, what = get(ask.memory, ask.parts["id"]).record, ask.parts["what"]
    try:
        done = act_on(ask.memory, record.id, what, ask.fields)
    except (Invalid, Conflict) as problem:
        if ask.fragment or what not in ACTIONS:
            raise
        return page(ask, problem=problem, form=what)
    return render.moved(ask, "/memories" if what == "erase" else f"/r/{record.id}", done)


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
    if values.get("title") == record.title and values.get("body", record.body) != record.body:
        values.pop("title")  # it was not typed: a title that came from the text follows it
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
        versions.append(
            Version(event=event, words=in_words(event), changes=tuple(_changes(before, after)), note=str(note))
        )
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

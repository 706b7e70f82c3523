"""One memory with everything about it: text, anchors, links, history, use and trust; the actions on it, and a new one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup
from starlette.responses import Response

from holdfast.hosts.hooks.answers import READING, triggered_by
from holdfast.hosts.web import render
from holdfast.hosts.web.freshness import badge, cited_by
from holdfast.hosts.web.viewer import Ask
from holdfast.model.errors import Conflict, HoldfastError, Invalid
from holdfast.model.event import Event, in_words
from holdfast.model.fold import fold
from holdfast.model.kinds import KINDS, SEPARATE
from holdfast.model.record import CONFIDENCES, RELATIONS, Draft, Record
from holdfast.model.request import built
from holdfast.policy.admission.admit import Refused, SecretFound, Waivers, explain
from holdfast.policy.freshness import new_value
from holdfast.policy.ranking.weight import REASONS
from holdfast.policy.sessions.triggers import places_of, warns_at
from holdfast.verbs.capture.prepare import trigger_of
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.actions import ACTIONS, act_on
from holdfast.verbs.records.freshness import freshness
from holdfast.verbs.records.hot import trust_of, vitals_by_id
from holdfast.verbs.records.lifecycle import Done, Revision, act, amend
from holdfast.verbs.records.read import get, history, uses_of
from holdfast.verbs.records.write import Written, WrittenPending, draft_event, write
from holdfast.verbs.sessions.receipts import deliveries_of
from holdfast.verbs.truth.verify import can_verify
from holdfast.verbs.upkeep.stream import Item, Wanted, older

OUTCOMES = ("applied", "acknowledged", "ignored", "contradicted")
OFFERED = ("fact", "decision", "learning", "pattern", "preference", "reference", "scar", "win", "anti_pattern")
TYPED = ("text", "list", "choice", "flag")  # types of fields that a form has
TEXTS = ("title", "body", "kind", "confidence", "visibility", "state")
MOST_USES, MOST_TRIED = 50, 500  # uses of a memory, and past actions that a new trigger is tried on


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One event of a memory, and how it changed the text."""

    event: Event
    words: tuple[str, str]  # what happened, and by whom
    changes: tuple[tuple[str, Markup], ...] = ()
    note: str = ""


def _record(ask: Ask) -> Record:
    return get(ask.memory, ask.parts["id"]).record


@render.answer_at("/r/{id}", render.PAGES)
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
        status=_status(problem),
        title=record.title or record.id,
        shown=shown,
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
        problem=problem,
        open_form=form,
        **_edited(ask, record, refused=refused, typed=bool(form)),
    )


def _status(problem: HoldfastError | None) -> int:
    return 400 if isinstance(problem, Invalid) else 409 if problem else 200


def _edited(ask: Ask, record: Record, *, refused: bool = False, typed: bool = False) -> dict[str, Any]:
    """Return what the form offers for a kind of memory: its values, or what was typed before a refusal."""
    return {
        "record": record,
        "fields": {name: value for name, value in record.fields.items() if value not in ("", [], {}, None)},
        "spec": {one.name: one for one in KINDS[record.kind].fields if one.type in TYPED}
        if record.kind in KINDS
        else {},
        "confidences": CONFIDENCES,
        "kind_names": [name for name in KINDS if (name in SEPARATE) == (record.kind in SEPARATE)],
        "next": ask.text("next"),
        "can_insist": refused,
        "typed": lambda name, default="": ask.field(name, default) if typed else default,
    }


def _part(name: str, title: str, values: Callable[[Ask, Record], dict[str, Any]]) -> None:
    """Add a part of the page of a memory."""

    @render.page_at(f"/r/{{id}}/{name}", f"record_{name}.html", title)
    def _(ask: Ask) -> dict[str, Any]:
        record = _record(ask)
        own = {"title": f"{title} {record.title}", "back": f"/r/{record.id}", "record": record}
        return own | values(ask, record)


_part("edit", "Edit", _edited)
_part("history", "History of", lambda ask, record: {"versions": versions_of(history(ask.memory, record.id))[::-1]})
_part("anchors", "Code cited by", lambda ask, record: {"cited": cited_by(home_of(ask, record), record)})
_part("shown", "When agents got", lambda ask, record: {"deliveries": deliveries_of(home_of(ask, record), record)})


@render.answer_at("/r/{id}/edit", render.ACTS)
def edit(ask: Ask) -> Response:
    """Save a new text of a memory; a refusal is explained next to the form and can be overruled."""
    record = _record(ask)
    said = "Saved. The previous text is in the history."
    return _saved(
        ask,
        lambda waivers: act(
            home_of(ask, record),
            lambda acting: (said, amend(acting, record.id, revision_of(ask, record), waivers=waivers)),
        ),
        lambda _: "/review" if ask.field("next") == "/review" else f"/r/{record.id}",
        lambda problem, refused: page(ask, problem=problem, form="edit", refused=refused),
    )


def _saved(
    ask: Ask,
    save: Callable[[Waivers], Done],
    where: Callable[[Any], str],
    again: Callable[[HoldfastError, bool], Response],
) -> Response:
    """Save what a form has and go to `where` it is; if it is refused, show the form `again` with the reason."""
    insists = bool(ask.field("anyway"))
    try:
        done = save(Waivers(duplicate=insists, transient=insists, scope=insists))
    except (Invalid, Conflict) as wrong:
        return again(wrong, False)
    if isinstance(done.result, Record | Written | WrittenPending):
        return render.moved(ask, where(done.result), done)
    refused: Refused = done.result
    refusal = explain(refused)
    problem = Conflict(f"Not saved: {refusal.reason}", hint=refusal.hint)
    return again(problem, not isinstance(refused, SecretFound))


@render.answer_at("/r/{id}/{what}", render.ACTS)
def act_on_one(ask: Ask) -> Response:
    """Run one action on a memory; if it is refused, the page says why."""
    record, what = _record(ask), ask.parts["what"]
    try:
        done = act_on(ask.memory, record.id, what, ask.fields)
    except (Invalid, Conflict) as problem:
        if ask.fragment or what not in ACTIONS:
            raise
        return page(ask, problem=problem, form=what)
    return render.moved(ask, "/memories" if what == "erase" else f"/r/{record.id}", done)


@render.answer_at("/remember", render.PAGES)
def remember_page(
    ask: Ask, problem: HoldfastError | None = None, refused: bool = False, preview: Record | None = None
) -> Response:
    """Return the form for a new memory with what was typed; after a refusal with the reason, or with a preview."""
    every = [(spec, name) for name in OFFERED for spec in KINDS[name].fields if spec.type in TYPED]
    specs = sorted(every, key=lambda pair: pair[0].required)  # a field that some kind requires counts as required
    return render.page(
        ask,
        "remember.html",
        status=_status(problem),
        title="Remember",
        problem=problem,
        can_insist=refused,
        names=OFFERED,
        spec={spec.name: spec for spec, _ in specs},
        kinds_with=lambda field: " ".join(kind for spec, kind in specs if spec.name == field),
        typed=ask.field,
        confidences=CONFIDENCES,
        preview=preview,
        warns_at=warns_at,
        tried=_would_warn(ask, preview) if preview else (),
    )


def _would_warn(ask: Ask, record: Record) -> list[Item]:
    """Return the past commands and edits before which a memory would have warned, as hooks compare them; the latest first."""
    trigger, folder = trigger_of(record, places_of(record)), str(ask.memory.checkout.top())
    tools = older(ask.memory, Wanted(project=ask.project, whats=("tool",)), limit=MOST_TRIED).items

    def warns(item: Item) -> bool:
        given = item.text.removeprefix(item.verb).strip()
        edited = [] if item.verb in READING else [given]
        return bool(triggered_by([trigger], given, [], folder) or triggered_by([trigger], "", edited, folder))

    return [item for item in tools if warns(item)]


@render.answer_at("/remember", render.ACTS)
def remember(ask: Ask) -> Response:
    """Save a memory, or preview where it would warn; a refusal is explained next to the form and can be overruled."""
    values = _values(ask) | {"kind": ask.field("kind") or "fact"}
    severity = {"severity": "medium"} if values["kind"] == "scar" else {}
    values |= {"body": ask.field("body"), "fields": severity | _fields(ask, values["kind"], {})}
    if ask.field("preview"):
        try:
            return remember_page(ask, preview=fold(None, draft_event(ask.memory, Draft.of(**values))))
        except (Invalid, Conflict) as wrong:
            return remember_page(ask, wrong)

    def save(waivers: Waivers) -> Done:
        draft = Draft.of(**values)
        done = act(ask.memory, lambda acting: ("Saved.", write(acting, draft, waivers=waivers)))
        pending = isinstance(done.result, WrittenPending)
        return replace(done, message="Saved. It is used once it is approved.") if pending else done

    return _saved(ask, save, lambda outcome: f"/r/{outcome.record.id}", lambda *why: remember_page(ask, *why))


def _values(ask: Ask) -> dict[str, Any]:
    """Return the parts of a memory that are in a form: scopes and tags are words, anchors and triggers lines."""
    values: dict[str, Any] = {
        name: ask.field(name) for name in ("body", "title", "kind", "confidence") if name in ask.form
    }
    values |= {name: ask.field(name).replace(",", " ").split() for name in ("scopes", "tags") if name in ask.form}
    return values | {name: _lines(ask.field(name)) for name in ("anchors", "triggers") if name in ask.form}


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def revision_of(ask: Ask, record: Record) -> Revision:
    """Parse a form into a revision; a field that is not in the form stays as it is."""
    values: dict[str, Any] = _values(ask)
    if values.get("title") == record.title and values.get("body", record.body) != record.body:
        values.pop("title")  # it was not typed: a title that came from the text follows it
    fields = _fields(ask, ask.field("kind") or record.kind, record.fields)
    return built(Revision, values | {"fields": fields if fields != dict(record.fields) else None})


def _fields(ask: Ask, kind: str, known: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a kind with what a form has for them; an empty one is removed."""
    typed: dict[str, Any] = {}
    for spec in KINDS[kind].fields if kind in KINDS else ():
        name = f"field.{spec.name}"
        if name in ask.form and spec.type in TYPED:
            text = ask.field(name)
            is_on = spec.type == "flag" and "true" in ask.form[name]  # beside an empty value: it was asked
            typed[spec.name] = _lines(text) if spec.type == "list" else is_on or text
    return {name: value for name, value in (dict(known) | typed).items() if value or name not in typed}


def versions_of(events: list[Event]) -> list[Version]:
    """Replay a memory's events and return what each changed."""
    versions, before = list[Version](), None
    for event in sorted(events, key=lambda one: one.id):
        after = fold(before, event)
        note = event.data.get("reason") or event.data.get("note") or ""
        changes = tuple(_changes(before, after))
        versions.append(Version(event=event, words=in_words(event), changes=changes, note=str(note)))
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

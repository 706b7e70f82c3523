"""One memory with everything about it: text, anchors, links, history, use and trust; the actions on it, and a new one."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import partial
from itertools import islice
from typing import Any

from markupsafe import Markup
from starlette.responses import Response

from holdfast.hosts.hooks.answers import READING, triggered_by
from holdfast.hosts.web import render, viewer
from holdfast.hosts.web.viewer import Ask
from holdfast.model.anchor import CodeMark, Finding, Freshness, parse_anchor
from holdfast.model.errors import Conflict, HoldfastError, Invalid, NotFound
from holdfast.model.files import read_inside
from holdfast.model.foreign_json import parse_json
from holdfast.model.kinds import KINDS, SEPARATE, built
from holdfast.model.record import CONFIDENCES, RELATIONS, Draft, Record
from holdfast.policy.admission.admit import Refused, SecretFound, Waivers, explain
from holdfast.policy.freshness import details, new_value
from holdfast.policy.freshness import places_of as cited_places
from holdfast.policy.ranking.weight import REASONS
from holdfast.policy.secrets.find import mask_secrets
from holdfast.policy.sessions.triggers import places_of, warns_at
from holdfast.surfaces.phrases import steps_of
from holdfast.verbs.capture.prepare import trigger_of
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.actions import ACTIONS, act_on
from holdfast.verbs.records.freshness import freshness
from holdfast.verbs.records.hot import trust_of, vitals_by_id
from holdfast.verbs.records.lifecycle import Revision, act, amend
from holdfast.verbs.records.read import get, history, uses_of
from holdfast.verbs.records.write import WrittenPending, preview, write
from holdfast.verbs.sessions.receipts import deliveries_of
from holdfast.verbs.truth.verify import can_verify
from holdfast.verbs.upkeep.stream import Item, Wanted, older

OUTCOMES = ("applied", "acknowledged", "ignored", "contradicted")
OFFERED = ("fact", "decision", "learning", "pattern", "preference", "reference", "scar", "win", "anti_pattern")
TYPED = ("text", "list", "choice", "flag")  # types of fields that a form has
TEXTS, WORDS, LINES = ("title", "body", "kind", "confidence"), ("scopes", "tags"), ("anchors", "triggers")
MOST_LINES, MOST_READ, MOST_BYTES = 40, 3_000, 200_000
NEAR, MOST_GROUPS = 2, 5  # lines around what changed, and places in a file that are shown
Save = Callable[[Memory, Waivers], tuple[str, Any]]
MOST_USES, MOST_TRIED = 50, 500  # uses of a memory, and past actions that a new trigger is tried on


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
    """A place in code that a memory cites: its state, its current lines, and the difference from then."""

    path: str
    file: str = ""  # of the current checkout
    state: str = "unknown"
    note: str = ""
    lines: tuple[tuple[int, Markup], ...] = ()
    difference: Markup | None = None
    problem: str = ""


@render.answer_at("/r/{id}", render.PAGES)
def page(ask: Ask, *, problem: HoldfastError | None = None, form: str = "", **kept: Any) -> Response:
    """Return the page of a memory; after a refused action with the reason, and with what was typed in the open form."""
    shown = get(ask.memory, ask.parts["id"])
    record = shown.record
    others = {one for arrow in shown.links for one in (arrow.source, arrow.target)} - {record.id}
    near = vitals_by_id(ask.memory, others | {record.id})
    judged = freshness(ask.memory.acting_on(record.project), [record]).get(record.id)
    update = new_value(record, judged.findings) if judged and record.state == "active" else None
    body = "" if record.body.strip() == record.title.strip() else record.body
    values: dict[str, Any] = {"shown": shown, "body": body, "title": record.title or record.id}
    values |= {"vitals": near.get(record.id), "others": {one: near[one].record for one in others if one in near}}
    values |= {"badge": badge(judged), "doubtful": bool(judged and judged.problems), "update": update}
    values |= {"verifiable": can_verify(record, judged), "places": places_of(record)}
    values |= {"trust": trust_of(ask.memory, record.id), "uses": uses_of(ask.memory, record.id, limit=MOST_USES)}
    values |= {"outcomes": OUTCOMES, "relations": RELATIONS, "reasons": REASONS, "problem": problem, "open_form": form}
    values |= _edited(ask, record, **kept)
    return render.page(ask, "record.html", status=viewer.status_of(problem), **values)


def _edited(
    ask: Ask, record: Record, mine: Mapping[str, str] | None = None, *, refused: bool = False
) -> dict[str, Any]:
    """Return what the form offers for a kind of memory: its values, over them what was changed before a refusal."""
    specs = KINDS[record.kind].fields if record.kind in KINDS else ()
    kinds = [name for name in KINDS if (name in SEPARATE) == (record.kind in SEPARATE)]
    values = {name: value for name, value in record.fields.items() if value not in ("", [], {}, None)}
    shown = {"record": record, "fields": values, "spec": {one.name: one for one in specs if one.type in TYPED}}
    shown |= {"confidences": CONFIDENCES, "kind_names": kinds, "next": ask.text("next"), "can_insist": refused}
    now = texts_of(record)
    return shown | {"was": json.dumps(now), "typed": {**now, **(mine or {})}}


def texts_of(record: Record) -> dict[str, str]:
    """Return the parts of a memory as its form has them."""
    texts = {name: getattr(record, name) for name in TEXTS} | {name: " ".join(getattr(record, name)) for name in WORDS}
    texts |= {name: "\n".join(getattr(record, name)) for name in LINES}
    for spec in KINDS[record.kind].fields if record.kind in KINDS else ():
        value = record.fields.get(spec.name) or ""
        lines = value if spec.type == "list" and not isinstance(value, str) else [value]
        texts[f"field.{spec.name}"] = "true" if value is True else "\n".join(map(str, lines))
    return {name: text.strip() for name, text in texts.items()}


def _part(name: str, title: str, values: Callable[[Ask, Record], dict[str, Any]]) -> None:
    @render.page_at(f"/r/{{id}}/{name}", f"record_{name}.html", title)
    def _(ask: Ask) -> dict[str, Any]:
        record = _record(ask)
        own = {"title": f"{title} {record.title}", "back": f"/r/{record.id}", "record": record}
        return own | values(replace(ask, memory=ask.memory.acting_on(record.project)), record)


_part("edit", "Edit", _edited)
_part("history", "History of", lambda ask, record: {"steps": steps_of(history(ask.memory, record.id))})
_part("anchors", "Code cited by", lambda ask, record: {"cited": cited_by(ask.memory, record)})
_part("shown", "When agents got", lambda ask, record: {"deliveries": deliveries_of(ask.memory, record)})


@render.answer_at("/r/{id}/edit", render.ACTS)
def edit(ask: Ask) -> Response:
    """Save what was changed in the form of a memory; a refusal is explained next to the form and can be overruled.

    The form has the values it was made from, so what others changed since then stays, unless it was changed here too.
    """
    try:
        was = dict(parse_json(ask.field("was") or "{}"))
        record = _record(ask)
    except (ValueError, TypeError) as problem:
        raise Invalid("The form cannot be read.") from problem
    except NotFound as problem:
        hint = "It was erased in the meantime, or is hidden from you. What you typed can be saved as a new memory."
        return remember_page(ask, NotFound(problem.message, hint=hint))
    now = texts_of(record)
    was = was or now
    mine = {name: text for name, text in ask.fields.items() if name in was | now and text != was.get(name, "")}
    where = "/review" if ask.field("next") == "/review" else f"/r/{record.id}"
    again = partial(page, ask, form="edit", mine=mine)
    if both := [name for name, text in mine.items() if was.get(name, "") != now.get(name, "") != text]:
        names = " and ".join(both).replace("body", "text").replace("field.", "").replace("_", " ")
        hint = "What you typed is kept below; save it to replace what is there now."
        return again(problem=Conflict(f"Not saved: the {names} changed in the meantime.", hint=hint))
    if not mine:
        return render.moved(ask, where, "Nothing changed.")

    def save(memory: Memory, waivers: Waivers) -> tuple[str, Any]:
        outcome = amend(memory, record.id, revision_of(mine, record), waivers=waivers)
        return "Saved. The previous text is in the history.", outcome

    return _saved(ask, ask.memory.acting_on(record.project), save, lambda _: where, again)


def _saved(
    ask: Ask, memory: Memory, save: Save, where: Callable[[Any], str], again: Callable[..., Response]
) -> Response:
    """Save what a form has and go to `where` it is; if it is refused, show the form `again` with the reason."""
    insists = bool(ask.field("anyway"))
    try:
        waivers = Waivers(duplicate=insists, transient=insists, scope=insists)
        done = act(memory, lambda acting: save(acting, waivers))
    except (Invalid, Conflict) as wrong:
        return again(problem=wrong)
    if not isinstance(done.result, Refused):
        return render.moved(ask, where(done.result), done)
    refusal = explain(done.result)
    problem = Conflict(f"Not saved: {refusal.reason}", hint=refusal.hint)
    return again(problem=problem, refused=not isinstance(done.result, SecretFound))


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
    values: dict[str, Any] = {"title": "Remember", "problem": problem, "can_insist": refused, "names": OFFERED}
    values |= {"typed": ask.field, "spec": {spec.name: spec for spec, _ in specs}, "confidences": CONFIDENCES}
    values |= {"preview": preview, "warns_at": warns_at, "tried": _would_warn(ask, preview) if preview else ()}
    values["kinds_with"] = lambda field: " ".join(kind for spec, kind in specs if spec.name == field)
    return render.page(ask, "remember.html", status=viewer.status_of(problem), **values)


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
    values = _values(ask.fields) | {"kind": ask.field("kind") or "fact"}
    severity = {"severity": "medium"} if values["kind"] == "scar" else {}
    values |= {"body": ask.field("body"), "fields": severity | _fields(ask.fields, values["kind"], {})}
    if ask.field("preview"):
        try:
            return remember_page(ask, preview=preview(ask.memory, Draft.of(**values)))
        except (Invalid, Conflict) as wrong:
            return remember_page(ask, wrong)

    def save(memory: Memory, waivers: Waivers) -> tuple[str, Any]:
        outcome = write(memory, Draft.of(**values), waivers=waivers)
        return "Saved." + " It is used once it is approved." * isinstance(outcome, WrittenPending), outcome

    return _saved(ask, ask.memory, save, lambda outcome: f"/r/{outcome.record.id}", partial(remember_page, ask))


def _values(texts: Mapping[str, str]) -> dict[str, Any]:
    """Return the parts of a memory that are in a form: scopes and tags are words, anchors and triggers lines."""
    values: dict[str, Any] = {name: text for name, text in texts.items() if name in TEXTS}
    values |= {name: texts[name].replace(",", " ").split() for name in WORDS if name in texts}
    return values | {name: _lines(texts[name]) for name in LINES if name in texts}


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def revision_of(texts: Mapping[str, str], record: Record) -> Revision:
    """Parse what was changed in a form into a revision."""
    fields = _fields(texts, texts.get("kind") or record.kind, record.fields)
    return built(Revision, _values(texts) | {"fields": fields if fields != dict(record.fields) else None})


def _fields(texts: Mapping[str, str], kind: str, known: Mapping[str, Any]) -> dict[str, Any]:
    typed: dict[str, Any] = {}
    for spec in KINDS[kind].fields if kind in KINDS else ():
        text = texts.get(f"field.{spec.name}")
        if text is not None and spec.type in TYPED:
            typed[spec.name] = _lines(text) if spec.type == "list" else text == "true" if spec.type == "flag" else text
    return {name: value for name, value in (dict(known) | typed).items() if value or name not in typed}


def _record(ask: Ask) -> Record:
    return get(ask.memory, ask.parts["id"]).record


def badge(judged: Freshness | None) -> dict[str, str]:
    """Return whether a memory still holds, in one word, and why; records about the past have no badge."""
    if judged is None:
        return {}
    age = "" if judged.days is None else f" Checked {judged.days:.0f} days ago."
    return {"state": judged.state, "why": ("; ".join(details(judged)) or viewer.WORDS["freshness"][judged.state]) + age}


def cited_by(memory: Memory, record: Record, judged: Freshness | None = None) -> list[Cited]:
    """Return the places a record cites with their text then and now, as far as they are in the current checkout."""
    places = cited_places(record)
    if record.project not in (memory.checkout.project(), ""):
        return [Cited(path=anchor, problem="The checkout of its project is not available.") for anchor in places]
    judged = judged or freshness(memory, [record]).get(record.id)
    findings = {one.anchor: one for one in judged.findings} if judged else {}
    return [_cited(memory, anchor, mark, findings.get(anchor)) for anchor, mark in places.items()]


def _cited(memory: Memory, anchor: str, cited: CodeMark | None, finding: Finding | None) -> Cited:
    place = parse_anchor(finding.moved_to if finding and finding.moved_to else anchor)
    state = finding.state if finding else "unverified"
    note = "; ".join(details(Freshness(state=state, findings=(finding,)))) if finding else ""
    note = note.removeprefix(f"{anchor} {state}").strip(" ()")  # the page says both beside it
    shown = partial(Cited, path=anchor, state=state, note=note)
    if not place.path:
        return shown(problem="It is not a place in a file.")
    now, top = finding.now if finding else None, memory.checkout.top().resolve()
    raw = memory.checkout.content(cited.blob) if cited and cited.blob and cited.first else None  # if git still has it
    was = raw.decode(errors="replace").split("\n")[cited.first - 1 : cited.last][:MOST_READ] if raw and cited else []
    then = mask_secrets("\n".join(was)).split("\n") if was else []
    try:
        text = read_inside(top, place.path, MOST_BYTES).decode(errors="replace")
    except FileNotFoundError:
        gone = render.differences("\n".join(then[:MOST_LINES]), "", place.path) if then else None
        return shown(difference=gone, problem="The file no longer exists.")
    except PermissionError:
        return shown(problem="It is outside this checkout.")
    except (OSError, ValueError) as problem:
        why = problem.strerror if isinstance(problem, OSError) else problem
        return shown(problem=f"The file cannot be shown: {why}.")
    first, whole = now.first if now and now.first else 1, text.split("\n")
    last = min(now.last if now and now.last else len(whole), first + MOST_READ - 1)
    lines = [line[:300] for line in mask_secrets("\n".join(whole[first - 1 : last])).split("\n")]
    numbered = enumerate(render.coloured("\n".join(lines[:MOST_LINES]), place.path), start=first)
    inside = str((top / place.path).resolve().relative_to(top))
    changed = _changed(then, lines, place.path) if then and state == "changed" else None
    return shown(file=inside, lines=tuple(numbered), difference=changed)


def _changed(then: list[str], now: list[str], path: str) -> Markup:
    groups = islice(SequenceMatcher(None, then, now, autojunk=False).get_grouped_opcodes(NEAR), MOST_GROUPS)
    ends = ((then[group[0][1] : group[-1][2]], now[group[0][3] : group[-1][4]]) for group in groups)
    return Markup("\n…\n").join(render.differences("\n".join(old), "\n".join(new), path) for old, new in ends)

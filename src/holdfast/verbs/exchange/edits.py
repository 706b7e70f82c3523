"""What people did to files, as events: a hand edit revises, a new file records, a file taken away retires."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from holdfast.model.errors import Invalid
from holdfast.model.event import Actor, Event, Json
from holdfast.model.fold import fold, set_aside
from holdfast.model.foreign import Remark
from holdfast.model.ids import named_id
from holdfast.model.record import GLOBAL, Draft, Record
from holdfast.model.replica import BIRTH, Arrived, Edit, Gone, parts_of
from holdfast.model.text import check_keepable, headline
from holdfast.policy.admission.sharing import Sharing, is_carried
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.write import check_draft, draft_event, refuse_secrets

REMOVED = "its file was removed"
_DRAFT = frozenset(spec.name for spec in fields(Draft)) - {"at", "links", "project", "source"}
_MERGED = ("fields", "extra")  # mappings of which each entry is a part of its own
_ALWAYS = frozenset({"kind", "confidence", "visibility"})  # a line taken out of a file does not empty these
_GONE = object()


@dataclass(slots=True)
class Plan:
    """The events that edits amount to, the records of new files, and what is left as it is."""

    events: list[Event] = field(default_factory=list)
    arriving: list[Event] = field(
        default_factory=list
    )  # of records that are new here and have an id: they pass the border
    born: dict[str, str] = field(default_factory=dict)
    touched: set[str] = field(default_factory=set)
    refused: list[Remark] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)  # of files that were taken all the same
    old: dict[str, str] = field(default_factory=dict)
    authors: dict[str, str | None] = field(default_factory=dict)  # of what passes the border; None: done here

    def arrive(self, events: Sequence[Event], author: str) -> None:
        """Let events pass the border as somebody's; nobody's are of whoever sits here."""
        self.arriving += events
        self.authors |= dict.fromkeys((event.id for event in events), author or None)


def plan_edits(memory: Memory, arrived: Arrived, sharing: Sharing, *, lost: bool) -> Plan:
    """Return what the edits of files amount to. `lost`: nobody remembers what the files said before."""
    plan = Plan()
    for edit in arrived.edits:
        try:
            _plan(memory, edit, sharing, plan, jumped=arrived.jumped, lost=lost)
        except Invalid as problem:
            plan.refused.append(Remark(where=edit.where, why=str(problem)))
    return plan


def plan_retirements(memory: Memory, gone: Sequence[Gone], plan: Plan) -> list[Event]:
    """Return the events that retire records whose files were removed here; where a commit did it, they pass the border."""
    done = []
    for one in gone:
        record = memory.store.folded(one.about)
        if record is None or record.state != "active" or (one.author and _waits(memory, one)):
            continue
        who = memory.acting_as(one.author) if one.author else memory
        event = who.event("retired", record.id, data={"reason": REMOVED}, after=record.head)
        if one.author:
            plan.arrive([event], one.author)
        else:
            done.append(event)
    return done


def _waits(memory: Memory, gone: Gone) -> bool:
    """Return whether the same removal was told before and did not count."""
    history = memory.store.events_about(gone.about)
    aside = set_aside(history)
    return any(event.verb == "retired" and event.by.name == gone.author for event in history if event.id in aside)


def _plan(memory: Memory, edit: Edit, sharing: Sharing, plan: Plan, *, jumped: bool, lost: bool) -> None:
    if found := refuse_secrets(edit.said):
        raise Invalid(f"It holds a secret ({', '.join(found.names)}).", hint="Take it out of the file.")
    check_keepable(edit.said)
    who = memory.acting_as(edit.author) if edit.author else memory
    if not edit.about:
        plan.born[edit.where] = _plan_new(memory, edit, sharing, plan)
        return
    history = memory.store.events_about(edit.about)
    record = memory.store.folded(edit.about)
    if record is None:
        plan.arrive(_told(memory, edit, sharing), edit.author)
        plan.born[edit.where] = edit.about
        return
    _check_open(record, edit, sharing)
    base = edit.before if edit.before is not None else _nearest(history, edit.said, sharing)
    unchanged = edit.before is None and base == edit.said
    if unchanged and jumped:
        plan.old[edit.where] = record.id
        return
    plan.touched.add(record.id)
    if record.state == "retired" and lost:
        if not unchanged:
            raise Invalid(f"It was forgotten ({record.reason}).", hint=f"`holdfast restore {record.id}` first.")
        return  # a file that was left behind
    done = [who.event("restored", record.id, after=record.head)] if record.state == "retired" else []
    done += _revision(who, record, base, edit.said, after=done[0].id if done else record.head)
    plan.arrive(done, edit.author) if edit.author else plan.events.extend(done)
    fixed = BIRTH - {"id"} - sharing.implied.keys()
    if changed := sorted(name for name in fixed if base.get(name) != edit.said.get(name)):
        plan.remarks.append(Remark(where=edit.where, why=f"{', '.join(changed)} cannot be changed by hand"))


def _plan_new(memory: Memory, edit: Edit, sharing: Sharing, plan: Plan) -> str:
    """Plan the record of a new file and give its id; a committed one has the same id however often it is read."""
    if not edit.author:
        event = _new(memory, edit.said, sharing)
        plan.events.append(event)
        return event.about
    about = named_id(f"file {edit.where}\n{edit.author}\n{json.dumps(edit.said, sort_keys=True, default=str)}")
    if not memory.store.events_about(about):
        title = edit.said.get("title") or headline(str(edit.said.get("body", "")))
        told = replace(edit, about=about, said={**edit.said, "title": title})
        plan.arrive(_told(memory, told, sharing), edit.author)
    return about


def _check_open(record: Record, edit: Edit, sharing: Sharing) -> None:
    if record.state == "erased":
        raise Invalid("It was erased.", hint="Remove the file, or take out its id to make it a new memory.")
    if record.state == "retired" and edit.before is not None:
        raise Invalid(f"It was forgotten meanwhile ({record.reason}).", hint=f"`holdfast restore {record.id}` first.")
    if not is_carried(record, sharing) and record.state not in ("pending", "held"):
        raise Invalid("It is private here, or of another project.")


def _new(memory: Memory, said: Json, sharing: Sharing) -> Event:
    """Return the event of a file that somebody added."""
    given = {name: said[name] for name in _DRAFT & said.keys()} | _implied(sharing)
    project = given.get("project", said.get("project", GLOBAL))
    event = draft_event(memory, _draft({**given, "project": project, "body": said.get("body", "")}))
    return Event(
        id=event.id, about=event.about, verb=event.verb, at=event.at, by=event.by, data={**event.data, **_unknown(said)}
    )


def _told(memory: Memory, edit: Edit, sharing: Sharing) -> list[Event]:
    """Return the events of a file that tells of a record made elsewhere: the same ones on every machine that reads it."""
    said = edit.said
    if not said.get("body") and not said.get("title"):
        raise Invalid("It says nothing.")
    at = said.get("created_at") or memory.clock.now()
    by = _actor(said.get("by"))
    data = {name: item for name, item in said.items() if name not in ("id", "by", "created_at", "verified_at")}
    first = named_id(f"file {edit.about}", at, after=edit.about)  # the true beginning, if it ever arrives, comes first
    events = [Event(id=first, about=edit.about, verb="recorded", at=at, by=by, data={**data, **_implied(sharing)})]
    if checked := said.get("verified_at"):
        name = named_id(f"file {edit.about} {checked}", checked, after=first)
        events.append(Event(id=name, about=edit.about, verb="verified", at=checked, by=by))
    return events


def _revision(memory: Memory, record: Record, base: Json, said: Json, *, after: str) -> list[Event]:
    """Return the events that make of a record what somebody changed in its file, and nothing else of it."""
    now = parts_of(record)
    changed = _changed(base, said, now)
    checked = changed.pop("verified_at", "")
    if "body" in changed and "title" not in changed and record.body.startswith(record.title.rstrip("…")):
        changed["title"] = ""  # the title was taken from the text, so it follows it
    current = {name: getattr(record, name) for name in _DRAFT}
    draft = check_draft(memory, _draft({**current, **{name: changed[name] for name in _DRAFT & changed.keys()}}))
    data = {name: _plain(getattr(draft, name)) if name in _DRAFT else item for name, item in changed.items()}
    data = {name: item for name, item in data.items() if item != now.get(name)}
    events = [memory.event("revised", record.id, data=data, after=after)] if data else []
    if checked and checked != record.verified_at:
        events.append(memory.event("verified", record.id, after=events[-1].id if events else after, at=checked))
    return events


def _changed(base: Json, said: Json, now: Json) -> Json:
    """Return the parts somebody changed, as they should be: mappings entry by entry, the rest whole."""
    changed: Json = {}
    for name in sorted({*base, *said} - BIRTH):
        if base.get(name) == said.get(name):
            continue
        if name in _MERGED:
            changed[name] = _merged(base.get(name, {}), said.get(name, {}), now.get(name, {}))
        elif name in said or name not in _ALWAYS:
            changed[name] = said[name] if name in said else type(base[name])()
    return {name: item for name, item in changed.items() if item != now.get(name)}


def _merged(base: Json, said: Json, now: Json) -> Json:
    ours = {name: said.get(name, _GONE) for name in {*base, *said} if base.get(name) != said.get(name)}
    return {name: item for name, item in {**now, **ours}.items() if item is not _GONE}


def _nearest(history: Sequence[Event], said: Json, sharing: Sharing) -> Json:
    """Return the state of a record a file is nearest to: what it was written from, as far as anybody can tell."""
    best, distance, record = dict[str, Any](), None, None
    for event in history:
        record = fold(record, event)
        if record is None:
            continue
        parts = parts_of(record, frozenset(sharing.implied))
        apart = sum(parts.get(name) != said.get(name) for name in {*parts, *said})
        if distance is None or apart <= distance:
            best, distance = parts, apart
    return best


def _draft(given: Mapping[str, Any]) -> Draft:
    listed = {name: tuple(item) for name, item in given.items() if name in ("scopes", "tags", "anchors", "triggers")}
    return Draft(**{**given, **listed})


def _implied(sharing: Sharing) -> dict[str, str]:
    return dict(sharing.implied)


def _unknown(said: Json) -> Json:
    """Return the parts a draft has no place for, so that they travel all the same."""
    known = _DRAFT | BIRTH | {"verified_at", "body"}
    return {name: item for name, item in said.items() if name not in known}


def _actor(given: Any) -> Actor:
    by = given if isinstance(given, dict) else {}
    kind, name = by.get("kind"), by.get("name", "")
    return Actor(kind=kind if kind in ("agent", "user", "rule") else "user", name=name if isinstance(name, str) else "")


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else dict(value) if isinstance(value, Mapping) else value

"""Fold events into records: a record is the result of its events, applied in the order of their ids."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import reduce
from typing import Any, Literal

from holdfast.model.anchor import snapshot_from_json
from holdfast.model.event import FOLDING, LOCAL, Event
from holdfast.model.kinds import KINDS, SEPARATE
from holdfast.model.record import CONFIDENCES, RELATIONS, SOURCES, VISIBILITIES, Link, Origin, Record, State
from holdfast.model.text import text_or_empty, texts_of

# What an erased event keeps: enough to know that something was here and was used, nothing of what it said.
HEATED_BECAUSE = ("evicted", "stale", "pin", "unpin")  # other reasons are free text
_KEPT_ON_ERASURE = ("kind", "project", "outcome")
REJECTED = "it was rejected in quarantine"
NotCounted = Literal["waits", "rejected"]


def fold_all(events: Iterable[Event]) -> Record | None:
    """Return the record these events make, whatever order they come in and however often."""
    # Quarantined and rejected events change nothing; a record that has no others is held, or retired.
    unique = {event.id: event for event in events if event.verb in FOLDING}
    ordered = [unique[key] for key in sorted(unique)]
    aside = set_aside(ordered)
    record = reduce(fold, (event for event in ordered if event.id not in aside), None)
    if not aside:
        return record
    waiting = tuple(event_id for event_id in sorted(aside) if aside[event_id] == "waits")
    if record:
        return replace(record, waiting=() if record.state == "erased" else waiting)
    whole = reduce(fold, ordered, None)
    state: State = "held" if waiting else "retired"
    return whole and replace(whole, state=state, reason="" if waiting else REJECTED, waiting=waiting)


def set_aside(events: Iterable[Event]) -> dict[str, NotCounted]:
    """Return the events about a record that do not count, by id: quarantined or rejected."""
    aside: dict[str, NotCounted] = {}
    for event in sorted((event for event in events if event.verb in LOCAL), key=lambda event: event.id):
        named = texts_of(event.data.get("events"))
        match event.verb:
            case "arrived":
                aside |= dict.fromkeys(named, "waits") if event.data.get("held") is True else {}
            case _ if event.data.get("withdrawn") is True:  # the decision was taken back
                aside |= dict.fromkeys(named, "waits")
            case "accepted":
                aside = {event_id: why for event_id, why in aside.items() if event_id not in named}
            case "rejected":
                aside |= {event_id: "rejected" for event_id in named if event_id in aside}
    return aside


def as_of(events: Iterable[Event], at: str) -> Record | None:
    """Return the record as it stood at an instant."""
    return fold_all(event for event in events if event.at <= at or event.verb in LOCAL)


def scrub(event: Event) -> Event:
    """Return an event without the text of its author, as erasure leaves it."""
    kept = (*_KEPT_ON_ERASURE, "hot", "pinned") if event.verb == "heated" else _KEPT_ON_ERASURE
    data = {key: event.data[key] for key in kept if key in event.data}
    if event.verb == "heated" and event.data.get("why") in HEATED_BECAUSE:
        data["why"] = event.data["why"]
    if event.verb == "used" and "observed" in event.data:
        data["observed"] = True  # a rule reported it; what it saw goes
    if event.verb in ("used", "touched"):  # ids and times of what was taken back
        data |= {key: event.data[key] for key in ("withdraws", "at", "last_at") if key in event.data}
    return replace(event, data=data)


def fold(record: Record | None, event: Event) -> Record | None:
    """Return the record after one more event. Total: data of the wrong shape changes nothing."""
    if record is None:
        if event.verb == "erased":  # ids of a slow clock sort first: later events must not bring it back
            return Record(id=event.about, state="erased", updated_at=event.at, head=event.id)
        if event.verb != "recorded":
            return None
        data, origin = event.data, event.data.get("origin")
        facts = origin if isinstance(origin, dict) else {}
        # Facts with a key of an application are items: earlier versions stored them so.
        kind, extra = text_or_empty(data.get("kind")) or "fact", data.get("extra")
        own = map(extra.get, KINDS["item"].names if kind == "fact" else ()) if isinstance(extra, dict) else ()
        return Record(
            id=event.about,
            by=event.by,
            created_at=event.at,
            updated_at=event.at,
            head=event.id,
            state="pending" if data.get("pending") is True else "active",
            kind="item" if any(isinstance(one, dict) and "key" in one for one in own) else kind,
            source=data["source"] if data.get("source") in SOURCES else "explicit",
            origin=Origin(**{name: text_or_empty(facts.get(name)) for name in ("branch", "worktree", "commit")}),
            **_content(data),
        )
    if record.state == "erased" or event.verb == "recorded" or event.verb in LOCAL:
        return record  # erasure is final, and only the first `recorded` counts
    return replace(_changed(record, event), head=event.id, revision=record.revision + 1)


def _changed(record: Record, event: Event) -> Record:
    # What takes a change back names when the record was last changed before it.
    at = event.data["updated_at"] if isinstance(event.data.get("updated_at"), str) else event.at
    match event.verb:
        case "revised":
            if event.data.keys() == {"project"}:  # a move is no change of what it says
                return replace(record, **_content(event.data))
            changed = replace(record, **_content(event.data), updated_at=at)
            kind = text_or_empty(event.data.get("kind"))
            if kind and (kind in SEPARATE) == (record.kind in SEPARATE):  # it decides where a record is numbered
                changed = replace(changed, kind=kind)
            # New wording was never checked against anything.
            reworded = (changed.title, changed.body, changed.fields) != (record.title, record.body, record.fields)
            return replace(changed, verified_at="") if reworded else changed
        case "confirmed":
            return replace(record, state="active") if record.state == "pending" else record
        case "verified":
            # A verification that is taken back names the one that holds again, or none.
            verified_at = event.data["verified_at"] if isinstance(event.data.get("verified_at"), str) else event.at
            return replace(record, verified_at=verified_at, **_content(event.data, only=("anchors", "seen")))
        case "retired":
            return replace(record, state="retired", reason=text_or_empty(event.data.get("reason")), updated_at=at)
        case "restored":
            state: State = "pending" if event.data.get("pending") is True else "active"
            return replace(record, state=state, reason="", updated_at=at)
        case "linked" | "unlinked":
            named = _links([event.data])
            others = tuple(link for link in record.links if link not in named)
            return replace(record, links=(*others, *named) if event.verb == "linked" else others)
        case "erased":
            kept = {name: getattr(record, name) for name in ("id", "kind", "project", "by", "created_at")}
            return Record(**kept, state="erased", updated_at=event.at)
    return record


def _content(data: Mapping[str, Any], only: Iterable[str] = ()) -> dict[str, Any]:
    """Return the parts of a record that data has in their types; what has another type is left out."""
    read = {name: _READ[name](data[name]) for name in only or _READ if name in data}
    return {name: value for name, value in read.items() if value is not None}


def _links(value: Any) -> tuple[Link, ...]:
    items = [item for item in value if isinstance(item, Mapping)] if isinstance(value, list | tuple) else []
    pairs = dict.fromkeys((text_or_empty(item.get("relation")), text_or_empty(item.get("target"))) for item in items)
    return tuple(Link(relation=name, target=target) for name, target in pairs if name in RELATIONS and target)


_READ: Mapping[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("title", "body", "project"), lambda value: value if isinstance(value, str) else None),
    **dict.fromkeys(("fields", "extra"), lambda value: value if isinstance(value, dict) else None),
    **dict.fromkeys(
        ("scopes", "tags", "anchors", "triggers"),
        lambda value: tuple(texts_of(value)) if isinstance(value, list | tuple) else None,
    ),
    "links": _links,
    "visibility": lambda value: value if value in VISIBILITIES else None,
    "confidence": lambda value: value if value in CONFIDENCES else None,
    "seen": snapshot_from_json,
}

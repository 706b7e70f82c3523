"""Fit foreign memories into records, with a note for everything left out, and turn them into events: when they are new here, and when they changed."""

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from typing import Any

from holdfast.model.errors import Invalid
from holdfast.model.event import Event, Verb
from holdfast.model.ids import named_id
from holdfast.model.kinds import CODED, check_kind, fit_fields
from holdfast.model.record import GLOBAL, MAX_LABEL, MAX_LABELS, RELATIONS, SCOPE, Record, plain
from holdfast.model.replica import Foreign, ForeignLink, Remark
from holdfast.model.text import LONGEST_BODY, LONGEST_TITLE, check_keepable, good_cut, headline
from holdfast.policy.secrets.find import masked

# An event must fit into a line of an export with room to spare.
LONGEST_EVENT = 2_000_000
_KEPT = "kind title body fields scopes tags confidence visibility anchors triggers extra".split()  # of a draft
# Outcome of a `used` event that notes that a memory is known elsewhere too; it is not counted as a use.
CREDITED = "imported"
MOST_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """One record made from a foreign memory: its event data, and a hash that changes when the memory does."""

    key: str
    data: Mapping[str, Any]
    hash: str
    asides: tuple[str, ...] = ()
    masked: bool = False


def fitted(foreign: Foreign) -> tuple[Fitted, ...] | Remark:
    """Return the records of a foreign memory, several if its text is too long for one, or why it makes none."""
    data = {name: plain(getattr(foreign.draft, name)) for name in _KEPT}
    try:
        kind = check_kind(foreign.draft.kind)
        check_keepable([foreign.key, foreign.draft.project, foreign.by.name, foreign.by.session, foreign.reason])
        serialized = _serialized(data)
    except Invalid as problem:
        return Remark(where=foreign.where, why=problem.message)
    clean = masked(data)
    title = " ".join(clean["title"].split())
    body = clean["body"].replace("\r\n", "\n").replace("\r", "\n").strip() or title
    if len(title) > LONGEST_TITLE:  # it becomes part of the body
        title, body = "", body if body.startswith(title) else f"{title}\n\n{body}"
    if not body:
        return Remark(where=foreign.where, why="it is empty" if clean is data else "it contains only private text")
    if (besides := len(serialized) - len(body)) > LONGEST_EVENT:
        why = f"it has {besides:,} characters besides its text; at most {LONGEST_EVENT:,} fit"
        return Remark(where=foreign.where, why=why)
    fields, rest = fit_fields(kind, clean["fields"])
    labelled, asides = _labelled({**clean, "title": title or headline(body), "body": body, "fields": fields})
    asides += [f"its {name} does not fit" for name in rest if any(name == spec.name for spec in kind.fields)]
    more = {name: said for name, said in (("fields", rest), ("counts", dict(foreign.counts))) if said}
    labelled["extra"] = {**labelled["extra"], **more}
    serialized = serialized if clean is data else _serialized(clean)
    digest = blake2b(serialized.encode(), digest_size=12).hexdigest()
    whole = Fitted(key=foreign.key, data=labelled, hash=digest, asides=tuple(asides), masked=clean is not data)
    return _parts(whole)


def _serialized(data: Mapping[str, Any]) -> str:
    text = ""
    with suppress(ValueError):  # broken Unicode
        text = json.dumps(data, ensure_ascii=False, allow_nan=False, sort_keys=True)
        text.encode()
        if "\\u0000" not in text:
            return text
    check_keepable(data)
    return text


def _labelled(data: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the data with valid labels: an invalid scope becomes a tag, an invalid label goes to `extra`."""
    scopes = [scope.strip() for scope in data["scopes"]]
    good = [scope for scope in scopes if len(scope) <= MAX_LABEL and SCOPE.fullmatch(scope)]
    bad = (scope for scope in scopes if scope not in good)
    wanted = list(dict.fromkeys(filter(None, (" ".join(tag.split()) for tag in (*data["tags"], *bad)))))
    tags = [tag for tag in wanted if len(tag) <= MAX_LABEL][:MAX_LABELS]
    kept = {"scopes": list(dict.fromkeys(good))[:MAX_LABELS], "tags": tags}
    rest = [label for label in (*wanted, *good) if label not in (*tags, *kept["scopes"])]
    extra = {**data["extra"], "labels": rest} if rest else data["extra"]
    return {**data, **kept, "extra": extra}, [f"the label {label[:40]!r} does not fit" for label in rest]


def _parts(whole: Fitted) -> tuple[Fitted, ...]:
    """Split a text that is too long at the end of a paragraph, line or word."""
    pieces = [whole.data["body"]]
    while len(pieces[-1]) > LONGEST_BODY:
        cut = good_cut(pieces[-1], 0, LONGEST_BODY)
        pieces[-1:] = [pieces[-1][:cut].rstrip(), pieces[-1][cut:].lstrip()]
    if len(pieces) == 1:
        return (whole,)
    name, parts = whole.data["title"][: LONGEST_TITLE - 20], list[Fitted]()
    for number, piece in enumerate(pieces, start=1):
        data = {**whole.data, "title": f"{name} ({number}/{len(pieces)})", "body": piece}
        key, asides = (f"{whole.key}#{number}", ()) if number > 1 else (whole.key, whole.asides)
        parts.append(replace(whole, key=key, data=data, asides=asides))
    return tuple(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Adoption:
    """One record to create: its foreign memory, its project here, and the current time."""

    system: str
    foreign: Foreign
    part: Fitted
    project: str
    now: str

    @property
    def name(self) -> str:
        """The unique name its ids are derived from; without a stable time it includes the project."""
        return "\n".join((self.system, *(() if self.foreign.dated else (self.project,)), self.part.key))

    @property
    def about(self) -> str:
        """The stable id of the record."""
        return named_id(self.name, self.foreign.draft.at if self.foreign.dated else "")

    @property
    def credit(self) -> str:
        """The stable id of the event that credits another record with it."""
        return named_id(f"{self.name}\ncredit", self.foreign.draft.at if self.foreign.dated else "")

    @property
    def imported(self) -> dict[str, Any]:
        """Its origin, as stored in the record."""
        origin: dict[str, Any] = {"system": self.system, "id": self.part.key, "hash": self.part.hash}
        there, before = self.foreign.draft.project, self.part.data["extra"].get("imported")
        origin |= {"project": there} if there and there != self.project else {}
        origin |= {"aliases": list(self.foreign.aliases)} if self.foreign.aliases else {}
        return origin | ({"before": before} if before else {})

    def event(
        self, verb: Verb, data: Mapping[str, Any], *, about: str = "", what: str = "", at: str = "", after: str = ""
    ) -> Event:
        """Return an event, about it or another record, with a stable id, so that importing it again changes nothing."""
        about, known = about or self.about, at or self.foreign.updated_at or self.foreign.draft.at
        event_id = named_id(f"{self.name}\n{what or verb}", known if self.foreign.dated else "", after or about)
        return Event(id=event_id, about=about, verb=verb, at=known or self.now, by=self.foreign.by, data=data)


def home_of(there: str | None, here: str, *, chosen: bool = False) -> str:
    """Return the project of a foreign memory; `chosen`: the user named the project for those without one."""
    # Other systems often know a project only by its folder name: the current project matches that too.
    if there is None or (chosen and not there):
        return here
    parts = there.lower().strip("/").split("/")
    own = here.rstrip("/").rsplit("/", 1)[-1].lower()
    is_identity = there.startswith("/") or (len(parts) > 2 and "." in parts[0])
    return here if there and not is_identity and own in (parts[0], parts[-1]) else there or GLOBAL


def creation_events(adoption: Adoption) -> list[Event]:
    """Return the events of a memory that is new here."""
    foreign = adoption.foreign
    at = foreign.draft.at or adoption.now
    data = _data(adoption) | ({"pending": True} if foreign.state == "pending" else {})
    events = [Event(id=adoption.about, about=adoption.about, verb="recorded", at=at, by=foreign.by, data=data)]
    if foreign.updated_at > at:
        events.append(adoption.event("revised", {}))
    return [*events, *_checked(adoption, ""), *_retired(adoption, at)]


def change_events(adoption: Adoption, record: Record, past: Iterable[Event]) -> list[Event]:
    """Return the events for what changed there since the last import; local changes stay."""
    # What imports last wrote to the record, part by part.
    before: dict[str, Any] = {}
    for event in past:
        extra = event.data.get("extra")
        if event.verb in ("recorded", "revised") and isinstance(extra, dict) and "imported" in extra:
            before |= event.data
    data = _data(adoption)
    empty: dict[str, Any] = {"fields": {}, "extra": {}, "title": "", "body": ""}  # of others: []
    apart = ("project", "source", "origin", "pending")
    names = [name for name in (*data, *before) if name not in apart and data.get(name) != before.get(name)]
    changed = {name: data.get(name, empty.get(name, [])) for name in names}
    changed["extra"] = {**record.extra, **data["extra"]}
    at = max(adoption.foreign.updated_at or adoption.now, record.updated_at)
    return [replace(adoption.event("revised", changed, what=adoption.part.hash, after=record.head), at=at)]


def state_events(adoption: Adoption, record: Record, past: Iterable[Event]) -> list[Event]:
    """Return the events that set a record's state to the foreign one, unless it was changed here."""
    foreign = adoption.foreign
    events = _checked(adoption, record.verified_at, after=record.head)
    if foreign.state == "retired" and record.state in ("active", "pending"):
        return [*events, *_retired(adoption, record.updated_at)]
    if foreign.state == "active" and record.state == "pending":
        return [*events, adoption.event("confirmed", {}, after=record.head)]
    if foreign.state == "active" and record.state == "retired":
        last = next((event for event in reversed(list(past)) if event.verb in ("retired", "restored")), None)
        if last and last.data.get("imported") == adoption.system:
            events.append(adoption.event("restored", {}, what=f"restored {last.id}", after=record.head))
    return events


def credit(adoption: Adoption, other: Record) -> list[Event]:
    """Return the events that note on a record that a foreign memory says the same."""
    # The first holds everything the record does not say, and identifies a repeated import. The second shows it on the
    # record, up to a limit.
    data, foreign = adoption.part.data, adoption.foreign
    details = {name: data[name] for name in ("scopes", "tags", "confidence", "extra") if data[name]}
    coded = {name: value for name, value in data["fields"].items() if name in CODED}
    said = {"outcome": CREDITED, **adoption.imported, **details, **({"fields": coded} if coded else {})}
    at = foreign.draft.at or adoption.now
    used = Event(id=adoption.credit, about=other.id, verb="used", at=at, by=foreign.by, data=said)
    # The record shows of it: new labels, and where else it is known.
    labels = {name: [*dict.fromkeys((*getattr(other, name), *data[name]))][:MAX_LABELS] for name in ("scopes", "tags")}
    shown: dict[str, Any] = {name: merged for name, merged in labels.items() if merged != list(getattr(other, name))}
    known = other.extra.get("also")
    also = known if isinstance(known, list) else []
    if len(also) < MOST_SHOWN:
        source = {"system": adoption.system, "id": adoption.part.key, "at": foreign.draft.at}
        shown["extra"] = {**other.extra, "also": [*also, source]}
    if not shown:
        return [used]
    at = max(other.updated_at, foreign.updated_at, foreign.draft.at)
    return [used, adoption.event("revised", shown, about=other.id, what="credit", at=at, after=other.head)]


def linked(adoption: Adoption, link: ForeignLink, source: str, target: str) -> Event:
    """Return the event of a link from one record here to another."""
    relation = link.relation if link.relation in RELATIONS else "relates_to"
    data = {"relation": relation, "target": target} | ({"there": link.relation} if relation != link.relation else {})
    what = f"linked {link.relation} {link.key}"
    return adoption.event("linked", data, about=source, what=what, at=link.at or adoption.foreign.draft.at)


def _data(adoption: Adoption) -> dict[str, Any]:
    data = {
        **adoption.part.data,
        "project": adoption.project,
        "source": "imported",
        "origin": asdict(adoption.foreign.origin),
        "extra": {**adoption.part.data["extra"], "imported": adoption.imported},
    }
    return {name: value for name, value in data.items() if value not in ([], {}, "")}


def _checked(adoption: Adoption, before: str, after: str = "") -> list[Event]:
    at = adoption.foreign.verified_at
    return [adoption.event("verified", {}, what=f"verified {at}", at=at, after=after)] if at > before else []


def _retired(adoption: Adoption, at: str) -> list[Event]:
    foreign = adoption.foreign
    if foreign.state != "retired":
        return []
    data = {"reason": masked(foreign.reason) or "no longer used there", "imported": adoption.system}
    when = foreign.retired_at or foreign.updated_at or at
    return [adoption.event("retired", data, what=f"retired {foreign.retired_at}", at=when)]

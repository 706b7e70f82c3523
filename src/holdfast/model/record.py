"""Records: what is remembered, drafts of it, how events fold to it, and its labels."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import reduce
from typing import Annotated, Any, Literal, get_args
from urllib.parse import quote_from_bytes, unquote_to_bytes

from holdfast.model.anchor import CodeSnapshot, snapshot_from_json, snapshot_to_json
from holdfast.model.errors import Invalid
from holdfast.model.event import FOLDING, LOCAL, Actor, Event, Json
from holdfast.model.ids import short
from holdfast.model.kinds import CODED, KINDS, SEPARATE, Asked, built, fitting
from holdfast.model.text import text_or_empty, texts_of

State = Literal["pending", "held", "active", "retired", "erased"]
Visibility = Literal["private", "team"]
Confidence = Literal["high", "medium", "low"]
Source = Literal["explicit", "correction", "inferred", "observed", "mined", "imported", "starter"]
Relation = Literal["relates_to", "depends_on", "supersedes", "refines", "contradicts", "elaborates", "mentions"]

VISIBILITIES: tuple[str, ...] = get_args(Visibility)
CONFIDENCES: tuple[str, ...] = get_args(Confidence)
SOURCES: tuple[str, ...] = get_args(Source)
RELATIONS: tuple[str, ...] = get_args(Relation)
GLOBAL = ""  # the project of a record that is true everywhere


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A typed link to another record."""

    relation: str
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where in the checkout a record was created."""

    branch: str = ""
    worktree: str = ""
    commit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A remembered thing: the fold of its events."""

    id: str
    kind: str = "fact"
    title: str = ""
    body: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict)
    scopes: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    project: str = GLOBAL
    origin: Origin = field(default_factory=Origin)
    visibility: Visibility = "private"
    confidence: Confidence = "medium"
    source: Source = "explicit"
    anchors: tuple[str, ...] = ()
    triggers: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)
    seen: CodeSnapshot | None = None
    state: State = "active"
    reason: str = ""
    by: Actor = field(default_factory=Actor)
    created_at: str = ""
    updated_at: str = ""
    verified_at: str = ""
    head: str = ""
    revision: int = 1
    waiting: tuple[str, ...] = ()  # quarantined events about it

    def __hash__(self) -> int:  # its mappings have none
        return hash((self.id, self.head))

    @property
    def graded(self) -> str:
        """The kind, after the severity if it has one."""
        severity = self.fields.get("severity")
        return f"{severity} {self.kind}" if severity else self.kind

    @property
    def line(self) -> str:
        """The record in one line: the end of its id, its kind and its title."""
        return f"{short(self.id)} {self.kind}: {self.title}"

    def _repr_pretty_(self, printer: Any, _: bool) -> None:
        printer.text(self.line)

    @property
    def text(self) -> str:
        """All text of the record that is meant to be read, and so searched."""
        return "\n".join(part for _, part in self.parts)

    @property
    def parts(self) -> list[tuple[str, str]]:
        """The texts that are meant to be read, each with the name of its field; "" for title and body."""
        title = "" if self.body.startswith(self.title.removesuffix("…")) else self.title
        values = ((name, value) for name, value in self.fields.items() if name not in CODED)
        texts = ((name, text) for name, value in values for text in (value if isinstance(value, list) else [value]))
        return [(name, text) for name, text in (("", title), ("", self.body), *texts) if text and isinstance(text, str)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A record with its number in this store."""

    number: int
    record: Record
    known: bool = True  # whether views may hold rows of it already


_IS = f"What it is: {', '.join(kind for kind in KINDS if kind not in SEPARATE)}."
_MOST = "fact, decision, scar (a mistake not to repeat), win, pattern, anti_pattern, learning, preference, reference, blocker …"
_KIND = Asked(_IS, _MOST, form="kind")
_SCAR = "See help(kind). A scar needs severity (critical to low) and two counter_arguments."
_FIELDS = Asked("A field of the kind; repeat a name to make a list.", _SCAR)
_SCOPES = Asked("A scope such as tools or projects:shop.", "As tools or projects:shop.", form="scope")
_CITED = "Code it cites: path, path::symbol, path:L3-L9, path::NAME=5, !gone.py, version:click=8.2."
_ANCHORS = Asked(_CITED, "Code it cites: path, path::symbol, path::NAME=5.")
_WARN = "Warn at this command or edit, such as `git push --force`, `pytest unless uv run pytest` or src/api/*.py."
_TRIGGERS = Asked(_WARN, "Commands or files to warn at.")
_BRIEF_LINKS = "relation:id, such as supersedes, refines, relates_to."
_LINKS = Asked("Link to another memory, as in supersedes:01HX…", _BRIEF_LINKS, metavar="RELATION:ID")


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A record to be written. `project` None means the current project."""

    body: Annotated[str, Asked("What to remember, complete in itself.", "Complete in itself.")]
    kind: Annotated[str, _KIND] = "fact"
    title: Annotated[str, Asked("A headline; default: taken from the text.", "Else from the text.")] = ""
    fields: Annotated[Mapping[str, Any], _FIELDS] = field(default_factory=dict)
    scopes: Annotated[tuple[str, ...], _SCOPES] = ()
    tags: Annotated[tuple[str, ...], Asked("A tag.")] = ()
    project: Annotated[str | None, Asked("Another project than the current one.", form="project")] = None
    visibility: Visibility = "private"
    confidence: Annotated[Confidence, Asked("How sure it is.")] = "medium"
    source: Annotated[Source, Asked("Where it comes from")] = "explicit"
    anchors: Annotated[tuple[str, ...], _ANCHORS] = ()
    triggers: Annotated[tuple[str, ...], _TRIGGERS] = ()
    links: Annotated[tuple[Link, ...], _LINKS] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)
    at: Annotated[str, Asked("When it happened, if not now.", form="date")] = ""

    @classmethod
    def of(cls, body: str, *, now: str = "", **asked: Any) -> "Draft":
        """Build a draft from what a caller passed: links may be texts (relation:id), and with `now` dates named days and spans."""
        if links := asked.get("links"):
            links = fitting("links", tuple[object, ...], links)
            asked["links"] = [link_of(link) if isinstance(link, str) else link for link in links]
        return built(cls, {"body": body or "", **asked}, now)


def link_of(text: str) -> Link:
    """Parse relation:id."""
    relation, _, target = text.partition(":")
    return Link(relation=relation, target=target)


def record_to_json(record: Record) -> Json:
    """Return a record as JSON, without empty parts."""
    values = {name: plain(item) for name in _NAMES if (item := getattr(record, name))}
    return {name: item for name, item in values.items() if item}


_NAMES = tuple(spec.name for spec in fields(Record))


def record_from_json(value: Mapping[str, Any]) -> Record:
    """Parse the result of `record_to_json`."""
    return Record(**{name: _PARSED[name](part) if name in _PARSED else part for name, part in value.items()})


_PARSED: Mapping[str, Callable[[Any], Any]] = {
    "by": lambda by: Actor(**by),
    "origin": lambda origin: Origin(**origin),
    "links": lambda links: tuple(Link(**link) for link in links),
    "seen": snapshot_from_json,
    **dict.fromkeys(("scopes", "tags", "anchors", "triggers", "waiting"), tuple),
}


def plain(value: Any) -> Any:
    """Return the value of a record's field as JSON has it: a list for a tuple, a dict for a mapping or an object."""
    match value:
        case str() | int():
            return value
        case tuple():
            return [plain(item) if isinstance(item, Link) else item for item in value]
        case Actor() | Origin() | Link():
            return {name: item for name in value.__slots__ if (item := getattr(value, name))}
        case Mapping():
            return dict(value)
    return snapshot_to_json(value) if isinstance(value, CodeSnapshot) else value


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


SCOPE = re.compile(r"[a-z0-9]+(?:[-_.][a-z0-9]+)*(?::[a-z0-9]+(?:[-_.][a-z0-9]+)*)*")
# A user and password in an address: up to the last @ before the path. A password may hold a slash or another sign that
# only belongs there encoded: then what looks like a port is no number.
USERINFO = re.compile(r"(?<=://)(?:[^/?#\s]*@|[^/?#:@\s]*:(?!\d*(?:[/?#]|$))\S*@)")
# What git fetches from over a network, with the port of each; anything else is a local path or a helper program.
PORTS = {"https": 443, "http": 80, "ssh": 22, "git+ssh": 22, "ssh+git": 22, "git": 9418, "ftp": 21, "ftps": 990}
_HOST = r"(?P<host>[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]+\])"
_ANY_CASE = re.IGNORECASE | re.ASCII
_AT = rf"(?:[\w.~!$&'()*+,;=:%-]*@)?{_HOST}(?::(?P<port>\d{{0,5}}))?"
_URL = re.compile(rf"(?P<scheme>[a-z+]+)://{_AT}/(?P<path>.+)", _ANY_CASE)
_AT = rf"(?:(?P<user>[\w.+-]*)@)?(?:{_HOST}|\[(?P<other>[a-z0-9._-]+):(?P<port>\d{{1,5}})\])"
_SCP = re.compile(rf"{_AT}:(?P<path>(?:/|[^:@/]+(?:/|$)).*)", _ANY_CASE)
# Readers of addresses disagree about these: where a host ends, or what they stand for.
_AMBIGUOUS = re.compile(r"[?#\\\s\x00-\x1f\x7f-\x9f]|%(?![0-9a-f]{2})|%(?:[01][0-9a-f]|2f|5c|7f)", re.IGNORECASE)
_UNQUOTED = "/~!$&'()*+,;=:@"
MAX_LABEL = 100
MAX_LABELS = 64


def check_scopes(scopes: Iterable[str]) -> tuple[str, ...]:
    """Return the scopes without duplicates, in their order; raise Invalid if one is malformed."""
    unique = dict.fromkeys(scope.strip() for scope in scopes)
    for scope in unique:
        if len(scope) > MAX_LABEL or not SCOPE.fullmatch(scope):
            hint = "Use lower-case words joined by '-', '_' or '.', nested with ':' (tools, projects:shop:api)."
            raise Invalid(f"{scope[:MAX_LABEL]!r} is not a scope.", hint=hint)
    return _capped(unique, "scopes")


def check_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Return the tags stripped and without duplicates or empty ones."""
    unique = dict.fromkeys(tag for tag in (" ".join(tag.split()) for tag in tags) if tag)
    for tag in unique:
        if len(tag) > MAX_LABEL:
            raise Invalid(f"The tag {tag[:40]!r}… is longer than {MAX_LABEL} characters.")
    return _capped(unique, "tags")


def _capped(labels: dict[str, None], what: str) -> tuple[str, ...]:
    if len(labels) > MAX_LABELS:
        raise Invalid(f"{len(labels)} {what} are too many; {MAX_LABELS} is the most.")
    return tuple(labels)


def within(scope: str, outer: str) -> bool:
    """True if a scope equals another or is nested in it."""
    return scope == outer or scope.startswith(outer + ":")


def without_userinfo(url: str) -> str:
    """Return an address without user and password; any other text unchanged."""
    return USERINFO.sub("", url)


def project_of_remote(url: str) -> str | None:
    """Return the identity of a remote, equal for its ssh and https forms: host/owner/name, with a port that is not the usual one.

    The host is the one that git contacts. None for a local path, and for an address that could be read in two ways: it
    must not pass for another project's.
    """
    is_url = "://" in url
    match = None if _AMBIGUOUS.search(url) else (_URL if is_url else _SCP).fullmatch(url)
    usual = PORTS.get(match["scheme"], 0) if match and is_url else 22
    if not match or not usual:
        return None
    host, port, path = match["host"], int(match["port"] or usual), match["path"]
    if not is_url:
        host = host or match["other"]
        if len(host) == 1:  # a drive of Windows
            return None
        if match["user"] not in (None, "", "git") and not path.startswith(("/", "~")):
            path = f"~{match['user']}/{path}"  # a path in the home folder of that user
    name = unquote_to_bytes(path.strip("/").removesuffix(".git").strip("/")).lower()
    if not 0 < port < 1 << 16 or any(part in (b"", b".", b"..") for part in name.split(b"/")):
        return None
    at = host if port == usual else f"{host}:{port}"
    return f"{at}/{quote_from_bytes(name, safe=_UNQUOTED)}".lower()  # as on the common forges, case does not count


def is_network_address(url: str) -> bool:
    """True if git would fetch from an address over a network, whether or not it has an identity."""
    scheme, separator, _ = url.partition("://")
    return scheme in PORTS if separator else ":" in url.partition("/")[0] and "::" not in url

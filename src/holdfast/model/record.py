"""Records (remembered things) and drafts (records to be written)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, Literal, get_args

from holdfast.model.anchor import CodeSnapshot, snapshot_from_json, snapshot_to_json
from holdfast.model.event import Actor, Json
from holdfast.model.ids import short
from holdfast.model.kinds import CODED, KINDS, SEPARATE
from holdfast.model.request import Asked, built, fitting

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

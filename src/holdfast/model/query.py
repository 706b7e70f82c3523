"""Queries and their results."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, get_args

from holdfast.model.anchor import Freshness
from holdfast.model.errors import Invalid
from holdfast.model.ids import parse_instant
from holdfast.model.kinds import Asked, built, check_kind
from holdfast.model.record import Record, check_scopes
from holdfast.model.text import check_text

Confidence = Literal["strong", "fair", "weak"]
Order = Literal["newest", "oldest", "changed", "applied", "shown", "title"]  # of a list
Mode = Literal["precision", "balanced", "exploratory"]
MODES: tuple[str, ...] = get_args(Mode)
Search = Literal["hybrid", "words"]
LONGEST_QUESTION = 10_000
_SCOPES = Asked("Only this scope and those nested in it.", "With those nested in them.", form="scope")
_SINCE = Asked("Only what was saved since: 2026-11-15, 2026-11, yesterday, monday, 7d.", "A date or 7d.", form="date")


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A search, checked when it is made: its parts are valid and in the form they are used in. Global records are included."""

    text: Annotated[str, Asked("Question, keywords, a path or an error text.")]  # a list needs none
    project: Annotated[str | None, Asked("Another project than the current one.", form="project")] = None
    everywhere: Annotated[bool, Asked("All projects.", "All projects.")] = False
    kinds: Annotated[tuple[str, ...], Asked("Only this kind.", form="kind")] = ()
    scopes: Annotated[tuple[str, ...], _SCOPES] = ()
    any_scopes: tuple[str, ...] = ()  # a record needs one of these,
    without_scopes: tuple[str, ...] = ()  # and none of these
    tags: Annotated[tuple[str, ...], Asked("Only this tag.")] = ()
    author: str = ""  # only what this person wrote
    session: Annotated[str, Asked("Only what this session wrote.")] = ""
    since: Annotated[str, _SINCE] = ""
    until: Annotated[str, Asked("Only what was saved before this.", form="date")] = ""
    as_of: Annotated[str, Asked("As things stood at this date.", "As things stood at a date.", form="date")] = ""
    limit: Annotated[int, Asked("Maximum number of results.", least=1, most=100)] = 10
    budget: Annotated[int, Asked("Maximum tokens of the results.", least=1)] = 0
    words_only: Annotated[bool, Asked("Search by words only: starts faster, needs no encoder.", flag="--words")] = False
    mode: Annotated[Mode, Asked("How well a result must match.", "How well it must fit.")] = "balanced"
    related: Annotated[bool, Asked("Also list memories linked to the best results.")] = False
    weak: Annotated[bool, Asked("Also list weak matches.")] = False
    least: float | None = None  # overrides the threshold of the mode
    starters: Annotated[bool, Asked("Also lessons that ship with Holdfast (setting `starters`).")] = False

    @classmethod
    def of(cls, text: str = "", *, now: str = "", **asked: Any) -> "Query":
        """Build a query from what a caller passed; with `now`, dates may be named days and spans."""
        return built(cls, {"text": text or "", **asked}, now)

    def __post_init__(self) -> None:
        text = check_text(self.text, "question", LONGEST_QUESTION) if self.text.strip() else ""
        if self.limit < 1 or self.budget < 0:
            raise Invalid("A query needs a limit of at least 1 and a budget of at least 0.")
        if self.mode not in MODES:
            raise Invalid(f"There is no mode {self.mode!r}.", hint=f"Use one of {', '.join(MODES)}.")
        for kind in self.kinds:
            check_kind(kind)
        object.__setattr__(self, "text", text)
        for name in ("scopes", "any_scopes", "without_scopes"):
            object.__setattr__(self, name, check_scopes(getattr(self, name)))
        for name in ("since", "until", "as_of"):
            if said := getattr(self, name):
                object.__setattr__(self, name, parse_instant(said, None))


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """The earlier state that a question asks for: the first, or the last known before an instant, or that before the newest."""

    first: bool = False
    until: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A result: the record, its score by signal and the part that matches best."""

    record: Record
    score: float
    confidence: Confidence
    why: Mapping[str, float]
    fit: float = 0.0  # how well it resembles the question
    chance: float = 0.0  # probability that it answers the question
    snippet: str = ""
    tokens: int = 0
    freshness: Freshness | None = None  # None: a record of the past, or not checked
    came: str = ""  # who it came from and how, if it was imported
    source: str = ""  # the sender, import or session that must not fill a page
    alike: int = 0  # number of near-duplicates of the same source that are left out
    branch: str = ""  # the branch it was made on, if that is not merged into the checkout
    hot: bool = False  # whether it is in the hot set
    contradicted_by: str = ""  # id of a newer record that says otherwise


@dataclass(frozen=True, slots=True, kw_only=True)
class Related:
    """A record that a result is linked to, and how."""

    record: Record
    relation: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """The results, best first, and counts of what was left out."""

    hits: tuple[Hit, ...] = ()
    search: Search = "hybrid"
    gated: int = 0
    cut: int = 0
    lagging: int = 0
    closest: Record | None = None  # if nothing fits: what comes closest, not to be relied on
    related: tuple[Related, ...] = ()
    held: tuple[Hit, ...] = ()  # quarantined records that match; never ranked among the results
    notes: tuple[str, ...] = field(default=())

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def __getitem__(self, place: int) -> Hit:
        return self.hits[place]

    def _repr_pretty_(self, printer: Any, _: bool) -> None:
        printer.text("\n".join(f"{hit.confidence}: {hit.record.line}" for hit in self.hits) or "nothing fits")

    @property
    def confidence(self) -> str:
        """How reliable the best result is: high, medium or low."""
        return {"strong": "high", "fair": "medium"}.get(self.hits[0].confidence, "low") if self.hits else "low"


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """How often a record was returned by recalls and injected by hooks, and with which reported outcomes."""

    surfaced: int = 0
    injected: int = 0
    applied: int = 0
    acknowledged: int = 0
    refuted: int = 0
    ignored: int = 0
    contradicted: int = 0
    corrected: int = 0
    succeeded: int = 0
    failed: int = 0
    dismissed: int = 0
    last_used_at: str = ""

    @property
    def shown(self) -> int:
        """How often an agent got it, asked for or not."""
        return self.surfaced + self.injected

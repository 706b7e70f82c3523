"""Queries and their results."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from holdfast.model.errors import Invalid
from holdfast.model.freshness import Freshness
from holdfast.model.ids import parse_instant
from holdfast.model.kinds import check_kind
from holdfast.model.record import Record
from holdfast.model.scope import check_scopes
from holdfast.model.text import check_text

Confidence = Literal["strong", "fair", "weak"]
Order = Literal["changed", "applied", "shown", "title"]  # of a list; without one the newest come first
Mode = Literal["precision", "balanced", "exploratory"]
MODES: tuple[str, ...] = get_args(Mode)
Search = Literal["hybrid", "words"]
LONGEST_QUESTION = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A search, checked when it is made: its parts are valid and in the form they are used in.

    `project` None means the current project; global records are always included. A list needs no `text`.

    `mode` sets how well a result must match, `least` overrides that threshold; `related` adds records that the
    best are linked to, `weak` disables the threshold. A record needs any of `any_scopes` and none of `without_scopes`.
    """

    text: str
    project: str | None = None
    everywhere: bool = False
    kinds: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    any_scopes: tuple[str, ...] = ()
    without_scopes: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    session: str = ""
    since: str = ""
    until: str = ""
    as_of: str = ""
    limit: int = 10
    budget: int = 0
    words_only: bool = False
    mode: Mode = "balanced"
    related: bool = False
    weak: bool = False
    least: float | None = None
    starters: bool = False

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
                object.__setattr__(self, name, parse_instant(said))


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
    fit: float = 0.0
    snippet: str = ""
    tokens: int = 0
    freshness: Freshness | None = None  # None: a record of the past, or not checked
    came: str = ""  # who it came from and how, if it was imported
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

    @property
    def confidence(self) -> str:
        """How reliable the best result is: high, medium or low."""
        if not self.hits:
            return "low"
        return {"strong": "high", "fair": "medium", "weak": "low"}[self.hits[0].confidence]


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """How often a record was returned, and with which outcomes."""

    surfaced: int = 0
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

"""What is asked of the memory, and what comes back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from holdfast.model.record import Record

Confidence = Literal["strong", "fair", "weak"]
Search = Literal["hybrid", "words"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A question. `project` None means the project at hand; global records are always included.

    `least` is the fit below which a record is no answer; None leaves that to what was measured.
    """

    text: str
    project: str | None = None
    everywhere: bool = False
    kinds: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    session: str = ""
    since: str = ""
    until: str = ""
    as_of: str = ""
    limit: int = 10
    budget: int = 0
    words_only: bool = False
    weak: bool = False
    least: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One answer: the record, why it is here (score by signal) and the part that fits best."""

    record: Record
    score: float
    confidence: Confidence
    why: Mapping[str, float]
    fit: float = 0.0
    snippet: str = ""
    tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """The answers, best first, and everything that was left out of them."""

    hits: tuple[Hit, ...] = ()
    search: Search = "hybrid"
    gated: int = 0
    cut: int = 0
    lagging: int = 0
    notes: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """How often a record was shown and what became of it."""

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

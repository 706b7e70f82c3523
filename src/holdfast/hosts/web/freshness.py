"""How far a memory can be relied on without a look, as a badge; and what it cites, beside what stands there now.

The two functions here are the only ones that know how freshness is measured.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from holdfast.model.record import Record
from holdfast.policy.drift import checked, cited_paths, verified_parts
from holdfast.policy.secrets import mask_secrets
from holdfast.verbs.memory import Memory
from holdfast.verbs.staleness import staleness_of

MOST_LINES, MOST_BYTES = 40, 200_000
_WORDS = {
    "fresh": ("checked", "Somebody checked it lately."),
    "stale": ("check again", "It was checked more than a month ago."),
    "never": ("unchecked", "Nobody ever checked it."),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Badge:
    """A word on how far a memory can be relied on, and why."""

    state: str
    word: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
    """A place in code that a memory cites, and what stands there now; `problem` says why it cannot be shown."""

    path: str
    lines: tuple[tuple[int, str], ...] = ()
    problem: str = ""


def badge_of(memory: Memory, record: Record, *, closely: bool = False) -> Badge:
    """Judge one record; `closely` also asks git and the file system, which takes longer."""
    state = checked(record, memory.clock.now()).status
    word, why = _WORDS[state]
    if not closely:
        return Badge(state=state, word=word, why=why)
    measured = staleness_of(memory, record)
    if measured.missing:
        gone = ", ".join(measured.missing[:3])
        return Badge(state="missing", word="cites what is gone", why=f"Not there any more: {gone}.")
    if measured.commits:
        return Badge(state="changed", word="code moved on", why=f"{measured.commits} commits since it was checked.")
    if measured.commits == 0 and state != "never":
        return Badge(state="fresh", word="fresh", why="No commit since it was checked.")
    return Badge(state=state, word=word, why=why)


def cited_by(memory: Memory, record: Record) -> list[Cited]:
    """Give the places a record cites with what stands there now, as far as they lie in the checkout at hand."""
    paths = dict.fromkeys((*verified_parts(record.anchors)["verified_paths"], *cited_paths(record.body)))
    if record.project not in (memory.checkout.project(), ""):
        return [Cited(path=path, problem="The checkout of its project is not at hand.") for path in paths]
    return [_cited(memory.checkout.top().resolve(), path) for path in paths]


def _cited(top: Path, anchor: str) -> Cited:
    name, _, symbol = anchor.partition("::")
    place = (top / name).resolve()
    if not place.is_relative_to(top):
        return Cited(path=anchor, problem="It lies outside this checkout.")
    if not place.is_file():
        return Cited(path=anchor, problem="There is no such file any more.")
    if place.stat().st_size > MOST_BYTES:
        return Cited(path=anchor, problem="The file is too large to show.")
    text = place.read_text(encoding="utf-8", errors="replace")
    return Cited(path=anchor, lines=tuple(_span(text.splitlines(), symbol)))


def _span(lines: Sequence[str], symbol: str) -> list[tuple[int, str]]:
    """Give the lines around a symbol, or the first ones."""
    name = symbol.rpartition(".")[2] or symbol
    at = next((place for place, line in enumerate(lines) if name and name in line), 0)
    first = max(0, at - 2)
    return [
        (number, mask_secrets(line[:300]))
        for number, line in enumerate(lines[first : first + MOST_LINES], start=first + 1)
    ]

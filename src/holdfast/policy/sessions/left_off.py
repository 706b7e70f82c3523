"""Write where a project's work was left off, and recognize the question for it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter

from holdfast.model.patterns import cues_of, lazy, patterns_of
from holdfast.model.record import Record
from holdfast.model.text import filled, inline, texts_of, tokens_of
from holdfast.policy.language.headlines import is_limit, is_vague
from holdfast.policy.language.overlap import words
from holdfast.policy.sessions.plan_brief import SMALLEST, clipped

LONGEST_QUESTION = 200  # characters
SAID, THEN = "User said", "; then "
_HEAD, _FOOT = "<holdfast-left-off>", "</holdfast-left-off>"
_ASKED = lazy("|".join(cues_of(__file__)["asked"].values()), re.IGNORECASE)  # in the languages people type
LABELS, AHEAD = (patterns_of(__file__, section) for section in ("labels", "ahead"))


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOff:
    """The last piece of work on a branch: its session, its summary, what was asked in passing since, and sessions `beside` it."""

    session: str
    summary: Record
    branch: str = ""
    worktree: str = ""
    at: str = ""
    since: tuple[str, ...] = ()
    beside: tuple["LeftOff", ...] = ()

    @property
    def observed(self) -> bool:
        """True if hooks saw it; else its agent described it when it closed the session."""
        return "trail" in self.summary.extra or not self.summary.id


def lines_of(left: LeftOff) -> list[tuple[str, list[str]]]:
    """Return the sections of a piece of work, most needed first."""
    fields = left.summary.fields
    asked = list(reversed(str(fields.get("request") or left.summary.title).split(THEN)))
    said = [text for text in _texts(fields.get("constraints")) if not _is_in(text, asked[0])]
    known = f"{asked} {fields.get('state')}"
    sections = [
        ("Asked", [text for text in asked if text == asked[0] or not _is_in(text, " ".join(said))]),
        (SAID, sorted(said, key=lambda sentence: not is_limit(sentence))),
        ("Broken or open", _texts(fields.get("notes"))),
        ("Next", _texts(fields.get("next_steps"))),
        ("State", _texts(fields.get("state"))),
        ("Done", [text for text in _texts(fields.get("completed")) if not _is_in(text, known)]),
        ("Files changed", [", ".join(_texts(fields.get("files_modified"))[:8])]),
        ("Asked since, in passing", list(left.since)),
    ]
    return [(name, lines) for name, texts in sections if (lines := [inline(text) for text in texts if text])]


def plain(left: LeftOff, budget: int, head: str = "Where we left off") -> str:
    """Return where work was left off, within a token budget: when, on which branch, whether it was interrupted, and what."""
    branch, worktree = left.branch and f"branch {left.branch}", left.worktree and f"worktree {left.worktree}"
    interrupted = left.summary.extra.get("interrupted") is True and "interrupted"  # in the middle of a turn
    facts = filled(left.at[:10], branch, worktree, interrupted)
    room = budget // (1 + len(left.beside)) - len(left.beside)
    others = (plain(other, room, "At the same time, in another session") for other in left.beside)
    return "\n".join((packed(f"{head} ({inline(', '.join(facts))}):", lines_of(left), room), *others))


def fenced(left: LeftOff, budget: int) -> str:
    """Return where work was left off, fenced as notes, within a token budget."""
    room = budget - (len(_HEAD) + len(_FOOT) + 2 + 3) // 4
    return f"{_HEAD}\n{plain(left, room)}\n{_FOOT}"


def _texts(value: object) -> list[str]:
    return value.splitlines() if isinstance(value, str) else texts_of(value)


def _is_in(sentence: str, request: str) -> bool:
    return sentence.lower().rstrip(".!") in request.lower()


def packed(head: str, sections: Sequence[tuple[str, list[str]]], budget: int) -> str:
    """Return sections within a token budget, one line of each in turn, so that a long one does not crowd out the others."""
    # Without what was erased or masked, and labels that repeat a heading.
    shown = ((name, [line for line in lines if "[" not in line or not is_vague(line)]) for name, lines in sections)
    sections = [(name, [LABELS.get(name, LABELS["any"]).sub("", line) for line in lines]) for name, lines in shown]
    # Of what the user said every limit comes before the second line of another section.
    whole = _written(head, dict(sections))
    if tokens_of(whole) <= budget:
        return whole
    kept: dict[str, list[str]] = {name: [] for name, _ in sections}
    lines = [
        (0 if name == SAID and is_limit(line) else index, place, name, line)
        for place, (name, texts) in enumerate(sections)
        for index, line in enumerate(texts)
    ]
    for _, _, name, line in sorted(lines, key=itemgetter(0, 1)):
        room = budget - tokens_of(_written(head, kept)) - tokens_of(f"\n{name}: ") - 1
        fitted = line if tokens_of(line) <= room or room < SMALLEST else clipped(line, room)
        more = {**kept, name: [*kept[name], fitted]}
        if tokens_of(_written(head, more)) <= budget:
            kept = more
    return clipped(_written(head, kept), budget)


def _written(head: str, kept: dict[str, list[str]]) -> str:
    parts = [head]
    for name, lines in kept.items():
        if lines:
            parts += [f"{name}: {lines[0]}"] if len(lines) == 1 else [f"{name}:", *(f"- {line}" for line in lines)]
    return "\n".join(parts)


def asks_for_it(question: str) -> bool:
    """True if a question asks where work was left off."""
    return len(question) <= LONGEST_QUESTION and bool(_ASKED.search(question))


def named_in(question: str, works: Sequence[LeftOff]) -> LeftOff:
    """Return the work that the rest of such a question names, else the first."""
    topic = words(_ASKED.sub(" ", question))
    return max(works, key=lambda work: len(topic & words(work.summary.text)))

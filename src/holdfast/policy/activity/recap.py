"""A session in short: the summary that is kept, and the hand-over for whoever goes on after a compaction. Pure."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from holdfast.model.record import Draft
from holdfast.model.text import shorten, tokens_of
from holdfast.model.trail import Happening
from holdfast.policy.activity.digest import Work
from holdfast.policy.activity.observe import title_of, type_of, works
from holdfast.policy.activity.work import Turn, turns
from holdfast.policy.language.headlines import joined, one_line, request_of, sentences_of
from holdfast.policy.language.signals import Signal, signals
from holdfast.policy.sessions.plan_brief import SMALLEST, clipped

MOST_FILES, MOST_LINES, LINE = 30, 12, 300
_LASTING = ("decision", "learning", "resolution", "pattern", "preference", "explicit")
_AHEAD = re.compile(
    r"^\s*(?:#{1,6}\s*|\*\*)?(?:next(?: steps?| up)?|remaining(?: work| steps?)?|what(?:'s| is) (?:left|next)|left to do|to-?do|open points?|"
    r"follow-?ups?|still (?:open|missing|to do)|not (?:yet )?done)\b[^\n]{0,40}?(?:\*\*)?:?(?:\*\*)?\s*$",
    re.IGNORECASE | re.MULTILINE,
)
_AHEAD_LINE = re.compile(r".*\bnext steps?:\s*$", re.IGNORECASE | re.MULTILINE)
_ITEM = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+(?:\[ \]\s*)?(?P<text>\S.*)$")
_TO_COME = re.compile(
    r"\b(?:next,|next i|next we|the next step|remaining|remains to|still (?:needs?|has to|have to|missing|open|left|to be)|left to do|"
    r"not (?:yet )?(?:done|implemented|covered|handled)|follow-up|todo|i would \w+ .* next|would be the next)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recap:
    """What a session was asked, did, learned and left."""

    asked: list[str]
    investigated: list[str]
    learned: list[str]
    completed: list[str]
    ahead: list[str]
    broken: list[str]
    questions: list[str]
    read: list[str]
    modified: list[str]


def summary(happenings: Sequence[Happening]) -> Draft | None:
    """Give the summary of a session so far; nothing if nothing happened that is worth a line."""
    found = works(happenings, everything=True)
    if not found:
        return None
    told = _recap(happenings, found)
    fields: dict[str, str | list[str]] = {
        "request": "; then ".join(told.asked[:MOST_LINES]),
        "investigated": _lines(told.investigated),
        "learned": _lines(told.learned),
        "completed": _lines(told.completed),
        "next_steps": _lines(told.ahead),
        "notes": _lines([*told.broken, *told.questions]),
        "files_read": told.read[:MOST_FILES],
        "files_modified": told.modified[:MOST_FILES],
    }
    first, last = happenings[0], happenings[-1]
    title = next(iter((*told.asked, *told.completed, *told.investigated)), title_of(found[0], type_of(found[0])))
    return Draft(
        kind="summary",
        title=one_line(title, 120),
        body=f"{title}. " + (f"Done: {'; '.join(told.completed[:5])}." if told.completed else "Nothing was finished."),
        fields={name: value for name, value in fields.items() if value},
        source="observed",
        extra={"trail": f"summary {first.session}", "session": first.session, "client": first.client, "until": last.id},
        at=last.at,
    )


def handover(happenings: Sequence[Happening], budget: int) -> str:
    """Write where a session stands, in no more tokens than the budget; nothing if it did nothing yet."""
    told = _recap(happenings, works(happenings, everything=True))
    sections = (
        ("Asked", list(reversed(told.asked))),
        ("Still broken", told.broken),
        ("Next", told.ahead),
        ("Open questions", told.questions),
        ("Done", list(reversed(told.completed))),
        ("Learned", told.learned),
        ("Files in play", [joined(told.modified, 12)] * bool(told.modified)),
        ("Files read", [joined(told.read, 12)] * bool(told.read)),
        ("Looked into", told.investigated),
    )
    if not any(lines for _, lines in sections):
        return ""
    return _packed("Where this session stands:", [section for section in sections if section[1]], budget)


def ahead_in(said: str) -> list[str]:
    """Give what an answer says comes next: the list under such a heading, else the sentences that say so."""
    for heading in (_AHEAD, _AHEAD_LINE):
        if (match := heading.search(said)) and (items := list(_items(said[match.end() :]))):
            return items[:MOST_LINES]
    return [shorten(one, LINE) for one in sentences_of(said) if _TO_COME.search(one) and not one.endswith("?")]


def _recap(happenings: Sequence[Happening], found: Sequence[Work]) -> Recap:
    spoken = turns(happenings)
    own = [turn for turn in spoken if not turn.agent]
    last = next((turn for turn in reversed(own) if turn.said), None)
    heard = list(_heard(spoken))
    fixes = [work for work in found if type_of(work) == "bugfix"]
    mended = [f"{one.name} failed with {one.error}; mended" for work in fixes for one in work.mended if one.error]
    read = list(dict.fromkeys(path for work in found for path in work.read))
    modified = list(dict.fromkeys(path for work in reversed(found) for path in work.modified))
    return Recap(
        asked=_once(request_of(turn.prompt) for turn in own),
        investigated=_once(_investigated(found)),
        learned=_once([*(one.text for one in heard if one.kind in _LASTING), *mended]),
        completed=_once(_titled(work) for work in found if _is_finished(work)),
        ahead=ahead_in(last.said) if last else [],
        broken=_broken(found),
        questions=_questions(last, heard),
        read=[path for path in read if path not in modified],
        modified=modified,
    )


def _heard(spoken: Sequence[Turn]) -> Iterator[Signal]:
    for turn in spoken:
        yield from signals(turn.prompt)
        yield from signals(turn.said)


def _is_finished(work: Work) -> bool:
    return bool(work.commits or ((work.changes or work.acts) and not work.broken))


def _titled(work: Work) -> str:
    commit = next((one.hash for one in work.commits if one.hash), "")
    return title_of(work, type_of(work)) + f" ({commit})" * bool(commit)


def _investigated(found: Sequence[Work]) -> Iterator[str]:
    for work in found:
        if type_of(work) == "discovery":
            yield title_of(work, "discovery")
        yield from (f"Looked for “{shorten(one.wanted, 80)}”" for one in work.searches if one.wanted)
        yield from (f"{one.agent or 'Sub-agent'}: {one.task}" for one in work.delegated if one.task)


def _broken(found: Sequence[Work]) -> list[str]:
    """Give what failed at its last run in the whole session."""
    state: dict[str, str] = {}
    for work in found:
        for run in work.runs:
            state[run.name] = run.error or "no reason told" if run.wrong else ""
    return [f"{name} fails: {error}" for name, error in state.items() if error]


def _questions(last: Turn | None, heard: Sequence[Signal]) -> list[str]:
    asked = [one for one in sentences_of(last.said) if one.endswith("?")] if last else []
    return _once([*asked, *(one.text for one in heard if one.kind == "blocker")])


def _items(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if match := _ITEM.match(line):
            yield shorten(match["text"].strip("* "), LINE)
        elif line.strip():
            return


def _once(lines: Iterable[str]) -> list[str]:
    """Give each line once: where there are too many, the first and the latest."""
    found = [shorten(line, LINE) for line in dict.fromkeys(line for line in lines if line)]
    return found if len(found) <= MOST_LINES else [found[0], *found[1 - MOST_LINES :]]


def _lines(lines: Sequence[str]) -> str:
    return "\n".join(lines[:MOST_LINES])


def _packed(head: str, sections: Sequence[tuple[str, list[str]]], budget: int) -> str:
    """Take one line of each section in turn while they fit, so that a long one leaves room for the others."""
    kept: dict[str, list[str]] = {name: [] for name, _ in sections}
    longest = max(len(lines) for _, lines in sections)
    in_turn = [(name, lines[place]) for place in range(longest) for name, lines in sections if place < len(lines)]
    for name, line in in_turn:
        room = budget - tokens_of(_written(head, kept)) - tokens_of(f"\n{name}: ") - 1
        fitting = line if tokens_of(line) <= room or room < SMALLEST else clipped(line, room)
        more = {**kept, name: [*kept[name], fitting]}
        if tokens_of(_written(head, more)) <= budget:
            kept = more
    return clipped(_written(head, kept), budget)


def _written(head: str, kept: dict[str, list[str]]) -> str:
    parts = [head]
    for name, lines in kept.items():
        if len(lines) == 1:
            parts.append(f"{name}: {lines[0]}")
        elif lines:
            parts += [f"{name}:", *(f"- {line}" for line in lines)]
    return "\n".join(parts)

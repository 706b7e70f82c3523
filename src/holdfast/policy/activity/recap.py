"""Summarize a session: the summary record, and the handover text after a compaction."""

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
    """What a session was asked, did, learned and left open."""

    asked: list[str]
    investigated: list[str]
    learned: list[str]
    completed: list[str]
    ahead: list[str]
    broken: list[str]
    questions: list[str]
    read: list[str]
    modified: list[str]


def summary(activity: Sequence[Happening]) -> Draft | None:
    """Return the summary of a session so far; None if it did nothing worth recording."""
    pieces = works(activity, include_open=True)
    if not pieces:
        return None
    recap = _recap(activity, pieces)
    fields: dict[str, str | list[str]] = {
        "request": "; then ".join(recap.asked[:MOST_LINES]),
        "investigated": _lines(recap.investigated),
        "learned": _lines(recap.learned),
        "completed": _lines(recap.completed),
        "next_steps": _lines(recap.ahead),
        "notes": _lines([*recap.broken, *recap.questions]),
        "files_read": recap.read[:MOST_FILES],
        "files_modified": recap.modified[:MOST_FILES],
    }
    first, last = activity[0], activity[-1]
    title = next(iter((*recap.asked, *recap.completed, *recap.investigated)), title_of(pieces[0], type_of(pieces[0])))
    return Draft(
        kind="summary",
        title=one_line(title, 120),
        body=f"{title}. "
        + (f"Done: {'; '.join(recap.completed[:5])}." if recap.completed else "Nothing was finished."),
        fields={name: value for name, value in fields.items() if value},
        source="observed",
        extra={"trail": f"summary {first.session}", "session": first.session, "client": first.client, "until": last.id},
        at=last.at,
    )


def handover(activity: Sequence[Happening], budget: int) -> str:
    """Return where a session stands, within a token budget; "" if it did nothing yet."""
    recap = _recap(activity, works(activity, include_open=True))
    sections = (
        ("Asked", list(reversed(recap.asked))),
        ("Still broken", recap.broken),
        ("Next", recap.ahead),
        ("Open questions", recap.questions),
        ("Done", list(reversed(recap.completed))),
        ("Learned", recap.learned),
        ("Files in play", [joined(recap.modified, 12)] * bool(recap.modified)),
        ("Files read", [joined(recap.read, 12)] * bool(recap.read)),
        ("Looked into", recap.investigated),
    )
    if not any(lines for _, lines in sections):
        return ""
    return _packed("Where this session stands:", [section for section in sections if section[1]], budget)


def ahead_in(answer: str) -> list[str]:
    """Return the next steps that an answer names: the list under such a heading, else matching sentences."""
    for heading in (_AHEAD, _AHEAD_LINE):
        if (match := heading.search(answer)) and (items := list(_items(answer[match.end() :]))):
            return items[:MOST_LINES]
    return [
        shorten(sentence, LINE)
        for sentence in sentences_of(answer)
        if _TO_COME.search(sentence) and not sentence.endswith("?")
    ]


def _recap(activity: Sequence[Happening], pieces: Sequence[Work]) -> Recap:
    all_turns = turns(activity)
    main_turns = [turn for turn in all_turns if not turn.agent]
    last = next((turn for turn in reversed(main_turns) if turn.answer), None)
    found_signals = [signal for turn in all_turns for text in (turn.prompt, turn.answer) for signal in signals(text)]
    fixes = [work for work in pieces if type_of(work) == "bugfix"]
    fixed = [f"{check.name} failed with {check.error}; fixed" for work in fixes for check in work.fixed if check.error]
    read = list(dict.fromkeys(path for work in pieces for path in work.read))
    modified = list(dict.fromkeys(path for work in reversed(pieces) for path in work.modified))
    return Recap(
        asked=_distinct(request_of(turn.prompt) for turn in main_turns),
        investigated=_distinct(_investigated(pieces)),
        learned=_distinct([*(signal.text for signal in found_signals if signal.kind in _LASTING), *fixed]),
        completed=_distinct(_titled(work) for work in pieces if _is_finished(work)),
        ahead=ahead_in(last.answer) if last else [],
        broken=_broken(pieces),
        questions=_questions(last, found_signals),
        read=[path for path in read if path not in modified],
        modified=modified,
    )


def _is_finished(work: Work) -> bool:
    return bool(work.commits or ((work.changes or work.acts) and not work.broken))


def _titled(work: Work) -> str:
    hash_ = next((commit.hash for commit in work.commits if commit.hash), "")
    return title_of(work, type_of(work)) + f" ({hash_})" * bool(hash_)


def _investigated(pieces: Sequence[Work]) -> Iterator[str]:
    for work in pieces:
        if type_of(work) == "discovery":
            yield title_of(work, "discovery")
        yield from (f"Looked for “{shorten(search.wanted, 80)}”" for search in work.searches if search.wanted)
        yield from (f"{task.agent or 'Sub-agent'}: {task.task}" for task in work.delegated if task.task)


def _broken(pieces: Sequence[Work]) -> list[str]:
    """Return the checks whose last run in the session failed."""
    state: dict[str, str] = {}
    for work in pieces:
        for run in work.runs:
            state[run.name] = run.error or "no error message" if run.wrong else ""
    return [f"{name} fails: {error}" for name, error in state.items() if error]


def _questions(last: Turn | None, found_signals: Sequence[Signal]) -> list[str]:
    asked = [sentence for sentence in sentences_of(last.answer) if sentence.endswith("?")] if last else []
    return _distinct([*asked, *(signal.text for signal in found_signals if signal.kind == "blocker")])


def _items(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if match := _ITEM.match(line):
            yield shorten(match["text"].strip("* "), LINE)
        elif line.strip():
            return


def _distinct(lines: Iterable[str]) -> list[str]:
    """Return each line once; if there are too many, the first and the latest."""
    distinct = [shorten(line, LINE) for line in dict.fromkeys(line for line in lines if line)]
    return distinct if len(distinct) <= MOST_LINES else [distinct[0], *distinct[1 - MOST_LINES :]]


def _lines(lines: Sequence[str]) -> str:
    return "\n".join(lines[:MOST_LINES])


def _packed(head: str, sections: Sequence[tuple[str, list[str]]], budget: int) -> str:
    """Add one line of each section in turn while they fit, so that a long section does not crowd out the others."""
    kept: dict[str, list[str]] = {name: [] for name, _ in sections}
    longest = max(len(lines) for _, lines in sections)
    in_turn = [(name, lines[index]) for index in range(longest) for name, lines in sections if index < len(lines)]
    for name, line in in_turn:
        room = budget - tokens_of(_written(head, kept)) - tokens_of(f"\n{name}: ") - 1
        fitted = line if tokens_of(line) <= room or room < SMALLEST else clipped(line, room)
        more = {**kept, name: [*kept[name], fitted]}
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

"""The brief a session begins with: what matters now, in no more tokens than its budget, the same text while nothing changes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from holdfast.model.fence import attribute, inline
from holdfast.model.record import Record
from holdfast.model.text import shorten, tokens_of
from holdfast.policy.sessions.plan_brief import clipped

# By how much the project's memory holds: below each, this many tokens.
BUDGETS = ((10, 500), (50, 1_000), (200, 2_000))
MOST = 3_000
POLICIES = ("off", "hot", "brief", "full")


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading and the records under it, most important first, and how long each may be."""

    title: str
    records: tuple[Record, ...]
    longest: int = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """The text of a brief, what is in it and what it costs."""

    text: str
    ids: tuple[str, ...] = ()
    tokens: int = 0


def budget_for(records: int, *, fixed: int = 0) -> int:
    """Give how many tokens a brief may take."""
    if fixed:
        return fixed
    return next((tokens for most, tokens in BUDGETS if records < most), MOST)


def written(
    project: str,
    state: Sequence[str],
    sections: Sequence[Section],
    budget: int,
    doubts: Mapping[str, str] = MappingProxyType({}),
) -> Prepared:
    """Write a brief: facts, not orders, fenced; sections take turns, so that a long one cannot crowd out the rest.

    `doubts` says of records what speaks against them.
    """
    head, foot = f'<holdfast-brief project="{attribute(project)}">', "</holdfast-brief>"
    lines: dict[str, list[str]] = {section.title: [] for section in sections}
    said = [clipped(inline(line), 120) for line in state if line]
    hint = "Notes from earlier sessions, to be checked where it matters; recall finds more."
    ids: list[str] = []
    for record, section in _in_turns(sections):
        line = f"- {record.id[:10]} {_label(record)}{inline(shorten(record.title, section.longest))}"
        line += f" [check first: {inline(shorten(doubts[record.id], 120))}]" if record.id in doubts else ""
        lines[section.title].append(line)
        if tokens_of(_joined(head, hint, said, lines, foot)) > budget:
            lines[section.title].pop()
            continue
        ids.append(record.id)
    text = _joined(head, hint, said, lines, foot) if ids or said else ""
    return (
        Prepared(text=text, ids=tuple(ids), tokens=tokens_of(text)) if tokens_of(text) <= budget else Prepared(text="")
    )


def _in_turns(sections: Sequence[Section]) -> list[tuple[Record, Section]]:
    longest = max((len(section.records) for section in sections), default=0)
    turns = [
        (section.records[place], section)
        for place in range(longest)
        for section in sections
        if place < len(section.records)
    ]
    first = {record.id: (record, section) for record, section in reversed(turns)}
    return [first[record_id] for record_id in dict.fromkeys(record.id for record, _ in turns)]


def _joined(head: str, hint: str, said: Sequence[str], lines: dict[str, list[str]], foot: str) -> str:
    parts = [head, hint, *said]
    for title, found in lines.items():
        parts += [f"{title}:", *found] if found else []
    return "\n".join([*parts, foot])


def _label(record: Record) -> str:
    severity = record.fields.get("severity")
    return f"[{inline(str(severity))}] " if severity and record.kind in ("scar", "anti_pattern") else ""

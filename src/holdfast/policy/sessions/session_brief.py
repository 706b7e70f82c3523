"""Write the brief that opens a session: what matters now, within a token budget, and stable while nothing changes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from holdfast.model.fence import attribute, inline
from holdfast.model.record import Record
from holdfast.model.text import shorten, tokens_of
from holdfast.policy.sessions.plan_brief import clipped

# (records, tokens): the budget for a project with fewer records than this.
BUDGETS = ((10, 500), (50, 1_000), (200, 2_000))
MOST = 3_000
POLICIES = ("off", "hot", "brief", "full")


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading, the records under it, most important first, and the longest title in characters."""

    title: str
    records: tuple[Record, ...]
    longest: int = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A brief: its text, the ids of its records and its cost in tokens."""

    text: str
    ids: tuple[str, ...] = ()
    tokens: int = 0


def budget_for(records: int, *, fixed: int = 0) -> int:
    """Return how many tokens a brief may take."""
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
    """Return a brief: fenced facts, not instructions. Sections take turns, so that a long one cannot crowd out others.

    `doubts` maps record ids to reasons to check them first.
    """
    head, foot = f'<holdfast-brief project="{attribute(project)}">', "</holdfast-brief>"
    lines: dict[str, list[str]] = {section.title: [] for section in sections}
    state_lines = [clipped(inline(line), 120) for line in state if line]
    hint = "Notes from earlier sessions, to be checked where it matters; recall finds more."
    ids: list[str] = []
    for record, section in _in_turns(sections):
        line = f"- {record.id[:10]} {_label(record)}{inline(shorten(record.title, section.longest))}"
        line += f" [check first: {inline(shorten(doubts[record.id], 120))}]" if record.id in doubts else ""
        lines[section.title].append(line)
        if tokens_of(_joined(head, hint, state_lines, lines, foot)) > budget:
            lines[section.title].pop()
            continue
        ids.append(record.id)
    text = _joined(head, hint, state_lines, lines, foot) if ids or state_lines else ""
    return (
        Prepared(text=text, ids=tuple(ids), tokens=tokens_of(text)) if tokens_of(text) <= budget else Prepared(text="")
    )


def _in_turns(sections: Sequence[Section]) -> list[tuple[Record, Section]]:
    longest = max((len(section.records) for section in sections), default=0)
    turns = [
        (section.records[index], section)
        for index in range(longest)
        for section in sections
        if index < len(section.records)
    ]
    first = {record.id: (record, section) for record, section in reversed(turns)}
    return [first[record_id] for record_id in dict.fromkeys(record.id for record, _ in turns)]


def _joined(head: str, hint: str, state_lines: Sequence[str], lines: dict[str, list[str]], foot: str) -> str:
    parts = [head, hint, *state_lines]
    for title, section_lines in lines.items():
        parts += [f"{title}:", *section_lines] if section_lines else []
    return "\n".join([*parts, foot])


def _label(record: Record) -> str:
    severity = record.fields.get("severity")
    return f"[{inline(str(severity))}] " if severity and record.kind in ("scar", "anti_pattern") else ""

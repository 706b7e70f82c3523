"""Write the brief that opens a session: ranked, within a token budget, and the same text as long as nothing changes."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from holdfast.model.ids import short
from holdfast.model.record import Record
from holdfast.model.text import attribute, counted, filled, flat, inline, shorten, tokens_of
from holdfast.policy.language.overlap import words
from holdfast.policy.ranking.brief_order import SHOWN_FROM
from holdfast.policy.ranking.diversity import shared_out
from holdfast.policy.sessions.plan_brief import clipped

# (records, tokens, characters of a text): for a project with fewer records than this. A hook's answer holds 9,500 characters.
SIZES = ((10, 800, 500), (50, 1_200, 300), (200, 1_800, 200))
MOST, LONGEST = 2_200, 160
SMALL = 50  # records; a smaller store is injected whole, as far as the budget goes
SAME = 0.8  # share of common words that makes two lines the same
DOUBT, COMPARED = 120, 300  # characters
STEP = 6  # points that each further line of a section must stand higher: no kind crowds out the others
SECTIONS: Mapping[str, tuple[tuple[str, ...], int]] = {  # heading: kinds, and how many lines it gets in a turn
    "Blocked": (("blocker",), 5),
    "Mistakes not to repeat": (("scar", "anti_pattern"), 8),
    "Rules and preferences": (("preference",), 10),
    "Decisions": (("decision",), 8),
    "Facts and references": (("fact", "reference"), 6),
    "Lessons": (("learning", "pattern", "win"), 6),
    "Open threads": (("thread",), 5),
    "Also noted": (("progress", "review", "retrospective", "inception", "elicitation", "observation", "summary"), 0),
}
HEADING = {kind: title for title, (kinds, _) in SECTIONS.items() for kind in kinds}
_TELLING = re.compile(
    r"\d[\w.]*|`[^`]+`|\b(?:not|no|never|n[o'’]t|don['’]t|without|nicht|kein\w*|nie|nunca|jamais|pas|não)\b|不|没|ない",
    re.IGNORECASE,
)
_DATED = ("decision", "fact", "reference", "blocker", "progress", "review")


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A record of a brief: its standing, and why it should be checked first, if it should."""

    record: Record
    standing: int = 0
    doubt: str = ""
    alike: int = 0  # other records that say the same
    came: str = ""  # who sent it, if it was imported


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A brief: its text, the ids of its records and its cost in tokens."""

    text: str
    ids: tuple[str, ...] = ()
    tokens: int = 0


def budget_for(records: int, *, fixed: int = 0) -> int:
    """Return how many tokens a brief may take."""
    return fixed or next((tokens for most, tokens, _ in SIZES if records < most), MOST)


def ranked(lines: Sequence[Line]) -> list[Line]:
    """Return lines by standing, the newest first among equals."""
    return sorted(lines, key=lambda line: (line.standing, line.record.created_at, line.record.id), reverse=True)


def collapsed(lines: Sequence[Line]) -> list[Line]:
    """Return ranked lines without those that repeat a better one."""
    kept, texts = list[Line](), list[frozenset[str]]()
    for line in lines:
        own = words(f"{line.record.title} {line.record.body[:COMPARED]}")
        alike = (index for index, other in enumerate(texts) if len(own & other) >= SAME * max(1, len(own), len(other)))
        # Two that differ in a number, a name or a negation do not say the same.
        same = next((index for index in alike if _marks(kept[index].record) == _marks(line.record)), None)
        if same is not None:
            kept[same] = replace(kept[same], alike=kept[same].alike + 1)
        else:
            kept.append(line)
            texts.append(own)
    return kept


def written(lines: Sequence[Line], *, project: str, size: int, budget: int, finder: str, state: str = "") -> Prepared:
    """Return a brief of ranked lines of a project with so many records, grouped under fixed headings: facts, not instructions.

    `finder` is the tool that finds more.
    """
    longest = next((characters for most, _, characters in SIZES if size < most), LONGEST)  # of a record
    rows = {line.record.id: _row(line, longest) for line in lines}

    def text_of(chosen: Sequence[Line], left: int) -> str:
        # The oldest first among equals, so that a new one changes nothing above it.
        groups: dict[str, list[str]] = {heading: [] for heading in SECTIONS}
        for line in sorted(chosen, key=lambda line: (-line.standing, line.record.created_at, line.record.id)):
            groups[HEADING[line.record.kind]].append(rows[line.record.id])
        parts = filled(
            f'<holdfast-brief project="{attribute(project)}">',
            "Notes from earlier sessions, to be checked where it matters.",
            state and clipped(inline(state), 120),
            *(line for heading, group in groups.items() if group for line in (f"{heading}:", *group)),
            left > 0 and f"Not listed: {counted(left, 'memory')}. Search with {finder}.",
            "</holdfast-brief>",
        )
        return "\n".join(parts)

    chosen = list[Line]()
    for line in _in_turn(lines, is_small=size < SMALL):
        if tokens_of(text_of([*chosen, line], size)) <= budget:
            chosen.append(line)
    text = text_of(chosen, size - sum(1 + line.alike for line in chosen if line.record.project == project))
    if not (chosen or state) or tokens_of(text) > budget:
        return Prepared(text="")
    return Prepared(text=text, ids=tuple(line.record.id for line in chosen), tokens=tokens_of(text))


def _in_turn(lines: Sequence[Line], *, is_small: bool) -> list[Line]:
    """Return lines in the order in which they are added: in turns, a few of every heading, each further one must stand higher."""
    order = list[tuple[int, int, Line]]()
    for kinds, most in SECTIONS.values():
        own = [line for line in lines if line.record.kind in kinds and (is_small or line.standing >= SHOWN_FROM)]
        left, turn = {line.record.id: line for line in own}, 0 if most else -1
        while left:  # no source is over its quota while others are left
            came = {id_: line.came for id_, line in left.items()}
            few = shared_out([line.record for line in left.values()], most or len(left), came)
            order += [(turn, left[one.id].standing - STEP * place, left.pop(one.id)) for place, one in enumerate(few)]
            turn -= 1
    return [line for *_, line in sorted(order, key=lambda each: each[:2], reverse=True)]


def _row(line: Line, longest: int) -> str:
    record = line.record
    severity = record.fields.get("severity")
    label = f"[{inline(str(severity))}] " if severity and record.kind in ("scar", "anti_pattern") else ""
    date = f" ({record.created_at[:10]})" if record.kind in _DATED and record.created_at else ""
    alike = f" (and {line.alike} like it)" if line.alike else ""
    doubt = f" [check first: {inline(shorten(line.doubt, DOUBT))}]" if line.doubt else ""
    return f"- {short(record.id)} {label}{inline(shorten(_content(record), longest))}{date}{alike}{doubt}"


def _content(record: Record) -> str:
    body, title = flat(record.body), record.title.rstrip("…")
    return body if body.startswith(title) or not title else record.title if not body else f"{record.title}: {body}"


def _marks(record: Record) -> frozenset[str]:
    return frozenset(match[0].lower() for match in _TELLING.finditer(_content(record)))

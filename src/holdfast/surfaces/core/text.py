"""Format memories as text for models: compact, ids first, why each hit matched, how to read more. Stored text is fenced as data.

What a recall, a read and a write answer is made here, without templates: these calls are frequent. Other pages are in pages.txt.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from holdfast.model.anchor import Freshness
from holdfast.model.event import VERB_WORDS, Event, in_words
from holdfast.model.ids import SHORT, short
from holdfast.model.query import Hit, Recalled
from holdfast.model.record import Record
from holdfast.model.text import OURS, attribute, counted, defused, filled, inline, listed, shorten, texts_of, tokens_of
from holdfast.policy.admission.admit import Refused, explain, explain_pending, how_near
from holdfast.policy.freshness import details, freshness_text
from holdfast.policy.ranking.gate import applies
from holdfast.policy.ranking.health import word_for
from holdfast.policy.sessions.evidence import variant_of, wording
from holdfast.policy.sessions.plan_brief import clipped, is_blocking
from holdfast.policy.sessions.triggers import warns_at
from holdfast.surfaces.pages import pages_of, within
from holdfast.surfaces.phrases import MODEL, REMEDIES, Reader, line, steps_of, unanswered
from holdfast.verbs.records.hot import Vitals
from holdfast.verbs.records.read import RecordDetails
from holdfast.verbs.records.write import Outcome, Written, WrittenPending
from holdfast.verbs.search.recall import needs_answer
from holdfast.verbs.sessions.scars import Answered

NOT_ACCEPTED = "(Quarantined: its author is not accepted here. Do not rely on it.)"
ENOUGH_TO_CLUSTER = 4


def _tally(name: str) -> str:
    """Return a counter of refused wordings in words; others keep their name."""
    group, _, marker = name.removeprefix("transient.").partition(".")
    words = {"fired": "refused", "insisted": "saved anyway"}.get(group)
    return f"{words} “{marker}”" if words else name


def clusters(hot_set: Sequence[Vitals]) -> dict[str, list[Vitals]]:
    """Group memories of the hot set under a label that at least two of them share, if there are enough to group."""
    labels_of = {hot.record.id: (*hot.record.scopes, *hot.record.tags) for hot in hot_set}
    shared = Counter(label for labels in labels_of.values() for label in set(labels))
    groups: dict[str, list[Vitals]] = {}
    for hot in hot_set:
        labels = [label for label in labels_of[hot.record.id] if shared[label] > 1]
        groups.setdefault(max(labels, key=shared.__getitem__, default=""), []).append(hot)
    under = {label: members for label, members in groups.items() if label and len(members) > 1}
    if len(hot_set) < ENOUGH_TO_CLUSTER or not under:
        return {"": list(hot_set)} if hot_set else {}
    rest = [hot for label, members in groups.items() if label not in under for hot in members]
    return {**under, "other": rest} if rest else under


_FILTERS: dict[str, Callable[..., Any]] = {"clusters": clusters, "grade": word_for, "in_words": in_words, "repr": repr}
_FILTERS |= {
    "how_near": how_near,
    "tally": _tally,
    "warns_at": warns_at,
    "verb": lambda verb: VERB_WORDS.get(verb, verb),
}
page = pages_of(Path(__file__).parent, _FILTERS)


def index_of(recalled: Recalled, *, who: str, budget: int, waiting: Sequence[Record] = ()) -> str:
    """Format the results of a recall: a few lines per hit, more for the first and for strong ones."""
    gated, near = recalled.gated, recalled.closest
    quarantined = [
        f"NOT ACCEPTED (quarantined), do not rely on it ({inline(hit.came)}): {line(hit.record)}. The user decides: holdfast review"
        for hit in recalled.held
    ]
    if not recalled.hits:
        more = f" {gated} weak matches were left out; mode=exploratory includes more." if gated else ""
        closest = near and f"Closest, probably not about it: {line(near)}"
        return "\n".join(filled(f"No memory fits this question.{more}", closest, *quarantined, *recalled.notes))
    hits = sorted(recalled.hits, key=lambda hit: not is_blocking(hit.record))
    scars = sum(needs_answer(hit) for hit in hits)
    may = sum(hit.confidence == "weak" for hit in hits)
    sure = len(hits) - may
    remarks = filled(
        f"confidence {recalled.confidence}{': check before you rely on it' if recalled.confidence == 'medium' else ''}",
        scars and f"{counted(scars, 'scar')} to review",
        gated and f"{counted(gated, 'weaker result')} left out",
        recalled.cut and f"{recalled.cut} more {'' if sure else 'may '}fit: raise limit or budget",
    )
    fit = f"{counted(sure, 'memory')} fit{'s' if sure == 1 else ''}" if sure else "No memory surely fits"
    head = f"{fit}{f', {may} may' if may else ''} ({'; '.join(remarks)}). read(ids) returns the full text."
    tail = filled(near and f"Closest, but superseded: {line(near)}", *recalled.notes, unanswered(waiting))
    if all(hit.record.source == "starter" for hit in hits):
        tail.append("These ship with Holdfast; save the first lesson of this project with remember.")
    items = [
        *(_hit(hit, who, whole=position == 0) for position, hit in enumerate(hits)),
        *(f"related ({one.relation} {short(one.source)}): {line(one.record)}" for one in recalled.related),
        *quarantined,
    ]
    return within(budget, [head], items, "raise budget", tail)


def _hit(hit: Hit, who: str, *, whole: bool) -> str:
    record, why = hit.record, ", ".join(f"{name} {value:.2f}" for name, value in hit.why.items())
    facts = filled(
        *(record.graded, record.created_at[:10], hit.confidence, _checked(record, hit.freshness), *record.scopes),
        hit.contradicted_by and f"contradicted by the newer {short(hit.contradicted_by)}",
        hit.branch and f"from branch {hit.branch}, not merged here",
        record.source == "starter" and "starter",
        inline(hit.came),
        hit.alike and f"{hit.alike} similar memories omitted",
        f"why: {why}",
    )
    lesson = applies(record, hit.fit)
    more = (shorten(record.body, 200) if lesson else hit.snippet).removeprefix(record.title).strip()
    below = filled(
        f"[{' · '.join(facts)}]",
        more,
        *(f"check first: {doubt}" for doubt in (details(hit.freshness) if hit.freshness else ())),
        *(_lesson(hit, who, whole=whole or hit.confidence == "strong") if lesson else ()),
    )
    return "\n".join([f"{short(record.id)} {shorten(record.title, 120)}", *(f"  {part}" for part in below)])


def _lesson(hit: Hit, who: str, *, whole: bool) -> list[str]:
    """Format a matching scar: why, when, and if `whole` also what to do and the counter-arguments."""
    record, fields, blocks = hit.record, hit.record.fields, is_blocking(hit.record)
    conditions = "; ".join(shorten(condition, 60) for condition in texts_of(fields.get("applies_when"))[:2])
    against = texts_of(fields.get("counter_arguments"))[:1] if whole or blocks else ()
    check = f"Run: {'; '.join(texts_of(fields.get('verify_with')))} Must show: {fields.get('must_show', '')}"
    return filled(
        fields.get("why") and f"why: {shorten(str(fields['why']), 180)}",
        fields.get("applies_when") and f"when: {conditions}",
        (whole or blocks) and wording(record, variant_of(who, record.id)),
        *(f"against it: {shorten(argument, 160)}" for argument in against),
        blocks and f"BLOCKS until verified. {check}",
        hit.why.get("decay", 1.0) < 0.5
        and "often dismissed or old: check whether it is still true, then verify, revise or forget it",
    )


def hydrated(source: RecordDetails, *, start: int, room: int) -> str:
    """Format a record with its freshness, the commit it comes from, and the files it cites."""
    around = [f"check first: {doubt}" for doubt in details(source.freshness)] if source.freshness else []
    if source.commit:
        author, date, subject = source.commit
        around.append(f"commit {defused(f'{date[:10]} {author}: {subject}')}")
    files = [_file(file) for file in source.files]
    files += [f"left out: {', '.join(source.left_out)}"] if source.left_out else []
    used = tokens_of("\n".join([*around, *files]))
    text = full(source, start=start, room=max(room // 3, room - used))
    return clipped("\n".join([text, *around, *files]), room)


def _file(file: Mapping[str, Any]) -> str:
    path, when = attribute(file["path"]), f' commit="{attribute(file["commit"][:10])}"' if file["commit"] else ""
    cut = f"\n[{file['cut']} bytes cut]" if file["cut"] else ""
    return f'{OURS}<memory-file path="{path}"{when}>\n{defused(file["text"])}{cut}\n{OURS}</memory-file>'


def full(shown: RecordDetails, *, start: int = 0, room: int) -> str:
    """Format a whole record, or as much as fits into `room` tokens, fenced and with its provenance."""
    record = shown.record
    by, at = attribute(record.by.name or record.by.kind), record.created_at[:16]
    kind = re.sub(r"[^\w-]", "", record.kind)
    came = f' from="{attribute(shown.came)}"' if shown.came else ""
    first = f'{OURS}<memory id="{attribute(record.id)}" kind="{kind}" state="{record.state}" by="{by}" at="{at}"{came}>'
    titled = [] if record.body.startswith(record.title.rstrip("…")) else [defused(record.title)]
    titled += [NOT_ACCEPTED] if record.state == "held" else []
    fields = [f"{name}: {defused(listed(value))}" for name, value in record.fields.items()]
    last = [f"{OURS}</memory>", clipped(" · ".join(_facts(shown)), max(SHORT, room // 4))]
    body = record.body[start:]
    whole = "\n".join([first, *titled, defused(body), *fields, *last])
    if tokens_of(whole) <= room:
        return whole
    rest = "(more: read with start={}, or raise budget)"
    room -= tokens_of("\n".join([first, *last, rest])) + SHORT
    head = clipped("\n".join([*titled, *fields]), room // 2)
    part = clipped(body, max(1, room - tokens_of(head))).removesuffix("…")
    return "\n".join([first, defused(part), head, *last, rest.format(start + len(part))])


def _facts(shown: RecordDetails) -> list[str]:
    record, usage = shown.record, shown.usage
    used = usage.shown or usage.applied or usage.contradicted
    return filled(
        record.project or "global",
        f"confidence {record.confidence}",
        _checked(record, shown.freshness),
        f"revision {record.revision}",
        record.reason and f"reason: {record.reason}",
        shown.superseded_by and f"superseded by {shown.superseded_by}",
        (places := warns_at(record)) and f"warns at {defused(places)}",
        *(f"{arrow.relation} {arrow.target}" for arrow in shown.links if arrow.source == record.id),
        used and f"shown {usage.shown}, applied {usage.applied}, contradicted {usage.contradicted}",
    )


def history_of(events: Sequence[Event]) -> str:
    """Format the events of a record."""
    marked = ((step, f" (not applied: {step.aside})" if step.aside else "") for step in steps_of(events))
    return "\n".join(f"{step.event.at[:16]} {step.verb} {inline(step.who)}{mark}" for step, mark in marked)


def outcome_of(outcome: Outcome) -> str:
    """Format the outcome of a write, and what to do next."""
    if isinstance(outcome, WrittenPending):
        return f"Pending as {outcome.record.id} because {outcome.why}. {explain_pending(outcome.record.id, REMEDIES['core'])}"
    return page("saved", outcome) if isinstance(outcome, Written) else refusal_of(outcome)


def answered(result: Answered, reader: Reader = MODEL) -> list[str]:
    """Format which answers to scars were accepted, and which are missing."""
    lines = [f"{decision}: {short(record.id)} {shorten(record.title, 80)}" for record, decision in result.taken]
    lines += [f"NOT accepted: {problem}" for problem in result.problems]
    return [*lines, unanswered(result.waiting, reader) or "Every scar shown in this session is answered."]


def refusal_of(refused: Refused) -> str:
    """Return why nothing was saved, and what to do about it."""
    return str(explain(refused, REMEDIES["core"]))


def _checked(record: Record, freshness: Freshness | None) -> str:
    if freshness:
        return freshness_text(freshness)
    return f"verified {record.verified_at[:10]}" if record.verified_at else "never verified"

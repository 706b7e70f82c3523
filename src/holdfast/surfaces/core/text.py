"""Format memories as text for models: compact, ids first, why each hit matched, how to read more. Stored text is fenced as data."""

import re
from collections.abc import Iterable, Sequence

from holdfast.model.event import Event, in_words
from holdfast.model.fence import OURS, attribute, defused, inline
from holdfast.model.fold import set_aside
from holdfast.model.freshness import Freshness
from holdfast.model.ids import SHORT, short
from holdfast.model.query import Hit, Recalled
from holdfast.model.record import Record
from holdfast.model.text import counted, listed, shorten, tokens_of
from holdfast.policy.admission.admit import Refused, how_near
from holdfast.policy.admission.refusals import Remedies, explain, explain_pending
from holdfast.policy.freshness import details, freshness_text
from holdfast.policy.ranking.scar_wordings import variant_of, wording
from holdfast.policy.sessions.plan_brief import clipped, is_blocking
from holdfast.policy.sessions.triggers import warns_at
from holdfast.surfaces.phrases import kind_of
from holdfast.surfaces.reader import MODEL, Reader
from holdfast.verbs.records.conflicts import LikelyConflict
from holdfast.verbs.records.read import RecordDetails
from holdfast.verbs.records.write import Outcome, Written, WrittenPending
from holdfast.verbs.search.recall import needs_answer
from holdfast.verbs.sessions.scars import Answered
from holdfast.verbs.truth.hydrate import CitedFile, Hydrated

NOT_ACCEPTED = "(Quarantined: its author is not accepted here. Do not rely on it.)"
REMEDIES = Remedies(
    revise="revise({id}, text)",
    restore="forget({id}, restore_it=true)",
    force="force=true",
    transient="force=true",
    any_scope="force=true",
    redact="redact=true",
    approve="judge([{{id, verdict: confirmed}}])",
    reject="judge([{{id, verdict: cancelled}}])",
)


def within(budget: int, head: Sequence[str], items: Iterable[str], more: str, tail: Sequence[str] = ()) -> str:
    """Put items under a head within a token budget (0: no limit); note how many were left out, and how to see them."""
    if not budget:
        return "\n".join([*head, *items, *tail])
    lines, left = list(head), 0
    for item in items:
        note = f"({left + 1} more: {more})"
        if left or tokens_of("\n".join([*lines, item, note, *tail])) > budget:
            left += 1
        else:
            lines.append(item)
    lines += [f"({left} more: {more})"] if left else []
    return clipped("\n".join([*lines, *tail]), budget)


def index_of(recalled: Recalled, *, who: str, budget: int, guidance: str = "", waiting: Sequence[Record] = ()) -> str:
    """Format the results of a recall: a few lines per hit, more for the first and for strong ones."""
    if not recalled.hits:
        more = (
            f" {recalled.gated} weak matches were left out; mode=exploratory includes more." if recalled.gated else ""
        )
        lines = [f"No memory fits this question.{more}", *_closest_line(recalled), *quarantined_lines(recalled)]
        return "\n".join([*lines, *recalled.notes])
    hits = sorted(recalled.hits, key=lambda hit: not is_blocking(hit.record))
    scars = sum(needs_answer(hit) for hit in hits)
    remarks = [guidance] if guidance else []
    remarks += [f"{counted(scars, 'scar')} to review"] if scars else []
    remarks += [f"{counted(recalled.gated, 'weaker result')} left out"] if recalled.gated else []
    remarks += [f"{recalled.cut} more fit: raise limit or budget"] if recalled.cut else []
    summary = f" ({'; '.join(remarks)})" if remarks else ""
    head = (
        f"{counted(len(hits), 'memory')} fit{'s' if len(hits) == 1 else ''}{summary}. read(ids) returns the full text."
    )
    tail = [*recalled.notes, *waiting_for(waiting)]
    if all(hit.record.source == "starter" for hit in hits):
        tail.append("These ship with Holdfast; save the first lesson of this project with remember.")
    items = [_hit(hit, who, whole=position == 0) for position, hit in enumerate(hits)]
    items += [
        f"related ({related.relation} {short(related.source)}): {line(related.record)}" for related in recalled.related
    ]
    items += quarantined_lines(recalled)
    return within(budget, [head], items, "raise budget", tail)


def _closest_line(recalled: Recalled) -> list[str]:
    near = recalled.closest
    return [f"Closest, probably not about it: {line(near)}"] if near else []


def quarantined_lines(recalled: Recalled) -> list[str]:
    """Format matches that are quarantined, one line each."""
    return [
        f"NOT ACCEPTED (quarantined), do not rely on it ({inline(hit.came)}): {line(hit.record)}. The user decides: holdfast review"
        for hit in recalled.held
    ]


def _hit(hit: Hit, who: str, *, whole: bool) -> str:
    record = hit.record
    facts = [kind_of(record), record.created_at[:10], hit.confidence, _checked(record, hit.freshness), *record.scopes]
    facts += [f"contradicted by the newer {short(hit.contradicted_by)}"] if hit.contradicted_by else []
    facts += [f"from branch {hit.branch}, not merged here"] if hit.branch else []
    facts += ["starter"] if record.source == "starter" else []
    facts += [inline(hit.came)] if hit.came else []
    facts += [f"{hit.alike} similar memories omitted"] if hit.alike else []
    why = ", ".join(f"{name} {value:.2f}" for name, value in hit.why.items())
    lesson = record.kind == "scar" and hit.confidence != "weak"
    more = (shorten(record.body, 200) if lesson else hit.snippet).removeprefix(record.title).strip()
    lines = [f"{short(record.id)} {shorten(record.title, 120)}", f"  [{' · '.join(facts)} · why: {why}]"]
    lines += [f"  {more}"] if more else []
    lines += [f"  check first: {doubt}" for doubt in details(hit.freshness)] if hit.freshness else []
    if lesson:
        lines += _lesson(hit, who, whole=whole or hit.confidence == "strong")
    return "\n".join(lines)


def _lesson(hit: Hit, who: str, *, whole: bool) -> list[str]:
    """Format a matching scar: why, when, and if `whole` also what to do and the counter-arguments."""
    record, fields = hit.record, hit.record.fields
    parts = [f"why: {shorten(str(fields['why']), 180)}"] if fields.get("why") else []
    parts += (
        [f"when: {'; '.join(shorten(condition, 60) for condition in _texts(record, 'applies_when')[:2])}"]
        if fields.get("applies_when")
        else []
    )
    if whole or is_blocking(record):
        parts += [wording(record, variant_of(who, record.id))]
        parts += [f"against it: {shorten(argument, 160)}" for argument in _texts(record, "counter_arguments")[:1]]
    if is_blocking(record):
        parts.append(
            f"BLOCKS until verified. Run: {'; '.join(_texts(record, 'verify_with'))} Must show: {fields.get('must_show', '')}"
        )
    if hit.why.get("decay", 1.0) < 0.5:
        parts.append("often dismissed or old: check whether it is still true, then verify, revise or forget it")
    return [f"  {part}" for part in parts if part]


def waiting_for(scars: Sequence[Record], reader: Reader = MODEL) -> list[str]:
    """List the scars shown in this session that are not answered yet, and how to answer."""
    if not scars:
        return []
    named = "; ".join(f"{short(scar.id)} {shorten(scar.title, 60)}" for scar in scars[:5])
    rest = f" and {len(scars) - 5} more" if len(scars) > 5 else ""
    return [
        f"{counted(len(scars), 'scar')} shown in this session not answered. Answer before consequential work, {reader.answer}: {named}{rest}"
    ]


def hydrated(source: Hydrated, *, start: int, room: int) -> str:
    """Format a record with its freshness, the commit it comes from, and the files it cites."""
    around = [f"check first: {doubt}" for doubt in details(source.freshness)] if source.freshness else []
    if source.commit:
        author, date, subject = source.commit
        around.append(f"commit {defused(f'{date[:10]} {author}: {subject}')}")
    files = [_file(file) for file in source.files]
    files += [f"left out: {', '.join(source.left_out)}"] if source.left_out else []
    used = tokens_of("\n".join([*around, *files]))
    text = full(source.shown, start=start, room=max(room // 3, room - used), freshness=source.freshness)
    return clipped("\n".join([text, *around, *files]), room)


def _file(file: CitedFile) -> str:
    when = f' commit="{attribute(file.commit[:10])}"' if file.commit else ""
    cut = f"\n[{file.cut} bytes cut]" if file.cut else ""
    return f'{OURS}<memory-file path="{attribute(file.path)}"{when}>\n{defused(file.text)}{cut}\n{OURS}</memory-file>'


def full(shown: RecordDetails, *, start: int, room: int, freshness: Freshness | None = None) -> str:
    """Format a whole record, or as much as fits into `room` tokens, fenced and with its provenance."""
    record = shown.record
    by, at = attribute(record.by.name or record.by.kind), record.created_at[:16]
    kind = re.sub(r"[^\w-]", "", record.kind)
    came = f' from="{attribute(shown.came)}"' if shown.came else ""
    first = f'{OURS}<memory id="{attribute(record.id)}" kind="{kind}" state="{record.state}" by="{by}" at="{at}"{came}>'
    titled = [] if record.body.startswith(record.title.rstrip("…")) else [defused(record.title)]
    titled += [NOT_ACCEPTED] if record.state == "held" else []
    fields = [f"{name}: {defused(listed(value))}" for name, value in record.fields.items()]
    last = [f"{OURS}</memory>", clipped(" · ".join(_facts(shown, freshness)), max(SHORT, room // 4))]
    body = record.body[start:]
    whole = "\n".join([first, *titled, defused(body), *fields, *last])
    if tokens_of(whole) <= room:
        return whole
    rest = "(more: read with start={}, or raise budget)"
    room -= tokens_of("\n".join([first, *last, rest])) + SHORT
    head = clipped("\n".join([*titled, *fields]), room // 2)
    part = clipped(body, max(1, room - tokens_of(head))).removesuffix("…")
    return "\n".join([first, defused(part), head, *last, rest.format(start + len(part))])


def _facts(shown: RecordDetails, freshness: Freshness | None) -> list[str]:
    record, usage = shown.record, shown.usage
    facts = [
        record.project or "global",
        f"confidence {record.confidence}",
        _checked(record, freshness),
        f"revision {record.revision}",
    ]
    facts += [f"reason: {record.reason}"] if record.reason else []
    facts += [f"superseded by {shown.superseded_by}"] if shown.superseded_by else []
    facts += [f"warns at {defused(places)}"] if (places := warns_at(record)) else []
    facts += [f"{arrow.relation} {arrow.target}" for arrow in shown.links if arrow.source == record.id]
    if usage.surfaced or usage.applied or usage.contradicted:
        facts.append(f"shown {usage.surfaced}, applied {usage.applied}, contradicted {usage.contradicted}")
    return facts


def line(record: Record, reader: Reader = MODEL) -> str:
    """Format a record as one line."""
    return f"{short(record.id)} {reader.minute(record.created_at)} [{kind_of(record)}] {shorten(record.title, 120)}"


def history_of(events: Iterable[Event]) -> str:
    """Format the events of a record."""
    listed = list(events)
    aside = set_aside(listed)
    return "\n".join(_happened(event, aside.get(event.id, "")) for event in listed)


def _happened(event: Event, aside: str) -> str:
    mark = {"waits": " (not applied: quarantined)", "rejected": " (not applied: rejected)"}
    verb, who = in_words(event)
    return f"{event.at[:16]} {verb} {inline(who)}{mark.get(aside, '')}"


def outcome_of(outcome: Outcome) -> str:
    """Format the outcome of a write, and what to do next."""
    match outcome:
        case Written(record=record, related=related, conflicts=conflicts, doubts=doubts):
            return "\n".join(
                [
                    f"Saved as {record.id}: {shorten(record.title, 120)}",
                    *([f"  warns at {shorten(places, 300)}"] if (places := warns_at(record)) else []),
                    *(
                        f"  {how_near(near)}: {short(near.record.id)} {shorten(near.record.title, 100)}"
                        for near in related
                    ),
                    *(f"  warning: {doubt}" for doubt in doubts),
                    *(f"  {conflict_line(record, clash)}" for clash in conflicts),
                ]
            )
        case WrittenPending(record=record, why=why):
            return f"Pending as {record.id} because {why}. {explain_pending(record.id, REMEDIES)}"
        case refused:
            return refusal_of(refused)


def answered(result: Answered, reader: Reader = MODEL) -> list[str]:
    """Format which answers to scars were accepted, and which are missing."""
    lines = [f"{decision}: {short(record.id)} {shorten(record.title, 80)}" for record, decision in result.taken]
    lines += [f"NOT accepted: {problem}" for problem in result.problems]
    return lines + (waiting_for(result.waiting, reader) or ["Every scar shown in this session is answered."])


def conflict_line(record: Record, clash: LikelyConflict) -> str:
    """Format what a new record seems to contradict, and how to resolve it."""
    other = f"{short(clash.record.id)} ({shorten(clash.record.title, 80)})"
    replace = f"revise({short(record.id)}, links=[supersedes:{short(clash.record.id)}])"
    if clash.replaced:
        return f"seems to replace {other}: {clash.found.explain} If so: {replace}."
    both = f"links=[relates_to:{short(clash.record.id)}]"
    return (
        f"seems to contradict {other}: {clash.found.explain} If it replaces that: {replace}; if both are true: {both}."
    )


def refusal_of(refused: Refused) -> str:
    """Return why nothing was saved, and what to do about it."""
    return str(explain(refused, REMEDIES))


def _checked(record: Record, freshness: Freshness | None = None) -> str:
    """Describe the freshness of a record, or when it was last verified."""
    if freshness:
        return freshness_text(freshness)
    return f"verified {record.verified_at[:10]}" if record.verified_at else "never verified"


def _texts(record: Record, name: str) -> list[str]:
    value = record.fields.get(name)
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []

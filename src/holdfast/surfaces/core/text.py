"""What a model reads of memories: compact, ids first, why each hit is there, how to go deeper. Stored text is data, and fenced."""

import re
from collections.abc import Iterable, Sequence

from holdfast.model.event import Event
from holdfast.model.fence import OURS, attribute, defused, inline
from holdfast.model.fold import set_aside
from holdfast.model.freshness import Freshness
from holdfast.model.query import Hit, Recalled
from holdfast.model.record import Record
from holdfast.model.text import counted, shorten, tokens_of
from holdfast.policy.admission.admit import Refused, Similar
from holdfast.policy.admission.refusals import Remedies, explain, explain_pending
from holdfast.policy.freshness import details, told
from holdfast.policy.ranking.variants import variant_of, wording
from holdfast.policy.sessions.plan_brief import clipped, is_blocking
from holdfast.surfaces.phrases import kind_of
from holdfast.verbs.records.conflicts import Clash
from holdfast.verbs.records.read import Shown
from holdfast.verbs.records.write import Held, Outcome, Written
from holdfast.verbs.search.recall import wants_answer
from holdfast.verbs.sessions.scars import Answered
from holdfast.verbs.truth.hydrate import CitedFile, Hydrated

SHORT = 10
NOT_ACCEPTED = "(It came from somebody nobody here accepted: do not rely on it.)"
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
ANSWER = "judge([{id, verdict: APPLYING|N_A|REFUTED, evidence}])"


def within(budget: int, head: Sequence[str], items: Iterable[str], more: str, tail: Sequence[str] = ()) -> str:
    """Put items under a head while the whole keeps to its budget; say how many were left out, and how to see them."""
    lines, left = list(head), 0
    for item in items:
        note = f"({left + 1} more: {more})"
        if left or tokens_of("\n".join([*lines, item, note, *tail])) > budget:
            left += 1
        else:
            lines.append(item)
    lines += [f"({left} more: {more})"] if left else []
    return clipped("\n".join([*lines, *tail]), budget)


def index_of(found: Recalled, *, who: str, budget: int, guidance: str = "", waiting: Sequence[Record] = ()) -> str:
    """Write the first layer: a few lines per hit, the first and the strong ones with more."""
    if not found.hits:
        more = f" {found.gated} weak matches were left out; mode=exploratory lets more in." if found.gated else ""
        return "\n".join([f"Nothing kept fits this question.{more}", *held_lines(found), *found.notes])
    hits = sorted(found.hits, key=lambda hit: not is_blocking(hit.record))
    scars = sum(wants_answer(hit) for hit in hits)
    left = [guidance] if guidance else []
    left += [f"{counted(scars, 'scar')} to review"] if scars else []
    left += [f"{found.gated} weaker left out"] if found.gated else []
    left += [f"{found.cut} more fit: raise limit or budget"] if found.cut else []
    told = f" ({'; '.join(left)})" if left else ""
    head = f"{counted(len(hits), 'memory')} fit{'s' if len(hits) == 1 else ''}{told}. read(ids) gives the full text."
    tail = [*found.notes, *waiting_for(waiting)]
    if all(hit.record.source == "starter" for hit in hits):
        tail.append("These came with Holdfast; remember the first lesson of this project's own.")
    items = [_hit(hit, who, whole=place == 0) for place, hit in enumerate(hits)]
    items += [f"related ({one.relation} {one.source[:SHORT]}): {line(one.record)}" for one in found.related]
    items += held_lines(found)
    return within(budget, [head], items, "raise budget", tail)


def held_lines(found: Recalled) -> list[str]:
    """Name what would fit and comes from people nobody accepted: never more than a line each."""
    return [
        f"NOT ACCEPTED, so nothing to rely on ({inline(hit.came)}): {line(hit.record)}. The user decides: holdfast quarantine"
        for hit in found.held
    ]


def _hit(hit: Hit, who: str, *, whole: bool) -> str:
    record = hit.record
    facts = [kind_of(record), record.created_at[:10], hit.confidence, _checked(record, hit.freshness), *record.scopes]
    facts += [f"from branch {hit.branch}, not merged here"] if hit.branch else []
    facts += ["starter"] if record.source == "starter" else []
    facts += [inline(hit.came)] if hit.came else []
    facts += [f"{hit.alike} more say nearly the same"] if hit.alike else []
    why = ", ".join(f"{name} {value:.2f}" for name, value in hit.why.items())
    lesson = record.kind == "scar" and hit.confidence != "weak"
    more = (shorten(record.body, 200) if lesson else hit.snippet).removeprefix(record.title).strip()
    lines = [f"{record.id[:SHORT]} {shorten(record.title, 120)}", f"  [{' · '.join(facts)} · why: {why}]"]
    lines += [f"  {more}"] if more else []
    lines += [f"  check first: {doubt}" for doubt in details(hit.freshness)] if hit.freshness else []
    if lesson:
        lines += _lesson(hit, who, whole=whole or hit.confidence == "strong")
    return "\n".join(lines)


def _lesson(hit: Hit, who: str, *, whole: bool) -> list[str]:
    """Write what a scar that fits has to say: why, when, and in full how to act and what speaks against it."""
    record, fields = hit.record, hit.record.fields
    parts = [f"why: {shorten(str(fields['why']), 180)}"] if fields.get("why") else []
    parts += (
        [f"when: {'; '.join(shorten(one, 60) for one in _texts(record, 'applies_when')[:2])}"]
        if fields.get("applies_when")
        else []
    )
    if whole or is_blocking(record):
        parts += [wording(record, variant_of(who, record.id))]
        parts += [f"against it: {shorten(one, 160)}" for one in _texts(record, "counter_arguments")[:1]]
    if is_blocking(record):
        parts.append(
            f"BLOCKS until verified. Run: {'; '.join(_texts(record, 'verify_with'))} Must show: {fields.get('must_show', '')}"
        )
    if hit.why.get("decay", 1.0) < 0.5:
        parts.append("often dismissed or old: check whether it still holds, then verify, revise or forget it")
    return [f"  {part}" for part in parts if part]


def waiting_for(scars: Sequence[Record], how: str = ANSWER) -> list[str]:
    """Say which scars of this session still want an answer, and how to give it."""
    if not scars:
        return []
    named = "; ".join(f"{one.id[:SHORT]} {shorten(one.title, 60)}" for one in scars[:5])
    rest = f" and {len(scars) - 5} more" if len(scars) > 5 else ""
    want = "wants" if len(scars) == 1 else "want"
    return [
        f"{counted(len(scars), 'scar')} shown here {want} an answer before consequential work, {how}: {named}{rest}"
    ]


def hydrated(found: Hydrated, *, start: int, room: int) -> str:
    """Write one record with what is around it: whether it holds, the commit it comes from, and the files it cites."""
    commit = [f"{found.commit[1][:10]} {found.commit[0]}: {found.commit[2]}"] if found.commit else []
    around = [f"check first: {doubt}" for doubt in details(found.freshness)] if found.freshness else []
    around += [f"commit {defused(one)}" for one in commit]
    files = [_file(one) for one in found.files]
    files += [f"left out: {', '.join(found.left_out)}"] if found.left_out else []
    taken = tokens_of("\n".join([*around, *files]))
    text = full(found.shown, start=start, room=max(room // 3, room - taken), freshness=found.freshness)
    return clipped("\n".join([text, *around, *files]), room)


def _file(one: CitedFile) -> str:
    when = f' commit="{attribute(one.commit[:10])}"' if one.commit else ""
    cut = f"\n[{one.cut} bytes cut]" if one.cut else ""
    return f'{OURS}<memory-file path="{attribute(one.path)}"{when}>\n{defused(one.text)}{cut}\n{OURS}</memory-file>'


def full(shown: Shown, *, start: int, room: int, freshness: Freshness | None = None) -> str:
    """Write one record whole, or as much as there is room for, fenced and with its provenance."""
    record = shown.record
    by, at = _name(record), record.created_at[:16]
    kind = re.sub(r"[^\w-]", "", record.kind)
    came = f' from="{attribute(shown.came)}"' if shown.came else ""
    first = f'{OURS}<memory id="{attribute(record.id)}" kind="{kind}" state="{record.state}" by="{by}" at="{at}"{came}>'
    titled = [] if record.body.startswith(record.title.rstrip("…")) else [defused(record.title)]
    titled += [NOT_ACCEPTED] if record.state == "held" else []
    fields = [f"{name}: {defused(_spoken(value))}" for name, value in record.fields.items()]
    last = [f"{OURS}</memory>", clipped(" · ".join(_facts(shown, freshness)), max(SHORT, room // 4))]
    body = record.body[start:]
    whole = "\n".join([first, *titled, defused(body), *fields, *last])
    if tokens_of(whole) <= room:
        return whole
    rest = "(more: read with start={}, or raise budget)"
    room -= tokens_of("\n".join([first, *last, rest])) + SHORT
    told = clipped("\n".join([*titled, *fields]), room // 2)
    kept = clipped(body, max(1, room - tokens_of(told))).removesuffix("…")
    return "\n".join([first, defused(kept), told, *last, rest.format(start + len(kept))])


def _facts(shown: Shown, freshness: Freshness | None) -> list[str]:
    record, usage = shown.record, shown.usage
    facts = [
        record.project or "global",
        f"confidence {record.confidence}",
        _checked(record, freshness),
        f"revision {record.revision}",
    ]
    facts += [f"reason: {record.reason}"] if record.reason else []
    facts += [f"superseded by {shown.superseded_by}"] if shown.superseded_by else []
    facts += [f"{arrow.relation} {arrow.target}" for arrow in shown.links if arrow.source == record.id]
    if usage.surfaced or usage.applied or usage.contradicted:
        facts.append(f"shown {usage.surfaced}, applied {usage.applied}, contradicted {usage.contradicted}")
    return facts


def line(record: Record) -> str:
    """Write a record as one line."""
    return f"{record.id[:SHORT]} {record.created_at[:16]} [{kind_of(record)}] {shorten(record.title, 120)}"


def history_of(events: Iterable[Event]) -> str:
    """Write what happened to a record."""
    told = list(events)
    aside = set_aside(told)
    return "\n".join(_happened(event, aside.get(event.id, "")) for event in told)


def _happened(event: Event, aside: str) -> str:
    who = inline(event.by.name or event.by.kind)
    from_whom = f": {len(event.data.get('events', ()))} from {inline(str(event.data.get('from') or 'unknown'))}"
    came = from_whom if event.verb == "arrived" else ""
    mark = {"waits": " (does not count: it waits to be accepted)", "rejected": " (does not count: it was rejected)"}
    return f"{event.at[:16]} {event.verb}{came} by {who}{mark.get(aside, '')}"


def outcome_of(outcome: Outcome) -> str:
    """Write what became of a draft, and how to go on."""
    match outcome:
        case Written(record=record, related=related, conflicts=conflicts, doubts=doubts):
            return "\n".join(
                [
                    f"Kept as {record.id}: {shorten(record.title, 120)}{_related(related)}",
                    *(f"  does not hold: {doubt}" for doubt in doubts),
                    *(f"  {conflict_line(record, one)}" for one in conflicts),
                ]
            )
        case Held(record=record, why=why):
            return f"Pending as {record.id} because {why}. {explain_pending(record.id, REMEDIES)}"
        case refused:
            return refusal_of(refused)


def answered(told: Answered, how: str = ANSWER) -> list[str]:
    """Write which answers to scars were taken, and what is still missing."""
    lines = [f"{decision}: {record.id[:SHORT]} {shorten(record.title, 80)}" for record, decision in told.taken]
    lines += [f"NOT taken: {problem}" for problem in told.problems]
    return lines + (waiting_for(told.waiting, how) or ["Every scar shown in this session is answered."])


def conflict_line(record: Record, clash: Clash) -> str:
    """Write what a new record seems to contradict, and how to say which of them holds."""
    other = f"{clash.record.id[:SHORT]} ({shorten(clash.record.title, 80)})"
    replace = f"revise({record.id[:SHORT]}, links=[supersedes:{clash.record.id[:SHORT]}])"
    if clash.replaced:
        return f"seems to replace {other}: {clash.found.explain} If so: {replace}."
    both = f"links=[relates_to:{clash.record.id[:SHORT]}]"
    return f"seems to contradict {other}: {clash.found.explain} If it replaces that: {replace}; if both hold: {both}."


def _related(related: Iterable[Similar]) -> str:
    lines = [f"\n  related: {near.record.id[:SHORT]} {shorten(near.record.title, 100)}" for near in related]
    return "".join(lines)


def refusal_of(refused: Refused) -> str:
    """Return why nothing was saved, and what to do about it."""
    return str(explain(refused, REMEDIES))


def _checked(record: Record, freshness: Freshness | None = None) -> str:
    """Say how far a record still holds; of what tells of the past, when it was last looked at."""
    if freshness:
        return told(freshness)
    return f"verified {record.verified_at[:10]}" if record.verified_at else "never verified"


def _name(record: Record) -> str:
    return attribute(record.by.name or record.by.kind)


def _spoken(value: object) -> str:
    return "; ".join(map(str, value)) if isinstance(value, list) else str(value)


def _texts(record: Record, name: str) -> list[str]:
    value = record.fields.get(name)
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []

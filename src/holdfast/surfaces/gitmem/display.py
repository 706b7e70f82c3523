"""Format the pages of GitMem: session start and close, recalled scars, lists, threads."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from holdfast.model.errors import Invalid
from holdfast.model.ids import short
from holdfast.model.query import Hit, Recalled
from holdfast.model.record import Record
from holdfast.model.text import counted, shorten
from holdfast.policy.ranking.scar_wordings import variant_of, wording
from holdfast.policy.sessions.left_off import plain
from holdfast.policy.sessions.plan_brief import Brief, is_blocking
from holdfast.surfaces.gitmem.shapes import REMEDIES, ago, tagged
from holdfast.surfaces.phrases import kind_of, refusal
from holdfast.verbs.records.write import Outcome
from holdfast.verbs.search.recall import needs_answer
from holdfast.verbs.sessions.close import Closed, NotClosed
from holdfast.verbs.sessions.scars import Effect
from holdfast.verbs.sessions.session import Opening
from holdfast.verbs.sessions.thread import Known, Opened, Thread

THREADS, SUGGESTIONS = 5, 3
LEFT_OFF = 300  # tokens
FADED = 0.8  # the remaining weight of a scar below which its decay is displayed


def opening(opened: Opening, word: str, now: str, *, payload: Path | None = None, known: Brief | None = None) -> str:
    """Format what a session should know when it starts."""
    session = opened.session
    about = f"{session.issue} {session.title}".strip()
    lines = [f"GitMem · session {word}", f"session_id: {session.id}"]
    lines += [f"agent: {session.agent or 'unknown'} · project: {session.project}"]
    lines += [f"gitmem_dir: {payload.parent}", f"Payload path: {payload}"] if payload else []
    lines += [f"Working on: {about}"] if about else []
    brief = ["", known.text] if known and known.included else []
    return "\n".join([*lines, "", *_standing(opened, now), *brief])


def closing(outcome: Closed | NotClosed) -> str:
    """Format how a session closed; raise with what has to be done first if it did not."""
    if isinstance(outcome, NotClosed):
        hint = "Nothing was written, the session stays open."
        raise Invalid(f"Session {outcome.session.id} is not closed.", hint=hint, problems=outcome.problems)
    kept = Counter(record.kind for record in outcome.kept)
    lines = [f"GitMem · session closed ({outcome.compliance['close_type']})", f"session_id: {outcome.session.id}"]
    lines += [f"Title: {outcome.title}"] if outcome.title else []
    lines += [f"Kept: {', '.join(f'{number} {kind}' for kind, number in kept.items())}"] if kept else []
    lines += _reflection(outcome.kept)
    lines += [f"Thread: {tagged(thread)}: {shorten(thread.title, 80)}" for thread in outcome.threads]
    lines += [f"Scar {short(scar)}: {verdict}" for scar, verdict in outcome.answered.items()]
    if suggestion := outcome.suggestion:
        lines.append(f"Suggested thread: {tagged(suggestion)}: {shorten(suggestion.title, 80)}")
    compliance = ", ".join(f"{name} {value}" for name, value in outcome.compliance.items() if name != "close_type")
    return "\n".join([*lines, f"Compliance: {compliance}", *(f"Note: {remark}" for remark in outcome.remarks)])


def recalled(results: Recalled, plan: str, who: str, effects: Sequence[Effect]) -> str:
    """Format the results of a recall."""
    if not results.hits:
        weak = f" {counted(results.gated, 'weaker result')} left out." if results.gated else ""
        return "\n".join([f"No memory fits this plan closely enough: {shorten(plan, 120)}.{weak}", *results.notes])
    hits = sorted(results.hits, key=lambda hit: not is_blocking(hit.record))
    scars, by_id = sum(map(needs_answer, hits)), {effect.scar.id: effect for effect in effects}
    what = f"{counted(scars, 'scar')} to review" if scars else f"{counted(len(hits), 'lesson')} to consider"
    what += f" (and {len(hits) - scars} that need no answer)" if 0 < scars < len(hits) else ""
    lines = [f"{what} for: {shorten(plan, 120)}", ""]
    for position, hit in enumerate(hits, start=1):
        lines += [f"{position}. {_hit_head(hit, by_id.get(hit.record.id))}"]
        lines += [f"   {part}" for part in _hit_body(hit, who, whole=position == 1)]
    lines += ["", *_next_steps(hits, scars), *results.notes]
    return "\n".join(lines)


def searched(results: Recalled, query: str) -> str:
    """Format the results of a search; a record asked for by id in full."""
    if not results.hits:
        weak = f" {counted(results.gated, 'weaker result')} left out." if results.gated else ""
        return "\n".join([f"No memory fits: {shorten(query, 120)}.{weak}", *results.notes])
    if "id" in results.hits[0].why:
        return in_full(results.hits[0].record)
    lines = [f"{counted(len(results.hits), 'result')} for: {shorten(query, 120)}"]
    for hit in results.hits:
        lines += [_hit_head(hit, None), f"   {shorten(hit.record.body, 200)}"]
    return "\n".join([*lines, "search(id) returns one in full.", *results.notes])


def in_full(record: Record) -> str:
    """Format everything in a record."""
    fields = [f"{name}: {_joined(value)}" for name, value in record.fields.items()]
    state = "" if record.state == "active" else f" · {record.state}{f' ({record.reason})' if record.reason else ''}"
    head = f"[{kind_of(record)}] {record.title} · {record.id}{state}"
    return "\n".join([head, f"{record.created_at[:10]} by {record.by.name or 'unknown'}", record.body, *fields])


def logged(records: Sequence[Record], now: str) -> str:
    """Format recent lessons, one per line."""
    if not records:
        return "No lesson was saved yet: create_learning saves the first."
    lines = [
        f"{tagged(record)} [{kind_of(record)}] {shorten(record.title, 100)} ({ago(record.created_at, now)})"
        for record in records
    ]
    return "\n".join([f"{counted(len(records), 'entry')}, latest first", *lines])


def created_thread(outcome: Opened | Known | Outcome, now: str) -> str:
    """Format the outcome of creating a thread."""
    match outcome:
        case Opened(thread=thread):
            return f"Created {thread_line(thread, now)}\nthread_id: {tagged(thread.record)}"
        case Known(thread=thread):
            lines = [f"Already open, touched: {thread_line(thread, now)}", f"thread_id: {tagged(thread.record)}"]
            return "\n".join([*lines, "deduplicated: true", "allow_duplicate=true opens another one."])
    raise refusal(outcome, REMEDIES)  # type: ignore[arg-type]


def threads(places: Mapping[int, Thread], resolved: Sequence[Thread], *, opened: int, resolved_: int) -> str:
    """Format threads as a table, oldest first, with the totals of the project."""
    listed = {place: thread for place, thread in places.items() if thread.stage != "archived"}
    head = [f"total_open: {opened} · total_resolved: {resolved_}"]
    if not listed and not resolved:
        return "\n".join([*head, "No thread to list: create_thread creates one."])
    rows = [
        f"| #{place} | {tagged(thread.record)} | {_cell(thread.record.title)} | {thread.stage} {thread.vitality:.2f} | {thread.touched_at[:10]} |"
        for place, thread in listed.items()
    ]
    rows += [
        f"| – | {tagged(thread.record)} | {_cell(thread.record.title)} | resolved: {_cell(thread.record.reason)} | {thread.record.updated_at[:10]} |"
        for thread in resolved
    ]
    hidden = len(places) - len(listed)
    note = [f"{counted(hidden, 'thread')} dormant for a month not listed: cleanup_threads."] if hidden else []
    return "\n".join([*head, "| # | id | thread | state | last active |", "|---|---|---|---|---|", *rows, *note])


def triaged(stages: Mapping[str, Sequence[Thread]], archived: Sequence[Thread], now: str) -> str:
    """Format open threads by stage."""
    total = sum(map(len, stages.values()))
    lines = [f"total_open: {total} · " + " · ".join(f"{name} {len(threads_)}" for name, threads_ in stages.items())]
    for name, threads_ in stages.items():
        lines += [f"{name}:", *(f"  {thread_line(thread, now)}" for thread in threads_)] if threads_ else []
    lines += [f"Archived now: {tagged(thread.record)}: {shorten(thread.record.title, 80)}" for thread in archived]
    return "\n".join(
        [*lines, "resolve_thread closes what is done; auto_archive=true archives those dormant for 30 days."]
    )


def thread_line(thread: Thread, now: str) -> str:
    """Format a thread as one line."""
    record = thread.record
    if thread.stage == "resolved":
        return f"{tagged(record)}: {shorten(record.title, 100)} [RESOLVED] {shorten(record.reason, 100)}".rstrip()
    state = f"[{thread.stage.upper()} {thread.vitality:.2f}] ({thread.thread_class}, {ago(thread.touched_at, now)})"
    return f"{tagged(record)}: {shorten(record.title, 100)} {state}"


def _standing(opened: Opening, now: str) -> list[str]:
    lines = _last(opened)
    lines += [f"PROJECT STATE: {shorten(opened.state.body, 300)}"] if opened.state else []
    lines += [f"Rapport: {shorten(opened.rapport, 200)}"] if opened.rapport else []
    if opened.threads:
        left = f", showing {THREADS}" if len(opened.threads) > THREADS else ""
        lines += [f"Open threads ({len(opened.threads)}{left}):"]
        lines += [f"  {thread_line(thread, now)}" for thread in opened.threads[:THREADS]]
    lines += _suggested(opened.suggestions)
    lines += [f"Decisions ({len(opened.decisions)}):"] if opened.decisions else []
    lines += [
        f"  {decision.created_at[:10]} {tagged(decision)} {shorten(decision.title, 100)}"
        for decision in opened.decisions
    ]
    lines += [f"Never closed: session {session.id} of {session.started_at[:16]}" for session in opened.left_open[:2]]
    if insight := opened.insight:
        spot = f"; blind spot: {shorten(insight.blind_spot.title, 60)}" if insight.blind_spot else ""
        lines.append(
            f"Last 30 days: {insight.sessions} sessions, {insight.shown} scars shown, {insight.heeded:.0%} applied{spot}"
        )
    return lines


def _last(opened: Opening) -> list[str]:
    work = opened.left_off
    left = plain(work, LEFT_OFF).splitlines() if work and work.observed else []
    if opened.last is None or (work and left and work.session == opened.last.id):
        return left or ["First session here: recall before you act, create_learning when something is learned."]
    title = str(opened.last.close.get("title") or opened.last.title or "untitled")
    summary = opened.summary.fields if opened.summary else {}
    parts = [
        f"  {name.replace('_', ' ')}: {shorten(str(summary[name]), 160)}"
        for name in ("completed", "learned", "next_steps")
        if summary.get(name)
    ]
    return [
        f"Last session ({opened.last.closed_at[:10]}, {opened.last.agent or 'unknown'}): {shorten(title, 100)}",
        *parts,
        *left,
    ]


def _suggested(suggestions: Sequence[Record]) -> list[str]:
    if not suggestions:
        return []
    lines = [
        f"  {tagged(suggestion)}: {shorten(suggestion.title, 80)} ({counted(len(suggestion.extra.get('evidence', ())), 'session')})"
        for suggestion in suggestions[:SUGGESTIONS]
    ]
    return [f"Suggested threads ({len(suggestions)}): promote_suggestion or dismiss_suggestion", *lines]


def _reflection(kept: Sequence[Record]) -> list[str]:
    answers = next((record.fields for record in kept if record.kind == "retrospective"), {})
    wanted = (("what_worked", "Worked"), ("do_differently", "Next time"))
    return [f"{word}: {shorten(str(answers[key]), 72)}" for key, word in wanted if answers.get(key)]


def _hit_head(hit: Hit, effect: Effect | None) -> str:
    record = hit.record
    tags = ["[starter]"] if record.source == "starter" else []
    tags += ["[low confidence]"] if hit.confidence == "weak" else []
    tags += [f"[decay: {effect.multiplier:.0%}]"] if effect and effect.multiplier < FADED else []
    tags += ["[often dismissed: needs review]"] if effect and effect.wants_review else []
    head = f"[{kind_of(record)}] {shorten(record.title, 120)} · {tagged(record)} (similarity {hit.fit:.2f})"
    return " ".join([head, *tags])


def _hit_body(hit: Hit, who: str, *, whole: bool) -> list[str]:
    """Format a hit: briefly for a weak match, with everything needed to act for a strong one."""
    record, fields = hit.record, hit.record.fields
    if hit.confidence == "weak" and not needs_answer(hit):
        return []
    when = [shorten(condition, 60) for condition in _texts(fields.get("applies_when"))[:2]]
    parts = [shorten(record.body, 300)] if record.body != record.title else []
    parts += [f"why: {shorten(str(fields['why']), 180)}"] if fields.get("why") else []
    parts += [f"when: {'; '.join(when)}"] if when else []
    if whole or hit.confidence == "strong" or is_blocking(record):
        parts += [advice] if (advice := wording(record, variant_of(who, record.id))) else []
        parts += [f"against it: {shorten(argument, 160)}" for argument in _texts(fields.get("counter_arguments"))[:1]]
    if is_blocking(record):
        run = "; ".join(_texts(fields.get("verify_with")))
        parts.append(f"BLOCKS until verified. Run: {run} Must show: {fields.get('must_show', '')}")
    return parts


def _next_steps(hits: Sequence[Hit], scars: int) -> list[str]:
    lines = [f'search("{tagged(hits[0].record)}") returns one in full.']
    if scars:
        keys = "[{scar_id, decision: APPLYING|N_A|REFUTED, evidence}]"
        lines.insert(0, f"Answer each scar before you continue: confirm_scars(confirmations={keys}).")
    if all(hit.record.source == "starter" for hit in hits):
        lines.append("These lessons hold everywhere; create_learning keeps the first of this project's own.")
    return lines


def _texts(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _joined(value: object) -> str:
    return "; ".join(value) if isinstance(value, list) else str(value)


def _cell(text: str) -> str:
    return shorten(text, 55).replace("|", "/")

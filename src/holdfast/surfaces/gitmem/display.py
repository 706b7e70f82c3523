"""The pages that GitMem's users are shown: a session's beginning and end, recalled scars, lists, threads."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from holdfast.model.errors import Invalid
from holdfast.model.query import Hit, Recalled
from holdfast.model.record import Record
from holdfast.model.text import counted, shorten
from holdfast.policy.ranking.variants import variant_of, wording
from holdfast.policy.sessions.plan_brief import Brief, is_blocking
from holdfast.surfaces.gitmem.shapes import REMEDIES, ago, short
from holdfast.surfaces.phrases import kind_of, refusal
from holdfast.verbs.records.write import Outcome
from holdfast.verbs.search.recall import wants_answer
from holdfast.verbs.sessions.close import Closed, NotClosed
from holdfast.verbs.sessions.scars import Effect
from holdfast.verbs.sessions.session import Opening
from holdfast.verbs.sessions.thread import Known, Opened, Thread

THREADS, SUGGESTIONS = 5, 3
FADED = 0.8  # what is left of a scar's weight below which it is told


def opening(opened: Opening, word: str, now: str, *, payload: Path | None = None, known: Brief | None = None) -> str:
    """Write what a session should know when it begins."""
    session = opened.session
    about = f"{session.issue} {session.title}".strip()
    lines = [f"GitMem · session {word}", f"session_id: {session.id}"]
    lines += [f"agent: {session.agent or 'unknown'} · project: {session.project}"]
    lines += [f"gitmem_dir: {payload.parent}", f"Payload path: {payload}"] if payload else []
    lines += [f"Working on: {about}"] if about else []
    return "\n".join([*lines, "", *_standing(opened, now), *_known(known)])


def closing(outcome: Closed | NotClosed) -> str:
    """Write how a session ended; raises with what has to be done first where it did not."""
    if isinstance(outcome, NotClosed):
        hint = "Nothing was written, the session goes on."
        raise Invalid(f"Session {outcome.session.id} is not closed.", hint=hint, problems=outcome.problems)
    kept = Counter(one.kind for one in outcome.kept)
    lines = [f"GitMem · session closed ({outcome.compliance['close_type']})", f"session_id: {outcome.session.id}"]
    lines += [f"Title: {outcome.title}"] if outcome.title else []
    lines += [f"Kept: {', '.join(f'{number} {kind}' for kind, number in kept.items())}"] if kept else []
    lines += _reflection(outcome.kept)
    lines += [f"Thread: {short(one)}: {shorten(one.title, 80)}" for one in outcome.threads]
    lines += [
        f"Scar {'+' if verdict == 'applied' else '!'} {scar[:10]} {verdict}"
        for scar, verdict in outcome.answered.items()
    ]
    if suggestion := outcome.suggestion:
        lines.append(f"Suggested thread: {short(suggestion)}: {shorten(suggestion.title, 80)}")
    told = ", ".join(f"{name} {value}" for name, value in outcome.compliance.items() if name != "close_type")
    return "\n".join([*lines, f"Compliance: {told}", *(f"Note: {one}" for one in outcome.remarks)])


def recalled(found: Recalled, plan: str, who: str, effects: Sequence[Effect]) -> str:
    """Write what recall shows before somebody acts."""
    if not found.hits:
        weak = f" {found.gated} weaker left out." if found.gated else ""
        return "\n".join([f"Nothing kept fits this plan closely enough: {shorten(plan, 120)}.{weak}", *found.notes])
    hits = sorted(found.hits, key=lambda hit: not is_blocking(hit.record))
    scars, by_id = sum(map(wants_answer, hits)), {one.scar.id: one for one in effects}
    what = f"{counted(scars, 'scar')} to review" if scars else f"{counted(len(hits), 'lesson')} to consider"
    lines = [f"{what} for: {shorten(plan, 120)}", ""]
    for place, hit in enumerate(hits, start=1):
        lines += [f"{place}. {_hit_head(hit, by_id.get(hit.record.id))}"]
        lines += [f"   {part}" for part in _hit_body(hit, who, whole=place == 1)]
    lines += ["", *_way_on(hits, scars), *found.notes]
    return "\n".join(lines)


def searched(found: Recalled, query: str) -> str:
    """Write what a search found; one asked for by id is written in full."""
    if not found.hits:
        weak = f" {found.gated} weaker left out." if found.gated else ""
        return "\n".join([f"Nothing kept fits: {shorten(query, 120)}.{weak}", *found.notes])
    if "id" in found.hits[0].why:
        return in_full(found.hits[0].record)
    lines = [f"{counted(len(found.hits), 'result')} for: {shorten(query, 120)}"]
    for hit in found.hits:
        lines += [_hit_head(hit, None), f"   {shorten(hit.record.body, 200)}"]
    return "\n".join([*lines, "search(id) gives one in full.", *found.notes])


def in_full(record: Record) -> str:
    """Write everything a record says."""
    told = [f"{name}: {_joined(value)}" for name, value in record.fields.items()]
    state = "" if record.state == "active" else f" · {record.state}{f' ({record.reason})' if record.reason else ''}"
    head = f"[{kind_of(record)}] {record.title} · {record.id}{state}"
    return "\n".join([head, f"{record.created_at[:10]} by {record.by.name or 'unknown'}", record.body, *told])


def logged(found: Sequence[Record], now: str) -> str:
    """Write what was learned lately, a line each."""
    if not found:
        return "Nothing was learned yet: create_learning keeps the first."
    lines = [f"{short(one)} [{kind_of(one)}] {shorten(one.title, 100)} ({ago(one.created_at, now)})" for one in found]
    return "\n".join([f"{counted(len(found), 'entry')}, latest first", *lines])


def created_thread(outcome: Opened | Known | Outcome, now: str) -> str:
    """Write what became of a new thread."""
    match outcome:
        case Opened(thread=thread):
            return f"Created {thread_line(thread, now)}\nthread_id: {short(thread.record)}"
        case Known(thread=thread):
            lines = [f"Open already, touched: {thread_line(thread, now)}", f"thread_id: {short(thread.record)}"]
            return "\n".join([*lines, "deduplicated: true", "allow_duplicate=true opens another one."])
    raise refusal(outcome, REMEDIES)  # type: ignore[arg-type]


def threads(places: Mapping[int, Thread], resolved: Sequence[Thread]) -> str:
    """Write threads as a table, the oldest first."""
    shown = {place: one for place, one in places.items() if one.stage != "archived"}
    if not shown and not resolved:
        return "No thread is open: create_thread keeps one."
    rows = [
        f"| #{place} | {short(one.record)} | {_cell(one.record.title)} | {one.stage} {one.vitality:.2f} | {one.touched_at[:10]} |"
        for place, one in shown.items()
    ]
    rows += [
        f"| – | {short(one.record)} | {_cell(one.record.title)} | resolved: {_cell(one.record.reason)} | {one.record.updated_at[:10]} |"
        for one in resolved
    ]
    hidden = len(places) - len(shown)
    note = [f"{counted(hidden, 'thread')} dormant for a month not listed: cleanup_threads."] if hidden else []
    head = [f"total_open: {len(places)} · total_resolved: {len(resolved)}"]
    return "\n".join([*head, "| # | id | thread | state | last active |", "|---|---|---|---|---|", *rows, *note])


def triaged(stages: Mapping[str, Sequence[Thread]], archived: Sequence[Thread], now: str) -> str:
    """Write open threads by how alive they are."""
    total = sum(map(len, stages.values()))
    lines = [f"total_open: {total} · " + " · ".join(f"{name} {len(found)}" for name, found in stages.items())]
    for name, found in stages.items():
        lines += [f"{name}:", *(f"  {thread_line(one, now)}" for one in found)] if found else []
    lines += [f"Archived now: {short(one.record)}: {shorten(one.record.title, 80)}" for one in archived]
    return "\n".join([*lines, "resolve_thread closes what is done; auto_archive=true what lay dormant for 30 days."])


def thread_line(thread: Thread, now: str) -> str:
    """Write a thread as one line."""
    record = thread.record
    if thread.stage == "resolved":
        return f"{short(record)}: {shorten(record.title, 100)} [RESOLVED] {shorten(record.reason, 100)}".rstrip()
    told = f"[{thread.stage.upper()} {thread.vitality:.2f}] ({thread.thread_class}, {ago(thread.touched_at, now)})"
    return f"{short(record)}: {shorten(record.title, 100)} {told}"


def _standing(opened: Opening, now: str) -> list[str]:
    lines = _last(opened)
    lines += [f"PROJECT STATE: {shorten(opened.state.body, 300)}"] if opened.state else []
    lines += [f"Rapport: {shorten(opened.rapport, 200)}"] if opened.rapport else []
    if opened.threads:
        left = f", showing {THREADS}" if len(opened.threads) > THREADS else ""
        lines += [f"Open threads ({len(opened.threads)}{left}):"]
        lines += [f"  {thread_line(one, now)}" for one in opened.threads[:THREADS]]
    lines += _suggested(opened.suggestions)
    lines += [f"Decisions ({len(opened.decisions)}):"] if opened.decisions else []
    lines += [f"  {one.created_at[:10]} {short(one)} {shorten(one.title, 100)}" for one in opened.decisions]
    lines += [f"Never closed: session {one.id} of {one.started_at[:16]}" for one in opened.left_open[:2]]
    if told := opened.insight:
        spot = f"; blind spot: {shorten(told.blind_spot.title, 60)}" if told.blind_spot else ""
        lines.append(
            f"Last 30 days: {told.sessions} sessions, {told.shown} scars shown, {told.heeded:.0%} applied{spot}"
        )
    return lines


def _last(opened: Opening) -> list[str]:
    if opened.last is None:
        return ["First session here: recall before you act, create_learning when something is learned."]
    title = str(opened.last.close.get("title") or opened.last.title or "untitled")
    told = opened.summary.fields if opened.summary else {}
    parts = [
        f"  {name.replace('_', ' ')}: {shorten(str(told[name]), 160)}"
        for name in ("completed", "learned", "next_steps")
        if told.get(name)
    ]
    return [
        f"Last session ({opened.last.closed_at[:10]}, {opened.last.agent or 'unknown'}): {shorten(title, 100)}",
        *parts,
    ]


def _suggested(found: Sequence[Record]) -> list[str]:
    if not found:
        return []
    lines = [
        f"  {short(one)}: {shorten(one.title, 80)} ({counted(len(one.extra.get('evidence', ())), 'session')})"
        for one in found[:SUGGESTIONS]
    ]
    return [f"Suggested threads ({len(found)}): promote_suggestion or dismiss_suggestion", *lines]


def _known(known: Brief | None) -> list[str]:
    return ["", known.text] if known and known.included else []


def _reflection(kept: Sequence[Record]) -> list[str]:
    told = next((one.fields for one in kept if one.kind == "retrospective"), {})
    wanted = (("what_worked", "Worked"), ("do_differently", "Next time"))
    return [f"{word}: {shorten(str(told[key]), 72)}" for key, word in wanted if told.get(key)]


def _hit_head(hit: Hit, effect: Effect | None) -> str:
    record = hit.record
    tags = ["[starter]"] if record.source == "starter" else []
    tags += ["[low confidence]"] if hit.confidence == "weak" else []
    tags += [f"[decay: {effect.multiplier:.0%}]"] if effect and effect.multiplier < FADED else []
    tags += ["[often dismissed: look at it again]"] if effect and effect.wants_review else []
    head = f"[{kind_of(record)}] {shorten(record.title, 120)} · {short(record)} (similarity {hit.fit:.2f})"
    return " ".join([head, *tags])


def _hit_body(hit: Hit, who: str, *, whole: bool) -> list[str]:
    """Write what a hit has to say: little where it hardly fits, all that helps to act where it fits well."""
    record, fields = hit.record, hit.record.fields
    if hit.confidence == "weak" and not is_blocking(record):
        return []
    when = [shorten(one, 60) for one in _texts(fields.get("applies_when"))[:2]]
    parts = [shorten(record.body, 300)] if record.body != record.title else []
    parts += [f"why: {shorten(str(fields['why']), 180)}"] if fields.get("why") else []
    parts += [f"when: {'; '.join(when)}"] if when else []
    if whole or hit.confidence == "strong" or is_blocking(record):
        parts += [advice] if (advice := wording(record, variant_of(who, record.id))) else []
        parts += [f"against it: {shorten(one, 160)}" for one in _texts(fields.get("counter_arguments"))[:1]]
    if is_blocking(record):
        run = "; ".join(_texts(fields.get("verify_with")))
        parts.append(f"BLOCKS until verified. Run: {run} Must show: {fields.get('must_show', '')}")
    return parts


def _way_on(hits: Sequence[Hit], scars: int) -> list[str]:
    lines = [f'search("{short(hits[0].record)}") gives one in full.']
    if scars:
        keys = "[{scar_id, decision: APPLYING|N_A|REFUTED, evidence}]"
        lines.insert(0, f"Answer each scar before you go on: confirm_scars(confirmations={keys}).")
    if all(hit.record.source == "starter" for hit in hits):
        lines.append("These lessons hold everywhere; create_learning keeps the first of this project's own.")
    return lines


def _texts(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _joined(value: object) -> str:
    return "; ".join(value) if isinstance(value, list) else str(value)


def _cell(text: str) -> str:
    return shorten(text, 55).replace("|", "/")

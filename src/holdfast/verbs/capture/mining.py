"""Learn from what sessions wrote on their way: log it, mine each line once, and offer what comes back for a yes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from holdfast.engine.raw import outputs
from holdfast.engine.raw.outputs import Held, Output, Pattern
from holdfast.engine.views import records
from holdfast.engine.views.records import Filter
from holdfast.model.errors import Conflict
from holdfast.model.event import Actor, Event
from holdfast.model.ids import days_before, days_between, fixed_id
from holdfast.model.record import Draft, Record
from holdfast.policy.admission.admit import Admitted, Pending, Waivers
from holdfast.policy.secrets.find import drop_private, masked
from holdfast.verbs.memory import Memory, find, lapsed
from holdfast.verbs.records.lifecycle import retire
from holdfast.verbs.records.write import Outcome, confirm, draft_event, verdict_on

if TYPE_CHECKING:
    from holdfast.policy.language.mine import Found

SHORTEST, LONGEST = 20, 100_000
MARGIN = 20_000  # characters before that, masked with them: a secret cut in two would no longer be known as one
READ = 1_000_000  # characters of a longer log that are looked at, from its end: masking them takes half a second
MOST_OUTPUTS = 10_000
MOST_OFFERED = 1_000
_MASKED = "[redacted "
_EARLIEST, _YEARS = 978_307_200, 20 * 365 * 86_400  # from 2001 on: before anything was kept
_KINDS = {
    "decision": "decision",
    "explanation": "learning",
    "insight": "learning",
    "command": "reference",
    "api_endpoint": "reference",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What mining did: how many outputs it read, what it counted, what it now offers and what it kept by itself."""

    outputs: int = 0
    found: int = 0
    counted: int = 0
    offered: tuple[Record, ...] = ()
    approved: tuple[Record, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Mined:
    """Something mined that waits for a yes: how often it was seen, in how many sessions, how plainly, and what that adds up to."""

    record: Record
    occurrences: int
    sessions: int
    confidence: float
    last_at: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputStatus:
    """What is kept of logged output, within which caps, how far it was mined, and what waits for a yes."""

    held: Held
    most_days: int
    most_characters: int
    waiting: int


def log_output(memory: Memory, text: str, session: str = "") -> int:
    """Keep what a session wrote, credentials masked, for mining; give how many characters were kept."""
    body = _clean(text)
    if len(body) < SHORTEST:
        return 0
    db, now = memory.store.db, memory.clock.now()
    with db.transaction():
        here = memory.store.project_number(memory.project, make=True)
        outputs.add(db, project=here, session=masked(session) or memory.actor.session, at=now, body=body)
        outputs.prune(
            db,
            before=days_before(now, memory.config.output_days),
            characters=memory.config.output_characters,
            outputs=MOST_OUTPUTS,
        )
    return len(body)


def mine_outputs(memory: Memory) -> Run:
    """Count what this project's new output says, and offer what is plain or came back often enough."""
    db, here = memory.store.db, memory.store.project_number(memory.project)
    run = Run()
    while output := outputs.next_unmined(db, here):
        found = _found(memory, output)  # outside the transaction: reading takes a tenth of a second at worst
        with db.transaction():
            if outputs.advance(db, output, memory.clock.now()):
                counted = sum(outputs.see(db, output, one) for one in _undecided(memory, found))
                run = replace(run, outputs=run.outputs + 1, found=run.found + len(found), counted=run.counted + counted)
    outputs.expire(db, here, before=days_before(memory.clock.now(), memory.config.mined_days))
    return _offer_due(memory, here, run)


def mined(memory: Memory, *, limit: int = 50) -> list[Mined]:
    """Give what was mined in this project and waits for a yes, what counts most first."""
    from holdfast.policy.language.mine import score  # noqa: PLC0415  30 ms: only when somebody looks

    found = []
    for record in _waiting(memory):
        seen = record.extra["pattern"]
        days = days_between(seen["last_at"], memory.clock.now())
        found.append(
            Mined(
                record=record,
                occurrences=seen["occurrences"],
                sessions=seen["sessions"],
                confidence=seen["confidence"],
                last_at=seen["last_at"],
                score=round(score(seen["occurrences"], days, seen["confidence"]), 4),
            )
        )
    return sorted(found, key=lambda one: (-one.score, one.record.id))[:limit]


def approve(memory: Memory, reference: str, *, waivers: Waivers | None = None) -> Outcome:
    """Say yes to something mined; it is judged again first."""
    record = _candidate(memory, reference)
    with memory.store.transaction():
        outcome = confirm(memory, record.id, waivers=waivers)
        outputs.forget(memory.store.db, [record.id] if find(memory, record.id).record.state == "active" else [])
    return outcome


def reject(memory: Memory, references: Iterable[str], *, reason: str = "") -> list[Record]:
    """Say no to what was mined, all of it or none; the same is never offered again, however often it is seen."""
    found = {record.id: record for record in (_candidate(memory, one) for one in references)}
    why = "mined, and not worth keeping" + (f": {reason}" if reason else "")
    with memory.store.transaction():
        gone = [retire(memory, one, why) for one in found]
        outputs.forget(memory.store.db, found)
    return gone


def output_status(memory: Memory) -> OutputStatus:
    """Tell what is kept of this project's output, and how far it was mined."""
    here = memory.store.project_number(memory.project)
    return OutputStatus(
        held=outputs.held(memory.store.db, here),
        most_days=memory.config.output_days,
        most_characters=memory.config.output_characters,
        waiting=len(_waiting(memory)),
    )


def outputs_logged(memory: Memory, *, session: str = "", days: float = 0.0) -> int:
    """Tell how many outputs this project, or one session, logged; only lately if days are given."""
    since = days_before(memory.clock.now(), days) if days else ""
    return outputs.counted(memory.store.db, memory.store.project_number(memory.project), session=session, since=since)


def drop_outputs(memory: Memory, *, session: str = "") -> int:
    """Remove this project's logged output, or that of one session, for good; what was counted of it stays counted."""
    return outputs.drop(memory.store.db, memory.store.project_number(memory.project), session)


def _clean(text: str) -> str:
    """Give the end of a log as it may be kept. Private spans go first: cut in two, one would no longer be known as such."""
    plain = drop_private(text)[-READ - MARGIN :].replace("\0", "").encode(errors="replace").decode()
    whole = str(masked(plain))[-READ:].strip()
    return whole if len(whole) <= LONGEST else whole[-LONGEST:].partition("\n")[2] or whole[-LONGEST:]


def _found(memory: Memory, output: Output) -> list[Pattern]:
    """Give what an output says that will be true next time; what held a credential is no knowledge."""
    from holdfast.policy.language.mine import mine, pattern_key  # noqa: PLC0415

    kept = [one for one in mine(output.body) if _MASKED not in one.text]
    return [_pattern(memory, output, one, pattern_key(one)) for one in kept]


def _pattern(memory: Memory, output: Output, found: "Found", key: str) -> Pattern:
    return Pattern(
        id=_id_of(memory.project, key),
        key=key,
        kind=found.kind,
        body=found.text,
        confidence=found.confidence,
        occurrences=1,
        told=0,
        sessions=1,
        first_at=output.at,
        last_at=output.at,
    )


def _id_of(project: str, key: str) -> str:
    """Give the id of the record a pattern becomes: always the same, so a decision on it holds for good and everywhere.

    Ids are told apart by the time they begin with, so that is drawn from the name as well.
    """
    name = f"mined\n{project}\n{key}"
    drawn = int.from_bytes(blake2b(name.encode(), digest_size=8).digest()) % (_YEARS * 1000)
    return fixed_id(_EARLIEST + drawn / 1000, name)


def _undecided(memory: Memory, found: Iterable[Pattern]) -> list[Pattern]:
    """Leave out what was approved, rejected or erased before."""
    patterns = list(found)
    known = records.by_ids(memory.store.db, [one.id for one in patterns])
    return [one for one in patterns if one.id not in known or known[one.id].record.state == "pending"]


def _offer_due(memory: Memory, here: int, run: Run) -> Run:
    """Make records of what is due, or bring theirs up to date."""
    from holdfast.policy.language.mine import KEEP_CONFIDENCE, REVIEW_OCCURRENCES  # noqa: PLC0415

    db = memory.store.db
    offered: list[Record] = []
    for pattern in outputs.due(db, here, confidence=KEEP_CONFIDENCE, occurrences=REVIEW_OCCURRENCES):
        with db.transaction():
            outputs.tell(db, pattern)
            if events := _events(memory, pattern):
                memory.commit(events)
                offered.append(find(memory, pattern.id).record)
    return replace(
        run,
        offered=tuple(one for one in offered if one.state == "pending"),
        approved=tuple(one for one in offered if one.state == "active"),
    )


def _events(memory: Memory, pattern: Pattern) -> list[Event]:
    """Give what happens to a pattern's record: it comes to be, hears of more occurrences, is kept by rule; or nothing."""
    by = Actor(kind="rule", name="mining", session=memory.actor.session)
    seen = {"pattern": _seen(pattern)}
    known = records.by_ids(memory.store.db, [pattern.id]).get(pattern.id)
    if known and known.record.state != "pending":
        return []
    draft = Draft(body=pattern.body, **_kind(pattern.kind), source="mined", extra=seen)
    verdict = verdict_on(memory, draft, waivers=Waivers(scope=True))
    if not isinstance(verdict, Admitted | Pending):
        return []  # it is known, was retired, or will be untrue soon
    if known:
        extra = {**known.record.extra, **seen}
        first = memory.event("revised", pattern.id, data={"extra": extra}, after=known.record.head)
    else:
        first = replace(draft_event(memory, draft, pending=True), id=pattern.id, about=pattern.id)
    events = [first]
    if isinstance(verdict, Admitted) and _is_sure(memory, pattern):
        events.append(memory.event("confirmed", pattern.id, after=first.id))
    return [replace(event, by=by) for event in events]


def _is_sure(memory: Memory, pattern: Pattern) -> bool:
    """Tell whether the settings let a pattern be kept without a yes; they do so only if both are set."""
    confidence, occurrences = memory.config.mined_confidence, memory.config.mined_occurrences
    return bool(confidence and occurrences) and pattern.confidence >= confidence and pattern.occurrences >= occurrences


def _kind(found: str) -> dict[str, Any]:
    return {"kind": _KINDS[found]} if found in _KINDS else {"kind": "fact", "fields": {"category": found}}


def _seen(pattern: Pattern) -> Mapping[str, Any]:
    names = ("key", "kind", "occurrences", "sessions", "confidence", "first_at", "last_at")
    return {name: getattr(pattern, name) for name in names}


def _waiting(memory: Memory) -> list[Record]:
    chosen = Filter(projects=(memory.store.project_number(memory.project),), states=("pending",))
    page = records.page(memory.store.db, chosen, limit=MOST_OFFERED)
    return [entry.record for entry in page if _is_mined(entry.record) and not lapsed(memory, entry.record)]


def _is_mined(record: Record) -> bool:
    """Tell whether a record was mined; one that only says so may come from anywhere."""
    seen = record.extra.get("pattern")
    return (
        record.source == "mined"
        and isinstance(seen, dict)
        and all(isinstance(seen.get(name), int | float) for name in ("occurrences", "sessions", "confidence"))
        and isinstance(seen.get("last_at"), str)
    )


def _candidate(memory: Memory, reference: str) -> Record:
    record = find(memory, reference).record
    if not _is_mined(record) or record.state != "pending":
        raise Conflict(f"{record.id} is nothing mined that waits.", hint="`holdfast mine list` shows what does.")
    if record.project != memory.project:
        raise Conflict(f"{record.id} was mined in {record.project}.", hint="Decide on it there.")
    return record

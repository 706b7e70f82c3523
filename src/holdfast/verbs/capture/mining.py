"""Log session output, mine each line of it once, and offer recurring knowledge for approval."""

from collections.abc import Iterable
from hashlib import blake2b

from holdfast.engine.raw import outputs
from holdfast.engine.raw.outputs import Output, Pattern
from holdfast.model.errors import Conflict
from holdfast.model.event import Actor, Event
from holdfast.model.ids import days_before, days_between, fixed_id
from holdfast.model.record import Draft, Record
from holdfast.policy.admission.admit import Admitted, Pending, Waivers
from holdfast.policy.language.mine import KEEP_CONFIDENCE, REVIEW_OCCURRENCES, mine, pattern_key, score
from holdfast.policy.secrets.find import MASKED, drop_private, masked
from holdfast.verbs.memory import Memory, Report, find
from holdfast.verbs.records import write
from holdfast.verbs.records.hot import promote
from holdfast.verbs.records.lifecycle import retire
from holdfast.verbs.records.read import waiting_records

LONGEST = 100_000
MARGIN = 20_000  # characters before that, masked together: half a secret would not be recognized
READ = 1_000_000  # characters read from the end of a longer log: masking them takes half a second
MOST_OUTPUTS = 10_000
MOST_OFFERED = 1_000
_EARLIEST, _YEARS = 978_307_200, 20 * 365 * 86_400  # from 2001 on: before any real record
_KINDS = {"decision": "decision", "command": "reference", "api_endpoint": "reference"}
_KINDS |= dict.fromkeys(("explanation", "insight"), "learning")


def log_output(memory: Memory, text: str, session: str = "") -> int:
    """Store what a session wrote for mining, with credentials masked; return the number of characters stored."""
    # Private spans go first: half of one would not be recognized.
    plain = drop_private(text)[-READ - MARGIN :].replace("\0", "").encode(errors="replace").decode()
    body = str(masked(plain))[-READ:].strip()
    if len(body) > LONGEST:
        body = body[-LONGEST:].partition("\n")[2] or body[-LONGEST:]
    if body:
        store, now, config = memory.store, memory.clock.now(), memory.config
        with store.transaction():
            project = store.project_number(memory.project, make=True)
            outputs.add(store, project=project, session=masked(session) or memory.actor.session, at=now, body=body)
            oldest, most = days_before(now, config.output_days), config.output_characters
            outputs.prune(store, before=oldest, characters=most, outputs=MOST_OUTPUTS)
    return len(body)


def mine_outputs(memory: Memory) -> Report:
    """Count what this project's new output says, and offer what is clear or recurred often enough; return the counts and the records."""
    store, project, occurrences = memory.store, memory.here, list[int]()
    read, found, enough = 0, 0, min(memory.config.mined_occurrences or REVIEW_OCCURRENCES, REVIEW_OCCURRENCES)
    while output := outputs.next_unmined(store, project):
        patterns = _patterns(memory, output)  # outside the transaction: it takes up to a tenth of a second
        with store.transaction():
            if outputs.advance(store, output, memory.clock.now()):
                known = memory.known(pattern.id for pattern in patterns)  # what was decided before counts no more
                decided = {id_ for id_, record in known.items() if record.state != "pending"}
                occurrences += [outputs.see(store, output, one) for one in patterns if one.id not in decided]
                read, found = read + 1, found + len(patterns)
    outputs.expire(store, project, before=days_before(memory.clock.now(), memory.config.mined_days))
    offered = dict[str, list[Record]](pending=[], active=[])
    for pattern in outputs.due(store, project, confidence=KEEP_CONFIDENCE, occurrences=enough):
        with store.transaction():
            outputs.note_counted(store, pattern)
            if events := _events(memory, pattern):
                memory.commit(events)
                record = find(memory, pattern.id).record
                offered[record.state].append(record)
    for record in offered["active"]:
        promote(memory, record.id, why="mined_approved")
    run = {"outputs": read, "found": found, "counted": sum(map(bool, occurrences)), "new": occurrences.count(1)}
    return run | {"offered": offered["pending"], "approved": offered["active"]}


def mined(memory: Memory, *, limit: int = 50) -> list[Report]:
    """Return this project's pending mined records, each with its occurrences, sessions, confidence and score, the highest first."""
    pending = list[Report]()
    for record in filter(is_mined, waiting_records(memory, limit=MOST_OFFERED)):
        seen = {name: record.extra["pattern"][name] for name in ("occurrences", "sessions", "confidence", "last_at")}
        days = days_between(seen["last_at"], memory.clock.now())
        worth = round(score(seen["occurrences"], days, seen["confidence"]), 4)
        pending.append({"record": record, **seen, "score": worth})
    return sorted(pending, key=lambda candidate: (-candidate["score"], candidate["record"].id))[:limit]


def approve(memory: Memory, reference: str, *, waivers: Waivers | None = None) -> write.Outcome:
    """Approve a mined record; it is checked again first."""
    record = _candidate(memory, reference)
    with memory.store.transaction():
        outcome = write.confirm(memory, record.id, waivers=waivers)
        outputs.forget(memory.store, [record.id] if find(memory, record.id).record.state == "active" else [])
    return outcome


def reject(memory: Memory, references: Iterable[str], *, reason: str = "") -> list[Record]:
    """Reject mined records, all or none; the same is never offered again."""
    candidates = {record.id: record for record in (_candidate(memory, reference) for reference in references)}
    why = "mined, and not worth keeping" + (f": {reason}" if reason else "")
    with memory.store.transaction():
        retired = [retire(memory, record_id, why) for record_id in candidates]
        outputs.forget(memory.store, candidates)
    return retired


def output_status(memory: Memory) -> Report:
    """Return what is stored of this project's output, its limits, how far it was mined, and how much is pending."""
    config, waiting = memory.config, len(mined(memory, limit=MOST_OFFERED))
    held = outputs.output_counts(memory.store, memory.here)
    limits = {"most_days": config.output_days, "most_characters": config.output_characters}
    return {"held": held, **limits, "waiting": waiting}


def outputs_logged(memory: Memory, *, session: str = "", days: float = 0.0) -> int:
    """Return how many outputs this project, or one session, logged; with `days`, only recent ones."""
    since = days_before(memory.clock.now(), days) if days else ""
    return outputs.counted(memory.store, memory.here, session=session, since=since)


def drop_outputs(memory: Memory, *, session: str = "") -> int:
    """Delete this project's logged output, or one session's, for good; counts made from it stay."""
    return outputs.drop(memory.store, memory.here, session)


def _patterns(memory: Memory, output: Output) -> list[Pattern]:
    """Return the findings of an output as patterns; text that held a credential is left out.

    The id of the record a pattern becomes is always the same, so that a decision on it is final everywhere. Ids begin
    with a time that distinguishes them, so that time is derived from the name as well.
    """
    patterns = []
    for finding in mine(output.body):
        if MASKED in finding.text or not (key := pattern_key(finding)):
            continue
        name = f"mined\n{memory.project}\n{key}"
        drawn = int.from_bytes(blake2b(name.encode(), digest_size=8).digest()) % (_YEARS * 1000)
        id_, said = fixed_id(_EARLIEST + drawn / 1000, name), finding.text
        patterns.append(Pattern(id=id_, key=key, kind=finding.kind, body=said, confidence=finding.confidence))
    return patterns


def _events(memory: Memory, pattern: Pattern) -> list[Event]:
    """Return the events for a pattern's record: created, updated or approved by rule; empty if it is decided on."""
    by = Actor(kind="rule", name="mining", session=memory.actor.session)
    names = ("key", "kind", "occurrences", "sessions", "confidence", "first_at", "last_at")
    seen = {"pattern": {name: getattr(pattern, name) for name in names}}
    known = memory.known([pattern.id]).get(pattern.id)
    if known and known.state != "pending":
        return []
    sure = pattern.confidence >= KEEP_CONFIDENCE
    draft = Draft(
        kind=_KINDS.get(pattern.kind, "fact"),
        body=pattern.body,
        fields={} if pattern.kind in _KINDS else {"category": pattern.kind},
        source="mined",
        confidence="high" if sure else "medium",
        extra=seen,
    )
    verdict = write.verdict_on(memory, draft, waivers=Waivers(scope=True))
    pending = [] if known else waiting_records(memory, limit=MOST_OFFERED)
    bare = pattern.body.strip(" .!").casefold()
    claimed = any(record.body.strip(" .!").casefold() == bare for record in pending)
    if claimed or not isinstance(verdict, Admitted | Pending):
        return []  # pending already, a duplicate, retired before, or transient
    if known:
        extra = {**known.extra, **seen}
        first = memory.event("revised", pattern.id, data={"extra": extra}, after=known.head, by=by)
    else:
        first = write.draft_event(memory, draft, pending=True, about=pattern.id, by=by)
    # The settings may allow approving a pattern automatically; both must be set.
    confidence, occurrences = memory.config.mined_confidence, memory.config.mined_occurrences
    often = bool(confidence and occurrences) and pattern.confidence >= confidence and pattern.occurrences >= occurrences
    approved = isinstance(verdict, Admitted) and often
    return [first, *([memory.event("confirmed", pattern.id, after=first.id, by=by)] if approved else ())]


def is_mined(record: Record) -> bool:
    """True if a record was really mined; imported records may only claim it."""
    seen = record.extra.get("pattern")
    return (
        record.source == "mined"
        and isinstance(seen, dict)
        and all(isinstance(seen.get(name), int | float) for name in ("occurrences", "sessions", "confidence"))
        and isinstance(seen.get("last_at"), str)
    )


def _candidate(memory: Memory, reference: str) -> Record:
    record = find(memory, reference).record
    if not is_mined(record) or record.state != "pending":
        hint = "List them with `holdfast review list --sort mined`."
        raise Conflict(f"{record.id} is not a pending mined memory.", hint=hint)
    if record.project != memory.project:
        raise Conflict(f"{record.id} was mined in {record.project}.", hint="Approve or reject it in that project.")
    return record

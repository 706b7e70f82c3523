"""The steps of a simulated session: recalls, observations, decisions, lessons, and changes of other records."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any

from demo.beats import Beat
from demo.ending import end, leave, write_up
from demo.seat import Seat, by_hand
from demo.talk import save_talk
from holdfast.model.query import Query
from holdfast.model.record import Draft, Link
from holdfast.verbs.records.lifecycle import Revision, link, record_use, retire, revise
from holdfast.verbs.records.write import cancel, confirm
from holdfast.verbs.search.recall import recall
from holdfast.verbs.sessions.scars import Answer, absorb, judge, unanswered
from holdfast.verbs.sessions.session import start
from holdfast.verbs.sessions.thread import Known, Opened, open_thread, reopen, resolve, touch
from holdfast.verbs.truth.verify import verify

Act = Callable[[], None]
HITS = 6
VERIFY = 0.35
# Odds of the answers to scars of each fate: applying, not applicable, refuted, none.
_ANSWERS = {
    "heeded": (85, 12, 1, 2),
    "mixed": (40, 30, 12, 18),
    "dismissed": (2, 13, 75, 10),
    "ignored": (3, 5, 2, 90),
    "vain": (90, 5, 0, 5),
}
_USES = {"applied": 22, "ignored": 16, "contradicted": 1, "corrected": 2, "": 59}


def acts_of(seat: Seat) -> list[Act]:
    """Return the steps of a session, in order."""
    visit = seat.visit
    if visit.ending == "retroactive":
        return [partial(write_up, seat)]
    closing = leave if visit.ending == "left" else end
    ending: list[Act] = [] if visit.ending == "open" else [partial(closing, seat)]
    work = _new_work(seat) if visit.part == "first" else _old_work(seat)
    told = [partial(_tell, seat, beat) for beat in visit.beats]
    half = len(work) // 2
    acts: list[Act] = [partial(_begin, seat), partial(_ask, seat, visit.title), *work[:half], *told, *work[half:]]
    if seat.chance.random() < 0.04:
        acts.insert(len(acts) // 2, partial(_restart, seat))
    return [*acts, *ending]


def _new_work(seat: Seat) -> list[Act]:
    episode = seat.visit.episode
    acts: list[Act] = [
        partial(_look_up_scar, seat),
        partial(_see_first, seat),
        partial(_see, seat, episode.notes[:2]),
        partial(_understand, seat),
        partial(_state, seat, episode.notes[2]),
        *([partial(_decide, seat)] if episode.choice and not seat.declares else []),
        partial(_progress, seat, episode.fix),
        partial(_learn, seat),
    ]
    more: list[tuple[float, Act]] = [
        (1.0, partial(_see, seat, ("", ""))),
        (0.3, partial(_block, seat)),
        (0.6, partial(_ask, seat, "")),
        (0.5, partial(_state, seat, "")),
        (0.6, partial(_review, seat)),
        (0.6, partial(_progress, seat, "")),
        (0.4, partial(_look_up_scar, seat)),
        (0.35, partial(_leave, seat)),
        (0.2, partial(save_talk, seat)),
    ]
    return acts if seat.visit.ending == "quick" else _sprinkled(seat.chance, acts, more)


def _old_work(seat: Seat) -> list[Act]:
    thread = seat.visit.part == "after"
    acts: list[Act] = [
        partial(_look_up_scar, seat),
        partial(_touch, seat),
        partial(_see, seat, ("", "", "")),
        partial(_progress, seat, ""),
    ]
    more: list[tuple[float, Act]] = [
        (0.35, partial(_block, seat)),
        (0.7, partial(_state, seat, "")),
        (0.5, partial(_ask, seat, "")),
        (0.5, partial(_progress, seat, "")),
        (0.6, partial(_review, seat)),
        (0.6 if thread else 0.0, partial(_resolve, seat)),
    ]
    return _sprinkled(seat.chance, acts if thread else [acts[0], *acts[2:]], more)


def _sprinkled(chance: Random, acts: list[Act], more: list[tuple[float, Act]]) -> list[Act]:
    """Insert each optional step at random with its own probability."""
    found = list(acts)
    for share, act in more:
        if chance.random() < share:
            found.insert(chance.randrange(3, len(found) + 1), act)
    return found


def _begin(seat: Seat) -> None:
    seat.memory, _ = start(seat.memory, title=seat.visit.title, issue=seat.visit.issue, force=True)


def _restart(seat: Seat) -> None:
    """Resume the session, as after a crash of the client."""
    seat.memory, _ = start(seat.memory, session=seat.memory.actor.session)


def _ask(seat: Seat, text: str) -> None:
    question = text or seat.fill(seat.chance.choice(seat.simulation.story.phrases["question"]["any"]))
    found = recall(seat.memory, Query(text=question, limit=HITS, words_only=True))
    seat.shown = [hit.record for hit in found.hits]
    _answer(seat)
    _use(seat)


def _look_up_scar(seat: Seat) -> None:
    """Recall a stored scar of the same area, or sometimes of another one in the same project."""
    simulation, area = seat.simulation, seat.visit.area
    here = [one for one in simulation.story.told["scar"] if simulation.story.areas[one["area"]].project == area.project]
    known = [one for one in here if one["title"] in simulation.known]
    near = [one for one in known if one["area"] == area.name] or known
    if near:
        _ask(seat, seat.chance.choice(near if seat.chance.random() < 0.7 else known)["ask"])


def _answer(seat: Seat) -> None:
    answers = []
    for scar in unanswered(seat.memory):
        if scar.id in seat.passed_over:
            continue
        odds = _ANSWERS[seat.simulation.story.fate(scar.title)]
        decision = seat.chance.choices(("APPLYING", "N_A", "REFUTED", ""), odds)[0]
        if not decision:
            seat.passed_over.add(scar.id)
            continue
        answers.append(Answer(scar=scar.id, decision=decision, evidence=seat.say("evidence", decision)))
        if decision == "APPLYING":
            seat.applied.append(scar)
    if answers:
        judge(seat.memory, answers)


def _use(seat: Seat) -> None:
    """Record the outcome of the first hits, and sometimes verify one of them."""
    for record in seat.shown[:3]:
        outcome = seat.chance.choices(tuple(_USES), tuple(_USES.values()))[0]
        if outcome and record.kind != "scar" and record.source != "starter":
            record_use(seat.memory, [record.id], outcome)
    lasting = [one for one in seat.shown if one.kind in ("fact", "decision", "learning", "pattern")]
    if lasting and seat.chance.random() < VERIFY:
        verify(seat.memory, seat.chance.choice(lasting).id, note=f"checked while working on {seat.visit.issue}")


def _see_first(seat: Seat) -> None:
    visit, chance = seat.visit, seat.chance
    fields = {
        "type": "symptom",
        "subtitle": visit.issue,
        "facts": list(visit.episode.notes[:1]),
        "concepts": list(visit.area.tags),
        "files_read": chance.sample(visit.area.files, 2),
        "severity": "warning",
        "discovery_tokens": chance.randrange(800, 24_000),
    }
    seen = seat.keep(Draft(body=visit.episode.symptom, kind="observation", fields=fields, source="observed"))
    seat.seen = seen.id if seen else ""


def _see(seat: Seat, texts: tuple[str, ...]) -> None:
    """Record the observations of a sub-agent: the given notes, or generated ones where a note is empty."""
    chance = seat.chance
    source = chance.choice(("explorer", "reviewer", "test-runner"))
    severities = chance.choices(("info", "warning", "scar_candidate"), (7, 3, 1), k=len(texts))
    given = [
        {"text": text or seat.fresh("observation"), "source": source, "severity": severity}
        for text, severity in zip(texts, severities, strict=True)
    ]
    seat.simulation.rejected += len(absorb(seat.memory, given, task=seat.visit.title)["known"])


def _understand(seat: Seat) -> None:
    episode = seat.visit.episode
    links = (Link(relation="elaborates", target=seat.seen),) if seat.seen else ()
    fields = {"issue": seat.visit.issue, "keywords": list(seat.visit.area.tags)}
    seat.keep(Draft(body=episode.cause, kind="learning", fields=fields, links=links))


def _decide(seat: Seat) -> None:
    episode = seat.visit.episode
    fields = {"rationale": episode.why, "alternatives": list(episode.instead), "issue": seat.visit.issue}
    fields["people"] = [seat.visit.user]
    seat.keep(Draft(body=f"{episode.choice}. {episode.why}", kind="decision", title=episode.choice, fields=fields))


def _learn(seat: Seat) -> None:
    episode = seat.visit.episode
    kind, severity, scar_type = (*episode.kind.split(":"), "", "")[:3]
    fields: dict[str, Any] = {"issue": seat.visit.issue, "applies_when": [f"working on {seat.visit.area.name}"]}
    if severity:
        fields["severity"] = severity
    if kind == "scar":
        against = seat.chance.sample(seat.simulation.story.phrases["evidence"]["against"], 2)
        steps = seat.chance.sample(seat.simulation.story.phrases["evidence"]["steps"], 2)
        fields |= {"scar_type": scar_type, "counter_arguments": [seat.fill(one) for one in against]}
        fields |= {"action_protocol": [seat.fill(one) for one in steps], "self_check": [seat.say("evidence", "check")]}
    mentions = kind == "scar" and seat.seen and seat.chance.random() < 0.5
    links = (Link(relation="mentions", target=seat.seen),) if mentions else ()
    seat.keep(Draft(body=episode.lesson, kind=kind, fields=fields, links=links))


def _progress(seat: Seat, text: str) -> None:
    fields = {"issue": seat.visit.issue}
    seat.keep(Draft(body=text or seat.fresh("progress"), kind="progress", fields=fields))


def _review(seat: Seat) -> None:
    verdict = seat.chance.choice(seat.simulation.story.phrases["review"]["verdicts"])
    seat.keep(Draft(body=seat.fresh("review"), kind="review", fields={"verdict": verdict, "issue": seat.visit.issue}))


def _block(seat: Seat) -> None:
    fields = {"impact": seat.say("blocker", "impact"), "issue": seat.visit.issue}
    seat.keep(Draft(body=seat.fresh("blocker"), kind="blocker", fields=fields))


def _state(seat: Seat, text: str) -> None:
    """Store a fact."""
    mined = seat.chance.random() < 0.1
    seat.keep(Draft(body=text or seat.fresh("fact"), source="mined" if mined else "explicit"))


def _leave(seat: Seat) -> None:
    """Open a thread before the session ends: urgent work should be visible to others at once."""
    left = seat.visit.episode.left
    outcome = open_thread(seat.memory, left, issues=(seat.visit.issue,), thread_class="operational")
    if isinstance(outcome, Opened | Known):
        seat.simulation.threads[left] = outcome.thread.record.id


def _touch(seat: Seat) -> None:
    if thread := seat.simulation.threads.get(seat.visit.episode.left):
        touch(seat.memory, thread)


def _resolve(seat: Seat) -> None:
    if thread := seat.simulation.threads.pop(seat.visit.episode.left, ""):
        resolve(seat.memory, thread, seat.say("resolution", "any"))
        if seat.chance.random() < 0.06:
            reopen(seat.memory, thread)


def _tell(seat: Seat, beat: Beat) -> None:
    """Apply a beat: store its record, or change a record stored before."""
    known = seat.simulation.known
    if beat.draft is None:
        if beat.key in known:
            _care(seat, beat, known[beat.key])
        return
    links = (Link(relation="supersedes", target=known[beat.replaces]),) if beat.replaces in known else ()
    area = seat.simulation.story.areas.get(beat.area, seat.visit.area)
    if record := seat.keep(replace(beat.draft, links=links), area):
        known[beat.key] = record.id


def _care(seat: Seat, beat: Beat, record_id: str) -> None:
    person = by_hand(seat.simulation, seat.visit.user, seat.memory.project)
    match beat.do:
        case "revise":
            revise(seat.memory, record_id, Revision(body=beat.text))
        case "retire":
            retire(seat.memory, record_id, beat.text)
        case "object" if beat.text in seat.simulation.known:
            record_use(seat.memory, [record_id], "contradicted")
            link(seat.memory, seat.simulation.known[beat.text], "contradicts", record_id)
        case "confirm":
            confirm(person, record_id)
        case "cancel":
            cancel(person, record_id)

"""What becomes of the trail of a session: observations, a summary, what users state, and conclusions once they are confirmed."""

import json
from collections import Counter
from typing import Any

from bench.capture import judge_dialogues
from bench.labelled import SPLITS
from holdfast.engine.views import records
from holdfast.engine.views.records import Filter
from holdfast.model.record import Record
from holdfast.model.session import HookEvent
from holdfast.policy.activity.session_summary import handover
from holdfast.verbs.capture.derive import Derived, derive, summarise
from holdfast.verbs.memory import Memory
from tests.policy.trails import EXPECTED, FOLDER, events_of, session
from tests.rows import WHOLE, each, sampled
from tests.verbs.scripts import scripts_in


def derived(memory: Memory, since: str = "", **trail: Any) -> Derived | None:
    """Return what a trail gives, if anything."""
    found = derive(memory, events_of(**trail), since=since)
    return None if found == Derived() else found


def talk(memory: Memory, trail: list[Any]) -> dict[str, list[str]]:
    """Derive after each line, as the worker does; return what is left, by state."""
    for end in range(len(trail)):
        derive(memory, events_of(trail[: end + 1]))
    return {state: [record.body for record in left(memory, state)] for state in ("active", "pending")}


def pasted(memory: Memory, text: str) -> dict[str, Any]:
    """Return what names evil.test among what a pasted text leaves, in the places of what the user says."""
    trail = events_of([text, {"tool": "Bash", "command": "make test"}, "I looked at it. Nothing is left."])
    kept = [record.body for record in derive(memory, trail).kept if "evil.test" in record.text]
    summary = summarise(memory, trail)
    fields = {name: summary.fields.get(name, "") for name in ("constraints", "learned")} if summary else {}
    told = handover(trail, 800)
    return {"kept": kept, "fields": str(fields), "handover": told if "User said" in told else ""}


def left(memory: Memory, state: str = "") -> list[Record]:
    """Return what a session left, beside observations and its summary."""
    found = [entry.record for entry in records.of_session(memory.store, "s1")]
    return [record for record in found if record.kind not in ("observation", "summary") and state in record.state]


scripts_in(
    globals(),
    talk,
    pasted,
    left,
    derive=derived,
    summarise=lambda script, given: summarise(script.memory, events_of(**given)),
    used=lambda script, _: [event.data for _, event in script.memory.store.journal() if event.verb == "used"],
)


@each("name", sampled(EXPECTED, 4))
def test_a_recorded_session_is_kept_once_however_often_it_is_derived(memory: Memory, name: str) -> None:
    assert len(derive(memory, session(name)).observations) == len(EXPECTED[name])
    before = list(memory.store.journal())
    assert derive(memory, session(name)) == Derived()
    assert list(memory.store.journal()) == before


ROUTINES = (FOLDER / "routines.jsonl").read_text(encoding="utf-8").splitlines()
GUESSES = (
    "Turns out the import of rich takes 300 ms.",
    "The root cause is a stale lock in the cache folder.",
    "It turns out that the sorting is not stable on Windows.",
)


def routine(number: int) -> list[HookEvent]:
    """Return one of ten kinds of sessions that repeat with small differences."""
    text = ROUTINES[number % 10].replace("{guess}", GUESSES[number // 10 % 3]).replace("{number}", str(number))
    return events_of(json.loads(text), name=f"routine-{number}")


def test_a_hundred_routine_sessions_leave_little_and_nothing_false(memory: Memory) -> None:
    for number in range(100 if WHOLE else 30):
        derive(memory, routine(number))
        summarise(memory, routine(number))
    left = [entry.record for entry in records.page(memory.store, Filter(states=("active",)), limit=1_000)]
    assert len(left) <= 20, [(record.kind, record.title) for record in left]
    assert {record.kind for record in left} <= {"observation", "summary"}
    observations = [record for record in left if record.kind == "observation"]
    assert set(Counter(record.title for record in observations).values()) == {1}
    assert [record.text for record in left for guess in GUESSES if guess.rstrip(".") in record.text] == []
    assert {record.extra.get("count") for record in observations} == {10 if WHOLE else 3}


def test_a_routine_that_is_derived_again_is_not_counted_again(memory: Memory) -> None:
    for number in (2, 12, 12, 2):
        derive(memory, routine(number))
    (found,) = (entry.record for entry in records.page(memory.store, Filter(states=("active",)), limit=10))
    assert found.extra["count"] == 2


@each("split", SPLITS)
def test_no_refuted_guess_of_the_labelled_dialogues_survives(split: str) -> None:
    judged = judge_dialogues(split, 1 if WHOLE else 3)
    assert judged.false <= (2 if WHOLE else 1), judged.wrong  # of 12, or of a third
    assert judged.recall >= 0.75, judged.wrong

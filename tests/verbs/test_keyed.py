"""Data that an application stores under its own keys is found by its kind, and is no part of what a project knows."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from holdfast.engine.recovery.salvage import salvage
from holdfast.engine.views import records
from holdfast.model.query import Query
from holdfast.model.record import Draft, Record
from holdfast.verbs.capture.prepare import prepare
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records import keyed, read
from holdfast.verbs.records.hot import hot_set, suggested
from holdfast.verbs.records.read import list_records
from holdfast.verbs.search.embed import catch_up
from holdfast.verbs.search.observations import timeline
from holdfast.verbs.search.recall import recall
from holdfast.verbs.sessions.analyze import activity, patterns
from holdfast.verbs.sessions.opening_brief import brief_of
from holdfast.verbs.sessions.session import begin, saved_in
from holdfast.verbs.truth.consolidate import proposals
from holdfast.verbs.truth.contradictions import compare, open_contradictions
from holdfast.verbs.upkeep.doctor import status
from holdfast.verbs.upkeep.health import health, projects, saved_by_day
from holdfast.verbs.upkeep.inbox import waiting_counts, waiting_items
from tests import engines
from tests.conftest import Time, keep, make_memory
from tests.rows import WHOLE, of_type
from tests.verbs.scripts import scripts_in
from tests.verbs.test_recall import Topics

SYSTEM = "langgraph"
GATEWAY = "The gateway retries three times."
ITEMS = [f"The gateway retries {number} times for customer {number}." for number in range(60 if WHOLE else 20)]


@pytest.fixture
def memory(tmp_path: Path, time: Time) -> Iterator[Memory]:
    with make_memory(tmp_path, time, embedder=Topics()) as opened:
        yield begin(opened)


def put(memory: Memory, name: str, text: str, **changed: Any) -> Record:
    return of_type(Record, keyed.put(memory, SYSTEM, ("users", name), Draft(body=text, **changed)))


def filled(memory: Memory) -> list[Record]:
    made = [put(memory, str(number), text) for number, text in enumerate(ITEMS)]
    catch_up(memory)
    return made


globals().update(scripts_in(__file__, filled, projects=lambda script, _: " ".join(script.memory.store.projects())))


def reports(memory: Memory, known: str, folder: Path) -> dict[str, Callable[[], Any]]:
    """Everything that reports what a project knows, by name."""
    here, everywhere = Query(text=""), Query(text="", everywhere=True)
    asked = Query(text="how often does the gateway retry", limit=50, weak=True)
    file = folder / "prepared.json"

    def prepared() -> Any:
        prepare(memory, file)
        return json.loads(file.read_text())

    return {
        "brief": lambda: brief_of(memory),
        "hooks": prepared,
        "list": lambda: list_records(memory, here),
        "list everywhere": lambda: list_records(memory, everywhere),
        "recall": lambda: recall(memory, asked, surface=False).hits,
        "recall everywhere": lambda: recall(memory, replace(asked, everywhere=True), surface=False).hits,
        "recall by tag": lambda: recall(memory, replace(asked, tags=(SYSTEM,), everywhere=True), surface=False).hits,
        "recall of the past": lambda: recall(memory, replace(asked, as_of=memory.clock.now()), surface=False).hits,
        "recall of today": lambda: recall(memory, replace(asked, text="what did we learn today"), surface=False).hits,
        "timeline": lambda: timeline(memory, known, before=20, after=20),
        "browse": lambda: (read.browse(memory, here), read.browse(memory, everywhere)),
        "known then": lambda: read.known_on(memory, here, memory.clock.now()),
        "latest": lambda: read.latest(memory, here),
        "counts": lambda: (
            read.census(memory, everywhere),
            read.facets(memory),
            read.list_scopes(memory, everywhere=True),
        ),
        "contradictions": lambda: (compare(memory), open_contradictions(memory))[1],
        "duplicates": lambda: proposals(memory),
        "hot set": lambda: (hot_set(memory), suggested(memory)),
        "pending": lambda: (read.waiting_records(memory), list_records(memory, everywhere, states=("pending",))),
        "review": lambda: (waiting_items(memory), waiting_counts(memory)),
        "health": lambda: health(memory),
        "status": lambda: {name: status(memory)[name] for name in ("here", "everywhere", "pending", "projects")},
        "projects": lambda: projects(memory),
        "days": lambda: (saved_by_day(memory), saved_by_day(memory, everywhere=True)),
        "activity": lambda: (activity(memory), patterns(memory)),
        "sessions": lambda: saved_in(memory, [memory.actor.session]),
    }


def test_what_a_project_knows_is_the_same_with_and_without_items(memory: Memory, tmp_path: Path) -> None:
    known = keep(memory, GATEWAY)
    keep(memory, "Prices are kept in cents.", kind="decision")
    keep(memory, "Ada prefers tabs.", project="", kind="preference")
    catch_up(memory)
    asked = reports(memory, known.id, tmp_path)
    before = {name: report() for name, report in asked.items()}
    made = filled(memory)
    put(replace(memory, config=replace(memory.config, confirm_writes=True)), "pending", "The gateway is down today.")
    changed = {name: (before[name], now) for name, report in asked.items() if (now := report()) != before[name]}
    assert changed == {}
    assert {record.kind for record in made} == {"item"}


def test_items_that_were_saved_as_facts_are_recognised_when_a_store_is_opened(tmp_path: Path, time: Time) -> None:
    with make_memory(tmp_path, time, embedder=Topics()) as memory:
        fact = keep(memory, GATEWAY)
        saved = []
        for number, text in enumerate(ITEMS[:3]):
            key = ["users", str(number)]
            data = {"body": text, "title": text, "kind": "fact", "project": memory.project}
            labels = {"tags": [SYSTEM, f"{SYSTEM}:users"], "extra": {SYSTEM: {"key": key, "value": {"n": number}}}}
            saved.append(memory.event("recorded", data=data | labels))
        memory.commit(saved)
        home = memory.store.project_number(memory.project)
        db = memory.store.db
        numbers = [find(memory, event.about).number for event in saved]
        # As an earlier version numbered them: among the memories of their project.
        for place, number in enumerate(numbers):
            given = {"old": number, "new": records.span(home)[0] + 100 + place}
            db.execute("update entries set number = :new where number = :old", given)
        db.execute("update projects set records = 103 where number = :home", {"home": home})
        db.execute("update views set version = 6 where name = 'records'")
    with make_memory(tmp_path, time, embedder=Topics()) as memory:
        assert [record.id for record in list_records(memory, Query(text=""))] == [fact.id]
        assert {record.id for record in keyed.under(memory, SYSTEM)} == {event.about for event in saved}
        found = recall(memory, Query(text="gateway retries", weak=True, limit=9)).hits
        assert [hit.record.id for hit in found] == [fact.id]
        catch_up(memory)
        assert len(recall(memory, Query(text="gateway retries", kinds=("item",), weak=True)).hits) == len(saved)


@pytest.mark.embedded  # it is about the file
def test_a_salvaged_store_has_the_items_beside_the_memories(tmp_path: Path, time: Time) -> None:
    with engines.use("sqlite"), make_memory(tmp_path, time) as memory:
        keep(memory, GATEWAY)
        filled(memory)
        salvage(tmp_path / "store" / "holdfast.db", tmp_path / "other" / "store" / "holdfast.db")
        with make_memory(tmp_path / "other", time) as other:
            keep(other, "Prices are kept in cents.")
            put(other, "new", "The gateway is new.")
            items = list(keyed.under(other, SYSTEM))
            assert (list_records(other, Query(text="")).total, len(items)) == (2, len(ITEMS) + 1)

"""Data that an application stores under its own keys is found by its kind, and is no part of what a project knows."""

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast.engine.recovery.salvage import salvage
from holdfast.engine.views import records
from holdfast.model.query import Query
from holdfast.model.record import Draft, Record
from holdfast.verbs.capture.prepare import prepare
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records import keyed
from holdfast.verbs.records.read import list_records
from holdfast.verbs.search.embed import catch_up
from holdfast.verbs.search.recall import recall
from holdfast.verbs.sessions.session import begin
from tests import engines
from tests.conftest import Time, keep, make_memory
from tests.rows import WHOLE, of_type, opened, rows
from tests.scripts import at
from tests.verbs.scripts import Script, scripts_in
from tests.verbs.test_recall import Topics

SYSTEM = "langgraph"
GATEWAY = "The gateway retries three times."
ITEMS = [f"The gateway retries {number} times for customer {number}." for number in range(60 if WHOLE else 20)]


memory = opened(lambda tmp_path, time: begin(make_memory(tmp_path, time, embedder=Topics())))


def put(memory: Memory, name: str, text: str, **changed: Any) -> Record:
    return of_type(Record, keyed.put(memory, SYSTEM, ("users", name), Draft(body=text, **changed)))


def filled(memory: Memory) -> list[Record]:
    made = [put(memory, str(number), text) for number, text in enumerate(ITEMS)]
    catch_up(memory)
    return made


def reports(script: Script) -> dict[str, Any]:
    """Return everything that reports what a project knows, by how it is asked for."""
    file, found = script.folder / "prepared.json", dict[str, Any]()
    script.known |= {"now": script.memory.clock.now(), "session": script.memory.actor.session}
    for line, paths in rows("what_a_project_knows").items():
        script.run(f"found = {line}")
        found[line] = [at(script.known["found"], path) for path in paths]
    prepare(script.memory, file)
    return found | {"hooks": json.loads(file.read_text())}


scripts_in(globals(), filled, reports, projects=lambda script, _: " ".join(script.memory.store.projects()))


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

"""What a recall and a write cost: statements at the database seam, and scans for secrets."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.engine.database import Database, Params
from holdfast.model.event import Actor
from holdfast.model.query import Query
from holdfast.model.record import GLOBAL, Draft
from holdfast.surfaces.core import surface
from holdfast.surfaces.tool import Call
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.hot import pin
from holdfast.verbs.records.lifecycle import link
from holdfast.verbs.records.write import draft_event
from holdfast.verbs.search.embed import catch_up
from holdfast.verbs.search.recall import recall
from holdfast.verbs.sessions.session import begin
from tests.conftest import Time, make_memory
from tests.verbs.test_recall import Topics

RECORDS = 220
MOST_STATEMENTS = 30
PARTS = ("orders", "payments", "invoices", "search", "mailer", "basket", "stock", "refunds", "login", "reports")
QUESTION = "which database should the orders service use when the nightly payments job writes totals to storage"
SCAR = {"severity": "high", "counter_arguments": ["It is only a column.", "There is a backup."]}


@pytest.fixture
def full(tmp_path: Path, time: Time) -> Iterator[Memory]:
    """Give a memory of several kinds, people, sessions and projects, with links, a hot set and vectors."""
    agent = Actor(kind="agent", name="claude")
    with make_memory(tmp_path, time, actor=agent, config={"starters": False}, embedder=Topics()) as memory:
        _fill(memory)
        catch_up(memory)
        begin(memory, implicit=True)
        yield memory


def _fill(memory: Memory) -> None:
    people = [Actor(kind="user", name="ada", session="a1"), Actor(kind="user", name="grace"), memory.actor]
    events = []
    for number in range(RECORDS):
        memory.actor = people[number % 3]
        part, other = PARTS[number % 10], PARTS[number // 10 % 10]
        body = f"Case {number}: the {part} service writes to the {other} database{number} at {number % 24} o'clock"
        given: dict[str, Any] = {"tags": (part,), "visibility": "team" if number % 4 else "private"}
        given |= {"kind": "scar", "fields": SCAR} if number % 5 == 0 else {}
        given |= {"project": GLOBAL} if number % 7 == 0 else {}
        draft = Draft(body=f"{body} with lock{number * 7} and table{number * 13}.", **given)
        events.append(draft_event(memory, draft))
    memory.actor = people[2]
    memory.commit(events)
    for number in range(20):
        link(memory, events[number].about, "relates_to", events[number + 1].about)
    pin(memory, events[0].about)


def test_a_recall_of_ten_hits_takes_few_statements(full: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = _counted(full.store.db, monkeypatch)
    for _ in range(3):  # the first reads what a process remembers; the second and third step from hit to hit
        ran.clear()
        answer = surface.call(Call(open=lambda: full), "recall", {"query": QUESTION, "budget": 5000})
        assert not answer.failed
        assert answer.text.count("Case ") >= 10, answer.text
        print(*ran, f"{len(ran)} statements", sep="\n")
        assert len(ran) <= MOST_STATEMENTS


def test_a_recall_without_a_session_takes_few_statements(full: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    full.actor = Actor(kind="user", name="ada")  # as on the command line
    ran = _counted(full.store.db, monkeypatch)
    found = recall(full, Query(text=QUESTION, related=True))
    print(*ran, f"{len(ran)} statements", sep="\n")
    assert len(found.hits) == 10
    assert len(ran) <= MOST_STATEMENTS


def _counted(db: Database, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Give a list that grows by every statement the database is asked to run; a batch is one statement."""
    ran: list[str] = []

    def noting(run: Callable[..., Any]) -> Callable[..., Any]:
        def step(sql: str, *given: Any) -> Any:
            ran.append(" ".join(sql.split())[:150])
            return run(sql, *given)

        return step

    def batch(sql: str, rows: Iterable[Params]) -> None:
        given = list(rows)
        many(sql, given)
        if given:  # of nothing no statement is run
            ran.append(f"{len(given)} x {' '.join(sql.split())[:150]}")

    many = db.many
    monkeypatch.setattr(db, "execute", noting(db.execute))
    monkeypatch.setattr(db, "query", noting(db.query))
    monkeypatch.setattr(db, "many", batch)
    return ran

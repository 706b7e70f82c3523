"""What a recall and a write cost: statements at the database seam, and scans for secrets."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from holdfast.engine.database import Database
from holdfast.model.event import Actor
from holdfast.model.query import Query
from holdfast.model.record import GLOBAL, Draft
from holdfast.policy.secrets import find as secrets
from holdfast.surfaces.core.tools import surface
from holdfast.surfaces.tool import Call
from holdfast.verbs.memory import Clean, Memory
from holdfast.verbs.records.hot import pin
from holdfast.verbs.records.lifecycle import Revision, link, revise
from holdfast.verbs.records.write import draft_event
from holdfast.verbs.search.embed import catch_up
from holdfast.verbs.search.recall import recall
from holdfast.verbs.sessions.session import begin
from tests.conftest import Time, keep, make_memory
from tests.surfaces.examples import SCAR
from tests.verbs.test_recall import Topics

RECORDS = 220
MOST_STATEMENTS = 26
PARTS = ("orders", "payments", "invoices", "search", "mailer", "basket", "stock", "refunds", "login", "reports")
QUESTION = "which database should the orders service use when the nightly payments job writes totals to storage"
TOKEN = "ghp_" + "q7R2" * 9


def fill(memory: Memory) -> None:
    """Keep memories of several kinds, people, sessions and projects, with links, a hot set and vectors."""
    people = [Actor(kind="user", name="ada", session="a1"), Actor(kind="user", name="grace"), memory.actor]
    events = []
    for number in range(RECORDS):
        memory = memory.acting(actor=people[number % 3])
        part, other = PARTS[number % 10], PARTS[number // 10 % 10]
        body = f"Case {number}: the {part} service writes to the {other} database{number} at {number % 24} o'clock"
        given: dict[str, Any] = {"tags": (part,), "visibility": "team" if number % 4 else "private"}
        given |= {"kind": "scar", "fields": SCAR} if number % 5 == 0 else {}
        given |= {"project": GLOBAL} if number % 7 == 0 else {}
        draft = Draft(body=f"{body} with lock{number * 7} and table{number * 13}.", **given)
        events.append(draft_event(memory, draft))
    memory = memory.acting(actor=people[2])
    memory.commit(events)
    for number in range(20):
        link(memory, events[number].about, "relates_to", events[number + 1].about)
    pin(memory, events[0].about)
    catch_up(memory)


def test_a_recall_of_ten_hits_takes_few_statements(tmp_path: Path, time: Time, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = list[str]()  # the statements the database is asked to run; of a batch of nothing none is

    def note(db: Database, name: str) -> None:
        run = getattr(db, name)

        def step(sql: str, given: Any = (), *more: Any) -> Any:
            given = list(given) if name == "many" else given
            ran.extend([" ".join(sql.split())[:150]] * (name != "many" or bool(given)))
            return run(sql, given, *more) if given or name == "many" else run(sql, *more)

        monkeypatch.setattr(db, name, step)

    agent = Actor(kind="agent", name="claude")
    with make_memory(tmp_path, time, actor=agent, config={"starters": False}, embedder=Topics()) as memory:
        fill(memory)
        full, asked = begin(memory, implicit=True), {"query": QUESTION, "limit": 12, "budget": 5000}
        for name in ("execute", "query", "many"):
            note(full.store.db, name)
        for _ in range(3):  # the first reads what a process remembers; the second and third step from hit to hit
            ran.clear()
            text, failed = surface.call(Call(open=lambda: full), "recall", asked)
            assert not failed
            assert text.count("Case ") >= 10, text
            assert len(ran) <= MOST_STATEMENTS, ran
        ran.clear()
        alone = full.acting(actor=Actor(kind="user", name="ada"))  # without a session, as on the command line
        assert len(recall(alone, Query(text=QUESTION, related=True, limit=11)).hits) == 11
        assert len(ran) <= MOST_STATEMENTS, ran


def test_a_written_text_is_scanned_for_secrets_once(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    scanned, look = list[str](), secrets.find_secrets

    def note(text: str) -> list[secrets.Secret]:
        scanned.append(text)
        return look(text)

    monkeypatch.setattr(secrets, "find_secrets", note)
    record = keep(memory, "The walrus service listens on port 8080.", title="Walrus port", tags=("walrus",))
    assert sum("listens on port 8080" in text for text in scanned) == 1
    scanned.clear()
    revise(memory, record.id, Revision(body="The walrus service listens on port 9090."))
    assert sum("listens on port 9090" in text for text in scanned) == 1


def test_nothing_reaches_the_journal_unscanned(memory: Memory) -> None:
    data = {"body": "A walrus.", "title": "A walrus."}
    checked = Clean(memory.event("recorded", data=data))
    data["body"] = f"The key is {TOKEN}."  # after the scan
    plain = memory.event("recorded", data={"body": f"A key: {TOKEN}", "title": "A key"})
    memory.commit([checked, plain, Clean(plain)])
    memory.commit([replace(checked.event, id=memory.clock.tick(), data=data)])
    assert checked.masked is False
    assert Clean(plain).masked is True
    checked = Clean(memory.event("recorded", data={"body": "A walrus.", "title": "A walrus."}))
    (entry,) = memory.acting(user=f"ben {TOKEN}").commit([checked])
    assert entry.record.by.name.startswith("ben [redacted")  # signed by who commits it
    assert TOKEN not in repr(list(memory.store.journal()))

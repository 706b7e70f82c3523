"""What erasing reaches beside the journal, on both engines, and by whatever way the erasure comes."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.engine.locks import turn
from holdfast.engine.raw import outputs, trail, transcripts
from holdfast.engine.raw.transcripts import Transcript
from holdfast.engine.sqlite import SQLite
from holdfast.engine.store import open_store
from holdfast.engine.views import sessions
from holdfast.model.errors import NotFound
from holdfast.model.event import Actor
from holdfast.model.record import Draft
from holdfast.model.trail import HookEvent
from holdfast.policy.activity.transcript import chunks, messages_in
from holdfast.policy.erasing import MASK, Eraser, sentences_in
from holdfast.verbs.capture.prepare import prepare
from holdfast.verbs.exchange.incoming import keep_events
from holdfast.verbs.exchange.replicas import pull
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records.write import draft_event
from holdfast.verbs.upkeep import erasing
from holdfast.verbs.upkeep.erasing import erase, finish, forget_prepared, unfinished
from tests.conftest import keep
from tests.engines import kept_bytes
from tests.rows import each, examples, refused, some

MEMORY = {"config": {"starters": False}}
TEXT = (
    'The heron gateway "must" never be\nrestarted by hand, since it forgets its leases and answers nobody for an hour.'
)
AT = "2026-01-10T09:15:30.250Z"


def happened(text: str) -> HookEvent:
    return HookEvent(id="1", at=AT, event="UserPromptSubmit", session="s1", client="claude-code", cwd="/x", text=text)


def raw_material(memory: Memory) -> None:
    store = memory.store
    trail.add(store, [happened(f"Well: {TEXT} So do it.")])
    project = memory.store.project_number(memory.project, make=True)
    outputs.add(store, project=project, session="s1", at=AT, body=f"I will. {' '.join(TEXT.split())}")
    body = json.dumps({"role": "user", "content": f"Mind: {TEXT} Now go."}) + "\n"
    kept = Transcript(session="s1", project=project, format="json", saved_at=AT, tokens=9, body=body)
    transcripts.save(store, kept, chunks(messages_in(body, "json")))


def prepared(memory: Memory, name: str) -> Path:
    file = Path(str(memory.store.folder)) / "prepared" / f"{name}.json"
    prepare(memory, file)
    return file


def derived(memory: Memory, body: str) -> str:
    event = draft_event(memory, Draft(body=body, kind="observation", title=body[:90]))
    memory.commit([replace(event, by=Actor(kind="rule", name="hook", session="s1"))])
    return event.about


def test_raw_material_and_what_rules_made_of_it_lose_the_text_and_nothing_else(memory: Memory, tmp_path: Path) -> None:
    record = keep(memory, TEXT)
    raw_material(memory)
    observed = derived(memory, f"Asked to mind this: {TEXT} Tests pass.")
    started = memory.event("started", "s1", data={"project": memory.project, "title": f"Mind: {TEXT}"[:120]})
    memory.commit([started])
    done = erase(memory, record.id)
    assert done.reached == {
        "entry of the trail": 1, "logged output": 1, "transcript": 1, "memory that quoted it": 1,
    }  # fmt: skip
    assert b"heron" not in kept_bytes(tmp_path / "store").lower()
    assert trail.of_session(memory.store, "s1")[0].text == f"Well: {MASK} So do it."
    kept = some(transcripts.get(memory.store, "s1"))
    assert messages_in(kept.body, "json") == [f"user: Mind: {MASK} Now go."]
    assert find(memory, observed).record.body == f"Asked to mind this: {MASK} Tests pass."
    session = some(sessions.of(memory.store, "s1"))
    assert session.title == f"Mind: {MASK}"


def test_a_memory_of_a_person_that_says_the_same_is_named_and_left(memory: Memory) -> None:
    record = keep(memory, TEXT)
    other = keep(memory, f"Quoted from the handbook of the platform team, chapter nine: {TEXT}", kind="reference")
    assert erase(memory, record.id).said_by == (other.id,)
    assert find(memory, other.id).record == other
    again = erase(memory, record.id)
    assert (again.ids, again.reached) == ((record.id,), {})
    refused(NotFound, erase, memory, "01HZZZZZZZZZZZZZZZZZZZZZZZ")


@examples
def test_ordinary_phrases_and_short_texts_are_no_text_of_an_erased_memory(memory: Memory, body: str, said: str) -> None:
    record = keep(memory, body)
    trail.add(memory.store, [replace(happened(said), id=record.id)])
    erase(memory, record.id)
    assert trail.of_session(memory.store, "s1")[-1].text == said


@each(
    ("written", "masked"),
    [
        (TEXT, MASK),
        (TEXT.replace("\n", "   \n\t"), MASK),
        (json.dumps(TEXT)[1:-1], MASK),
        (json.dumps(json.dumps({"a": TEXT}))[1:-1], f'{{\\"a\\": \\"{MASK}\\"}}'),
        (f"{TEXT[:70]}…", f"{MASK}…"),
        (f"…{TEXT[-70:]}", f"…{MASK}"),
    ],
)
def test_a_text_is_found_however_it_is_wrapped_escaped_or_cut_short(written: str, masked: str) -> None:
    eraser = Eraser(sentences_in([{"body": TEXT}]))
    assert eraser.masked(f"Before: {written} That was all.") == f"Before: {masked} That was all."


def test_an_erasure_that_arrives_reaches_prepared_files_of_every_worktree(memory: Memory) -> None:
    record = keep(memory, TEXT, kind="decision")
    keep(memory, "Orders live in PostgreSQL.", kind="decision")
    files = [prepared(memory, name) for name in ("one", "two")]
    assert all("heron" in file.read_text() for file in files)
    theirs = memory.event("erased", record.id, after=record.head)
    keep_events(memory, [theirs])
    assert not any(file.exists() for file in files)
    assert "heron" not in prepared(memory, "one").read_text()


@contextmanager
def busy_worker(memory: Memory, at_last: Callable[[], object] = lambda: None) -> Iterator[Callable[[], None]]:
    """Let a worker hold its turn until it is told to go on, and do something at last."""
    holding, told = threading.Event(), threading.Event()

    def work() -> None:
        with turn(memory.store.folder):
            holding.set()
            assert told.wait(20)
            at_last()

    worker = threading.Thread(target=work)
    worker.start()
    assert holding.wait(20)
    yield told.set
    told.set()
    worker.join()


def test_whoever_prepares_while_it_is_erased_leaves_nothing_of_it(memory: Memory) -> None:
    """The worker holds its turn from reading to writing, so the file it writes late is found all the same."""
    record = keep(memory, TEXT, kind="decision")
    file = prepared(memory, "one")
    read = file.read_text()
    with busy_worker(memory, lambda: file.write_text(read)) as go_on:
        remains = erasing.note_remains(memory.store, events := [memory.event("erased", record.id, after=record.head)])
        memory.store.commit(events)
        go_on()
        assert finish(memory, remains).finished
    assert not file.exists()


def test_preparing_waits_for_an_erasure_that_is_under_way(memory: Memory) -> None:
    record = keep(memory, TEXT, kind="decision")
    keep(memory, "Orders live in PostgreSQL.", kind="decision")
    file = Path(str(memory.store.folder)) / "prepared" / "one.json"
    worker = threading.Thread(target=lambda: prepare(memory, file))
    with turn(memory.store.folder):
        worker.start()
        worker.join(0.3)
        assert not file.exists()
        memory.store.commit([memory.event("erased", record.id, after=record.head)])
    worker.join()
    assert "heron" not in file.read_text()
    assert "Orders live in PostgreSQL" in file.read_text()


def test_where_the_worker_does_not_let_go_the_erasure_says_so_and_is_finished_later(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erasing, "PATIENCE", 0.1)
    record = keep(memory, TEXT, kind="decision")
    with busy_worker(memory):
        left = erase(memory, record.id)
    assert (left.finished, list(unfinished(memory.store.folder))) == (False, [record.id])
    assert erase(memory, record.id).finished
    assert unfinished(memory.store.folder) == {}


def test_what_was_cut_short_is_finished_by_whoever_comes_next(memory: Memory, tmp_path: Path) -> None:
    record = keep(memory, TEXT, kind="decision")
    raw_material(memory)
    file = prepared(memory, "one")
    events = [memory.event("erased", record.id, after=record.head)]
    erasing.note_remains(memory.store, events)  # of an erasure that never happened
    assert (finish(memory), unfinished(memory.store.folder)) == (erasing.Erased(), {})
    assert find(memory, record.id).record.body == TEXT
    assert TEXT in trail.of_session(memory.store, "s1")[0].text
    erasing.note_remains(memory.store, events)
    memory.store.commit(events)  # and here it was killed
    assert list(unfinished(memory.store.folder)) == [record.id]
    finish(memory)
    assert (file.exists(), unfinished(memory.store.folder)) == (False, {})
    assert b"heron" not in kept_bytes(tmp_path / "store").lower()


def test_the_worker_drops_what_names_a_memory_that_was_erased_on_another_machine(memory: Memory) -> None:
    record = keep(memory, TEXT, kind="decision")
    stays, goes = prepared(memory, "stays"), prepared(memory, "goes")
    stays.write_text(stays.read_text().replace(record.id, "").replace("heron", ""))
    memory.store.commit([memory.event("erased", record.id, after=record.head)])
    assert forget_prepared(memory) == 1
    assert (stays.exists(), goes.exists()) == (True, False)


def test_the_copy_of_a_teams_database_is_swept_with_it(memory: Memory, tmp_path: Path) -> None:
    record = keep(memory, TEXT)
    copy = open_store(SQLite(tmp_path / "store" / "team.db"))
    pull(copy, memory.store, memory.project, "ada")
    trail.add(copy, [happened(TEXT)])
    copy.close()
    assert b"heron" in (tmp_path / "store" / "team.db").read_bytes().lower()
    erase(memory, record.id)
    on_disk = b"".join(path.read_bytes() for path in (tmp_path / "store").glob("team.db*"))
    assert b"heron" not in on_disk.lower()


def test_a_sibling_that_cannot_be_opened_is_named_and_one_that_is_no_store_is_left(
    memory: Memory, tmp_path: Path
) -> None:
    record = keep(memory, TEXT)
    folder = tmp_path / "store"
    (folder / "empty.db").touch()
    (folder / "notes.db").write_text("not a database, but about the heron gateway")
    newer = open_store(SQLite(folder / "team.db"))
    newer.note("schema", "999")
    newer.close()
    done = erase(memory, record.id)
    assert [one for one in done.not_reached if "team.db" in one] != []
    assert (folder / "empty.db").read_bytes() == b""

"""Memories and their names: moved between projects, found by the ids of other systems and by short names of projects."""

from pathlib import Path

from holdfast.engine.views import records, sessions
from holdfast.model.errors import Ambiguous, Invalid, NotFound
from holdfast.model.query import Query
from holdfast.verbs.exchange.import_foreign import import_items
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records.hot import hot_ids, promote
from holdfast.verbs.records.lifecycle import record_use
from holdfast.verbs.records.project import in_project, move, project_called
from holdfast.verbs.records.read import get
from holdfast.verbs.search.observations import observation
from holdfast.verbs.search.recall import recall
from holdfast.verbs.sessions.session import begin, find_session, start
from tests.conftest import keep
from tests.engine.test_store import everything
from tests.importing import brought
from tests.rows import refused
from tests.verbs.test_bring_in import foreign

SHOP = "example.org/acme/shop"


def titles(memory: Memory, question: str) -> list[str]:
    return [hit.record.title for hit in recall(memory, Query(text=question)).hits]


def test_a_move_takes_history_uses_and_heat_along(memory: Memory) -> None:
    other = memory.acting_on("foo")
    other = begin(other)
    kept = keep(other, "The gateway retries three times.")
    record_use(other, [kept.id], "applied")
    promote(other, kept.id)
    assert titles(memory, "how often does the gateway retry") == []
    moved = move(memory, "foo", SHOP)
    assert ([record.id for record in moved.records], moved.sessions) == ([kept.id], 1)
    assert titles(memory, "how often does the gateway retry") == [kept.title]
    shown = get(memory, kept.id)
    assert (shown.usage.applied, shown.record.project, shown.record.updated_at) == (1, SHOP, kept.updated_at)
    assert hot_ids(memory) == {kept.id}
    assert records.span(memory.store.project_number(SHOP))[0] < find(memory, kept.id).number
    assert [session.project for session in sessions.page(memory.store, None, limit=5)] == [SHOP]
    views = everything(memory.store)
    memory.store.rebuild()
    assert everything(memory.store) == views


def test_only_memories_of_a_scope_move_and_only_if_it_is_meant(memory: Memory) -> None:
    kept = keep(memory, "The cache is Valkey.", scopes=("projects:foo",), project="")
    keep(memory, "The user likes short answers.", kind="preference", project="")
    assert len(move(memory, "", "github.com/me/foo", scope="projects:foo", dry_run=True).records) == 1
    assert find(memory, kept.id).record.project == ""
    move(memory, "", "git@github.com:me/foo.git", scope="projects:foo")
    assert find(memory, kept.id).record.project == "github.com/me/foo"
    assert len(titles(memory, "does the user like short answers")) == 1


def test_nothing_to_move_and_the_same_project_are_errors(memory: Memory) -> None:
    refused(NotFound, move, memory, "nowhere", SHOP)
    refused(Invalid, move, memory, ".", SHOP)


def test_importing_again_with_a_map_moves_what_is_known(memory: Memory) -> None:
    given = [foreign("1", "The gateway retries three times.", project="foo")]
    first = import_items(memory, "elsewhere", given)
    assert first.projects == {"foo": {"foo": 1}}
    again = import_items(memory, "elsewhere", given, mapped={"foo": SHOP})
    assert (again.projects, again.moved, again.known, again.taken) == ({"foo": {SHOP: 1}}, 1, 1, [])
    assert titles(memory, "how often does the gateway retry") == ["The gateway retries three times."]
    assert import_items(memory, "elsewhere", given, mapped={"foo": SHOP}).moved == 0


def test_a_short_name_means_the_project_that_ends_in_it(memory: Memory) -> None:
    keep(memory.acting_on("github.com/me/foo"), "The cache is Valkey.")
    report = import_items(memory, "elsewhere", [foreign("1", "The gateway retries three times.", project="foo")])
    assert report.projects == {"foo": {"github.com/me/foo": 1}}


UUID = "393adb34-5f6e-4b1c-9d2a-8f0e1c2d3b4a"


def test_a_record_is_found_by_the_id_it_had_elsewhere(memory: Memory) -> None:
    scar = keep(memory, "Seeds need migrations.", extra={"imported": {"system": "gitmem", "id": UUID}})
    thread = keep(memory, "Rate limits.", extra={"imported": {"id": "t-a1b2c3d4"}})
    number = keep(memory, "Ports are taken.", extra={"imported": {"id": 11131}})
    keep(memory, f"Mentions {UUID} and was imported.", extra={"imported": {"id": "another"}})
    for reference in (UUID, UUID[:8], UUID.upper(), f" {UUID} "):
        assert find(memory, reference).record.id == scar.id
    assert find(memory, "t-a1b2c3d4").record.id == thread.id
    assert find(memory, "11131").record.id == number.id
    assert find(memory, scar.id[:12]).record.id == scar.id


def test_what_the_importers_brought_answers_to_its_old_ids(memory: Memory, tmp_path: Path) -> None:
    brought(memory, "gitmem", tmp_path)
    brought(memory, "claude-mem", tmp_path)
    scar = find(memory, "3f0c9c52-1111-4a6e-9d0b-7a1e5c000001").record
    assert (scar.kind, scar.title) == ("scar", "Stock is reserved before payment, not after")
    assert find(memory, "3f0c9c52-1").record == scar
    assert find(memory, "t-0a1b2c3d").record.title == "Move the mailer off the old queue"
    assert find(memory, "ts-00000001").record.title == "Flaky login test"
    session = "9b1d4f60-aaaa-4c11-8e21-5d2f00000002"
    assert [find_session(memory, one).id for one in (session, "lost-sess")] == [session, "lost-session"]
    assert observation(memory, "S1").record.title == "Make the search box keep its text"


def test_an_id_of_nobody_is_not_found_and_no_id_is_refused(memory: Memory) -> None:
    keep(memory, "One.", extra={"imported": {"id": f"{UUID}-1"}})
    keep(memory, "Two things.", extra={"imported": {"id": f"{UUID}-2"}})
    refused(Ambiguous, find, memory, UUID)
    refused(NotFound, find, memory, "01ARZ3NDEKTSV4RRFFQ69G5FAV")
    for nonsense in ("not an id", "%", "____", "x"):
        refused(Invalid, find, memory, nonsense)


def test_a_short_name_means_the_project_that_ends_so(memory: Memory) -> None:
    for name in ("", "default", "shop", "Shop", "example.org/acme/shop"):
        assert project_called(memory, name) == memory.project
    keep(memory, "Elsewhere.", project="example.org/acme/api")
    assert project_called(memory, "api") == "example.org/acme/api"
    assert project_called(memory, "new-thing") == "new-thing"
    keep(memory, "A third place.", project="example.org/other/api")
    refused(Ambiguous, project_called, memory, "api", says="2 projects are called api")


def test_one_call_may_work_on_another_project(memory: Memory) -> None:
    there = in_project(memory, "api")
    assert (there.project, memory.project) == ("api", "example.org/acme/shop")
    assert keep(there, "Only here.").project == "api"
    assert in_project(memory, "shop") is memory


def test_a_session_may_begin_on_another_project_under_another_name(memory: Memory) -> None:
    memory = begin(memory, implicit=True)
    implicit = memory.actor.session
    memory, opened = start(memory, project="api", agent="desktop")
    assert (opened.session.project, opened.session.agent, opened.resumed) == ("api", "desktop", False)
    assert memory.project == "api"
    assert find_session(memory, implicit).close["type"] == "superseded"
    memory, again = start(memory, project="api")
    assert (again.session.id, again.resumed) == (opened.session.id, True)

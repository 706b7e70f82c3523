"""Memories move between projects: by a command, or by importing them again with a map."""

import pytest

from holdfast.engine.views import records, sessions
from holdfast.model.errors import Invalid, NotFound
from holdfast.model.query import Query
from holdfast.verbs.exchange.import_foreign import import_items
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records.hot import hot_ids, promote
from holdfast.verbs.records.lifecycle import record_use
from holdfast.verbs.records.project import move
from holdfast.verbs.records.read import get
from holdfast.verbs.search.recall import recall
from holdfast.verbs.sessions.session import begin
from tests.conftest import keep
from tests.engine.test_store import everything
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
    with pytest.raises(NotFound):
        move(memory, "nowhere", SHOP)
    with pytest.raises(Invalid):
        move(memory, ".", SHOP)


def test_importing_again_with_a_map_moves_what_is_known(memory: Memory) -> None:
    given = [foreign("1", "The gateway retries three times.", project="foo")]
    first = import_items(memory, "elsewhere", given)
    assert first.projects == {"foo": {"foo": 1}}
    again = import_items(memory, "elsewhere", given, mapped={"foo": SHOP})
    assert (again.projects, again.moved, again.known, again.taken) == ({"foo": {SHOP: 1}}, 1, 1, ())
    assert titles(memory, "how often does the gateway retry") == ["The gateway retries three times."]
    assert import_items(memory, "elsewhere", given, mapped={"foo": SHOP}).moved == 0


def test_a_short_name_means_the_project_that_ends_in_it(memory: Memory) -> None:
    keep(memory.acting_on("github.com/me/foo"), "The cache is Valkey.")
    report = import_items(memory, "elsewhere", [foreign("1", "The gateway retries three times.", project="foo")])
    assert report.projects == {"foo": {"github.com/me/foo": 1}}

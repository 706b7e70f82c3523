"""Memories and their names: moved between projects, found by the ids of other systems and by short names of projects."""

from pathlib import Path

from holdfast.model.query import Query
from holdfast.verbs.exchange.import_foreign import import_items
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.search.observations import observation
from holdfast.verbs.search.recall import recall
from holdfast.verbs.sessions.session import find_session
from tests.conftest import keep
from tests.importing import brought
from tests.verbs.scripts import scripts_in
from tests.verbs.test_bring_in import foreign

globals().update(scripts_in(__file__))

SHOP = "example.org/acme/shop"


def titles(memory: Memory, question: str) -> list[str]:
    return [hit.record.title for hit in recall(memory, Query(text=question)).hits]


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

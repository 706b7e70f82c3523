"""Memories and their names: moved between projects, found by the ids of other systems and by short names of projects."""

from pathlib import Path

from holdfast.verbs.memory import Memory, find
from holdfast.verbs.search.observations import observation
from holdfast.verbs.sessions.session import find_session
from tests.importing import brought
from tests.verbs.scripts import scripts_in

globals().update(scripts_in(__file__))


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

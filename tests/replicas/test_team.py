"""What leaves for a team and what may come from it: on every replica a team shares."""

import json
from dataclasses import replace
from pathlib import Path

from holdfast.model.event import Event
from holdfast.policy.admission.sharing import with_team
from holdfast.verbs.exchange.incoming import passed
from holdfast.verbs.exchange.replicas import is_on, turn
from holdfast.verbs.memory import Memory
from tests.conftest import Time, keep, make_memory, recorded
from tests.replicas.scripts import scripts_in

globals().update(scripts_in(__file__))

TOKEN = "npm_" + "aB1" * 12


def test_turning_on_is_for_this_project_and_machine(memory: Memory) -> None:
    assert not is_on(memory, "notes")
    turn(memory, "notes", on=True)
    turn(memory, "folder", on=True)
    elsewhere = memory.acting_on("example.org/other/thing")
    assert (is_on(memory, "notes"), is_on(elsewhere, "notes"), is_on(elsewhere, "folder")) == (True, False, True)
    turn(memory, "notes", on=False)
    assert not is_on(memory, "notes")


def arriving(memory: Memory, *events: Event) -> tuple[list[str], list[str]]:
    """Give what passes the border, and why the rest does not."""
    found = passed(memory, events, with_team(memory.project))
    return [event.id for event in found.events], [remark.why for remark in found.remarks]


def test_the_border_keeps_private_records_and_other_projects_as_they_are(
    memory: Memory, tmp_path: Path, time: Time
) -> None:
    with make_memory(tmp_path / "other", time) as other:
        mine = keep(memory, "A private matter of this machine.")
        foreign = keep(memory, "Another project's matter.", project="example.org/other/thing", visibility="team")
        ours = keep(memory, "The team's matter.", visibility="team")
        for record, why in ((mine, "private"), (foreign, "another project")):
            for verb in ("revised", "retired", "erased"):
                event = replace(other.event("revised", record.id, data={"body": "taken over"}), verb=verb)
                assert arriving(memory, event)[0] == []
                assert why in arriving(memory, event)[1][0]
        fine = other.event("revised", ours.id, data={"body": "The team's matter, said better."})
        assert arriving(memory, fine) == ([fine.id], [])
        hidden = other.event("revised", ours.id, data={"visibility": "private"})
        assert "not shared with the team" in arriving(memory, hidden)[1][0]
        orphan = other.event("revised", other.clock.tick(), data={"body": "no beginning"})
        assert "not arrived yet" in arriving(memory, orphan)[1][0]
        private = recorded(other.clock, "never shared", visibility="private")
        assert "not shared with the team" in arriving(memory, private)[1][0]


def test_the_border_masks_secrets_and_names_the_project_as_it_is_here(memory: Memory, time: Time) -> None:
    from holdfast.model.ids import Clock

    event = recorded(Clock(time), f"The token is {TOKEN}.", visibility="team", project="example.org/evil/other")
    (kept,) = passed(memory, [event], with_team(memory.project)).events
    assert TOKEN not in json.dumps(dict(kept.data))
    assert kept.data["project"] == memory.project

"""Sessions, threads, briefs and judgements from the command line."""

import json
import re
from pathlib import Path

from holdfast.model.ids import short
from tests.hosts.scripts import scripts_in
from tests.hosts.test_check import run as run_here

globals().update(scripts_in(__file__))


def test_people_get_local_and_relative_times_and_commands_to_type(tmp_path: Path) -> None:
    place = tmp_path / "home" / "shop"
    place.mkdir(parents=True)

    def run(*arguments: str) -> str:
        done = run_here(place, *arguments, HOLDFAST_AGENT="claude")
        assert done.returncode == 0, (arguments, done.stderr)
        return done.stdout

    first, memory = (
        str(json.loads(run(*command, "--json"))[key]["id"])
        for command, key in (
            (("session", "start", "--title", "Rate limits"), "session"),
            (("remember", "The limiter counts per key."), "record"),
        )
    )
    run("thread", "open", "Load-test the limiter")
    run("hot", "pin", memory)
    run("trust", memory, "--raise", "--reason", "used_correctly")
    run("forget", memory, "--reason", "no longer")
    for command in (
        ("session", "show", first),
        ("session", "refresh", "--session", first),
        ("thread", "triage"),
        ("thread", "open", "Load-test the limiter"),
        ("hot",),
        ("trust", memory),
        ("stats", "audit"),
        ("stats", "analyze"),
    ):
        assert not re.search(r"\d{4}-\d\d-\d\d|[a-z]+\([a-z]|=true", printed := run(*command)), printed
    assert f"{short(first)} just now [open, claude] Rate limits" in run("session", "list")
    assert "[emerging, touched just now] Load-test the limiter" in run("thread", "list")

"""What docs/compatibility.md says about all compatible surfaces, tried literally."""

import re
from pathlib import Path

import pytest

from holdfast.hosts.hooks.places import FOREIGN_HOMES
from holdfast.hosts.setup.clients import instructions
from holdfast.model.config import PRESETS
from tests.compatible.conftest import Place
from tests.compatible.scripts import scripts_in

promise = pytest.mark.promise
globals().update(scripts_in(__file__))
SURFACES = ("gitmem", "claude-mem", "memory-mcp", "bettermemory", "git-notes")


@promise("hooks set up for a surface use the folder and the project of its variables")
def test_hooks_read_variables(place: Place, tmp_path: Path) -> None:
    del place.environment["HOLDFAST_HOME"]
    place.environment |= {"GITMEM_DIR": str(tmp_path / "mine"), "GITMEM_DEFAULT_PROJECT": "my-api"}
    (place.home / ".claude").mkdir()
    place.run("init --surface gitmem --client claude-code --yes")
    place.tools("gitmem").text("session_start")
    place.hook("SessionStart", source="startup")
    place.hook("UserPromptSubmit", prompt="[decision] Use Valkey for sessions, because it persists its data.")
    place.hook("Stop", last_assistant_message="Noted.")
    place.work(f"--home {tmp_path / 'mine'}")
    listed = place.json(f"--home {tmp_path / 'mine'} --set project=my-api list --json --kind decision")
    assert ["Valkey" in row["title"] for row in listed["records"]] == [True]
    assert {variable: name for name, variable in FOREIGN_HOMES.items()} == {
        variable: name
        for name, preset in PRESETS.items()
        for variable, setting in preset.variables.items()
        if setting == "home"
    }


@promise("instructions for agents name only tools that the surface has")
@pytest.mark.parametrize("surface", SURFACES)
def test_instructions(place: Place, surface: str) -> None:
    named = set(re.findall(r"`([a-z_]+)`", instructions((surface,)))) - {"holdfast", "staleness_verdict"}
    assert named
    assert named <= place.tools(surface).names

"""What docs/compatibility.md says about all compatible surfaces, tried literally."""

import re

import pytest

from holdfast.hosts.hooks.places import FOREIGN_HOMES
from holdfast.hosts.setup.clients import instructions
from holdfast.model.config import PRESETS
from tests.compatible.conftest import Place
from tests.compatible.scripts import scripts_in

scripts_in(globals())
SURFACES = ("gitmem", "claude-mem", "memory-mcp", "bettermemory", "git-notes")


def test_hooks_know_the_variable_for_the_folder_of_every_preset() -> None:
    variables = [(name, *one) for name, preset in PRESETS.items() for one in preset.variables.items()]
    homes = {variable: name for name, variable, setting in variables if setting == "home"}
    assert {variable: name for name, variable in FOREIGN_HOMES.items()} == homes


@pytest.mark.parametrize("surface", SURFACES)
def test_instructions(place: Place, surface: str) -> None:
    """They name only tools that the surface has."""
    named = set(re.findall(r"`([a-z_]+)`", instructions((surface,)))) - {"holdfast", "staleness_verdict"}
    assert named
    assert named <= place.tools(surface).names

"""GitMem's documentation, tried literally."""

from pathlib import Path

import pytest

from tests.compatible.conftest import Place
from tests.compatible.scripts import scripts_in

promise = pytest.mark.promise
globals().update(scripts_in(__file__))
TABLE = Path(__file__).with_name("gitmem_names.txt").read_text().splitlines()[1:]
NAMES = {tool: aliases for tool, _, aliases in (line.partition(" ") for line in TABLE)}


@promise("tool reference: every tool of every tier is listed, under its own name and every alias")
def test_every_tool_and_alias(place: Place) -> None:
    place.environment["HOLDFAST_LIST_ALIASES"] = "1"
    names = place.tools("gitmem").names
    assert {name for tool, aliases in NAMES.items() for name in (tool, *aliases.split())} <= names


@promise("every gm-* alias is a slash command of the plugin that names its tool")
def test_gm_commands() -> None:
    folder = Path(__file__).parent.parent.parent / "plugin-memory" / "commands"
    aliases = {alias: tool for tool, names in NAMES.items() for alias in names.split() if alias.startswith("gm-")}
    assert len(aliases) == 23
    texts = {alias: (folder / f"{alias}.md").read_text() for alias in aliases}
    assert [alias for alias, tool in aliases.items() if f"`{tool}`" not in texts[alias] and "cache" not in tool] == []

"""A small world, and for every tool of every contract a call that works in it. «scar» and the like are ids of that world."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from holdfast.surfaces.memory_mcp.memory_types import numbers_of
from holdfast.surfaces.tool import Surface
from holdfast.verbs.memory import Memory
from tests.verbs import scripts

SCAR = {"severity": "high", "counter_arguments": ["It is only a column.", "There is a backup."]}
EVIDENCE = "Ran the migration on a copy of production and compared the row counts."
ANSWERS = dict.fromkeys(
    "what_broke what_took_longer do_differently what_worked wrong_assumption".split(), "Nothing much."
)
EXAMPLES: dict[str, dict[str, dict[str, Any]]] = json.loads(Path(__file__).with_suffix(".json").read_bytes())


def world(memory: Memory) -> dict[str, str]:
    """Fill a memory with one of everything; give the ids."""
    (memory.checkout.top() / "notes.md").write_text("# Deploy\n\n- Deploys happen on Fridays only.\n")
    memory, made = scripts.world("a_small_world", memory)
    numbers = numbers_of(memory, list(made.values()))
    numbered = {name: str(numbers[made[name]]) for name in ("number", "one", "other", "hot", "candidate")}
    return made | numbered | {"pending": f"pending_{made['pending']}"}


def filled(value: Any, ids: dict[str, str]) -> Any:
    """Put the ids of a world into a call; one that it has not is that of its fact."""
    match value:
        case dict():
            return {name: filled(item, ids) for name, item in value.items()}
        case list():
            return [filled(item, ids) for item in value]
        case str() if value.startswith("«"):
            return ids.get(value.strip("«»"), ids["fact"])
    return value


def requests_of(surface: Surface, said: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the requests for every resource and prompt of a surface that say something wherever it can be said."""
    for one in surface.resources.values():
        yield "resources/read", {"uri": re.sub(r"\{\w+\}", lambda _: said, one.uri)}
    for prompt in surface.prompts.values():
        yield "prompts/get", {"name": prompt.name, "arguments": dict.fromkeys(prompt.schema["properties"], said)}

"""Scripts of the tools of a surface (`tests/scripts.py`), called as a host does, in a session on a store of their own."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import pytest

from holdfast.hosts.mcp.protocol import server_of
from holdfast.hosts.mcp.serving import surface_named
from holdfast.hosts.to_json import plain
from holdfast.model.event import Actor
from holdfast.model.record import Draft, record_to_json
from holdfast.surfaces.tool import Surface
from holdfast.verbs.capture.mining import log_output, mine_outputs
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.lifecycle import retire
from holdfast.verbs.records.write import draft_event
from holdfast.verbs.sessions.session import begin, plant
from holdfast.verbs.truth.contradictions import mark
from holdfast.verbs.upkeep.health import quality
from tests import scripts
from tests.conftest import keep, make_memory
from tests.surfaces.conftest import Tools

BANK = "example.org/acme/bank"


@dataclass(kw_only=True)
class Script(scripts.Script):
    """A script; its store opens with the first step, so that settings come before."""

    surface: Surface
    request: pytest.FixtureRequest
    settings: dict[str, Any] = field(default_factory=dict)
    opened: Tools | None = None

    @property
    def tools(self) -> Tools:
        if self.opened is None:
            actor, time = Actor(kind="agent", name="claude"), self.request.getfixturevalue("time")
            memory = make_memory(self.folder, time, actor=actor, config=self.settings)
            self.request.addfinalizer(memory.close)
            memory = begin(memory, implicit=True)
            self.opened = Tools(memory, self.surface)
            self.known["session"] = memory.actor.session
        return self.opened

    @property
    def memory(self) -> Memory:
        return self.tools.call_.memory

    def call(self, tool: str, arguments: dict[str, Any], *, refused: bool) -> str:
        return self.tools.answer(tool, arguments, failed=refused)

    def elsewhere(self, tool: str, **arguments: Any) -> Any:
        """Call a tool in another project."""
        there = Tools(self.memory.acting_on(BANK), self.surface)
        return scripts.read(there.answer(tool, arguments))

    def keep(self, text: str, **given: Any) -> dict[str, Any]:
        tuples = {name: tuple(value) for name, value in given.items() if isinstance(value, list)}
        return record_to_json(keep(self.memory, text, **given | tuples))

    def suggest(self, topic: str) -> dict[str, Any]:
        """Have a thread suggested because three sessions mention its topic."""
        draft = Draft(body=topic, kind="thread", source="mined", extra={"evidence": ["a", "b", "c"]})
        return record_to_json(self.memory.commit([draft_event(self.memory, draft, pending=True)])[0].record)

    def restart(self) -> None:
        """Go on in another session."""
        self.tools.call_.acting.context = begin(self.memory, implicit=True).context

    def read(self, uri: str) -> str:
        server = server_of([self.surface], self.tools.call_)
        return str(server.answer("resources/read", {"uri": uri})["contents"][0]["text"])

    def prompt(self, name: str, **arguments: str) -> str:
        server = server_of([self.surface], self.tools.call_)
        answer = server.answer("prompts/get", {"name": name, "arguments": arguments})
        return str(answer["messages"][0]["content"]["text"])

    steps: ClassVar = {
        **scripts.STEPS,
        "config": lambda script, given: script.settings.update(given),
        "pass": lambda script, given: script.request.getfixturevalue("time").pass_days(given["days"]),
        "keep": lambda script, given: script.keep(**given),
        "retire": lambda script, given: retire(script.memory, given["id"], given["reason"]),
        "contradict": lambda script, given: mark(script.memory, given["older"], given["newer"]),
        "plant": lambda script, _: plant(script.memory),
        "suggest": lambda script, given: script.suggest(**given),
        "mine": lambda script, given: [log_output(script.memory, given["text"]), mine_outputs(script.memory)],
        "elsewhere": lambda script, given: script.elsewhere(**given),
        "restart": lambda script, _: script.restart(),
        "read": lambda script, given: script.read(**given),
        "prompt": lambda script, given: script.prompt(**given),
        "quality": lambda script, _: plain(quality(script.memory)),
        "value": lambda _, given: given["of"],
    }


def scripts_in(module: str) -> dict[str, Callable[..., None]]:
    """Return a test for each script in the text beside a test module, about the surface that it is named for."""
    surface = surface_named(Path(module).stem.removeprefix("test_").replace("_", "-"))

    def start(request: pytest.FixtureRequest, known: dict[str, Any]) -> Script:
        return Script(request.getfixturevalue("tmp_path"), known, surface=surface, request=request)

    return scripts.scripts_in(module, start)

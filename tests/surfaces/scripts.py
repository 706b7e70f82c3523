"""Scripts of the tools of a surface (`tests/scripts.py`), called as a host does, in a session on a store of their own."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import pytest

from holdfast.hosts.mcp.serving import surface_named
from holdfast.model.event import Actor
from holdfast.surfaces.tool import Call, Client, Surface
from holdfast.verbs.sessions.session import begin
from tests import scripts
from tests.conftest import make_memory
from tests.serving import server_of
from tests.verbs import scripts as verbs

BANK = "example.org/acme/bank"


@dataclass(kw_only=True)
class Script(verbs.Script):
    """A script of a surface's tools; `@` also begins a verb. `@config` comes before what it is about."""

    surface: Surface
    client: Client = field(default_factory=Client)

    def call(self, tool: str, arguments: dict[str, Any], *, refused: bool) -> str:
        text, failed = self.surface.call(self.as_host(), tool, arguments)
        assert failed == refused, text
        return text

    def as_host(self) -> Call:
        """Return a call as a host makes it, in the session that the tools acted in before."""
        return Call(open=lambda: self.memory, client=self.client)

    def elsewhere(self, tool: str, **arguments: Any) -> Any:
        """Call a tool in another project."""
        text, failed = self.surface.call(Call(open=lambda: self.memory.acting_on(BANK)), tool, arguments)
        assert not failed, text
        return scripts.read(text)

    def restart(self) -> None:
        """Go on in another session."""
        self.client.context = begin(self.memory, implicit=True).context

    def read(self, uri: str) -> str:
        server = server_of(self.surface, self.as_host())
        return str(server.answer("resources/read", {"uri": uri})["contents"][0]["text"])

    def prompt(self, name: str, **arguments: str) -> str:
        server = server_of(self.surface, self.as_host())
        answer = server.answer("prompts/get", {"name": name, "arguments": arguments})
        return str(answer["messages"][0]["content"]["text"])

    steps: ClassVar = verbs.Verbs(
        {
            **verbs.Script.steps,
            "elsewhere": lambda script, given: script.elsewhere(**given),
            "restart": lambda script, _: script.restart(),
            "read": lambda script, given: script.read(**given),
            "prompt": lambda script, given: script.prompt(**given),
        }
    )


def scripts_in(module: dict[str, Any]) -> None:
    """Add a test for each script in the text beside a test module, about the surface that it is named for."""
    surface = surface_named(Path(module["__file__"]).stem.removeprefix("test_").replace("_", "-"))

    def start(request: pytest.FixtureRequest, known: dict[str, Any]) -> Script:
        time, tmp = request.getfixturevalue("time"), request.getfixturevalue("tmp_path")
        memory = make_memory(tmp, time, actor=Actor(kind="agent", name="claude"), config={"starters": False})
        request.addfinalizer(memory.close)
        memory = begin(memory, implicit=True)
        known |= {"session": memory.actor.session, "tmp": str(tmp)}
        return Script(tmp, known, memory=memory, time=time, request=request, surface=surface)

    scripts.scripts_in(module, start)

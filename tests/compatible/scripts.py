"""Scripts of a compatible surface: its tools on a server of their own, commands and hooks in a repository (`tests/scripts.py`)."""

import json
import sqlite3
import subprocess
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, ClassVar

import pytest

from tests import scripts
from tests.compatible.conftest import Place, Tools
from tests.hosts.running import preloaded
from tests.web.running import Viewer


@dataclass(kw_only=True)
class Script(scripts.Script):
    """A script in a place; its server starts with the first call, so that variables come before."""

    place: Place
    surface: str
    opened: Tools | None = None
    viewer: Viewer | None = None

    @property
    def ask(self) -> Tools:
        self.opened = self.opened or self.place.tools(self.surface)
        return self.opened

    def command(self, words: list[str]) -> subprocess.CompletedProcess[str]:
        given = self.stdin if isinstance(self.stdin, bytes) else self.stdin.encode()
        return preloaded(words, self.folder, self.environment, given)

    def call(self, tool: str, arguments: dict[str, Any], *, refused: bool) -> str:
        return (self.ask.refused if refused else self.ask.text)(tool, **arguments)

    def use(self, surface: str, folder: str = "", command: str = "") -> None:
        """Call the tools of another server from now on."""
        self.opened = self.place.tools(surface, Path(folder) if folder else None, command)

    def http(self, path: str, body: Any = None, status: int = 200) -> Any:
        """Ask the viewer of this place, which starts with the first question."""
        self.viewer = self.viewer or Viewer(self.place.store, self.folder, **self.place.environment)
        self.place.opened.append(self.viewer)
        connection = HTTPConnection("127.0.0.1", self.viewer.port, timeout=120)
        with closing(connection):
            headers = {"authorization": f"Bearer {self.viewer.token}", "content-type": "application/json"}
            connection.request("GET" if body is None else "POST", path, body and json.dumps(body), headers)
            answer = connection.getresponse()
            assert answer.status == status, (path, answer.status)
            return scripts.read(answer.read().decode())

    def names(self) -> list[str]:
        return sorted(self.ask.names)

    def imported(self, system: str, sql: str) -> Any:
        """Import a database that another system wrote, and return the report."""
        with sqlite3.connect(self.place.home / "theirs.db") as db:
            db.executescript(Path(__file__).with_name(sql).read_text())
        return self.answer("$", "store", f" import --from {system} {self.place.home / 'theirs.db'}")

    def memories(self, on: dict[str, str], more: dict[str, str] | None = None) -> None:
        """Import memories as bettermemory writes them, each created on a day of its own, some with more fields."""
        folder = self.place.home / "memories"
        folder.mkdir()
        for number, (name, day) in enumerate(on.items()):
            at = f"{day}T10:23:00+00:00"
            head = f"schema_version: 1\nid: 01HXYZ123ABC000000000000{number:02}\ncreated: {at}\nupdated: {at}"
            body = f"The {name} retries failed jobs; see the {name} runbook."
            front = f"---\n{head}\nscopes: [tools]\nconfidence: high\nsource: explicit-statement\n{(more or {}).get(name, '')}---"
            (folder / f"{day}-{name}.md").write_text(f"{front}\n{body}\n")
        self.place.run(f"store import --from bettermemory {folder}")

    def set_up(self, surface: str = "") -> None:
        """Set the surface up for Claude Code, in a repository with a commit."""
        (self.place.home / ".claude").mkdir()
        self.place.run(f"init --surface {surface or self.surface} --client claude-code --yes")
        (self.place.folder / "auth.py").write_text("EXPIRY = 24\n")
        self.place.git("add", ".")
        self.place.git("commit", "-qm", "first")
        self.place.run("status")

    def observed(self, prompt: str, event: str = "Stop", session: str = "s-1", **given: Any) -> None:
        """Have a session of one prompt, and process what its hooks stored."""
        said = {"last_assistant_message": "Done."} if event == "Stop" else {}
        self.hook("SessionStart", source="startup", session_id=session)
        self.hook("UserPromptSubmit", prompt=prompt, session_id=session)
        self.hook(event, session_id=session, **said | given)
        self.hook("SessionEnd", reason="exit", session_id=session)
        self.work()

    def __getattr__(self, step: str) -> Any:
        """Return what the server can do, or the place: to be killed, to run hooks."""
        return getattr(self.ask if step in ("read", "restart", "kill", "start") else self.place, step)

    steps: ClassVar = {
        **scripts.STEPS,
        "policy": lambda script, _: script.ask.greeting["instructions"],
        "written": lambda script, _: "".join(
            path.read_text() for path in script.place.home.rglob("*") if path.suffix in (".json", ".yaml", ".md")
        ),
        "chmod": lambda _script, given: Path(given["path"]).chmod(given["to"]),
        "mkdir": lambda _script, given: Path(given["path"]).mkdir(),
        "put": lambda script, given: scripts.STEPS["write"](script, {given["file"]: given["text"]}),
        "found": lambda script, given: [str(path) for path in script.place.home.rglob(given["name"])],
        "distinct": lambda _script, given: len(set(given["of"])) == len(given["of"]),
        "count": lambda _script, given: given["of"].count(given["what"]),
        "parsed": lambda script, given: json.loads(script.place.run(script.filled(given["words"])).stdout),
        "git": lambda script, given: script.place.git(*given["words"].split()),
        "errors": lambda script, given: script.place.run(given["words"], code=None).stderr,
        "transcript": lambda script, given: transcript(script.place.home / "transcript.jsonl", given["said"]),
    }


def transcript(file: Path, said: list[str]) -> str:
    """Write what the agent said, with a tool call after each, as Claude Code does; return the path."""
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
    parts = [[{"type": "text", "text": text}, call] for text in said]
    entries = [{"type": "assistant", "message": {"role": "assistant", "content": part}} for part in parts]
    file.write_text("\n".join(json.dumps(entry) for entry in entries) + "\n")
    return str(file)


def scripts_in(module: dict[str, Any]) -> None:
    """Add a test for each script in the text beside a test module, about the surface that it is named for."""
    surface = Path(module["__file__"]).stem.removeprefix("test_").replace("_", "-")

    def start(request: pytest.FixtureRequest, known: dict[str, Any]) -> Script:
        place: Place = request.getfixturevalue("place")
        known |= {"home": str(place.home), "folder": str(place.folder)}
        return Script(place.folder, known, place.environment, place=place, surface=surface)

    scripts.scripts_in(module, start)

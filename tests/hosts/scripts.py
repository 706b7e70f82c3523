"""Scripts of commands and hooks (`tests/scripts.py`): `holdfast` in an empty folder or a checkout, with a home of its own."""

import json
import os
import re
import shutil
import sqlite3
import subprocess
import time
from contextlib import closing
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any, ClassVar

import pytest

from holdfast.hosts.to_json import plain
from holdfast.hosts.worker import work
from tests import engines, scripts
from tests.conftest import new_file, new_folder
from tests.hosts.running import Run, hold_worker, hooked, injected, release_worker
from tests.importing import copied
from tests.replicas.seats import commit, git

VARIABLE = re.compile("[A-Z][A-Z_]+=")


def method(name: str) -> scripts.Step:
    """Return the step that is a method of the script."""
    return lambda script, given: getattr(script, name)(**given)


@dataclass(kw_only=True)
class Script(scripts.Script):
    """A script of commands."""

    holdfast: Run

    def command(self, words: list[str]) -> subprocess.CompletedProcess[str]:
        """Run `holdfast`, with the variables that stand before the command as in a shell."""
        own = dict(word.split("=", 1) for word in takewhile(VARIABLE.match, words))
        return self.holdfast(*words[len(own) :], stdin=self.stdin, cwd=self.folder, **self.environment | own)

    def sql(self, text: str, path: str = "../store/holdfast.db") -> int:
        with closing(sqlite3.connect(self.folder / path)) as db, db:
            return db.execute(text).rowcount

    def schema(self, path: str = "../store/holdfast.db") -> list[Any]:
        with closing(sqlite3.connect(self.folder / path)) as db:
            return sorted(db.execute("select type, name, coalesce(sql, '') from sqlite_master"))

    def replace(self, path: str, old: str, new: str) -> None:
        file = self.folder / path
        file.write_text(file.read_text().replace(old, new))

    def cut(self, path: str) -> None:
        whole = (self.folder / path).read_bytes()
        (self.folder / path).write_bytes(whole[: len(whole) // 2])

    steps: ClassVar = {
        **scripts.STEPS,
        "git": lambda script, given: [git(script.folder, *one.split()) for one in given["words"].split("; ")][-1],
        **{name: method(name) for name in "sql schema cut replace".split()},
        "folder": lambda script, given: new_folder(script.folder / given["path"]),
        "everything": lambda script, _: everything_under(Path(script.known["user"])),
        "sources": lambda script, _: str(copied(script.folder.parent)),
        "bytes": lambda script, given: (script.folder / given["of"]).read_bytes().hex(),
        "holding": lambda script, given: [
            str(path)
            for path in script.folder.parent.rglob("*")
            if path.is_file() and given["text"].encode() in path.read_bytes()
        ],
    }


@dataclass(kw_only=True)
class Session(Script):
    """A script of a client with hooks, in a checkout; the worker that hooks would start runs in the script's own steps."""

    home: Path

    def hook(
        self, event: str, client: str = "claude-code", session: str = "abc-1", **given: Any
    ) -> dict[str, Any] | None:
        """Run a hook as clients do; return its answer with the text that the agent gets."""
        own = {name: value for name, value in self.environment.items() if not name.startswith("HOLDFAST_")}
        own |= engines.setting(str(self.home))
        own |= {name: given.pop(name) for name in list(given) if name.startswith("HOLDFAST_")}
        reply = hooked(
            self.home, self.folder, event, client, environment={**os.environ, **own}, session_id=session, **given
        )
        return reply and {**reply, "text": injected(reply)}

    def brief(self, session: str = "abc-1", **variables: str) -> str:
        """Return what a session begins with."""
        return injected(self.hook("SessionStart", session=session, source="startup", **variables))

    def work(self, **settings: Any) -> Any:
        release_worker(self.home)
        database = engines.setting(str(self.home)).get("HOLDFAST_DATABASE", "")
        flags = {"home": str(self.home), "embedder": "none", "database": database, **settings}
        done = work(flags, self.home, self.folder, environment={**os.environ, **self.environment})
        hold_worker(self.home)
        return plain(done)

    def repository(self, name: str, remote: str = "") -> str:
        """Make a repository with one commit and, if given, a remote; go there."""
        self.folder = new_folder(self.home.parent / name)
        git(self.folder, "init", "-q", "-b", "main")
        if remote:
            git(self.folder, "remote", "add", "origin", remote)
        commit(self.folder)
        return str(self.folder)

    def remote(self, name: str) -> str:
        bare = new_folder(self.home.parent / "remotes" / name)
        git(bare, "init", "-q", "--bare", "-b", "main")
        return str(bare)

    def claim(self, text: str) -> None:
        new_file(self.folder / ".holdfast" / "config.toml", text)
        git(self.folder, "add", "-f", ".holdfast/config.toml")
        git(self.folder, "commit", "-q", "-m", "settings")

    def age(self, seconds: float) -> None:
        """Let the events of the spool be older."""
        at = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(time.time() - seconds))
        for path in (self.home / "spool").glob("*.json"):
            path.write_text(json.dumps({**json.loads(path.read_text()), "at": at}))

    def commands(self, of: list[str]) -> list[Any]:
        """Return what an agent is told before each of some commands."""
        replies = [self.hook("PreToolUse", tool_name="Bash", tool_input={"command": command}) for command in of]
        return [reply and reply["text"] for reply in replies]

    steps: ClassVar = {
        **Script.steps,
        **{name: method(name) for name in "hook work age brief repository remote claim commands".split()},
        "refs": lambda _, given: git(Path(given["of"]), "for-each-ref"),
        "rename": lambda script, given: setattr(
            script, "folder", script.folder.rename(script.home.parent / given["name"])
        ),
        "copy": lambda script, given: setattr(
            script, "folder", shutil.copytree(script.folder, script.home.parent / given["name"])
        ),
        "spool": lambda script, _: spooled(script.home),
    }


def everything_under(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder, without those of a store."""
    store = (".db", ".lock")
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.suffix not in store}


def spooled(home: Path) -> list[dict[str, Any]]:
    """Return the events that hooks left for the worker."""
    return [json.loads(path.read_text()) for path in sorted((home / "spool").glob("*.json"))]


def scripts_in(module: dict[str, Any], *, hooks: bool = False, **environment: str) -> None:
    """Add a test for each script in the text beside a test module; `{tmp}` in a variable is its folder."""

    def start(request: pytest.FixtureRequest, known: dict[str, Any]) -> Script:
        run, tmp = request.getfixturevalue("run"), request.getfixturevalue("tmp_path")
        known |= {"user": str(request.getfixturevalue("own_home"))}
        if not hooks:
            variables = {name: value.format(tmp=tmp) for name, value in environment.items()}
            return Script(tmp / "work", known | {"tmp": str(tmp)}, variables, holdfast=run)
        session = session_in(request.getfixturevalue("home"), request.getfixturevalue("project"), run)
        session.known |= known | {"tmp": str(tmp), "tests": str(Path(__file__).parent)}
        return session

    scripts.scripts_in(module, start)


def session_in(home: Path, project: Path, run: Run) -> Session:
    """Return a client with hooks, whose worker runs only when it is asked for."""
    hold_worker(home)
    own = {"HOLDFAST_HOME": str(home), "HOLDFAST_STARTERS": "false"}
    return Session(project, {"home": str(home), "project": str(project)}, own, holdfast=run, home=home)

"""Scripts of the viewer (`tests/scripts.py`): what a browser gets and posts, and what an agent does in the same memory meanwhile."""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from holdfast.adapters.checkout import GitCheckout
from holdfast.compose.settings import user_file
from holdfast.hosts.to_json import plain
from holdfast.model.event import Actor
from holdfast.model.query import Query
from holdfast.model.record import Draft, Record, record_to_json
from holdfast.verbs.exchange.jsonl import export, import_lines
from holdfast.verbs.records.hot import hot_set, trust_of
from holdfast.verbs.records.lifecycle import Revision, link, record_use, retire, revise
from holdfast.verbs.records.quarantine import standing
from holdfast.verbs.records.read import get
from holdfast.verbs.records.write import write
from holdfast.verbs.search.recall import recall
from holdfast.verbs.sessions.session import begin
from holdfast.verbs.sessions.thread import open_threads
from holdfast.verbs.truth.contradictions import mark
from tests import scripts
from tests.conftest import Time, keep, make_memory, new_file
from tests.web.conftest import Site, viewer_of


@dataclass(kw_only=True)
class Script(scripts.Script):
    """A script of the viewer; it opens with the first step, in an empty project or in a repository (`@drifted`)."""

    request: pytest.FixtureRequest
    opened: Site | None = None

    @property
    def site(self) -> Site:
        self.opened = self.opened or self.request.getfixturevalue("site")
        return self.opened

    def call(self, tool: str, arguments: dict[str, Any], *, refused: bool) -> str:
        assert not refused, "give the status instead"
        ask: Callable[..., str] = self.site.get if tool == "get" else self.site.post
        status = (arguments.pop("status"),) if "status" in arguments else ()
        return ask(arguments.pop("path"), *status, **arguments)

    def drift(self) -> dict[str, Any]:
        context = drifted(self.folder, self.request.getfixturevalue("time"))
        self.opened, record = context.__enter__()
        self.request.addfinalizer(lambda: context.__exit__(None, None, None))
        return record_to_json(record)

    def begin(self, title: str = "") -> str:
        self.site.memory = begin(self.site.memory, title=title)
        return self.site.memory.actor.session

    def inject(self, **data: Any) -> None:
        memory = self.site.memory
        memory.commit([memory.event("injected", memory.actor.session, data=data)])

    def keep(self, text: str, author: str = "", project: str = "", **given: Any) -> dict[str, Any]:
        memory = self.site.memory
        memory = memory.acting(actor=Actor(kind="user", name=author)) if author else memory
        memory = memory.acting_on(project) if project else memory
        tuples = {name: tuple(value) for name, value in given.items() if isinstance(value, list)}
        return record_to_json(keep(memory, text, **given | tuples))

    def receive(self, texts: list[str], by: str) -> list[str]:
        """Import memories of another author, and return their ids."""
        with make_memory(self.folder / "theirs", self.request.getfixturevalue("time")) as theirs:
            ids = [keep(theirs, text, kind="decision").id for text in texts]
            import_lines(self.site.memory, export(theirs), quarantine_as=by)
        return ids

    steps: ClassVar = {
        **scripts.STEPS,
        "keep": lambda script, given: script.keep(**given),
        "receive": lambda script, given: script.receive(**given),
        "standing": lambda script, given: standing(script.site.memory, given["of"]),
        "hot": lambda script, _: plain(hot_set(script.site.memory)),
        "trust": lambda script, given: plain(trust_of(script.site.memory, given["id"])),
        "threads": lambda script, _: plain(open_threads(script.site.memory)),
        "infer": lambda script, given: plain(
            write(script.site.memory, Draft(body=given["text"], kind="preference", source="inferred"))
        ),
        "show": lambda script, given: plain(get(script.site.memory, given["id"])),
        "retire": lambda script, given: retire(script.site.memory, given["id"], given["reason"]),
        "revise": lambda script, given: revise(script.site.memory, given["id"], Revision(body=given["body"])),
        "link": lambda script, given: link(script.site.memory, given["id"], given["relation"], given["target"]),
        "contradict": lambda script, given: mark(script.site.memory, given["older"], given["newer"]),
        "used": lambda script, given: record_use(script.site.memory, [given["id"]], given["outcome"]),
        "recall": lambda script, given: recall(script.site.memory, Query(text=given["text"])),
        "begin": lambda script, given: script.begin(**given),
        "inject": lambda script, given: script.inject(**given),
        "events": lambda script, _: script.site.memory.store.last_seq(),
        "today": lambda script, _: script.site.memory.clock.now()[:10],
        "pass": lambda script, given: script.request.getfixturevalue("time").pass_days(given["days"]),
        "cookie": lambda script, given: [script.site.browser.cookies.set(name, given[name]) for name in given],
        "undo": lambda script, given: script.site.undo(**given),
        "drifted": lambda script, _: script.drift(),
        "settings": lambda _, given: (
            str(new_file(user_file(), given["text"])) if given else "".join(map(Path.read_text, _files()))
        ),
        "value": lambda _, given: given["of"],
    }


def _files() -> list[Path]:
    """Return the user's file of settings, if there is one."""
    return [user_file()] if user_file().exists() else []


@contextmanager
def drifted(folder: Path, time: Time) -> Iterator[tuple[Site, Record]]:
    """Yield a viewer in a repository where the code behind a memory changed: RETRIES was 3 and is 5."""
    (folder / "app.py").write_text("# one\nRETRIES = 3\n\n\ndef pay():\n    return RETRIES\n")
    new_file(folder / "docs" / "notes.md", "Nothing known.\n")
    author = ["-c", "user.name=Bo", "-c", "user.email=bo@example.org"]
    for step in (["init", "-q"], ["add", "app.py", "docs"], [*author, "commit", "-qm", "begin"]):
        subprocess.run(["git", *step], cwd=folder, check=True)
    seen = make_memory(folder, time)
    seen = replace(seen, checkout=GitCheckout(folder, seen.project))
    record = keep(seen, "RETRIES is 3.", anchors=("app.py::RETRIES=3",))
    changed = "# one\nRETRIES = 5\npassword = 'hunter2hunter2'\n\ndef pay():\n    return RETRIES\n"
    (folder / "app.py").write_text(changed)
    (folder / "untracked.py").write_text("x = 1\n")
    (folder.parent / "secret.txt").write_text("outside")
    with viewer_of(seen, folder) as site:
        yield site, record


def scripts_in(module: str) -> dict[str, Callable[..., None]]:
    """Return a test for each script in the text beside a test module."""

    def start(request: pytest.FixtureRequest, known: dict[str, Any]) -> Script:
        return Script(request.getfixturevalue("tmp_path"), known | {"long": "x" * 600}, request=request)

    return scripts.scripts_in(module, start)

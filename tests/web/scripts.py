"""Scripts of the viewer (`tests/scripts.py`): what a browser gets and posts, and what an agent does in the same memory meanwhile."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from holdfast.adapters.checkout import GitCheckout
from holdfast.compose.settings import user_file
from holdfast.model.record import Record
from holdfast.verbs.exchange.jsonl import export, import_lines
from tests import scripts
from tests.conftest import Time, keep, make_memory, new_file, new_folder
from tests.replicas.seats import git
from tests.rows import missing
from tests.verbs import scripts as verbs
from tests.web.conftest import Site, viewer_of


@dataclass(kw_only=True)
class Script(verbs.Script):
    """A script of the viewer, in an empty project or in a repository (`@drifted`); `@` also begins a verb,
    as an agent calls it. A request with `of` is answered with what that memory is then."""

    site: Site

    def call(self, tool: str, arguments: dict[str, Any], *, refused: bool) -> Any:
        assert not refused, "give the status instead"
        ask: Callable[..., str] = self.site.get if tool == "get" else self.site.post
        status, of = (arguments.pop("status"),) if "status" in arguments else (), arguments.pop("of", None)
        said = ask(arguments.pop("path"), *status, **arguments)
        return said if of is None else self.steps["get"](self, {"reference": of})

    def drifted(self) -> Record:
        context = drifted(new_folder(self.folder / "drifted" / "checkout"), self.time)
        self.site, record = context.__enter__()
        self.memory = self.site.memory
        self.request.addfinalizer(lambda: context.__exit__(None, None, None))
        return record

    def shows(self, pages: dict[str, str] | list[str], *, status: int = 200, **texts: str) -> None:
        """Get each page, which must have its own text, if it is given one, and those that all must have."""
        for page, text in pages.items() if isinstance(pages, dict) else dict.fromkeys(pages, "").items():
            assert missing(self.site.get(page, status), text, *texts.values()) == [], page

    def receive(self, texts: list[str], by: str) -> list[str]:
        """Import memories of another author, and return their ids."""
        with make_memory(self.folder / "theirs", self.time) as theirs:
            ids = [keep(theirs, text, kind="decision").id for text in texts]
            import_lines(self.memory, export(theirs), quarantine_as=by)
        return ids

    def settings(self, text: str = "") -> str:
        """Write the user's file of settings if a text is given; return it."""
        if text:
            new_file(user_file(), text)
        assert text or not user_file().exists() or user_file().stat().st_mode & 0o077 == 0
        return user_file().read_text() if user_file().exists() else ""

    steps: ClassVar = verbs.Verbs(
        {
            **verbs.Script.steps,
            "inject": lambda script, given: script.memory.commit(
                [script.memory.event("injected", script.memory.actor.session, data=given)]
            ),
            "events": lambda script, _: script.memory.store.last_seq(),
            "today": lambda script, _: script.memory.clock.now()[:10],
            "cookie": lambda script, given: [script.site.browser.cookies.set(name, given[name]) for name in given],
            "patch": lambda script, given: [
                script.request.getfixturevalue("monkeypatch").setattr(name, given[name]) for name in given
            ],
            "undo": lambda script, given: script.site.undo(**given),
        }
    )


@contextmanager
def drifted(folder: Path, time: Time) -> Iterator[tuple[Site, Record]]:
    """Yield a viewer in a repository where the code behind a memory changed: RETRIES was 3 and is 5."""
    (folder / "app.py").write_text("# one\nRETRIES = 3\n\n\ndef pay():\n    return RETRIES\n")
    new_file(folder / "docs" / "notes.md", "Nothing known.\n")
    for step in ("init -q", "add app.py docs", "commit -qm begin"):
        git(folder, *step.split())
    seen = make_memory(folder, time)
    seen = replace(seen, checkout=GitCheckout(folder, seen.project))
    record = keep(seen, "RETRIES is 3.", anchors=("app.py::RETRIES=3",))
    changed = "# one\nRETRIES = 5\npassword = 'hunter2hunter2'\n\ndef pay():\n    return RETRIES\n"
    (folder / "app.py").write_text(changed)
    (folder / "untracked.py").write_text("x = 1\n")
    (folder.parent / "secret.txt").write_text("outside")
    with viewer_of(seen, folder) as site:
        yield site, record


def scripts_in(module: dict[str, Any]) -> None:
    def start(request: pytest.FixtureRequest, known: dict[str, Any]) -> Script:
        site, time, tmp = (request.getfixturevalue(name) for name in ("site", "time", "tmp_path"))
        known |= {"long": "x" * 600}
        return Script(tmp, known, memory=site.memory, time=time, request=request, site=site)

    scripts.scripts_in(module, start)

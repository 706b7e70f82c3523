"""A viewer inside the test's own process, on a real store."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from starlette.testclient import TestClient

from holdfast.compose.settings import Settings, load_settings
from holdfast.hosts.web.app import make_app
from holdfast.hosts.web.guard import Keys
from holdfast.model.event import Actor
from holdfast.verbs.memory import Memory
from tests.conftest import make_memory
from tests.rows import opened

PORT = 4654
ORIGIN = f"http://127.0.0.1:{PORT}"


@dataclass(kw_only=True)
class Site:
    """An open viewer: its memory as an agent has it, its keys, and a browser that came by the link."""

    memory: Memory
    keys: Keys
    browser: TestClient
    stranger: TestClient

    def get(self, path: str, status: int = 200) -> str:
        answer = self.browser.get(path)
        assert answer.status_code == status, (path, answer.status_code, answer.text[:500])
        return str(answer.text)

    def post(self, path: str, status: int = 303, /, **fields: str) -> str:
        """Send one of our own forms, as a browser does."""
        form = {"csrf": self.keys.form, **fields}
        answer = self.browser.post(path, data=form, headers={"origin": ORIGIN}, follow_redirects=False)
        assert answer.status_code == status, (path, answer.status_code, answer.text[:500])
        return str(answer.headers.get("location", answer.text))

    def undo(self, path: str = "/review", status: int = 303) -> str:
        """Press Undo in the message of the last action."""
        name = re.search(r'name="undo" value="([^"]+)"', self.get(path))
        assert name
        return self.post("/undo", status, undo=name[1], next=path)


@contextmanager
def viewer_of(seen: Memory, folder: Path) -> Iterator[Site]:
    """Give the viewer of a memory; an agent works on the same store beside the person who looks."""
    agent = seen.acting(actor=Actor(kind="agent", name="claude", session="s1"))
    keys = Keys(token="kept-token")

    def reload() -> Settings:
        return load_settings(flags={"home": str(folder / "store"), "project": seen.project, "embedder": "none"})

    app = make_app(seen, reload, keys=keys, port=PORT)
    with TestClient(app, base_url=ORIGIN) as browser, TestClient(app, base_url=ORIGIN) as stranger:
        browser.get(f"/?key={keys.link}")
        yield Site(memory=agent, keys=keys, browser=browser, stranger=stranger)
    seen.close()


site = opened(lambda tmp_path, time: viewer_of(make_memory(tmp_path, time), tmp_path))

"""The viewer of a team's server as its users have it: a real process on a real PostgreSQL, a real Chromium, and the live stream."""

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests import engines
from tests.hosts.running import Forked, answer, runner
from tests.web.running import CHROMIUM, chromium

SHOP, BANK = "example.org/acme/shop", "example.org/acme/bank"
pytestmark = pytest.mark.xdist_group("browser")


class Team:
    """A running `holdfast server run`, and the command line of who runs it."""

    def __init__(self, folder: Path) -> None:
        own = {
            "HOLDFAST_HOME": str(folder / "home"),
            "HOLDFAST_DATABASE": engines.schema(str(folder)),
            "HOLDFAST_EMBEDDER": "none",
            "HOLDFAST_STARTERS": "false",
        }
        self.folder, self.own, self.cli = folder, own, runner(folder, folder)
        self.keys: dict[str, dict[str, str]] = {}
        for user, project in (("anna", SHOP), ("ben", SHOP), ("carla", BANK)):
            assert self.run("server", "user", "add", user).returncode == 0
            self.keys[user] = answer(self.run("server", "key", "add", user, "--project", project, "--json"))
        command = ("-m", "holdfast", "server", "run", "--port", "0")
        self.process = Forked(command, folder, {**os.environ, **own}, text=True)
        found = re.search(r"http://127\.0\.0\.1:\d+", self.process.stderr.readline())
        assert found
        self.base = found[0]

    def run(self, *arguments: str) -> Any:
        return self.cli(*arguments, **self.own)

    @contextmanager
    def open(
        self, user: str, method: str, path: str, body: dict[str, Any] | None = None, **more: str
    ) -> Iterator[HTTPResponse]:
        connection = HTTPConnection(self.base.split("//")[1], timeout=120)
        headers = {"authorization": f"Bearer {self.keys[user]['key']}", "content-type": "application/json", **more}
        try:
            connection.request(
                method, path, json.dumps(body), headers | {"accept": "application/json, text/event-stream"}
            )
            yield connection.getresponse()
        finally:
            connection.close()

    def remember(self, user: str, text: str) -> str:
        """Keep something over the protocol, as an agent does."""
        begun = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        with self.open(user, "POST", "/mcp", _message("initialize", begun)) as reply:
            session = {"mcp-session-id": reply.headers["mcp-session-id"]}
        called = _message("tools/call", {"name": "remember", "arguments": {"text": text}})
        with self.open(user, "POST", "/mcp", called, **session) as reply:
            return reply.read().decode()

    def close(self) -> None:
        self.process.close()


def _message(method: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    made = Team(tmp_path_factory.mktemp("team"))
    try:
        yield made
    finally:
        made.close()


@pytest.mark.whole
@pytest.mark.skipif(not Path(CHROMIUM).exists(), reason="needs Debian's chromium")
def test_a_person_logs_in_searches_opens_a_memory_and_logs_out(served: Team) -> None:
    assert "Saved" in served.remember("ben", "The kiosk firmware needs a cold reboot after flashing.")
    served.remember("carla", "The vault of the bank opens at seven.")
    with chromium() as browser:
        context = browser.new_context()
        expect.set_options(timeout=180_000)
        page = context.new_page()
        page.goto(f"{served.base}/memories?q=kiosk+firmware")
        expect(page).to_have_url(re.compile(r"/login\?next="))
        page.get_by_label("Your key").fill("hf_wrong")
        page.get_by_role("button", name="Log in").click()
        expect(page.get_by_role("alert")).to_contain_text("wrong, expired or revoked")
        page.get_by_label("Your key").fill(served.keys["anna"]["key"])
        page.get_by_role("button", name="Log in").click()
        expect(page).to_have_url(f"{served.base}/memories?q=kiosk+firmware")
        assert "hf_" not in page.url
        expect(page.get_by_text("anna", exact=True)).to_be_visible()
        page.get_by_role("link", name=re.compile("kiosk firmware")).first.click()
        expect(page.locator("#pane h1")).to_contain_text("kiosk firmware")
        page.goto(f"{served.base}/memories?q=vault+of+the+bank&project=*")
        expect(page.get_by_role("main")).not_to_contain_text("opens at seven")
        page.get_by_role("button", name="Log out").click()
        expect(page).to_have_url(f"{served.base}/login")
        page.goto(f"{served.base}/memories")
        expect(page.get_by_label("Your key")).to_be_visible()
        assert [cookie["name"] for cookie in context.cookies() if "pass" in cookie.get("name", "")] == []


def test_the_live_stream_tells_what_is_ones_own_and_ends_with_the_key(served: Team) -> None:
    key = answer(served.run("server", "key", "add", "anna", "--project", SHOP, "--json"))
    served.keys["other"] = key
    with served.open("other", "GET", "/stream?project=*") as live:
        assert live.readline().startswith(b": holdfast")
        served.remember("carla", "The bank's lift stops at the third floor.")
        served.remember("ben", "The shop's lift stops at the second floor.")
        told = _next_event(live)
        assert "second floor" in told
        assert "third floor" not in told
        assert served.run("server", "key", "revoke", key["id"]).returncode == 0
        served.remember("ben", "The shop's stairs creak at night.")
        assert "stairs" not in live.read().decode()


def _next_event(live: HTTPResponse) -> str:
    while True:
        line = live.readline().decode()
        assert line, "the stream ended"
        if line.startswith("data:") and ("floor" in line):
            return line

"""A viewer in a process of its own, a checkout with real hooks, and a real Chromium to look at it with."""

import os
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, sync_playwright

from tests.hosts.running import Forked, hooked, preloaded
from tests.replicas.seats import git

CHROMIUM = "/usr/bin/chromium"
WIDTH, HEIGHT = 1280, 860


class Viewer:
    """A running `holdfast web`, stopped by its id when the test is over."""

    def __init__(self, home: Path, folder: Path, **changed: str) -> None:
        self.home = home
        self.environment = {**os.environ, "HOLDFAST_HOME": str(home), **changed}
        self.folder = folder
        command = ("-m", "holdfast", "web", "--port", "0", "--no-open")
        self.process = Forked(command, folder, self.environment, text=True)
        first = self.process.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+/\?key=\S+", first)
        assert found, first + self.process.stderr.read()
        self.link = found[0]
        self.port = int(urlsplit(self.link).port or 0)
        self.base = f"http://127.0.0.1:{self.port}"
        self.token = (home / "http-token").read_text().strip()

    def close(self) -> None:
        self.process.close()

    def run(self, *arguments: str) -> str:
        done = preloaded(arguments, self.folder, self.environment)
        assert done.returncode == 0, done.stderr
        return done.stdout


def checkout(folder: Path, remote: str) -> Path:
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    git(folder, "remote", "add", "origin", f"https://{remote}.git")
    return folder


def hook(home: Path, event: str, folder: Path, session: str, **given: Any) -> None:
    hooked(home, folder, event, environment={**os.environ, "HOLDFAST_HOME": str(home)}, session_id=session, **given)


@contextmanager
def stream(address: str, key: str, query: str = "") -> Iterator[HTTPResponse]:
    with closing(HTTPConnection(urlsplit(address).netloc, timeout=120)) as connection:
        connection.request("GET", f"/stream?{query}", headers={"authorization": f"Bearer {key}"})
        answer = connection.getresponse()
        assert answer.readline() == b": holdfast\n"
        yield answer


@contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as started:
        options = ["--no-sandbox", "--force-color-profile=srgb", "--disable-gpu"]
        browser = started.chromium.launch(executable_path=CHROMIUM, args=options)
        yield browser
        browser.close()

"""A viewer in a process of its own, a checkout with real hooks, and a real Chromium to look at it with."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, sync_playwright

from tests.hosts.running import preloaded

HOOK = Path(__file__).parents[2] / "src" / "holdfast" / "hosts" / "hooks" / "client.py"
CHROMIUM = "/usr/bin/chromium"
WIDTH, HEIGHT = 1280, 860


class Viewer:
    """A running `holdfast web`, stopped by its id when the test is over."""

    def __init__(self, home: Path, folder: Path, **changed: str) -> None:
        self.home = home
        self.environment = {**os.environ, "HOLDFAST_HOME": str(home), **changed}
        self.folder = folder
        command = [sys.executable, "-m", "holdfast", "web", "--port", "0", "--no-open"]
        self.process = subprocess.Popen(command, cwd=folder, env=self.environment, stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        first = self.process.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+/\?key=\S+", first)
        assert found, first + self.process.stderr.read()
        self.link = found[0]
        self.port = int(urlsplit(self.link).port or 0)
        self.base = f"http://127.0.0.1:{self.port}"
        self.token = (home / "http-token").read_text().strip()

    def close(self) -> None:
        """Stop it and wait."""
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(timeout=120)
        assert self.process.stderr is not None
        self.process.stderr.close()

    def run(self, *arguments: str) -> str:
        """Run another command on the same store."""
        done = preloaded(arguments, self.folder, self.environment)
        assert done.returncode == 0, done.stderr
        return done.stdout


def checkout(folder: Path, remote: str) -> Path:
    """Make a checkout of a project."""
    folder.mkdir(parents=True)
    for command in (("init", "-q"), ("remote", "add", "origin", f"https://{remote}.git")):
        subprocess.run(["git", "-C", str(folder), *command], check=True, capture_output=True)
    return folder


def hook(home: Path, event: str, folder: Path, session: str, **given: Any) -> str:
    """Run the real hook as a client does, and give what it answered."""
    told = {"session_id": session, "cwd": str(folder), "hook_event_name": event, **given}
    environment = {**os.environ, "HOLDFAST_HOME": str(home)}
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(HOOK), event, "--home", str(home)],
        input=json.dumps(told),
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@contextmanager
def chromium() -> Iterator[Browser]:
    """Give Debian's Chromium."""
    with sync_playwright() as started:
        browser = started.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--force-color-profile=srgb", "--disable-gpu"]
        )
        yield browser
        browser.close()


def wait_for(check: Any, seconds: float = 60.0) -> None:
    """Wait until something is so."""
    until = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < until, "it did not come to be"
        time.sleep(0.05)

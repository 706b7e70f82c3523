"""The identity that an address gives, beside the host that git itself contacts for it."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from holdfast.adapters.checkout import GitCheckout
from holdfast.model.scope import PORTS, project_of_remote, without_userinfo

LOG = "import json, sys; open(sys.argv[1], 'a').write(json.dumps(sys.argv[2:]) + chr(10)); sys.exit(1)"
# Every way to write an address that came to mind, with honest and with hostile intent. {} is tried as other hosts, too.
SPELLINGS = [
    json.loads(line)
    for line in Path(__file__).with_name("addresses.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]


@pytest.fixture(scope="module")
def contacted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], str]]:
    """Return which host:port git contacts for an address; "" if none. Nothing leaves the machine."""
    folder = tmp_path_factory.mktemp("git")
    seen = folder / "seen"
    for name in ("ssh", "proxy"):
        script = folder / name
        script.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{LOG}" {seen} {name} "$@"\n')
        script.chmod(0o700)

    class Proxy(BaseHTTPRequestHandler):
        def refuse(self) -> None:
            with seen.open("a") as log:
                log.write(json.dumps(["http", self.command, self.path]) + "\n")
            self.send_error(502)

        do_GET = do_CONNECT = refuse  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    proxy = f"http://127.0.0.1:{server.server_address[1]}"
    environment = {
        **os.environ,
        **dict.fromkeys(("http_proxy", "https_proxy", "all_proxy", "HTTPS_PROXY", "ALL_PROXY"), proxy),
        "no_proxy": "",
        "NO_PROXY": "",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_SSH": str(folder / "ssh"),
        "HOME": str(folder),
        "GIT_PROXY_COMMAND": str(folder / "proxy"),
        "GIT_SSH_VARIANT": "ssh",
        "GIT_CONFIG_NOSYSTEM": "1",
    }

    def ask(url: str) -> str:
        seen.write_text("")
        subprocess.run(
            ["git", "ls-remote", "--", url], cwd=folder, env=environment, capture_output=True, check=False, timeout=120
        )
        lines = [json.loads(line) for line in seen.read_text().splitlines()]
        return _host(*lines[0]) if lines else ""

    yield ask
    server.shutdown()
    server.server_close()


def _host(program: str, *arguments: str) -> str:
    """Return host:port of what git passed to ssh, to a proxy of its own protocol, or to an HTTP proxy."""
    if program == "proxy":
        return ":".join(arguments)
    if program == "http":
        method, target = arguments
        authority = target if method == "CONNECT" else target.split("//")[1].split("/")[0]
        return authority if authority.rpartition(":")[2].isdigit() else f"{authority}:80"
    port = arguments[arguments.index("-p") + 1] if "-p" in arguments else "22"
    host = next(word for word in arguments[::-1] if "git-upload-pack" not in word)
    return f"{host.rpartition('@')[2]}:{port}"


def test_an_identity_names_the_host_that_git_contacts(contacted: Callable[[str], str]) -> None:
    wrong, none = list[tuple[str, str | None, str]](), list[str]()
    for spelling in SPELLINGS:
        url = spelling.format("github.com")
        identity = project_of_remote(url)
        if identity is None:
            none.append(url)
            continue
        host = identity.partition("/")[0]
        usual = PORTS.get(url.partition("://")[0], 22)
        expected = host if host.rpartition(":")[2].isdigit() and not host.endswith("]") else f"{host}:{usual}"
        if expected.replace("[", "").replace("]", "") != contacted(url).lower().replace("[", "").replace("]", ""):
            wrong.append((url, identity, contacted(url)))
    assert wrong == []
    assert len(SPELLINGS) - len(none) >= 30  # the honest ones have an identity


def test_no_address_that_contacts_another_host_is_a_github_project(contacted: Callable[[str], str]) -> None:
    assert contacted("https://evil.test?@github.com/acme/secret") == "evil.test:443"  # what the attack relies on
    hostile = [one for one in SPELLINGS if "evil.test" in one]
    wrong = [
        (url, project_of_remote(url), contacted(url))
        for url in (one.format("github.com") for one in hostile)
        if (project_of_remote(url) or "").startswith("github.com/") and not contacted(url).startswith("github.com:")
    ]
    assert wrong == []


def test_what_is_shown_of_an_address_keeps_its_host() -> None:
    assert without_userinfo("https://evil.test?@github.com/x") == "https://evil.test?@github.com/x"
    assert without_userinfo("https://ada:pa/ss@github.com/x") == "https://github.com/x"


def test_the_address_is_the_one_git_fetches_from(tmp_path: Path) -> None:
    def identity(*settings: str) -> str:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        subprocess.run(["git", "init", "-q", str(folder)], check=True)
        for setting in settings:
            subprocess.run(["git", "-C", str(folder), "config", "--add", *setting.split("=", 1)], check=True)
        return GitCheckout(folder).project().replace(str(folder), "path")

    assert identity() == "path"
    assert identity("remote.up.url=git@git.corp:a/b", "remote.fork.url=git@git.corp:c/d") == "git.corp/a/b"
    assert identity("remote.up.url=git@git.corp:a/b", "remote.origin.url=git@git.corp:c/d") == "git.corp/c/d"
    assert identity("url.git@git.corp:.insteadOf=corp:", "remote.origin.url=corp:a/b") == "git.corp/a/b"
    assert identity("remote.origin.url=git@git.corp:a/b", "remote.origin.url=git@git.corp:c/d") == "git.corp/a/b"
    assert identity("remote.origin.url=https://evil.test?@git.corp/a/b") == "path"

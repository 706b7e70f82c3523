"""What Windows and macOS decide differently, as far as it can be seen from elsewhere: paths, processes, quoting."""

import ctypes
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import platformdirs.windows
import pytest
from platformdirs.macos import MacOS
from platformdirs.unix import Unix

from holdfast.adapters.process import is_alive
from holdfast.engine.locks import lock_file, try_lock
from holdfast.hosts.hooks import hook
from holdfast.hosts.setup import clients as shapes
from holdfast.hosts.setup.machine import Installation
from holdfast.model import files
from tests.conftest import ran
from tests.replicas.seats import git
from tests.rows import some


@pytest.mark.parametrize("moved", ["", "/data"], ids=["as usual", "moved by XDG_DATA_HOME"])
def test_hooks_and_commands_agree_on_the_folder_of_the_store(monkeypatch: pytest.MonkeyPatch, moved: str) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.setenv("LOCALAPPDATA", "/users/ada/local")
    monkeypatch.setenv("XDG_DATA_HOME", moved)
    by_variables = platformdirs.windows.get_win_folder_from_env_vars
    monkeypatch.setattr(platformdirs.windows, "get_win_folder", by_variables)  # the registry is not here
    systems: dict[str, Any] = {"linux": Unix, "darwin": MacOS, "win32": platformdirs.windows.Windows}
    for system, folders in systems.items():
        monkeypatch.setattr(sys, "platform", system)
        assert files.data_folder() == str(folders("holdfast", appauthor=False).user_data_path), system


def test_nobody_is_asked_by_a_signal_on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """There 11 runs, 12 has ended, 13 is somebody else's, and no other is known."""

    def exit_code(process: int, code: Any) -> int:
        code._obj.value = 259 if process == 11 else 0
        return 1

    asked, closed, found = 0, list[int](), {}
    kernel = SimpleNamespace(
        OpenProcess=lambda wanted, inherit, pid: pid * ((wanted, inherit) == (0x1000, False) and pid in (11, 12)),
        GetLastError=lambda: 5 if asked == 13 else 87,
        GetExitCodeProcess=exit_code,
        CloseHandle=closed.append,
    )
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(ctypes, "windll", SimpleNamespace(kernel32=kernel), raising=False)
    monkeypatch.setattr(os, "kill", lambda *_: pytest.fail("there it would press Ctrl-C"))
    for asked in (11, 12, 13, 14):
        found[asked] = is_alive(asked)
    assert found == {11: True, 12: False, 13: True, 14: False}
    assert closed == [11, 12]


# What Windows does not have is taken away, and its locks are played by ours; the standard library is loaded before.
WITHOUT_POSIX = """
import asyncio, ctypes, fcntl, getpass, os, platform, signal, socket, subprocess, sys, tempfile, types
import click, platformdirs, rich.console

locks = fcntl.flock, fcntl.LOCK_EX | fcntl.LOCK_NB
sys.modules["msvcrt"] = types.SimpleNamespace(locking=lambda handle, mode, size: locks[0](handle, locks[1]), LK_NBLCK=2)
sys.modules |= dict.fromkeys(("fcntl", "termios", "pwd", "grp", "resource", "tty"))
for module, names in ((os, "fork geteuid getuid setsid killpg O_NOFOLLOW O_NONBLOCK fchmod statvfs uname"), (signal, "SIGALRM setitimer")):
    for name in names.split():
        delattr(module, name)
os.supports_dir_fd, sys.platform = set(), "win32"
from holdfast.hosts.cli.main import _run
for line in sys.argv[1:]:
    print(_run(line.split()), line, flush=True)
"""


def test_commands_need_nothing_that_only_posix_has(tmp_path: Path, own_home: Path) -> None:
    (tmp_path / "a.py").write_text("LIMIT = 5\n")
    git(tmp_path, "init", "-q")
    lines = ["store separate --at .holdfast", "remember --anchor a.py::LIMIT=5 Five.", "recall --words five"]
    lines += ["verify --all", "doctor", "work", "brief", "store backup", "init --client codex --yes"]
    lines += ["uninstall --yes", "store maintain", "undo"]
    environment = {**os.environ, "HOME": str(own_home), "LOCALAPPDATA": str(own_home), "HOLDFAST_EMBEDDER": "none"}
    done = ran([sys.executable, "-c", WITHOUT_POSIX, *lines], tmp_path, env=environment)
    assert [line for line in lines if f"0 {line}\n" not in done.stdout] == [], done.stdout + done.stderr


def test_a_lock_of_windows_is_taken_or_another_holds_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    held: list[bool] = []

    def locking(_handle: int, mode: int, size: int) -> None:
        assert (mode, size) == (2, 1)
        if held:
            raise PermissionError(13, "locked by another process")
        held.append(True)

    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(locking=locking, LK_NBLCK=2))
    lock = lock_file(tmp_path / "lock")
    assert [try_lock(lock), try_lock(lock)] == [True, False]


def test_a_process_is_alive_until_it_ends() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        assert is_alive(process.pid)
    assert (is_alive(process.pid), is_alive(1)) == (False, True)


def test_the_worker_is_started_detached_on_windows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    started: list[tuple[list[str], dict[str, Any]]] = []
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(os, "kill", lambda *_: pytest.fail("there it would press Ctrl-C"))
    monkeypatch.setattr(subprocess, "Popen", lambda command, **how: started.append((command, how)))
    (tmp_path / "work.lock").write_text("11")
    hook.wake(str(tmp_path), str(tmp_path))
    ((command, how),) = started
    assert command == [sys.executable, "-P", "-m", "holdfast", "--home", str(tmp_path), "work"]
    assert how.pop("env") == dict(os.environ)
    assert how == {"cwd": str(tmp_path), "creationflags": 0x208, "close_fds": True}  # detached, its own group


def test_command_lines_of_hooks_survive_spaces_in_paths_of_windows() -> None:
    python, hook = "C:/Program Files/Python313/python.exe", "C:/Users/Ada L/holdfast/client.py"
    windows = Installation(python=python, hook=hook, windows=True)
    assert windows.hook_line("PreToolUse", "claude-code").startswith(f'"{python}" -I -S "{hook}" PreToolUse')
    copilot = some(shapes.BY_NAME["copilot"].hooks).entries(windows, "copilot")
    assert all(one["powershell"].startswith('& "C:/Program Files/') for _, one in copilot)
    assert "\\" not in json.dumps(shapes.stdio(windows))

"""A process that has imported the command line and forks for each command, so that tests do not wait for the imports.

`python -m tests.hosts.preloaded FD`: each message on the socket FD brings five files: a request in JSON with the
arguments, the folder and the environment of a command; its stdin, stdout and stderr; and a pipe for its exit code. A
command runs in a process of its own from the program's entry point, as if a shell had started it. A request may bring
a program in Python that runs instead.
"""

import atexit
import gc
import importlib
import io
import json
import os
import pkgutil
import signal
import socket
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory

import holdfast
from holdfast.hosts.cli.main import _run as run_command

ENTRY = "from holdfast.hosts.cli.entry import main; main()"
# Programs, and what needs other projects' packages or starts threads; numpy has one, as `holdfast.compose` says.
LEFT_OUT: tuple[str, ...] = ("holdfast.__main__", "holdfast.engine.search.vectors")
LEFT_OUT += ("holdfast.adapters.embedders.", "holdfast.integrations.")
WARMING = (
    "remember|--kind|preference|--source|inferred|The user likes short answers.",
    *("remember|--json|Deploys run from the main branch.", "recall|main branch", "recall|--json|main branch", "list"),
    *("list|--json", "status", "status|--json", "review|list", "session|start", "session|list", "brief", "config"),
)


def serve(requests: socket.socket) -> None:
    """Fork for each request until the other end is closed."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the children: their pipe shows how they ended
    while True:
        message, files, _, _ = socket.recv_fds(requests, 1, 5)
        if not message:
            return
        if os.fork() == 0:
            requests.close()
            _run(files)
        for file in files:
            os.close(file)


def _run(files: list[int]) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    request, *standard, exit_code = files
    with os.fdopen(request) as file:
        asked = json.load(file)
    for number, opened in enumerate(standard):
        os.dup2(opened, number)
        os.close(opened)
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    time.tzset()
    sys.argv = ["holdfast", *asked["arguments"]]
    if "names_itself" in asked:
        os.write(exit_code, str(os.getpid()).encode())
    code = 1
    try:
        exec(asked["program"] or ENTRY, {"__name__": "__main__"})
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:  # noqa: BLE001  as the interpreter does at its top
        sys.excepthook(*sys.exc_info())
    finally:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os.write(exit_code, str(code).encode())
        os._exit(code)


def _preload() -> None:
    """Import what commands and servers need, and nothing that starts threads, which do not survive a fork."""
    gc.disable()
    for found in pkgutil.walk_packages(holdfast.__path__, "holdfast."):
        if not found.name.startswith(LEFT_OUT):
            importlib.import_module(found.name)
    _warm()
    for name in ("numpy", "uvicorn"):
        importlib.import_module(name)
    tasks = Path("/proc/self/task")
    assert not tasks.exists() or len(list(tasks.iterdir())) == 1
    gc.freeze()
    gc.enable()


def _warm() -> None:
    """Run a few commands here, for what the first of its kind imports and compiles: templates, patterns, colours."""
    before, folder = dict(os.environ), Path.cwd()
    with TemporaryDirectory() as home, redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as said:
        os.chdir(home)
        os.environ.update(HOME=home, HOLDFAST_HOME=f"{home}/store", HOLDFAST_EMBEDDER="none", HOLDFAST_STARTERS="false")
        for words in WARMING:
            assert run_command(words.split("|")) == 0, (words, said.getvalue())
        os.chdir(folder)
    os.environ.clear()
    os.environ.update(before)


if __name__ == "__main__":
    _preload()
    serve(socket.socket(fileno=int(sys.argv[1])))

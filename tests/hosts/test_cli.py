"""The command line, as a person or a program uses it: real processes on real stores."""

import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest

import holdfast
from holdfast.compose import worker_lock
from holdfast.model.ids import short
from holdfast.verbs.search.recall import CATCH_UP
from tests.hosts.running import Run, answer, ended, kept
from tests.hosts.scripts import scripts_in
from tests.rows import rows

scripts_in(globals())


def test_broken_utf8_in_an_argument_is_refused(run: Run) -> None:
    ended(run("remember", os.fsdecode(b"caf\xe9")), 64, "not valid UTF-8")


def filled(home: Path, count: int) -> dict[str, str]:
    """Fill a store; return the variables that lead to it."""
    with holdfast.open(home=home, project="shop", settings={"embedder": "none"}) as memory:
        for number in range(count):
            memory.remember(f"Note number{number} about topic{number} and matter{number}.")
    return {"HOLDFAST_HOME": str(home), "HOLDFAST_PROJECT": "shop"}


@pytest.mark.embedded
def test_a_question_before_many_vectors_are_there_starts_the_worker(run: Run, tmp_path: Path) -> None:
    there = {**filled(tmp_path / "there", CATCH_UP + 1), "HOLDFAST_EMBEDDER": "local"}
    assert answer(run("recall", "topic3", "--json", **there))["lagging"] == CATCH_UP + 1
    for _ in range(300):
        if answer(run("status", "--json", **there))["lagging"] == 0:
            with worker_lock(tmp_path / "there") as is_over:
                if is_over:
                    return
        time.sleep(0.2)
    pytest.fail("no worker made the vectors")


@pytest.mark.embedded
def test_a_reader_that_leaves_early_is_no_error_of_ours(tmp_path: Path) -> None:
    there = {**os.environ, **filled(tmp_path / "there", 30), "HOLDFAST_EMBEDDER": "none"}
    for unbuffered, piped in rows("outputs_that_end_early"):
        command = ["bash", "-c", f"set -o pipefail; {sys.executable} -m holdfast {piped}"]
        environment = {**there, "PYTHONUNBUFFERED": unbuffered}
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False)
        said = b"The output: No space" if "full" in piped else b""
        assert (done.returncode, said in done.stderr, bool(said)) == (5 * bool(said), True, bool(done.stderr)), piped


def test_people_get_local_and_relative_times_and_commands_to_type(run: Run) -> None:
    begun = answer(run("session", "start", "--title", "Rate limits", "--json", HOLDFAST_AGENT="claude"))
    first = begun["session"]["id"]
    memory = kept(run, "The limiter counts per key.")
    for command in rows("commands_that_tell_times"):
        done = run(*shlex.split(command.format(memory=memory, session=first)))
        assert done.returncode == 0, (command, done.stderr)
        assert not re.search(r"\d{4}-\d\d-\d\d|[a-z]+\([a-z]|=true", done.stdout), done.stdout
    assert f"{short(first)} just now [open, claude] Rate limits" in run("session", "list").stdout
    assert "[emerging, touched just now] Load-test the limiter" in run("thread", "list").stdout

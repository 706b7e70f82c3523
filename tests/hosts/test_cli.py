"""The command line, as a person or a program uses it: real processes on real stores."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import holdfast
from holdfast.compose import worker_lock
from holdfast.verbs.search.recall import CATCH_UP
from tests import engines
from tests.hosts.running import Run, answer, kept
from tests.hosts.scripts import scripts_in

globals().update(scripts_in(__file__))


def test_a_text_that_is_too_long_is_refused(run: Run) -> None:
    done = run("remember", "x" * 100_001)
    assert (done.returncode, "100,000 is the most" in done.stderr) == (64, True)


def test_broken_utf8_in_an_argument_is_refused(run: Run) -> None:
    done = run("remember", os.fsdecode(b"caf\xe9"))
    assert done.returncode == 64
    assert "not valid UTF-8" in done.stderr


def test_a_folder_others_own_is_said_clearly(tmp_path: Path) -> None:
    """Runs as somebody who may read but not write, whoever runs the tests."""
    from holdfast.compose import open_memory
    from holdfast.compose.settings import load_settings
    from holdfast.model.errors import StoreUnwritable

    settings = load_settings(environment={}, flags={"home": str(tmp_path / "h"), "embedder": "none"})
    open_memory(settings).close()
    for path in (tmp_path / "h" / "holdfast.db", tmp_path / "h", tmp_path):
        path.chmod(0o555)
    for parent in tmp_path.parents:
        if parent.stat().st_uid == os.geteuid() and os.geteuid() == 0 and str(parent).startswith("/tmp/"):
            parent.chmod(0o755)
    reader, writer = os.pipe()
    if os.fork() == 0:
        try:
            if os.geteuid() == 0:
                os.seteuid(65534)
            open_memory(settings).close()
            os.write(writer, b"opened")
        except StoreUnwritable as problem:
            os.write(writer, str(problem).encode())
        finally:
            os._exit(0)
    os.wait()
    said = os.read(reader, 10_000).decode()
    (tmp_path / "h").chmod(0o755)
    assert "cannot be written" in said
    assert "HOLDFAST_HOME" in said


def test_rebuild_and_doctor_mend_what_disagrees(run: Run, tmp_path: Path) -> None:
    kept(run, "The staging database is reset every night.")
    home = {"HOLDFAST_HOME": str(tmp_path / "h")}
    kept_there = answer(run("remember", "--json", "Another thing entirely.", **home))["record"]["id"]
    db = engines.database(tmp_path / "h")
    db.execute("update records set doc = replace(doc, 'entirely', 'wrongly')")
    db.close()
    done = run("doctor", **home)
    assert (done.returncode, "holdfast store rebuild" in done.stdout) == (5, True)
    assert answer(run("store", "rebuild", "--json", **home)) == {"rebuilt": "views", "records": 1}
    assert run("doctor", **home).returncode == 0
    assert "entirely" in run("show", kept_there, **home).stdout
    assert all(not check["fix"] for check in answer(run("doctor", "--json", **home)))


@pytest.mark.embedded
def test_a_question_before_many_vectors_are_there_starts_the_worker(run: Run, tmp_path: Path) -> None:
    home, project = tmp_path / "there", "shop"
    with holdfast.open(home=home, project=project, settings={"embedder": "none"}) as memory:
        for number in range(CATCH_UP + 1):
            memory.remember(f"Note number{number} about topic{number} and matter{number}.")
    there = {"HOLDFAST_HOME": str(home), "HOLDFAST_PROJECT": project, "HOLDFAST_EMBEDDER": "local"}
    assert answer(run("recall", "topic3", "--json", **there))["lagging"] == CATCH_UP + 1
    for _ in range(300):
        if answer(run("status", "--json", **there))["lagging"] == 0:
            with worker_lock(home) as is_over:
                if is_over:
                    return
        time.sleep(0.2)
    pytest.fail("no worker made the vectors")


@pytest.mark.parametrize(
    ("unbuffered", "piped"), [("", "store export | head -n 1"), ("1", "list --limit 5 | grep --quiet Note")]
)
def test_a_reader_that_leaves_early_is_no_error_of_ours(
    run: Run, tmp_path: Path, own_home: Path, unbuffered: str, piped: str
) -> None:
    for number in range(30):
        kept(run, f"Note number{number} about topic{number} and matter{number}.")
    command = ["bash", "-c", f"set -o pipefail; {sys.executable} -m holdfast {piped}"]
    own = {"HOLDFAST_EMBEDDER": "none", "PYTHONUNBUFFERED": unbuffered, **engines.setting(str(own_home))}
    done = subprocess.run(command, cwd=tmp_path / "work", env={**os.environ, **own}, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")

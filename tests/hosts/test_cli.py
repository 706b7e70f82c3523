"""The command line, as a person or a program uses it: real processes on real stores."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import holdfast
from holdfast.compose.locks import worker_lock
from holdfast.verbs.search.recall import CATCH_UP
from tests import engines
from tests.conftest import new_file, new_folder
from tests.hosts.running import Run, answer, kept
from tests.hosts.scripts import scripts_in

globals().update(scripts_in(__file__))


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("remember", ""), 64, "empty"),
        (("remember", "x" * 100_001), 64, "100,000 is the most"),
        (("remember", "--kind", "scra", "x"), 64, "Did you mean scar?"),
        (("remember", "--scope", "Bad Scope", "x"), 64, "is not a scope"),
        (("remember", "--field", "nope", "x"), 64, "NAME=VALUE"),
        (("remember", "we use redis for now"), 4, "suggests this will change"),
        (("remember", "the key is AKIA" + "IOSFODNN7EXAMPLQ"), 4, "contains credentials"),
        (("show", "01ARZ3NDEKTSV4RRFFQ69G5FAV"), 3, "There is no memory"),
        (("show", "!!"), 64, "is not an id"),
        (("recall", "--since", "soon", "x"), 64, "is not a date"),
        (("recall",), 64, "Missing argument"),
        (("rcall", "x"), 64, "Did you mean `holdfast recall`?"),
        (("forget", "01ARZ3NDEKTSV4RRFFQ69G5FAV"), 64, "A reason is required"),
        (("store", "import", "nowhere.jsonl"), 64, "cannot be read"),
        (("list", "--limit", "0"), 64, "limit"),
    ],
)
def test_a_mistake_is_answered_with_one_clear_line(run: Run, arguments: tuple[str, ...], code: int, says: str) -> None:
    done = run(*arguments)
    assert done.returncode == code
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_text_comes_from_stdin_when_asked(run: Run) -> None:
    assert run("remember", "-", stdin="Piped in from elsewhere.\n").returncode == 0
    assert run("remember", "-", stdin=b"\xff\xfe broken").returncode == 64
    assert run("remember", "-", stdin=b"nul \0 byte").returncode == 64
    assert run("remember", "-", stdin=b"").returncode == 64
    assert answer(run("list", "--json"))["total"] == 1


def test_broken_utf8_in_an_argument_is_refused(run: Run) -> None:
    done = run("remember", os.fsdecode(b"caf\xe9"))
    assert done.returncode == 64
    assert "not valid UTF-8" in done.stderr


def test_an_export_is_taken_in_elsewhere_and_taking_it_twice_changes_nothing(run: Run, tmp_path: Path) -> None:
    first = kept(run, "The staging database is reset every night.")
    second = kept(run, "Payments are settled in euros only.", "--kind", "decision", "--field", "rationale=law")
    run("forget", first, "--reason", "moved")
    run("judge", "applied", second)
    assert answer(run("store", "export", "-o", str(tmp_path / "out.jsonl"), "--json")) == {
        "output": str(tmp_path / "out.jsonl"),
        "events": 4,
    }
    assert (tmp_path / "out.jsonl").stat().st_mode & 0o777 == 0o600
    there = {"HOLDFAST_HOME": str(tmp_path / "other")}
    assert answer(run("store", "import", str(tmp_path / "out.jsonl"), "--json", **there)) == {"events": 4, "records": 2}
    assert answer(run("store", "import", str(tmp_path / "out.jsonl"), "--json", **there)) == {"events": 4, "records": 0}
    assert (
        run("store", "export", **there).stdout == run("store", "export").stdout == (tmp_path / "out.jsonl").read_text()
    )
    assert run("show", second, "--json", **there).stdout == run("show", second, "--json").stdout


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense\n",
        "{}\n",
        '{"holdfast": "export", "format": 99}\n',
        '{"holdfast": "export", "format": 1}\n{"id": 5}\n',
        '{"holdfast": "export", "format": 1}\n' + "[" * 100_000,
    ],
)
def test_what_is_no_export_is_refused_with_its_line(run: Run, tmp_path: Path, text: str) -> None:
    (tmp_path / "bad.jsonl").write_text(text)
    done = run("store", "import", str(tmp_path / "bad.jsonl"))
    assert done.returncode == 64
    assert "Traceback" not in done.stderr
    assert answer(run("list", "--json"))["total"] == 0


def test_settings_come_from_files_variables_and_defaults(run: Run, tmp_path: Path, own_home: Path) -> None:
    work = tmp_path / "work"
    user = new_file(own_home / ".config" / "holdfast" / "config.toml", "recall_limit = 3\nrecall_budget = 500\n")
    (work / ".holdfast").mkdir()
    (work / ".holdfast" / "config.toml").write_text("recall_budget = 700\n")
    shown = answer(run("config", "--json", XDG_CONFIG_HOME=str(own_home / ".config"), HOLDFAST_PENDING_DAYS="2"))
    assert shown["recall_limit"] == {"value": 3, "source": str(user)}
    assert shown["recall_budget"] == {"value": 700, "source": str(work / ".holdfast" / "config.toml")}
    assert shown["pending_days"] == {"value": 2, "source": "HOLDFAST_PENDING_DAYS"}
    assert shown["agent"] == {"value": "", "source": "default"}
    assert "Maximum number of recall results." in run("config").stdout
    flagged = answer(
        run("--home", str(tmp_path / "h"), "--set", "recall_limit=7", "config", "--json", HOLDFAST_RECALL_LIMIT="9")
    )
    assert flagged["recall_limit"] == {"value": 7, "source": "flag"}
    assert flagged["home"] == {"value": str(tmp_path / "h"), "source": "flag"}
    assert run("--set", "recal_limit=7", "config").returncode == 64
    changed = run("config", "set", "recall_limit", "6", XDG_CONFIG_HOME=str(own_home / ".config"))
    assert (changed.returncode, user.read_text()) == (0, "recall_limit = 6\nrecall_budget = 500\n")
    for wrong in (("set",), ("set", "recall_limit"), ("recall_limit", "many"), ("recal_limit", "6"), ("nonsense",)):
        assert run("config", *wrong).returncode == 64, wrong


def test_keys_and_passwords_are_not_shown(run: Run) -> None:
    shown = run("config", HOLDFAST_EMBEDDER_KEY="hush", HOLDFAST_DATABASE="postgresql://me:hush@db/x").stdout
    assert "hush" not in shown


@pytest.mark.embedded
def test_a_foreign_or_corrupt_file_is_refused_and_left_alone(run: Run, tmp_path: Path) -> None:
    import sqlite3

    home = new_folder(tmp_path / "h")
    path = home / "holdfast.db"
    path.write_bytes(b"this is not a database, but a long enough text to be read as one" * 100)
    before = path.read_bytes()
    for command in (("list",), ("remember", "x"), ("doctor",)):
        done = run(*command, HOLDFAST_HOME=str(home))
        assert (done.returncode, "Traceback" in done.stderr) == (5, False)
    assert path.read_bytes() == before
    path.unlink()
    foreign = sqlite3.connect(path)
    foreign.execute("create table theirs (x)")
    foreign.close()
    done = run("list", HOLDFAST_HOME=str(home))
    assert (done.returncode, "another program" in done.stderr) == (5, True)


@pytest.mark.embedded
def test_a_folder_that_cannot_be_written_is_said_clearly(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    done = run("remember", "x", HOLDFAST_HOME=str(tmp_path / "file"))
    assert (done.returncode, "Set HOLDFAST_HOME" in done.stderr) == (5, True)
    done = run("remember", "x", HOLDFAST_HOME="/proc/nowhere")
    assert (done.returncode, "Traceback" in done.stderr) == (5, False)


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


def test_output_that_nobody_reads_to_the_end_is_no_error(run: Run, tmp_path: Path, own_home: Path) -> None:
    for number in range(30):
        kept(run, f"Note number{number} about topic{number} and matter{number}.")
    command = f"{sys.executable} -m holdfast store export | head -n 1"
    own = engines.setting(str(own_home))
    environment = {**os.environ, "HOLDFAST_EMBEDDER": "none", "PYTHONUNBUFFERED": "", **own}
    done = subprocess.run(
        ["sh", "-c", command], cwd=tmp_path / "work", env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout.startswith('{"holdfast": "export"')
    assert done.stderr == ""


def test_a_reader_that_leaves_early_is_no_error_of_ours(run: Run, tmp_path: Path, own_home: Path) -> None:
    for number in range(5):
        kept(run, f"Note number{number} about topic{number} and matter{number}.")
    command = f"set -o pipefail; {sys.executable} -m holdfast list --limit 5 | grep --quiet Note"
    own = engines.setting(str(own_home))
    environment = {**os.environ, "HOLDFAST_EMBEDDER": "none", "PYTHONUNBUFFERED": "1", **own}
    done = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path / "work", env=environment, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.embedded
def test_reading_by_words_imports_neither_numpy_nor_the_encoder(run: Run, tmp_path: Path) -> None:
    kept(run, "The staging database is reset every night.")
    code = """
import sys
from holdfast.compose import open_memory
from holdfast.model.query import Query
from holdfast.verbs.search.recall import recall
assert recall(open_memory(), Query(text="staging database", words_only=True)).hits
print(sorted({"numpy", "onnxruntime", "holdfast.adapters.embedders.wordpiece", "rich", "click", "asyncio"} & set(sys.modules)))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path / "work", capture_output=True, text=True, check=False
    )
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_memories_are_checked_against_the_code_from_the_command_line(run: Run, tmp_path: Path) -> None:
    code = new_folder(tmp_path / "code")
    (code / "app.py").write_text("LIMIT = 5\n\n\ndef pay():\n    return LIMIT\n")
    author = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
    for step in (["init", "-q", "-b", "main"], ["add", "-A"], [*author, "commit", "-qm", "begin"]):
        subprocess.run(["git", *step], cwd=code, check=True)
    one = answer(run("remember", "--team", "--anchor", "app.py::LIMIT=5", "The limit is five.", "--json", cwd=code))
    name = one["record"]["id"]
    assert run("verify", name, cwd=code).returncode == 0
    assert run("verify", "--all", cwd=code).returncode == 0
    assert run("verify", cwd=code).returncode == 64
    subprocess.run(["git", "checkout", "-qb", "work"], cwd=code, check=True)
    (code / "app.py").write_text("LIMIT = 7\n\n\ndef pay():\n    return LIMIT\n")
    subprocess.run(["git", *author, "commit", "-qam", "Raise it"], cwd=code, check=True)
    checked = run("verify", "--all", "--json", cwd=code)
    assert (checked.returncode, json.loads(checked.stdout)[0]["action"]) == (1, "revise")
    assert "it is 7 now" in run("check", cwd=code).stdout
    assert run("check", "--base", "nowhere", cwd=code).returncode == 64
    assert "it is 7 now" in run("verify", name, cwd=code).stderr
    assert "changed" in run("recall", "--words", "limit", cwd=code).stdout
    assert answer(run("show", name, "--level", "files", "--json", cwd=code))["files"][0]["text"].startswith("LIMIT = 5")
    assert run("revise", name, "--text", "The limit is seven.", "--anchor", "app.py::LIMIT=7", cwd=code).returncode == 0
    assert "no team memory untrue" in run("check", cwd=code).stdout


def test_fields_that_are_missing_are_refused_with_the_words_that_give_them(run: Run) -> None:
    refused = run("remember", "--kind", "scar", "Migrations on orders lock the table.")
    assert refused.returncode == 64
    hint = "--field severity=critical --field counter_arguments=… --field counter_arguments=…"
    assert hint in " ".join(refused.stderr.split())
    one = run("remember", "--kind", "scar", "--field", "severity=high", "--field", "counter_arguments=small", "Locks.")
    assert "at least 2" in one.stderr
    given = (word.replace("…", f"reason {nth}") for nth, word in enumerate(hint.split()))
    scar = kept(run, "--kind", "scar", *given, "Migrations on orders lock the table.")
    revised = run("revise", scar, "--field", "severity=awful")
    assert revised.returncode == 64
    assert "--field severity=critical" in revised.stderr

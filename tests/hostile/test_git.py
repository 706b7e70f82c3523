"""Repositories, names and notes that somebody made to do harm: git is asked about them, runs nothing and is told nothing by them."""

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from unittest.mock import patch

import pytest

from holdfast.adapters.checkout import GitCheckout
from holdfast.adapters.replicas import git_notes
from holdfast.adapters.replicas.git_notes import line_of
from holdfast.model.errors import ReplicaError
from holdfast.model.ids import Clock
from holdfast.policy.admission.sharing import with_team
from holdfast.verbs.exchange.incoming import keep_events, passed
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.freshness import freshness, lost
from holdfast.verbs.records.read import get, hydrate
from holdfast.verbs.truth.verify import check_all, check_change
from tests.conftest import Time, keep, make_memory, new_folder, ran, recorded
from tests.hostile.texts import NASTY
from tests.hosts.running import hooked, kept, runner
from tests.replicas.seats import Seat, Seats, commit, git, seating, synced
from tests.rows import each, opened, refused, rows, sampled

HOOKS = "post-index-change reference-transaction pre-push post-checkout pre-auto-gc"
# Settings of .git/config whose value git runs, and what makes plain git run it.
SETTINGS = json.loads(Path(__file__).with_name("git_settings.json").read_text(encoding="utf-8"))
PROGRAMS = SETTINGS["programs"]


def program(folder: Path, name: str, log: Path) -> str:
    """Make a program that records that it ran."""
    path = folder / name
    path.write_text(f"#!/bin/sh\necho {name} >> '{log}'\ncat >/dev/null </dev/null\n")
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """Make a repository with two commits, the second with a signature, that lacks an object its remote promises."""
    folder, programs = new_folder(tmp_path / "hostile"), new_folder(tmp_path / "programs")
    log = tmp_path / "ran"
    git(folder, "init", "-q", "-b", "main")
    git(folder, "remote", "add", "origin", "https://example.org/acme/shop.git")
    (folder / ".holdfast" / "memories").mkdir(parents=True)
    commit(folder, ".holdfast/memories/2026-01-01-refunds.md", "Refunds go through the ledger.\n")
    commit(folder, ".gitattributes", "*.md diff=evil filter=evil\n")
    commit(folder, "app.py", "def pay():\n    return 1\n")
    commit(folder, "app.py", "def pay():\n    return 2\n")
    head, _, message = git(folder, "cat-file", "commit", "HEAD").partition("\n\n")
    signed = f"{head}\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n{message}\n"
    git(folder, "reset", "-q", git(folder, "hash-object", "-t", "commit", "-w", "--stdin", given=signed))
    git(folder, "-c", f"core.fsmonitor={program(programs, 'first', log)}", "update-index", "--fsmonitor")
    promised = git(folder, "rev-parse", "HEAD~1:app.py")
    (folder / ".git" / "objects" / promised[:2] / promised[2:]).unlink()
    for hook in HOOKS.split():
        program(programs, hook, log)
    values = {name: program(programs, name, log) for name in PROGRAMS} | {"core.hooksPath": str(programs)}
    values["remote.lazy.url"] = f"ext::{values['remote.lazy.url']}"
    for name, value in {**SETTINGS["helps"], **values}.items():
        git(folder, "config", name, value)
    for file in ("app.py", ".holdfast/memories/2026-01-01-refunds.md"):
        os.utime(folder / file, (1, 1))
    log.unlink(missing_ok=True)
    return folder


def started(repository: Path) -> set[str]:
    """Return the programs that ran since the last call."""
    log = repository.with_name("ran")
    names = set(log.read_text().split()) if log.exists() else set[str]()
    log.unlink(missing_ok=True)
    return names


def test_no_command_and_no_hook_runs_a_program_that_a_repository_names(
    hostile: Path, tmp_path: Path, own_home: Path
) -> None:
    store = {"HOLDFAST_HOME": str(tmp_path / "store")}
    run = partial(runner(hostile, own_home), **store)
    about = kept(run, "Payments return a number.", "--anchor", "app.py::pay", "--team")
    found = {"remember": started(hostile)}
    for command in SETTINGS["commands"]:
        done = run(*command.format(id=about).split())
        found[command] = started(hostile) | ({done.stderr} if done.returncode not in (0, 1) else set())
    for event in ("SessionStart", "UserPromptSubmit", "PreToolUse", "Stop"):
        hooked(store["HOLDFAST_HOME"], hostile, event, prompt="app.py", tool_name="Edit")
        found[event] = started(hostile)
    assert {name: names for name, names in found.items() if names} == {}


def test_plain_git_runs_them(hostile: Path) -> None:
    """Without this, the test above could pass because nothing was set up."""
    for setting, command in PROGRAMS.items():
        ran(["git", *command.split()], hostile)
        assert ("reference-transaction" if setting == "core.hooksPath" else setting) in started(hostile)


@pytest.fixture
def here(tmp_path: Path, time: Time) -> Iterator[Memory]:
    code = new_folder(tmp_path / "code")
    git(code, "init", "-q", "-b", "main")
    commit(code, "app.py", "def pay():\n    return 1\n")
    with make_memory(tmp_path, time) as memory:
        yield replace(memory, checkout=GitCheckout(code, memory.project))


def arrived(memory: Memory, name: str) -> str:
    """Let a record arrive from the team in which every name git could be asked about is this one."""
    told = {
        "title": "Refunds",
        "kind": "fact",
        "visibility": "team",
        "anchors": ["app.py::pay"],
        "origin": {"branch": name, "commit": name},
        "seen": {"commit": name, "marks": {"app.py::pay": {"blob": name, "hash": "x", "first": 1, "last": 2}}},
    }
    event = recorded(memory.clock, f"Refunds go through the ledger {name[:20]!a}.", **told)
    found = passed(memory, [event], with_team(memory.project))
    assert not found.remarks
    keep_events(memory, found.events)
    return event.id


ODD = sampled([text for text in NASTY if text and text.isprintable() and not set(text) & set("\0{}")], 6)


@each("option", ["--output={}", "--output={} --all", "-o{}", "HEAD --output={}", "--batch", "--all", *ODD])
def test_a_name_that_reads_like_an_option_is_none(here: Memory, tmp_path: Path, option: str) -> None:
    precious = tmp_path / "precious.txt"
    precious.write_text("untouched")
    about = arrived(here, option.format(precious))
    record = get(here, about).record
    assert record.origin.commit == ("" if option.startswith("<private>") else option.format(precious))
    freshness(here, [record])
    shown = hydrate(here, about, "files")
    assert (shown.commit, [one["path"] for one in shown.files]) == (None, ["app.py"])
    check_change(here, "HEAD")
    assert check_all(here)
    assert isinstance(lost(here), dict)
    assert precious.read_text() == "untouched"
    assert sorted(one.name for one in (tmp_path / "code").iterdir()) == [".git", "app.py"]


REF = "refs/notes/holdfast/learnings"
seats = opened(lambda tmp_path: seating("notes", tmp_path))


def pushed(seat: Seat, path: str, content: bytes, *, mode: str = "100644") -> None:
    """Put a blob at any path of the notes, as no `git notes` would, and push it."""
    file = seat.folder / "content"
    file.write_bytes(content)
    blob = git(seat.folder, "hash-object", "-w", "content")
    file.unlink()
    if mode == "160000":
        blob = git(seat.folder, "rev-parse", "HEAD")
    kind = "commit" if mode == "160000" else "blob"
    for name in reversed(path.split("/")):
        blob = git(seat.folder, "mktree", "-z", given=f"{mode} {kind} {blob}\t{name}\0")
        mode, kind = "040000", "tree"
    made = git(seat.folder, "commit-tree", blob, "-p", REF, "-m", "hostile")
    git(seat.folder, "update-ref", REF, made)
    git(seat.folder, "push", "-q", "-f", "origin", f"{REF}:{REF}")


def erasing() -> bytes:
    """Give a line about a record and one that erases it: the first is rewritten when notes are written."""
    told = recorded(clock := Clock(), "x", kind="fact", visibility="team")
    gone = replace(told, id=clock.tick(), verb="erased", data={})
    return f"{line_of(told)}\n{line_of(gone)}\n".encode()


def refs(seat: Seat) -> str:
    return git(seat.folder, "for-each-ref", "refs/heads", "refs/tags", "refs/remotes")


def test_the_name_of_a_note_is_never_taken_for_a_command(seats: Seats) -> None:
    ada, eve = seats("ada"), seats("eve")
    record = keep(ada.memory, "Refunds go through the ledger.", visibility="team")
    synced(ada, eve)
    head, before = git(eve.folder, "rev-parse", "HEAD"), refs(ada)
    paths: list[str] = rows("names_of_notes_that_read_like_commands")
    for place, path in enumerate(paths):
        pushed(eve, path.format(head=head), erasing())
        keep(ada.memory, f"Something else to tell: {place}.", visibility="team")
        ada.sync()
        assert refs(ada) == before, path
    ada.sync()
    assert refs(ada) == before
    assert ada.records()[record.id].body == "Refunds go through the ledger."
    bob = seats("bob")
    bob.sync()
    told = {one.body for one in bob.records().values()}
    assert told >= {f"Something else to tell: {place}." for place in range(len(paths))}


@patch.object(git_notes, "LARGEST", 5_000_000)
def test_what_is_no_text_or_no_note_is_left_alone_and_what_is_too_large_is_refused(seats: Seats) -> None:
    ada, eve = seats("ada"), seats("eve")
    keep(ada.memory, "Refunds go through the ledger.", visibility="team")
    synced(ada, eve)
    head = git(eve.folder, "rev-parse", "HEAD")
    pushed(eve, f"{head[:2]}/{head[2:]}", b"\xff\xfe\x00\n\x1b[2J\n" + b"x" * 500_000)
    done = ada.sync()
    assert (len(done.remarks), all(remark.where.isprintable() for remark in done.remarks)) == (3, True)
    pushed(eve, f"{head[:2]}/{head[2:]}", b"", mode="160000")
    ada.sync()
    pushed(eve, f"{head[:2]}/{head[2:]}", b"x" * 6_000_000)
    refused(ReplicaError, ada.sync, says="6,000,000 bytes")

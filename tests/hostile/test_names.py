"""Names of commits, blobs and branches that came with a record: git is asked about them, and never told to do something."""

import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.adapters.checkout import GitCheckout
from holdfast.model.event import Actor, Event
from holdfast.policy.admission.sharing import with_team
from holdfast.verbs.exchange.incoming import keep_events, passed
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.freshness import freshness, lost
from holdfast.verbs.records.read import get, hydrate
from holdfast.verbs.truth.verify import check_all, check_change
from tests.conftest import Time, make_memory, new_folder
from tests.hostile.texts import NASTY
from tests.rows import sampled


@pytest.fixture
def here(tmp_path: Path, time: Time) -> Iterator[Memory]:
    code = new_folder(tmp_path / "code")
    (code / "app.py").write_text("def pay():\n    return 1\n")
    author = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "commit.gpgsign=false")
    for command in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-qm", "begin")):
        subprocess.run(["git", *author, *command], cwd=code, check=True, capture_output=True)
    with make_memory(tmp_path, time) as memory:
        memory = replace(memory, checkout=GitCheckout(code, memory.project))
        yield memory


def arrived(memory: Memory, name: str) -> str:
    """Let a record arrive from the team in which every name git could be asked about is this one."""
    told = {
        "body": f"Refunds go through the ledger {name[:20]!a}.",
        "title": "Refunds",
        "kind": "fact",
        "visibility": "team",
        "anchors": ["app.py::pay"],
        "origin": {"branch": name, "commit": name},
        "seen": {"commit": name, "marks": {"app.py::pay": {"blob": name, "hash": "x", "first": 1, "last": 2}}},
    }
    first = memory.clock.tick()
    eve = Actor(kind="user", name="eve")
    event = Event(id=first, about=first, verb="recorded", at=memory.clock.now(), by=eve, data=told)
    found = passed(memory, [event], with_team(memory.project))
    assert not found.remarks
    keep_events(memory, found.events)
    return first


@pytest.mark.parametrize("option", ["--output={}", "--output={} --all", "-o{}", "HEAD --output={}", "--batch", "--all"])
def test_a_name_that_reads_like_an_option_is_none(here: Memory, tmp_path: Path, option: str) -> None:
    precious = tmp_path / "precious.txt"
    precious.write_text("untouched")
    about = arrived(here, option.format(precious))
    record = get(here, about).record
    assert record.origin.commit == option.format(precious)
    freshness(here, [record])
    shown = hydrate(here, about, "files")
    assert shown.commit is None
    assert [one["path"] for one in shown.files] == ["app.py"]
    check_all(here)
    check_change(here, "HEAD")
    lost(here)
    assert precious.read_text() == "untouched"
    assert sorted(one.name for one in (tmp_path / "code").iterdir()) == [".git", "app.py"]


def test_any_nasty_text_as_a_name_is_looked_at_like_any_other(here: Memory) -> None:
    for text in sampled([one for one in NASTY if "\0" not in one and one.isprintable() and one], 3):
        about = arrived(here, text)
        hydrate(here, about, "files")
    assert check_all(here)
    assert isinstance(lost(here), dict)

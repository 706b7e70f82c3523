"""`import holdfast`: the Python API on a real store."""

import asyncio
import inspect
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

import holdfast
from tests.replicas.seats import git
from tests.rows import refused

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "python.md"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[holdfast.Memory]:
    with holdfast.open(tmp_path, home=tmp_path / "store", project="example.org/acme/shop") as opened:
        yield opened


def test_what_was_remembered_is_recalled_listed_and_shown(memory: holdfast.Memory) -> None:
    saved = memory.remember("The API allows 60 requests a minute.", tags=["limits"], extra={"ticket": 7})
    assert memory.project == saved.record.project == "example.org/acme/shop"
    hits = list(memory.recall("how many requests does the API allow", words_only=True))
    assert [hit.record.id for hit in hits] == [saved.id]
    page = memory.list(tags=["limits"])
    assert [record.extra for record in page] == [{"ticket": 7}]
    assert (len(page), page.total) == (1, 1)
    shown = memory.show(saved.id[-8:])
    assert (shown.record, shown.superseded_by) == (saved.record, "")


def test_a_revision_stays_in_the_history(memory: holdfast.Memory) -> None:
    saved = memory.remember("The API allows 60 requests a minute.")
    revised = memory.revise(saved.id, text="The API allows 120 requests a minute.")
    assert (revised.revision, revised.body) == (2, "The API allows 120 requests a minute.")
    assert [event.verb for event in memory.history(saved.id)] == ["recorded", "revised"]


def test_what_was_forgotten_is_not_recalled_until_it_is_restored(memory: holdfast.Memory) -> None:
    saved = memory.remember("Deploys need the VPN.")
    memory.forget(saved.id, "the VPN is gone")
    assert not memory.recall("deploys", words_only=True)
    assert [record.reason for record in memory.list(states=["retired"])] == ["the VPN is gone"]
    memory.restore(saved.id)
    assert len(memory.recall("deploys", words_only=True)) == 1
    memory.erase(saved.id)
    refused(holdfast.NotFound, memory.show, saved.id)


def test_a_refusal_is_an_exception_that_names_its_way_out(memory: holdfast.Memory) -> None:
    first = memory.remember("Deploys need the VPN.")
    with pytest.raises(holdfast.NotSaved, match="force=True") as again:
        memory.remember("Deploys need the VPN.")
    assert (again.value.refusal, again.value.matches) == ("duplicate", (first.id,))
    assert memory.remember("Deploys need the VPN.", force=True).id != first.id
    with pytest.raises(holdfast.NotSaved, match="redact=True") as secret:
        memory.remember(f"The token is {TOKEN}.")
    assert secret.value.refusal == "secret_found"
    assert TOKEN not in str(secret.value)
    refused(holdfast.NotSaved, memory.revise, first.id, text=f"The token is {TOKEN}.")
    assert TOKEN not in memory.remember(f"The token is {TOKEN}.", redact=True).record.body


def test_wrong_input_is_refused_with_what_to_do(memory: holdfast.Memory, tmp_path: Path) -> None:
    refused(holdfast.Invalid, memory.remember, "Something.", tags="api", says=r"tags=\['api'\]")
    refused(holdfast.Invalid, memory.remember, "  ", says="empty")
    refused(holdfast.Invalid, holdfast.open, tmp_path / "nowhere", says="not a folder")
    refused(holdfast.InvalidConfig, holdfast.open, tmp_path, settings={"no_such_setting": 1})
    refused(holdfast.NotFound, memory.forget, "ZZZZZZZZ", "gone")
    one = memory.remember("Retries are capped at five.").id
    for wrong in (None, 3, b"x"):
        for method in "show history verify restore erase share revise confirm remember recall".split():
            refused(holdfast.Invalid, getattr(memory, method), wrong, says="must be a text|empty")
        refused(holdfast.Invalid, memory.link, one, "relates_to", wrong, says="must be a text")
        refused(holdfast.Invalid, memory.judge, wrong, "applied", says="must be a list of texts")


def test_a_guess_about_a_person_is_pending_until_it_is_confirmed(memory: holdfast.Memory) -> None:
    saved = memory.remember("Ada prefers tabs.", kind="preference", source="inferred")
    assert "person" in saved.pending
    assert not memory.recall("tabs", words_only=True)
    assert memory.confirm(saved.id).record.state == "active"


def test_a_related_memory_is_named(memory: holdfast.Memory) -> None:
    first = memory.remember("The API listens on port 8080.")
    second = memory.remember("The API listens on port 9090.")
    assert [record.id for record in second.related] == [first.id]


def test_briefs_are_texts(memory: holdfast.Memory) -> None:
    memory.remember("Refunds are booked on the day of the order.", kind="decision", fields={"rationale": "audit"})
    assert "Refunds are booked" in memory.brief("change how refunds are booked")
    assert "Refunds are booked" in memory.brief()


def test_changed_code_is_reported_where_a_memory_is_read(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    (tmp_path / "pay.py").write_text("LIMIT = 5\n")
    with holdfast.open(tmp_path, home=tmp_path / "store") as memory:
        saved = memory.remember("Payments are limited to 5 a day.", anchors=["pay.py::LIMIT=5"])
        assert _state(memory, saved.id) == "fresh"
        memory.verify(saved.id)
        (tmp_path / "pay.py").write_text("LIMIT = 9\n")
        assert _state(memory, saved.id) == "changed"
        refused(holdfast.Conflict, memory.verify, saved.id)


def _state(memory: holdfast.Memory, id_: str) -> str:
    state = memory.show(id_).freshness
    assert state is not None
    return state.state


def test_threads_share_one_memory(memory: holdfast.Memory) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: memory.remember(f"Shard {number} is on host h{number}.", force=True), range(12)))
    assert memory.list().total == 12


def test_an_agent_is_named_as_the_author(tmp_path: Path) -> None:
    with holdfast.open(tmp_path, home=tmp_path / "store", agent="nightly", session="run-1") as memory:
        by = memory.remember("The nightly build needs 8 GB.").record.by
    assert (by.kind, by.name, by.session) == ("agent", "nightly", "run-1")


def test_importing_it_imports_nothing_else() -> None:
    code = "import sys; before = set(sys.modules); import holdfast; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["holdfast"]


def test_every_public_name_is_there_and_no_other() -> None:
    assert {name for name in holdfast.__all__ if getattr(holdfast, name) is not None} == set(dir(holdfast))
    with pytest.raises(AttributeError, match="no_such_name"):
        getattr(holdfast, "no_such_name")  # noqa: B009 - mypy would refuse the attribute


def test_the_page_names_every_method_and_argument() -> None:
    rows = PAGE.read_text(encoding="utf-8").partition("## Methods")[2].partition("## Errors")[0]
    for name, method in inspect.getmembers(holdfast.Memory, inspect.isfunction):
        if name.startswith("_") or name == "close":
            continue
        (row,) = [row for row in rows.splitlines() if re.search(rf"`{name}\(", row)]
        call = re.search(rf"`{name}\((.*?)\)`", row)
        assert call, name
        named = re.findall(r"(\w+)(?:=|,|$)", re.sub(r"=[^,]*", "=", call[1]))
        assert named == [given for given in inspect.signature(method).parameters if given != "self"], name


def samples() -> list[str]:
    """Return the programs of the page."""
    return [part.partition("```")[0] for part in PAGE.read_text(encoding="utf-8").split("```python\n")[1:]]


@pytest.mark.whole
def test_the_programs_of_the_page_are_typed(tmp_path: Path) -> None:
    file = tmp_path / "sample.py"
    file.write_text("\n".join(samples()), encoding="utf-8")
    checker = [
        sys.executable,
        "-m",
        "mypy",
        "--config-file",
        "pyproject.toml",
        str(file),
    ]  # strict, and its cache is warm
    environment = {**os.environ, "MYPYPATH": "src"}
    done = subprocess.run(checker, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.embedded
def test_new_memories_are_searched_by_meaning_however_many_there_are(memory: holdfast.Memory) -> None:
    for number in range(20):
        memory.remember(f"Shelf {number} of the archive holds boxes of paper.", force=True)
    memory.remember("Deploys need the VPN.")
    assert memory.recall("how do I ship a release").lagging == 0


def test_dates_are_taken_as_texts_and_as_pythons_own(memory: holdfast.Memory) -> None:
    saved = memory.remember("Deploys need the VPN.")
    day, now = timedelta(days=1), datetime.now()  # noqa: DTZ005  a time without a zone is local
    for since, found in (("7d", 1), ("yesterday", 1), (now - day, 1), (now + day, 0), (date(2020, 1, 1), 1), (day, 1)):
        assert (len(memory.recall("deploys", since=since, words_only=True)), len(memory.list(since=since))) == (
            found,
        ) * 2
    assert memory.show(saved.id, as_of=datetime.now(UTC) + day).record.id == saved.id
    for wrong in ("someday", 7, object()):
        refused(holdfast.Invalid, memory.recall, "deploys", since=wrong, says="is not a date")


def test_results_are_indexed_and_shown_in_a_line_and_a_closed_memory_says_so(memory: holdfast.Memory) -> None:
    saved = memory.remember("Deploys need the VPN.")
    found, listed = memory.recall("deploys", words_only=True), memory.list()
    assert found[0].record.id == listed[-1].id == saved.id
    shown = list[str]()
    for value in (listed[0], found):
        value._repr_pretty_(SimpleNamespace(text=shown.append), False)  # as IPython calls it
    line = f"{saved.id[-8:]} fact: Deploys need the VPN."
    assert (shown, repr(memory)) == (
        [line, f"{found[0].confidence}: {line}"],
        "<holdfast.Memory of example.org/acme/shop>",
    )
    memory.close()
    refused(holdfast.StoreError, memory.list, says="is closed")
    memory.close()


def test_memories_are_shared_linked_judged_and_moved(memory: holdfast.Memory, tmp_path: Path) -> None:
    first, second = memory.remember("Deploys need the VPN."), memory.remember("Backups run at night.")
    assert memory.share(first.id).visibility == "team"
    assert [link.target for link in memory.link(first.id, "relates_to", second.id).links] == [second.id]
    assert memory.judge([first.id], "applied") == [first.id]
    lines = list(memory.export())
    with holdfast.open(tmp_path, home=tmp_path / "other", project="example.org/acme/shop") as other:
        assert (other.import_(lines), other.import_(lines)) == (2, 0)
        assert {record.id for record in other.list()} == {first.id, second.id}
        (tmp_path / "notes.md").write_text("- Invoices are rounded down.\n", encoding="utf-8")
        assert other.import_(system="file", path=tmp_path / "notes.md") == 1
        refused(holdfast.Invalid, other.import_, system="diary", path=tmp_path, says="no importer")


def test_the_same_memory_can_be_awaited(tmp_path: Path) -> None:
    async def work() -> list[str]:
        async with holdfast.AsyncMemory(holdfast.open(tmp_path, home=tmp_path / "store", project="p")) as memory:
            await asyncio.gather(*(memory.remember(f"Shelf {number} holds flour {number}.") for number in range(5)))
            assert memory.project == "p"
            return [record.body for record in await memory.list()]

    assert len(asyncio.run(work())) == 5

"""`import holdfast`: the Python API on a real store."""

import asyncio
import inspect
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import chdir, suppress
from datetime import UTC, date, datetime, timedelta
from functools import partial
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import holdfast
from tests.conftest import new_file, new_folder, ran
from tests.replicas.seats import git
from tests.rows import examples, opened, refused, some

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "python.md"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


memory = opened(lambda tmp_path: holdfast.open(tmp_path, home=tmp_path / "store", project="example.org/acme/shop"))


def test_the_life_of_a_memory(memory: holdfast.Memory) -> None:
    saved = memory.remember("The API allows 60 requests a minute.", tags=["limits"], extra={"ticket": 7})
    assert memory.project == saved.record.project == "example.org/acme/shop"
    found, listed = memory.recall("how many requests does the API allow", words_only=True), memory.list(tags=["limits"])
    assert [hit.record.id for hit in found] == [saved.id]
    assert ([record.extra for record in listed], len(listed), listed.total) == ([{"ticket": 7}], 1, 1)
    shown = memory.show(saved.id[-8:])
    assert (shown.record, shown.superseded_by) == (saved.record, "")
    revised = memory.revise(saved.id, text="The API allows 120 requests a minute.")
    assert (revised.revision, revised.body) == (2, "The API allows 120 requests a minute.")
    assert [event.verb for event in memory.history(saved.id)] == ["recorded", "revised"]
    assert [record.id for record in memory.remember("The API allows 90 requests a minute.").related] == [saved.id]
    memory.forget(saved.id, "the API is gone")
    assert saved.id not in [hit.record.id for hit in memory.recall("120 requests", words_only=True)]
    assert [record.reason for record in memory.list(states=["retired"])] == ["the API is gone"]
    memory.restore(saved.id)
    assert saved.id in [hit.record.id for hit in memory.recall("120 requests", words_only=True)]
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


@examples
def test_wrong_input_is_refused_with_what_to_do(memory: holdfast.Memory, method: str, given: Any, says: str) -> None:
    with pytest.raises(holdfast.HoldfastError, match=says):
        getattr(memory, method)(**given)


def test_wrong_folders_settings_and_types_are_refused(memory: holdfast.Memory, tmp_path: Path) -> None:
    refused(holdfast.Invalid, holdfast.open, tmp_path / "nowhere", says="not a folder")
    refused(holdfast.InvalidConfig, holdfast.open, tmp_path, settings={"no_such_setting": 1})
    with chdir(gone := new_folder(tmp_path / "gone")):
        gone.rmdir()
        refused(holdfast.Invalid, holdfast.open, says="working directory was deleted")
    one = memory.remember("Retries are capped at five.").id
    for wrong in (None, 3, b"x"):
        for method in "show history verify restore erase share revise confirm remember recall".split():
            refused(holdfast.Invalid, getattr(memory, method), wrong, says="must be a text|empty")
        refused(holdfast.Invalid, memory.link, one, "relates_to", wrong, says="must be a text")
        refused(holdfast.Invalid, memory.judge, wrong, "applied", says="must be a list of texts")


def test_no_value_of_a_wrong_type_raises_a_raw_error(memory: holdfast.Memory, tmp_path: Path) -> None:
    wrong = ("x", "\0", 5, 1.5, True, b"x", [1], {"a": object()}, {1: 2}, [("a", "b")], object(), timedelta(10**6))
    needed = {"text": "Retries end.", "question": "retries", "reason": "gone", "relation": "refines"}
    names = [name for name, _ in inspect.getmembers(memory, inspect.ismethod) if name[0] != "_"]
    for method in (*(getattr(memory, name) for name in names), partial(holdfast.open, tmp_path, home=tmp_path / "h")):
        id_, taken = memory.remember("Retries are capped.", force=True).id, inspect.signature(method).parameters
        least = {name: needed.get(name, id_) for name, one in taken.items() if one.default is one.empty}
        for name, value in product(taken, wrong):
            with suppress(holdfast.HoldfastError), chdir(tmp_path):  # a text is a path, too
                method(**{**least, name: value})


def test_changed_code_is_reported_where_a_memory_is_read(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    (tmp_path / "pay.py").write_text("LIMIT = 5\n")
    with holdfast.open(tmp_path, home=tmp_path / "store") as memory:
        saved = memory.remember("Payments are limited to 5 a day.", anchors=["pay.py::LIMIT=5"])
        assert some(memory.show(saved.id).freshness).state == "fresh"
        memory.verify(saved.id)
        (tmp_path / "pay.py").write_text("LIMIT = 9\n")
        assert some(memory.show(saved.id).freshness).state == "changed"
        refused(holdfast.Conflict, memory.verify, saved.id)


def test_threads_share_one_memory_and_an_agent_is_named_as_the_author(tmp_path: Path) -> None:
    with holdfast.open(tmp_path, home=tmp_path / "store", agent="nightly", session="run-1") as memory:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda n: memory.remember(f"Shard {n} is on host h{n}.", force=True), range(12)))
        authors = {(one.by.kind, one.by.name, one.by.session) for one in memory.list()}
        assert (memory.list().total, authors) == (12, {("agent", "nightly", "run-1")})


def test_importing_it_imports_nothing_else() -> None:
    code = "import sys; before = set(sys.modules); import holdfast; print(*sorted(set(sys.modules) - before))"
    assert ran([sys.executable, "-c", code], check=True).stdout.split() == ["holdfast"]


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


@pytest.mark.whole
def test_the_programs_of_the_page_are_typed(tmp_path: Path) -> None:
    programs = [part.partition("```")[0] for part in PAGE.read_text(encoding="utf-8").split("```python\n")[1:]]
    file = new_file(tmp_path / "sample.py", "\n".join(programs))
    checker = [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", str(file)]  # strict, its cache is warm
    done = ran(checker, ROOT, env={**os.environ, "MYPYPATH": "src"})
    assert done.returncode == 0, done.stdout


def test_dates_are_taken_as_texts_and_as_pythons_own(memory: holdfast.Memory) -> None:
    saved = memory.remember("Deploys need the VPN.")
    day, now = timedelta(days=1), datetime.now()  # noqa: DTZ005  a time without a zone is local
    for since, found in (("7d", 1), ("yesterday", 1), (now - day, 1), (now + day, 0), (date(2020, 1, 1), 1), (day, 1)):
        recalled = memory.recall("deploys", since=since, words_only=True)
        assert (len(recalled), len(memory.list(since=since))) == (found, found), since
    assert memory.show(saved.id, as_of=datetime.now(UTC) + day).record.id == saved.id
    for wrong in ("someday", 7, object(), date.min, date.min.isoformat()):
        refused(holdfast.Invalid, memory.recall, "deploys", since=wrong, says="is not a date")


def test_results_are_shown_in_a_line_and_a_closed_memory_says_so(memory: holdfast.Memory) -> None:
    saved = memory.remember("Deploys need the VPN.")
    found, listed = memory.recall("deploys", words_only=True), memory.list()
    shown = list[str]()
    for value in (listed[-1], found):
        value._repr_pretty_(SimpleNamespace(text=shown.append), False)  # as IPython calls it
    line = f"{saved.id[-8:]} fact: Deploys need the VPN."
    assert shown == [line, f"{found[0].confidence}: {line}"]
    assert repr(memory) == "<holdfast.Memory of example.org/acme/shop>"
    assert repr(holdfast.AsyncMemory(memory)) == "<holdfast.AsyncMemory of example.org/acme/shop>"
    assert {listed[-1], memory.show(saved.id).record} == {saved.record}
    memory._inner.close()  # as another thread may do in the middle of a call
    refused(holdfast.StoreError, memory.list, says="is closed")
    memory.close()
    refused(holdfast.StoreError, memory.list, says="is closed")
    memory.close()


def test_memories_are_shared_linked_judged_moved_and_confirmed(memory: holdfast.Memory, tmp_path: Path) -> None:
    first, second = memory.remember("Deploys need the VPN."), memory.remember("Backups run at night.")
    assert memory.share(first.id).visibility == "team"
    assert [link.target for link in memory.link(first.id, "relates_to", second.id).links] == [second.id]
    assert memory.judge([first.id], "applied") == [first.id]
    lines = list(memory.export())
    with holdfast.open(tmp_path, home=tmp_path / "other", project="example.org/acme/shop") as other:
        assert (other.import_(lines), other.import_(lines)) == (2, 0)
        assert {record.id for record in other.list()} == {first.id, second.id}
        (tmp_path / "notes.md").write_text("- Invoices are rounded down.\n", encoding="utf-8")
        assert other.import_(path=new_file(tmp_path / "e.jsonl", "\n".join(lines))) == 0
        assert other.import_(system="file", path=tmp_path / "notes.md") == 1
        refused(holdfast.Invalid, other.import_, system="diary", path=tmp_path, says="no importer")
    guess = memory.remember("Ada prefers tabs.", kind="preference", source="inferred")
    assert ("person" in guess.pending, len(memory.recall("tabs", words_only=True))) == (True, 0)
    assert memory.confirm(guess.id).record.state == "active"
    assert "Ada prefers tabs." in memory.brief()
    assert "Ada prefers tabs." in memory.brief("use tabs or spaces")


def test_the_same_memory_can_be_awaited(tmp_path: Path) -> None:
    async def work() -> list[str]:
        async with holdfast.AsyncMemory(holdfast.open(tmp_path, home=tmp_path / "store", project="p")) as memory:
            await asyncio.gather(*(memory.remember(f"Shelf {number} holds flour {number}.") for number in range(5)))
            assert memory.project == "p"
            return [record.body for record in await memory.list()]

    assert len(asyncio.run(work())) == 5

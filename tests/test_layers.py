"""The one rule: imports point left."""

import ast
import gc
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.rows import rows

SOURCE = Path(__file__).parent.parent / "src" / "holdfast"
pytestmark = pytest.mark.xdist_group("layers")  # one process parses the product
RANK = {
    "model": 0,
    "policy": 1,
    "engine": 1,
    "adapters": 1,
    "verbs": 2,
    "surfaces": 3,
    "compose": 3,
    "hosts": 4,
    "integrations": 5,
    "__main__": 5,
}


@cache
def modules() -> list[tuple[Path, list[ast.AST]]]:
    """Return every module of the product with its nodes."""
    gc.disable()  # nothing of that goes away: looking for garbage in it took as long as all the rest
    found = [(path, list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))) for path in SOURCE.rglob("*.py")]
    gc.freeze()
    gc.enable()
    return found


def holdfast_imports() -> Iterator[tuple[Path, str, str]]:
    for path, nodes in modules():
        here = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        for node in nodes:
            names = [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                parts = name.split(".")
                if parts[0] == "holdfast" and len(parts) > 1:
                    yield path, here, parts[1]


def test_imports_point_left() -> None:
    seen = 0
    for path, here, there in holdfast_imports():
        seen += 1
        if here != "__init__":
            assert there == here or RANK[there] < RANK[here], f"{path} imports {there}"
        assert there != "adapters" or here in {"adapters", "compose"}, f"{path} imports an adapter"
    assert seen > 50


def test_the_product_needs_nothing_of_the_checkout_around_it() -> None:
    """Only `src/holdfast` is in the wheel."""
    around = {path.name for path in SOURCE.parents[1].iterdir() if path.is_dir() and any(path.glob("*.py"))}
    assert around >= {"bench", "demo", "scripts", "tests"}
    for path, nodes in modules():
        for node in nodes:
            if isinstance(node, ast.ImportFrom | ast.Import):
                name = (node.module or "") if isinstance(node, ast.ImportFrom) else node.names[0].name
                assert name.split(".")[0] not in around, f"{path} imports {name}"


def test_adapters_see_only_the_model() -> None:
    assert {there for _, here, there in holdfast_imports() if here == "adapters"} <= {"model", "adapters"}


def test_the_model_needs_only_the_standard_library_and_the_id_library() -> None:
    import sys

    allowed = {*sys.stdlib_module_names, "holdfast", "ulid_transform"}
    for path, nodes in modules():
        for node in nodes if path.is_relative_to(SOURCE / "model") else ():
            if isinstance(node, ast.ImportFrom | ast.Import):
                name = (node.module or "") if isinstance(node, ast.ImportFrom) else node.names[0].name
                assert name.split(".")[0] in allowed, f"{path} imports {name}"


# Modules that parse JSON of our own making, from our own tables and package data, or the parser itself.
OWN_JSON = set(rows("modules_that_parse_json_of_our_own"))


def test_json_from_outside_is_parsed_with_bounds() -> None:
    """Deep nesting ends in a RecursionError where `json.loads` is called: use `model.foreign_json.parse_json`."""
    calling = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if "json.loads" in path.read_text() or "json.load(" in path.read_text()
    }
    assert calling - OWN_JSON == set()


def test_hosts_ask_verbs_or_compose_and_never_the_engine() -> None:
    ours = set((SOURCE / "hosts").rglob("*.py"))
    assert len(ours) > 50
    assert {path for path, _, there in holdfast_imports() if there == "engine"} & ours == set()


def test_only_the_engine_and_who_opens_a_store_handle_its_database() -> None:
    """What a view answers is asked of the store. The doctor reports on the database itself: its place, size and damage."""
    using = {
        path.relative_to(SOURCE).as_posix()
        for path, nodes in modules()
        if any(isinstance(node, ast.Attribute) and node.attr == "db" for node in nodes)
    }
    assert {name for name in using if name.startswith(("verbs/", "surfaces/", "hosts/", "integrations/"))} == {
        "verbs/upkeep/doctor.py"
    }


# Where the SQL of the two engines differs: how words and vectors are searched. All else is a method of `Database`.
BY_ENGINE = set(rows("modules_that_know_the_engine"))


def test_only_the_searches_of_words_and_vectors_know_which_engine_they_run_on() -> None:
    asks = re.compile(r"\.dialect\b|isinstance\([^)]*\b(SQLite|Postgres)\b")
    asking = {path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py") if asks.search(path.read_text())}
    assert asking <= BY_ENGINE
    assert "engine/views/words.py" in asking


# Modules that read only files of the package itself, and the two that make or check files the user listed here.
OWN_FILES = set(rows("modules_that_read_files_of_our_own"))


def test_files_are_read_where_only_regular_ones_are() -> None:
    """A pipe in a checkout waits for ever, a device never ends: use `model.files.read_regular` or `open_regular`."""
    reads = re.compile(r"\.read_(?:text|bytes)\(|(?<![\w.])open\(|\.open\((?:\"r|encoding|\))")
    reading = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if reads.search(re.sub(r"def open\(|holdfast\.open\(\)|self\.open\(\)", "", path.read_text()))
    }
    assert reading - OWN_FILES == set()

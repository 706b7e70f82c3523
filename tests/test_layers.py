"""The one rule: imports point left. And the product does not grow: a capability comes with what it makes superfluous."""

import ast
import gc
import re
import runpy
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.rows import each, rows

SOURCE = Path(__file__).parent.parent / "src" / "holdfast"
pytestmark = pytest.mark.xdist_group("layers")  # one process parses the product
ORDER = "model | policy engine adapters | verbs | surfaces compose | hosts | integrations __main__"
RANK = {name: rank for rank, names in enumerate(ORDER.split("|")) for name in names.split()}


@cache
def modules() -> list[tuple[Path, list[ast.AST]]]:
    """Return every module of the product with its nodes."""
    gc.disable()  # nothing of that goes away: looking for garbage in it took as long as all the rest
    found = [(path, list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))) for path in SOURCE.rglob("*.py")]
    gc.freeze()
    gc.enable()
    return found


@cache
def imports() -> list[tuple[Path, str]]:
    found = []
    for path, nodes in modules():
        for node in nodes:
            names = [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            found += [(path, name) for name in names]
    return found


def test_imports_point_left_and_hosts_never_import_the_engine() -> None:
    """What is right of its importer, an adapter outside of `compose`, the engine in a host."""
    ours = [(path, name.split(".")[1]) for path, name in imports() if name.startswith("holdfast.")]
    seen = [(path, path.relative_to(SOURCE).parts[0].removesuffix(".py"), there) for path, there in ours]
    assert len(seen) > 1_000
    wrong = [
        f"{path} imports {there}"
        for path, here, there in seen
        if (here not in ("__init__", there) and RANK[there] >= RANK[here])
        or (there == "adapters" and here not in {"adapters", "compose"})
        or (there == "engine" and here == "hosts")
    ]
    assert wrong == []


def test_the_product_needs_nothing_of_the_checkout_and_the_model_only_the_standard_library() -> None:
    """Only `src/holdfast` is in the wheel."""
    around = {path.name for path in SOURCE.parents[1].iterdir() if path.is_dir() and any(path.glob("*.py"))}
    assert around >= {"bench", "demo", "scripts", "tests"}
    allowed = {*sys.stdlib_module_names, "holdfast", "ulid_transform"}
    for path, name in imports():
        top = name.split(".")[0]
        assert top not in around, f"{path} imports {name}"
        assert top in allowed or not path.is_relative_to(SOURCE / "model"), f"{path} imports {name}"


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


@each(
    ("allowed", "pattern"),
    [
        # Deep nesting ends in a RecursionError where `json.loads` is called: use `model.foreign_json.parse_json`.
        # What parses JSON of our own making, from our own tables and package data, or is the parser itself, need not.
        ("modules_that_parse_json_of_our_own", r"json\.loads|json\.load\("),
        # Where the SQL of the two engines differs: how words and vectors are searched. All else is a method of `Database`.
        ("modules_that_know_the_engine", r"\.dialect\b|isinstance\([^)]*\b(SQLite|Postgres)\b"),
        # A pipe in a checkout waits for ever, a device never ends: use `model.files.read_regular` or `open_regular`. But for
        # modules that read only files of the package itself, and the two that make or check files the user listed here.
        ("modules_that_read_files_of_our_own", r"\.read_(?:text|bytes)\(|(?<![\w.])open\(|\.open\((?:\"r|encoding|\))"),
    ],
)
def test_only_a_few_modules_parse_json_unbounded_know_the_engine_and_read_any_file(allowed: str, pattern: str) -> None:
    own = r"def open\(|holdfast\.open\(\)|self\.open\(\)"
    found = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if re.search(pattern, re.sub(own, "", path.read_text(encoding="utf-8")))
    }
    assert found
    assert found - set(rows(allowed)) == set()


def test_no_more_lines_and_files_than_the_ceilings_allow() -> None:
    script = runpy.run_path(str(SOURCE.parent.parent / "scripts" / "size.py"))
    measured = dict(zip(("LINES", "FILES", "TEST_LINES"), script["totals"](), strict=True))
    assert {name: (count, script[name]) for name, count in measured.items() if count > script[name]} == {}

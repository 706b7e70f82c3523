"""Every promise in behaviours.toml names the test functions that check it, and they exist."""

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

from tests.rows import each

HERE = Path(__file__).parent
BEHAVIOURS = {
    promise: [tests] if isinstance(tests, str) else tests
    for area in tomllib.loads((HERE / "behaviours.toml").read_text(encoding="utf-8")).values()
    for promise, tests in area.items()
}
ROWS = [(promise, test) for promise, tests in BEHAVIOURS.items() for test in tests]


def test_every_promise_names_a_test() -> None:
    assert [promise for promise, tests in BEHAVIOURS.items() if not tests] == []


@each(("promise", "test"), ROWS)
def test_a_promise_is_checked_by_a_test_function(promise: str, test: str) -> None:
    file, separator, name = test.partition("::")
    assert separator, f"{promise}: name a function of {file}, not only the file"
    assert name in functions(file), f"{promise}: {file} has no function {name}"
    assert name.startswith("test_") or file in PROGRAMS, f"{promise}: pytest does not run {name}"


# Programs that check real clients and the protocol; `python3 dev.py` runs them.
PROGRAMS = {"tests/protocol/run.py", "tests/clients/run.py"}


@cache
def functions(file: str) -> set[str]:
    """Return the names of a file's functions and methods, without functions inside functions."""
    tree = ast.parse((HERE.parent / file).read_text(encoding="utf-8"))
    bodies = [tree.body, *(node.body for node in tree.body if isinstance(node, ast.ClassDef))]
    scripts = (HERE.parent / file).with_suffix(".txt")
    written = re.findall(
        r"^\[(test_\w+)", scripts.read_text(encoding="utf-8") if scripts.exists() else "", re.MULTILINE
    )
    named = {node.name for body in bodies for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    return named.union(written)

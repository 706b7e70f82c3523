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
def functions(file: str) -> dict[str, str]:
    """Return the text of each function of a file and of each script beside it, by its name."""
    path = HERE.parent / file
    tree, scripts = ast.parse(path.read_text(encoding="utf-8")), path.with_suffix(".txt")
    found = {node.name: ast.unparse(node) for node in tree.body if isinstance(node, ast.FunctionDef)}
    _, *parts = re.split(r"^\[(test_\w+)", scripts.read_text("utf-8") if scripts.exists() else "", flags=re.MULTILINE)
    return found | dict(zip(parts[::2], parts[1::2], strict=True))

"""One test over a table: every row is checked, and the rows that failed are listed together.

Some tables are products (every tool times every way to ask it): `sampled` takes a slice of them, and all of it with
TEST_WHOLE, as `python3 dev.py whole` runs the tests. Tests marked `whole` run only then.
"""

import json
import os
import time
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import AbstractContextManager
from functools import wraps
from importlib import import_module
from inspect import Parameter, signature
from pathlib import Path
from typing import Any, TypeVar

import pytest

Test = Callable[..., None]
Errors = type[BaseException] | tuple[type[BaseException], ...]
T = TypeVar("T")
WHOLE = bool(os.environ.get("TEST_WHOLE"))
EXAMPLES = Path(__file__).parent / "data" / "examples.json"


def each(names: str | Iterable[str], cases: Iterable[Any]) -> Callable[[Test], Test]:
    """Run a test once for every row, as `pytest.mark.parametrize` does, but as one test with one set of fixtures.

    For rows that need nothing of their own: hundreds of cases would take longer to collect and set up than to run.
    """
    fields = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    table = list(cases)

    def decorate(test: Test) -> Test:
        @wraps(test)
        def whole(**fixtures: Any) -> None:
            failed: list[Exception] = []
            for row in table:
                values = dict(zip(fields, row if len(fields) > 1 else (row,), strict=True))
                try:
                    test(**fixtures, **values)
                except Exception as error:  # noqa: BLE001  reported with its row, after the other rows
                    error.add_note(f"row: {values!r:.500}")
                    failed.append(error)
            if failed:
                raise ExceptionGroup(f"{len(failed)} of {len(table)} rows failed", failed)

        taken = signature(test)
        left = [parameter for name, parameter in taken.parameters.items() if name not in fields]
        assert len(left) + len(fields) == len(taken.parameters), f"{test.__name__} takes no {fields}"
        assert all(parameter.kind is not Parameter.VAR_KEYWORD for parameter in left)
        whole.__signature__ = taken.replace(parameters=left)  # type: ignore[attr-defined]
        return whole

    return decorate


def rows(name: str) -> Any:
    """Return what data/examples.json has under a name."""
    return json.loads(EXAMPLES.read_bytes())[name]


def table_of(test: str) -> list[Any]:
    """Return the rows that data/examples.json has under the name of a test."""
    found = rows(test.removeprefix("test_"))
    return [list(item) for item in found.items()] if isinstance(found, dict) else list(found)


def examples(test: Test) -> Test:
    """Run a test for every row that data/examples.json has under its name; the columns are the last parameters of the test."""
    table = table_of(test.__name__)
    width = len(table[0]) if isinstance(table[0], list | tuple) else 1
    return each(list(signature(test).parameters)[-width:], table)(test)


def sampled(cases: Iterable[T], one_in: int) -> list[T]:
    """Return the first of every `one_in` rows, or all of them when tests run whole."""
    return list(cases)[:: 1 if WHOLE else one_in]


def opened(context: Callable[..., AbstractContextManager[Any]], **how: Any) -> Any:
    """Return a fixture: what a function of other fixtures opens, closed after the test."""

    def fixture(**given: Any) -> Iterator[Any]:
        with context(**given) as made:
            yield made

    fixture.__signature__ = signature(context)  # type: ignore[attr-defined]
    return pytest.fixture(**how)(fixture)


class Late:
    """A module that is imported at its first use: every process collects every test, and few of them need it."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # pytest looks at whatever a test file holds
            raise AttributeError(name)
        return getattr(import_module(self._name), name)


def cpu_seconds(do: Callable[..., object], *given: Any, times: int = 3) -> float:
    """Return the CPU time of a call: the least of a few, since other programs run too."""

    def once() -> float:
        began = time.process_time()
        do(*given)
        return time.process_time() - began

    return min(once() for _ in range(times))


def is_linear(do: Callable[[str], object], text: str, parts: int = 8) -> bool:
    """True if the time a text takes grows with its length, and not with its square, on a machine of any speed."""
    small, large = cpu_seconds(do, text[: len(text) // parts]), cpu_seconds(do, text, times=1)
    most = parts * parts / 2 * max(small, 0.004)
    return large < most or cpu_seconds(do, text) < most


def missing(whole: Container[object], *parts: object) -> list[object]:
    """Return the parts that a text or a list lacks: `assert missing(text, "a", "b") == []` names them."""
    return [part for part in parts if part not in whole]


def of_type(kind: type[T], value: object) -> T:
    """Return a value that must be of a kind."""
    assert isinstance(value, kind), value
    return value


def some(value: T | None) -> T:
    """Return a value that must be there."""
    assert value is not None
    return value


def refused(error: Errors, do: Callable[..., object], *given: Any, says: str = "", **named: Any) -> None:
    """Check that a call raises an error, with a message that the pattern `says` is found in."""
    with pytest.raises(error, match=says or None):
        do(*given, **named)

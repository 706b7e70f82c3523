"""Which clients the promises are tried on, a day of work in each of them, and the table at the end."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.clients import CLIENTS, SCRIPTED, Client
from tests.e2e.day import Day, work_a_day
from tests.e2e.seat import Seat, take_seat

OUTCOMES = {"passed": "kept", "failed": "BROKEN", "error": "BROKEN", "xfailed": "cannot"}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--real-clients", action="store_true", help="the real clients instead of the scripted agent")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "client" in metafunc.fixturenames:
        clients = CLIENTS if metafunc.config.getoption("--real-clients", default=False) else (SCRIPTED,)
        given = [
            pytest.param(one, id=one.name, marks=_marks(one, _promise(str(metafunc.module.__name__))))
            for one in clients
        ]
        metafunc.parametrize("client", given, scope="session")


def _marks(client: Client, promise: str) -> list[pytest.MarkDecorator]:
    """Let a promise that a client does not allow to keep fail, and be told of the day it does not."""
    marks = [pytest.mark.xdist_group(client.title)]
    if reason := client.cannot.get(promise):
        marks.append(pytest.mark.xfail(reason=reason, strict=True, raises=AssertionError))
    return marks


def _promise(module: str) -> str:
    return module.rpartition(".")[2].removeprefix("test_")


@pytest.fixture(scope="session")
def day(client: Client, tmp_path_factory: pytest.TempPathFactory) -> Day:
    """Give what two sessions of a client left behind."""
    return work_a_day(client, tmp_path_factory.mktemp(client.name))


@pytest.fixture
def seat(client: Client, tmp_path: Path) -> Seat:
    """Give a fresh seat of a user of this client."""
    return take_seat(tmp_path, client.files)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not terminalreporter.config.getoption("--real-clients", default=False):
        return
    terminalreporter.section("promises")
    found: dict[str, dict[str, str]] = {}
    for outcome, word in reversed(OUTCOMES.items()):
        for report in terminalreporter.getreports(outcome):
            module, _, client = report.nodeid.partition("@")[0].partition("[")
            promise = _promise(module.partition("::")[0].replace("/", ".").removesuffix(".py"))
            row = found.setdefault(promise.replace("_", " "), {})
            row[client.rstrip("]")] = word if row.get(client.rstrip("]")) != "BROKEN" else "BROKEN"
    for line in _table(found):
        terminalreporter.write_line(line)


def _table(found: dict[str, dict[str, str]]) -> Iterator[str]:
    names = [client.name for client in CLIENTS]
    yield f"{'':14}" + "".join(f"{name:14}" for name in names)
    for promise, row in sorted(found.items()):
        yield f"{promise:14}" + "".join(f"{row.get(name, '–'):14}" for name in names)

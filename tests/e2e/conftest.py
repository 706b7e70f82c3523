"""Which clients the promises are tried on, a day of work in each of them, and the table at the end."""

import pytest

from tests.e2e.clients import CLIENTS, SCRIPTED, Client
from tests.e2e.day import Day, work_a_day
from tests.e2e.seat import take_seat

OUTCOMES = {"passed": "kept", "failed": "BROKEN", "error": "BROKEN", "xfailed": "cannot"}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--real-clients", action="store_true", help="the real clients instead of the scripted agent")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "client" in metafunc.fixturenames:
        clients = CLIENTS if metafunc.config.getoption("--real-clients", default=False) else (SCRIPTED,)
        test = metafunc.function.__name__
        rows = []
        for (
            one
        ) in clients:  # a promise that a client does not allow to keep must fail, and is told of the day it does not
            why = [reason for promise, reason in one.cannot.items() if promise in test.replace("_", "")]
            fails = [pytest.mark.xfail(reason=reason, strict=True, raises=AssertionError) for reason in why]
            rows.append(pytest.param(one, id=one.name, marks=[pytest.mark.xdist_group(one.title), *fails]))
        metafunc.parametrize("client", rows, scope="session")


@pytest.fixture(scope="session")
def day(client: Client, tmp_path_factory: pytest.TempPathFactory) -> Day:
    return work_a_day(client, tmp_path_factory.mktemp(client.name))


seat = pytest.fixture(lambda client, tmp_path: take_seat(tmp_path, client.files))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not terminalreporter.config.getoption("--real-clients", default=False):
        return
    found: dict[str, dict[str, str]] = {}
    for outcome, word in reversed(OUTCOMES.items()):
        for report in terminalreporter.getreports(outcome):
            test, _, client = report.nodeid.partition("@")[0].partition("::")[2].rstrip("]").partition("[")
            row = found.setdefault(test.removeprefix("test_").replace("_", " "), {})
            row[client] = word if row.get(client) != "BROKEN" else "BROKEN"
    names = [client.name for client in CLIENTS]
    terminalreporter.section("promises")
    for promise, row in [("", {name: name for name in names}), *sorted(found.items())]:
        terminalreporter.write_line("".join(f"{row.get(name, '–'):14}" for name in names) + promise)

"""A pytest plugin that prints every promise of each document, what tries it and the result."""

from collections import Counter, defaultdict
from pathlib import Path

import pytest

_results: dict[str, set[str]] = defaultdict(set)  # of each test, whatever rows it has


def promises() -> dict[tuple[str, str], dict[str, list[str]]]:
    """Return the promises of each document (its module here, its heading on the page) and the names of what tries each."""
    found: dict[tuple[str, str], dict[str, list[str]]] = {}
    for line in Path(__file__).with_name("promises.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            module, _, heading = line[1:].partition("] ")
            rows = found.setdefault((module, heading), {})
        elif " | " in line:
            promise, _, names = line.rpartition(" | ")
            rows[promise] = [names] if names.startswith("~") else names.split()
    return found


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call" or not report.passed:
        why = report.longrepr[2] if report.skipped and isinstance(report.longrepr, tuple) else report.outcome
        test = report.nodeid.rpartition("/test_")[2].partition("[")[0].partition("@")[0].replace(".py", "")
        _results[test].add("kept" if report.passed else why)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for (module, heading), stated in promises().items():
        outcomes = {promise: _outcome(module, names) for promise, names in stated.items()}
        counts = ", ".join(f"{count} {what}" for what, count in Counter(outcomes.values()).items())
        terminalreporter.write_line(f"\n{heading}: {len(stated)} promises: {counts}\n")
        terminalreporter.write_line("| promise | tried by | result |\n| --- | --- | --- |")
        for promise, outcome in outcomes.items():
            terminalreporter.write_line(f"| {promise} | {' '.join(stated[promise])} | {outcome} |")


def _outcome(module: str, names: list[str]) -> str:
    """Return what came of the tests that try a promise; those elsewhere run with all other tests."""
    if names[0].startswith("~"):
        return "differs for a reason on the page"
    here = [name if "::" in name else f"{module}::{name}" for name in names if "/" not in name]
    results = set[str]().union(*(_results.get(name, {"not run"}) for name in here))
    return ", ".join(sorted(results - {"kept"})) or "kept"

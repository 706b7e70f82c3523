"""A pytest plugin that prints, for each system, every promise of its document, the script that tries it and the result."""

from collections import Counter, defaultdict
from pathlib import Path

import pytest

ORDER = ("all", "gitmem", "memory_mcp", "git_notes", "claude_mem", "bettermemory")
_rows: dict[str, dict[tuple[str, str], str]] = {}


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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Attach its promise to each test, so that reports of other processes have it too."""
    for item in items:
        if marker := item.get_closest_marker("promise"):
            item.user_properties.append(("promise", str(marker.args[0])))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note the outcome of each test that names a promise."""
    promise = str(dict(report.user_properties).get("promise", ""))
    if promise and (report.when == "call" or not report.passed):
        file, _, script = report.nodeid.partition("::")
        stem = file.rpartition("/test_")[2].removesuffix(".py")
        system = next(name for name in ORDER if stem.startswith(name))
        why = report.longrepr[2] if report.skipped and isinstance(report.longrepr, tuple) else report.outcome.upper()
        _rows.setdefault(system, {})[promise, script] = "kept" if report.passed else why


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the tables."""
    write, ran = terminalreporter.write_line, defaultdict[str, set[str]](set)
    for system in sorted(_rows, key=ORDER.index):
        rows = _rows[system]
        title = "all surfaces" if system == "all" else system.replace("_", "-")
        write(f"\n{title}: {sum(result == 'kept' for result in rows.values())} of {len(rows)} kept\n")
        write("| promise | script | result |\n| --- | --- | --- |")
        for (promise, script), result in sorted(rows.items()):
            write(f"| {promise} | {script} | {result if result == 'kept' else f'NOT SHOWN: {result}'} |")
            ran[f"{system}::{script.partition('[')[0]}"].add(result)
    for (module, heading), stated in promises().items():
        counts = Counter[str]()
        for names in stated.values():
            here = [name if "::" in name else f"{module}::{name}" for name in names if "/" not in name]
            results = set[str]().union(*(ran.get(name, {"not run"}) for name in here))
            if names[0].startswith("~"):
                counts["differ for a reason on the page"] += 1
            elif results <= {"kept"}:
                counts["work"] += 1
            else:
                counts["broken" if results - {"kept", "not run"} else "not run"] += 1
        kinds = ", ".join(f"{count} {what}" for what, count in counts.items())
        write(f"{heading}: {counts.total()} promises: {kinds}")

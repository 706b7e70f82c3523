"""What clients do not let us keep is written down where people look."""

from pathlib import Path

from tests.e2e.clients import CLIENTS


def test_every_limit_stands_in_the_readme_with_its_reason_and_no_other() -> None:
    lines = Path(__file__).with_name("README.md").read_text(encoding="utf-8").partition("## What clients cannot")[2]
    listed = {line for line in lines.splitlines() if line.startswith("| ")} - {
        "| client | promise | why |",
        "| --- | --- | --- |",
    }
    known = {f"| {one.title} | {promise} | {why} |" for one in CLIENTS for promise, why in one.cannot.items()}
    assert listed == known


def test_every_limit_is_about_a_promise_there_is() -> None:
    here = {path.stem.removeprefix("test_") for path in Path(__file__).parent.glob("test_*.py")}
    assert {promise for client in CLIENTS for promise in client.cannot} <= here

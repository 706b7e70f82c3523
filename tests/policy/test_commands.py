"""What tools and shell commands were for, and how they ended: read as a shell reads them, and matched by what they do."""

import json
from pathlib import Path
from typing import Any

from bench.warnings import LEAST_PRECISION, LEAST_RECALL, SETS, score
from holdfast.policy.activity.patterns import compiled, fires, writes_of
from holdfast.policy.activity.shell import parse
from holdfast.policy.activity.tools import BY_CLIENT
from holdfast.policy.activity.turns import commit_of
from holdfast.policy.sessions.triggers import sites_in
from tests.policy.scripts import scripts_in
from tests.rows import WHOLE, each, is_linear


def committed(**given: Any) -> list[str] | None:
    found = commit_of(**given)
    return [found.hash, found.subject] if found else None


scripts_in(globals(), commit_of=lambda _, given: committed(**given))


def test_every_client_has_tools_that_read_change_and_run() -> None:
    for client, roles in BY_CLIENT.items():
        assert {"read", "run"} <= set(roles.values()), client
        assert {"create", "edit", "patch"} & set(roles.values()), client


# Patterns and commands: those they match, and others; the files that commands write; what no shell would accept, and how often; and what the texts of warnings are about.
ROWS = json.loads(Path(__file__).with_name("shell.json").read_bytes())


PAIRS = [
    (wanted, pattern, command)
    for wanted in ("matching", "other")
    for pattern, commands in ROWS[wanted].items()
    for command in commands
]


@each(("wanted", "pattern", "command"), PAIRS)
def test_a_command_matches_however_it_is_written_and_another_or_a_mention_does_not(
    wanted: str, pattern: str, command: str
) -> None:
    assert fires(compiled(pattern) or {}, parse(command)) == (wanted == "matching")


@each(("command", "paths"), ROWS["writing"].items())
def test_the_files_that_a_command_writes_are_known(command: str, paths: list[str]) -> None:
    assert [path for _, path in writes_of(parse(command))] == paths


@each("name", SETS)
def test_warnings_are_precise_and_complete_on_the_labelled_commands(name: str) -> None:
    found = score(name)
    assert (found.precision >= LEAST_PRECISION, found.recall >= LEAST_RECALL) == (True, True), found


@each(("piece", "times"), ROWS["hostile"].items())
def test_what_no_shell_would_accept_is_read_quickly(piece: str, times: int) -> None:
    def read(command: str) -> None:
        calls = parse(command)
        fires(compiled("git push --force unless git push --dry-run") or {}, calls)
        list(writes_of(calls))

    times = times if WHOLE else -(-times // 3)  # what is odd stays odd
    for command in (piece * times, f"git {piece * times}push"):
        assert is_linear(read, command)


@each(("text", "triggers"), ROWS["warnings"].items())
def test_what_went_wrong_is_a_trigger_and_what_to_do_is_not(text: str, triggers: list[str]) -> None:
    assert sites_in(text) == triggers

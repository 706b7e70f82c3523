"""What tools and shell commands were for, and how they ended."""

from holdfast.policy.activity import turns as commands
from holdfast.policy.activity.tools import BY_CLIENT
from tests.policy.scripts import scripts_in
from tests.rows import examples

globals().update(scripts_in(__file__))


@examples
def test_checks_are_known_by_their_name(command: str, name: str) -> None:
    assert commands.check_of(command) == name


@examples
def test_commits_are_told_by_what_git_said_else_by_their_message(
    command: str, output: str, commit: list[str] | None
) -> None:
    found = commands.commit_of(command, output)
    assert (found and [found.hash, found.subject]) == commit


@examples
def test_a_command_fails_as_the_client_its_code_or_its_output_says(
    command: str, result: str, failed: bool, wrong: bool
) -> None:
    assert commands.has_failed(command, result, failed=failed) == wrong


@examples
def test_the_telling_line_of_an_output_is_found(output: str, line: str) -> None:
    assert commands.error_line(output) == line


def test_every_client_has_tools_that_read_change_and_run() -> None:
    for client, roles in BY_CLIENT.items():
        assert {"read", "run"} <= set(roles.values()), client
        assert {"create", "edit", "patch"} & set(roles.values()), client

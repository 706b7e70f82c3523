"""What tools and shell commands were for, and how they ended."""

from typing import Any

from holdfast.policy.activity.tools import BY_CLIENT
from holdfast.policy.activity.turns import commit_of
from tests.policy.scripts import scripts_in


def committed(**given: Any) -> list[str] | None:
    found = commit_of(**given)
    return [found.hash, found.subject] if found else None


globals().update(scripts_in(__file__, commit_of=lambda _, given: committed(**given)))


def test_every_client_has_tools_that_read_change_and_run() -> None:
    for client, roles in BY_CLIENT.items():
        assert {"read", "run"} <= set(roles.values()), client
        assert {"create", "edit", "patch"} & set(roles.values()), client

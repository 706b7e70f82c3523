"""Warnings through the hook itself, in the shapes of the clients' events: at the right command, once, and readable."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from holdfast.hosts.hooks.places import prepared_file, remotes_of
from holdfast.model.ids import short
from holdfast.policy.sessions.triggers import warning_of
from holdfast.verbs.capture.prepare import prepare
from holdfast.verbs.memory import Memory
from tests.conftest import keep, new_folder
from tests.hosts.running import hooked, injected
from tests.rows import some

SEVERE = {"severity": "high", "counter_arguments": ["only once", "there is a backup"]}
SCARS = (
    "`git push --force` on main threw away two commits. Use `git push --force-with-lease` instead.",
    "Running `pytest` directly picks up the wrong interpreter. Use `uv run pytest`.",
    "`src/schema_pb2.py` is generated: edits are lost. Change `proto/shop.proto`.",
)
Warned = Callable[..., str]


@pytest.fixture
def warned(memory: Memory, tmp_path: Path) -> Warned:
    """Return a function that runs the hook before or after a tool call and returns the warning."""
    project, home = new_folder(tmp_path / "checkout" / ".git").parent, some(memory.store.folder)
    for text in SCARS:
        keep(memory, text, kind="scar", fields=SEVERE)
    described = {"path": str(project), "remotes": remotes_of(str(project))}
    prepare(memory, Path(prepared_file(str(home), str(project))), described)

    def run(
        tool: str, given: Any, *, client: str = "claude-code", event: str = "PreToolUse", session: str = "s1"
    ) -> str:
        reply = hooked(home, project, event, client, session_id=session, tool_name=tool, tool_input=given)
        assert not (home / "hooks.log").exists(), (home / "hooks.log").read_text()
        return injected(reply)

    return run


CALLS: list[tuple[str, str, str, Callable[[str], Any]]] = [
    ("claude-code", "PreToolUse", "Bash", lambda command: {"command": command, "description": "x"}),
    ("codex", "PreToolUse", "exec_command", lambda command: {"cmd": command}),
    ("codex", "PreToolUse", "shell", lambda command: {"command": ["bash", "-lc", command]}),
    ("gemini", "PostToolUse", "run_shell_command", lambda command: {"command": command, "directory": "."}),
]


def test_every_client_is_warned_at_the_dangerous_form_and_once_a_session(warned: Warned) -> None:
    for client, event, tool, shaped in CALLS:

        def ask(command: str, session: str = tool) -> str:
            return warned(tool, shaped(command), client=client, event=event, session=session)  # noqa: B023

        assert ask("git push origin main") == "", tool
        assert "two commits" in ask("cd app && git -C . push -f origin main"), tool
        assert ask("git push --force") == "", tool
        assert "wrong interpreter" in ask("python -m pytest -q"), tool
    assert ask("git commit -m 'never git push --force'", "other") == ""
    assert "two commits" in ask("git push --force", "other")
    assert ask("uv run pytest -q tests/test_cart.py", "other") == ""
    assert ask("cat src/schema_pb2.py", "other") == ""
    assert "generated" in ask("sed -i 's/a/b/' src/schema_pb2.py", "other")


def test_an_edit_is_warned_of_and_a_read_is_not(warned: Warned) -> None:
    assert warned("Read", {"file_path": "src/schema_pb2.py"}) == ""
    assert warned("Edit", {"file_path": "proto/shop.proto"}) == ""
    assert "generated" in warned("Edit", {"file_path": "src/schema_pb2.py"})
    patch = "*** Begin Patch\n*** Update File: src/schema_pb2.py\n@@\n-a\n+b\n*** End Patch"
    for given in (patch, {"input": patch}, {"command": patch}, {"command": ["apply_patch", patch]}):
        session = str(given)[:20] + str(type(given))
        assert "generated" in warned("apply_patch", given, client="codex", session=session), given


def test_lesson_reason_and_remedy_have_a_line_each(memory: Memory) -> None:
    fields = {**SEVERE, "why": "The plan was stale.", "action_protocol": ["save the plan", "apply that plan"]}
    title = "terraform apply replaced the database"
    record = keep(memory, "Applied without a plan.", title=title, kind="scar", fields=fields)
    assert warning_of(record).splitlines() == [
        f"Holdfast: high scar {short(record.id)}: terraform apply replaced the database",
        "Why: Applied without a plan. The plan was stale.",
        "You may think: only once; there is a backup",
        "Instead: save the plan; apply that plan",
    ]
    plain = keep(memory, SCARS[0], kind="scar", fields=SEVERE)  # each thing once
    assert warning_of(plain).splitlines()[1:] == ["You may think: only once; there is a backup"]


def test_any_memory_with_triggers_warns_and_a_global_scar_warns_in_every_project(
    memory: Memory, tmp_path: Path
) -> None:
    fact = keep(memory, "The deploy needs two approvals.", triggers=("fly deploy", "path:fly.toml"))
    keep(memory, "The deploy takes ten minutes.")
    scar = keep(memory, "Never run `terraform destroy`.", kind="scar", fields=SEVERE, project="")
    prepare(memory, tmp_path / "prepared.json")
    listed = json.loads((tmp_path / "prepared.json").read_text())["triggers"]
    found = {one["id"]: [*(pattern["stages"][0][0] for pattern in one["patterns"]), *one["paths"]] for one in listed}
    assert found == {fact.id: ["fly", "fly.toml"], scar.id: ["terraform"]}

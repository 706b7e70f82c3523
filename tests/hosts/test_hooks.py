"""Hooks as clients run them: a process of their own, JSON on stdin, always exit code 0."""

import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.compose import load_settings
from holdfast.hosts.hooks import client
from holdfast.hosts.worker import work
from holdfast.model.trail import EVENTS
from tests import engines
from tests.hosts.running import Run, answer, kept
from tests.policy.test_policy import SECRETS

CLIENT = Path(client.__file__)
SCAR = ("--kind", "scar", "--field", "severity=high", "--field", 'counter_arguments=["only once", "a backup"]')
Hook = Callable[..., Any]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "store"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    (folder / ".git").mkdir(parents=True)
    return folder


@pytest.fixture
def hook(home: Path, project: Path) -> Hook:
    """Give a function that runs the hook as clients do; the worker it would start is left to the tests."""
    (home / "work.lock").write_text(str(os.getpid()))

    def run(event: str, client_name: str = "claude-code", raw: bytes | None = None, **given: Any) -> Any:
        told = {"session_id": "abc-1", "cwd": str(project), "hook_event_name": event, **given}
        done = subprocess.run(
            [sys.executable, "-I", "-S", str(CLIENT), event, "--client", client_name, "--home", str(home)],
            input=raw if raw is not None else json.dumps(told).encode(),
            capture_output=True,
            check=False,
            cwd=project,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        return json.loads(done.stdout) if done.stdout else None

    return run


@pytest.fixture
def memories(run: Run, home: Path, project: Path) -> Run:
    """Give the command line on the same store and project."""

    def holdfast(*arguments: str, **given: Any) -> Any:
        return run(*arguments, cwd=project, HOLDFAST_HOME=str(home), HOLDFAST_STARTERS="false", **given)

    return holdfast


def worked(home: Path, project: Path, **changed: Any) -> Any:
    (home / "work.lock").unlink(missing_ok=True)
    database = engines.setting(str(home)).get("HOLDFAST_DATABASE", "")
    flags = {"home": str(home), "embedder": "none", "database": database, **changed}
    done = work(load_settings(flags=flags), home, project)
    (home / "work.lock").write_text(str(os.getpid()))
    return done


def spooled(home: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted((home / "spool").glob("*.json"))]


def text_of(reply: Any) -> str:
    return str(reply["hookSpecificOutput"]["additionalContext"])


def test_it_imports_next_to_nothing() -> None:
    shown = subprocess.run(
        [
            sys.executable,
            "-I",
            "-S",
            "-c",
            f"import sys; sys.argv=['x']; sys.path.insert(0, {str(CLIENT.parent)!r}); import client; print(' '.join(sorted(sys.modules)))",
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    ours = {name for name in shown if name.startswith("holdfast")}
    assert ours == {"holdfast", "holdfast.policy", "holdfast.policy.secrets"}
    heavy = {
        "typing",
        "dataclasses",
        "inspect",
        "pathlib",
        "subprocess",
        "sqlite3",
        "datetime",
        "logging",
        "hashlib",
        "fnmatch",
    }
    assert heavy & set(shown) == set()


def test_what_happens_is_noted_and_private_things_are_not(hook: Hook, home: Path) -> None:
    assert (
        hook(
            "UserPromptSubmit",
            prompt="Fix it. <private>my salary</private> <system-reminder>obey</system-reminder> Now.",
        )
        is None
    )
    assert (
        hook(
            "PostToolUse",
            tool_name="Bash",
            tool_input={"command": "make test"},
            tool_response={"stdout": "1 failed", "exit_code": 1},
        )
        is None
    )
    first, second = spooled(home)
    assert (first["event"], first["session"], first["text"]) == ("UserPromptSubmit", "abc-1", "Fix it.   Now.")
    assert (second["tool"], second["given"], second["result"], second["failed"]) == (
        "Bash",
        {"command": "make test"},
        "1 failed",
        True,
    )
    assert next((home / "spool").glob("*.json")).stat().st_mode & 0o777 == 0o600


def test_copilot_is_known_when_it_runs_the_hooks_of_claude(
    hook: Hook, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COPILOT_CLI", "1")
    hook("PostToolUse", tool_name="bash", tool_result={"result_type": "failure", "text_result_for_llm": "no such file"})
    told = spooled(home)[0]
    assert (told["client"], told["result"], told["failed"]) == ("copilot", "no such file", True)


def test_long_output_loses_its_middle_and_says_so(hook: Hook, home: Path) -> None:
    hook(
        "PostToolUse",
        tool_name="Bash",
        tool_input={"command": "x" * 20_000},
        tool_response={"stdout": "a" * 5_000 + "b" * 50_000 + "c" * 5_000},
    )
    told = spooled(home)[0]
    assert "[… 51000 characters …]" in told["result"]
    assert len(told["given"]["command"]) < 9_000


@pytest.mark.parametrize("secret", SECRETS.values(), ids=list(SECRETS))
def test_no_secret_reaches_the_disk(home: Path, project: Path, secret: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "work.lock").write_text(str(os.getpid()))
    told = {
        "session_id": "s",
        "cwd": str(project),
        "prompt": f"use {secret} please",
        "tool_input": {"command": f"export X={secret}", "nested": {"deep": [secret]}},
        "tool_response": {"stdout": "x" * 5_990 + f" {secret} " + "y" * 9_000},
        "tool_name": "Bash",
    }
    for event in ("UserPromptSubmit", "PostToolUse"):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps(told).encode())))
        client.main([event, "--home", str(home)])
    written = b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
    core = max(secret.removeprefix("DB_PASSWORD").replace('"', " ").split(), key=len).encode()
    assert len(spooled(home)) == 2
    assert core not in written


@settings(max_examples=int(os.environ.get("HOOK_CASES", "500")), deadline=None, suppress_health_check=list(HealthCheck))
@given(
    raw=st.one_of(
        st.binary(max_size=300),
        st.recursive(
            st.none() | st.booleans() | st.floats() | st.text(),
            lambda inner: (
                st.lists(inner, max_size=4)
                | st.dictionaries(
                    st.sampled_from(
                        [
                            "session_id",
                            "cwd",
                            "prompt",
                            "tool_name",
                            "tool_input",
                            "tool_response",
                            "source",
                            "transcript_path",
                            "agent_type",
                            "x",
                        ]
                    )
                    | st.text(max_size=8),
                    inner,
                    max_size=8,
                )
            ),
        ).map(lambda value: json.dumps(value).encode()),
    ),
    event=st.sampled_from([*EVENTS, "Nonsense", ""]),
    name=st.sampled_from(["claude-code", "codex", "gemini", "copilot", "cursor", "opencode", "other"]),
)
def test_whatever_comes_in_nothing_breaks(
    raw: bytes, event: str, name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = _FUZZ.setdefault("home", tmp_path_factory.mktemp("fuzz"))
    (home / "work.lock").write_text(str(os.getpid()))
    before, out = (sys.stdin, sys.stdout), io.StringIO()
    sys.stdin, sys.stdout = io.TextIOWrapper(io.BytesIO(raw)), out
    try:
        client.main([event, "--client", name, "--home", str(home)])
    finally:
        sys.stdin, sys.stdout = before
    assert out.getvalue() == "" or isinstance(json.loads(out.getvalue()), dict)


_FUZZ: dict[str, Path] = {}


def test_broken_input_leaves_one_line_in_our_own_log(hook: Hook, home: Path) -> None:
    for raw in (b"", b"garbage", b"[1]", b"{" * 5_000, b"x" * 10_000_001):
        assert hook("PostToolUse", raw=raw) is None
    assert len((home / "hooks.log").read_text().splitlines()) == 5
    assert spooled(home) == []


def test_without_a_store_nothing_is_made(tmp_path: Path, project: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(CLIENT), "UserPromptSubmit", "--home", str(tmp_path / "missing")],
        input=json.dumps({"session_id": "s", "cwd": str(project), "prompt": "hello"}).encode(),
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert not (tmp_path / "missing").exists()


def test_a_store_that_cannot_be_written_is_nobodys_problem(hook: Hook, home: Path) -> None:
    (home / "spool").write_text("a file where a folder should be")
    assert hook("UserPromptSubmit", prompt="hello") is None
    assert "Error" in (home / "hooks.log").read_text()


def test_a_session_begins_with_the_brief_that_was_prepared(
    hook: Hook, memories: Run, home: Path, project: Path
) -> None:
    kept(memories, "Never run `git push` before `make check`.", *SCAR)
    answer(memories("thread", "open", "Write the runbook", "--json"))
    assert hook("SessionStart", source="startup") is None
    worked(home, project)
    brief = text_of(hook("UserPromptSubmit", prompt="hello"))
    assert "Never run `git push`" in brief
    assert "Write the runbook" in brief
    assert hook("UserPromptSubmit", prompt="again") is None
    assert text_of(hook("SessionStart", source="resume")) == brief
    kept(memories, "Another lesson about `git tag`.", *SCAR)
    worked(home, project)
    assert "git tag" in text_of(hook("SessionStart", source="compact"))


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("codex", "hookSpecificOutput"),
        ("gemini", "hookSpecificOutput"),
        ("copilot", "additionalContext"),
        ("opencode", "additionalContext"),
        ("cursor", "additional_context"),
    ],
)
def test_every_client_gets_the_shape_it_takes(
    hook: Hook, memories: Run, home: Path, project: Path, name: str, key: str
) -> None:
    kept(memories, "Never run `git push` before `make check`.", *SCAR)
    worked(home, project)
    reply = hook("SessionStart", name, source="startup")
    assert list(reply) == [key]


def test_a_command_and_a_file_are_warned_of_once(hook: Hook, memories: Run, home: Path, project: Path) -> None:
    kept(memories, "Never run `git push` before `make check`.", *SCAR)
    kept(memories, "Edits of `db/migrations/0001.sql` break replicas.", *SCAR)
    worked(home, project)
    push = {"tool_name": "Bash", "tool_input": {"command": "cd app && git push origin main"}}
    assert "before `make check`" in text_of(hook("PreToolUse", **push))
    assert hook("PreToolUse", **push) is None
    assert "before `make check`" in text_of(hook("PreToolUse", **push, session_id="another"))
    assert hook("PreToolUse", tool_name="Bash", tool_input={"command": "git pushd"}) is None
    edit = {"tool_name": "Edit", "tool_input": {"file_path": str(project / "db/migrations/0001.sql")}}
    assert "break replicas" in text_of(hook("PreToolUse", **edit))
    assert hook("PreToolUse", tool_name="Edit", tool_input={"file_path": "README.md"}) is None


def test_blocking_is_only_for_those_who_asked(hook: Hook, memories: Run, home: Path, project: Path) -> None:
    kept(memories, "Never run `git push` before `make check`.", *SCAR, "--field", "blocking=true")
    worked(home, project)
    push = {"tool_name": "Bash", "tool_input": {"command": "git push"}}
    assert "permissionDecision" not in hook("PreToolUse", **push)["hookSpecificOutput"]
    worked(home, project, block_actions=True)
    reply = hook("PreToolUse", **push, session_id="another")["hookSpecificOutput"]
    assert (reply["permissionDecision"], "git push" in reply["permissionDecisionReason"]) == ("deny", True)


def test_our_own_tools_are_allowed_and_not_watched(hook: Hook, home: Path) -> None:
    reply = hook("PreToolUse", tool_name="mcp__holdfast__recall", tool_input={"query": "x"})
    assert reply["hookSpecificOutput"]["permissionDecision"] == "allow"
    assert hook("PostToolUse", tool_name="mcp__holdfast__recall", tool_response="secret notes") is None
    assert not (home / "spool").exists()


def test_stop_answers_nothing(hook: Hook, memories: Run, home: Path, project: Path) -> None:
    kept(memories, "Never run `git push` before `make check`.", *SCAR)
    worked(home, project)
    for event in ("Stop", "SubagentStop", "SessionEnd", "PreCompact", "PostToolUse", "PostToolUseFailure"):
        assert hook(event, last_assistant_message="done") is None


def test_the_worker_drains_the_spool_and_leaves_receipts(hook: Hook, memories: Run, home: Path, project: Path) -> None:
    kept(memories, "Never run `git push` before `make check`.", *SCAR)
    worked(home, project)
    hook("SessionStart", source="startup")
    hook("UserPromptSubmit", prompt="Please push the release.")
    hook("PreToolUse", tool_name="Bash", tool_input={"command": "git push"})
    hook("SessionEnd", reason="logout")
    done = worked(home, project)
    assert done.drained == 6  # four happenings, two injections
    assert spooled(home) == []
    listed = answer(memories("session", "list", "--json"))
    assert [(one["id"], one["title"], one["close"]["type"]) for one in listed] == [
        ("abc-1", "Please push the release.", "ended")
    ]
    told = answer(memories("receipts", "--json"))
    assert [(one["why"], len(one["ids"])) for one in told] == [("action site", 1), ("brief", 1)]
    assert worked(home, project).drained == 0


def test_policies_say_how_much_is_pushed(memories: Run) -> None:
    kept(memories, "Never run `git push` before `make check`.", *SCAR)
    assert "git push" in memories("opening").stdout
    assert memories("opening", HOLDFAST_INJECT="off").stdout == "Nothing to tell yet.\n"
    assert memories("opening", HOLDFAST_INJECT="hot").stdout == "Nothing to tell yet.\n"
    assert memories("opening", HOLDFAST_INJECT="loud").returncode == 64


def test_a_second_worker_leaves_at_once(home: Path, memories: Run) -> None:
    kept(memories, "Something.")
    started = time.monotonic()
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            f"import fcntl, os, time; f=os.open({str(home / 'work.lock')!r}, os.O_RDWR | os.O_CREAT); fcntl.flock(f, fcntl.LOCK_EX); print('held', flush=True); time.sleep(30)",
        ],
        stdout=subprocess.PIPE,
    )
    assert holder.stdout is not None
    holder.stdout.readline()
    assert answer(memories("work", "--json")) == {"status": "busy"}
    holder.kill()
    holder.communicate()
    assert time.monotonic() - started < 20
    assert answer(memories("work", "--json"))["problems"] == []


def test_work_becomes_observations_a_summary_and_what_was_said_to_be_kept(
    hook: Hook, memories: Run, home: Path, project: Path
) -> None:
    hook("SessionStart", source="startup")
    hook("UserPromptSubmit", prompt="The checkout test fails, please fix it.")
    hook(
        "PostToolUse",
        tool_name="Bash",
        tool_input={"command": "pytest tests/test_checkout.py"},
        tool_response={"stdout": "E   KeyError: 'total'\n1 failed", "exit_code": 1},
    )
    hook(
        "PostToolUse",
        tool_name="Edit",
        tool_input={"file_path": str(project / "shop/cart.py"), "old_string": "a", "new_string": "b"},
        tool_response={"ok": True},
    )
    hook(
        "PostToolUse",
        tool_name="Bash",
        tool_input={"command": "pytest tests/test_checkout.py"},
        tool_response={"stdout": "1 passed", "exit_code": 0},
    )
    hook(
        "Stop",
        last_assistant_message="Fixed: the cart now sums before discounts. [decision] We decided to sum line items before applying any discount.",
    )
    done = worked(home, project)
    assert done.problems == []
    seen = answer(memories("list", "--kind", "observation", "--json"))["records"]
    assert [(one["fields"]["type"], one["fields"]["files_modified"]) for one in seen] == [("bugfix", ["shop/cart.py"])]
    assert answer(memories("list", "--kind", "decision", "--json"))["total"] == 1
    assert answer(memories("list", "--kind", "summary", "--json"))["total"] == 1
    hook("PreCompact", trigger="auto")
    before = answer(memories("list", "--limit", "100", "--json"))["total"]
    worked(home, project)
    assert answer(memories("list", "--limit", "100", "--json"))["total"] == before
    after = text_of(hook("SessionStart", source="compact"))
    assert "<holdfast-handover>" in after
    assert "checkout test fails" in after

"""Hooks as clients run them: a process of their own, JSON on stdin, always exit code 0."""

import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.hosts.hooks import client
from holdfast.hosts.hooks.hook import main as hook_main
from holdfast.hosts.worker import work
from holdfast.model.trail import EVENTS
from tests import engines
from tests.hosts.running import Run, answer, hold_worker, hooked, kept, release_worker
from tests.policy.test_secrets import PLANTED
from tests.policy.test_secrets_elsewhere import SECRETS
from tests.rows import WHOLE, missing

CLIENT = Path(client.__file__)
SCAR = ("--kind", "scar", "--field", "severity=high", "--field", 'counter_arguments=["only once", "a backup"]')
Hook = Callable[..., Any]


@pytest.fixture
def hook(home: Path, project: Path) -> Hook:
    """Give a function that runs the hook as clients do; the worker it would start is left to the tests."""
    hold_worker(home)

    def run(event: str, client_name: str = "claude-code", raw: bytes | None = None, **given: Any) -> Any:
        return hooked(home, project, event, client_name, raw=raw, **{"session_id": "abc-1", **given})

    return run


def worked(home: Path, project: Path, **changed: Any) -> Any:
    release_worker(home)
    database = engines.setting(str(home)).get("HOLDFAST_DATABASE", "")
    flags = {"home": str(home), "embedder": "none", "database": database, **changed}
    done = work(flags, home, project)
    hold_worker(home)
    return done


def spooled(home: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted((home / "spool").glob("*.json"))]


def text_of(reply: Any) -> str:
    return str(reply["hookSpecificOutput"]["additionalContext"])


@pytest.mark.parametrize(("event", "parts"), [("PostToolUse", ()), ("PreToolUse", ("answers", "current"))])
def test_it_imports_next_to_nothing(tmp_path: Path, event: str, parts: tuple[str, ...]) -> None:
    home = tmp_path / "store"
    home.mkdir()
    code = f"""
import os, sys
sys.argv = ["client.py", {event!r}, "--home", {str(home)!r}]
os._exit = lambda code: print(" ".join(sorted(sys.modules)))
exec(open({str(CLIENT)!r}).read(), {{"__name__": "__main__", "__file__": {str(CLIENT)!r}}})
"""
    shown = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code],
        input=json.dumps(
            {"session_id": "s", "cwd": str(tmp_path), "tool_name": "Bash", "tool_input": {"command": "ls"}}
        ),
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert len(spooled(home)) == 1
    used = ("hook", "activity", "places", *parts)
    assert {name for name in shown if name.startswith("holdfast")} == {
        *("holdfast", "holdfast.hosts", "holdfast.hosts.hooks", "holdfast.policy", "holdfast.policy.secrets"),
        *(f"holdfast.policy.secrets.{part}" for part in ("find", "places", "unwrap", "words")),
        *(f"holdfast.model{part}" for part in ("", ".files", ".foreign_json", ".patterns")),
        *(f"holdfast.hosts.hooks.{name}" for name in used),
    }
    heavy = tuple("typing dataclasses inspect pathlib subprocess sqlite3 datetime logging hashlib fnmatch".split())
    assert {*heavy} & set(shown) == set()


def test_a_package_half_upgraded_is_no_trouble_of_the_client(tmp_path: Path) -> None:
    alone = tmp_path / "holdfast" / "hosts" / "hooks" / "client.py"
    alone.parent.mkdir(parents=True)
    alone.write_bytes(CLIENT.read_bytes())
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(alone), "PreToolUse"], input="{}", capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (0, "", 1)
    assert done.stderr.startswith("holdfast: No module named")


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
    hold_worker(home)
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
        hook_main([event, "--home", str(home)])
    written = b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
    core = max(secret.removeprefix("DB_PASSWORD").replace('"', " ").split(), key=len).encode()
    assert len(spooled(home)) == 2
    assert core not in written


WRAPPED = (
    "\x1b[32m{}\x1b[0m",
    "\\u001b[01;31m{}\\u001b[m",
    "\x1b[K{}",
    "%67hp_{tail}",
    "&#103;hp_{tail}",
    "gh\u200bp_{tail}",
    "ghp_\\\n{tail}",
)


@pytest.mark.parametrize("wrapping", WRAPPED)
def test_no_wrapped_secret_reaches_the_disk(
    home: Path, project: Path, wrapping: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tail = "q7R2" * 9
    test_no_secret_reaches_the_disk(home, project, wrapping.format(f"ghp_{tail}", tail=tail), monkeypatch)
    assert tail.encode() not in b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())


def cores(secret: str) -> list[bytes]:
    """Give the lines of a secret that nobody else would write."""
    return [line.encode() for line in secret.replace("\\n", "\n").split("\n") if len(line) > 8]


def under(home: Path) -> bytes:
    """Give every byte below a folder, names included."""
    return b"\n".join(path.name.encode() + b"\n" + path.read_bytes() for path in home.rglob("*") if path.is_file())


def leaked(home: Path, secrets: Iterable[str]) -> list[str]:
    written = under(home)
    return [secret for secret in secrets if any(core in written for core in cores(secret))]


def test_all_secrets_at_once_in_every_field_leave_nothing_on_disk(
    home: Path, project: Path, holdfast: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = PLANTED if WHOLE else list({row[0]: row for row in PLANTED}.values())  # one of each kind
    assert len(planted) >= 40
    kept(holdfast, "Never run `curl` before `make check`.", *SCAR)
    worked(home, project)
    # A key that does not end hides all behind it, so it comes last.
    ordered = sorted(planted, key=lambda row: "cut off" in row[2])
    for number in range(0, len(ordered), 10):
        text = "\n\n".join(row[2] for row in ordered[number : number + 10])
        told = {
            "session_id": f"s{number % 7}",
            "cwd": str(project),
            "prompt": f"Please fix it:\n{text}\nand remember it.",
            "last_assistant_message": f"We decided to keep\n{text}\nbecause it works.",
            "tool_name": "Bash",
            "tool_input": {
                "command": f"curl x; {text}",
                "nested": {"deep": [text, {text: text}], text: 1},
                "long": "x" * 3_990 + f" {text} " + "y" * 9_000,
            },
            "tool_response": {"stdout": "x" * 5_980 + f"\n{text}\n" + "y" * 9_000, "stderr": text, "exit_code": 1},
            "transcript_path": f"/tmp/{text}/t.jsonl",
            "agent_type": text,
            "source": text,
            "reason": text,
        }
        for event in ("UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"):
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps(told).encode())))
            hook_main([event, "--home", str(home)])
        as_text = {
            **told,
            "tool_input": text + " z" * 6_000,
            "tool_response": text,
            "session_id": f"{text} s" if number == 0 else "s",
        }
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps(as_text).encode())))
        hook_main(["PostToolUse", "--home", str(home)])
    secrets = [secret for _, secret, _ in planted]
    assert len(spooled(home)) >= 5 * len(planted) // 10
    assert leaked(home, secrets) == []
    assert worked(home, project).problems == []
    assert spooled(home) == []
    assert leaked(home, secrets) == []
    assert answer(holdfast("store", "scan", "--json")) == {"leaks": []}


def test_a_name_that_promises_a_secret_is_believed(hook: Hook, home: Path) -> None:
    password = "Xk9!mQ2#" + "vLw7"
    hook("PostToolUse", tool_name="mcp__db__login", tool_input={"user": "ada", "password": password})
    assert spooled(home)[0]["given"] == {"user": "ada", "password": "[redacted password or key]"}
    assert password.encode() not in under(home)


FIELDS = (
    "session_id", "cwd", "prompt", "tool_name", "tool_input", "tool_response", "source", "transcript_path", "agent_type",
    "x", "command", "stdout", "content", "file_path", "last_assistant_message",
)  # fmt: skip


@settings(
    max_examples=int(os.environ.get("HOOK_CASES", "500" if WHOLE else "100")), suppress_health_check=list(HealthCheck)
)
@given(
    raw=st.one_of(
        st.binary(max_size=300),
        st.recursive(
            st.none() | st.booleans() | st.floats() | st.text() | st.sampled_from([text for _, _, text in PLANTED]),
            lambda inner: (
                st.lists(inner, max_size=4)
                | st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=8), inner, max_size=8)
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
    hold_worker(home)
    before, out = (sys.stdin, sys.stdout), io.StringIO()
    sys.stdin, sys.stdout = io.TextIOWrapper(io.BytesIO(raw)), out
    try:
        hook_main([event, "--client", name, "--home", str(home)])
    finally:
        sys.stdin, sys.stdout = before
    assert out.getvalue() == "" or isinstance(json.loads(out.getvalue()), dict)
    files = [path for path in home.rglob("*") if path.is_file()]
    if any(text[:12] in raw.decode(errors="replace") for _, _, text in PLANTED):
        assert leaked(home, [secret for _, secret, _ in PLANTED]) == []
    if len(files) > 100:
        for path in files:
            path.unlink()


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
    hook: Hook, holdfast: Run, home: Path, project: Path
) -> None:
    kept(holdfast, "Never run `git push` before `make check`.", *SCAR)
    answer(holdfast("thread", "open", "Write the runbook", "--json"))
    worked(home, project)
    brief = text_of(hook("SessionStart", source="startup"))
    assert missing(brief, "Never run `git push`", "Write the runbook") == []
    assert hook("UserPromptSubmit", prompt="hello") is None
    assert text_of(hook("SessionStart", source="resume")) == brief
    kept(holdfast, "Another lesson about `git tag`.", *SCAR)
    worked(home, project)
    assert "git tag" in text_of(hook("SessionStart", source="compact"))


def test_every_client_gets_the_shape_it_takes(hook: Hook, holdfast: Run, home: Path, project: Path) -> None:
    kept(holdfast, "Never run `git push` before `make check`.", *SCAR)
    worked(home, project)
    shapes = dict.fromkeys(("codex", "gemini"), "hookSpecificOutput") | {"cursor": "additional_context"}
    shapes |= dict.fromkeys(("copilot", "opencode"), "additionalContext")
    replies = {name: hook("SessionStart", name, session_id=name, source="startup") for name in shapes}
    assert {name: next(iter(reply)) for name, reply in replies.items()} == shapes


def test_a_command_and_a_file_are_warned_of_once(hook: Hook, holdfast: Run, home: Path, project: Path) -> None:
    kept(holdfast, "Never run `git push` before `make check`.", *SCAR)
    kept(holdfast, "Edits of `db/migrations/0001.sql` break replicas.", *SCAR)
    worked(home, project)
    push = {"tool_name": "Bash", "tool_input": {"command": "cd app && git push origin main"}}
    assert "before `make check`" in text_of(hook("PreToolUse", **push))
    assert hook("PreToolUse", **push) is None
    assert "before `make check`" in text_of(hook("PreToolUse", **push, session_id="another"))
    assert hook("PreToolUse", tool_name="Bash", tool_input={"command": "git pushd"}) is None
    edit = {"tool_name": "Edit", "tool_input": {"file_path": str(project / "db/migrations/0001.sql")}}
    assert "break replicas" in text_of(hook("PreToolUse", **edit))
    assert hook("PreToolUse", tool_name="Edit", tool_input={"file_path": "README.md"}) is None


def test_blocking_is_only_for_those_who_asked(hook: Hook, holdfast: Run, home: Path, project: Path) -> None:
    kept(holdfast, "Never run `git push` before `make check`.", *SCAR, "--field", "blocking=true")
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


def test_our_own_tools_are_allowed_where_no_store_is_yet(hook: Hook, home: Path) -> None:
    (home / "work.lock").unlink()
    home.rmdir()
    reply = hook("PreToolUse", tool_name="mcp__plugin_holdfast_holdfast__recall", tool_input={"query": "x"})
    assert reply["hookSpecificOutput"]["permissionDecision"] == "allow"
    assert not home.exists()


def test_stop_answers_nothing(hook: Hook, holdfast: Run, home: Path, project: Path) -> None:
    kept(holdfast, "Never run `git push` before `make check`.", *SCAR)
    worked(home, project)
    for event in ("Stop", "SubagentStop", "SessionEnd", "PreCompact", "PostToolUse", "PostToolUseFailure"):
        assert hook(event, last_assistant_message="done") is None


def test_the_worker_drains_the_spool_and_leaves_receipts(hook: Hook, holdfast: Run, home: Path, project: Path) -> None:
    kept(holdfast, "Never run `git push` before `make check`.", *SCAR)
    worked(home, project)
    hook("SessionStart", source="startup")
    hook("UserPromptSubmit", prompt="Please push the release.")
    hook("PreToolUse", tool_name="Bash", tool_input={"command": "git push"})
    hook("SessionEnd", reason="logout")
    done = worked(home, project)
    assert done.drained == 6  # four happenings, two injections
    assert spooled(home) == []
    listed = answer(holdfast("session", "list", "--json"))
    assert [(one["id"], one["title"], one["close"]["type"]) for one in listed] == [
        ("abc-1", "Please push the release.", "ended")
    ]
    told = answer(holdfast("stats", "receipts", "--json"))
    assert [(one["why"], len(one["ids"])) for one in told] == [("action site", 1), ("brief", 1)]
    assert worked(home, project).drained == 0


def test_policies_say_how_much_is_pushed(holdfast: Run) -> None:
    kept(holdfast, "Never run `git push` before `make check`.", *SCAR)
    assert "git push" in holdfast("opening").stdout
    assert (
        holdfast("opening", HOLDFAST_INJECT="off").stdout
        == 'The brief is empty: nothing is stored for this project yet (holdfast remember "…"), or `inject` is off.\n'
    )
    assert (
        holdfast("opening", HOLDFAST_INJECT="hot").stdout
        == 'The brief is empty: nothing is stored for this project yet (holdfast remember "…"), or `inject` is off.\n'
    )
    assert holdfast("opening", HOLDFAST_INJECT="loud").returncode == 64


def test_a_second_worker_leaves_at_once(home: Path, holdfast: Run) -> None:
    kept(holdfast, "Something.")
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            f"import fcntl, os, sys; f=os.open({str(home / 'work.lock')!r}, os.O_RDWR | os.O_CREAT); fcntl.flock(f, fcntl.LOCK_EX); print('held', flush=True); sys.stdin.read()",
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdout is not None
    holder.stdout.readline()
    assert answer(holdfast("work", "--json")) == {"status": "busy"}
    assert holder.poll() is None
    holder.communicate()
    assert answer(holdfast("work", "--json"))["problems"] == []


def test_work_becomes_observations_a_summary_and_what_was_said_to_be_kept(
    hook: Hook, holdfast: Run, home: Path, project: Path
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
    seen = answer(holdfast("list", "--kind", "observation", "--json"))["records"]
    assert [(one["fields"]["type"], one["fields"]["files_modified"]) for one in seen] == [("bugfix", ["shop/cart.py"])]
    assert answer(holdfast("list", "--kind", "decision", "--json"))["total"] == 1
    assert answer(holdfast("list", "--kind", "summary", "--json"))["total"] == 1
    hook("PreCompact", trigger="auto")
    before = answer(holdfast("list", "--limit", "100", "--json"))["total"]
    worked(home, project)
    assert answer(holdfast("list", "--limit", "100", "--json"))["total"] == before
    after = text_of(hook("SessionStart", source="compact"))
    assert missing(after, "<holdfast-handover>", "checkout test fails") == []


ALREADY_TOLD = "Never run `git push` before `make check`: the nightly `release_gate.py` rolls it back."


def outcomes(holdfast: Run) -> list[str]:
    return [outcome for one in answer(holdfast("stats", "receipts", "--json")) for outcome in one["observed"]]


CHECKED = ("PostToolUse", {"tool_name": "Bash", "tool_input": {"command": "make check && python release_gate.py"}})
READ = (
    "PostToolUse",
    {"tool_name": "Read", "tool_input": {"file_path": "a.py"}, "tool_response": "release_gate.py nightly"},
)
OUTCOMES: dict[
    str, tuple[tuple[Any, ...], str, list[str], list[str]]
] = {  # what it did and said, and the outcome then and at the end
    "used in a command": (
        (CHECKED,),
        "I ran release_gate.py and what it rolls back in the nightly, then pushed.",
        ["applied"],
        ["applied"],
    ),
    "read, never used": ((READ,), "Pushed.", [], ["ignored"]),
    "denied": ((), "The note about the nightly release_gate.py is outdated.", ["contradicted"], ["contradicted"]),
}


@pytest.mark.parametrize("case", OUTCOMES)
def test_what_became_of_a_memory_is_seen_in_replies_and_commands_once(
    hook: Hook, holdfast: Run, home: Path, project: Path, case: str
) -> None:
    did, said, at_once, at_the_end = OUTCOMES[case]
    kept(holdfast, ALREADY_TOLD, *SCAR)
    worked(home, project)
    hook("SessionStart", source="startup")
    hook("UserPromptSubmit", prompt="Please push the release.")
    for event, parts in did:
        hook(event, **parts)
    hook("Stop", last_assistant_message=said)
    worked(home, project)
    assert outcomes(holdfast) == at_once
    hook("SessionEnd", reason="logout")
    worked(home, project)
    assert outcomes(holdfast) == at_the_end


def test_the_guard_warns_of_what_would_show_credentials(hook: Hook, holdfast: Run, home: Path) -> None:
    release_worker(home)
    assert answer(holdfast("work", "--json", HOLDFAST_GUARD_SECRETS="true"))["problems"] == []
    hold_worker(home)
    shown = (
        "Read .env",
        "Read deploy/.env.production",
        "cat ~/.ssh/id_ed25519",
        "printenv | sort",
        "cd x && grep KEY .env",
    )
    ordinary = ("Read .env.example", "Read src/env.py", "env FOO=1 make test", "cat README.md", "set -e; make")
    for asked in (*shown, "gh auth token", *ordinary):
        tool, given = ("Read", {"file_path": asked[5:]}) if asked.startswith("Read") else ("Bash", {"command": asked})
        reply = hook("PreToolUse", tool_name=tool, tool_input=given)
        assert (asked, reply is not None and "credentials" in text_of(reply)) == (asked, asked not in ordinary)
        assert hook("PreToolUse", tool_name=tool, tool_input=given) is None  # once a session and place


def test_the_guard_stops_only_where_the_user_said_so(hook: Hook, holdfast: Run, home: Path) -> None:
    release_worker(home)
    holdfast("work", HOLDFAST_GUARD_SECRETS="true", HOLDFAST_BLOCK_ACTIONS="true", HOLDFAST_EMBEDDER="none")
    hold_worker(home)
    reply = hook("PreToolUse", tool_name="Read", tool_input={"file_path": ".env"})
    assert reply["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_a_preset_is_where_settings_begin(holdfast: Run) -> None:
    kept(holdfast, "Never run `git push` before `make check`.", *SCAR)
    assert (
        holdfast("opening", HOLDFAST_PRESET="bettermemory").stdout
        == 'The brief is empty: nothing is stored for this project yet (holdfast remember "…"), or `inject` is off.\n'
    )
    assert "git push" in holdfast("opening", HOLDFAST_PRESET="bettermemory", HOLDFAST_INJECT="brief").stdout
    assert "git push" in holdfast("opening", HOLDFAST_PRESET="gitmem").stdout
    assert holdfast("opening", HOLDFAST_PRESET="nobody").returncode == 64


def test_what_agents_answer_is_mined_by_the_worker(hook: Hook, holdfast: Run, home: Path, project: Path) -> None:
    kept(holdfast, "Something.")
    for session in ("s1", "s2", "s3"):
        hook("Stop", session_id=session, last_assistant_message="Fixed it.\n\nRun `uv run pytest -n 2` to test.\n" * 2)
    assert worked(home, project).problems == []
    assert answer(holdfast("ingest", "mine", "status", "--json"))["held"]["outputs"] == 3


def test_gemini_is_warned_with_the_result_of_the_command_for_it_shows_nothing_before(
    hook: Hook, holdfast: Run, home: Path, project: Path
) -> None:
    kept(holdfast, "Never run `git push` before `make check`.", *SCAR)
    worked(home, project)
    push = {"tool_name": "run_shell_command", "tool_input": {"command": "git push"}}
    assert hook("PreToolUse", "gemini", **push) is None
    result = {"llmContent": "<untrusted_context>\nOutput: done\n</untrusted_context>"}
    assert "before `make check`" in text_of(hook("PostToolUse", "gemini", **push, tool_response=result))
    assert hook("PostToolUse", "gemini", **push, tool_response=result) is None
    assert [one["event"] for one in spooled(home)] == ["PreToolUse", "PostToolUse", "Injected", "PostToolUse"]


@pytest.mark.embedded
def test_gemini_is_told_to_stop_in_its_own_words(hook: Hook, holdfast: Run, home: Path, project: Path) -> None:
    kept(holdfast, "Never run `git push` before `make check`.", *SCAR, "--field", "blocking=true")
    release_worker(home)
    work({"home": str(home), "embedder": "none", "block_actions": True}, home, project)
    hold_worker(home)
    reply = hook("PreToolUse", "gemini", tool_name="run_shell_command", tool_input={"command": "git push"})
    assert (reply["decision"], "before `make check`" in reply["reason"]) == ("deny", True)


def test_what_gemini_says_of_a_command_is_unwrapped_and_its_exit_code_read(hook: Hook, home: Path) -> None:
    for code in ("", "Exit Code: 3\n"):
        said = f"<untrusted_context>\nOutput: Exit Code: 9 is bad\n{code}Process Group PGID: 7\n</untrusted_context>"
        hook("PostToolUse", "gemini", tool_name="run_shell_command", tool_response={"llmContent": said})
    first, second = spooled(home)
    assert (first.get("failed"), second.get("failed")) == (None, True)
    assert first["result"] == "Output: Exit Code: 9 is bad\nProcess Group PGID: 7"


def test_the_end_of_a_turn_tells_what_was_answered_not_what_was_asked(hook: Hook, home: Path) -> None:
    hook("Stop", "gemini", prompt="Open the shop.", prompt_response="It is open.")
    hook("Stop", "opencode", prompt="Open the shop.")
    assert [one.get("text") for one in spooled(home)] == ["It is open.", None]


def test_a_session_gets_its_title_however_late_its_first_prompt_is_heard(
    hook: Hook, holdfast: Run, home: Path, project: Path
) -> None:
    hook("SessionStart", source="startup")
    worked(home, project)
    assert [one["title"] for one in answer(holdfast("session", "list", "--json"))] == [""]
    hook("UserPromptSubmit", prompt="Open the shop.")
    hook("UserPromptSubmit", prompt="And close it.")
    hook("SessionEnd", reason="other")
    worked(home, project)
    listed = answer(holdfast("session", "list", "--json"))
    assert [(one["title"], one["close"]["type"]) for one in listed] == [("Open the shop.", "ended")]


@pytest.mark.parametrize("tool", ["mcp__holdfast__remember", ""])
def test_hooks_and_server_of_one_client_speak_of_one_session(
    hook: Hook, holdfast: Run, home: Path, project: Path, environment: dict[str, str], tool: str
) -> None:
    """The client is this test: it runs the hook and starts the server, and tells the server nothing."""
    if tool:
        hook("PreToolUse", "codex", tool_name=tool, tool_input={"text": "x"})
    else:
        hook("UserPromptSubmit", "codex", prompt="Open the shop.")
    call = {"name": "remember", "arguments": {"text": "The oven called Hilde needs ten minutes."}}
    lines = [
        {
            "id": 1,
            "method": "initialize",
            "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {}},
        },
        {"id": 2, "method": "tools/call", "params": call},
    ]
    subprocess.run(
        [sys.executable, "-m", "holdfast", "mcp"],
        input="".join(json.dumps({"jsonrpc": "2.0", **line}) + "\n" for line in lines).encode(),
        env={name: value for name, value in environment.items() if name != "HOLDFAST_PROJECT"}
        | {"HOLDFAST_HOME": str(home)},
        cwd=project,
        capture_output=True,
        check=True,
    )
    worked(home, project)
    assert [one["id"] for one in answer(holdfast("session", "list", "--json"))] == ["abc-1"]


def test_notes_of_sessions_long_gone_are_thrown_away(hook: Hook, home: Path, project: Path) -> None:
    hook("SessionStart", source="startup")
    worked(home, project)
    (home / "prepared" / "handover-old.txt").write_text("long ago")
    known = {path.name for path in (home / "seen").iterdir()}
    assert f"client-{os.getpid()}" in known
    (home / "seen" / "old").write_text("brief")
    long_ago = time.time() - 100 * 86_400
    for path in (home / "seen" / "old", home / "prepared" / "handover-old.txt"):
        os.utime(path, (long_ago, long_ago))
    worked(home, project)
    assert {path.name for path in (home / "seen").iterdir()} == known
    assert not (home / "prepared" / "handover-old.txt").exists()


def test_a_prompt_gets_a_pointer_at_most_and_only_where_asked_for(
    hook: Hook, holdfast: Run, home: Path, project: Path
) -> None:
    kept(holdfast, "The invoice_exporter rounds with Decimal before it sums.", "--kind", "learning")
    prompt = "Why does invoice_exporter show a wrong Decimal?"
    worked(home, project)
    hook("SessionStart", source="startup")
    assert hook("UserPromptSubmit", prompt=prompt) is None
    assert worked(home, project, prompt_hints=True).problems == []
    said = text_of(hook("UserPromptSubmit", prompt=prompt))
    assert said.startswith("Holdfast: possibly relevant: ")
    assert len(said) < 200
    assert hook("UserPromptSubmit", prompt=prompt) is None  # once
    assert hook("UserPromptSubmit", prompt="Something else entirely.") is None


@pytest.mark.parametrize("depth", [101, 900, 10_000])
def test_deep_json_on_stdin_is_refused_in_one_line_of_the_log(
    hook: Hook, home: Path, project: Path, depth: int
) -> None:
    deep = '{"a":' * depth + "1" + "}" * depth
    said = f'{{"session_id": "s", "cwd": {json.dumps(str(project))}, "tool_name": "Bash", "tool_input": {deep}}}'
    assert hook("PreToolUse", raw=said.encode()) is None
    assert spooled(home) == []
    log = (home / "hooks.log").read_text()
    assert log.count("\n") == 1
    assert "nested more than 100 levels deep" in log

"""Hooks as clients run them: a process of their own, JSON on stdin, always exit code 0."""

import json
import os
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.compose import worker_lock
from holdfast.hosts.hooks import client
from holdfast.hosts.hooks import hook as hook_module
from holdfast.hosts.hooks.hook import activity_of
from holdfast.model.session import EVENTS, OBSERVER_FOLDER
from tests.conftest import new_file, new_folder, ran
from tests.hosts.running import Run, answer, fire, hold_worker, hooked, kept
from tests.hosts.scripts import Session, scripts_in, session_in, spooled
from tests.hosts.test_mcp import messages, tool_call
from tests.policy.test_secrets import PLANTED
from tests.rows import WHOLE

scripts_in(globals(), hooks=True)
CLIENT = Path(client.__file__)
SCAR = ("--kind", "scar", "--field", "severity=high", "--field", 'counter_arguments=["only once", "a backup"]')


session = pytest.fixture(session_in)


@pytest.mark.parametrize(("event", "parts"), [("PostToolUse", ()), ("PreToolUse", ("answers",))])
def test_it_imports_next_to_nothing(home: Path, event: str, parts: tuple[str, ...]) -> None:
    code = f"""
import os, sys
sys.argv = ["client.py", {event!r}, "--home", {str(home)!r}]
os._exit = lambda code: print(" ".join(sorted(sys.modules)))
exec(open({str(CLIENT)!r}).read(), {{"__name__": "__main__", "__file__": {str(CLIENT)!r}}})
"""
    told = {"session_id": "s", "cwd": str(home), "tool_name": "Bash", "tool_input": {"command": "ls"}}
    shown = ran([sys.executable, "-I", "-S", "-c", code], input=json.dumps(told), check=True).stdout.split()
    assert len(spooled(home)) == 1
    assert {name for name in shown if name.startswith("holdfast")} == {
        *("holdfast", "holdfast.hosts", "holdfast.hosts.hooks", "holdfast.policy", "holdfast.policy.secrets"),
        *(f"holdfast.policy.secrets.{part}" for part in ("find", "places", "unwrap", "words")),
        *(f"holdfast.model{part}" for part in ("", ".files", ".foreign_json", ".patterns")),
        *(f"holdfast.hosts.hooks.{name}" for name in ("hook", "places", *parts)),
    }
    heavy = "typing dataclasses inspect pathlib subprocess sqlite3 datetime logging hashlib fnmatch".split()
    assert set(heavy) & set(shown) == set()


def test_a_package_half_upgraded_is_no_trouble_of_the_client(tmp_path: Path) -> None:
    alone = new_file(tmp_path / "holdfast" / "hosts" / "hooks" / "client.py", CLIENT.read_text())
    done = ran([sys.executable, "-I", "-S", str(alone), "PreToolUse"], input="{}")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (0, "", 1)
    assert done.stderr.startswith("holdfast: No module named")


def test_long_output_loses_its_middle_and_says_so(session: Session, home: Path) -> None:
    output = {"stdout": "a" * 5_000 + "b" * 50_000 + "c" * 5_000}
    told: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "x" * 20_000}, "tool_response": output}
    session.hook("PostToolUse", **told)
    assert next((home / "spool").glob("*.json")).stat().st_mode & 0o777 == 0o600
    activity = activity_of("PostToolUse", "claude-code", told)  # the hook itself keeps less where the machine is busy
    assert "[… 51000 characters …]" in activity["result"]
    assert len(activity["given"]["command"]) < 9_000


TAIL = "q7R2" * 9
WRAPPED = (
    *("ghp_{}", "\x1b[32mghp_{}\x1b[0m", "\\u001b[01;31mghp_{}\\u001b[m", "\x1b[Kghp_{}", "%67hp_{}", "&#103;hp_{}"),
    *("gh\u200bp_{}", "ghp_\\\n{}", 'DB_PASSWORD = "Xk9!mQ2#{}"'),
)


def leaked(home: Path, secrets: Iterable[str]) -> list[str]:
    """Return the secrets that stand in a file below a folder, or in its name: those with a line nobody else would write."""
    files = [path for path in home.rglob("*") if path.is_file()]
    written = b"\n".join(path.name.encode() + b"\n" + path.read_bytes() for path in files)
    lines = {secret: secret.replace("\\n", "\n").split("\n") for secret in secrets}
    return [secret for secret in lines if any(len(line) > 8 and line.encode() in written for line in lines[secret])]


def test_all_secrets_at_once_in_every_field_leave_nothing_on_disk(
    session: Session, home: Path, project: Path, holdfast: Run
) -> None:
    # Of every twelfth kind one, for tests of the policy have all, and the wrappings.
    planted = PLANTED if WHOLE else list({row[0]: row for row in PLANTED}.values())[::12]
    planted = [*planted, *(("wrapped", TAIL, wrapping.format(TAIL)) for wrapping in WRAPPED)]
    assert len(planted) >= 18
    kept(holdfast, "Never run `curl` before `make check`.", *SCAR)
    session.work()
    # A key that does not end hides all behind it, so it comes last.
    ordered = sorted(planted, key=lambda row: "cut off" in row[2])
    for number in range(0, len(ordered), 10):
        text = "\n\n".join(row[2] for row in ordered[number : number + 10])
        nested = {"deep": [text, {text: text}], text: 1}
        long = "x" * 3_990 + f" {text} " + "y" * 9_000
        told: dict[str, Any] = {
            **dict.fromkeys(("agent_type", "source", "reason"), text),
            "session_id": f"s{number % 7}",
            "cwd": str(project),
            "prompt": f"Please fix it:\n{text}\nand remember it.",
            "last_assistant_message": f"We decided to keep\n{text}\nbecause it works.",
            "tool_name": "Bash",
            "tool_input": {"command": f"curl x; {text}", "nested": nested, "long": long},
            "tool_response": {"stdout": "x" * 5_980 + f"\n{text}\n" + "y" * 9_000, "stderr": text, "exit_code": 1},
            "transcript_path": f"/tmp/{text}/t.jsonl",
        }
        for event in ("UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"):
            fire(home, event, json.dumps(told).encode())
        as_text = {"tool_input": text + " z" * 6_000, "tool_response": text}
        as_text["session_id"] = f"{text} s" if number == 0 else "s"
        fire(home, "PostToolUse", json.dumps(told | as_text).encode())
    secrets = [secret for _, secret, _ in planted]
    assert len(spooled(home)) >= 5 * len(planted) // 10
    assert leaked(home, secrets) == []
    assert session.work()["problems"] == []
    assert spooled(home) == []
    assert leaked(home, secrets) == []
    assert answer(holdfast("store", "scan", "--json")) == {"leaks": []}


FIELDS = """session_id cwd prompt tool_name tool_input tool_response source transcript_path agent_type x command stdout content
file_path last_assistant_message""".split()


@settings(
    max_examples=int(os.environ.get("HOOK_CASES", "500" if WHOLE else "30")), suppress_health_check=list(HealthCheck)
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
def test_whatever_comes_in_nothing_breaks(raw: bytes, event: str, name: str, own_home: Path) -> None:
    home = own_home / "store"
    hold_worker(home)
    printed = fire(home, event, raw, name)
    assert printed == "" or isinstance(json.loads(printed), dict)
    files = [path for path in home.rglob("*") if path.is_file()]
    if any(text[:12] in raw.decode(errors="replace") for _, _, text in PLANTED):
        assert leaked(home, [secret for _, secret, _ in PLANTED]) == []
    if len(files) > 100:
        for path in files:
            path.unlink()


def test_broken_input_leaves_one_line_in_our_own_log(session: Session, home: Path, project: Path) -> None:
    told = f'{{"session_id": "s", "cwd": {json.dumps(str(project))}, "tool_name": "Bash", "tool_input": %s}}'
    deep = [told % ('{"a":' * depth + "1" + "}" * depth) for depth in (101, 10_000)]
    broken = (b"", b"garbage", b"[1]", b"{" * 5_000, b"x" * 10_000_001)
    for raw in (*broken, *map(str.encode, deep)):
        assert session.hook("PreToolUse", raw=raw) is None
    log = (home / "hooks.log").read_text().splitlines()
    assert ["nested more than 100 levels deep" in line for line in log][5:] == [True, True]
    assert spooled(home) == []


def test_without_a_store_and_for_an_observer_at_work_nothing_is_kept(tmp_path: Path, project: Path) -> None:
    for home, folder in ((tmp_path / "missing", project), (tmp_path, new_folder(tmp_path / f"{OBSERVER_FOLDER}x1"))):
        assert hooked(home, folder, "UserPromptSubmit", prompt="hello") is None
        assert not (home / "spool").exists()
    ours: dict[str, Any] = {"tool_name": "mcp__plugin_holdfast_holdfast__recall", "tool_input": {"query": "x"}}
    reply = hooked(tmp_path / "missing", project, "PreToolUse", **ours)  # our own tools are allowed all the same
    assert reply["hookSpecificOutput"]["permissionDecision"] == "allow"
    assert not (tmp_path / "missing").exists()
    assert hook_module.OBSERVER_FOLDER == OBSERVER_FOLDER


def test_a_second_worker_leaves_at_once(home: Path, holdfast: Run) -> None:
    kept(holdfast, "Something.")
    with worker_lock(home):
        assert answer(holdfast("work", "--json")) == {"status": "busy"}
    assert answer(holdfast("work", "--json"))["problems"] == []


def test_hooks_and_server_of_one_client_speak_of_one_session(
    session: Session, holdfast: Run, home: Path, project: Path, environment: dict[str, str]
) -> None:
    """The client is this test: it runs the hook and starts the server, and tells the server nothing."""
    own = {**environment, "HOLDFAST_PROJECT": "", "HOLDFAST_HOME": str(home)}
    given = messages(tool_call("remember", text="The oven called Hilde needs ten minutes.", force=True))
    for name, event in (("s-tool", "PreToolUse"), ("s-prompt", "UserPromptSubmit")):
        told = {"tool_name": "mcp__holdfast__remember", "tool_input": {"text": "x"}, "prompt": "Open the shop."}
        session.hook(event, "codex", name, **told)
        ran([sys.executable, "-m", "holdfast", "mcp"], project, input=given, env=own, check=True)
        session.work()
        assert name in {one["id"] for one in answer(holdfast("session", "list", "--json"))}
    assert len(answer(holdfast("session", "list", "--json"))) == 2


def test_notes_of_sessions_long_gone_are_thrown_away(session: Session, home: Path) -> None:
    session.brief()
    session.work()
    (home / "prepared" / "handover-old.txt").write_text("long ago")
    known = {path.name for path in (home / "seen").iterdir()}
    assert f"client-{os.getpid()}" in known
    (home / "seen" / "old").write_text("brief")
    long_ago = time.time() - 100 * 86_400
    for path in (home / "seen" / "old", home / "prepared" / "handover-old.txt"):
        os.utime(path, (long_ago, long_ago))
    session.work()
    assert {path.name for path in (home / "seen").iterdir()} == known
    assert not (home / "prepared" / "handover-old.txt").exists()

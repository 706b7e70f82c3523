"""What prompts, answers and interrupted sessions leave behind, through the hook as clients run it and `holdfast work`."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.hosts.running import Run, answer, held_worker, hooked, kept

pytestmark = pytest.mark.embedded
Hook = Callable[..., None]
GUESS = "The tests hang because the worker process buffers its stdout."


@pytest.fixture
def hook(home: Path, project: Path) -> Hook:
    """Run the hook as a client does; the worker it would start is left to the tests."""

    def fire(event: str, session: str = "s1", **given: Any) -> None:
        with held_worker(home):
            hooked(home, project, event, session_id=session, **given)

    return fire


def listed(holdfast: Run, *options: str) -> list[dict[str, Any]]:
    assert answer(holdfast("work", "--json"))["problems"] == []
    return list(answer(holdfast("list", "--json", "--limit", "50", *options))["records"])


def test_a_correction_takes_the_place_of_the_guess_it_refutes(hook: Hook, holdfast: Run) -> None:
    hook("UserPromptSubmit", prompt="why do the logs come out of order?")
    hook("Stop", last_assistant_message=GUESS)
    assert listed(holdfast, "--kind", "learning") == []
    hook("UserPromptSubmit", prompt="that's wrong, the log writer isn't thread safe")
    hook("Stop", last_assistant_message="Understood, I will add a lock.")
    (fact,) = listed(holdfast, "--kind", "fact")
    assert (fact["body"], fact["source"], fact["by"]["kind"]) == (
        "the log writer isn't thread safe",
        "correction",
        "user",
    )
    assert GUESS not in holdfast("opening").stdout
    (retired,) = listed(holdfast, "--state", "retired")
    assert (retired["body"], retired["reason"]) == (
        GUESS,
        "the user objected: that's wrong, the log writer isn't thread safe",
    )


def test_a_correction_of_a_recalled_memory_supersedes_it(hook: Hook, holdfast: Run) -> None:
    old = kept(holdfast, "The rate limit of the partner API is 60 requests per minute.")
    hook("UserPromptSubmit", prompt="what is the rate limit of the partner API?")
    assert old in holdfast("recall", "rate limit partner API", "--json", HOLDFAST_SESSION="s1").stdout
    hook("Stop", last_assistant_message="It is 60 requests per minute.")
    hook("UserPromptSubmit", prompt="the rate limit is 250 since March, please correct your memory")
    hook("Stop", last_assistant_message="Noted.")
    assert listed(holdfast, "--kind", "fact")[0]["body"] == "the rate limit is 250 since March"
    found = answer(holdfast("recall", "rate limit partner API", "--json"))
    assert old not in [hit["record"]["id"] for hit in found["hits"]]


def test_text_between_tool_calls_is_read_from_the_transcript(hook: Hook, holdfast: Run, tmp_path: Path) -> None:
    transcript = tmp_path / "session.jsonl"
    entries: list[dict[str, Any]] = [
        {"type": "user", "message": {"role": "user", "content": "an earlier prompt"}},
        {"type": "assistant", "message": {"content": [{"type": "text", "text": "[learned] Of an earlier turn."}]}},
        {"type": "user", "message": {"role": "user", "content": "move the sessions"}},
        {
            "type": "assistant",
            "message": {
                "content": [
                    {
                        "type": "text",
                        "text": "I looked at both.\n\n▶ decision ─────\nSessions go to Postgres\n─────\n\n[blocker] VPN",
                    },
                    {"type": "tool_use", "name": "Edit", "input": {}},
                ]
            },
        },
        {"type": "user", "message": {"role": "user", "content": [{"type": "tool_result", "content": "ok"}]}},
        {
            "type": "assistant",
            "isSidechain": True,
            "message": {"content": [{"type": "text", "text": "[decision] Of a sub-agent"}]},
        },
        {"type": "assistant", "message": {"content": [{"type": "text", "text": "Done."}]}},
        {
            "type": "assistant",
            "timestamp": "2999-01-01T00:00:00.000Z",
            "message": {"content": [{"type": "text", "text": "[decision] Later"}]},
        },
    ]
    transcript.write_text("\n".join(map(json.dumps, entries)) + "\n{cut off")
    hook("UserPromptSubmit", prompt="move the sessions")
    hook("Stop", last_assistant_message="Done.", transcript_path=str(transcript))
    found = {(one["kind"], one["body"]) for one in listed(holdfast) if one["kind"] not in ("observation", "summary")}
    assert found == {("decision", "Sessions go to Postgres"), ("blocker", "VPN")}


def test_a_session_that_just_stops_is_finished_by_the_next_worker(hook: Hook, holdfast: Run, home: Path) -> None:
    hook("UserPromptSubmit", prompt="add a footer")
    hook("PostToolUse", tool_name="Write", tool_input={"file_path": "web/footer.tsx", "content": "x"}, tool_response={})
    assert listed(holdfast, "--kind", "observation") == []
    hook("UserPromptSubmit", session="s2", prompt="add a header")
    hook("PostToolUse", session="s2", tool_name="Write", tool_input={"file_path": "web/h.tsx", "content": "x"})
    hour_ago = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(time.time() - 3_600))
    for path in (home / "spool").glob("*.json"):
        path.write_text(json.dumps({**json.loads(path.read_text()), "at": hour_ago}))
    listed(holdfast)
    assert "Add a header" in [one["title"] for one in listed(holdfast, "--kind", "observation")]
    assert "Add a header" in [one["title"] for one in listed(holdfast, "--kind", "summary")]


def test_a_summary_does_not_claim_what_the_user_refused(hook: Hook, holdfast: Run) -> None:
    hook("UserPromptSubmit", prompt="write tests for the database")
    hook(
        "PostToolUse", tool_name="Write", tool_input={"file_path": "tests/test_db.py", "content": "x"}, tool_response={}
    )
    hook("Stop", last_assistant_message="Added tests that mock `Database.execute`.")
    hook("UserPromptSubmit", prompt="no, we never mock the database here")
    hook("Stop", last_assistant_message="Understood.")
    (summary,) = listed(holdfast, "--kind", "summary")
    assert "completed" not in summary["fields"]
    assert "objected to “Added tests that mock" in summary["fields"]["notes"]
    assert [one["body"] for one in listed(holdfast, "--kind", "preference")] == ["we never mock the database here"]


def test_statements_of_a_prompt_are_kept_in_any_language_and_can_be_undone(hook: Hook, holdfast: Run) -> None:
    hook("UserPromptSubmit", prompt="bitte füge Tests hinzu. wir verwenden pnpm, nicht npm")
    hook("Stop", last_assistant_message="Erledigt.")
    (rule,) = listed(holdfast, "--kind", "preference")
    assert rule["body"] == "wir verwenden pnpm, nicht npm"
    assert holdfast("forget", rule["id"], "--reason", "not so").returncode == 0
    assert listed(holdfast, "--kind", "preference") == []

"""What docs/compatibility.md says about claude-mem's tools and worker, tried literally."""

import json
from typing import Any

import pytest

from tests.compatible.conftest import Place, Tools
from tests.compatible.scripts import scripts_in
from tests.compatible.test_claude_mem import FIXED

promise = pytest.mark.promise
globals().update(scripts_in(__file__))


@promise("worker-service hook lines of every event: session-init, user-message, observation, summarize")
def test_hook_lines(place: Place, ask: Tools) -> None:
    ask("observation_add", **FIXED)
    common = {"session_id": "s-9", "cwd": str(place.folder)}
    lines: dict[str, dict[str, Any]] = {
        "user-message": {"hook_event_name": "SessionStart", "source": "startup"},
        "session-init": {"hook_event_name": "UserPromptSubmit", "prompt": "Raise the limit of the gateway to 10 MB."},
        "observation": {
            "hook_event_name": "PostToolUse",
            "tool_name": "Bash",
            "tool_input": {"command": "pytest"},
            "tool_response": {"stdout": "1 passed"},
        },
        "summarize": {"hook_event_name": "Stop", "last_assistant_message": "Raised the limit of the gateway to 10 MB."},
    }
    for name, event in lines.items():
        said = place.run(f"compat claude-mem hook claude-code {name}", stdin=json.dumps(common | event)).stdout
        assert said == "" or json.loads(said)["hookSpecificOutput"]["hookEventName"] == event["hook_event_name"], name
    place.work()
    assert "limit of the gateway" in ask.text("search", query="raise the limit of the gateway")

"""What a client tells of its events, in our own words: cleaned, masked and bounded."""

from __future__ import annotations

import json
import os
import time

from holdfast.model.foreign_json import parse_json
from holdfast.policy.secrets import drop_private, mask_secrets, masked

MYPY = False
if MYPY:
    from typing import Any

    Json = dict[str, Any]

LONGEST_TEXT, HEAD, TAIL, LONGEST_ARGUMENT = 50_000, 6_000, 3_000, 8_000
# Text that clients or we put into a conversation is not something anybody said.
INJECTED = (
    ("<holdfast", "</holdfast"),
    ("<memory ", "</memory>"),
    ("<system-reminder>", "</system-reminder>"),
    ("<hook_context>", "</hook_context>"),
    ("<task-notification>", "</task-notification>"),
    ("<persisted-output>", "</persisted-output>"),
    ("<claude-mem-context>", "</claude-mem-context>"),
)
WRAPPED = ("<untrusted_context>\n", "\n</untrusted_context>")  # how Gemini CLI hands results to its model
SAID = ("last_assistant_message", "prompt_response", "text", "response")
# Clients that show their model nothing of what a hook says before a tool runs, only what one says after.
LATE = ("gemini",)


def happening(event: str, client: str, given: Json) -> Json:
    """Give what happened in our own words, whichever client tells it; cleaned, masked and bounded."""
    tool_input = first(given, "tool_input", "toolArgs", "tool_args", "args")
    told: Json = {
        "at": now(),
        "event": event,
        "client": client,
        "session": str(first(given, "session_id", "sessionId", "conversation_id") or ""),
        "cwd": str(first(given, "cwd") or (first(given, "workspace_roots") or [""])[0] or os.getcwd()),
        "agent": str(first(given, "agent_type", "agent_id") or ""),
        "text": _said(first(given, *(SAID if event in ("Stop", "SubagentStop") else ("prompt", *SAID))) or ""),
        "tool": str(first(given, "tool_name", "toolName") or ""),
        "given": arguments(tool_input),
        "result": _result(first(given, "tool_response", "toolResult", "tool_result", "result_json", "error")),
        "failed": event == "PostToolUseFailure" or _failed(given),
        "source": str(first(given, "source", "trigger", "reason") or ""),
        "transcript": str(given.get("transcript_path") or ""),
    }
    clean = masked(told)
    always = ("event", "session", "cwd", "tool")
    return {name: value for name, value in clean.items() if name in always or value not in ("", {}, False)}


def is_late(told: Json) -> bool:
    """Tell whether a client is one of those."""
    return told.get("client") in LATE


def first(given: Json, *names: str) -> Any:
    """Give the first of these that was told: clients name things differently."""
    return next((given[name] for name in names if given.get(name) is not None), None)


def _said(text: Any) -> str:
    """Give what somebody said: without what was put in, without what is private, bounded."""
    said = drop_private(text) if isinstance(text, str) else ""
    for opening, closing in INJECTED:
        while (start := said.find(opening)) >= 0:
            end = said.find(closing, start)
            end = said.find(">", end) + 1 if end >= 0 else len(said)
            said = said[:start] + said[end or len(said) :]
    if len(said) > LONGEST_TEXT:  # masked before it is cut: half a secret would not be known as one
        said = mask_secrets(said)[:LONGEST_TEXT]
    return said.strip()


def arguments(given: Any) -> Json:
    """Give what a tool was called with, bounded."""
    if isinstance(given, str):  # some clients send JSON as text
        try:
            given = parse_json(given)
        except ValueError:
            return {"text": _bounded(given)}
    if not isinstance(given, dict):
        return {}
    return {str(name): _bounded(value) for name, value in list(given.items())[:50]}


def _bounded(value: Any) -> Any:
    if isinstance(value, str):
        return _middle_cut(value, LONGEST_ARGUMENT // 2, LONGEST_ARGUMENT // 2)
    if isinstance(value, bool | int | float) or value is None:
        return value
    # Masked first: written as JSON its quotes would hide what an assignment gives away.
    return _middle_cut(json.dumps(masked(value)), LONGEST_ARGUMENT // 2, LONGEST_ARGUMENT // 2)


def _result(given: Any) -> str:
    if isinstance(given, dict):
        parts = [
            given.get(name)
            for name in (
                "textResultForLlm",
                "text_result_for_llm",
                "stdout",
                "stderr",
                "output",
                "content",
                "error",
                "llmContent",
            )
        ]
        given = "\n".join(part for part in parts if isinstance(part, str) and part) or json.dumps(masked(given))
    elif isinstance(given, list):
        given = "\n".join(str(part.get("text", "")) for part in given if isinstance(part, dict))
    if given is None:
        return ""
    return _middle_cut(drop_private(str(given).removeprefix(WRAPPED[0]).removesuffix(WRAPPED[1])), HEAD, TAIL)


def _middle_cut(text: str, head: int, tail: int) -> str:
    """Cut the middle out of a long text and say how much; secrets are masked before, so that none is cut in half."""
    if len(text) <= head + tail:
        return text
    text = mask_secrets(text)
    return f"{text[:head]}\n[… {len(text) - head - tail} characters …]\n{text[-tail:]}"


def _failed(given: Json) -> bool:
    answer = first(given, "tool_response", "toolResult", "tool_result")
    if not isinstance(answer, dict):
        return False
    if _exit_line(answer.get("llmContent")) not in ("", "0"):
        return True
    code = answer.get("exit_code", answer.get("exitCode", answer.get("returnCode")))
    return (
        bool(answer.get("is_error") or answer.get("isError"))
        or "failure" in (answer.get("resultType"), answer.get("result_type"))
        or code not in (None, 0)
    )


def _exit_line(said: Any) -> str:
    """Give the exit code that Gemini CLI writes under the output of a command, and only where it is not 0."""
    before, line, after = said.rpartition("\nExit Code: ") if isinstance(said, str) else ("", "", "")
    return after.split("\n", 1)[0].strip() if line and before.startswith(("<untrusted_context>", "Output:")) else ""


def now() -> str:
    """Give the time as records write it."""
    seconds = time.time()
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{int(seconds * 1000) % 1000:03d}Z"

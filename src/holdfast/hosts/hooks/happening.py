"""What a client tells of its events, in our own words: cleaned, masked and bounded."""

from __future__ import annotations

import json
import os
import time

from holdfast.model.foreign_json import parse_json
from holdfast.policy.secrets.find import drop_private, mask_secrets, masked

MYPY = False
if MYPY:
    from typing import Any

    Json = dict[str, Any]

LONGEST_TEXT, HEAD, TAIL, LONGEST_ARGUMENT = 50_000, 6_000, 3_000, 8_000
MARGIN = 20_000  # characters beyond what is kept of a text that are looked at, so that no credential is cut in half
MOST_ARGUMENTS, MOST_OF_ARGUMENTS = 50, 200_000  # of a tool call: how many, and characters of all of them together
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
LONGEST_PATH = 4_096
LONGEST_LOOKED_AT = LONGEST_TEXT + MARGIN
RESULTS = (
    "textResultForLlm",
    "text_result_for_llm",
    "stdout",
    "stderr",
    "output",
    "content",
    "error",
    "llmContent",
)
SAID = ("last_assistant_message", "prompt_response", "text", "response")
# Clients that show their model nothing of what a hook says before a tool runs, only what one says after.
LATE = ("gemini",)


def happening(event: str, client: str, given: Json) -> Json:
    """Return what happened in our own words, whichever client tells it; cleaned, masked and bounded."""
    tool_input = first(given, "tool_input", "toolArgs", "tool_args", "args")
    told: Json = {
        "at": now(),
        "event": event,
        "client": client,
        "session": _name(first(given, "session_id", "sessionId", "conversation_id")),
        "cwd": _name(first(given, "cwd") or (first(given, "workspace_roots") or [""])[0] or os.getcwd(), LONGEST_PATH),
        "agent": _name(first(given, "agent_type", "agent_id")),
        "text": _said(first(given, *(SAID if event in ("Stop", "SubagentStop") else ("prompt", *SAID))) or ""),
        "tool": _name(first(given, "tool_name", "toolName")),
        "given": arguments(tool_input),
        "result": _result(first(given, "tool_response", "toolResult", "tool_result", "result_json", "error")),
        "failed": event == "PostToolUseFailure" or _failed(given),
        "source": _name(first(given, "source", "trigger", "reason")),
        "transcript": _name(given.get("transcript_path"), LONGEST_PATH),
    }
    clean = masked(told)
    always = ("event", "session", "cwd", "tool")
    return {name: value for name, value in clean.items() if name in always or value not in ("", {}, False)}


def _name(value: Any, longest: int = 1_000) -> str:
    """Return a short text of the client's; what is too long to be one is cut so that it is seen to be too long."""
    return str(value or "")[: longest + 1] if isinstance(value, str | int) else ""


def is_late(told: Json) -> bool:
    """Return whether a client is one of those."""
    return told.get("client") in LATE


def first(given: Json, *names: str) -> Any:
    """Return the first of these that was told: clients name things differently."""
    return next((given[name] for name in names if given.get(name) is not None), None)


def is_private(given: Json) -> bool:
    """True if a prompt says something, and all of it is private."""
    text = first(given, "prompt", *SAID)
    return isinstance(text, str) and bool(text.strip()) and not drop_private(text[:LONGEST_LOOKED_AT]).strip()


def cut_off(text: str) -> Json:
    """Return the members of a JSON object whose end is missing; the last one as far as it goes, if it is a text."""
    decoder, found, place = json.JSONDecoder(), {}, text.find("{") + 1
    while 0 < place < len(text):
        key_at = text.find('"', place)
        try:
            key, place = decoder.raw_decode(text, key_at)
            place = text.index(":", place) + 1
            place += len(text[place : place + 64]) - len(text[place : place + 64].lstrip())
            found[key], place = decoder.raw_decode(text, place)
        except (ValueError, IndexError, RecursionError):
            if text[place : place + 1] == '"' and key_at < place:
                found[key] = _partial(text[place : place + LONGEST_LOOKED_AT])
            break
    if not found:
        raise ValueError("stdin is too long, and no JSON object begins it")
    return found


def _partial(text: str) -> str:
    """Read the beginning of a JSON string that has no end."""
    for end in range(len(text), max(0, len(text) - 12), -1):  # an escape may have been cut in two
        try:
            return str(json.loads(f'{text[:end]}"'))
        except ValueError:
            continue
    return ""


def _said(text: Any) -> str:
    """Return what a person or an agent wrote: without what was injected, without what is private, bounded."""
    if not isinstance(text, str):
        return ""
    said = _without_injected(drop_private(text[:LONGEST_LOOKED_AT]))
    if len(said) > LONGEST_TEXT:  # masked before it is cut: half a secret would not be known as one
        said = mask_secrets(said)[:LONGEST_TEXT]
    return said.strip()


def _without_injected(text: str) -> str:
    """Drop the spans that clients or we put into a conversation, in one pass."""
    kept, place = [], 0
    while (start := text.find("<", place)) >= 0:
        closing = next((closing for opening, closing in INJECTED if text.startswith(opening, start)), "")
        kept.append(text[place : start + (not closing)])
        place = start + 1
        if closing:
            end = text.find(closing, start)
            place = text.find(">", end) + 1 if end >= 0 else 0
            if place <= 0:
                return "".join(kept)
    return "".join((*kept, text[place:]))


def arguments(given: Any) -> Json:
    """Return what a tool was called with, bounded."""
    if isinstance(given, str):  # some clients send JSON as text
        try:
            given = parse_json(given)
        except ValueError:
            return {"text": _bounded(given)}
    if not isinstance(given, dict):
        return {}
    found: Json = {}
    left = MOST_OF_ARGUMENTS
    for name, value in list(given.items())[:MOST_ARGUMENTS]:
        if left <= 0:
            break
        found[str(name)[:200]] = kept = _bounded(value)
        left -= min(len(value), LONGEST_ARGUMENT + 2 * MARGIN) if isinstance(value, str) else len(str(kept)) + MARGIN
    return found


def _bounded(value: Any) -> Any:
    half = LONGEST_ARGUMENT // 2
    if isinstance(value, str):
        return _middle_cut(value, half, half)
    if isinstance(value, bool | int | float) or value is None:
        return value
    # Masked first: written as JSON its quotes would hide what an assignment gives away.
    return _middle_cut(_as_json(value), half, half)


def _as_json(value: Any) -> str:
    """Write a value as JSON with its credentials masked; one too large to look at is cut before that."""
    whole = json.dumps(value)
    if len(whole) <= LONGEST_ARGUMENT + 2 * MARGIN:
        return json.dumps(masked(value))
    return _middle_cut(whole, LONGEST_ARGUMENT // 2, LONGEST_ARGUMENT // 2)


def _result(given: Any) -> str:
    if isinstance(given, dict):
        parts = [given.get(name) for name in RESULTS]
        given = "\n".join(part for part in parts if isinstance(part, str) and part) or _as_json(given)
    elif isinstance(given, list):
        given = "\n".join(str(part.get("text", "")) for part in given[:100] if isinstance(part, dict))
    if given is None:
        return ""
    return _middle_cut(str(given).removeprefix(WRAPPED[0]).removesuffix(WRAPPED[1]), HEAD, TAIL)


def _middle_cut(text: str, head: int, tail: int) -> str:
    """Cut the middle out of a long text and note how much.

    Private spans and secrets are taken out before that, so that none is cut in half. Of a very long text only the ends are
    looked at, each with a margin.
    """
    total, wide = len(text), head + tail + 2 * MARGIN
    if total <= wide:
        text = drop_private(text)
        if len(text) <= head + tail:
            return text
        text = mask_secrets(text)
        return f"{text[:head]}\n[… {len(text) - head - tail} characters …]\n{text[-tail:]}"
    first_part = mask_secrets(drop_private(text[: head + MARGIN]))[:head]
    last_part = text[-tail - MARGIN :]
    opened, closed = last_part.lower().find("<private>"), last_part.lower().find("</private>")
    if closed >= 0 and not 0 <= opened < closed:  # a private span that began before
        last_part = last_part[closed + len("</private>") :]
    last_part = mask_secrets(drop_private(last_part))[-tail:]
    return f"{first_part}\n[… {total - head - tail} characters …]\n{last_part}"


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
    """Return the exit code that Gemini CLI writes under the output of a command, and only where it is not 0."""
    before, line, after = said.rpartition("\nExit Code: ") if isinstance(said, str) else ("", "", "")
    return after.split("\n", 1)[0].strip() if line and before.startswith(("<untrusted_context>", "Output:")) else ""


def now() -> str:
    """Return the time as records write it."""
    seconds = time.time()
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{int(seconds * 1000) % 1000:03d}Z"

"""Normalise the events of all clients: cleaned, masked and bounded."""

from __future__ import annotations

import json
import os
import time

from holdfast.model.foreign_json import parse_json
from holdfast.model.patterns import lazy
from holdfast.policy.secrets.find import drop_private, mask_secrets, masked

MYPY = False
if MYPY:
    from typing import Any

    Json = dict[str, Any]

LONGEST_TEXT, HEAD, TAIL, LONGEST_ARGUMENT = 50_000, 6_000, 3_000, 8_000
MARGIN = 20_000  # extra characters that are scanned, so that no credential is cut in half
MOST_ARGUMENTS, MOST_OF_ARGUMENTS = 50, 200_000  # of a tool call: their number, and their characters in total
# Text that clients or we inject into a conversation was not written by the user or the agent.
INJECTED = {
    "<holdfast": "</holdfast",
    "<memory ": "</memory>",
    "<system-reminder>": "</system-reminder>",
    "<hook_context>": "</hook_context>",
    "<task-notification>": "</task-notification>",
    "<persisted-output>": "</persisted-output>",
    "<claude-mem-context>": "</claude-mem-context>",
}
_OPENING = lazy("|".join(INJECTED))
WRAPPED = ("<untrusted_context>\n", "\n</untrusted_context>")  # how Gemini CLI wraps results
LONGEST_PATH = 4_096
LONGEST_SHORT, MOST_SHORT = 2_000, 10  # characters of a text and items of a value whose masking took too long
LONGEST_LOOKED_AT = LONGEST_TEXT + MARGIN
RESULTS = ("textResultForLlm", "text_result_for_llm", "stdout", "stderr", "output", "content", "error", "llmContent")
SAID = ("last_assistant_message", "prompt_response", "text", "response")
# Clients that ignore the context a hook returns before a tool runs, and only use that returned after it.
LATE = ("gemini",)


def activity_of(event: str, client: str, payload: Json) -> Json:
    """Return an event of any client in our own format: cleaned, masked and bounded."""
    tool_input = first(payload, "tool_input", "toolArgs", "tool_args", "args")
    folder = first(payload, "cwd") or (first(payload, "workspace_roots") or [""])[0] or os.getcwd()
    normalised: Json = {
        "at": now(),
        "event": event,
        "client": client,
        "session": _name(first(payload, "session_id", "sessionId", "conversation_id")),
        "cwd": _name(folder, LONGEST_PATH),
        "agent": _name(first(payload, "agent_type", "agent_id")),
        "text": _written(first(payload, *(SAID if event in ("Stop", "SubagentStop") else ("prompt", *SAID))) or ""),
        "tool": _name(first(payload, "tool_name", "toolName")),
        "given": arguments(tool_input),
        "result": _result(first(payload, "tool_response", "toolResult", "tool_result", "result_json", "error")),
        "failed": event == "PostToolUseFailure" or _failed(payload),
        "source": _name(first(payload, "source", "trigger", "reason")),
        "transcript": _name(payload.get("transcript_path"), LONGEST_PATH),
    }
    clean = masked(normalised)
    clean["text"] = clean["text"][:LONGEST_TEXT].strip()  # after masking: half a secret would not be recognised
    always = ("event", "session", "cwd", "tool")
    return {name: value for name, value in clean.items() if name in always or value not in ("", {}, False)}


def _name(value: Any, longest: int = 1_000) -> str:
    """Return a short text of the client; an overlong one is cut just beyond the limit, so that it is recognised as too long."""
    return str(value or "")[: longest + 1] if isinstance(value, str | int) else ""


def is_late(event: Json) -> bool:
    """True for a client in `LATE`."""
    return event.get("client") in LATE


def first(payload: Json, *names: str) -> Any:
    """Return the first of these fields that is present: clients name things differently."""
    return next((payload[name] for name in names if payload.get(name) is not None), None)


def is_private(payload: Json) -> bool:
    """True if a prompt has text and all of it is private."""
    text = first(payload, "prompt", *SAID)
    return isinstance(text, str) and bool(text.strip()) and not drop_private(text[:LONGEST_LOOKED_AT]).strip()


def shortened(value: Any) -> Any:
    """Return a JSON value with the first words of its texts and the first items of its lists and objects."""
    if isinstance(value, str) and len(value) > LONGEST_SHORT:
        # Up to a space, so that no credential is cut in half.
        words = value[:LONGEST_SHORT].rsplit(maxsplit=1)[0] if " " in value[:LONGEST_SHORT].strip() else ""
        return f"{words}\n[… {len(value) - len(words)} characters …]"
    if isinstance(value, dict):
        return {str(name)[:200]: shortened(item) for name, item in list(value.items())[:MOST_SHORT]}
    return [shortened(item) for item in value[:MOST_SHORT]] if isinstance(value, list) else value


def cut_off(text: str) -> Json:
    """Return the members of a truncated JSON object; the last one as far as it goes, if it is a text."""
    decoder, members, place = json.JSONDecoder(), {}, text.find("{") + 1
    while 0 < place < len(text):
        key_at = text.find('"', place)
        try:
            key, place = decoder.raw_decode(text, key_at)
            place = text.index(":", place) + 1
            place += len(text[place : place + 64]) - len(text[place : place + 64].lstrip())
            members[key], place = decoder.raw_decode(text, place)
        except (ValueError, IndexError, RecursionError):
            if text[place : place + 1] == '"' and key_at < place:
                members[key] = _partial(text[place : place + LONGEST_LOOKED_AT])
            break
    if not members:
        raise ValueError("stdin is too long, and no JSON object begins it")
    return members


def _partial(text: str) -> str:
    """Read the beginning of a JSON string that has no end."""
    for end in range(len(text), max(0, len(text) - 12), -1):  # an escape may have been cut in two
        try:
            return str(parse_json(f'{text[:end]}"'))
        except ValueError:
            continue
    return ""


def _written(value: Any) -> str:
    """Return text of a person or agent, bounded: without private parts and the spans that clients or we injected."""
    text = drop_private(value[:LONGEST_LOOKED_AT]) if isinstance(value, str) else ""
    kept, place = [], 0
    while opened := _OPENING.search(text, place):
        kept.append(text[place : opened.start()])
        end = text.find(INJECTED[opened[0]], opened.start())
        place = text.find(">", end) + 1 if end >= 0 else 0
        if place <= 0:
            return "".join(kept).strip()
    return "".join((*kept, text[place:])).strip()


def arguments(tool_input: Any) -> Json:
    """Return the arguments of a tool call, bounded."""
    if isinstance(tool_input, str):  # some clients send JSON as text
        try:
            tool_input = parse_json(tool_input)
        except ValueError:
            return {"text": _bounded(tool_input)}
    if not isinstance(tool_input, dict):
        return {}
    bounded: Json = {}
    left = MOST_OF_ARGUMENTS
    for name, value in list(tool_input.items())[:MOST_ARGUMENTS]:
        if left <= 0:
            break
        bounded[str(name)[:200]] = kept = _bounded(value)
        left -= min(len(value), LONGEST_ARGUMENT + 2 * MARGIN) if isinstance(value, str) else len(str(kept)) + MARGIN
    return bounded


def _bounded(value: Any) -> Any:
    half = LONGEST_ARGUMENT // 2
    if isinstance(value, str):
        return _middle_cut(value, half, half)
    if isinstance(value, bool | int | float) or value is None:
        return value
    # Mask first: the quotes of JSON would hide assignments of secrets.
    return _middle_cut(_as_json(value), half, half)


def _as_json(value: Any) -> str:
    """Return a value as JSON with its credentials masked; an oversized one is cut before that."""
    whole = json.dumps(value)
    if len(whole) <= LONGEST_ARGUMENT + 2 * MARGIN:
        return json.dumps(masked(value))
    return _middle_cut(whole, LONGEST_ARGUMENT // 2, LONGEST_ARGUMENT // 2)


def _result(result: Any) -> str:
    if isinstance(result, dict):
        parts = [result.get(name) for name in RESULTS]
        result = "\n".join(part for part in parts if isinstance(part, str) and part) or _as_json(result)
    elif isinstance(result, list):
        result = "\n".join(str(part.get("text", "")) for part in result[:100] if isinstance(part, dict))
    if result is None:
        return ""
    return _middle_cut(str(result).removeprefix(WRAPPED[0]).removesuffix(WRAPPED[1]), HEAD, TAIL)


def _middle_cut(text: str, head: int, tail: int) -> str:
    """Cut the middle out of a long text and note how much.

    Private spans and secrets are removed before that, so that none is cut in half. Of a very long text only the ends are
    scanned, each with a margin.
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


def _failed(payload: Json) -> bool:
    answer = first(payload, "tool_response", "toolResult", "tool_result")
    if not isinstance(answer, dict):
        return False
    if isinstance(output := answer.get("llmContent"), str):  # Gemini CLI prints the exit code under the output
        before, _, after = output.rpartition("\nExit Code: ")
        if before.startswith(("<untrusted_context>", "Output:")) and after.split("\n", 1)[0].strip() not in ("", "0"):
            return True
    code = answer.get("exit_code", answer.get("exitCode", answer.get("returnCode")))
    return (
        bool(answer.get("is_error") or answer.get("isError"))
        or "failure" in (answer.get("resultType"), answer.get("result_type"))
        or code not in (None, 0)
    )


def now() -> str:
    """Return the current time in the stored format."""
    seconds = time.time()
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{int(seconds * 1000) % 1000:03d}Z"

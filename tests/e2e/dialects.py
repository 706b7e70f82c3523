"""The four ways clients talk to a model, each read into one shape and answered in its own."""

import json
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
SSE = tuple[str, Any]  # the name of an event (or none) and its data
BEGAN = 1_790_000_000  # when the model says it was asked
SENT = {False: 100, True: 600_000}  # how many tokens it says it was sent: its context may be full


@dataclass(frozen=True, slots=True)
class Say:
    """The model answers with a text and ends its turn."""

    text: str
    full: bool = False  # its context is full: the client has to make room


@dataclass(frozen=True, slots=True)
class Call:
    """The model calls a tool; the name is the end of the one that a client offers."""

    tool: str
    given: Any = field(default_factory=dict)
    full: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a request says: the conversation, who said what, and the tools on offer by the name we call them."""

    turns: Sequence[tuple[bool, str]]  # by the model or not, and the text
    tools: dict[str, Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """One way of talking. `answer` gives the whole answer and the events it is streamed as."""

    ends: tuple[str, ...]  # of the path of a request
    read: Callable[[Json], Asked]
    answer: Callable[[Json, Say | Call, Json], tuple[Json, list[SSE]]]


def of_path(path: str) -> Dialect | None:
    plain = path.partition("?")[0]
    return next((dialect for dialect in DIALECTS if plain.endswith(dialect.ends)), None)


def _id(kind: str) -> str:
    return f"{kind}_{uuid.uuid4().hex[:24]}"


# How Anthropic's models are asked: Messages.


def _read_messages(body: Json) -> Asked:
    turns = [(one["role"] == "assistant", json.dumps(one["content"])) for one in body.get("messages", [])]
    tools = {one["name"]: one for one in body.get("tools") or [] if "name" in one}
    blocks = (value for value in values_in(body) if isinstance(value, dict))
    references = (block for block in blocks if block.get("type") == "tool_reference")
    found: dict[str, Json] = {block["tool_name"]: {} for block in references}
    return Asked(turns=turns, tools=found | tools)


def values_in(value: Any) -> Iterator[Any]:
    """Give a value and everything in it: tools that were searched for stand deep in results."""
    yield value
    if isinstance(value, dict):
        value = list(value.values())
    for one in value if isinstance(value, list) else ():
        yield from values_in(one)


def _answer_messages(body: Json, step: Say | Call, _: Json) -> tuple[Json, list[SSE]]:
    if isinstance(step, Say):
        block: Json = {"type": "text", "text": step.text}
        begun, delta = {**block, "text": ""}, {"type": "text_delta", "text": step.text}
    else:
        block = {"type": "tool_use", "id": _id("toolu"), "name": step.tool, "input": step.given}
        begun, delta = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(step.given)}
    why = "end_turn" if isinstance(step, Say) else "tool_use"
    head = {"id": _id("msg"), "type": "message", "role": "assistant", "model": body.get("model", "scripted")}
    usage = {"input_tokens": SENT[step.full], "output_tokens": 10}
    whole = {**head, "content": [block], "stop_reason": why, "stop_sequence": None, "usage": usage}
    events: list[Json] = [
        {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": begun},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": why, "stop_sequence": None}, "usage": {"output_tokens": 10}},
        {"type": "message_stop"},
    ]
    return whole, [(event["type"], event) for event in events]


# How OpenAI's models are asked nowadays: Responses.


def _read_responses(body: Json) -> Asked:
    items = body.get("input") or []
    if isinstance(items, str):
        items = [{"type": "message", "role": "user", "content": items}]
    searched = [tool for item in items for tool in item.get("tools") or []]
    tools = dict(_named([*(body.get("tools") or []), *searched]))
    return Asked(turns=[(_by_model(item), json.dumps(item)) for item in items], tools=tools)


def _by_model(item: Json) -> bool:
    return item.get("role") == "assistant" or str(item.get("type")).endswith("_call")


def _named(tools: Iterable[Json]) -> Iterator[tuple[str, Json]]:
    """Give tools by name; those of an MCP server come together, and are called by two names."""
    for tool in tools:
        if tool.get("type") == "namespace":
            for inner in tool.get("tools", []):
                yield f"{tool['name']}.{inner['name']}", {**inner, "namespace": tool["name"]}
        else:
            yield str(tool.get("name", tool["type"])), tool


def _answer_responses(body: Json, step: Say | Call, tool: Json) -> tuple[Json, list[SSE]]:
    item = _item(step, tool)
    read = SENT[step.full]
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    usage = {"input_tokens": read, "output_tokens": 10, "total_tokens": read + 10, **details}
    head = {"id": _id("resp"), "object": "response", "created_at": BEGAN, "model": body.get("model", "scripted")}
    whole = {**head, "status": "completed", "output": [item], "usage": usage}
    events: list[Json] = [
        {"type": "response.created", "response": {**whole, "status": "in_progress", "output": [], "usage": None}},
        {"type": "response.output_item.added", "output_index": 0, "item": {**item, "status": "in_progress"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": whole},
    ]
    return whole, [(event["type"], {**event, "sequence_number": place}) for place, event in enumerate(events)]


def _item(step: Say | Call, tool: Json) -> Json:
    if isinstance(step, Say):
        content = [{"type": "output_text", "text": step.text, "annotations": []}]
        return {"type": "message", "id": _id("msg"), "role": "assistant", "status": "completed", "content": content}
    call = {"call_id": _id("call"), "name": tool.get("name"), "status": "completed"}
    if tool.get("type") == "tool_search":  # tools of servers are not listed until they are searched for
        return {"type": "tool_search_call", "execution": "client", "arguments": step.given, **call}
    if tool.get("type") == "custom":
        return {"type": "custom_tool_call", "id": _id("ctc"), "input": step.given, **call}
    space = {"namespace": tool["namespace"]} if "namespace" in tool else {}
    return {"type": "function_call", "id": _id("fc"), "arguments": json.dumps(step.given), **call, **space}


# How models of many others are asked: chat completions, as OpenAI's once were.


def _read_chat(body: Json) -> Asked:
    turns = [(one.get("role") == "assistant", json.dumps(one)) for one in body.get("messages", [])]
    return Asked(turns=turns, tools={one["function"]["name"]: one for one in body.get("tools") or []})


def _answer_chat(body: Json, step: Say | Call, _: Json) -> tuple[Json, list[SSE]]:
    said: Json = {"role": "assistant", "content": step.text if isinstance(step, Say) else None}
    if isinstance(step, Call):
        function = {"name": step.tool, "arguments": json.dumps(step.given)}
        said["tool_calls"] = [{"index": 0, "id": _id("call"), "type": "function", "function": function}]
    why = "stop" if isinstance(step, Say) else "tool_calls"
    head = {"id": _id("chat"), "created": BEGAN, "model": body.get("model", "scripted")}
    read = SENT[step.full]
    usage = {"prompt_tokens": read, "completion_tokens": 10, "total_tokens": read + 10}
    piece = {**head, "object": "chat.completion.chunk"}
    pieces = [
        {**piece, "choices": [{"index": 0, "delta": said, "finish_reason": None}]},
        {**piece, "choices": [{"index": 0, "delta": {}, "finish_reason": why}]},
        {**piece, "choices": [], "usage": usage},
    ]
    choice = {"index": 0, "message": said, "finish_reason": why}
    whole = {**head, "object": "chat.completion", "choices": [choice], "usage": usage}
    return whole, [("", one) for one in (*pieces, "[DONE]")]


# How Google's models are asked.


def _read_gemini(body: Json) -> Asked:
    listed = [one for group in body.get("tools") or [] for one in group.get("functionDeclarations", [])]
    turns = [(one.get("role") == "model", json.dumps(one)) for one in body.get("contents", [])]
    return Asked(turns=turns, tools={one["name"]: one for one in listed})


def _answer_gemini(body: Json, step: Say | Call, _: Json) -> tuple[Json, list[SSE]]:
    if isinstance(step, Say):
        part: Json = {"text": step.text}
        if (body.get("generationConfig") or {}).get("responseMimeType") == "application/json":
            # The client's own questions to itself: who speaks next, which model fits.
            own = {"reasoning": step.text, "next_speaker": "user", "model_choice": "flash", "complexity_score": 1}
            part = {"text": json.dumps(own)}
    else:
        part = {"functionCall": {"id": _id("call"), "name": step.tool, "args": step.given}}
    read = SENT[step.full]
    whole = {
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": read, "candidatesTokenCount": 10, "totalTokenCount": read + 10},
        "modelVersion": "scripted",
        "responseId": _id("resp"),
    }
    return whole, [("", whole)]


DIALECTS = (
    Dialect(ends=("/v1/messages",), read=_read_messages, answer=_answer_messages),
    Dialect(ends=("/responses",), read=_read_responses, answer=_answer_responses),
    Dialect(ends=("/chat/completions",), read=_read_chat, answer=_answer_chat),
    Dialect(ends=(":generateContent", ":streamGenerateContent"), read=_read_gemini, answer=_answer_gemini),
)

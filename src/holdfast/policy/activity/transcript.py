"""Read session transcripts in the formats clients write, and split them into searchable chunks."""

from collections.abc import Iterator
from typing import Any

from holdfast.model.foreign_json import json_or_none
from holdfast.model.text import CHARS_PER_TOKEN, good_cut, texts_of

CHUNK, OVERLAP = 500 * CHARS_PER_TOKEN, 50 * CHARS_PER_TOKEN
_ASIDE = ("isSidechain", "isMeta", "isCompactSummary", "isVisibleInTranscriptOnly")
LONGEST_RESULT = 2_000  # a longer tool result is a file or a log, not conversation


def form_of(text: str) -> str:
    """Return the format of a transcript, "json" or "markdown", by its first character."""
    return "json" if text.lstrip().startswith(("{", "[")) else "markdown"


def messages_in(text: str, form: str) -> list[str]:
    """Return the messages of a transcript; JSON is read as clients write it, anything else is one text."""
    if form != "json":
        return [text] if text.strip() else []
    messages: list[str] = []
    for entry in _entries(text):
        message = entry.get("message", entry)
        inner = message if isinstance(message, dict) else {"content": message}
        role = str(entry.get("type") or inner.get("role") or "")
        messages += (f"{role}: {said}" if role else said for said in _texts(inner.get("content")))
    return messages


def turn_messages(text: str, until: str) -> list[str]:
    """Return what the assistant itself wrote since the user's last prompt before an instant, in order."""
    messages: list[str] = []
    for entry in _entries(text):
        if any(entry.get(name) for name in _ASIDE):
            continue
        if str(entry.get("timestamp") or "") > until:
            break
        inner = next((entry[name] for name in ("message", "payload") if isinstance(entry.get(name), dict)), entry)
        role, content = str(inner.get("role") or entry.get("type") or ""), inner.get("content")
        spoken = [content.strip()] if isinstance(content, str) else _parts(content, "text", "input_text", "output_text")
        if role in ("assistant", "gemini", "model"):
            messages += filter(None, spoken)
        elif role == "user" and any(spoken):
            messages = []
    return messages


def chunks(turns: list[str]) -> list[str]:
    """Split messages into chunks of about 500 tokens that overlap by 50."""
    whole, pieces, start, end = "\n\n".join(turns), list[str](), 0, 0
    while end < len(whole):
        end = good_cut(whole, start, start + CHUNK)
        pieces.append(whole[start:end].strip())
        start = max(end - OVERLAP, start + 1)
    return [piece for piece in pieces if piece]


def _entries(text: str) -> list[dict[str, Any]]:
    """Return the objects of a transcript: those of a list, a single one, or one a line."""
    whole = json_or_none(text)
    inner, lines = whole.get("messages") if isinstance(whole, dict) else whole, map(json_or_none, text.splitlines())
    entries = inner if isinstance(inner, list) else [whole] if isinstance(whole, dict) else lines
    return [entry for entry in entries if isinstance(entry, dict)]


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, str) and content.strip():
        yield content.strip()
    # Thinking counts only where there is no other text.
    yield from _parts(content, "text") or _parts(content, "thinking")
    for part in content if isinstance(content, list) else ():
        if isinstance(part, dict) and part.get("type") == "tool_result":
            yield from (text for text in _texts(part.get("content")) if len(text) < LONGEST_RESULT)


def _parts(content: Any, *types: str) -> list[str]:
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    texts = [part.get("thinking" if types == ("thinking",) else "text") for part in parts if part.get("type") in types]
    return [text.strip() for text in texts_of(texts) if text.strip()]

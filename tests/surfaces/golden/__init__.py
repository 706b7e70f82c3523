"""Requests and replies of the most used tools, word for word.

Replies are compared with what is written beside this file; after a change that is meant, write them anew with
`python -m tests.surfaces.golden`. Ids are written as «1», «2» … in the order they appear, and stand for themselves in
later requests.
"""

import json
import re
import tempfile
from pathlib import Path
from typing import Any

from holdfast.hosts.mcp.serving import surface_named
from holdfast.model.event import Actor
from holdfast.surfaces.tool import Call
from holdfast.verbs.sessions.session import begin
from tests.conftest import Time, make_memory
from tests.serving import server_of

HERE = Path(__file__).parent
_ID = re.compile(r"(?<![0-9A-Z])(?:01M3[0-9A-HJKMNP-TV-Z]{22}|(?=[A-Z]*\d)(?=\d*[A-Z])[0-9A-HJKMNP-TV-Z]{8,12})\b")
Pair = dict[str, Any]


def written(name: str) -> list[Pair]:
    """Give the pairs of a surface as they are written down."""
    pairs = json.loads((HERE / f"{name}.json").read_text(encoding="utf-8"))
    assert isinstance(pairs, list)
    return pairs


def replayed(name: str, folder: Path) -> list[Pair]:
    """Ask the same again, on an empty memory at a fixed time."""
    seen: dict[str, str] = {}
    found = []
    time = Time()
    with make_memory(folder, time, actor=Actor(kind="agent", name="claude"), config={"starters": False}) as memory:
        memory = begin(memory, implicit=True)
        server = server_of(surface_named(name), Call(open=lambda: memory))
        for pair in written(name):
            time.now += 60
            arguments = json.loads(_with_ids(json.dumps(pair["arguments"], ensure_ascii=False), seen))
            result = server.answer("tools/call", {"name": pair["tool"], "arguments": arguments})
            text = result["content"][0]["text"].replace(str(folder), "…")
            reply = {"error": True} if result["isError"] else {}
            request = {"tool": pair["tool"], "arguments": pair["arguments"]}
            found.append({**request, **reply, "reply": _without_ids(text, seen).splitlines()})
    return found


def _with_ids(text: str, seen: dict[str, str]) -> str:
    for known, sign in seen.items():
        text = text.replace(sign, known)
    return text


def _without_ids(text: str, seen: dict[str, str]) -> str:
    return _ID.sub(lambda match: seen.setdefault(match[0][-8:], f"«{len(seen) + 1}»"), text)


def write_anew() -> None:
    """Write down what is replied now."""
    for file in sorted(HERE.glob("*.json")):
        with tempfile.TemporaryDirectory() as folder:
            pairs = replayed(file.stem, Path(folder))
        file.write_text(json.dumps(pairs, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")

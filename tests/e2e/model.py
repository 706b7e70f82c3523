"""A model that follows a script: it answers clients on the loopback address and keeps every request it was sent."""

import gzip
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any, ClassVar

from tests.adapters.stub import serving
from tests.e2e.dialects import Asked, Call, Json, Say, of_path, values_in

Script = Sequence[Say | Call]
SUBAGENT = "the sub-agent"  # in what a call is given: the one that was started last
_AGENT = re.compile(r'agent_id\\*": ?\\*"([\w-]+)')
ASIDE = Say("ok")  # for what a client asks besides the conversation: titles, warm-ups


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request as it came, and what the script made of it."""

    path: str
    body: Json
    answer: Say | Call
    of_script: str  # the cue whose script answered, or nothing

    @property
    def text(self) -> str:
        """Give all that reached the model, as text; line ends and quotes are plain."""
        return "\n".join(value for value in values_in(self.body) if isinstance(value, str))


@dataclass(slots=True)
class Model:
    """Scripts by cue: words of a prompt. The cue that stands last in a conversation says which script is played,
    and the turns of the model after it how far it is; so a request sent twice is answered alike, and a resumed
    conversation or a sub-agent's has its own script.
    """

    scripts: Mapping[str, Script]
    url: str = ""
    is_full: bool = False  # it said so; what is asked from then on is a summary, and what comes after
    requests: list[Request] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def told(self, cue: str) -> list[Request]:
        """Give the requests that a script answered, in order."""
        return [one for one in self.requests if one.of_script == cue]

    def answer(self, path: str, body: Json, asked: Asked) -> Say | Call:
        """Give the next step for a conversation, and note that it was asked."""
        cue = _cue(asked.turns, self.scripts) if asked.tools else ""
        step = self._step(cue, asked) if cue else ASIDE
        self.requests.append(Request(path=path, body=body, answer=step, of_script=cue))
        return step

    def _step(self, cue: str, asked: Asked) -> Say | Call:
        script, turns = self.scripts[cue], asked.turns
        last = max(place for place, (by_model, text) in enumerate(turns) if cue in text and not by_model)
        step = script[min(sum(by_model for by_model, _ in turns[last:]), len(script) - 1)]
        if step.full and self.is_full:  # what was said before is gone, and it begins anew: once is enough
            step = script[-1]
        self.is_full |= step.full
        if isinstance(step, Say):
            return step
        named = [name for name in asked.tools if name.endswith(step.tool)]
        if not named:
            self.problems.append(f"no tool ends with {step.tool}; there are {', '.join(asked.tools)}")
            return Say(self.problems[-1])
        return Call(min(named, key=len), _filled(step.given, asked), step.full)


def _filled(given: Any, asked: Asked) -> Any:
    """Put the sub-agent that was told last where a call names one."""
    told = _AGENT.findall("".join(text for _, text in asked.turns))
    return json.loads(json.dumps(given).replace(SUBAGENT, told[-1])) if told else given


def _cue(turns: Sequence[tuple[bool, str]], cues: Mapping[str, Script]) -> str:
    for by_model, text in reversed(turns):
        found = max(cues, key=text.rfind) if cues and not by_model else ""
        if found and found in text:
            return found
    return ""


@contextmanager
def playing(scripts: Mapping[str, Script], **more: Any) -> Iterator[Model]:
    model = Model(scripts, **more)
    with serving(_Handler, model=model) as model.url:
        yield model


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: ClassVar[Model]

    def do_HEAD(self) -> None:
        self._send(200, "text/plain", b"")

    def do_GET(self) -> None:
        self._json(200 if "/models" in self.path else 404, {"object": "list", "data": [], "models": []})

    def do_POST(self) -> None:
        body, dialect = self._body(), of_path(self.path)
        if dialect is None:
            counted = {"input_tokens": 100, "totalTokens": 100}
            self._json(200 if "ount" in self.path else 404, counted)
            return
        asked = dialect.read(body)
        step = self.model.answer(self.path, body, asked)
        tool = asked.tools.get(step.tool, {}) if isinstance(step, Call) else {}
        whole, events = dialect.answer(body, step, tool)
        if not body.get("stream") and ":streamGenerateContent" not in self.path:
            self._json(200, whole)
            return
        self._send(200, "text/event-stream", "".join(_event(name, data) for name, data in events).encode())

    def _body(self) -> Json:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.headers.get("transfer-encoding", "") == "chunked":
            raw = b"".join(self._chunks())
        if self.headers.get("content-encoding", "") == "gzip":
            raw = gzip.decompress(raw)
        try:
            body = json.loads(raw or b"{}")
        except ValueError:
            return {"unread": raw[:200].decode("utf-8", "replace")}
        return body if isinstance(body, dict) else {"list": body}

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline().strip() or b"0", 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def _json(self, status: int, value: Any) -> None:
        self._send(status, "application/json", json.dumps(value).encode())

    def _send(self, status: int, kind: str, data: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _event(name: str, data: Any) -> str:
    written = data if isinstance(data, str) else json.dumps(data)
    return (f"event: {name}\n" if name else "") + f"data: {written}\n\n"

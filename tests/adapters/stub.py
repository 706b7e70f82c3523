"""A model's endpoint on this machine that speaks the APIs of chats and embeddings, and answers what it was told to."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Stub:
    """What to answer next, and what was asked."""

    url: str = ""
    text: str = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    usage: bool = True
    stop: str = ""
    pause: float = 0.0
    asked: list[tuple[str, dict[str, str], dict[str, Any]]] = field(default_factory=list)

    def answer(self, path: str, asked: dict[str, Any]) -> bytes:
        if self.body is not None:
            return self.body
        value: dict[str, Any]
        if self.status != 200:
            value = {"error": {"type": "oops", "message": "not today"}}
        elif path.endswith("/embeddings"):
            rows = [{"index": place, "embedding": [3.0, 4.0 * len(text)]} for place, text in enumerate(asked["input"])]
            value = {"data": rows[::-1]}
        elif path.endswith("/v1/messages"):
            content = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": self.text}]
            usage = {"input_tokens": 300, "cache_read_input_tokens": 20, "output_tokens": 80}
            value = {"content": content, "stop_reason": self.stop or "end_turn", "usage": usage}
        else:
            message = {"role": "assistant", "content": self.text}
            usage = {"prompt_tokens": 320, "completion_tokens": 80, "total_tokens": 400}
            value = {"choices": [{"message": message, "finish_reason": self.stop or "stop"}], "usage": usage}
        return json.dumps(value if self.usage else {**value, "usage": None}).encode()


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler], **attributes: Any) -> Iterator[str]:
    """Serve on this machine until the end of the block, whatever a handler with these attributes answers; give the address."""
    quiet = {"log_message": lambda *_: None, **attributes}
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (handler,), quiet))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    stub: Stub

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.stub.asked.append((self.path, dict(self.headers), asked))
        time.sleep(self.stub.pause)
        answer = self.stub.answer(self.path, asked)
        self.send_response(self.stub.status)
        for name, value in {**self.stub.headers, "content-length": str(len(answer))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer)


@contextmanager
def stub_server() -> Iterator[Stub]:
    stub = Stub()
    with serving(_Handler, stub=stub) as stub.url:
        yield stub

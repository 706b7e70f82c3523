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
def stub_server() -> Iterator[Stub]:
    stub = Stub()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["content-length"])
            asked = json.loads(self.rfile.read(length))
            stub.asked.append((self.path, dict(self.headers), asked))
            if stub.pause:
                time.sleep(stub.pause)
            answer = stub.answer(self.path, asked)
            self.send_response(stub.status)
            for name, value in stub.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    stub.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield stub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

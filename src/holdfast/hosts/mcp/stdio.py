"""The stdio host: JSON-RPC, one message a line, requests answered in order by one worker. stdout carries protocol only."""

import json
import logging
import os
import queue
import re
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from holdfast.hosts.mcp import protocol
from holdfast.model.foreign_json import TooDeep, json_or_none, parse_json

LONGEST_REFUSED = 1_000_000  # bytes of a message that is too deep in which its id is looked for
_PART = re.compile(rb'"(?:[^"\\]|\\.)*"|[][{}]|[^][{}"]+')
log = logging.getLogger(__name__)


def serve(server: protocol.Server, source: IO[bytes], sink: IO[bytes]) -> None:
    """Answer until the client closes its end; running requests are finished first."""
    host = _Host(server, sink)
    worker = threading.Thread(target=host.work, name="holdfast-mcp")
    worker.start()
    try:
        while line := source.readline(protocol.LONGEST_MESSAGE + 1):
            if len(line) > protocol.LONGEST_MESSAGE:
                host.refuse(protocol.PARSE_ERROR, f"A message is longer than {protocol.LONGEST_MESSAGE:,} bytes")
                while line and not line.endswith(b"\n"):  # skip the rest of it
                    line = source.readline(protocol.LONGEST_MESSAGE)
            elif line.strip():
                host.receive(line)
    finally:
        host.requests.put(None)
        worker.join()


@dataclass(slots=True)
class _Host:
    """The messages between reader and worker."""

    server: protocol.Server
    sink: IO[bytes]
    requests: queue.Queue[protocol.Json | None] = field(default_factory=queue.Queue)
    sending: threading.Lock = field(default_factory=threading.Lock)
    cancelled: set[str] = field(default_factory=set)

    def receive(self, line: bytes) -> None:
        """Handle one message: requests are queued, a ping or a cancellation is not."""
        try:
            message = parse_json(line)
        except TooDeep as problem:
            known = _id_of(line)
            code = protocol.PARSE_ERROR if known is None else protocol.INVALID_PARAMS
            self.refuse(code, f"The message cannot be read: {problem}", known)
            return
        except ValueError:
            self.refuse(protocol.PARSE_ERROR, "This is not JSON")
            return
        if not _is_message(message):
            known = message.get("id") if isinstance(message, dict) else None
            self.refuse(protocol.INVALID_REQUEST, "This is not a JSON-RPC 2.0 message", known)
        elif message.get("method") == "notifications/cancelled":
            self.cancelled.add(_key((message.get("params") or {}).get("requestId")))
        elif message.get("method") == "ping" and "id" in message:
            self._answer(message)
        elif "method" in message and "id" in message:
            self.requests.put(message)

    def work(self) -> None:
        """Answer requests one after the other until the client is gone."""
        try:
            while (message := self.requests.get()) is not None:
                if not self._is_cancelled(message):
                    self._answer(message)
                self.cancelled.discard(_key(message["id"]))
        except BrokenPipeError:
            log.info("the client is gone")

    def refuse(self, code: int, text: str, request: Any = None) -> None:
        """Answer a message that could not be parsed."""
        self._send({"jsonrpc": "2.0", "id": request, "error": protocol.ProtocolError(code, text).to_json()})

    def _answer(self, message: protocol.Json) -> None:
        def tell(method: str, params: protocol.Json) -> None:
            if not self._is_cancelled(message):
                self._send({"jsonrpc": "2.0", "method": method, "params": params})

        reply: protocol.Json = {"jsonrpc": "2.0", "id": message["id"]}
        try:
            reply["result"] = self.server.answer(message["method"], message.get("params") or {}, tell)
        except protocol.ProtocolError as problem:
            reply["error"] = problem.to_json()
        if not self._is_cancelled(message):
            self._send(reply)

    def _is_cancelled(self, message: protocol.Json) -> bool:
        return _key(message["id"]) in self.cancelled

    def _send(self, message: protocol.Json) -> None:
        data = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode(errors="replace") + b"\n"
        with self.sending:
            self.sink.write(data)
            self.sink.flush()


def _is_message(message: Any) -> bool:
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return False
    if not isinstance(message.get("params", {}), dict) or not isinstance(message.get("id", 0), str | int):
        return False
    return isinstance(message.get("method"), str) or "result" in message or "error" in message


def _id_of(line: bytes) -> Any:
    """Return the id of a message that is nested too deeply to be parsed, so that its sender gets the error."""
    depth, outermost = 0, list[bytes]()
    for part in _PART.findall(line[:LONGEST_REFUSED]):
        depth += part in (b"[", b"{")
        if depth == 1:
            outermost.append(part)
        elif depth == 2 and part in (b"[", b"{"):
            outermost.append(b"null")
        depth -= part in (b"]", b"}")
    message = json_or_none(b"".join(outermost).decode(errors="replace"))
    known = message.get("id") if isinstance(message, dict) else None
    return known if isinstance(known, str | int) else None


def _key(request: Any) -> str:
    """Return a key that keeps 1 and "1" apart: both may be ids."""
    return json.dumps(request)


def main(server: protocol.Server) -> None:
    """Serve on this process's stdin and stdout; all other output goes to stderr."""
    sink = sys.stdout.buffer
    sys.stdout = sys.stderr
    try:
        serve(server, sys.stdin.buffer, sink)
    except (BrokenPipeError, KeyboardInterrupt):
        log.info("the client is gone")


def leave(plugin: str) -> None:
    """Change from a plugin's folder to the project: Copilot CLI starts a plugin's servers in the plugin's own folder."""
    if Path.cwd() == Path(plugin) and (folder := parent_folder()):
        os.chdir(folder)


def parent_folder() -> Path | None:
    """Return the working directory of the parent process, where the system provides it."""
    parent = os.getppid()
    try:
        return Path(f"/proc/{parent}/cwd").readlink()
    except OSError:
        pass  # no such file system: macOS has a program instead
    import subprocess  # noqa: PLC0415  a server starts with every session

    try:
        asked = ["lsof", "-a", "-p", str(parent), "-d", "cwd", "-Fn"]
        said = subprocess.run(asked, capture_output=True, text=True, timeout=2, check=False).stdout  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return None
    return next((Path(line[1:]) for line in said.splitlines() if line.startswith("n")), None)

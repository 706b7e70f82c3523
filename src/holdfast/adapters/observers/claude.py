"""An observer behind the `claude` command line: uses the user's own subscription, without tools, in an empty folder."""

import os
import re
import signal
import subprocess
from tempfile import TemporaryDirectory
from typing import Any

from holdfast.adapters.observers.http import ANTHROPIC_COUNTS, spent
from holdfast.model.foreign_json import parse_json
from holdfast.model.observer import Answered, Question, RateLimited, Rejected, Reply, TimedOut, Unreachable
from holdfast.model.trail import OBSERVER_FOLDER

MODEL = "haiku"
SECONDS = 120.0
_LATER = re.compile(r"rate limit|usage limit|limit reached|overloaded|too many requests|429", re.IGNORECASE)
# Some versions of the program honour only some of these: no tools, no servers, no settings and so no hooks.
_DENIED = (
    *("--tools", ""),
    *("--disallowedTools", "Bash,Edit,MultiEdit,Write,NotebookEdit,Read,Grep,Glob,WebFetch,WebSearch,Task,Agent"),
    *("--strict-mcp-config", "--mcp-config", '{"mcpServers":{}}'),
    *("--setting-sources", ""),
    *("--max-turns", "1"),
    "--no-session-persistence",
)


class ClaudeObserver:
    """Runs the program for each question, in a temporary folder."""

    name = "claude"
    overhead = 25_000  # the program adds its own prompt

    def __init__(self, model: str, *, program: str = "claude", seconds: float = SECONDS) -> None:
        self.model = model or MODEL
        self._program, self._seconds = program, seconds

    def ask(self, question: Question) -> Reply:
        """Run the program and return its reply."""
        command = [self._program, "-p", "--output-format", "json", "--model", self.model, *_DENIED]
        command += ["--system-prompt", question.instructions]
        with TemporaryDirectory(prefix=OBSERVER_FOLDER) as folder:
            try:
                process = subprocess.Popen(  # noqa: S603
                    command,
                    cwd=folder,
                    env={**os.environ, "CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(question.most_tokens)},
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                    encoding="utf-8",
                    errors="replace",
                    start_new_session=os.name == "posix",  # so that its children end with it
                )
            except OSError as problem:
                return Rejected(said=f"{self._program} cannot be started ({problem.strerror}).")
            try:
                out, err = process.communicate(question.text, timeout=self._seconds)
            except subprocess.TimeoutExpired:
                if os.name == "posix":
                    os.killpg(process.pid, signal.SIGKILL)
                else:
                    process.kill()
                process.communicate()
                return TimedOut(seconds=self._seconds)
        return _answer(out, err, process.returncode)


def _answer(out: str, err: str, code: int) -> Reply:
    try:
        value = parse_json(out)
    except ValueError:
        value = None
    answer: dict[str, Any] = value if isinstance(value, dict) else {}
    text = str(answer.get("result", ""))
    if answer and code == 0 and not answer.get("is_error"):
        return Answered(text=text, tokens=spent(answer.get("usage"), ANTHROPIC_COUNTS))
    message = " ".join((text or err or out).split())[:300] or f"It exited with code {code}."
    if _LATER.search(message):
        return RateLimited(seconds=0.0, said=message)
    return Unreachable(said=message) if answer else Rejected(said=message)

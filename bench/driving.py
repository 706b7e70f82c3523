"""Drive sessions through the real hook entry and worker, as a client would, from a short script of each session."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from holdfast.compose import worker_lock
from holdfast.hosts.hooks import client
from holdfast.hosts.worker import work

CLIENT = Path(client.__file__)


class Desktop:
    """A checkout with a store of its own, in which sessions are played one after the other."""

    def __init__(self, folder: Path) -> None:
        self.home, self.checkout = folder / "store", folder / "checkout"
        self.home.mkdir(mode=0o700)
        (self.checkout / ".git").mkdir(parents=True)
        self.switch("main")

    def switch(self, branch: str) -> None:
        """Check out a branch, as far as hooks can see."""
        (self.checkout / ".git" / "HEAD").write_text(f"ref: refs/heads/{branch}\n", encoding="utf-8")

    def hook(self, event: str, session: str, **given: Any) -> str:
        """Send one event and return the text that the agent gets."""
        payload = {"session_id": session, "cwd": str(self.checkout), "hook_event_name": event, **given}
        with worker_lock(self.home):  # keeps the hook from starting a worker of its own
            done = subprocess.run(  # noqa: S603  our own hook
                [sys.executable, "-I", "-S", str(CLIENT), event, "--home", str(self.home)],
                input=json.dumps(payload).encode(),
                capture_output=True,
                check=True,
                cwd=self.checkout,
            )
        answer = json.loads(done.stdout) if done.stdout else {}
        return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))

    def work(self) -> None:
        """Run the worker."""
        work({"home": str(self.home), "embedder": "none"}, self.home, self.checkout, environment={})

    def play(self, script: Mapping[str, Any], session: str) -> str:
        """Play a session as scripted, then the worker; return what a compaction gave back, if there was one."""
        self.switch(script.get("branch", "main"))
        self.hook("SessionStart", session, source="startup")
        for turn in script["turns"]:
            self.hook("UserPromptSubmit", session, prompt=turn["prompt"])
            for step in turn["did"]:
                self._step(session, step)
            if "answer" in turn:
                self.hook("Stop", session, last_assistant_message=turn["answer"])
        if script["ends"] == "end":
            self.hook("SessionEnd", session, reason="exit")
        if script["ends"] == "compact":
            self.hook("PreCompact", session, trigger="auto")
        self.work()
        return self.hook("SessionStart", session, source="compact") if script["ends"] == "compact" else ""

    def open(self, session: str, prompt: str = "hello") -> str:
        """Begin a session and return everything that its agent gets up to the first prompt."""
        start = self.hook("SessionStart", session, source="startup")
        return f"{start}\n{self.hook('UserPromptSubmit', session, prompt=prompt)}"

    def _step(self, session: str, step: list[Any]) -> None:
        tool, given, result = _TOOLS[step[0]](step)
        event = "PostToolUseFailure" if step[2:3] == ["fail"] else "PostToolUse"
        self.hook(event, session, tool_name=tool, tool_input=given, tool_response=result)


_TOOLS: Mapping[str, Any] = {
    "read": lambda step: ("Read", {"file_path": step[1]}, "…"),
    "grep": lambda step: ("Grep", {"pattern": step[1]}, "3 files"),
    "edit": lambda step: ("Edit", {"file_path": step[1], "old_string": "a", "new_string": "b"}, "ok"),
    "create": lambda step: ("Write", {"file_path": step[1], "content": "x"}, "created"),
    "run": lambda step: ("Bash", {"command": step[1]}, step[3]),
    "commit": lambda step: ("Bash", {"command": f"git commit -am {step[1]!r}"}, f"[main 1a2b3c4] {step[1]}"),
    "todo": lambda step: (
        "TodoWrite",
        {"todos": [{"content": text, "status": state} for text, state in step[1]]},
        "ok",
    ),
}

"""Simulate a session: what hooks would inject at its start, and at a prompt, a command or a file, and why."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from holdfast.hosts.hooks.answers import respond
from holdfast.hosts.hooks.hook import activity_of
from holdfast.model.errors import Invalid
from holdfast.model.files import read_regular
from holdfast.model.foreign_json import parse_json
from holdfast.model.ports import Checkout
from holdfast.model.record import Origin
from holdfast.model.text import tokens_of
from holdfast.verbs.capture.prepare import prepare
from holdfast.verbs.memory import Memory, Report
from holdfast.verbs.records.freshness import is_here
from holdfast.verbs.records.hot import vitals_by_id
from holdfast.verbs.sessions.receipts import delivered, known_at

START = "start"
OCCASIONS = ("prompt", "command", "file")
LONGEST = 20_000  # characters of what is simulated
SESSION = "simulated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What an agent gets on one occasion: the exact text, its memories with the reasons, or why it gets nothing."""

    occasion: str  # start, prompt, command or file
    text: str = ""
    tokens: int = 0
    memories: tuple[Report, ...] = ()
    blocks: bool = False
    nothing: str = ""


@dataclass(frozen=True, slots=True)
class OnBranch:
    """A checkout as if another branch were checked out; its files are the current ones."""

    checkout: Checkout
    branch: str

    def __getattr__(self, name: str) -> Any:
        return getattr(self.checkout, name)

    def origin(self) -> Origin:
        """Return that branch and its commit."""
        return replace(self.checkout.origin(), branch=self.branch, commit=self.checkout.commit_of(self.branch))


def simulate(
    memory: Memory, text: str, occasions: Sequence[str] = OCCASIONS, *, branch: str = "", at: str = ""
) -> list[Step]:
    """Return what a new session gets at its start and then for a text, taken as each of the occasions.

    The hooks' own code answers, with nothing injected before. With an instant, from what was known then.
    """
    if len(text) > LONGEST:
        raise Invalid(f"The text is longer than {LONGEST:,} characters.")
    if branch:
        memory = replace(memory, checkout=cast("Checkout", OnBranch(memory.checkout, branch)))
    with TemporaryDirectory(prefix="holdfast-simulated-") as home:
        if at:
            memory = known_at(memory, Path(home), at)
        file = Path(home) / "prepared" / "answers.json"
        prepare(memory, file)
        prepared = parse_json(read_regular(file)) | {"late": False}
        folder = str(memory.checkout.top()) if is_here(memory, memory.project) else home
        events: dict[str, tuple[str, dict[str, Any]]] = {
            START: ("SessionStart", {}),
            "prompt": ("UserPromptSubmit", {"prompt": text}),
            "command": ("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": text}}),
            "file": ("PreToolUse", {"tool_name": "Edit", "tool_input": {"file_path": text}}),
        }
        steps = []
        for occasion in (START, *(occasions if text else ())):
            name, payload = events[occasion]
            event = activity_of(name, "claude", {"session_id": SESSION, "cwd": folder, **payload})
            answer = respond(home, prepared, event | ({"branch": branch} if branch else {}), payload)
            if not answer:
                steps.append(Step(occasion=occasion, nothing=_why_nothing(memory, occasion)))
                continue
            ids, said = tuple(answer["ids"]), answer["text"]
            known, asked = vitals_by_id(memory, ids), "" if occasion == START else text
            records = [known[id_].record for id_ in ids if id_ in known]
            got = tuple(delivered(one, ids, answer["why"], asked, said) for one in records)
            shown: dict[str, Any] = {"text": said, "tokens": tokens_of(said), "memories": got}
            steps.append(Step(occasion=occasion, blocks=bool(answer.get("block")), **shown))
        if at:
            memory.store.close()
    return steps


def _why_nothing(memory: Memory, occasion: str) -> str:
    """Return why hooks inject nothing on an occasion."""
    if memory.config.inject == "off" or (memory.config.inject == "hot" and occasion in ("command", "file")):
        return f"The setting `inject` is {memory.config.inject}."
    if occasion == "prompt" and not memory.config.prompt_hints:
        return "Prompts get nothing after the brief: the setting `prompt_hints` is off."
    no_match = "No memory shares two of its distinctive words." if occasion == "prompt" else "No trigger matches."
    return "Nothing is known about this project yet." if occasion == START else no_match

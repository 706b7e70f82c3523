"""Accuracy of capture on labelled prompts and dialogues: what a user states for good, and which conclusions of an agent survive.

Both sets were written by one hand. The prompts marked `dev` are among the data that the classifier is trained on.
"""

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.labelled import READER, SPLITS, rows_of
from bench.measure import table
from bench.speed import open_bench
from holdfast.engine.views import records
from holdfast.model.session import HookEvent
from holdfast.policy.language.user_statements import stated
from holdfast.verbs.capture.derive import derive

LEAST_RECALL, MOST_FALSE, LEAST_CORRECTED = 0.7, 0.03, 0.7


@dataclass(slots=True)
class Judged:
    """Counts of one half."""

    kept: int = 0
    wanted: int = 0
    false: int = 0
    dropped: int = 0
    wrong: list[str] = field(default_factory=list)

    @property
    def recall(self) -> float:
        """The share of statements worth keeping that were kept."""
        return self.kept / self.wanted if self.wanted else 0.0

    @property
    def false_share(self) -> float:
        """The share of other prompts of which something was kept."""
        return self.false / self.dropped if self.dropped else 0.0


def run(*, verbose: bool = False) -> bool:
    """Print both tables; return True if the held-out halves meet the targets."""
    prompts = {split: judge_prompts(split) for split in SPLITS}
    table(
        "statements of users: prompts in seven languages",
        ("split", "worth keeping", "kept", "recall", "others", "falsely kept", "share"),
        [(split, one.wanted, one.kept, one.recall, one.dropped, one.false, one.false_share) for split, one in prompts.items()],
    )  # fmt: skip
    dialogues = {split: judge_dialogues(split) for split in SPLITS}
    table(
        "conclusions of agents: dialogues",
        ("split", "refuted", "kept anyway", "corrections and confirmed ones", "kept", "share"),
        [(split, one.dropped, one.false, one.wanted, one.kept, one.recall) for split, one in dialogues.items()],
    )
    if verbose:
        print(*(line for one in (*prompts.values(), *dialogues.values()) for line in one.wrong), sep="\n")
    held, talked = prompts["held"], dialogues["held"]
    fine = held.recall >= LEAST_RECALL and held.false_share <= MOST_FALSE
    return fine and talked.false == 0 and talked.recall >= LEAST_CORRECTED


def judge_prompts(split: str) -> Judged:
    """Judge one half of the prompts."""
    judged = Judged()
    for row in rows_of("voice", split):
        texts = [statement.text for statement in stated(row["text"], row.get("answer", ""), READER)]
        missed = [want for want in row["wanted"] if not any(want in text for text in texts)]
        if row["wanted"]:
            judged.wanted, judged.kept = judged.wanted + 1, judged.kept + (not missed)
        else:
            judged.dropped, judged.false = judged.dropped + 1, judged.false + bool(texts)
        if missed or (texts and not row["wanted"]):
            judged.wrong.append(f"{'missed' if missed else 'false'}: {row['text']!r} {texts}")
    return judged


def judge_dialogues(split: str, one_in: int = 1) -> Judged:
    """Judge one half of the dialogues, or one in so many of them: derive each in a store of its own, prompt by prompt, as a worker does."""
    judged = Judged()
    for row in rows_of("guesses", split)[::one_in]:
        active = list(_active_after(row["dialogue"]))
        gone = not row["refuted"] or not any(
            row["refuted"] in text and not _is_kept(text, row["kept"]) for text in active
        )
        missed = [want for want in row["kept"] if not any(want in text for text in active)]
        judged.dropped, judged.false = judged.dropped + bool(row["refuted"]), judged.false + (not gone)
        judged.wanted, judged.kept = judged.wanted + len(row["kept"]), judged.kept + len(row["kept"]) - len(missed)
        if missed or not gone:
            judged.wrong.append(f"{'refuted kept' if not gone else 'missed'}: {row['dialogue']} {active}")
    return judged


def _is_kept(text: str, wanted: Sequence[str]) -> bool:
    return any(want in text for want in wanted)


def _active_after(dialogue: Sequence[str]) -> Iterator[str]:
    folder = Path(tempfile.mkdtemp())
    try:
        with chdir(folder), open_bench(folder) as memory:  # git has nothing to say there
            activity: list[HookEvent] = []
            for line in dialogue:
                activity += _events(line, len(activity))
                derive(memory, activity)
            for entry in records.of_session(memory.store, "s1"):
                if entry.record.state == "active":
                    yield entry.record.text
    finally:
        shutil.rmtree(folder)


def _events(line: str, count: int) -> list[HookEvent]:
    """Return the activity of one line: a prompt, or steps and an answer."""
    text, *steps = line[2:].split("+")
    if line.startswith("U:"):
        return [_event(count, "UserPromptSubmit", text=text.strip())]
    calls: list[Mapping[str, Any]] = []
    for step in steps:
        calls += STEPS[step.strip()]
    events = [_event(count + place, "PostToolUse", **call) for place, call in enumerate(calls)]
    return [*events, _event(count + len(events), "Stop", text=text.strip())]


def _event(place: int, event: str, **more: Any) -> HookEvent:
    at = f"2026-03-02T10:{place // 60:02d}:{place % 60:02d}.000Z"
    return HookEvent(id=f"h{place:03d}", at=at, event=event, session="s1", client="claude-code", cwd="/repo", **more)


_FAILS: Mapping[str, Any] = {
    "tool": "Bash",
    "given": {"command": "pytest -q"},
    "result": "E  AssertionError: 1 != 2\n1 failed",
    "failed": True,
}
_EDIT: Mapping[str, Any] = {
    "tool": "Edit",
    "given": {"file_path": "/repo/app.py", "old_string": "a", "new_string": "b"},
    "result": "ok",
}
_PASSES: Mapping[str, Any] = {"tool": "Bash", "given": {"command": "pytest -q"}, "result": "12 passed"}
_COMMIT: Mapping[str, Any] = {
    "tool": "Bash",
    "given": {"command": "git commit -am 'repair it'"},
    "result": "[main 1234567] repair it",
}
STEPS: Mapping[str, list[Mapping[str, Any]]] = {
    "fix": [_FAILS, _EDIT, _PASSES],
    "commit": [_EDIT, _COMMIT],
    "fail": [_EDIT, _FAILS],
}

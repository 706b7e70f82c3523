"""Accuracy of warnings: at which commands and edits a scar speaks, on a labelled set of which one half is held out."""

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.labelled import Score
from bench.measure import table
from holdfast.hosts.hooks.answers import READING, triggered_by
from holdfast.model.record import Record
from holdfast.policy.sessions.triggers import places_of, warns_at
from holdfast.verbs.capture.prepare import trigger_of

DATA = Path(__file__).parent / "data"
# Which scars of which file: two halves of a set that is older than the rules, and a set that is younger.
SETS = {"tuned": ("warnings", 0, 2), "held out": ("warnings", 1, 2), "later": ("warnings-later", 0, 1)}
LEAST_PRECISION, LEAST_RECALL = 0.95, 0.9
# Warnings by the words of a command in a row, the rule before patterns, on the same set: (right, wrong, missed).
BEFORE = {"tuned": Score(right=47, wrong=49, missed=69), "held out": Score(right=40, wrong=32, missed=79)}


def run(*, show: bool = False) -> bool:
    """Print precision and recall of both halves; return True if the held-out half meets the bars."""
    scores = {name: score(name, show=show) for name in SETS}
    before = [[name, "words in a row", *_cells(one)] for name, one in BEFORE.items()]
    rows = [*before, *([name, "holdfast", *_cells(one)] for name, one in scores.items())]
    table("warnings at commands and edits", ("set", "rule", "precision", "recall", "right", "wrong", "missed"), rows)
    held = scores["held out"]
    return held.precision >= LEAST_PRECISION and held.recall >= LEAST_RECALL


def scars(name: str) -> list[dict[str, Any]]:
    """Return the labelled scars of a set: text, triggers if some are set, and what to warn of and what not."""
    file, first, step = SETS[name]
    return list(tomllib.loads((DATA / f"{file}.toml").read_text(encoding="utf-8"))["scar"])[first::step]


def score(name: str, *, show: bool = False) -> Score:
    """Score the warnings on one set."""
    right = wrong = missed = 0
    for scar in scars(name):
        record = _record(scar)
        item = trigger_of(record, places_of(record))
        for label in ("warn", "quiet"):
            for action in scar[label]:
                warned = warns(item, action)
                right += warned and label == "warn"
                wrong += warned and label == "quiet"
                missed += not warned and label == "warn"
                if show and warned != (label == "warn"):
                    print(f"{name}: {label}: {action!r}\n    {scar['text'][:100]}\n    {warns_at(record)}")
    return Score(right=right, wrong=wrong, missed=missed)


def warns(item: dict[str, Any], action: str) -> bool:
    """True if a hook would warn of an action: a command, `edit:PATH` or `read:PATH`."""
    kind, _, path = action.partition(":")
    tool = {"edit": "Edit", "read": "Read"}.get(kind, "Bash")
    edited = [path] if tool == "Edit" else []
    return tool not in READING and bool(triggered_by([item], "" if edited else action, edited, str(Path.cwd())))


def _record(scar: dict[str, Any]) -> Record:
    record = Record(id="0" * 26, kind="scar", title=scar.get("title", scar["text"][:100]), body=scar["text"])
    return replace(record, triggers=tuple(scar.get("triggers", ())), fields=scar.get("fields", {}))


def _cells(one: Score) -> list[str]:
    return [f"{one.precision:.3f}", f"{one.recall:.3f}", str(one.right), str(one.wrong), str(one.missed)]

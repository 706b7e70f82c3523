"""Verdicts on a history nobody made up: this project's own. Python's own parser says what is true."""

import ast
import random
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.adapters.checkout import GitCheckout
from holdfast.model.freshness import Finding
from holdfast.model.record import Draft, Record
from holdfast.policy.admission.admit import Waivers
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.freshness import freshness
from holdfast.verbs.records.write import Written, write
from tests.conftest import Time, make_memory

ROOT = Path(__file__).parents[2]
CITED = 50


def git(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    if not (ROOT / ".git").exists() or int(git(ROOT, "rev-list", "--count", "HEAD")) < 100:
        pytest.skip("this copy has no history")
    git(tmp_path, "clone", "-q", str(ROOT), "clone")
    return tmp_path / "clone"


def definitions(folder: Path, *, once: bool = False) -> Iterator[tuple[str, str, str]]:
    """Give path, name and meaning of every function and class, or of those that their file defines once."""
    for path in sorted(path for top in ("src", "bench", "demo") for path in (folder / top).rglob("*.py")):
        tree = ast.parse(path.read_text())
        found = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
        names = [node.name for node in found]
        for node in found:
            if not once or names.count(node.name) == 1:
                yield str(path.relative_to(folder)), node.name, ast.dump(node)


def test_verdicts_about_this_projects_own_history(clone: Path, tmp_path: Path, time: Time) -> None:
    commits = git(clone, "rev-list", "--first-parent", "HEAD").split()
    git(clone, "checkout", "-q", commits[len(commits) // 4])
    then = list(definitions(clone, once=True))
    chosen = random.Random(11).sample(then, min(CITED, len(then)))
    with make_memory(tmp_path, time) as memory:
        memory = replace(memory, checkout=GitCheckout(clone, memory.project))
        kept = [(keep(memory, f"{path}::{name}"), name, meaning) for path, name, meaning in chosen]
        git(clone, "checkout", "-q", commits[0])
        memory = replace(memory, checkout=GitCheckout(clone, memory.project))
        now = dict[tuple[str, str], set[str]]()
        for path, name, meaning in definitions(clone):
            now.setdefault((path, name), set()).add(meaning)
        wrong, states = [], Counter[str]()
        for record, name, meaning in kept:
            finding = freshness(memory, [record])[record.id].findings[0]
            states[f"{finding.state}{' elsewhere' if finding.moved_to else ''}"] += 1
            if (finding.state == "fresh") != holds(now, finding, name, meaning):
                wrong.append((finding.anchor, finding.state, finding.moved_to))
    false_alarms = [one for one in wrong if one[1] != "fresh"]
    print(f"{dict(states)}: {len(false_alarms)} false alarms, {len(wrong) - len(false_alarms)} misses {wrong}")
    assert {"fresh", "changed"} <= states.keys()  # or nothing was tried
    assert len(wrong) - len(false_alarms) == 0
    assert len(false_alarms) <= 0.02 * len(kept)


def holds(now: dict[tuple[str, str], set[str]], finding: Finding, name: str, meaning: str) -> bool:
    """Tell whether a definition still means the same, where it stood or where it was said to have gone."""
    place = (finding.moved_to or finding.anchor).partition("::")[0]
    if (place, name) in now:
        return meaning in now[place, name]
    return finding.state != "missing" and any(meaning in known for known in now.values())


def keep(memory: Memory, anchor: str) -> Record:
    draft = Draft(body="It is so by design.", anchors=(anchor,))
    outcome = write(memory, draft, waivers=Waivers(duplicate=True))
    assert isinstance(outcome, Written)
    return outcome.record

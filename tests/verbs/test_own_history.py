"""Verdicts on a history nobody made up: this project's own. Python's own parser says what is true."""

import ast
import random
import subprocess
from collections import Counter, deque
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.adapters.checkout import GitCheckout
from holdfast.model.anchor import Finding
from holdfast.model.record import Draft, Record
from holdfast.policy.admission.admit import Waivers
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.freshness import freshness
from holdfast.verbs.records.write import Written, write
from tests.conftest import Time, make_memory
from tests.rows import of_type

ROOT = Path(__file__).parents[2]
CITED = 50
Definition = ast.FunctionDef | ast.ClassDef


def git(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    if not (ROOT / ".git").exists() or int(git(ROOT, "rev-list", "--count", "HEAD")) < 100:
        pytest.skip("this copy has no history")
    git(tmp_path, "clone", "-q", str(ROOT), "clone")
    return tmp_path / "clone"


def definitions(folder: Path, names: Collection[str] = ()) -> Iterator[tuple[str, list[Definition]]]:
    """Give the path of every file, and its functions and classes; with names, of the files that define one of them."""
    defined = [f"{word} {name}" for name in names for word in ("def", "class")]
    for path in sorted(path for top in ("src", "bench", "demo") for path in (folder / top).rglob("*.py")):
        text = path.read_text()
        if not names or any(start in text for start in defined):
            found = [node for node in statements(ast.parse(text)) if isinstance(node, Definition)]
            yield str(path.relative_to(folder)), found


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Give every statement; unlike `ast.walk`, leave out expressions, which define nothing."""
    left = deque([tree])
    while left:
        node = left.popleft()
        left += (
            one for one in ast.iter_child_nodes(node) if isinstance(one, ast.stmt | ast.excepthandler | ast.match_case)
        )
        yield node


@pytest.mark.whole
def test_verdicts_about_this_projects_own_history(clone: Path, tmp_path: Path, time: Time) -> None:
    commits = git(clone, "rev-list", "--first-parent", "HEAD").split()
    git(clone, "checkout", "-q", commits[len(commits) // 4])
    then = []
    for path, found in definitions(clone):
        times = Counter(node.name for node in found)
        then += [(path, node) for node in found if times[node.name] == 1]
    chosen = [(path, node.name, ast.dump(node)) for path, node in random.Random(11).sample(then, min(CITED, len(then)))]
    with make_memory(tmp_path, time) as memory:
        memory = replace(memory, checkout=GitCheckout(clone, memory.project))
        kept = [(keep(memory, f"{path}::{name}"), name, meaning) for path, name, meaning in chosen]
        git(clone, "checkout", "-q", commits[0])
        memory = replace(memory, checkout=GitCheckout(clone, memory.project))
        now = dict[tuple[str, str], set[str]]()
        names = {name for _, name, _ in chosen}
        for path, found in definitions(clone, names):
            for node in found:
                if node.name in names:  # one of another name means something else
                    now.setdefault((path, node.name), set()).add(ast.dump(node))
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
    outcome = of_type(Written, write(memory, draft, waivers=Waivers(duplicate=True)))
    return outcome.record

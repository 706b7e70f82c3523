"""Verdicts on a history nobody made up: this project's own. Python's own parser says what is true."""

import ast
import random
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.adapters.checkout import GitCheckout
from holdfast.model.record import Draft
from holdfast.policy.admission.admit import Waivers
from holdfast.verbs.records.freshness import freshness
from tests.conftest import Time, make_memory, ran
from tests.verbs.scripts import keep

ROOT = Path(__file__).parents[2]
CITED = 50


def git(folder: Path, *arguments: str) -> str:
    return ran(["git", *arguments], folder, check=True).stdout.strip()


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    if not (ROOT / ".git").exists() or int(git(ROOT, "rev-list", "--count", "HEAD")) < 100:
        pytest.skip("this copy has no history")
    git(tmp_path, "clone", "-q", str(ROOT), "clone")
    return tmp_path / "clone"


def definitions(folder: Path) -> dict[tuple[str, str], list[ast.AST]]:
    """Return the functions and classes of each name in each file."""
    found = defaultdict[tuple[str, str], list[ast.AST]](list)
    for path in sorted(path for top in ("src", "bench", "demo") for path in (folder / top).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                found[str(path.relative_to(folder)), node.name].append(node)
    return found


@pytest.mark.whole
def test_verdicts_about_this_projects_own_history(clone: Path, tmp_path: Path, time: Time) -> None:
    commits = git(clone, "rev-list", "--first-parent", "HEAD").split()
    git(clone, "checkout", "-q", commits[len(commits) // 4])
    then = [(place, nodes[0]) for place, nodes in definitions(clone).items() if len(nodes) == 1]
    with make_memory(tmp_path, time) as memory:
        memory = replace(memory, checkout=GitCheckout(clone, memory.project))
        kept = []
        for (path, name), node in random.Random(11).sample(then, min(CITED, len(then))):
            draft = Draft(body="It is so by design.", anchors=(f"{path}::{name}",))
            kept.append((keep(memory, draft, waivers=Waivers(duplicate=True)), name, ast.dump(node)))
        git(clone, "checkout", "-q", commits[0])
        memory = replace(memory, checkout=GitCheckout(clone, memory.project))
        now, wrong, states = definitions(clone), [], Counter[str]()
        for record, name, meaning in kept:
            finding = freshness(memory, [record])[record.id].findings[0]
            states[f"{finding.state}{' elsewhere' if finding.moved_to else ''}"] += 1
            place = (finding.moved_to or finding.anchor).partition("::")[0], name
            anywhere = [node for (_, other), nodes in now.items() if other == name for node in nodes]
            found = now.get(place, [] if finding.state == "missing" else anywhere)
            holds = meaning in [ast.dump(node) for node in found]
            if (finding.state == "fresh") != holds:
                wrong.append((finding.anchor, finding.state, finding.moved_to))
    false_alarms = [one for one in wrong if one[1] != "fresh"]
    print(f"{dict(states)}: {len(false_alarms)} false alarms, {len(wrong) - len(false_alarms)} misses {wrong}")
    assert {"fresh", "changed"} <= states.keys()  # or nothing was tried
    assert len(wrong) - len(false_alarms) == 0
    assert len(false_alarms) <= 0.02 * len(kept)

"""Whether memories still hold, on real repositories: anchors, moves, branches, verifying, hydration."""

import ast
import random
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from bench.freshness import verdicts
from holdfast.adapters.checkout import GitCheckout
from holdfast.model.anchor import Freshness
from holdfast.model.ports import RemoteCheckout
from holdfast.model.record import Draft, Record
from holdfast.policy.admission.admit import Waivers
from holdfast.policy.freshness import details, freshness_text
from holdfast.surfaces.bettermemory.staleness import staleness_of
from holdfast.surfaces.core.text import page
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.freshness import freshness, lost
from holdfast.verbs.upkeep.health import health
from tests.conftest import Time, keep, make_memory, new_folder
from tests.replicas import seats
from tests.rows import opened, rows
from tests.verbs import scripts
from tests.verbs.scripts import Script, scripts_in

ROOT = Path(__file__).parents[2]
APP = "LIMIT = 5\n\n\ndef pay(amount):\n    return amount * LIMIT\n\n\ndef other():\n    return 0\n"
Git = Callable[..., str]


code = pytest.fixture(lambda tmp_path: new_folder(tmp_path / "code"))


@pytest.fixture
def git(code: Path) -> Git:
    """Give a function that runs git in the repository; `commit` takes a message."""
    run = partial(seats.git, code)
    run("init", "-q", "-b", "main")
    (code / "app.py").write_text(APP)
    run("add", "-A")
    run("commit", "-qm", "begin")
    return run


@opened
def memory(tmp_path: Path, code: Path, git: Git, time: Time) -> Memory:  # noqa: ARG001
    """Give a memory whose project is the repository at hand."""
    memory = make_memory(tmp_path, time)
    return replace(memory, checkout=GitCheckout(code, memory.project))


def change(script: Script, old: str, new: str, message: str = "a change") -> None:
    code, git = (script.request.getfixturevalue(name) for name in ("code", "git"))
    (code / "app.py").write_text((code / "app.py").read_text().replace(old, new))
    git("commit", "-qam", message)


def judged(memory: Memory, record: Record) -> Freshness:
    return freshness(memory, [record])[record.id]


def state_of(memory: Memory, of: Record) -> str:
    return judged(memory, of).state


def file_of(script: Script, name: str, text: str) -> None:
    code, git = (script.request.getfixturevalue(name) for name in ("code", "git"))
    (code / name).write_text(text)
    git("add", "-A")
    git("commit", "-qm", name)


scripts_in(
    globals(),
    change,
    file_of,
    judged,
    state=state_of,
    git=lambda script, words: script.request.getfixturevalue("git")(*words.split()),
    words=lambda memory, of: freshness_text(judged(memory, of)),
    details=lambda memory, of: details(judged(memory, of)),
    report=lambda memory: page("health", health(memory)),
    elsewhere=lambda script: script.go_on(replace(script.memory, checkout=RemoteCheckout("example.org/other"))),
    commits=lambda memory, of: staleness_of(memory, of).commits,
    large=lambda script, path: (script.folder / path).write_text("x" * 200_000),
    mark_of=lambda _, record, anchor: record.seen.marks[anchor],
)


NAMED: dict[str, str] = rows("code_that_a_text_names")


def test_what_a_text_names_in_its_own_words_is_found_when_it_is_written(memory: Memory, code: Path, git: Git) -> None:
    (code / "lib").mkdir()
    (code / "lib" / "shop.py").write_text("class Shop:\n    def close(self):\n        return 1\n")
    git("add", "-A")
    git("commit", "-qm", "a shop")
    kept = {text: keep(memory, text) for text in NAMED}
    marks = {text: [*record.seen.marks] if record.seen else None for text, record in kept.items()}
    assert marks == {text: [place] for text, place in NAMED.items()}
    states = {text: state_of(memory, record) for text, record in kept.items()}
    assert states == {text: "fresh" if "::" in place else "exists" for text, place in NAMED.items()}
    (code / "app.py").write_text("LIMITS = {}\n\n\ndef payments():\n    return 1\n")
    (code / "lib" / "shop.py").write_text("class Shops:\n    pass\n")
    states = {text: state_of(memory, record) for text, record in kept.items()}
    assert states == {text: "missing" if "::" in place else "exists" for text, place in NAMED.items()}


def test_a_repository_without_commits_or_git_is_no_error(tmp_path: Path, time: Time) -> None:
    folder = new_folder(tmp_path / "plain")
    (folder / "app.py").write_text(APP)
    with make_memory(tmp_path, time) as memory:
        memory = replace(memory, checkout=GitCheckout(folder, memory.project))
        record = keep(memory, "Payments are multiplied.", anchors=("app.py::pay",))
        assert state_of(memory, record) == "fresh"
        (folder / "app.py").write_text(APP.replace("amount * LIMIT", "amount"))
        assert state_of(memory, record) == "changed"
        seats.git(folder, "init", "-q")
        memory = replace(memory, checkout=GitCheckout(folder, memory.project))
        assert state_of(memory, record) == "changed"
        assert lost(memory) == {}


@pytest.mark.whole
def test_verdicts_are_right_on_a_history_whose_every_change_is_known(tmp_path: Path) -> None:
    assert verdicts(tmp_path)


def definitions(folder: Path) -> dict[tuple[str, str], list[ast.AST]]:
    """Return the functions and classes of each name in each file."""
    found = defaultdict[tuple[str, str], list[ast.AST]](list)
    for path in sorted(path for top in ("src", "bench", "demo") for path in (folder / top).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                found[str(path.relative_to(folder)), node.name].append(node)
    return found


@pytest.mark.whole
def test_verdicts_about_this_projects_own_history(tmp_path: Path, time: Time) -> None:
    """Nobody made this history up, and Python's own parser says what is true."""
    if not (ROOT / ".git").exists() or int(seats.git(ROOT, "rev-list", "--count", "HEAD")) < 100:
        pytest.skip("this copy has no history")
    clone = tmp_path / "clone"
    seats.git(tmp_path, "clone", "-q", str(ROOT), str(clone))
    commits = seats.git(clone, "rev-list", "--first-parent", "HEAD").split()
    seats.git(clone, "checkout", "-q", commits[len(commits) // 4])
    then = [(place, nodes[0]) for place, nodes in definitions(clone).items() if len(nodes) == 1]
    with make_memory(tmp_path, time) as memory:
        memory = replace(memory, checkout=GitCheckout(clone, memory.project))
        kept = []
        for (path, name), node in random.Random(11).sample(then, min(50, len(then))):
            draft = Draft(body="It is so by design.", anchors=(f"{path}::{name}",))
            kept.append((scripts.keep(memory, draft, waivers=Waivers(duplicate=True)), name, ast.dump(node)))
        seats.git(clone, "checkout", "-q", commits[0])
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

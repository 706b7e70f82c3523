"""Accuracy and cost of freshness verdicts, on a git history in which every change is known."""

import os
import random
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from bench.measure import table
from holdfast.compose import open_memory
from holdfast.compose.adapters import checkout_of
from holdfast.compose.settings import load_settings
from holdfast.model.ids import Clock
from holdfast.model.record import Draft, Record
from holdfast.policy.admission.admit import Waivers
from holdfast.policy.freshness import details
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.freshness import freshness
from holdfast.verbs.records.write import Written, write

COMMITS, CITED, FILES, HITS, OLD = 10_000, 1_000, 200, 10, 3
MINUTE = 60
_BEGAN = time.time() - MINUTE * COMMITS
MOST_MS = 15.0
_AUTHOR = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@x", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@x"}
PYTHON = '''"""Module {n}."""

LIMIT_{n} = {n}


def helper_{n}(value):
    # The helper of module {n}.
    return [value, LIMIT_{n}]


def main_{n}(items, flag=False):
    total = 0
    for item in items:
        total += item * {n}
    return total if flag else -total
'''
TYPESCRIPT = """export const LIMIT_{n} = {n};

export function helper_{n}(value: number): number {{
  // The helper of module {n}.
  return value + LIMIT_{n};
}}

export function main_{n}(items: number[]): number {{
  return items.reduce((sum, item) => sum + item * {n}, 0);
}}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """A change to a file, and which kinds of citation it invalidates."""

    name: str
    falsifies: frozenset[str]
    change: Callable[[str, int], str | None]
    rename: bool = False


def _swap(*pairs: str) -> Callable[[str, int], str]:
    """Return a change that replaces texts: `pairs` alternates old and new."""

    def change(text: str, n: int) -> str:
        for old, new in zip(pairs[::2], pairs[1::2], strict=True):
            text = text.replace(old.format(n=n), new.format(n=n))
        return text

    return change


def _moved_within(text: str, n: int) -> str:
    head, mark, tail = text.partition("\n\n\n" if text.startswith('"""') else "\n\n")
    return f"{head}{mark}{'# ' if text.startswith(chr(34)) else '// '}an added line\n{mark}{tail}" if n >= 0 else text


# Edits of the cited function `main`, of its neighbour, of the constant, or of the layout only.
EDITS = (
    Edit(name="nothing", falsifies=frozenset(), change=lambda text, _: text),
    Edit(
        name="neighbour changed",
        falsifies=frozenset({"file"}),
        change=_swap("LIMIT_{n}]", "2 * LIMIT_{n}]", "+ LIMIT", "- LIMIT"),
    ),
    Edit(name="lines added above", falsifies=frozenset(), change=_moved_within),
    Edit(name="comment reworded", falsifies=frozenset(), change=_swap("The helper of module", "Helps module")),
    Edit(
        name="reformatted",
        falsifies=frozenset(),
        change=lambda text, _: text.replace("(items, flag=False)", "(\n    items,\n    flag=False,\n)").replace(
            "item) =>", "item ) =>"
        ),
    ),
    Edit(name="file renamed", falsifies=frozenset(), change=lambda text, _: text, rename=True),
    Edit(
        name="cited function changed",
        falsifies=frozenset({"symbol", "lines", "file"}),
        change=_swap("item * {n}", "item * {n} + 1"),
    ),
    Edit(
        name="cited function removed",
        falsifies=frozenset({"symbol", "lines", "file"}),
        change=lambda text, n: text.replace(f"main_{n}", f"gone_{n}"),
    ),
    Edit(
        name="constant changed",
        falsifies=frozenset({"value", "file"}),
        change=_swap("LIMIT_{n} = {n}", "LIMIT_{n} = 9{n}"),
    ),
    Edit(name="file removed", falsifies=frozenset({"symbol", "lines", "file", "value"}), change=lambda _text, _n: None),
)


@dataclass(slots=True)
class Rates:
    """Counts of wrong verdicts: an alarm although nothing changed, or none although something did."""

    false_alarms: int = 0
    held: int = 0
    misses: int = 0
    broken: int = 0

    def count(self, *, alarm: bool, broken: bool) -> None:
        """Count one verdict."""
        self.broken += broken
        self.held += not broken
        self.misses += broken and not alarm
        self.false_alarms += alarm and not broken

    def told(self) -> list[str]:
        """Return both rates as text for a table."""
        share = f"{self.false_alarms / max(1, self.held):.1%}", f"{self.misses / max(1, self.broken):.1%}"
        return [f"{share[0]} ({self.false_alarms} of {self.held})", f"{share[1]} ({self.misses} of {self.broken})"]


def run() -> bool:
    """Print false alarms and misses, next to those of counting commits, and the time for a page of hits."""
    with tempfile.TemporaryDirectory() as folder:
        right = verdicts(Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        quick = speed(Path(folder))
    return right and quick


def verdicts(folder: Path) -> bool:
    """Cite code in every way, change it in every way, and compare the verdicts with the known changes."""
    repository, chance = _repository(folder), random.Random(7)
    cases = list(_cases(chance))
    for n, path, _, _ in cases:
        _put(repository / path, _content(path, n))
    _commit(repository, "begin")
    with _memory(folder, repository) as memory:
        kept = [(case, kind, _keep(memory, anchor, case[0])) for case in cases for kind, anchor in _anchors(case)]
        for n, path, edit, committed in cases:
            _apply(repository, path, n, edit)
            if committed:
                _commit(repository, f"{edit.name} {n}")
        ours, counting = Rates(), Rates()
        for (_, path, edit, _), kind, record in kept:
            judged = freshness(memory, [record])[record.id]
            broken = kind in edit.falsifies
            ours.count(alarm=bool(judged.problems), broken=broken)
            if bool(judged.problems) != broken:
                print("  wrong about", edit.name, kind, details(judged) or judged.state)
            counting.count(alarm=_any_commit(memory, record, path), broken=broken)
    rows = [["anchors", *ours.told()], ["any commit to the file", *counting.told()]]
    table("Verdicts about cited code", ["verdict by", "false alarms", "misses"], rows)
    return ours.false_alarms == 0 and ours.misses == 0


def speed(folder: Path) -> bool:
    """Measure pages of ten hits cited a thousand commits ago, in a repository of ten thousand commits."""
    repository = _long_history(folder)
    with _memory(folder, repository) as memory:
        _git(repository, "reset", "-q", "--hard", f"main~{CITED}")
        memory = replace(memory, clock=Clock(lambda: _BEGAN + MINUTE * (COMMITS - CITED)))
        found = [_keep(memory, f"m{n}.py::main_{n}", n) for n in range(HITS + OLD)]
        _git(repository, "reset", "-q", "--hard", "ORIG_HEAD")
        for n in range(OLD, OLD + 3):
            file = repository / f"m{n}.py"
            file.write_text(file.read_text().replace("item *", "2 * item *"))
        _commit(repository, "three of them")
        old, new, calm = found[:3] + found[OLD + 3 :], found[OLD:], found[OLD + 3 :]
        assert [sum(bool(one.problems) for one in freshness(memory, page).values()) for page in (old, new)] == [3, 3]

        spent = {
            "10 hits, 3 changed by the last commit": min(_first(memory, repository, new) for _ in range(7)),
            f"10 hits, 3 changed {CITED // 2} commits ago": min(_first(memory, repository, old) for _ in range(7)),
            "7 hits, none changed": _least(lambda: freshness(memory, calm)),
            "git rev-parse HEAD alone": _least(lambda: _git(repository, "rev-parse", "HEAD")),
        }
    rows = [[name, f"{ms:.1f}", f"≤ {MOST_MS:.0f}" if name.startswith("10 hits") else ""] for name, ms in spent.items()]
    table(f"A page of hits, {COMMITS:,} commits", ["", "ms CPU, git included", "asked"], rows)
    return max(list(spent.values())[:2]) <= MOST_MS


def _first(memory: Memory, repository: Path, page: list[Record]) -> float:
    """Return the milliseconds of a page in a checkout with an empty cache."""
    asked = replace(memory, checkout=checkout_of(repository))
    asked.checkout.project()
    asked.checkout.origin()
    return _least(lambda: freshness(asked, page), rounds=1)


def _cases(chance: random.Random) -> Iterator[tuple[int, str, Edit, bool]]:
    for n in range(1, 61):
        edit = EDITS[n % len(EDITS)]
        yield n, f"src/m{n}.{'py' if chance.random() < 0.6 else 'ts'}", edit, chance.random() < 0.8


def _content(path: str, n: int) -> str:
    return (PYTHON if path.endswith(".py") else TYPESCRIPT).format(n=n)


def _anchors(case: tuple[int, str, Edit, bool]) -> Iterator[tuple[str, str]]:
    n, path, _, _ = case
    first, last = (11, 15) if path.endswith(".py") else (8, 10)
    yield from (
        ("file", path),
        ("symbol", f"{path}::main_{n}"),
        ("lines", f"{path}:L{first}-L{last}"),
        ("value", f"{path}::LIMIT_{n}={n}"),
    )


def _apply(repository: Path, path: str, n: int, edit: Edit) -> None:
    file = repository / path
    changed = edit.change(file.read_text(), n)
    if changed is None:
        file.unlink()
    elif edit.rename:
        (repository / "lib").mkdir(exist_ok=True)
        file.rename(repository / "lib" / file.name)
    else:
        file.write_text(changed)


def _any_commit(memory: Memory, record: Record, path: str) -> bool:
    """Return the baseline verdict of other systems: stale if any commit touched the file since."""
    cited = [mark.blob for mark in record.seen.marks.values()] if record.seen else []
    found = memory.checkout.touches({path: [""]}, "2020-01-01T00:00:00.000Z") or []
    return bool(found) and found[0].after not in cited


def _keep(memory: Memory, anchor: str, n: int) -> Record:
    draft = Draft(body=f"Claim {n} holds by design.", anchors=(anchor,))
    outcome = write(memory, draft, waivers=Waivers(duplicate=True))
    assert isinstance(outcome, Written), outcome
    return outcome.record


def _memory(folder: Path, repository: Path) -> Memory:
    settings = load_settings(
        folder=repository, environment={}, flags={"home": str(folder / "store"), "embedder": "none"}
    )
    return open_memory(settings, folder=repository)


def _repository(folder: Path) -> Path:
    repository = folder / "repository"
    repository.mkdir()
    _git(repository, "init", "-q", "-b", "main")
    return repository


def _long_history(folder: Path) -> Path:
    """Create a repository of ten thousand commits, one a minute until now."""
    repository = _repository(folder)
    stream = []
    for n in range(COMMITS):
        # After the citation the first few files changed once, halfway, and the next ten did not change.
        late = n >= COMMITS - CITED
        place = OLD + HITS + n % (FILES - OLD - HITS) if late else n % FILES
        place = n - (COMMITS - CITED // 2) if 0 <= n - (COMMITS - CITED // 2) < OLD else place
        text = f"{PYTHON.format(n=place)}# {n}\n".replace("item *", "3 * item *" if late else "item *").encode()
        stream.append(
            b"commit refs/heads/main\nmark :%d\ncommitter a <a@x> %d +0000\ndata 1\nx\n"
            % (n + 1, int(_BEGAN) + MINUTE * n)
            + (b"from :%d\n" % n if n else b"")
            + b"M 100644 inline m%d.py\ndata %d\n" % (place, len(text))
            + text
        )
    subprocess.run(["git", "fast-import", "--quiet"], cwd=repository, input=b"\n".join(stream), check=True)  # noqa: S607
    _git(repository, "reset", "-q", "--hard", "main")
    return repository


def _put(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def _commit(repository: Path, message: str) -> None:
    _git(repository, "add", "-A")
    _git(repository, "commit", "-q", "--allow-empty", "-m", message)


def _git(repository: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=repository, env={**os.environ, **_AUTHOR}, check=True, capture_output=True)  # noqa: S603, S607


def _least(what: Callable[[], object], rounds: int = 7) -> float:
    """Return the least CPU time of several runs in milliseconds, including git's."""
    spent = []
    for _ in range(rounds):
        before = _cpu()
        what()
        spent.append(_cpu() - before)
    return 1_000 * min(spent)


def _cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)

"""Does the next session begin with what it needs? Labelled sessions, opening prompts and time questions, in two halves."""

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.driving import Desktop
from bench.measure import table
from holdfast.compose import open_memory
from holdfast.compose.settings import load_settings
from holdfast.model.query import Query
from holdfast.model.record import Draft
from holdfast.policy.admission.admit import Waivers
from holdfast.policy.sessions.left_off import asks_for_it
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.write import write
from holdfast.verbs.search.embed import catch_up
from holdfast.verbs.search.recall import recall
from holdfast.verbs.sessions.opening_brief import brief_of

DATA = Path(__file__).parent / "data"
HALVES = ("dev", "held")  # even and odd rows
FACTS, EITHER, TIMES, ASKED = 0.9, 0.97, 0.9, 0.95
DISTRACTORS = 8
Row = dict[str, Any]


def run(names: Sequence[str], *, verbose: bool = False) -> bool:
    """Print the figures of each set; return True if the held half meets every goal. Only misses of the first half are printed."""
    rows, fine = [], True
    for name in names:
        for half, title in enumerate(HALVES):
            sets = rows_of(_FILES[name])[half::2]
            for figure, right, all_, goal in SETS[name](sets, verbose and not half):
                share = right / all_ if all_ else 0.0
                fine = fine and (not half or share >= goal)
                rows.append([name, title, figure, f"{right} of {all_}", f"{share:.2f}", f"≥ {goal}" if goal else ""])
    table("the next session", ("set", "half", "figure", "right", "share", "goal"), rows)
    return fine


Figure = tuple[str, int, int, float]


def rows_of(name: str) -> list[Row]:
    """Read a labelled set."""
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def sessions(rows: Sequence[Row], verbose: bool) -> list[Figure]:
    """Play each session; count its decisive facts in what the next session is given."""
    found = total = 0
    for row in rows:
        text = next_brief(row).lower()
        missed = [fact for fact in row["facts"] if not all(part in text for part in fact)]
        found, total = found + len(row["facts"]) - len(missed), total + len(row["facts"])
        if missed and verbose:
            print(f"{row['name']}: {missed}\n{text}\n")
    return [("decisive facts in the brief", found, total, FACTS)]


def next_brief(row: Row) -> str:
    """Play a session, and what came later; return what the next session on that branch gets, or the same after a compaction."""
    with tempfile.TemporaryDirectory() as folder:
        desktop = Desktop(Path(folder))
        handed_over = desktop.play(row, "first")
        for place, later in enumerate(row.get("later", ())):
            desktop.play({"branch": row["branch"], **later}, f"later-{place}")
        return handed_over or desktop.open("next")


def openings(rows: Sequence[Row], verbose: bool) -> list[Figure]:
    """Count prompts whose memory is in the brief, or among the first three of recall: in a small store and in a crowded one."""
    crowd = {text: day for row in rows_of("times") for day, text in row["memories"]}
    return [*_openings(rows, {}, verbose), *_openings(rows, crowd, verbose)]


def _openings(rows: Sequence[Row], crowd: Mapping[str, str], verbose: bool) -> list[Figure]:
    with _store() as memory:
        for text, day in crowd.items():
            _keep(memory, {"text": text, "kind": "fact"}, f"{day}T10:00:00Z")
        for place, row in enumerate(rows_of("openings")):
            _keep(memory, row, f"2026-0{1 + place % 9}-1{place % 10}T10:00:00Z")
        catch_up(memory)
        brief, size = brief_of(memory).text, memory.store.size(None)
        in_brief = {row["text"] for row in rows if row["text"][:60] in brief}
        in_recall = {row["text"] for row in rows if row["text"] in _first(memory, row["prompt"], 3)}
    if verbose:
        print(brief)
        print(*(row["prompt"] for row in rows if row["text"] not in in_brief | in_recall), sep="\n")
    return [
        (f"{size} memories: in the brief", len(in_brief), len(rows), 0.0),
        (f"{size} memories: in the first three of recall", len(in_recall), len(rows), 0.0),
        (f"{size} memories: in either", len(in_brief | in_recall), len(rows), 0.0 if crowd else EITHER),
    ]


def times(rows: Sequence[Row], verbose: bool) -> list[Figure]:
    """Count questions about now and about a time whose first answer is the right one, among other memories."""
    right = 0
    others = [pair for name in ("times", "times_later") for row in rows_of(name) for pair in row["memories"]]
    for place, row in enumerate(rows):
        own = {text for _, text in row["memories"]}
        distractors = [pair for pair in others[5 * place :] + others if pair[1] not in own][:DISTRACTORS]
        with _store() as memory:
            for day, text in sorted([*row["memories"], *distractors]):
                _keep(memory, {"text": text, "kind": "fact"}, f"{day}T10:00:00Z")
            catch_up(memory)
            first = _first(memory, row["question"], 1)
        is_right = any(row["first"] in text.lower() for text in first)
        right += is_right
        if verbose and not is_right:
            print(f"{row['question']} → {first}")
    return [("first answer is right", right, len(rows), TIMES)]


def questions(rows: Sequence[Row], verbose: bool) -> list[Figure]:
    """Count questions that are rightly taken, or not taken, for “where did we leave off?”."""
    wrong = [row for row in rows if asks_for_it(row["question"]) != row["is"]]
    if verbose:
        print(*wrong, sep="\n")
    return [("recognized as asking where we left off", len(rows) - len(wrong), len(rows), ASKED)]


SETS: dict[str, Callable[[Sequence[Row], bool], list[Figure]]] = {
    "sessions": sessions,
    "openings": openings,
    "times": times,
    "times, second set": times,
    "questions": questions,
}
_FILES = {
    "sessions": "sessions",
    "openings": "openings",
    "times": "times",
    "times, second set": "times_later",
    "questions": "left_off_questions",
}


@contextmanager
def _store() -> Iterator[Memory]:
    with tempfile.TemporaryDirectory() as folder:
        flags = {"home": f"{folder}/store", "project": "example.org/acme/shop", "starters": False}
        settings = load_settings(folder=Path(folder), environment={}, flags=flags)
        with open_memory(settings, folder=Path(folder)) as memory:
            yield memory


def _keep(memory: Memory, row: Row, at: str) -> None:
    actor = replace(memory.actor, kind=row.get("by", "agent"), session=f"session {at[:10]}")
    memory = memory.acting(actor=actor)
    fields = {"severity": row["severity"]} if "severity" in row else {}
    if row["kind"] == "scar":
        fields |= {"counter_arguments": ["it was only once", "there is a backup"]}
    draft = Draft(body=row["text"], kind=row["kind"], fields=fields, at=at)
    outcome = write(memory, draft, waivers=Waivers(scope=True, duplicate=True, transient=True))
    assert type(outcome).__name__ in ("Written", "WrittenPending"), (row["text"], outcome)


def _first(memory: Memory, question: str, most: int) -> list[str]:
    found = recall(memory, Query(text=question, limit=most), surface=False)
    return [hit.record.body for hit in found.hits]

"""A hundred routine sessions leave little in a project's memory, and nothing false."""

from collections import Counter

from holdfast.engine.views import records
from holdfast.engine.views.records import Filter
from holdfast.verbs.capture.derive import derive, summarise
from holdfast.verbs.memory import Memory
from tests.policy.trails import Trail

GUESSES = (
    "Turns out the import of rich takes 300 ms.",
    "The root cause is a stale lock in the cache folder.",
    "It turns out that the sorting is not stable on Windows.",
)


ROUTINES: dict[int, tuple[str, str, dict[str, str], str, str]] = {
    0: ("run the tests", "Bash", {"command": "pytest -q"}, "4{} passed", "All 4{} tests pass."),
    1: (
        "what does the cache module do?",
        "Read",
        {"file_path": "/repo/src/cache.py"},
        "…",
        "The cache module keeps rendered pages for ten minutes and is cleared on deploy.",
    ),
    2: (
        "bump the version",
        "Edit",
        {"file_path": "/repo/pyproject.toml", "old_string": "1", "new_string": "2"},
        "ok",
        "Bumped the version to 1.{}.0.",
    ),
    3: ("thanks!", "", {}, "", "You are welcome."),
    5: ("format everything", "Bash", {"command": "ruff format"}, "2 files reformatted", "Formatted two files."),
    6: ("start the dev server", "Bash", {"command": "npm run dev"}, "ready on 3000", "It runs on port 3000."),
    7: ("show me the log of yesterday", "Bash", {"command": "tail -n 100 app.log"}, "INFO ok", "Nothing unusual."),
    8: ("update the lock file", "Bash", {"command": "uv lock"}, "resolved 8{} packages", "Updated the lock file."),
}


def routine(number: int) -> Trail:
    """Return one of ten kinds of sessions that repeat with small differences."""
    trail, guess = Trail(session=f"routine-{number}"), GUESSES[number // 10 % 3]
    kind = number % 10
    if kind == 4:
        return trail.ask("why is the start slow?").stop(guess).ask("hm, are you sure?").stop("No, I am not.")
    if kind == 9:
        return trail.ask("why does it hang?").stop(guess).ask("no, that's not it").stop("Understood.")
    prompt, tool, arguments, result, said = ROUTINES[kind]
    trail.ask(prompt)
    if tool:
        trail.use(tool, result.format(number), failed=False, agent="", **arguments)
    return trail.stop(said.format(number))


def test_a_hundred_routine_sessions_leave_little_and_nothing_false(memory: Memory) -> None:
    for number in range(100):
        trail = routine(number)
        derive(memory, trail.events)
        summarise(memory, trail.events)
    entries = records.page(memory.store, Filter(states=("active",)), limit=1_000)
    kinds = Counter(entry.record.kind for entry in entries)
    assert len(entries) <= 20, [(entry.record.kind, entry.record.title) for entry in entries]
    assert set(kinds) <= {"observation", "summary"}
    titles = [entry.record.title for entry in entries if entry.record.kind == "observation"]
    assert len(titles) == len(set(titles))
    false = [entry.record.text for entry in entries for guess in GUESSES if guess.rstrip(".") in entry.record.text]
    assert false == []
    counts = [entry.record.extra.get("count") for entry in entries if entry.record.kind == "observation"]
    assert counts == [10] * len(counts)


def test_a_routine_that_is_derived_again_is_not_counted_again(memory: Memory) -> None:
    for number in (2, 12, 12, 2):
        derive(memory, routine(number).events)
    (found,) = (entry.record for entry in records.page(memory.store, Filter(states=("active",)), limit=10))
    assert found.extra["count"] == 2

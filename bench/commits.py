"""What is learned from real histories, graded by hand: good (useful or harmless), junk or wrong."""

import json
from collections import Counter
from pathlib import Path

from bench.measure import table
from holdfast.adapters.git import GitHistory
from holdfast.policy.activity.commits import learnable

DATA = Path(__file__).parent / "data" / "commits.json"
LIMIT, MOST_WRONG, MOST_JUNK = 5_000, 0.03, 0.15


def run(repositories: Path) -> bool:
    """Print the grades of what is learned today; what has no grade yet is counted and printed."""
    rows = json.loads(DATA.read_text())
    grades = {(row["repo"], row["key"], row["what"]): row["grade"] for row in rows}
    counts = {held: Counter[str]() for held in (False, True)}
    for repo, held in dict.fromkeys((row["repo"], row["held"]) for row in rows):
        history = GitHistory(repositories / repo.replace("/", "+"))
        for draft in learnable(history.commits(limit=LIMIT), history.changelog()):
            what = str(draft.fields.get("subtitle", draft.kind))
            grade = grades.get((repo, draft.extra["commits"][-1], what), "not graded")
            counts[held][grade] += 1
            if grade == "not graded":
                print(f"not graded: {repo} {draft.extra['commits'][-1]} {draft.title}")
    table(
        "Learned from real histories",
        ("half", "records", "good", "junk", "wrong", "not graded"),
        [
            (
                "held" if held else "tuned on",
                count.total(),
                count["good"],
                count["junk"],
                count["wrong"],
                count["not graded"],
            )
            for held, count in counts.items()
        ],
    )
    held = counts[True]
    return held["wrong"] <= MOST_WRONG * held.total() and held["junk"] <= MOST_JUNK * held.total()

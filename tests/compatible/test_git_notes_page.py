"""What docs/compatibility.md says about git-notes-memory, tried literally."""

from pathlib import Path

import pytest

from tests.compatible.conftest import Place, git
from tests.compatible.test_git_notes import _as_bob, _pair, observed, set_up, titles, transcript

promise = pytest.mark.promise


@promise("it has no tools: the surface git-notes has Holdfast's own")
def test_its_tools(place: Place) -> None:
    assert place.tools("git-notes").names == place.tools("core").names


@promise("search finds an identifier: Lazy loading __getattr__")
def test_identifiers(place: Place) -> None:
    summary = "Lazy loading via __getattr__ to avoid embedding model import penalty"
    place.run(f'compat git-notes capture decisions "{summary}" -- "The model takes two seconds to import."')
    place.run(
        'compat git-notes capture decisions "Use PostgreSQL" -- "PostgreSQL stores the orders, for its row locks."'
    )
    assert summary[:40] in place.run('compat git-notes search "Lazy loading __getattr__" --limit 5').stdout


@promise("options without a counterpart are accepted and named")
@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("audit-log --since 2026-01-01", "--since"),
        ("validate --fix", "--fix"),
        ("health --timing", "--timing"),
        ("scan-secrets --namespace decisions", "--namespace"),
        ("metrics --filter hooks", "--filter"),
    ],
)
def test_options_without_a_counterpart(place: Place, line: str, named: str) -> None:
    place.run('compat git-notes capture decisions "Use PostgreSQL" -- "PostgreSQL stores the orders."')
    assert named in place.run(f"compat git-notes {line}", code=None).stderr


@promise("notes: our events under refs/notes/holdfast, pushed by name; theirs under refs/notes/mem are left alone")
def test_refs(place: Place, tmp_path: Path) -> None:
    other = _pair(place, tmp_path)
    git(place.folder, "notes", "--ref=mem/decisions", "add", "-m", "theirs")
    place.run('remember "The API is versioned by path." --kind decision --team')
    place.run("sync")
    refs = git(place.folder, "for-each-ref", "--format=%(refname)", "refs/notes").split()
    assert ("refs/notes/mem/decisions" in refs, any(ref.startswith("refs/notes/holdfast/") for ref in refs)) == (
        True,
        True,
    )
    pushed = git(place.folder, "ls-remote", "origin", "refs/notes/*")
    assert ("refs/notes/holdfast/" in pushed, "refs/notes/mem/" in pushed) == (True, False)
    _as_bob(place, other, "sync")
    assert "versioned by path" in _as_bob(place, other, 'recall "how is the API versioned"')


FIVE = (
    "Use markers anywhere in an answer, they are found at the end",
    "Git notes as source of truth, SQLite as derived queryable index",
    "Lazy loading via __getattr__ to avoid embedding model import penalty",
    "Confidence-based tiered capture behavior (AUTO/SUGGEST/SKIP)",
    "Adaptive token budget based on project complexity",
)


@promise("the Stop hook captures all five decisions of a session, and a marker with a short text too")
def test_five_decisions(place: Place) -> None:
    set_up(place)
    place.run("status")
    blocks = [f"▶ decision ─────────────────\n{summary}\n────────────────\n" for summary in FIVE]
    path = transcript(place, *blocks, "[decision] Use Valkey.")
    observed(place, "Write down what we decided.", transcript_path=path)
    kept = titles(place, "decision")
    assert [summary for summary in (*FIVE, "Use Valkey") if not any(summary[:30] in title for title in kept)] == []


@promise("a memory made on a branch is not reported as made on a detached head")
def test_the_branch(place: Place) -> None:
    git(place.folder, "commit", "-q", "--allow-empty", "-m", "first")
    kept = place.json('remember "The API is versioned by path." --json')["record"]["id"]
    shown = place.run(f"show {kept}").stdout
    assert ("detached" in shown, place.json(f"show {kept} --json")["origin"]["branch"]) == (False, "main")

"""What a real repository's history teaches, once."""

import os
import subprocess
from hashlib import blake2b
from pathlib import Path

import pytest

from holdfast.adapters.history import GitHistory
from holdfast.model.errors import Invalid
from holdfast.model.ports import Commit
from holdfast.policy.activity.commits import learnable
from holdfast.verbs.capture.learn import Learned, learn, learned_up_to
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.lifecycle import Revision, retire, revise
from holdfast.verbs.records.write import Written, confirm
from holdfast.verbs.sessions.scars import candidates
from tests.conftest import keep
from tests.rows import each, refused


class Repository:
    """A real git repository in which a day passes with each commit."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.day = 0
        folder.mkdir()
        self.git("init", "--initial-branch=main")

    def git(self, *arguments: str) -> str:
        date = f"2026-03-{1 + self.day:02d}T12:00:00Z"
        names = {f"GIT_{role}_{part}": value for role in ("AUTHOR", "COMMITTER") for part, value in (("NAME", "Ada"), ("EMAIL", "ada@example.org"), ("DATE", date))}  # fmt: skip
        command, env = ["git", *arguments], {**os.environ, **names}
        done = subprocess.run(command, cwd=self.folder, env=env, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def commit(self, message: str, *files: str, days: int = 1) -> str:
        self.day += days
        for name in files or ("other.txt",):
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{path.read_text() if path.exists() else ''}{message}\n")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repo")


@pytest.fixture
def history(repository: Repository) -> GitHistory:
    return GitHistory(repository.folder)


def told(found: Learned) -> list[tuple[str, str, str]]:
    return [(record.kind, record.state, record.title) for record in found.kept]


def test_fixes_of_the_same_file_within_days_may_become_a_scar(
    memory: Memory, repository: Repository, history: GitHistory
) -> None:
    repository.commit("Add the importer", "src/importer.py")
    first = repository.commit(
        "fix: importer skips empty rows of a batch\n\nThey ended the loop.", "src/importer.py", "tests/test_importer.py"
    )
    second = repository.commit("importer: fix the last rows of a batch", "src/importer.py", "CHANGELOG.md")
    repository.commit("fix: header", "src/header.py")
    (found,) = learn(memory, history).kept
    assert (found.title, found.state, found.confidence, found.source) == (
        "src/importer.py had to be fixed 2 times within 2 days: Fix the last rows of a batch",
        "pending",
        "low",
        "mined",
    )
    assert found.body == (
        f"{found.title}.\n- 2026-03-03 {first[:8]} fix: importer skips empty rows of a batch. They ended the loop.\n"
        f"- 2026-03-04 {second[:8]} importer: fix the last rows of a batch.\n(commit {second[:8]}, 2026-03-04)"
    )
    expected = (("src/importer.py",), [first, second], second)
    assert (found.anchors, found.extra["commits"], found.origin.commit) == expected
    assert isinstance(confirm(memory, found.id), Written)
    assert [one.record.id for one in candidates(memory)] == [found.id]


def test_a_revert_tells_what_was_taken_back_and_why(
    memory: Memory, repository: Repository, history: GitHistory
) -> None:
    first = repository.commit("Cache product queries\n\nHalves the load of the database.", "src/products.py")
    repository.day += 1
    repository.git("revert", "--no-edit", "HEAD")
    (found,) = learn(memory, history).kept
    expected = ("observation", "Reverted: Cache product queries", "scar_candidate")
    assert (found.kind, found.title, found.fields["severity"]) == expected
    assert found.body == (
        "“Cache product queries” was reverted. The commit does not say why.\n"
        f"Original purpose: Halves the load of the database.\n(commit {found.extra['commits'][1][:8]}, 2026-03-03)"
    )
    assert (found.extra["commits"][0], found.anchors) == (first, ("src/products.py",))


CHOICE = "Use UUIDs for orders\n\nCounters told competitors how much we sell, so that had to end; because shops merge, ids must not collide."
BROKE = "“Cache the schema of tables” broke something: Fix stale columns"


@each(
    ("commits", "titles"),
    [
        # Messages with their file, one a day; {0} is the hash of the first, and {-1} of the one before.
        # Fixes far apart, of common files, or of other things.
        (["fix: one|CHANGELOG.md", "fix: two|package-lock.json", "fix: two|CHANGELOG.md"], []),
        (["fix: one|src/a.py", *["Add a footer|x.txt"] * 8, "fix: one again|src/a.py"], []),
        (["fix: one|src/a.py", "fix: colours of the menu|src/a.py", "fix: typo in one|src/a.py"], []),
        # Reverts, with the reason in the body or in the subject.
        (
            ['Revert "Use HTTP/2 upstream"\n\nThis reverts commit 1234567890abcdef.\n\nThe balancer drops streams.|a.conf'],
            ["Reverted: Use HTTP/2 upstream / Why: The balancer drops streams."],
        ),
        (
            [
                "Support columns that are generated, closes #1116|src/a.py",
                'Revert "Support columns that are generated, closes #1116" - it failed CI\n\nThis reverts commit {0}.|src/a.py',
            ],
            ["Reverted: Support columns that are generated / Why: it failed CI."],
        ),
        # A change that came back was not reverted; a line of a squashed list reverts nothing.
        *(
            (
                [f"{subject}|src/a.py", f'Revert "{subject}"\n\nThis reverts commit {{0}}.|src/a.py', f"{again}|src/a.py"],
                [],
            )
            for subject, again in (
                ("Cache product queries", "Cache product queries (#12)"),
                ("Pin the pool size of workers", 'Reapply "Pin the pool size of workers"'),
                ("Read settings of the user lazily", "Load them late\n\nReintroduces what was reverted in {-1}."),
            )
        ),
        (['Change types (#2803)\n\n* Update the log\n\n* Revert "x"\n\nThis reverts commit 1813c6aff178.\n\n* bump|src/a.py'], []),
        (["Say how\n\nThe phrase this reverts commit 1813c6aff178 stands in a sentence.|src/a.py"], []),
        # What broke something is named by its fix.
        (["Cache the schema of tables|src/a.py", "Fix stale columns\n\nRegression introduced in {0}.|src/a.py"], [BROKE]),
        (["Cache the schema of tables|src/a.py", "Fix for test I broke in {0} refs #2754|src/b.py"], ["“Cache the schema of tables” broke something: Fix for test I broke in {0} refs #2754"]),
        (["Cache the schema of tables|src/a.py", "Fix stale columns\n\nIt is late.\n\nFixes: {0}|src/a.py"], [BROKE]),
        (["Cache the schema of tables|src/a.py", "schema: reload\n\nThe tests of {0} were moved.|src/a.py"], []),
        (["Add facets|src/a.py", "Add a page about facets\n\nIt was introduced in {0}.|docs/facets.md"], []),
        (
            ["Switch back to the full image\n\nTurns out slim has no gcc, so dependencies could not be built.|Dockerfile"],
            ["Changed back: Switch back to the full image"],
        ),
        # Decisions, in any style; one that was reverted is none.
        *(
            ([f"{message}|src/a.py"], [title])
            for message, title in (
                ("feat: switch queue from Celery to arq because workers share one loop", "Switch queue from Celery to arq because workers share one loop"),
                ("Python version\n\nWe decided to pin Python 3.11 since the build of numpy fails on 3.12.", "Python version"),
                ("Drop support for MySQL, due to its missing arrays", "Drop support for MySQL, due to its missing arrays"),
                ("build: require node 22\n\nOtherwise the test runner does not find the config file.", "Require node 22"),
            )
        ),
        ([f"{CHOICE}|src/a.py", 'Revert "Use UUIDs for orders"\n\nThis reverts commit {0}.|src/a.py'], ["Reverted: Use UUIDs for orders"]),
        # Ordinary commits.
        *(
            ([f"{message}|src/a.py"], [])
            for message in (
                "Add a footer",
                "Update docs\n\nMore words about the same thing, to make it clear for everybody.",
                "Use a better name",
                "chore(deps): bump urllib3 because of a hole\n\nIt is safer to use the newer one instead of the old one.",
                "wip",
                "Move the button\n\nIt looks nicer there.",
            )
        ),
    ],
)  # fmt: skip
def test_what_commits_teach(commits: list[str], titles: list[str]) -> None:
    made = list[Commit]()
    for day, (message, file) in enumerate((commit.rsplit("|", 1) for commit in commits), start=1):
        hashes = {name: made[place].hash[:12] for name, place in (("{0}", 0), ("{-1}", -1)) if made}
        for name, hash_ in hashes.items():
            message = message.replace(name, hash_)
        subject, _, body = message.partition("\n\n")
        hash_ = blake2b(f"{day} {message}".encode(), digest_size=20).hexdigest()
        at = f"2026-03-{day:02}T12:00:00.000Z"
        made.append(Commit(hash=hash_, author="Ada", at=at, subject=subject, body=body, files=(file,)))
    found = [
        draft.title + (f" / Why: {why.partition(chr(10))[0]}" if (why := draft.body.partition("Why: ")[2]) else "")
        for draft in learnable(made)
    ]
    assert found == [title.replace("{0}", made[0].hash[:12]) for title in titles]


def test_regressions_that_a_changelog_names_are_learned_once(
    memory: Memory, repository: Repository, history: GitHistory
) -> None:
    repository.commit("Add a footer")
    (repository.folder / "CHANGES.md").write_text(
        "# Changes\n\n## 1.2.1 (2026-02-01)\n\n- Fix a regression in 1.2.0 where empty carts could be paid.\n- New colours.\n\n"
        "## 1.2.0\n\n- Carts can be emptied.\n"
    )
    repository.git("add", "-A")
    repository.git("commit", "-q", "-m", "changes")
    (found,) = learn(memory, history).kept
    assert (found.title, found.created_at[:10], found.anchors) == (
        "Regression fixed in 1.2.1 (2026-02-01): Fix a regression in 1.2.0 where empty carts could be paid.",
        "2026-02-01",
        ("CHANGES.md",),
    )
    repository.commit("Add a header")
    assert learn(memory, history) == Learned(commits=1, known=1)


def test_a_commit_with_an_impossible_time_zone_is_read(repository: Repository, history: GitHistory) -> None:
    first = repository.commit("Add a footer")
    raw = repository.git("cat-file", "commit", first).replace("+0000", "+51800") + "\n"
    made = subprocess.run(
        ["git", "hash-object", "-t", "commit", "-w", "--literally", "--stdin"],
        cwd=repository.folder,
        input=raw,
        capture_output=True,
        text=True,
        check=True,
    )
    repository.git("update-ref", "refs/heads/main", made.stdout.strip())
    assert [commit.at[:10] for commit in history.commits()] == ["2026-03-02"]


def test_a_commit_that_chooses_with_a_reason_is_a_decision_that_waits(
    memory: Memory, repository: Repository, history: GitHistory
) -> None:
    commit = repository.commit(
        "refactor(store): use SQLite instead of JSON files\n\nConcurrent writers lost entries because a file is written as a whole.\n"
        "We opted against PostgreSQL since the tool has to work offline.\n\nSigned-off-by: Ada <ada@example.org>\nCloses: #12",
        "src/store.py",
        "tests/test_store.py",
    )
    (found,) = learn(memory, history).kept
    assert told(Learned(kept=(found,))) == [("decision", "pending", "Use SQLite instead of JSON files")]
    assert found.fields == {
        "rationale": "Concurrent writers lost entries because a file is written as a whole. "
        "We opted against PostgreSQL since the tool has to work offline.",
        "alternatives": ["JSON files"],
    }
    assert "Signed-off-by" not in found.body
    assert (found.anchors, found.extra["commits"]) == (("src/store.py",), [commit])
    assert isinstance(confirm(memory, found.id), Written)


def test_learning_again_changes_nothing_and_reads_only_what_is_new(
    memory: Memory, repository: Repository, history: GitHistory
) -> None:
    repository.commit(CHOICE, "src/orders.py")
    assert len(learn(memory, history).kept) == 1
    assert learned_up_to(memory) == history.head()
    before = list(memory.store.journal())
    assert learn(memory, history) == Learned()
    memory.store.note(f"learned {memory.project}", "")
    assert learn(memory, history) == Learned(commits=1, known=1)
    assert learn(memory, history, since="2026-01-01") == Learned(commits=1, known=1)
    assert list(memory.store.journal()) == before
    repository.commit("Add a footer")
    assert learn(memory, history) == Learned(commits=1)


def test_a_chain_that_goes_on_is_brought_up_to_date_unless_somebody_worked_on_it(
    memory: Memory, repository: Repository, history: GitHistory
) -> None:
    for place in range(2):
        repository.commit(f"fix: leak of sockets number {place}", "src/pool.py")
    (first,) = learn(memory, history).kept
    repository.commit("fix: sockets leak again", "src/pool.py")
    (second,) = learn(memory, history).kept
    assert (second.id, second.revision) == (first.id, 2)
    assert second.title == "src/pool.py had to be fixed 3 times within 3 days: Sockets leak again"
    revise(memory, first.id, Revision(title="The pool leaks"))
    repository.commit("fix: sockets leak once more", "src/pool.py")
    assert learn(memory, history) == Learned(commits=1, known=1)


def test_what_was_sorted_out_or_is_known_does_not_come_back(
    memory: Memory, repository: Repository, history: GitHistory
) -> None:
    repository.commit(CHOICE, "src/orders.py")
    (found,) = learn(memory, history).kept
    confirm(memory, found.id)
    retire(memory, found.id, "no longer so")
    memory.store.note(f"learned {memory.project}", "")
    assert learn(memory, history).kept == ()
    keep(
        memory, "Use SQLite for the cache. Because memcached is one more thing to run, we use SQLite.", kind="decision"
    )
    repository.commit(
        "Use SQLite for the cache\n\nBecause memcached is one more thing to run, we use SQLite.", "src/cache.py"
    )
    assert learn(memory, history) == Learned(commits=1, known=1)


def test_a_dry_run_only_tells(memory: Memory, repository: Repository, history: GitHistory) -> None:
    repository.commit(CHOICE, "src/orders.py")
    found = learn(memory, history, dry_run=True)
    assert told(found) == [("decision", "pending", "Use UUIDs for orders")]
    assert list(memory.store.journal()) == []
    assert learned_up_to(memory) == ""


def test_history_that_was_rewritten_is_read_as_if_for_the_first_time(
    memory: Memory, repository: Repository, history: GitHistory
) -> None:
    repository.commit("Add a footer")
    learn(memory, history)
    memory.store.note(f"learned {memory.project}", "f" * 40)
    repository.commit(CHOICE, "src/orders.py")
    assert learn(memory, history).commits == 2


def test_merges_are_passed_over_and_their_branches_are_not(
    memory: Memory, repository: Repository, history: GitHistory
) -> None:
    repository.commit("Add a footer")
    repository.git("checkout", "-q", "-b", "side")
    repository.commit(CHOICE, "src/orders.py")
    repository.git("checkout", "-q", "main")
    repository.commit("Add a header", "header.txt")
    repository.git(
        "merge",
        "-q",
        "--no-ff",
        "-m",
        "Use side because it is better\n\nBecause we want it so much that it hurts.",
        "side",
    )
    found = learn(memory, history)
    assert (found.commits, told(found)) == (3, [("decision", "pending", "Use UUIDs for orders")])
    assert learn(memory, history) == Learned()


def test_secrets_in_messages_are_masked(memory: Memory, repository: Repository, history: GitHistory) -> None:
    repository.commit(
        "Use a token\n\nBecause the old one, ghp_" + "a1B2" * 9 + ", was leaked to everybody.", "src/a.py"
    )
    (found,) = learn(memory, history).kept
    assert "ghp_a1B2" not in found.text


def test_reading_is_bounded(memory: Memory, repository: Repository, history: GitHistory) -> None:
    for place in range(5):
        repository.commit(f"Add part {place}")
    assert learn(memory, history, limit=2, dry_run=True).commits == 2
    assert learn(memory, history, since="2026-03-05T00:00:00Z", dry_run=True).commits == 2
    refused(Invalid, learn, memory, history, limit=0)


def test_names_beyond_ascii_and_an_empty_repository_are_no_problem(
    memory: Memory, repository: Repository, history: GitHistory
) -> None:
    assert learn(memory, history) == Learned()
    repository.commit("fix: käse", "src/käse.py")
    repository.commit("fix: käse again", "src/käse.py")
    (found,) = learn(memory, history).kept
    assert found.anchors == ("src/käse.py",)


def test_outside_a_repository_it_says_so(memory: Memory, tmp_path: Path) -> None:
    refused(Invalid, learn, memory, GitHistory(tmp_path), says="no git repository")

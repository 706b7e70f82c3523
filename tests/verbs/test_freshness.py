"""Whether memories still hold, on real repositories: anchors, moves, branches, verifying, hydration."""

import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bench.freshness import verdicts
from holdfast.adapters.checkout import GitCheckout
from holdfast.model.errors import Conflict, Invalid
from holdfast.model.ports import RemoteCheckout
from holdfast.model.query import Query
from holdfast.model.record import Draft, Record
from holdfast.policy.freshness import details, freshness_text
from holdfast.surfaces.core.text import page
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.freshness import freshness, lost, note_tips
from holdfast.verbs.records.lifecycle import Revision, revise
from holdfast.verbs.records.read import MOST_FILES, hydrate
from holdfast.verbs.records.write import Written, write
from holdfast.verbs.search.recall import recall
from holdfast.verbs.sessions.opening_brief import brief_of
from holdfast.verbs.truth.verify import check_all, check_change, verify
from holdfast.verbs.upkeep.health import Sample, health
from tests.conftest import Time, keep, make_memory, new_folder
from tests.rows import of_type, refused

APP = "LIMIT = 5\n\n\ndef pay(amount):\n    return amount * LIMIT\n\n\ndef other():\n    return 0\n"
Git = Callable[..., str]


@pytest.fixture
def code(tmp_path: Path) -> Path:
    return new_folder(tmp_path / "code")


@pytest.fixture
def git(code: Path) -> Git:
    """Give a function that runs git in the repository; `commit` takes a message."""
    author = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "commit.gpgsign=false")

    def run(*arguments: str) -> str:
        done = subprocess.run(["git", *author, *arguments], cwd=code, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    run("init", "-q", "-b", "main")
    (code / "app.py").write_text(APP)
    run("add", "-A")
    run("commit", "-qm", "begin")
    return run


@pytest.fixture
def here(tmp_path: Path, code: Path, git: Git, time: Time) -> Iterator[Memory]:  # noqa: ARG001
    """Give a memory whose project is the repository at hand."""
    with make_memory(tmp_path, time) as memory:
        memory = replace(memory, checkout=GitCheckout(code, memory.project))
        yield memory


def change(code: Path, git: Git, old: str, new: str, message: str = "a change") -> None:
    (code / "app.py").write_text((code / "app.py").read_text().replace(old, new))
    git("commit", "-qam", message)


def state_of(memory: Memory, record: Record) -> str:
    return freshness(memory, [record])[record.id].state


def test_what_is_cited_is_noted_when_it_is_written(here: Memory, git: Git) -> None:
    record = keep(here, "Payments are multiplied.", anchors=("app.py::pay", "app.py::LIMIT=5", "!old.py"))
    assert record.seen is not None
    assert record.seen.commit == git("rev-parse", "HEAD")
    assert (record.seen.marks["app.py::pay"].first, record.seen.marks["app.py::pay"].last) == (4, 5)
    assert state_of(here, record) == "fresh"


def test_an_anchor_that_does_not_hold_is_told_at_once_and_nothing_is_lost(here: Memory) -> None:
    outcome = write(here, Draft(body="The limit is six.", anchors=("app.py::LIMIT=6", "gone.py", "!app.py")))
    assert isinstance(outcome, Written)
    expected = ("app.py::LIMIT=6 (it is 5 now)", "gone.py (it does not exist)", "!app.py (it exists again)")
    assert outcome.doubts == expected


def test_places_named_in_the_text_are_found_if_they_are_there(here: Memory) -> None:
    record = keep(here, "See `app.py::pay` and `never/was.py`, POST /api/app.py.")
    assert record.anchors == ()
    assert record.seen is not None
    assert set(record.seen.marks) == {"app.py::pay"}


def test_a_change_elsewhere_is_no_change_and_one_to_the_span_is(here: Memory, code: Path, git: Git) -> None:
    record = keep(here, "Payments are multiplied.", anchors=("app.py::pay",))
    change(code, git, "return 0", "return 1")
    change(code, git, "def pay(amount):", "# Pays.\n\ndef pay( amount ):")
    assert state_of(here, record) == "fresh"
    change(code, git, "amount * LIMIT", "amount + LIMIT", "Add instead")
    change(code, git, "return 1", "return 2", "Something else")
    judged = freshness(here, [record])[record.id]
    assert (judged.state, judged.findings[0].commits) == ("changed", 1)
    assert judged.findings[0].last is not None
    assert (judged.findings[0].last.subject, judged.findings[0].last.author) == ("Add instead", "Ann")
    assert "Add instead" in details(judged)[0]


MOVED = "LIMIT = 5\n\n\ndef pay(amount):\n    return amount * LIMIT\n"
# What is cited, the files afterwards (None is gone), whether that is committed, the state, and where the code went.
FATES: dict[str, tuple[str, dict[str, str | None], bool, str, str]] = {
    "not committed": ("app.py::pay", {"app.py": APP.replace("* LIMIT", "")}, False, "changed", ""),
    "a renamed file": ("app.py::pay", {"app.py": None, "shop.py": APP}, True, "fresh", "shop.py::pay"),
    "a moved symbol": ("app.py::pay", {"app.py": "def other():\n    return 0\n", "money.py": MOVED}, True, "fresh", "money.py::pay"),
    "a symbol that is gone": ("app.py::pay", {"app.py": "def other():\n    return 0\n"}, True, "missing", ""),
    "a file that is gone": ("app.py", {"app.py": None}, True, "missing", ""),
}  # fmt: skip


@pytest.mark.parametrize("fate", FATES)
def test_cited_code_is_followed_wherever_it_went(here: Memory, code: Path, git: Git, fate: str) -> None:
    anchor, files, committed, state, moved_to = FATES[fate]
    record = keep(here, "Payments are multiplied.", anchors=(anchor,))
    for name, text in files.items():
        (code / name).unlink() if text is None else (code / name).write_text(text)
    if committed:
        git("add", "-A")
        git("commit", "-qm", "a change")
    judged = freshness(here, [record])[record.id]
    assert (judged.state, judged.findings[0].moved_to) == (state, moved_to)
    if moved_to:
        again = verify(here, record.id)
        assert (again.anchors, state_of(here, again)) == ((moved_to,), "fresh")


def test_a_cited_commit_is_part_of_the_history_or_is_said_not_to_be(here: Memory, code: Path, git: Git) -> None:
    git("checkout", "-qb", "aside")
    change(code, git, "return 0", "return 1")
    aside = git("rev-parse", "HEAD")
    record = keep(here, "The fix came with this commit.", anchors=(f"commit:{aside[:10]}",))
    assert state_of(here, record) == "fresh"
    git("checkout", "-q", "main")
    assert state_of(here, record) == "missing"
    assert state_of(here, keep(here, "Somebody said so elsewhere.", anchors=("commit:feedface",))) == "unknown"


def test_unknown_and_unverified_are_never_fresh(here: Memory, time: Time) -> None:
    bare = keep(here, "Deploys happen on Fridays by habit.")
    assert state_of(here, bare) == "unverified"
    elsewhere = keep(here, "Other code has its own rules to follow.", project="example.org/other", anchors=("x.py",))
    assert state_of(here, elsewhere) == "unknown"
    checked = verify(here, bare.id)
    time.pass_days(3)
    judged = freshness(here, [checked])[checked.id]
    assert (judged.state, freshness_text(judged)) == ("unknown", "unknown, checked 3 d ago")
    past = keep(here, "Ran the tests today in app.py.", kind="observation", anchors=("app.py",))
    assert past.id not in freshness(here, [past])


def test_files_that_a_rule_named_are_only_asked_to_exist(here: Memory, code: Path, git: Git) -> None:
    record = keep(here, "Learned from a fix.", anchors=("app.py",), source="mined")
    change(code, git, "return 0", "return 1")
    assert state_of(here, record) == "exists"


NAMED = {
    "`pay()` in app.py may not print.": "app.py::pay",
    "Payments go through pay(), never around it.": "app.py::pay",
    "Careful: `pay` swallows errors.": "app.py::pay",
    "The function pay (app.py) is called twice.": "app.py::pay",
    "Override Shop.close() for new shops.": "lib/shop.py::Shop.close",
    "`shop.Shop` is cached.": "lib/shop.py::Shop",
    "LIMIT = 5 in app.py, more times out.": "app.py::LIMIT=5",
    "`LIMIT = 5` is the most.": "app.py::LIMIT=5",
    "The most is `LIMIT`, see `app.py`.": "app.py::LIMIT",
    "The rules are in lib/shop.py.": "lib/shop.py",
    "Customs are in shop.py, by habit.": "lib/shop.py",
}


def test_what_a_text_names_in_its_own_words_is_found_when_it_is_written(here: Memory, code: Path, git: Git) -> None:
    (code / "lib").mkdir()
    (code / "lib" / "shop.py").write_text("class Shop:\n    def close(self):\n        return 1\n")
    git("add", "-A")
    git("commit", "-qm", "a shop")
    records = [keep(here, text) for text in NAMED]
    assert {record.body: set(record.seen.marks) if record.seen else None for record in records} == {
        text: {place} for text, place in NAMED.items()
    }
    exact = {record.body: "::" in NAMED[record.body] for record in records}
    assert {record.body: state_of(here, record) for record in records} == {
        text: "fresh" if is_exact else "exists" for text, is_exact in exact.items()
    }
    (code / "app.py").write_text("LIMITS = {}\n\n\ndef payments():\n    return 1\n")
    (code / "lib" / "shop.py").write_text("class Shops:\n    pass\n")
    assert {record.body: state_of(here, record) for record in records} == {
        text: "missing" if is_exact else "exists" for text, is_exact in exact.items()
    }


def test_a_name_that_may_mean_several_things_or_is_only_partly_found_is_never_fresh(
    here: Memory, code: Path, git: Git
) -> None:
    (code / "more.py").write_text("def other():\n    return 1\n")
    git("add", "-A")
    git("commit", "-qm", "more")
    assert state_of(here, keep(here, "`other()` is slow for large inputs.")) == "unverified"
    assert state_of(here, keep(here, "`pay()` rounds with `quantize()` of the decimal module.")) == "exists"


def test_a_check_whose_claim_is_false_is_refused(here: Memory, code: Path, git: Git) -> None:
    record = keep(here, "The limit is five.", anchors=("app.py::LIMIT=5",))
    change(code, git, "LIMIT = 5", "LIMIT = 7")
    refused(Conflict, verify, here, record.id, says="it is 7 now")
    refused(Conflict, verify, here, record.id, anchors=("nowhere.py",), says="does not exist")
    assert verify(here, record.id, anchors=("app.py::LIMIT=7",)).anchors == ("app.py::LIMIT=7",)


def test_revising_looks_again(here: Memory, code: Path, git: Git) -> None:
    record = keep(here, "Payments are multiplied.", anchors=("app.py::pay",))
    change(code, git, "amount * LIMIT", "amount + LIMIT")
    revised = of_type(Record, revise(here, record.id, Revision(body="Payments are added up.")))
    assert state_of(here, revised) == "fresh"


def test_recall_says_of_each_hit_whether_it_holds(here: Memory, code: Path, git: Git) -> None:
    record = keep(here, "Payments are multiplied by the limit.", anchors=("app.py::pay",))
    assert [hit.freshness.state for hit in recall(here, Query(text="payments")).hits if hit.freshness] == ["fresh"]
    change(code, git, "amount * LIMIT", "amount")
    hit = recall(here, Query(text="payments")).hits[0]
    assert (hit.record.id, hit.freshness and hit.freshness.state) == (record.id, "changed")
    keep(here, "We decided to add payments.", kind="decision", anchors=("app.py::other",))
    change(code, git, "return 0", "return 1")
    assert "[check first: app.py::other changed" in brief_of(here).text


def test_what_a_branch_taught_counts_less_elsewhere_until_it_is_merged(here: Memory, code: Path, git: Git) -> None:
    git("checkout", "-qb", "feature")
    change(code, git, "return 0", "return 1", "work")
    record = keep(here, "Payments are cached on the feature branch.")
    assert record.origin.branch == "feature"
    assert recall(here, Query(text="payments cached")).hits[0].branch == ""
    git("checkout", "-q", "main")
    hit = recall(here, Query(text="payments cached")).hits[0]
    assert (hit.branch, hit.why["branch"]) == ("feature", 0.7)
    git("merge", "-q", "--no-ff", "--no-edit", "feature")
    assert recall(here, Query(text="payments cached")).hits[0].branch == ""


@pytest.mark.parametrize("how", ["squash", "rebase"])
def test_a_branch_that_was_squashed_or_rebased_is_merged(here: Memory, code: Path, git: Git, how: str) -> None:
    git("checkout", "-qb", "feature")
    change(code, git, "return 0", "return 1", "one")
    change(code, git, "LIMIT = 5", "LIMIT = 6", "two")
    keep(here, "Payments are cached on the feature branch.")
    note_tips(here)
    git("checkout", "-q", "main")
    (code / "else.txt").write_text("meanwhile")
    git("add", "-A")
    git("commit", "-qm", "meanwhile")
    assert recall(here, Query(text="payments cached")).hits[0].branch == "feature"
    if how == "squash":
        git("merge", "-q", "--squash", "feature")
        git("commit", "-qm", "feature, squashed")
    else:
        git("cherry-pick", "main..feature")
    git("branch", "-qD", "feature")
    assert recall(here, Query(text="payments cached")).hits[0].branch == ""
    assert lost(here) == {}


def test_what_died_with_its_branch_is_proposed_for_retirement(here: Memory, code: Path, git: Git) -> None:
    git("checkout", "-qb", "dead-end")
    change(code, git, "return 0", "return 1", "one")
    record = keep(here, "Payments are cached in a dead end.")
    git("checkout", "-q", "main")
    assert lost(here) == {}
    git("branch", "-qD", "dead-end")
    assert [one.id for one in lost(here)["dead-end"]] == [record.id]
    checked = check_all(here)
    assert (checked[0].action, checked[0].why) == ("forget", "its branch dead-end is gone and was never merged")


def test_a_worktree_shares_the_project_and_keeps_its_facet(here: Memory, git: Git, tmp_path: Path) -> None:
    git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    here = replace(here, checkout=GitCheckout(tmp_path / "side", here.project))
    record = keep(here, "The side table has its own rules.", anchors=("app.py::pay",))
    assert (record.origin.worktree, record.origin.branch) == ("side", "side")
    assert state_of(here, record) == "fresh"


def test_every_record_gets_what_to_do_about_it(here: Memory, code: Path, git: Git) -> None:
    kept = {
        "keep": keep(here, "Payments are multiplied.", anchors=("app.py::pay",)),
        "revise": keep(here, "The limit is five units.", anchors=("app.py::LIMIT=5",)),
        "forget": keep(here, "There is a helper called other somewhere.", anchors=("app.py::other",)),
    }
    change(code, git, "LIMIT = 5", "LIMIT = 7")
    change(code, git, "def other():\n    return 0\n", "")
    assert {one.record.id: one.action for one in check_all(here)} == {one.id: action for action, one in kept.items()}


def test_a_change_that_falsifies_a_team_memory_is_named(here: Memory, code: Path, git: Git) -> None:
    private = keep(here, "The limit is five units.", anchors=("app.py::LIMIT=5",))
    team = keep(here, "Payments are multiplied.", anchors=("app.py::pay",), visibility="team")
    before = keep(here, "Wrong from the start, as it happens.", anchors=("app.py::LIMIT=9",), visibility="team")
    base = git("rev-parse", "HEAD")
    assert check_change(here, base).broken == ()
    git("checkout", "-qb", "pull-request")
    change(code, git, "LIMIT = 5", "LIMIT = 7")
    change(code, git, "amount * LIMIT", "amount")
    found = check_change(here, here.checkout.merge_base("main")).broken
    assert [one.record.id for one in found] == [team.id]
    assert found[0].why[0].startswith("app.py::pay changed")
    assert {one.record.id for one in check_change(here, base, everything=True).broken} == {team.id, private.id}
    verify(here, team.id)
    assert check_change(here, base).broken == ()
    assert before.id not in {one.record.id for one in found}


def test_three_depths(here: Memory, code: Path, git: Git) -> None:
    files = [f"f{n}.txt" for n in range(MOST_FILES + 3)]
    for name in files:
        (code / name).write_text(f"text of {name}")
    (code / "big.txt").write_text("x" * 200_000)
    git("add", "-A")
    git("commit", "-qm", "many files")
    record = keep(here, "Payments are multiplied.", anchors=("app.py::pay",))
    change(code, git, "amount * LIMIT", "amount")
    assert hydrate(here, record.id, "summary").freshness is None
    full = hydrate(here, record.id)
    assert full.commit is not None
    assert (full.commit[0], full.commit[2]) == ("Ann", "many files")
    assert [event.verb for event in full.history] == ["recorded"]
    assert full.files == ()
    deep = hydrate(here, record.id, "files")
    assert (deep.files[0].path, deep.files[0].text) == ("app.py", APP)  # as it was then
    many = keep(here, "Everything at once, for the record.", anchors=tuple(files))
    assert len(hydrate(here, many.id, "files").files) == MOST_FILES
    assert hydrate(here, many.id, "files").left_out == tuple(files[MOST_FILES:])
    big = keep(here, "A big file is cut, and says so.", anchors=("big.txt", "f1.txt"))
    cut = hydrate(here, big.id, "files")
    assert (cut.files[0].cut, cut.left_out) == (100_000, ("f1.txt",))
    with pytest.raises(Invalid):
        hydrate(here, record.id, "everything")  # type: ignore[arg-type]


def test_nothing_outside_the_checkout_is_read(here: Memory, code: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("hidden")
    (code / "link.txt").symlink_to(secret)
    record = keep(here, "Escapes are not followed anywhere.", anchors=("../secret.txt", "link.txt", str(secret)))
    assert record.seen is not None
    assert {mark.hash for mark in record.seen.marks.values()} == {""}
    assert all("hidden" not in one.text for one in hydrate(here, record.id, "files").files)


def test_a_repository_without_commits_or_git_is_no_error(tmp_path: Path, time: Time) -> None:
    folder = new_folder(tmp_path / "plain")
    (folder / "app.py").write_text(APP)
    with make_memory(tmp_path, time) as memory:
        memory = replace(memory, checkout=GitCheckout(folder, memory.project))
        record = keep(memory, "Payments are multiplied.", anchors=("app.py::pay",))
        assert state_of(memory, record) == "fresh"
        (folder / "app.py").write_text(APP.replace("amount * LIMIT", "amount"))
        assert state_of(memory, record) == "changed"
        subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
        memory = replace(memory, checkout=GitCheckout(folder, memory.project))
        assert state_of(memory, record) == "changed"
        assert lost(memory) == {}


@pytest.mark.whole
def test_verdicts_are_right_on_a_history_whose_every_change_is_known(tmp_path: Path) -> None:
    assert verdicts(tmp_path)


def test_a_shared_record_of_an_unreadable_shape_is_still_judged(here: Memory) -> None:
    record = replace(keep(here, "Payments are multiplied.", anchors=("app.py::pay",)), seen=None)
    assert state_of(here, record) == "unverified"


def test_health_tells_of_code_that_changed_although_nobody_ever_checked(here: Memory, code: Path, git: Git) -> None:
    record = keep(here, "Payments are multiplied by the limit.", anchors=("app.py::pay",))
    keep(here, "Deploys run from main.")
    before = health(here)
    assert (before.score, before.unlooked) == (100, 0)
    assert before.drifted == Sample(total=0)
    change(code, git, "amount * LIMIT", "amount * 2")
    found = health(here)
    assert found.drifted is not None
    assert [one.id for one in found.drifted.records] == [record.id]
    assert found.score < before.score
    assert [(chore.what, chore.record) for chore in found.queue] == [("check", record)]
    assert [one.record.id for one in check_all(here) if one.action == "revise"] == [record.id]


def test_health_says_how_many_it_could_not_compare(here: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(here, "Payments are multiplied by the limit.", anchors=("app.py::pay",))
    keep(here, "Other things return nothing.", anchors=("app.py::other",))
    monkeypatch.setattr("holdfast.verbs.upkeep.health.MOST_CHECKED", 1)
    found = health(here)
    assert found.unlooked == 1
    assert "1 memory citing code not verified: `holdfast verify --all` checks them." in page("health", found)
    here = replace(here, checkout=RemoteCheckout("example.org/acme/other"))
    elsewhere = health(here)
    assert (elsewhere.drifted, elsewhere.unlooked) == (None, 2)
    assert "2 memories citing code not verified: another project is checked out." in page("health", elsewhere)

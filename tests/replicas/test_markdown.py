"""Markdown files: what people do to them by hand, and what must never happen to a person's text."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.adapters.git import Repository
from holdfast.adapters.replicas.markdown import MarkdownFolder
from holdfast.adapters.replicas.record_file import file_name, file_parts, file_text
from holdfast.model.record import Record
from holdfast.model.replica import parts_of
from holdfast.verbs.records.lifecycle import Revision, restore, retire, revise
from holdfast.verbs.upkeep.erasing import erase
from tests.conftest import keep
from tests.replicas.seats import Seat, Seats, commit, git, seating


@pytest.fixture
def seats(tmp_path: Path) -> Iterator[Seats]:
    with seating("folder", tmp_path) as made:
        yield made


def files(seat: Seat) -> list[Path]:
    return sorted(seat.folder.glob("*.md"))


def only(seat: Seat) -> Path:
    (found,) = files(seat)
    return found


def test_a_file_reads_like_one(ada: Seat) -> None:
    record = keep(
        ada.memory, "Always run `make check`.\n\n- it is quick\n- it is right", kind="learning", tags=("ci", "make")
    )
    ada.sync()
    assert only(ada).name == f"2026-09-21-always-run-make-check-{record.id[-6:].lower()}.md"
    assert only(ada).read_text() == (
        f"---\nid: {record.id}\nkind: learning\ntitle: Always run `make check`.\ntags:\n- ci\n- make\n"
        "project: example.org/acme/shop\nvisibility: private\nconfidence: medium\nsource: explicit\n"
        "by:\n  kind: user\n  name: ada\ncreated_at: '2026-09-21T14:13:20.000Z'\n---\n\n"
        "Always run `make check`.\n\n- it is quick\n- it is right\n"
    )
    assert only(ada).stat().st_mode & 0o777 == 0o600
    assert ada.folder.stat().st_mode & 0o777 == 0o700


def test_a_hand_edit_becomes_a_revision_with_only_what_was_changed(ada: Seat) -> None:
    record = keep(
        ada.memory, "The port is 8080.", tags=("net",), fields={"why": "default", "issue": "A-1"}, kind="learning"
    )
    ada.sync()
    path = only(ada)
    path.write_text(
        path.read_text().replace("8080", "9090").replace("- net", "- net\n- ports").replace("default", "taken")
    )
    done = ada.sync()
    assert (done.came, done.remarks) == (1, ())
    last = ada.memory.store.events_about(record.id)[-1]
    assert (last.verb, set(last.data)) == ("revised", {"body", "title", "tags", "fields"})
    now = ada.records()[record.id]
    assert (now.body, now.title, now.tags) == ("The port is 9090.", "The port is 9090.", ("net", "ports"))
    assert now.fields == {"why": "taken", "issue": "A-1"}
    assert "title: The port is 9090." in path.read_text()
    assert ada.sync().came == 0


def test_an_edit_on_both_sides_keeps_both(ada: Seat) -> None:
    record = keep(ada.memory, "The port is 8080.", title="Ports", kind="learning", fields={"why": "default"})
    ada.sync()
    path = only(ada)
    revise(ada.memory, record.id, Revision(title="Ports of the shop", fields={"why": "default", "issue": "A-2"}))
    path.write_text(path.read_text().replace("8080.", "9090.").replace("why: default", "why: taken by something"))
    ada.sync()
    now = ada.records()[record.id]
    assert (now.body, now.title) == ("The port is 9090.", "Ports of the shop")
    assert now.fields == {"why": "taken by something", "issue": "A-2"}
    assert file_parts(path.read_text()) == parts_of(ada.memory.store.folded(record.id))  # type: ignore[arg-type]


def test_a_revert_by_hand_is_an_edit_like_any_other(ada: Seat) -> None:
    record = keep(ada.memory, "First wording.", title="T")
    ada.sync()
    before = only(ada).read_text()
    revise(ada.memory, record.id, Revision(body="Second wording."))
    ada.sync()
    only(ada).write_text(before)
    ada.sync()
    assert ada.records()[record.id].body == "First wording."


def test_a_new_file_is_a_new_record(ada: Seat) -> None:
    ada.sync()
    ada.folder.mkdir(exist_ok=True)
    (ada.folder / "idea.md").write_text("# Use a queue for mails\n\nThey time out otherwise.\n")
    (ada.folder / "scar.md").write_text(
        "---\nkind: scar\ntags: [ops]\nproject: example.org/acme/shop\nfields:\n  severity: high\n"
        "  counter_arguments: [it is slow, it is rare]\n---\nNever restart on a Friday.\n"
    )
    (ada.folder / "README.md").write_text("Not a memory.")
    done = ada.sync()
    assert (done.came, done.remarks) == (2, ())
    found = {record.kind: record for record in ada.memory_records()}
    assert (found["fact"].title, found["fact"].project) == ("Use a queue for mails", "")
    assert (found["scar"].tags, found["scar"].project) == (("ops",), "example.org/acme/shop")
    assert f"id: {found['scar'].id}" in (ada.folder / "scar.md").read_text()
    assert (ada.folder / "README.md").read_text() == "Not a memory."
    assert ada.sync().came == 0


def test_a_removed_file_retires_and_an_added_one_restores(ada: Seat) -> None:
    record = keep(ada.memory, "Goes and comes back.")
    for number in range(5):
        keep(ada.memory, f"Stays number {number} of {number * 31}.")
    ada.sync()
    path = ada.folder / file_name(record)
    text = path.read_text()
    path.unlink()
    assert ada.sync().retired == 1
    assert (ada.records()[record.id].state, ada.records()[record.id].reason) == ("retired", "its file was removed")
    path.write_text(text)
    ada.sync()
    assert ada.records()[record.id].state == "active"
    retire(ada.memory, record.id, "by command")
    assert ada.sync().put.removed == 1
    assert not path.exists()
    restore(ada.memory, record.id)
    ada.sync()
    assert path.read_text() == text


def test_many_removed_files_are_asked_about(ada: Seat) -> None:
    for number in range(10):
        keep(ada.memory, f"Thing number {number} of {number * 31}.")
    ada.sync()
    for path in files(ada)[:3]:
        path.unlink()
    asked: list[str] = []

    def refuse(question: str) -> bool:
        asked.append(question)
        return False

    done = ada.sync(agree=refuse)
    assert (done.missing, done.retired, len(asked)) == (3, 0, 1)
    assert "3 of 10 files are gone. Retire 3 memories?" in asked[0]
    assert len(files(ada)) == 7
    assert ada.sync(put_back=True).put.records == 3
    assert len(files(ada)) == 10
    for path in files(ada)[:3]:
        path.unlink()
    assert ada.sync(agree=lambda _question: True).retired == 3


def test_a_vanished_folder_retires_nothing_unasked(ada: Seat) -> None:
    record = keep(ada.memory, "A single thing.")
    ada.sync()
    shutil.rmtree(ada.folder)
    done = ada.sync()
    assert (done.missing, done.retired) == (1, 0)
    assert ada.records()[record.id].state == "active"
    assert not ada.folder.exists()
    revise(ada.memory, record.id, Revision(tags=("changed",)))
    assert ada.sync().missing == 1
    assert ada.sync(put_back=True).put.records == 1
    assert "- changed" in only(ada).read_text()


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("---\nid: [unclosed\n---\ntext\n", "not YAML"),
        ("---\nid: 01ABC\n---\ntext\n", "not an id"),
        ("---\ntags: a\nkind: sonnet\n---\ntext\n", "kind"),
        ("---\nno end of it\n", "no end"),
        ("---\n- a\n- list\n---\ntext\n", "not a mapping"),
        ("---\nfields: text\n---\ntext\n", "must be a mapping"),
        ("", "empty"),
        ("The key is npm_" + "aB1" * 12, "secret"),
        (b"\xff\xfe broken", "UTF-8"),
        ("x" * 400_001, "larger than"),
    ],
)
def test_a_file_that_cannot_be_taken_is_reported_and_left_alone(ada: Seat, content: str | bytes, why: str) -> None:
    fine = keep(ada.memory, "A thing that is fine.")
    ada.sync()
    raw = content.encode() if isinstance(content, str) else content
    (ada.folder / "odd.md").write_bytes(raw)
    for _ in range(2):
        done = ada.sync()
        assert [remark.where for remark in done.remarks] == ["odd.md"]
        assert why in done.remarks[0].why
        assert (ada.folder / "odd.md").read_bytes() == raw
    assert set(ada.records()) == {fine.id}


def test_a_known_file_that_broke_is_left_alone_until_it_is_mended(ada: Seat) -> None:
    record = keep(ada.memory, "Worth keeping.", title="Title")
    ada.sync()
    path = only(ada)
    broken = path.read_text().replace("kind: fact", "kind: [fact") + "\nA person's own words.\n"
    path.write_text(broken)
    revise(ada.memory, record.id, Revision(tags=("meanwhile",)))
    assert "not YAML" in ada.sync().remarks[0].why
    assert path.read_text() == broken
    assert ada.records()[record.id].state == "active"
    path.write_text(broken.replace("[fact", "fact"))
    assert ada.sync().remarks == ()
    now = ada.records()[record.id]
    assert (now.tags, now.body) == (("meanwhile",), "Worth keeping.\n\nA person's own words.")


def test_a_broken_file_that_is_put_back_as_it_was_gets_what_it_missed(ada: Seat) -> None:
    record = keep(ada.memory, "Worth keeping.", title="Title")
    ada.sync()
    before = only(ada).read_text()
    only(ada).write_text(before.replace("kind: fact", "kind: [fact"))
    revise(ada.memory, record.id, Revision(tags=("meanwhile",)))
    ada.sync()
    only(ada).write_text(before)
    ada.sync()
    assert "- meanwhile" in only(ada).read_text()


def test_unknown_fields_survive(ada: Seat, bob: Seat) -> None:
    record = keep(ada.memory, "A thing.", tags=("a",))
    ada.sync()
    path = only(ada)
    path.write_text(path.read_text().replace("---\n\n", "reviewers:\n- grace\nurgency: 3\n---\n\n"))
    ada.sync()
    revise(ada.memory, record.id, Revision(tags=("b",)))
    ada.sync()
    assert file_parts(path.read_text())["extra"] == {"front": {"reviewers": ["grace"], "urgency": 3}}
    assert "urgency: 3" in path.read_text()
    bob.sync()
    revise(bob.memory, record.id, Revision(tags=("c",)))
    bob.sync()
    assert "reviewers:\n- grace\nurgency: 3\n" in path.read_text()


def test_what_cannot_be_changed_by_hand_is_said_and_put_back(ada: Seat) -> None:
    record = keep(ada.memory, "A thing.")
    ada.sync()
    path = only(ada)
    path.write_text(
        path.read_text()
        .replace("example.org/acme/shop", "example.org/other")
        .replace("A thing.\n", "A better thing.\n")
    )
    done = ada.sync()
    assert "project cannot be changed by hand" in done.remarks[0].why
    assert ada.memory.store.folded(record.id).project == "example.org/acme/shop"  # type: ignore[union-attr]
    assert ada.records()[record.id].body == "A better thing."
    assert "project: example.org/acme/shop" in path.read_text()


def test_renaming_a_file_changes_nothing_and_its_name_stays(ada: Seat) -> None:
    record = keep(ada.memory, "A thing.", title="Old title")
    ada.sync()
    only(ada).rename(ada.folder / "my-own-name.md")
    done = ada.sync()
    assert (done.came, done.retired, done.missing) == (0, 0, 0)
    revise(ada.memory, record.id, Revision(title="New title"))
    ada.sync()
    assert [path.name for path in files(ada)] == ["my-own-name.md"]
    assert "title: New title" in only(ada).read_text()


def test_a_copied_file_is_not_taken_for_the_record(ada: Seat) -> None:
    record = keep(ada.memory, "A thing.")
    ada.sync()
    copy = ada.folder / "zz-copy.md"
    copy.write_text(only(ada).read_text().replace("A thing.\n", "A varied thing.\n"))
    assert "is the file of" in ada.sync().remarks[0].why
    copy.write_text(copy.read_text().replace(f"id: {record.id}\n", ""))
    assert ada.sync().remarks == ()
    assert {one.body for one in ada.records().values()} == {"A thing.", "A varied thing."}


def test_a_file_that_lost_its_id_is_still_its_records_file(ada: Seat) -> None:
    record = keep(ada.memory, "A thing.")
    ada.sync()
    only(ada).write_text("Only the text was left, and it is another one.")
    ada.sync()
    assert ada.records()[record.id].body == "Only the text was left, and it is another one."
    assert f"id: {record.id}" in only(ada).read_text()


def test_an_edit_of_something_forgotten_or_erased_meanwhile_is_kept_as_it_is(ada: Seat) -> None:
    for undo, why in (
        (lambda one: retire(ada.memory, one, "gone"), "retired"),
        (lambda one: erase(ada.memory, one), "erased"),
    ):
        record = keep(ada.memory, f"A thing that is {why}.")
        ada.sync()
        path = ada.folder / file_name(record)
        edited = path.read_text() + "\nA person's own words.\n"
        path.write_text(edited)
        undo(record.id)
        assert any(why in remark.why for remark in ada.sync().remarks)
        assert path.read_text() == edited
        path.unlink()
        ada.sync()


def test_a_file_changed_while_it_is_synced_is_left_for_the_next_time(ada: Seat) -> None:
    record = keep(ada.memory, "A thing.", title="Title")
    ada.sync()
    revise(ada.memory, record.id, Revision(tags=("new",)))
    path, read = only(ada), ada.replica.read

    def slow(**options: Any) -> Any:
        arrived = read(**options)
        path.write_text(path.read_text().replace("A thing.\n", "A person was faster.\n"))
        return arrived

    ada.replica.read = slow
    assert "edited just now" in ada.sync().remarks[0].why
    assert "A person was faster." in path.read_text()
    del ada.replica.read
    ada.sync()
    now = ada.records()[record.id]
    assert (now.body, now.tags) == ("A person was faster.", ("new",))


def test_line_ends_and_byte_order_marks_are_no_edit(ada: Seat) -> None:
    keep(ada.memory, "One line.\n\nAnother line.")
    ada.sync()
    path = only(ada)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert ada.sync().came == 0


def test_a_damaged_manifest_is_begun_anew(ada: Seat) -> None:
    record = keep(ada.memory, "A thing.")
    ada.sync()
    ada.replica.close()
    (state,) = ada.replica._states.glob("*.db")
    state.write_bytes(b"not a database at all, but long enough to be looked at" * 20)
    done = ada.sync()
    assert (done.came, done.put.records, done.remarks) == (0, 0, ())
    assert ada.records()[record.id].revision == 1


def test_a_scan_opens_only_files_that_were_touched(ada: Seat) -> None:
    for number in range(20):
        keep(ada.memory, f"Thing number {number} of {number * 31}.")
    ada.sync()
    touched = files(ada)[7]
    opened, is_on = list[Path](), True

    def note(event: str, arguments: tuple[Any, ...]) -> None:
        """Python reports every file here that it opens, in whatever way."""
        if is_on and event == "open" and str(arguments[0]).endswith(".md"):
            opened.append(Path(arguments[0]))

    sys.addaudithook(note)  # it cannot be removed
    os.utime(touched)
    ada.sync()
    assert opened == [touched]
    ada.sync()
    assert opened == [touched]
    is_on = False


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=60)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(
    title=TEXT,
    body=TEXT,
    tags=st.lists(TEXT.map(str.strip).filter(bool), max_size=3),
    extra=st.dictionaries(st.sampled_from(["a", "b c", "1"]), VALUES, max_size=3),
)
def test_whatever_a_record_says_its_file_gives_back(
    title: str, body: str, tags: list[str], extra: dict[str, Any]
) -> None:
    record = Record(
        id="01M3250V00W764V93N20N8KD8C",
        title=title.strip(),
        body=body,
        tags=tuple(tags),
        extra=extra,
        created_at="2026-09-21T00:00:00.000Z",
    )
    parts = parts_of(record)
    assert file_parts(file_text(parts)) == parts


def repository_seat(seats: Seats, tmp_path: Path) -> Seat:
    """Give somebody whose files lie in a real repository."""
    ada = seats("ada")
    repo = tmp_path / "repo"
    git(tmp_path, "init", "-q", "-b", "main", str(repo))
    commit(repo)
    place, git_of = repo / ".holdfast" / "memories", Repository(repo)
    ada.replica = MarkdownFolder(
        place,
        ada.replica._states,
        name="repository",
        implied=ada.sharing.implied,
        head=git_of.head,
        follows=git_of.holds,
        mode=0o666,
    )
    ada.folder = place
    return ada


def saved(seat: Seat, message: str) -> None:
    git(seat.folder, "add", "-A", ".")
    git(seat.folder, "commit", "-q", "-m", message)


def test_switching_branches_retires_and_reverts_nothing(tmp_path: Path) -> None:
    with seating("repository", tmp_path) as seats:
        ada = repository_seat(seats, tmp_path)
        old = keep(ada.memory, "First wording.", title="Kept", visibility="team")
        ada.sync()
        saved(ada, "first")
        repo = tmp_path / "repo"
        git(repo, "checkout", "-q", "-b", "side")
        git(repo, "checkout", "-q", "main")
        revise(ada.memory, old.id, Revision(body="Second wording."))
        new = keep(ada.memory, "Only on main.", visibility="team")
        ada.sync()
        saved(ada, "second")
        ada.sync()
        git(repo, "checkout", "-q", "side")
        done = ada.sync()
        assert (done.came, done.retired, done.missing) == (0, 0, 0)
        assert git(repo, "status", "--porcelain") == ""
        assert ada.records()[old.id].body == "Second wording."
        assert ada.records()[new.id].state == "active"
        path = ada.folder / file_name(old)
        path.write_text(path.read_text().replace("title: Kept", "title: Kept on a side"))
        ada.sync()
        assert (ada.records()[old.id].title, ada.records()[old.id].body) == ("Kept on a side", "Second wording.")
        git(repo, "checkout", "-q", "-f", "main")
        assert ada.sync().retired == 0
        assert ada.records()[new.id].state == "active"


def test_a_removal_on_the_same_line_of_history_retires(tmp_path: Path) -> None:
    with seating("repository", tmp_path) as seats:
        ada = repository_seat(seats, tmp_path)
        record = keep(ada.memory, "Taken out in a pull request.", visibility="team")
        for number in range(5):
            keep(ada.memory, f"Stays number {number} of {number * 31}.", visibility="team")
        ada.sync()
        saved(ada, "first")
        ada.sync()
        git(ada.folder, "rm", "-q", file_name(record))
        git(ada.folder, "commit", "-q", "-m", "taken out")
        assert ada.sync().retired == 1
        assert ada.records()[record.id].state == "retired"


def test_files_of_a_team_change_with_nobody_who_reads_them(tmp_path: Path) -> None:
    with seating("repository", tmp_path) as seats:
        ada, bob, carol = seats("ada"), seats("bob"), seats("carol")
        record = keep(ada.memory, "A thing of the team.", visibility="team", tags=("a",))
        revise(ada.memory, record.id, Revision(tags=("b",)))
        ada.sync()
        before = only(ada).read_bytes()
        bob.time.pass_days(3)
        for seat in (bob, carol, ada, bob):
            seat.sync()
            assert only(seat).read_bytes() == before
        assert [event.id for event in bob.memory.store.events_about(record.id)] == [
            event.id for event in carol.memory.store.events_about(record.id)
        ]


def test_fields_of_a_later_version_survive_in_a_file_of_this_one(ada: Seat) -> None:
    ada.folder.mkdir()
    (ada.folder / "later.md").write_text(
        "---\nid: 01M3250V00W764V93N20N8KD8C\nkind: fact\ntitle: T\nproject: p\nsource: explicit\nanchors_saw:\n  a.py: abc\n"
        "created_at: 2026-09-21T00:00:00Z\n---\n\nText.\n"
    )
    ada.sync()
    revise(ada.memory, "01M3250V00W764V93N20N8KD8C", Revision(tags=("x",)))
    ada.sync()
    assert "anchors_saw:\n  a.py: abc\n" in only(ada).read_text()


def test_the_folder_may_not_be_left_through_a_link(ada: Seat, tmp_path: Path) -> None:
    ada.sync()
    ada.folder.mkdir(exist_ok=True)
    (tmp_path / "secret.md").write_text("Something elsewhere.")
    (ada.folder / "link.md").symlink_to(tmp_path / "secret.md")
    assert ada.sync().came == 0
    assert ada.records() == {}

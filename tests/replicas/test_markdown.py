"""Markdown files: what people do to them by hand, and what must never happen to a person's text."""

from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.adapters.replicas.record_file import file_parts, file_text
from holdfast.model.record import Record
from holdfast.model.replica import parts_of
from holdfast.verbs.records.lifecycle import Revision, revise
from tests.conftest import keep, new_file
from tests.replicas.scripts import scripts_in
from tests.replicas.seats import Seat
from tests.rows import WHOLE, examples

KIND = "folder"
scripts_in(globals(), KIND)


def test_a_file_reads_like_one(ada: Seat) -> None:
    body = "Always run `make check`.\n\n- it is quick\n- it is right"
    record = keep(ada.memory, body, kind="learning", tags=("ci", "make"))
    ada.sync()
    assert ada.file().name == f"2026-09-21-always-run-make-check-{record.id[-6:].lower()}.md"
    expected = (Path(__file__).parents[1] / "data" / "record_file.md").read_text(encoding="utf-8")
    assert ada.file().read_text() == expected.replace("{id}", record.id)
    assert ada.file().stat().st_mode & 0o777 == 0o600
    assert ada.folder.stat().st_mode & 0o777 == 0o700


@examples
def test_a_file_that_cannot_be_taken_is_reported_and_left_alone(ada: Seat, content: str, times: int, why: str) -> None:
    odd = new_file(ada.folder / "odd.md", "")
    odd.write_text(content * times, errors="surrogateescape")
    before = odd.read_bytes()
    for _ in range(2):
        assert [(remark.where, why in remark.why) for remark in ada.sync().remarks] == [("odd.md", True)]
        assert odd.read_bytes() == before
    assert ada.records() == {}


def test_a_file_changed_while_it_is_synced_is_left_for_the_next_time(ada: Seat) -> None:
    record = keep(ada.memory, "A thing.", title="Title")
    ada.sync()
    revise(ada.memory, record.id, Revision(tags=("new",)))
    path, read = ada.file(), ada.replica.read

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


def test_line_ends_byte_order_marks_and_a_damaged_manifest_are_no_edit(ada: Seat) -> None:
    record = keep(ada.memory, "One line.\n\nAnother line.")
    ada.sync()
    path = ada.file()
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert ada.sync().came == 0
    ada.replica.close()
    (state,) = ada.replica._states.glob("*.db")
    state.write_bytes(b"not a database at all, but long enough to be looked at" * 20)
    done = ada.sync()
    assert (done.came, done.put.records, done.remarks) == (0, 0, ())
    assert ada.records()[record.id].revision == 1


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=60)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)


@settings(suppress_health_check=list(HealthCheck), max_examples=100 if WHOLE else 10)
@given(
    title=TEXT,
    body=TEXT,
    tags=st.lists(TEXT.map(str.strip).filter(bool), max_size=3),
    extra=st.dictionaries(st.sampled_from(["a", "b c", "1"]), VALUES, max_size=3),
)
def test_whatever_a_record_says_its_file_gives_back(
    title: str, body: str, tags: list[str], extra: dict[str, Any]
) -> None:
    record = Record(id="01M3250V00W764V93N20N8KD8C", title=title.strip(), body=body, tags=tuple(tags), extra=extra)
    parts = parts_of(record)
    assert file_parts(file_text(parts)) == parts

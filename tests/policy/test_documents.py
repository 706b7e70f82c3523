"""Documents in pieces: lists and paragraphs under their path of headings."""

from holdfast.policy.language.documents import Piece, is_text, pieces, sections
from tests.policy.scripts import scripts_in
from tests.rows import each, examples

globals().update(scripts_in(__file__))


@examples
def test_the_text_of_a_document_is_never_altered(text: str) -> None:
    assert [piece.text for piece in sections(f"# Shop\n\n{text}\n")] == [text]


@examples
def test_decoration_links_and_advertising_are_left_out(text: str) -> None:
    assert sections(f"# Shop\n\n{text}\n") == []


def test_a_long_section_is_split_between_blocks_and_what_is_too_long_is_left_out() -> None:
    block = "word " * 300
    parts = sections(f"# A\n\n{block}1\n\n{block}2\n\n{block}3\n\n```\n{'x' * 5_000}\n```\n")
    assert [len(part.text) for part in parts] == [3_004, 1_501]


def test_a_piece_is_told_with_where_it_stands() -> None:
    piece = Piece(path=("Setup", "On Linux"), text="Install libpq.")
    assert piece.under("README.md") == "[README.md > Setup > On Linux] Install libpq."
    assert piece.under("") == "[Setup > On Linux] Install libpq."
    assert Piece(path=(), text="x").under("") == "x"


@examples
def test_what_says_nothing_is_left_out(text: str, kept: list[str]) -> None:
    assert [one.text for one in pieces(text)] == kept


@each(
    ("raw", "text"),
    [(b"plain", True), ("größe\t\r\n".encode(), True), (b"\x00\x01", False), (b"\x01\x02\x03ab", False), (b"", True)],
)
def test_binary_files_are_told_from_texts(raw: bytes, text: bool) -> None:
    assert is_text(raw) is text

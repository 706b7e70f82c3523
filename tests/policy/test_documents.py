"""Documents in pieces: lists and paragraphs under their path of headings."""

from holdfast.policy.language.documents import is_text
from tests.policy.scripts import scripts_in
from tests.rows import each

VALUES = {"BLOCK": "word " * 300, "LONG": "x" * 5_000}
globals().update(scripts_in(__file__, VALUES, told=lambda _, given: given["piece"].under(given["name"])))


@each(
    ("raw", "text"),
    [(b"plain", True), ("größe\t\r\n".encode(), True), (b"\x00\x01", False), (b"\x01\x02\x03ab", False), (b"", True)],
)
def test_binary_files_are_told_from_texts(raw: bytes, text: bool) -> None:
    assert is_text(raw) is text

"""Documents in pieces: lists and paragraphs under their path of headings."""

from holdfast.policy.language.documents import is_text
from tests.policy.scripts import scripts_in
from tests.rows import examples

VALUES = {"BLOCK": "word " * 300, "LONG": "x" * 5_000}
scripts_in(globals(), VALUES, told=lambda _, given: given["piece"].under(given["name"]))


@examples
def test_binary_files_are_told_from_texts(content: str, text: bool) -> None:
    assert is_text(content.encode()) is text

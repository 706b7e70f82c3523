"""Documents in pieces: lists and paragraphs under their path of headings."""

import time

from holdfast.policy.language.documents import Piece, is_text, pieces, releases, sections
from tests.rows import each, examples

README = """# Shop

[![Build](https://ci.example.org/badge.svg)](https://ci.example.org)

The shop sells shoes
to everybody.

## Setup

1. Install with `uv sync`.
2. Run `just test`
   before each push.

```sh
# no heading
uv run shop --port 8080
```

### On Linux
- [ ] Install libpq first.
ok
* a: b

## Rules
Short.
---
<!-- a remark -->
Never print; use the logger.
"""


def test_each_section_is_kept_whole_under_its_headings() -> None:
    assert [(" > ".join(one.path), one.text) for one in sections(README)] == [
        ("Shop", "The shop sells shoes\nto everybody."),
        (
            "Shop > Setup",
            "1. Install with `uv sync`.\n2. Run `just test`\n   before each push.\n\n```sh\n# no heading\nuv run shop --port 8080\n```",
        ),
        ("Shop > Setup > On Linux", "- [ ] Install libpq first.\nok\n* a: b"),
        ("Shop > Rules", "Short.\n---\n<!-- a remark -->\nNever print; use the logger."),
    ]


@examples
def test_the_text_of_a_document_is_never_altered(text: str) -> None:
    assert [piece.text for piece in sections(f"# Shop\n\n{text}\n")] == [text]


@each("text", ["**Bold** text", "Use ** for powers", "This needs Python 3. It includes sqlite."])
def test_an_item_of_a_plain_text_is_never_altered(text: str) -> None:
    assert [piece.text for piece in pieces(text)] == [text]
    assert [piece.text for piece in pieces(f"- {text}")] == [text]


@examples
def test_decoration_links_and_advertising_are_left_out(text: str) -> None:
    assert sections(f"# Shop\n\n{text}\n") == []


@each("heading", ["License", "Sponsors", "Our Contributors", "Table of Contents", "❤️ Backers", "Code of Conduct"])
def test_sections_that_help_no_one_at_work_are_left_out(heading: str) -> None:
    assert sections(f"# Shop\n\n## {heading}\n\nSome long text that stands below this heading.\n") == []


def test_headings_of_restructured_text_are_understood() -> None:
    text = "========\n Shop\n========\n\nRunning the tests\n=================\n\nRun::\n\n    pytest -x\n\nFaster\n~~~~~~\n\nUse ``-n 2`` for two workers.\n"
    assert [(" > ".join(one.path), one.text) for one in sections(text, markdown=False)] == [
        ("Shop > Running the tests", "Run::\n\n    pytest -x"),
        ("Shop > Running the tests > Faster", "Use ``-n 2`` for two workers."),
    ]


def test_a_long_section_is_split_between_blocks_and_what_is_too_long_is_left_out() -> None:
    block = "word " * 300
    parts = sections(f"# A\n\n{block}1\n\n{block}2\n\n{block}3\n\n```\n{'x' * 5_000}\n```\n")
    assert [len(part.text) for part in parts] == [3_004, 1_501]


def test_a_changelog_is_kept_release_by_release() -> None:
    text = "# Changes\n\n## 1.1 (2026-02-01)\n\n### Fixed\n\n- a\n- b\n\n## 1.0\n\n- first\n"
    assert [(one.path, one.text) for one in releases(text)] == [
        (("1.1 (2026-02-01)",), "Fixed\n\n- a\n- b"),
        (("1.0",), "- first"),
    ]


def test_a_hostile_document_costs_no_time() -> None:
    text = "# A\n\n" + "[![" * 20_000 + "\n\n" + "<a " * 20_000 + "\n\n" + ".. a\n  b\n" * 5_000
    before = time.process_time()
    sections(text)
    pieces(text)
    assert time.process_time() - before < 5


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

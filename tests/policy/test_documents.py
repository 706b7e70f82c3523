"""Documents in pieces: lists and paragraphs under their path of headings."""

import pytest

from holdfast.policy.language.documents import Piece, is_text, pieces

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


def test_each_thing_a_document_says_stands_under_its_headings() -> None:
    assert [(" > ".join(one.path), one.text) for one in pieces(README)] == [
        ("Shop", "The shop sells shoes\nto everybody."),
        ("Shop > Setup", "Install with `uv sync`."),
        ("Shop > Setup", "Run `just test`\n   before each push."),
        ("Shop > Setup", "```sh\n# no heading\nuv run shop --port 8080\n```"),
        ("Shop > Setup > On Linux", "Install libpq first."),
        ("Shop > Rules", "Short.\n---\n<!-- a remark -->\nNever print; use the logger."),
    ]


def test_text_that_is_no_markdown_has_no_headings() -> None:
    assert pieces("# not a heading\n\nPlain paragraph one.", markdown=False) == [
        Piece(path=(), text="# not a heading"),
        Piece(path=(), text="Plain paragraph one."),
    ]


def test_a_piece_is_told_with_where_it_stands() -> None:
    piece = Piece(path=("Setup", "On Linux"), text="Install libpq.")
    assert piece.under("README.md") == "[README.md > Setup > On Linux] Install libpq."
    assert piece.under("") == "[Setup > On Linux] Install libpq."
    assert Piece(path=(), text="x").under("") == "x"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("- tiny", []),
        ("- port: 80", ["port: 80"]),
        ("- a longer item", ["a longer item"]),
        ("***", []),
        ("", []),
        ("same thing twice\n\nsame thing twice", ["same thing twice"]),
        ("```\nan open fence\n\n# goes on", ["```\nan open fence\n\n# goes on"]),
    ],
)
def test_what_says_nothing_is_left_out(text: str, kept: list[str]) -> None:
    assert [one.text for one in pieces(text)] == kept


@pytest.mark.parametrize(
    ("raw", "text"),
    [(b"plain", True), ("größe\t\r\n".encode(), True), (b"\x00\x01", False), (b"\x01\x02\x03ab", False), (b"", True)],
)
def test_binary_files_are_told_from_texts(raw: bytes, text: bool) -> None:
    assert is_text(raw) is text

"""Where cited code stands: anchors read, spans found, and what counts as a change."""

from pathlib import Path

import pytest

from holdfast.adapters.source import essence, look
from holdfast.model.anchor import Anchor, CodeMark, bare_value, check_anchors, parse_anchor
from holdfast.model.errors import Invalid
from holdfast.model.event import Json
from tests.rows import each, examples, refused

PYTHON = (Path(__file__).parents[1] / "data" / "shop.py.txt").read_bytes()


@examples
def test_every_form_of_an_anchor_is_read(text: str, anchor: Json) -> None:
    assert parse_anchor(text) == Anchor(**anchor)


@each("text", ["", "a\nb", "x" * 600, "a\0b"])
def test_what_is_no_anchor_is_said(text: str) -> None:
    refused(Invalid, parse_anchor, text)
    refused(Invalid, check_anchors, tuple(f"f{n}.py" for n in range(65)))


@examples
def test_a_symbol_is_found_in_each_language(path: str, source: str, name: str, span: list[int]) -> None:
    file = {path: source.encode() or PYTHON}.get
    mark = look(parse_anchor(f"{path}::{name}"), file)
    assert (mark.there, mark.first, mark.last) == (True, *span)
    assert look(parse_anchor(f"{path}::nowhere"), file).there is False


def test_without_its_grammar_only_the_cited_text_of_a_symbol_is_recognised(monkeypatch: pytest.MonkeyPatch) -> None:
    anchor, text = parse_anchor("a.c::pay"), b"int pay(int a) {\n  return 0;\n}\n"
    cited = look(anchor, {"a.c": text}.get)
    monkeypatch.setattr("holdfast.adapters.source.missing_grammars", lambda: {"c"})
    assert look(anchor, {"a.c": b"// moved\n\n" + text}.get, cited).hash == cited.hash
    assert look(anchor, {"a.c": text.replace(b"0", b"1")}.get, cited).there is None  # it may have changed
    assert look(anchor, {"a.c": text}.get).there is True
    assert look(anchor, {"a.c": b"int buy;\n"}.get, cited).there is False


@each("decorator", ["@retry(5)", "@retry(\n    5,\n)"])
def test_a_decorator_is_part_of_what_it_decorates(decorator: str) -> None:
    anchor, bare = parse_anchor("a.py::pay"), "def pay():\n    return 1\n"
    plain = look(anchor, {"a.py": bare.encode()}.get)
    added = look(anchor, {"a.py": f"{decorator}\n{bare}".encode()}.get, plain)
    changed = look(anchor, {"a.py": f"{decorator.replace('5', '6')}\n{bare}".encode()}.get, added)
    assert len({plain.hash, added.hash, changed.hash}) == 3


@examples
def test_a_value_is_found_in_each_kind_of_file(path: str, source: str, name: str, value: str) -> None:
    file = {path: source.encode() or PYTHON}.get
    assert look(parse_anchor(f"{path}::{name}=0"), file).value == value
    assert look(parse_anchor(f"{path}::nowhere=0"), file).there is False


@examples
def test_a_version_is_what_a_lock_file_says(name: str, file: str, source: str, found: str) -> None:
    assert look(parse_anchor(f"version:{name}=8.2"), {file: source.encode()}.get).value == found
    assert look(parse_anchor(f"version:{name}=8.2"), lambda _: None).there is None


@examples
def test_what_code_says_is_a_change_but_not_its_layout_or_its_remarks(
    extension: str, one: str, other: str, same: bool
) -> None:
    assert (essence(one, extension) == essence(other, extension)) == same


def test_lines_are_followed_wherever_and_however_they_stand() -> None:
    anchor = parse_anchor("a.py:L18-L19")
    cited = look(anchor, {"a.py": PYTHON}.get)
    moved = PYTHON.replace(b"import os\n", b"import os\nimport sys\n\nMORE = 1\n").replace(
        b"def run(self):", b"def run(\n        self,\n    ):"
    )
    found = look(anchor, {"a.py": moved}.get, cited)
    assert (found.hash, found.first, found.last) == (cited.hash, 21, 24)
    assert look(anchor, {"a.py": b"one line\n"}.get, cited).there is False


@examples
def test_a_value_is_compared_bare(text: str, value: str) -> None:
    assert bare_value(text) == value


def test_a_file_that_is_binary_or_cannot_be_read_exists_and_one_that_is_absent_is_gone() -> None:
    assert look(parse_anchor("a.bin"), {"a.bin": b"\0\1"}.get).hash
    assert look(parse_anchor("a.bin::x"), {"a.bin": b"\0\1"}.get).there is None
    for anchor in ("a.py", "a.py::pay", "a.py:L3-L9"):
        assert look(parse_anchor(anchor), lambda _: True) == CodeMark()
        assert look(parse_anchor(anchor), lambda _: None) == CodeMark(there=False)

"""Where cited code stands: anchors read, spans found, and what counts as a change."""

import pytest

from holdfast.adapters.source import Unreadable, essence, look, only
from holdfast.model.anchor import (
    Anchor,
    CodeMark,
    CodeSnapshot,
    bare_value,
    check_anchors,
    parse_anchor,
    snapshot_from_json,
    snapshot_to_json,
)
from holdfast.model.errors import Invalid
from tests.rows import each

PYTHON = b"""import os

LIMIT = 5  # most


@decorated
def pay(
    amount,
    times=2,
):
    # Try again.
    return amount * times


class Shop:
    retries: int = 3

    def run(self):
        return 1


def after():
    return 0
"""


@each(
    ("text", "anchor"),
    [
        ("app.py", Anchor(kind="path", path="app.py")),
        ("./src/app.py", Anchor(kind="path", path="src/app.py")),
        ("src\\app.py", Anchor(kind="path", path="src/app.py")),
        ("app.py::Shop.run", Anchor(kind="symbol", path="app.py", name="Shop.run")),
        ("app.cpp::Shop::run", Anchor(kind="symbol", path="app.cpp", name="Shop.run")),
        ("app.py:L3-L9", Anchor(kind="lines", path="app.py", first=3, last=9)),
        ("app.py:12", Anchor(kind="lines", path="app.py", first=12, last=12)),
        ("app.py::LIMIT=5", Anchor(kind="value", path="app.py", name="LIMIT", value="5")),
        ("!old.py", Anchor(kind="absent", path="old.py")),
        ("version:click==8.2", Anchor(kind="version", name="click", value="8.2")),
        ("version:python 3.11", Anchor(kind="version", name="python", value="3.11")),
        ("version:unreadable", Anchor(kind="version")),
        ("commit:abc1234", Anchor(kind="commit", value="abc1234")),
        ("C:/work/app.py", Anchor(kind="path", path="C:/work/app.py")),
    ],
)
def test_every_form_of_an_anchor_is_read(text: str, anchor: Anchor) -> None:
    assert parse_anchor(text) == anchor


@each("text", ["", "a\nb", "x" * 600, "a\0b"])
def test_what_is_no_anchor_is_said(text: str) -> None:
    with pytest.raises(Invalid):
        parse_anchor(text)
    with pytest.raises(Invalid):
        check_anchors(tuple(f"f{n}.py" for n in range(65)))


@each(
    ("path", "source", "name", "span"),
    [
        ("a.py", PYTHON, "pay", (6, 12)),
        ("a.py", PYTHON, "Shop", (15, 19)),
        ("a.py", PYTHON, "Shop.run", (18, 19)),
        ("a.py", PYTHON, "LIMIT", (3, 3)),
        ("a.py", b"def broken(:\n    x = 1\n\ndef fine():\n    return 1\n", "fine", (4, 5)),
        ("a.ts", b"export const pay = (a: number) => {\n  return a;\n};\n", "pay", (1, 3)),
        ("a.ts", b"export class Shop {\n  run() {\n    return 1;\n  }\n}\n", "Shop.run", (2, 4)),
        ("a.js", b"pay(1);\nfunction pay(a) {\n  return a;\n}\n", "pay", (2, 4)),
        ("a.go", b"package x\n\nfunc (s *Shop) Pay() int {\n\treturn 1\n}\n", "Shop.Pay", (3, 5)),
        ("a.rs", b"impl Shop {\n    pub fn pay(&self) -> i32 { 1 }\n}\n", "Shop.pay", (2, 2)),
        ("a.java", b"class Shop {\n  int pay() {\n    return 1;\n  }\n}\n", "Shop.pay", (2, 4)),
        ("a.rb", b"class Shop\n  def pay\n    1\n  end\nend\n", "Shop.pay", (2, 4)),
        ("a.c", b"static int *pay(int a) {\n  return 0;\n}\n", "pay", (1, 3)),
        ("a.cpp", b"int Shop::pay() {\n  return 1;\n}\n", "Shop.pay", (1, 3)),
        ("a.cs", b"class Shop {\n  int Pay() { return 1; }\n}\n", "Shop.Pay", (2, 2)),
        ("a.php", b"<?php\nclass Shop {\n  function pay() { return 1; }\n}\n", "Shop.pay", (3, 3)),
        ("a.sh", b"set -e\npay() {\n  echo 1\n}\n", "pay", (2, 4)),
        ("a.elm", b"x = 1\n\npay amount =\n    amount * 2\n\nlater = 3\n", "pay", (3, 4)),
    ],
)
def test_a_symbol_is_found_in_each_language(path: str, source: bytes, name: str, span: tuple[int, int]) -> None:
    mark = look(parse_anchor(f"{path}::{name}"), only(path, source))
    assert (mark.there, mark.first, mark.last) == (True, *span)
    assert look(parse_anchor(f"{path}::nowhere"), only(path, source)).there is False


def test_without_its_grammar_only_the_cited_text_of_a_symbol_is_recognised(monkeypatch: pytest.MonkeyPatch) -> None:
    anchor, text = parse_anchor("a.c::pay"), b"int pay(int a) {\n  return 0;\n}\n"
    cited = look(anchor, only("a.c", text))
    monkeypatch.setattr("holdfast.adapters.source.missing_grammars", lambda: {"c"})
    assert look(anchor, only("a.c", b"// moved\n\n" + text), cited).hash == cited.hash
    assert look(anchor, only("a.c", text.replace(b"0", b"1")), cited).there is None  # it may have changed
    assert look(anchor, only("a.c", text)).there is True
    assert look(anchor, only("a.c", b"int buy;\n"), cited).there is False


@each("decorator", ["@retry(5)", "@retry(\n    5,\n)"])
def test_a_decorator_is_part_of_what_it_decorates(decorator: str) -> None:
    anchor, bare = parse_anchor("a.py::pay"), "def pay():\n    return 1\n"
    plain = look(anchor, only("a.py", bare.encode()))
    added = look(anchor, only("a.py", f"{decorator}\n{bare}".encode()), plain)
    changed = look(anchor, only("a.py", f"{decorator.replace('5', '6')}\n{bare}".encode()), added)
    assert len({plain.hash, added.hash, changed.hash}) == 3


@each(
    ("path", "source", "name", "value"),
    [
        ("a.py", PYTHON, "LIMIT", "5"),
        ("a.py", PYTHON, "Shop.retries", "3"),
        ("a.ts", b"export const LIMIT: number = 1_000;\n", "LIMIT", "1000"),
        ("a.yaml", b"limits:\n  max_size: '10'  # bytes\n", "limits.max_size", "10"),
        ("a.json", b'{\n  "port": 8080,\n}\n', "port", "8080"),
        ("a.toml", b'name = "shop"\n', "name", "shop"),
        (".env", b"export PORT=80\n", "PORT", "80"),
        ("a.go", b"const Limit = 5\n", "Limit", "5"),
    ],
)
def test_a_value_is_found_in_each_kind_of_file(path: str, source: bytes, name: str, value: str) -> None:
    assert look(parse_anchor(f"{path}::{name}=0"), only(path, source)).value == value
    assert look(parse_anchor(f"{path}::nowhere=0"), only(path, source)).there is False


@each(
    ("name", "file", "source", "found"),
    [
        ("click", "uv.lock", b'name = "click"\nversion = "8.2.1"\n', "8.2"),
        ("react", "package-lock.json", b'{"packages": {"node_modules/react": {"version": "19.0.0"}}}', "19.0.0"),
        ("react", "package.json", b'{"dependencies": {"react": "^18.2.0"}}', "18.2.0"),
        ("serde", "Cargo.lock", b'name = "serde"\nversion = "1.0.9"\n', "1.0.9"),
        ("example.org/x", "go.mod", b"require example.org/x v1.4.0\n", "1.4.0"),
        ("rails", "Gemfile.lock", b"    rails (7.1.0)\n", "7.1.0"),
        ("flask", "requirements.txt", b"flask==3.0.1\n", "3.0.1"),
        ("python", ".python-version", b"3.11.7\n", "3.11.7"),
    ],
)
def test_a_version_is_what_a_lock_file_says(name: str, file: str, source: bytes, found: str) -> None:
    assert look(parse_anchor(f"version:{name}=8.2"), only(file, source)).value == found
    assert look(parse_anchor(f"version:{name}=8.2"), lambda _: None).there is None


@each(
    ("extension", "one", "other"),
    [
        ("py", "def f(a, b):\n    return a  # why", "def f(\n    a,\n    b,\n):\n    return a"),
        ("py", "x = 'a # b'", 'x = "a # b"'),
        ("ts", "f(a); // call", "f( a );\n/* call */"),
        ("sql", "select 1 -- one", "select   1"),
        ("md", "Some words\nhere", "Some words here"),
    ],
)
def test_layout_and_remarks_are_no_change(extension: str, one: str, other: str) -> None:
    assert essence(one, extension) == essence(other, extension)


@each(
    ("extension", "one", "other"),
    [
        ("py", "x = 'a # b'", "x = 'a'"),
        ("py", "return a", "return b"),
        ("ts", "a // b\n+ c", "a"),
        ("md", "# a", "# b"),
    ],
)
def test_what_code_says_is(extension: str, one: str, other: str) -> None:
    assert essence(one, extension) != essence(other, extension)


def test_lines_are_followed_wherever_and_however_they_stand() -> None:
    anchor = parse_anchor("a.py:L18-L19")
    cited = look(anchor, only("a.py", PYTHON))
    moved = PYTHON.replace(b"import os\n", b"import os\nimport sys\n\nMORE = 1\n").replace(
        b"def run(self):", b"def run(\n        self,\n    ):"
    )
    found = look(anchor, only("a.py", moved), cited)
    assert (found.hash, found.first, found.last) == (cited.hash, 21, 24)
    assert look(anchor, only("a.py", b"one line\n"), cited).there is False


def test_binary_files_have_no_inside() -> None:
    assert look(parse_anchor("a.bin"), only("a.bin", b"\0\1")).hash
    assert look(parse_anchor("a.bin::x"), only("a.bin", b"\0\1")).there is None


def test_what_was_seen_is_read_back_and_rubbish_is_nothing() -> None:
    snapshot = CodeSnapshot(
        commit="c1", marks={"a.py": CodeMark(blob="b", hash="h", size=3, first=1, last=2), "!b": CodeMark(there=False)}
    )
    assert snapshot_from_json(snapshot_to_json(snapshot)) == snapshot
    assert snapshot_from_json({"marks": {"a.py": 5, "b.py": {"hash": 5, "first": "x"}}}) == CodeSnapshot(
        marks={"b.py": CodeMark()}
    )
    nothing: tuple[object, ...] = (None, 5, {}, {"marks": []})
    for rubbish in nothing:
        assert snapshot_from_json(rubbish) is None


@each(("text", "value"), [("'a b'", "ab"), ("5;  // five", "5"), ("1_000", "1000"), ('"x",', "x")])
def test_a_value_is_compared_bare(text: str, value: str) -> None:
    assert bare_value(text) == value


def test_a_file_that_cannot_be_read_exists_and_one_that_is_absent_is_gone() -> None:
    for anchor in ("a.py", "a.py::pay", "a.py:L3-L9"):
        assert look(parse_anchor(anchor), lambda _: Unreadable()) == CodeMark()
        assert look(parse_anchor(anchor), lambda _: None) == CodeMark(there=False)

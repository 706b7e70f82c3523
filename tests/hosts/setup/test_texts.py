"""JSON and TOML files of other programs, changed in one place."""

import json
import sys
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from holdfast.hosts.setup.jsontext import MISSING, append, put, value_at, value_of, without
from holdfast.hosts.setup.tomltext import put as put_toml
from holdfast.hosts.setup.tomltext import without as without_toml
from holdfast.model.errors import InvalidFile
from tests.conftest import ran
from tests.rows import each, examples, missing, refused

ENTRY = {"command": "run me", "args": ["a", "b"]}
DOCUMENTS = st.dictionaries(
    st.text(max_size=5),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=8,
    ),
    max_size=4,
)
INDENTS = st.sampled_from([None, 0, 1, 2, 3, 4, 8, "\t"])


@given(document=DOCUMENTS, indent=INDENTS, crlf=st.booleans())
def test_what_is_put_in_comes_out_and_nothing_else_changes(document: dict[str, Any], indent: Any, crlf: bool) -> None:
    document = {key: value for key, value in document.items() if key not in ("servers", "hooks")}
    text = json.dumps(document, indent=indent)
    text = text.replace("\n", "\r\n") if crlf else text
    more = append(put(text, ("servers", "ours"), ENTRY), ("hooks", "Start"), {"hooks": [ENTRY]})
    assert value_of(more) == {**document, "servers": {"ours": ENTRY}, "hooks": {"Start": [{"hooks": [ENTRY]}]}}
    assert without(without(more, ("hooks",)), ("servers",)) == text or not document


@given(document=DOCUMENTS, items=st.lists(st.integers() | st.lists(st.integers(), max_size=2)), indent=INDENTS)
def test_any_member_and_any_element_can_be_taken_out(document: dict[str, Any], items: list[Any], indent: Any) -> None:
    document["list"] = items
    text = json.dumps(document, indent=indent)
    for key in document:
        assert value_of(without(text, (key,))) == {name: value for name, value in document.items() if name != key}
    for place in range(len(items)):
        assert value_of(without(text, ("list", place))) == {**document, "list": items[:place] + items[place + 1 :]}


def test_comments_and_spare_commas_survive() -> None:
    text = '{\n\t// first\n\t"theme": "dark", // why not\n\t"servers": {\n\t\t"x": {} /* theirs */\n\t},\n}\n'
    more = put(text, ("servers", "ours"), ENTRY)
    assert missing(more, "// first", '"x": {}, /* theirs */\n\t\t"ours": {\n\t\t\t"command"') == []
    assert without(more, ("servers", "ours")) == text
    added = append(text, ("list",), 1)
    assert added.endswith('},\n\t"list": [\n\t\t1\n\t],\n}\n')
    assert without(added, ("list",)) == text


@examples
def test_an_entry_is_laid_out_like_its_neighbours(text: str, after: str) -> None:
    assert put(text, ("a", "b"), 1) == after


def test_a_value_is_found_and_replaced_where_it_stands() -> None:
    text = '{\n  "a": {\n    "b": [1]\n  }, // here\n  "c": 2\n}'
    assert put(text, ("a", "b"), "x") == '{\n  "a": {\n    "b": "x"\n  }, // here\n  "c": 2\n}'
    assert put(text, ("a",), {"d": 1}) == '{\n  "a": {\n    "d": 1\n  }, // here\n  "c": 2\n}'
    assert value_at(text, ("a", "b", 0)) == 1
    assert {value_at(text, path) for path in (("a", "b", 1), ("a", "b", "c"), ("d",))} == {MISSING}


@each("text", ["{", '{"a": }', '{"a": 1 "b": 2}', "{a: 1}", '{"a": 1}}', "nope", '{"a": [1, }', "[1", '{"a"}', "/* x"])
def test_broken_json_is_said_with_its_line(text: str) -> None:
    refused(InvalidFile, put, text, ("a", "b"), 1, says="line 1")


@each("text", ['{"a": 1}', '{"a": null}', '{"a": []}', "[]"])
def test_a_place_taken_by_something_else_is_not_overwritten(text: str) -> None:
    refused(InvalidFile, put, text, ("a", "b"), 1, says="is not an object")
    refused(InvalidFile, append, '{"a": {}}', ("a",), 1)


# TOML, table by table.
PATH = ("mcp_servers", "ours")
VALUE = {"command": "/a b/python", "args": ["-m", 'x"y'], "env": {"HOME_OF": "C:\\x"}, "approve": True}


def test_what_stands_behind_it_stays_and_what_is_inside_goes() -> None:
    text = put_toml('model = "x"\n', PATH, VALUE) + "\n# about b\n[b]\nc = 1\n"
    assert without_toml(text, PATH) == 'model = "x"\n\n# about b\n[b]\nc = 1\n'
    text = put_toml("", PATH, {"command": "x"}) + '\n[mcp_servers.ours.env]\nA = "1"\n\n[z]\ny = 1\n'
    assert without_toml(text, PATH).strip() == "[z]\ny = 1"


@each("newline", ["\n", "\r\n"])
def test_only_the_keys_that_change_are_written_again(newline: str) -> None:
    text = '[mcp_servers.ours]\n# slow here\ncommand = "old" # why\nargs = [\n  "a", # one\n]\nn = 1\n\n[b]\nc=1\n'
    after = '[mcp_servers.ours]\n# slow here\ncommand = "new" # why\nargs = ["b"]\nn = 1\nenv = {A = "1"}\n\n[b]\nc=1\n'
    mended = put_toml(text.replace("\n", newline), PATH, {"command": "new", "args": ["b"], "env": {"A": "1"}})
    assert mended == after.replace("\n", newline)


@each("text", ["mcp_servers = { ours = { command = 'x' } }\n", "[mcp_servers]\nours = { command = 'x' }\n", "not toml"])
def test_what_is_written_in_another_way_is_left_alone(text: str) -> None:
    refused(InvalidFile, put_toml, text, PATH, VALUE)
    refused(InvalidFile, without_toml, text, PATH)


def test_a_file_that_cannot_be_written_as_it_was_is_left_alone() -> None:
    text = '[[a]]\nb = 1\n[mcp_servers.ours]\ncommand = "x"\n[[a]]\nb = 2\n'
    refused(InvalidFile, put_toml, text, PATH, VALUE, says="without changing other lines")
    assert without_toml(text, PATH) == "[[a]]\nb = 1\n[[a]]\nb = 2\n"


def test_tomlkit_is_imported_only_to_edit() -> None:
    code = "import sys; from holdfast.hosts.setup import apply, checks; import holdfast.compose.settings; sys.exit('tomlkit' in sys.modules)"
    assert ran([sys.executable, "-c", code]).returncode == 0

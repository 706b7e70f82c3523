"""TOML files of other programs, changed table by table."""

import subprocess
import sys

from holdfast.hosts.setup.tomltext import put, without
from holdfast.model.errors import InvalidFile
from tests.rows import each, refused

PATH = ("mcp_servers", "ours")
VALUE = {"command": "/a b/python", "args": ["-m", 'x"y'], "env": {"HOME_OF": "C:\\x"}, "approve": True}


def test_what_stands_behind_it_stays_and_what_is_inside_goes() -> None:
    text = put('model = "x"\n', PATH, VALUE) + "\n# about b\n[b]\nc = 1\n"
    assert without(text, PATH) == 'model = "x"\n\n# about b\n[b]\nc = 1\n'
    text = put("", PATH, {"command": "x"}) + '\n[mcp_servers.ours.env]\nA = "1"\n\n[z]\ny = 1\n'
    assert without(text, PATH).strip() == "[z]\ny = 1"


@each("newline", ["\n", "\r\n"])
def test_only_the_keys_that_change_are_written_again(newline: str) -> None:
    text = '[mcp_servers.ours]\n# slow here\ncommand = "old" # why\nargs = [\n  "a", # one\n]\nn = 1\n\n[b]\nc=1\n'
    after = '[mcp_servers.ours]\n# slow here\ncommand = "new" # why\nargs = ["b"]\nn = 1\nenv = {A = "1"}\n\n[b]\nc=1\n'
    mended = put(text.replace("\n", newline), PATH, {"command": "new", "args": ["b"], "env": {"A": "1"}})
    assert mended == after.replace("\n", newline)


@each("text", ["mcp_servers = { ours = { command = 'x' } }\n", "[mcp_servers]\nours = { command = 'x' }\n", "not toml"])
def test_what_is_written_in_another_way_is_left_alone(text: str) -> None:
    refused(InvalidFile, put, text, PATH, VALUE)
    refused(InvalidFile, without, text, PATH)


def test_a_file_that_cannot_be_written_as_it_was_is_left_alone() -> None:
    text = '[[a]]\nb = 1\n[mcp_servers.ours]\ncommand = "x"\n[[a]]\nb = 2\n'
    refused(InvalidFile, put, text, PATH, VALUE, says="without changing other lines")
    assert without(text, PATH) == "[[a]]\nb = 1\n[[a]]\nb = 2\n"


def test_tomlkit_is_imported_only_to_edit() -> None:
    code = "import sys; from holdfast.hosts.setup import apply, checks; import holdfast.compose.settings; sys.exit('tomlkit' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

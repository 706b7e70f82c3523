"""TOML files of other programs, changed table by table."""

import pytest

from holdfast.hosts.setup.tomltext import add_table, mend_table, table_of, without_table
from holdfast.model.errors import InvalidFile

PATH = ("mcp_servers", "ours")
VALUE = {"command": "/a b/python", "args": ["-m", 'x"y'], "env": {"HOME_OF": "C:\\x"}, "approve": True}
TEXTS = [
    "",
    "# mine\n",
    '# mine\nmodel = "x" # why\n\n[mcp_servers.other]\ncommand = "y"\n# the end',
    '[mcp_servers]\n[mcp_servers.other]\ncommand = "y"\n',
    'model = "x"\r\n\r\n[a]\r\nb = 1\r\n',
]


@pytest.mark.parametrize("text", TEXTS)
def test_a_table_goes_in_and_comes_out(text: str) -> None:
    more = add_table(text, PATH, VALUE)
    assert table_of(more, PATH) == VALUE
    assert more.startswith(text)
    assert without_table(more, PATH).rstrip() == text.rstrip()


def test_tables_behind_it_and_their_comments_stay() -> None:
    text = add_table('model = "x"\n', PATH, VALUE) + "\n# about b\n[b]\nc = 1\n"
    assert without_table(text, PATH) == 'model = "x"\n\n# about b\n[b]\nc = 1\n'


def test_tables_inside_it_go_too() -> None:
    text = add_table("", PATH, {"command": "x"}) + '\n[mcp_servers.ours.env]\nA = "1"\n\n[z]\ny = 1\n'
    assert without_table(text, PATH).strip() == "[z]\ny = 1"


def test_a_table_is_mended_line_by_line() -> None:
    text = '[mcp_servers.ours]\n# slow here\nstartup_timeout_sec = 30\ncommand = "old" \nargs = ["-m"]\n\n[b]\nc = 1\n'
    assert mend_table(text, PATH, {"command": "new", "env": {"A": "1"}}) == (
        '[mcp_servers.ours]\nenv = { A = "1" }\n# slow here\nstartup_timeout_sec = 30\ncommand = "new"\n'
        'args = ["-m"]\n\n[b]\nc = 1\n'
    )


@pytest.mark.parametrize(
    "text",
    ["mcp_servers = { ours = { command = 'x' } }\n", "[mcp_servers]\nours = { command = 'x' }\n", "not toml"],
)
def test_what_is_written_in_another_way_is_left_alone(text: str) -> None:
    with pytest.raises(InvalidFile):
        add_table(text, PATH, VALUE)
    with pytest.raises(InvalidFile):
        mend_table(text, PATH, VALUE)
    with pytest.raises(InvalidFile):
        without_table(text, PATH)


def test_a_value_over_several_lines_is_not_guessed_at() -> None:
    with pytest.raises(InvalidFile, match="several lines"):
        mend_table('[mcp_servers.ours]\nargs = [\n  "a",\n]\n', PATH, {"args": ["b"]})

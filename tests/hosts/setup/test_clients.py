"""Every client of the table: into whatever its files hold, twice, and out again byte by byte."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from holdfast.hosts.setup import jsontext, tomltext
from holdfast.hosts.setup.apply import apply, read_manifest
from holdfast.hosts.setup.clients import BY_NAME, CLIENTS, Choices, Client, file_of, has_hooks, installed, wanted
from holdfast.hosts.setup.edits import Entry, command_line, own_hooks, placing, words_of
from holdfast.hosts.setup.machine import Level, Machine, check_lasting
from holdfast.model.errors import Invalid
from holdfast.model.trail import CLIENT_EVENTS as EVENTS
from tests.conftest import new_file, new_folder
from tests.hosts.setup.conftest import Place
from tests.rows import examples, refused, rows, sampled

LEVELS: tuple[Level, Level] = ("user", "project")
EACH = pytest.mark.parametrize("client", CLIENTS, ids=[client.name for client in CLIENTS])
JSON_TEXTS: dict[str, str] = rows("settings_of_clients_in_json")
TOML_TEXTS: dict[str, str] = rows("settings_of_clients_in_toml")


@EACH
def test_new_files_are_made_and_removed_with_their_folders(place: Place, client: Client) -> None:
    before, folders = place.files(), place.folders()
    for level in LEVELS:
        place.init(client.name, level=level, instructions=True, gitignore=level == "project")
        assert place.files() != before or not client.server.project
        assert not any(one.changes for one in place.plan(client.name, level=level, instructions=True)[0])
        place.uninstall()
        assert (place.files(), place.folders()) == (before, folders)
        assert not place.store.exists()


@EACH
def test_files_of_any_look_are_kept_byte_by_byte(place: Place, client: Client) -> None:
    wants = wanted(Choices(clients=(client,), instructions=True), place.machine, place.made)
    paths = {want.path for want in wants if want.path.suffix not in (".js", ".yaml")}
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        texts = {".toml": TOML_TEXTS, ".md": {"usual": "# Rules\n\nBe kind.\n", "no end": "x"}}
        for name, text in sampled(texts.get(path.suffix, JSON_TEXTS).items(), 2):
            path.write_bytes(text.encode())
            path.chmod(0o640)
            plan = place.init(client.name, instructions=True)
            assert [one.left_alone for one in plan if one.left_alone] == [], name
            assert keeps_everything(path, text), name
            again = place.files()
            place.init(client.name, instructions=True)
            assert place.files() == again, name
            place.uninstall()
            assert path.read_bytes() == text.encode(), name
            assert path.stat().st_mode & 0o777 == 0o640
        path.unlink()


@EACH
def test_out_of_a_changed_file_comes_only_what_is_ours(place: Place, client: Client) -> None:
    place.init(client.name, instructions=True)
    paths = [Path(name) for name in read_manifest(place.store).files if Path(name).suffix not in (".js", ".yaml")]
    for path in paths:
        text = path.read_bytes().decode()
        changed = (
            text.replace("{", '{\n  "theirs": {"kept": true},', 1) if path.suffix == ".json" else text + "\n# theirs\n"
        )
        path.write_bytes(changed.encode())
    place.uninstall()
    for path in paths:
        left = path.read_text()
        assert "theirs" in left
        assert "holdfast" not in left.lower()
        if path.suffix == ".json":
            skeleton = (
                dict(client.hooks.skeleton) if client.hooks and path.name in ("holdfast.json", "hooks.json") else {}
            )
            assert json.loads(left) == {"theirs": {"kept": True}, **skeleton}


@EACH
def test_a_broken_file_is_left_alone_with_what_to_put_there(place: Place, client: Client) -> None:
    path = file_of(client.server, "user", place.machine)
    assert path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b'{"mcpServers": ' if client.server.form != "yaml" else b"name: theirs\n")
    before = path.read_bytes()
    left = [left for one in place.init(client.name) for left in one.left_alone if left.path == path]
    assert len(left) == 1
    assert place.made.python in left[0].snippet
    assert path.read_bytes() == before
    place.uninstall()
    assert path.read_bytes() == before


@EACH
def test_stale_paths_are_mended_and_additions_stay(place: Place, client: Client) -> None:
    place.moved(python="/gone/python", hook="/gone/holdfast/hosts/hooks/client.py").init(client.name)
    path = file_of(client.server, "user", place.machine)
    assert path
    text = path.read_text()
    path.write_text(text.replace('"command":', '"timeout": 7,\n"command":') if path.suffix == ".json" else text)
    place.init(client.name)
    assert "/gone" not in "".join(content.decode() for content in place.files().values())
    assert ('"timeout": 7' in path.read_text()) == (path.suffix == ".json")
    before = place.files()
    place.init(client.name)
    assert place.files() == before
    place.uninstall()
    assert "holdfast" not in "".join(content.decode() for content in place.files().values())


@EACH
def test_every_hook_runs_our_file_with_its_event(place: Place, client: Client) -> None:
    spaced = place.moved(python="/with a space/python3", home="/store's folder")
    spaced.init(client.name)
    path = file_of(client.hooks, "user", place.machine) if client.hooks else None
    if client.hooks is None or path is None:
        return
    listed = jsontext.value_of(path.read_text())["hooks"]
    by_theirs = {theirs: event for event, theirs in client.hooks.events.items()}
    assert set(by_theirs.values()) <= set(EVENTS)
    assert list(listed) == list(by_theirs)
    for theirs, items in listed.items():
        [(_, hook)] = own_hooks(items)
        start = ["/with a space/python3", "-I", "-S", place.made.hook, by_theirs[theirs]]
        assert command_line(hook) == [*start, "--client", client.name, "--home", "/store's folder"]


@EACH
def test_a_client_is_recognised_by_its_files_or_its_program(place: Place, client: Client, tmp_path: Path) -> None:
    assert client not in installed(place.machine)
    new_folder(place.path(client.signs[0]))
    assert client in installed(place.machine)
    for name in client.programs:
        (tmp_path / name).touch(mode=0o755)
        with_path = {"PATH": str(tmp_path)}
        machine = Machine(system="Linux", home=tmp_path / "none", project=tmp_path, environment=with_path)
        assert client in installed(machine)


def test_paths_follow_the_system_and_the_variables_that_move_them(tmp_path: Path) -> None:
    def path(template: str, system: str, **environment: str) -> str:
        machine = Machine(system=system, home=Path("/h"), project=tmp_path, environment=environment)
        return machine.path(template).as_posix()

    assert path("{claude_json}", "Linux") == "/h/.claude.json"
    assert path("{claude_json}", "Linux", CLAUDE_CONFIG_DIR="/c") == "/c/.claude.json"
    assert path("{claude}/settings.json", "Darwin") == "/h/.claude/settings.json"
    assert path("{codex}", "Linux", CODEX_HOME="/x") == "/x"
    assert path("{copilot}", "Linux", COPILOT_HOME="/x") == "/x"
    assert path("{support}/Claude", "Darwin") == "/h/Library/Application Support/Claude"
    assert path("{support}/Claude", "Windows", APPDATA="/r") == "/r/Claude"
    assert path("{support}/Code", "Linux", XDG_CONFIG_HOME="/c") == "/c/Code"
    assert path("{zed}", "Windows", APPDATA="/r") == "/r/Zed"
    assert path("{zed}", "Darwin") == "/h/.config/zed"
    assert path("{devin}", "Darwin") == "/h/.config/devin"


def test_entries_have_the_shape_each_client_reads(place: Place) -> None:
    names = [client.name for client in CLIENTS]
    place.init(*names)
    server = [place.made.python, "-P", "-m", "holdfast", "mcp"]

    def read(template: str) -> Any:
        return jsontext.value_of(place.path(template).read_text())

    stdio = {"command": server[0], "args": server[1:]}
    assert read("{claude_json}") == {"mcpServers": {"holdfast": {"type": "stdio", **stdio}}}
    assert read("{claude}/settings.json")["permissions"] == {"allow": ["mcp__holdfast__*"]}
    assert read("{claude}/settings.json")["hooks"]["SessionEnd"][0]["hooks"][0]["timeout"] == 1
    assert read("{gemini}/settings.json")["hooks"]["BeforeAgent"][0]["hooks"][0]["timeout"] == 5000
    assert read("{copilot}/mcp-config.json")["mcpServers"]["holdfast"] == {"type": "local", "tools": ["*"], **stdio}
    assert read("{copilot}/hooks/holdfast.json")["version"] == 1
    assert read("{copilot}/hooks/holdfast.json")["hooks"]["sessionEnd"][0]["timeoutSec"] == 1
    assert read("{home}/.cursor/hooks.json")["hooks"]["stop"][0]["timeout"] == 5
    assert read("{opencode}/opencode.json")["mcp"]["holdfast"] == {"type": "local", "command": server, "enabled": True}
    assert read("{support}/Code/User/mcp.json") == {"servers": {"holdfast": {"type": "stdio", **stdio}}}
    assert read("{zed}/settings.json") == {"context_servers": {"holdfast": stdio}}
    codex = tomltext.value_of(place.path("{codex}/config.toml").read_text())
    assert codex == {"mcp_servers": {"holdfast": {"default_tools_approval_mode": "approve", **stdio}}}
    yaml = place.path("{home}/.continue/mcpServers/holdfast.yaml").read_text().splitlines()
    assert f'    command: "{server[0]}"' in yaml
    assert '    args: ["-P", "-m", "holdfast", "mcp"]' in yaml


def test_surfaces_and_another_store_are_told_to_the_server(place: Place) -> None:
    told = place.moved(variables={"HOLDFAST_HOME": "/s"})
    told.init("opencode", "cursor", "codex", surfaces={"cursor": ("gitmem", "core")})
    cursor = jsontext.value_at(place.path("{home}/.cursor/mcp.json").read_text(), ("mcpServers", "holdfast"))
    assert words_of(cursor)[-5:] == ["mcp", "--surface", "gitmem", "--surface", "core"]
    assert cursor["env"] == {"HOLDFAST_HOME": "/s"}
    opencode = jsontext.value_at(place.path("{opencode}/opencode.json").read_text(), ("mcp", "holdfast"))
    assert opencode["environment"] == {"HOLDFAST_HOME": "/s"}
    assert 'env = {HOLDFAST_HOME = "/s"}' in place.path("{codex}/config.toml").read_text()


def test_an_entry_written_by_hand_is_respected(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = place.path("{home}/.cursor/mcp.json")
    path.parent.mkdir()
    for entry in ({"command": "npx", "args": ["other"]}, {"url": "http://127.0.0.1:4653/mcp"}):
        path.write_text(json.dumps({"mcpServers": {"holdfast": entry}}))
        left = [left for one in place.init("cursor") for left in one.left_alone]
        assert [one.why for one in left] == ["An entry of that name is there already."]
        assert json.loads(path.read_text())["mcpServers"]["holdfast"] == entry
    by_name = {"mcpServers": {"holdfast": {"command": "holdfast", "args": ["mcp"]}}}
    path.write_text(json.dumps(by_name))
    (tmp_path / "holdfast").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    place.init("cursor")
    assert json.loads(path.read_text()) == by_name
    monkeypatch.chdir(tmp_path)
    path.write_text(
        json.dumps(by_name).replace('"holdfast", "args"', '"./holdfast", "args"')
    )  # a program of the project
    place.init("cursor")
    assert json.loads(path.read_text())["mcpServers"]["holdfast"]["command"] == place.made.python
    path.write_text(json.dumps(by_name))
    (tmp_path / "holdfast").unlink()
    place.init("cursor")
    assert json.loads(path.read_text())["mcpServers"]["holdfast"]["command"] == place.made.python


def test_hooks_of_others_and_what_they_share_with_ours_stay(place: Place) -> None:
    path = place.path("{claude}/settings.json")
    path.parent.mkdir()
    theirs = {"type": "command", "command": "python3 -I -S /x/holdfast/hosts/hooks/client.py"}
    path.write_text(json.dumps({"hooks": {"Stop": [{"matcher": "x", "hooks": [theirs]}]}}, indent=4))
    place.init("claude-code")
    hooks = json.loads(path.read_text())["hooks"]
    assert hooks["Stop"][0] == {"matcher": "x", "hooks": [theirs]}
    ours = hooks["Stop"][1]["hooks"][0]
    hooks["Stop"] = [{"matcher": "x", "hooks": [theirs, ours]}]
    path.write_text(json.dumps({"hooks": hooks}))
    place.uninstall()
    assert json.loads(path.read_text()) == {"hooks": {"Stop": [{"matcher": "x", "hooks": [theirs]}]}}


# Where ~/.claude/settings.json leads to, and what init says: nothing if it follows the link.
LINKS: dict[str, tuple[str, str]] = {
    "dotfiles": ("dotfiles/settings.json", ""),
    "nothing yet": ("dotfiles/new/settings.json", ""),
    "itself": ("all/home of mine/.claude/settings.json", "Too many levels of symbolic links"),
    "a folder": ("dotfiles", "it is no regular file"),
    "another user's file": ("theirs/settings.json", "which belongs to another user"),
}


@pytest.mark.parametrize("name", LINKS)
def test_a_link_is_followed_if_it_is_the_users_and_never_replaced(place: Place, tmp_path: Path, name: str) -> None:
    target, why = LINKS[name]
    if name == "another user's file" and os.geteuid():
        pytest.skip("only root can give a file to someone else")
    for folder in ("dotfiles", "theirs"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "settings.json").write_text('{"theme": "dark"}\n')
    if not os.geteuid():
        os.chown(tmp_path / "theirs" / "settings.json", 65534, 65534)
    path = place.path("{claude}/settings.json")
    path.parent.mkdir()
    path.symlink_to(tmp_path / target)
    before = {one: one.read_bytes() for one in tmp_path.rglob("*.json") if one.is_file()}
    plan = place.init("claude-code")
    assert [left.why for one in plan for left in one.left_alone if why not in left.why] == []
    assert (path.is_symlink(), any(one.left_alone for one in plan)) == (True, bool(why))
    if not why:
        assert "holdfast" in (tmp_path / target).read_text()
    place.uninstall()
    assert path.is_symlink()
    assert {one: one.read_bytes() for one in tmp_path.rglob("*.json") if one.is_file()} == before
    assert not (tmp_path / "dotfiles" / "new").exists()


def test_a_link_in_a_project_is_not_followed_out_of_it(place: Place, tmp_path: Path) -> None:
    """A repository's files may be links to the user's own: `init --project` is about the project alone."""
    outside = {name: tmp_path / name for name in ("profile", "claude.json", "ignore")}
    for path in outside.values():
        path.write_text("{}\n")
    project = place.machine.project
    (project / "CLAUDE.md").symlink_to(outside["profile"])
    (project / ".mcp.json").symlink_to(outside["claude.json"])
    (project / ".gitignore").symlink_to(outside["ignore"])
    (project / "shared").mkdir()
    (project / ".claude").symlink_to("shared")
    plan = place.init("claude-code", level="project", instructions=True, gitignore=True)
    assert {path.read_text() for path in outside.values()} == {"{}\n"}
    left = {one.path.name for one in plan if one.left_alone and "leads out of the project" in one.left_alone[0].why}
    assert left == {"CLAUDE.md", ".mcp.json", ".gitignore"}
    assert "holdfast" in (project / "shared" / "settings.local.json").read_text()
    place.uninstall()
    assert [one.name for one in (project / "shared").iterdir()] == []


def test_a_file_shared_by_clients_keeps_its_note_until_the_last_one_leaves(place: Place) -> None:
    place.init("codex", "opencode", level="project", instructions=True, hooks=False)
    note = place.path("{project}/AGENTS.md")
    assert note.read_text().count("holdfast:start") == 1
    place.uninstall("codex")
    assert "holdfast:start" in note.read_text()
    assert not place.path("{project}/.codex/config.toml").exists()
    place.uninstall("opencode")
    assert not note.exists()


def test_a_project_with_agents_md_gets_no_claude_md_that_would_hide_it(place: Place) -> None:
    place.path("{project}/AGENTS.md").write_text("# Rules\n")
    place.init("claude-code", level="project", instructions=True)
    assert not place.path("{project}/CLAUDE.md").exists()
    place.path("{project}/CLAUDE.md").write_text("# Rules\n")
    place.uninstall()
    place.init("claude-code", level="project", instructions=True)
    assert "holdfast:start" in place.path("{project}/CLAUDE.md").read_text()
    assert place.path("{project}/AGENTS.md").read_text() == "# Rules\n"


def test_hooks_are_never_installed_where_they_would_fire_twice(place: Place) -> None:
    copilot, claude = BY_NAME["copilot"], BY_NAME["claude-code"]
    place.init("claude-code", "copilot", level="project")
    assert has_hooks(claude, "project", place.machine)
    assert not has_hooks(copilot, "project", place.machine)
    place.uninstall()
    place.init("claude-code", "copilot")
    assert has_hooks(copilot, "user", place.machine)  # it does not run those of the user's Claude settings
    place.init("claude-code", "copilot", level="project")
    assert not has_hooks(copilot, "project", place.machine)
    assert not has_hooks(claude, "project", place.machine)


@examples
def test_nothing_is_written_beside_the_plugin(place: Place, name: str, file: str, text: str) -> None:
    path = new_file(place.path(file), text % "true")
    assert place.plan(name)[0] == []
    path.write_text(text % "false")
    assert place.plan(name)[0] != []


def test_files_with_paths_of_this_machine_are_kept_out_of_git(place: Place) -> None:
    place.path("{project}/.mcp.json").write_text("{}")
    place.init("claude-code", "cursor", level="project", gitignore=True, instructions=True)
    ignored = place.path("{project}/.gitignore").read_text().splitlines()
    assert ignored == [
        "# holdfast:start",
        "/.claude/settings.local.json",
        "/.cursor/hooks.json",
        "/.cursor/mcp.json",
        "# holdfast:end",
    ]


def test_what_a_client_wrote_in_the_meantime_is_not_lost(place: Place) -> None:
    path = place.path("{claude_json}")
    path.write_text('{"starts": 1}')
    plan, _ = place.plan("claude-code")
    path.write_text('{"starts": 2}')
    apply(plan, read_manifest(place.store), place.store)
    assert json.loads(path.read_text())["starts"] == 2
    place.uninstall()
    assert path.read_text() == '{"starts": 2}'


def keeps_everything(path: Path, before: str) -> bool:
    """Tell whether all that was in a file is still in it."""
    after = path.read_bytes().decode()
    if path.suffix == ".md":
        return after.startswith(before)
    read: Any = tomltext.value_of if path.suffix == ".toml" else jsontext.value_of
    comments = [
        word for word in ("// theirs", "/* and */", "// end", "// none yet", "# mine", "# last") if word in before
    ]
    return _within(read(before), read(after)) and all(word in after for word in comments)


def _within(before: Any, after: Any) -> bool:
    match before:
        case dict():
            return list(after)[: len(before)] == list(before) and all(
                _within(before[key], after[key]) for key in before
            )
        case list():
            return bool(after[: len(before)] == before)
    return bool(before == after)


def test_a_codex_entry_written_in_another_way_is_not_touched(place: Place) -> None:
    path = place.path("{codex}/config.toml")
    path.parent.mkdir()
    text = '[mcp_servers]\nholdfast = { command = "/old/holdfast", args = ["mcp"] }\n'
    path.write_text(text)
    assert placing(text, Entry(path=("mcp_servers", "holdfast"), value={"command": "x"}, form="toml"))[0] == "stale"
    left = [left for one in place.init("codex") for left in one.left_alone]
    assert [one.path for one in left] == [path]
    assert path.read_text() == text


def test_an_environment_that_will_be_gone_is_refused() -> None:
    check_lasting("/home/me/.local/share/uv/tools/holdfast")
    refused(Invalid, check_lasting, "/home/me/.cache/uv/archive-v0/Xy12", says="temporary environment")

"""Every client of the table: into whatever its files hold, twice, and out again byte by byte."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from holdfast.hosts.setup import jsontext, tomltext
from holdfast.hosts.setup.apply import LeftAlone, Planned, apply, read_manifest
from holdfast.hosts.setup.clients import BY_NAME, CLIENTS, Choices, Client, file_of, has_hooks, installed, wanted
from holdfast.hosts.setup.edits import command_line, own_hooks
from holdfast.hosts.setup.machine import Level, Machine, check_lasting
from holdfast.model.errors import Invalid
from holdfast.model.session import CLIENT_EVENTS as EVENTS
from holdfast.verbs.upkeep.doctor import Check
from tests.conftest import new_file, new_folder
from tests.hosts.setup.conftest import Place
from tests.rows import each, examples, missing, refused, rows, sampled, some

LEVELS: tuple[Level, Level] = ("user", "project")
EACH = pytest.mark.parametrize("client", CLIENTS, ids=[client.name for client in CLIENTS])
JSON_TEXTS: dict[str, str] = rows("settings_of_clients_in_json")
TOML_TEXTS: dict[str, str] = rows("settings_of_clients_in_toml")
SHAPES: list[tuple[str, list[str | int], Any]] = rows("entries_in_settings_of_clients")  # a file, where in it, and what


@EACH
def test_new_files_are_made_and_removed_with_their_folders(place: Place, client: Client) -> None:
    before, folders = place.files(), place.folders()
    for level in LEVELS:
        place.init(client.name, level=level, instructions=True, gitignore=level == "project")
        assert place.files() != before or not client.server.project
        assert not any(one.changes for one in place.plan(client.name, level=level, instructions=True)[0])
        place.uninstall()
        assert (place.files(), place.folders(), place.store.exists()) == (before, folders, False)


@EACH
def test_files_of_any_look_are_kept_byte_by_byte(place: Place, client: Client) -> None:
    wants = wanted(Choices(clients=(client,), instructions=True), place.machine, place.made)
    texts = {".toml": TOML_TEXTS, ".md": {"usual": "# Rules\n\nBe kind.\n", "no end": "x"}}
    for path in {want.path for want in wants if want.path.suffix not in (".js", ".yaml")}:
        for name, text in sampled(texts.get(path.suffix, JSON_TEXTS).items(), 3):
            new_file(path, text)
            path.chmod(0o640)
            assert left(place.init(client.name, instructions=True)) == [], name
            assert keeps_everything(path, text), name
            again = place.files()
            place.init(client.name, instructions=True)
            assert place.files() == again, name
            place.uninstall()
            assert (path.read_bytes(), path.stat().st_mode & 0o777) == (text.encode(), 0o640), name
        path.unlink()


@EACH
def test_out_of_a_changed_file_comes_only_what_is_ours(place: Place, client: Client) -> None:
    place.init(client.name, instructions=True)
    paths = [Path(name) for name in read_manifest(place.store).files if Path(name).suffix not in (".js", ".yaml")]
    for path in paths:
        text = path.read_bytes().decode()
        is_json = path.suffix == ".json"
        new_file(path, text.replace("{", '{"theirs": {"kept": true},', 1) if is_json else text + "\n# theirs\n")
    place.uninstall()
    for path in paths:
        after = path.read_text()
        assert ("theirs" in after, "holdfast" in after.lower()) == (True, False)
        if path.suffix == ".json":
            ours_alone = client.hooks and path.name in ("holdfast.json", "hooks.json")
            skeleton = dict(client.hooks.skeleton) if client.hooks and ours_alone else {}
            assert json.loads(after) == {"theirs": {"kept": True}, **skeleton}


@EACH
def test_a_broken_file_is_left_alone_with_what_to_put_there(place: Place, client: Client) -> None:
    path = some(file_of(client.server, "user", place.machine))
    before = '{"mcpServers": ' if client.server.form != "yaml" else "name: theirs\n"
    new_file(path, before)
    (problem,) = (one for one in left(place.init(client.name)) if one.path == path)
    assert (place.made.python in problem.snippet, path.read_text()) == (True, before)
    place.uninstall()
    assert path.read_text() == before


@EACH
def test_stale_paths_are_mended_and_additions_stay(place: Place, client: Client) -> None:
    place.moved(python="/gone/python", hook="/gone/holdfast/hosts/hooks/client.py").init(client.name)
    path = some(file_of(client.server, "user", place.machine))
    if path.suffix == ".json":
        path.write_text(path.read_text().replace('"command":', '"timeout": 7,\n"command":'))
    place.init(client.name)
    assert b"/gone" not in b"".join(place.files().values())
    assert ('"timeout": 7' in path.read_text()) == (path.suffix == ".json")
    before = place.files()
    place.init(client.name)
    assert place.files() == before
    place.uninstall()
    assert b"holdfast" not in b"".join(place.files().values())


@each("client", [client for client in CLIENTS if client.hooks])
def test_every_hook_runs_our_file_with_its_event(place: Place, client: Client) -> None:
    place.moved(python="/with a space/python3", home="/store's folder").init(client.name)
    hooks = some(client.hooks)
    listed = jsontext.value_of(some(file_of(hooks, "user", place.machine)).read_text())["hooks"]
    by_theirs = {theirs: event for event, theirs in hooks.events.items()}
    assert set(by_theirs.values()) <= set(EVENTS)
    assert list(listed) == list(by_theirs)
    for theirs, items in listed.items():
        [(_, hook)] = own_hooks(items)
        start = ["/with a space/python3", "-I", "-S", place.made.hook, by_theirs[theirs]]
        assert command_line(hook) == [*start, "--client", client.name, "--home", "/store's folder"]


def test_a_client_is_recognised_by_its_files_or_its_program(place: Place, tmp_path: Path) -> None:
    assert installed(place.machine) == ()
    for client in CLIENTS:
        new_folder(place.path(client.signs[0]))
        assert client in installed(place.machine)
        for name in client.programs:
            (tmp_path / name).touch(mode=0o755)
            with_path = replace(place.machine, home=tmp_path / "none", environment={"PATH": str(tmp_path)})
            assert client in installed(with_path)


@examples
def test_paths_follow_the_system_and_the_variables_that_move_them(
    template: str, system: str, environment: dict[str, str], path: str
) -> None:
    machine = Machine(system=system, home=Path("/h"), project=Path("/p"), environment=environment)
    assert machine.path(template).as_posix() == path


def test_every_client_has_a_place_on_every_system() -> None:
    for system in ("Linux", "Darwin", "Windows"):
        environment = {"APPDATA": "/roaming"}
        machine = Machine(system=system, home=Path("/home/ada"), project=Path("/src/shop"), environment=environment)
        places = {client.name: machine.path(client.server.user[0]) for client in CLIENTS if client.server.user}
        assert set(places) == {client.name for client in CLIENTS}
        assert all(path.is_absolute() and "{" not in str(path) for path in places.values()), system


def test_entries_have_the_shape_each_client_reads(place: Place) -> None:
    place.init(*(client.name for client in CLIENTS))
    for template, key, value in SHAPES:
        text = place.path(template).read_text()
        found = (tomltext if template.endswith(".toml") else jsontext).value_at(text, tuple(key))
        assert found == json.loads(json.dumps(value).replace("PYTHON", place.made.python)), (template, key)
    yaml = place.path("{home}/.continue/mcpServers/holdfast.yaml").read_text().splitlines()
    assert f'    command: "{place.made.python}"' in yaml
    assert '    args: ["-P", "-m", "holdfast", "mcp"]' in yaml


def test_an_entry_written_by_hand_is_respected(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = place.path("{home}/.cursor/mcp.json")

    def after_init(entry: Any) -> Any:
        new_file(path, json.dumps({"mcpServers": {"holdfast": entry}}))
        reasons.extend(one.why for one in left(place.init("cursor")))
        return json.loads(path.read_text())["mcpServers"]["holdfast"]

    reasons: list[str] = []
    for entry in ({"command": "npx", "args": ["other"]}, {"url": "http://127.0.0.1:4653/mcp"}):
        assert after_init(entry) == entry
    assert reasons == ["An entry of that name is there already."] * 2
    (tmp_path / "holdfast").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    by_name = {"command": "holdfast", "args": ["mcp"]}
    assert after_init(by_name) == by_name
    assert after_init({**by_name, "command": "./holdfast"})["command"] == place.made.python  # one of the project
    (tmp_path / "holdfast").unlink()
    assert after_init(by_name)["command"] == place.made.python


def test_hooks_of_others_and_what_they_share_with_ours_stay(place: Place) -> None:
    theirs = {"type": "command", "command": "python3 -I -S /x/holdfast/hosts/hooks/client.py"}
    before = {"hooks": {"Stop": [{"matcher": "x", "hooks": [theirs]}]}}
    path = new_file(place.path("{claude}/settings.json"), json.dumps(before, indent=4))
    place.init("claude-code")
    hooks = json.loads(path.read_text())["hooks"]
    assert hooks["Stop"][0] == {"matcher": "x", "hooks": [theirs]}
    hooks["Stop"] = [{"matcher": "x", "hooks": [theirs, hooks["Stop"][1]["hooks"][0]]}]
    path.write_text(json.dumps({"hooks": hooks}))
    place.uninstall()
    assert json.loads(path.read_text()) == before


# Where ~/.claude/settings.json leads to, and what init says: nothing if it follows the link.
@pytest.mark.parametrize(("target", "why"), rows("links_to_settings"))
def test_a_link_is_followed_if_it_is_the_users_and_never_replaced(
    place: Place, tmp_path: Path, target: str, why: str
) -> None:
    files = {tmp_path / name / "settings.json": '{"theme": "dark"}\n' for name in ("dotfiles", "theirs")}
    for path, text in files.items():
        new_file(path, text)
    if os.geteuid() == 0:
        os.chown(tmp_path / "theirs" / "settings.json", 65534, 65534)
    elif target.startswith("theirs"):
        pytest.skip("only root can give a file to someone else")
    link = new_folder(place.path("{claude}")) / "settings.json"
    link.symlink_to(tmp_path / target)
    alone = left(place.init("claude-code"))
    assert ([one.why for one in alone if why not in one.why], bool(alone), link.is_symlink()) == ([], bool(why), True)
    assert why or "holdfast" in link.read_text()
    place.uninstall()
    assert link.is_symlink()
    assert {path: path.read_text() for path in files} == files
    assert not (tmp_path / "dotfiles" / "new").exists()


def test_a_link_in_a_project_is_not_followed_out_of_it(place: Place, tmp_path: Path) -> None:
    """A repository's files may be links to the user's own: `init --project` is about the project alone."""
    project, names = place.machine.project, {"CLAUDE.md", ".mcp.json", ".gitignore"}
    for name in names:
        (project / name).symlink_to(new_file(tmp_path / "outside" / name, "{}\n"))
    (project / ".claude").symlink_to(new_folder(project / "shared").name)
    alone = left(place.init("claude-code", level="project", instructions=True, gitignore=True))
    assert {path.read_text() for path in (tmp_path / "outside").iterdir()} == {"{}\n"}
    assert {one.path.name for one in alone if "leads out of the project" in one.why} == names
    assert "holdfast" in (project / "shared" / "settings.local.json").read_text()
    place.uninstall()
    assert list((project / "shared").iterdir()) == []


def test_a_note_is_shared_by_clients_and_hides_no_other(place: Place) -> None:
    note, other = place.path("{project}/AGENTS.md"), place.path("{project}/CLAUDE.md")
    place.init("codex", "opencode", level="project", instructions=True, hooks=False)
    assert note.read_text().count("holdfast:start") == 1
    place.uninstall("codex")
    assert "holdfast:start" in note.read_text()
    assert not place.path("{project}/.codex/config.toml").exists()
    place.uninstall("opencode")
    assert not note.exists()
    note.write_text("# Rules\n")
    place.init("claude-code", level="project", instructions=True)
    assert not other.exists()
    other.write_text("# Rules\n")
    place.uninstall()
    place.init("claude-code", level="project", instructions=True)
    assert ("holdfast:start" in other.read_text(), note.read_text()) == (True, "# Rules\n")


def test_hooks_are_never_installed_where_they_would_fire_twice(place: Place) -> None:
    copilot, claude = BY_NAME["copilot"], BY_NAME["claude-code"]
    place.init("claude-code", "copilot", level="project")
    assert has_hooks(claude, "project", place.machine)
    assert not has_hooks(copilot, "project", place.machine)
    place.uninstall()
    place.init("claude-code", "copilot")
    assert has_hooks(copilot, "user", place.machine)  # it does not run those of the user's Claude settings


@examples
def test_nothing_is_written_beside_the_plugin(place: Place, name: str, file: str, text: str) -> None:
    path = new_file(place.path(file), text % "true")
    assert place.plan(name)[0] == []
    path.write_text(text % "false")
    assert place.plan(name)[0] != []


def test_paths_of_this_machine_are_kept_out_of_git_and_what_a_client_wrote_meanwhile_is_not_lost(place: Place) -> None:
    place.path("{project}/.mcp.json").write_text("{}")
    place.init("claude-code", "cursor", level="project", gitignore=True, instructions=True)
    _, *ignored, _ = place.path("{project}/.gitignore").read_text().splitlines()
    assert ignored == ["/.claude/settings.local.json", "/.cursor/hooks.json", "/.cursor/mcp.json"]
    place.uninstall()
    path = place.path("{claude_json}")
    path.write_text('{"starts": 1}')
    plan, _ = place.plan("claude-code")
    path.write_text('{"starts": 2}')
    apply(plan, read_manifest(place.store), place.store)
    assert json.loads(path.read_text())["starts"] == 2
    place.uninstall()
    assert path.read_text() == '{"starts": 2}'


def left(plan: list[Planned]) -> list[LeftAlone]:
    """Return what a plan leaves alone."""
    return [found for one in plan for found in one.left_alone]


def keeps_everything(path: Path, before: str) -> bool:
    """Tell whether all that was in a file is still in it."""
    after = path.read_bytes().decode()
    if path.suffix == ".md":
        return after.startswith(before)
    read: Any = tomltext.value_of if path.suffix == ".toml" else jsontext.value_of
    comments = [word for word in ("// theirs", "/* and */", "// end", "// none yet", "# mine") if word in before]
    return _within(read(before), read(after)) and missing(after, *comments) == []


def _within(before: Any, after: Any) -> bool:
    if isinstance(before, dict):
        same_order = list(after)[: len(before)] == list(before)
        return same_order and all(_within(value, after[key]) for key, value in before.items())
    return bool(before == (after[: len(before)] if isinstance(before, list) else after))


def test_an_environment_that_will_be_gone_is_refused() -> None:
    check_lasting("/home/me/.local/share/uv/tools/holdfast")
    refused(Invalid, check_lasting, "/home/me/.cache/uv/archive-v0/Xy12", says="temporary environment")


def test_what_is_started_and_is_not_there_is_said(place: Place) -> None:
    place.path("{codex}").mkdir()
    assert place.checks()["clients"] == Check(name="clients", found="not set up yet: Codex (holdfast init)")
    names = {client.name for client in CLIENTS}
    place.init(*names)
    checks = place.checks()
    assert set(checks) == {"clients", *names}
    assert [check for check in checks.values() if check.fix] == []
    assert checks["claude-code"].found == "Claude Code starts it, 10 hooks are in place"
    assert checks["continue"].found == "Continue starts it"
    Path(place.made.hook).unlink()
    checks = place.checks()
    for name in ("gemini", "opencode"):
        assert checks[name].found.endswith(f"run {place.made.hook}, which is not there")
    assert checks["zed"].fix == ""
    Path(place.made.python).unlink()
    checks = place.checks()
    assert {name for name, check in checks.items() if check.fix} == names
    assert f"starts {place.made.python}, which is not there" in checks["continue"].found
    assert checks["zed"].fix == "holdfast init --client zed"


def test_hooks_that_fire_twice_are_found(place: Place) -> None:
    place.init("copilot")
    assert "hooks" not in place.checks()
    place.init("claude-code", level="project")
    assert place.checks()["hooks"].fix == "holdfast uninstall --client copilot"
    place.uninstall()
    place.init("claude-code")
    settings = place.path("{claude}/settings.json")
    settings.write_text(settings.read_text().replace("{", '{"enabledPlugins": {"holdfast@holdfast": true},', 1))
    assert "both our plugin and our hooks" in place.checks()["hooks"].found

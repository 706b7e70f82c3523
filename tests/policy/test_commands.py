"""What tools and shell commands were for, and how they ended."""

from holdfast.policy.activity import turns as commands
from holdfast.policy.activity.tools import BY_CLIENT, command_argument, is_ours, path_arguments, role_of
from holdfast.policy.activity.written_files import patched
from tests.rows import each, examples


@examples
def test_checks_are_known_by_their_name(command: str, name: str) -> None:
    assert commands.check_of(command) == name


def test_other_commands_are_called_by_program_and_verb() -> None:
    assert [commands.name_of(command) for command in ("fly deploy -c x", "cd a && docker build .", "./run.sh", "")] == [
        "fly deploy",
        "docker build",
        "./run.sh",
        "",
    ]


@each("command", ["ls -la", "git status && git diff | head", "cat a.py | grep x", "sed -n '1,5p' a", "rg foo src"])
def test_looking_around_changes_nothing(command: str) -> None:
    assert commands.only_looks(command)


@each("command", ["npm install", "cat > a.py <<'EOF'\nx\nEOF", "sed -i s/a/b/ x.py", "git commit -m x", "ls && make"])
def test_other_commands_do_something(command: str) -> None:
    assert not commands.only_looks(command)


def test_files_that_commands_read_and_write_are_found() -> None:
    assert list(commands.read_by("cat src/a.py && sed -n '1,80p' b.rs | head -5; head -3 Makefile")) == [
        "src/a.py",
        "b.rs",
        "Makefile",
    ]
    assert list(commands.written_by("cat > m/1.sql <<'SQL'\nrm -rf x.py\nSQL")) == [("create", "m/1.sql")]
    assert list(commands.written_by("sed -i 's/a/b/' src/a.py && git mv b.py c.py && rm -f d.py")) == [
        ("edit", "src/a.py"),
        ("delete", "b.py"),
        ("create", "c.py"),
        ("delete", "d.py"),
    ]


@each(
    ("command", "output", "commit"),
    [
        (
            "git commit -m 'a: b'",
            "[main 1a2b3c4] a: b\n 1 file changed",
            commands.Commit(hash="1a2b3c4", subject="a: b"),
        ),
        ("git commit -m x", "[main (root-commit) 1a2b3c4] x", commands.Commit(hash="1a2b3c4", subject="x")),
        ("git commit -m x", "[detached HEAD 1a2b3c4] x", commands.Commit(hash="1a2b3c4", subject="x")),
        ('git -c a=b commit -q -m "say \\"hi\\""', "", commands.Commit(hash="", subject='say "hi"')),
        ("git commit -F - <<'EOF'\nx\nEOF", "[feat/x 1234567] x", commands.Commit(hash="1234567", subject="x")),
        ("git commit -m \"$(cat <<'EOF'\nadd it\n\nbody\nEOF\n)\"", "", commands.Commit(hash="", subject="add it")),
        ("git commit -m x", "nothing to commit, working tree clean", None),
        ("git log", "[main 1a2b3c4] x", None),
        ("git revert HEAD", '[main 1a2b3c4] Revert "x"', commands.Commit(hash="1a2b3c4", subject='Revert "x"')),
    ],
)
def test_commits_are_told_by_what_git_said_else_by_their_message(
    command: str, output: str, commit: commands.Commit | None
) -> None:
    assert commands.commit_of(command, output) == commit


@examples
def test_a_command_fails_as_the_client_its_code_or_its_output_says(
    command: str, result: str, failed: bool, wrong: bool
) -> None:
    assert commands.has_failed(command, result, failed=failed) == wrong


@examples
def test_the_telling_line_of_an_output_is_found(output: str, line: str) -> None:
    assert commands.error_line(output) == line


def test_every_client_has_tools_that_read_change_and_run() -> None:
    for client, roles in BY_CLIENT.items():
        assert {"read", "run"} <= set(roles.values()), client
        assert {"create", "edit", "patch"} & set(roles.values()), client
    assert role_of("Edit", "claude-code") == "edit"
    assert role_of("REPLACE", "gemini") == "edit"
    assert role_of("apply_patch") == "patch"
    assert role_of("mcp__jira__search") is None


def test_arguments_are_read_however_a_client_spells_them() -> None:
    assert command_argument({"command": '["bash", "-lc", "ls -la"]'}) == "ls -la"
    assert command_argument({"cmd": ["git", "status"]}) == "git status"
    assert command_argument({"command": "[broken"}) == "[broken"
    assert path_arguments({"filePath": "a", "paths": '["b", "a"]'}) == ["a", "b"]
    assert list(patched("*** Add File: a\n*** Update File: b\n*** Move to: c\n*** Delete File: d")) == [
        ("create", "a"),
        ("edit", "b"),
        ("create", "c"),
        ("delete", "d"),
    ]


def test_our_tools_are_told_from_those_of_others() -> None:
    assert is_ours("mcp__holdfast__recall")
    assert is_ours("recall", "cursor")
    assert not is_ours("read", "opencode")
    assert not is_ours("mcp__notes__recall_all")

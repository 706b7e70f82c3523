"""`holdfast compat`: the commands of other systems, with the names and options of their documents; here those of GitMem, claude-mem and git-notes."""

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import click

from holdfast import __version__
from holdfast.hosts.cli.command import Entry, Words, opened, read
from holdfast.model.errors import Invalid
from holdfast.model.kinds import KINDS
from holdfast.verbs.memory import check_choice

SYSTEMS = read(Path(__file__).with_name("commands.txt"))["Systems"]
ALLOWLIST = "There is no list of exceptions: a text that looks like a secret is refused, or stored with the secret masked (holdfast remember --redact). Reword it if it is none."
NO_WORKER = "No worker is needed; `holdfast web --port 37777` serves the viewer and the HTTP interface."
WORDS: dict[str, Any] = {"ignore_unknown_options": True, "allow_interspersed_args": False}
# The ten namespaces of git-notes-memory, and the kind that takes the memories of each.
NAMESPACES = {name: kind.name for kind in KINDS.values() if (name := kind.names.get("git-notes"))} | {
    "learnings": "learning",
    "patterns": "pattern",
    "progress": "progress",
}


@click.command("compat", context_settings=WORDS)
@click.argument("system", type=click.Choice(list(SYSTEMS)), metavar="SYSTEM")
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="COMMAND [OPTIONS]...")
@click.pass_context
def compat_command(ctx: click.Context, system: str, words: Words) -> None:
    from holdfast.hosts.cli.main import Lazy

    root = ctx.find_root()
    root.obj = {**root.obj, "preset": system}
    group = Lazy("compat", entries=SYSTEMS).get_command(ctx, system)
    assert group is not None
    click.version_option(__version__, "--version", message="holdfast %(version)s")(group)
    with group.make_context(f"compat {system}", list(words), parent=root) as own:
        group.invoke(own)


def run(*words: str, **flags: bool | tuple[str, ...]) -> None:
    """Run a command of Holdfast with the settings in force; `flags` are options as they were given to the command of the other system."""
    given = list(words)
    for name, value in flags.items():
        option = f"--{name.replace('_', '-')}"
        given += ([option] if value else []) if isinstance(value, bool) else [w for one in value for w in (option, one)]
    root = click.get_current_context().find_root()
    assert isinstance(root.command, click.Group)
    ours = root.command.get_command(root, given[0])
    assert ours is not None
    with ours.make_context(given[0], given[1:], parent=root) as own:
        ours.invoke(own)


def passing(work: Callable[[tuple[str, ...]], None], name: str = "", **settings: Any) -> click.Command:
    """Return a command that gets its words as they were typed."""
    words = click.Argument(["words"], nargs=-1, type=click.UNPROCESSED)
    return click.Command(name, WORDS, callback=work, params=[words], **settings)


def alias(entry: Entry) -> click.Command:
    """Return a command that runs one of ours with its options in our words."""

    def pass_on(words: Words) -> None:
        ours, unused = translated(entry, words)
        if unused:
            click.echo(f"Without effect here: {', '.join(unused)}.", err=True)
        run(*ours)

    meaning = f"{entry.line}\n\nThis is `holdfast {entry.module[1:]}`, and takes its options too."
    return passing(pass_on, entry.path.split()[-1], help=meaning, epilog=entry.epilog)


def translated(entry: Entry, words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return our command for the words of one of theirs, and the options that have no counterpart here."""
    rows = {theirs: ours for theirs, _, ours in (row.partition("  ") for row in entry.parameters.values())}
    with_values = {theirs.split()[0] for theirs in rows if " " in theirs}
    left, ours, unused = list(words), entry.module[1:].split(), list[str]()
    if left and left[0] in rows and not left[0].startswith("-"):
        ours = rows[left.pop(0)].split()
    while left:
        word = left.pop(0)
        name, _, value = word.partition("=")
        if name not in rows and name not in with_values:
            ours.append(word)
            continue
        if name in with_values:
            value = value or (left.pop(0) if left else "")
            if name == "--namespace":
                check_choice(value, NAMESPACES, "a namespace")
                value = NAMESPACES[value]
        chosen = rows.get(f"{name} {value}" if value else name, rows.get(f"{name} N", ""))
        unused += [] if chosen else [name]
        ours += [value if part == "N" else part for part in chosen.split() if part != "."]
    return ours, unused


def enter_folder() -> None:
    """Change to the folder that the event on stdin names, as clients pass it to hooks."""
    from holdfast.hosts.hooks.hook import event_on_stdin

    if not sys.stdin.isatty():
        with suppress(LookupError, OSError, TypeError, ValueError):
            os.chdir(event_on_stdin()["cwd"])


def opening(words: tuple[str, ...]) -> None:
    enter_folder()
    run("brief", *words)


def gitmem_init_command(*, yes: bool = False, dry_run: bool = False, project: str = "", clients: Words = ()) -> None:
    from holdfast.compose.settings import name_project
    from holdfast.hosts.cli.setup import look_around
    from holdfast.hosts.hooks.places import checkout_root
    from holdfast.hosts.setup.clients import installed

    if not clients and not installed(look_around().machine):  # its own init writes the files of this client
        clients = ("claude-code",)
    if project and not dry_run:
        folder = Path(checkout_root(str(Path.cwd())))
        click.echo(f"{folder} is the project {project} from now on ({name_project(folder, project)}).")
    wanted = ("init", "--project", "--surface", "gitmem", "--instructions", "--gitignore")
    run(*wanted, client=clients, yes=yes, dry_run=dry_run)


def claude_mem_hook_command(
    client: str, what: Literal["context", "user-message", "session-init", "observation", "summarize"]
) -> None:
    events = {"session-init": "UserPromptSubmit", "observation": "PostToolUse", "summarize": "Stop"}
    if what == "context":
        from holdfast.surfaces.claude_mem.tools import context

        enter_folder()
        with opened() as memory:
            click.echo(context(memory, full=False))
    elif what in events:  # `user-message` reported to the user, at the start of a session, that context was loaded
        from holdfast.hosts.hooks.hook import main

        main([events[what], "--client", client, "--preset", "claude-mem"])
        sys.stdout.flush()


def captured(words: Sequence[str]) -> tuple[str, ...]:
    """Return our command for `capture [NAMESPACE] SUMMARY -- CONTENT` of git-notes-memory."""
    namespace, left = ("", list(words)) if not words or words[0] not in NAMESPACES else (words[0], list(words[1:]))
    place = left.index("--") if "--" in left else len(left)
    summary, content = " ".join(left[:place]), " ".join(left[place + 1 :])
    if not summary:
        raise Invalid("The summary is empty.", hint='capture decisions "Chose PostgreSQL" -- "It has row locks."')
    title = ("--title", summary) if content else ()
    return ("remember", "--kind", NAMESPACES.get(namespace, "learning"), *title, "--", content or summary)


def _secrets_in(text: str) -> str:
    from holdfast.policy.secrets.find import find_secrets

    names = sorted({secret.name for secret in find_secrets(text)})
    return f"A secret ({', '.join(names)})." if names else "Not a secret."


claude_mem_start_command = passing(lambda words: click.echo(NO_WORKER))  # noqa: ARG005  click passes words by name
opening_command = passing(opening)
capture_command = passing(lambda words: run(*captured(words)))
secrets_allowlist_command = passing(lambda words: click.echo(ALLOWLIST))  # noqa: ARG005  click passes words by name
test_secret_command = passing(lambda words: click.echo(_secrets_in(" ".join(words))))

"""The `holdfast` command: find a command, import only its module, and report errors."""

import os
import sys
from importlib import import_module
from io import TextIOWrapper
from typing import TYPE_CHECKING

import click

from holdfast import __version__
from holdfast.hosts.cli.examples import examples_of
from holdfast.model.errors import HoldfastError, Invalid

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

# Name, module and a line for the overview. Modules are imported when their command is called.
COMMANDS: dict[str, tuple[str, str]] = {
    "init": ("setup", "Set up the clients on this machine."),
    "remember": ("memories", "Save a memory."),
    "recall": ("memories", "Search memories by word and meaning."),
    "show": ("memories", "Show a memory in full."),
    "list": ("memories", "List memories, newest first."),
    "timeline": ("memories", "Show the memories saved before and after a memory or the best search result."),
    "revise": ("care", "Change a memory's text, title, kind or labels."),
    "verify": ("truth", "Mark a memory as checked, or check all of them against the code."),
    "check": ("truth", "Fail if the current changes make a team memory untrue (for CI)."),
    "confirm": ("care", "Approve a pending memory."),
    "cancel": ("care", "Reject a pending memory."),
    "forget": ("care", "Retire a memory, or erase it permanently."),
    "restore": ("care", "Bring back a retired memory, or restore a backup."),
    "history": ("care", "Show all events of a memory."),
    "link": ("care", "Link a memory to another."),
    "unlink": ("care", "Remove a link."),
    "use": ("care", "Report whether a memory helped, was ignored or was wrong."),
    "rename-scope": ("care", "Rename a scope in all memories."),
    "session": ("sessions", "Start, list and close sessions; transcripts."),
    "thread": ("threads", "Track unfinished work."),
    "judge": ("agents", "Answer surfaced scars, or report the outcome of memories."),
    "brief": ("agents", "Print what is known about a plan, for a sub-agent."),
    "absorb": ("agents", "Save what a sub-agent observed."),
    "log": ("agents", "List learnings and decisions."),
    "analyze": ("agents", "Summarise recent sessions."),
    "learn": ("learning", "Learn from the git history of this repository."),
    "observer": ("learning", "Show which observer is configured and what it costs."),
    "health": ("keeping", "Show the health of the memory, and what to do first."),
    "trust": ("keeping", "Show or change the trust in a memory."),
    "hot": ("keeping", "Show or change the hot set: the few memories that matter most."),
    "next": ("keeping", "Show what sessions used after a memory."),
    "quality": ("keeping", "Show the cost and success of recent recalls."),
    "maintain": ("keeping", "Retire expired memories and free space."),
    "graph": ("keeping", "Show how memories, sessions, issues and people are connected."),
    "scan": ("scanning", "Search the whole store for secrets, and mask them."),
    "audit": ("keeping", "Show what was retired, erased or restored, by whom and why."),
    "metrics": ("keeping", "Show counters."),
    "opening": ("hooks", "Print the brief that a session would start with."),
    "receipts": ("hooks", "Show what was injected, and whether it helped."),
    "work": ("hooks", "Process activity from hooks; hooks start this themselves."),
    "contradictions": ("knowledge", "Show and resolve contradicting memories."),
    "duplicates": ("knowledge", "Show and merge near-duplicates."),
    "mine": ("knowledge", "Find recurring patterns in logged output."),
    "bootstrap": ("documents", "Import the project's documents."),
    "seed": ("documents", "Import a file."),
    "compat": ("compat", "Run a command of another system under its original name."),
    "sync": ("replicas", "Sync with replicas: git notes, markdown files."),
    "replica": ("replicas", "Turn replicas on or off, and show their state."),
    "share": ("replicas", "Share memories with the team of this repository."),
    "unshare": ("replicas", "Stop sharing memories."),
    "quarantine": ("quarantine", "Show what arrived from people you have not accepted."),
    "accept": ("quarantine", "Accept an author, or a quarantined memory."),
    "reject": ("quarantine", "Reject an author, or a quarantined memory."),
    "export": ("carry", "Export the store as JSON lines, or its memories in another format."),
    "import": ("carry", "Import an export, or the data of another system."),
    "project": ("projects", "List the projects of the store, or move memories to another one."),
    "migrate": ("moving", "Move the store to PostgreSQL, or back to a file."),
    "backup": ("recovery", "Copy the store to a checked file while it is in use."),
    "recover": ("recovery", "Recover what can be read from a damaged store."),
    "rebuild": ("upkeep", "Rebuild views or vectors from the journal, or a store from markdown files."),
    "status": ("upkeep", "Show what is in the store, and its state."),
    "doctor": ("upkeep", "Check that everything works, and show how to fix what does not."),
    "config": ("upkeep", "Show every setting, its meaning and its source."),
    "uninstall": ("setup", "Undo `init`: remove Holdfast from every client."),
    "mcp": ("mcp", "Serve the memory to MCP clients over stdio or HTTP."),
    "web": ("web", "Open the viewer: browse, search and correct memories in a browser."),
    "watch": ("web", "Follow activity and new memories live."),
    "completion": ("completion", "Print a completion script for a shell."),
    "serve": ("serve", "Serve the memory to a team: many users, each with a key."),
    "user": ("access", "Add, list and remove the users of a server."),
    "key": ("access", "Create, list, rotate and revoke the keys of a server's users."),
    "demo": ("demo", "Load a sample store: three months of a made-up team."),
}
# Headings of the overview, by the first command below each.
HEADINGS = {
    "init": "Get started",
    "remember": "Save and find",
    "revise": "Keep memories true",
    "session": "Sessions",
    "learn": "Knowledge",
    "opening": "Injection",
    "contradictions": "Clean up and import",
    "sync": "Share and move",
    "rebuild": "Store and clients",
    "demo": "Demo",
}
EXIT_CODES = """\b
Exit codes:
  0   done
  1   unexpected error
  3   no such memory, or an ambiguous id
  4   rejected: a duplicate, a secret, or not possible in this state
  5   the store, the embedder or an optional part cannot be used
  64  invalid command or input"""


class Lazy(click.Group):
    """A group that imports each command when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the commands in the order a newcomer meets them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import and return a command."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"holdfast.hosts.cli.{COMMANDS[cmd_name][0]}")
        command = getattr(module, cmd_name.replace("-", "_") + "_command")
        assert isinstance(command, click.Command)
        command.epilog = command.epilog or examples_of(cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands under their headings, without importing any."""
        parts: list[tuple[str, list[tuple[str, str]]]] = []
        for name, (_, line) in COMMANDS.items():
            if name in HEADINGS:
                parts.append((HEADINGS[name], []))
            parts[-1][1].append((name, line))
        for heading, lines in parts:
            with formatter.section(heading):
                formatter.write_dl(lines)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Complete a command's name without importing any."""
        from click.shell_completion import CompletionItem

        items = [CompletionItem(name, help=line) for name, (_, line) in COMMANDS.items() if name.startswith(incomplete)]
        return items + click.Command.shell_complete(self, ctx, incomplete)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Suggest the nearest command for a mistyped one."""
        from difflib import get_close_matches

        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            near = get_close_matches(args[0], COMMANDS, n=1)
            ctx.fail(f"There is no command {args[0]!r}." + (f" Did you mean {near[0]}?" if near else ""))
        return super().resolve_command(ctx, args)


@click.group(
    cls=Lazy, invoke_without_command=True, epilog=EXIT_CODES, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(__version__, "--version", message="holdfast %(version)s")
@click.option("--home", metavar="FOLDER", help="Folder of the store.")
@click.option(
    "--set",
    "pairs",
    multiple=True,
    metavar="NAME=VALUE",
    help="Any setting, for this call; `holdfast config` lists them.",
)
@click.option("--plain", is_flag=True, help="No colours, no progress bars; NO_COLOR and TERM=dumb mean the same.")
@click.pass_context
def cli(ctx: click.Context, home: str | None, pairs: tuple[str, ...], plain: bool) -> None:
    """Institutional memory for AI coding agents.

    What one session learned, decided, broke or left open is available to the next.

    \b
    holdfast init                                    set up the clients on this machine
    holdfast remember "Migrate before you seed."     save a memory
    holdfast recall how do I set up the database     search by word or meaning
    holdfast recall --help                           options and examples of a command
    """
    if plain:
        os.environ["NO_COLOR"] = "1"
    ctx.obj = {name: value for name, _, value in (pair.partition("=") for pair in pairs)} | {"home": home}
    if ctx.invoked_subcommand is None:
        _greet()


def _greet() -> None:
    """Print five commands to start with."""
    from holdfast.hosts.cli.render import console

    out = console()
    out.print(f"[bold]holdfast[/] {__version__}  [dim]what an agent learned holds fast[/]\n")
    for command, meaning in (
        ('holdfast remember "Run the migrations before the seed script."', "save a memory"),
        ('holdfast recall "how do I set up the database"', "search by word or meaning"),
        ("holdfast list", "list the memories of this project"),
        ("holdfast init", "set up Claude Code, Codex and the others; shows every change first"),
        ("holdfast doctor", "check that everything works"),
    ):
        out.print(f"  [cyan]{command:<64}[/] {meaning}")
    out.print("\n[dim]holdfast --help lists every command; each has its own --help.[/]")


def main() -> None:
    """Run the command line; every failure ends in a clear message and a documented exit code."""
    speak_unicode(sys.stdout, sys.stderr)
    try:
        code = _run(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader (head, less) has closed the pipe. Python would report it again while closing stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code)


def speak_unicode(*streams: object) -> None:
    """Make stdout and stderr print any script: Windows gives pipes a code page, and some terminals cannot display everything."""
    for stream in streams:
        if isinstance(stream, TextIOWrapper) and stream.encoding.lower().replace("-", "") != "utf8":
            if stream.isatty():
                stream.reconfigure(errors="replace")
            else:
                stream.reconfigure(encoding="utf-8")


def _run(arguments: list[str]) -> int:
    try:
        code = cli.main(args=arguments, prog_name="holdfast", standalone_mode=False)
    except HoldfastError as problem:
        _report(problem, as_json="--json" in arguments)
        return problem.exit_code
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except click.Abort:
        return 1
    except click.exceptions.NoArgsIsHelpError as problem:  # a group without a command prints its help
        problem.show()
        return Invalid.exit_code
    except click.ClickException as problem:
        _report(_misused(problem), as_json="--json" in arguments)
        return Invalid.exit_code
    return code if isinstance(code, int) else 0  # the exit code of a command that ended early


def _misused(problem: click.ClickException) -> Invalid:
    """Return a usage error with the command's usage and where to find examples."""
    ctx = problem.ctx if isinstance(problem, click.UsageError) else None
    hint = f"{ctx.get_usage()}\n`{ctx.command_path} --help` has examples." if ctx else ""
    return Invalid(problem.format_message(), hint=hint)


def _report(problem: HoldfastError, *, as_json: bool) -> None:
    if as_json:
        import json

        from holdfast.model.fence import escaped

        print(escaped(json.dumps({"error": problem.code, "message": problem.message, "hint": problem.hint})))
    from holdfast.hosts.cli.render import print_error

    print_error(problem.message, problem.hint)

"""The `holdfast` command: finds the command, imports only what that command needs, and presents errors once."""

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

# Name, module that holds it, one line for the overview. Modules are imported when their command is called.
COMMANDS: dict[str, tuple[str, str]] = {
    "init": ("setup", "Set up the clients on this machine to use the memory."),
    "remember": ("memories", "Keep something for later sessions."),
    "recall": ("memories", "Find what is known about something."),
    "show": ("memories", "Show one memory in full."),
    "list": ("memories", "List memories, newest first."),
    "timeline": ("memories", "Show what was kept around one memory, or around the best hit of a question."),
    "revise": ("care", "Give a memory a new text, title, kind or labels."),
    "verify": ("truth", "Say that a memory was checked and still holds, or ask which do."),
    "check": ("truth", "Fail if the changes at hand make a memory of the team untrue."),
    "confirm": ("care", "Say yes to a memory that waits for it."),
    "cancel": ("care", "Say no to a memory that waits for a yes."),
    "forget": ("care", "Take a memory out of use, or erase it for good."),
    "restore": ("care", "Put a forgotten memory back to use, or a backup in the place of the store."),
    "history": ("care", "Show everything that happened to a memory."),
    "link": ("care", "Point one memory at another."),
    "unlink": ("care", "Take such a link away."),
    "use": ("care", "Say what became of a memory: it helped, was ignored, was wrong."),
    "rename-scope": ("care", "Give all memories of a scope another one."),
    "session": ("sessions", "Begin, look at and close sessions; transcripts."),
    "thread": ("threads", "Keep track of unfinished work."),
    "judge": ("agents", "Answer scars that were shown, or say what became of memories."),
    "brief": ("agents", "Print what is known about a plan, for a sub-agent."),
    "absorb": ("agents", "Keep what a sub-agent observed."),
    "log": ("agents", "List what was learned and decided."),
    "analyze": ("agents", "Show what sessions add up to."),
    "learn": ("learning", "Learn from the history of this repository."),
    "observer": ("learning", "Show who writes observations and what that costs."),
    "health": ("keeping", "Show how healthy the memory is, and what to do first."),
    "trust": ("keeping", "Show how far a memory is believed, or change it."),
    "hot": ("keeping", "Show the few memories that matter most now, or put some in and out."),
    "next": ("keeping", "Show what sessions turned to after a memory."),
    "quality": ("keeping", "Show what recall cost lately and whether it helped."),
    "maintain": ("keeping", "Retire what has served its time, give space back."),
    "graph": ("keeping", "Look at how memories, sessions, issues and people hang together."),
    "scan": ("scanning", "Look for secrets in everything that is kept, and mask them."),
    "audit": ("keeping", "Show what was taken away or put back, by whom and why."),
    "metrics": ("keeping", "Show what was counted."),
    "opening": ("hooks", "Print the brief a session would begin with."),
    "receipts": ("hooks", "Show what sessions were told unasked, and what became of it."),
    "work": ("hooks", "Take in what hooks dropped; they start this themselves."),
    "contradictions": ("knowledge", "Show memories that contradict each other, and say which holds."),
    "duplicates": ("knowledge", "Show memories that say nearly the same, and merge them."),
    "mine": ("knowledge", "Learn from logged output: what sessions said that will be true next time."),
    "bootstrap": ("documents", "Keep what the project's documents say."),
    "seed": ("documents", "Keep what one file says."),
    "compat": ("documents", "Run a command of another system by the name its users know."),
    "sync": ("replicas", "Bring the memory and its replicas together: git notes, markdown files."),
    "replica": ("replicas", "Turn replicas on or off, and show how they stand."),
    "share": ("replicas", "Let memories go to the team of this repository."),
    "unshare": ("replicas", "Keep memories here from now on."),
    "quarantine": ("quarantine", "Show what arrived from people nobody accepted yet."),
    "accept": ("quarantine", "Let what an author sends, or what waits, count."),
    "reject": ("quarantine", "Keep what an author sends, or what waits, out."),
    "export": ("carry", "Write the whole store as JSON lines, or its memories in another form."),
    "import": ("carry", "Take in what `export` wrote, or what another system kept."),
    "migrate": ("moving", "Move the store to PostgreSQL, or back to a file."),
    "backup": ("recovery", "Copy the store to one file, checked, while others go on."),
    "recover": ("recovery", "Save what can be saved of a damaged store."),
    "rebuild": ("upkeep", "Make views or vectors anew from the journal, or a store from markdown files."),
    "status": ("upkeep", "Show what is in the store and how it is doing."),
    "doctor": ("upkeep", "Check that everything works, and say how to mend what does not."),
    "config": ("upkeep", "Show every setting, what it means and where it came from."),
    "uninstall": ("setup", "Take out of every client what `init` put in."),
    "mcp": ("mcp", "Serve the memory to MCP clients over stdio or HTTP."),
    "web": ("web", "Open the viewer: see, search, judge and correct the memory in a browser."),
    "watch": ("web", "Follow what agents do and what the memory keeps, as it happens."),
    "completion": ("completion", "Print what a shell needs to complete commands and ids."),
    "serve": ("serve", "Serve the memory to a team: many users, each with a key."),
    "user": ("access", "Add, list and remove the users of a server."),
    "key": ("access", "Make, list, rotate and revoke the keys of a server's users."),
    "demo": ("demo", "Build a store to look around in: three months of a made-up team."),
    "bench": ("bench", "Measure retrieval quality and speed."),
}
# Headings of the overview, each above the command that opens its part.
HEADINGS = {
    "init": "Begin",
    "remember": "Keep and find",
    "revise": "Keep true",
    "session": "Work in sessions",
    "learn": "Look after what is known",
    "opening": "What sessions are told unasked",
    "contradictions": "Sort out and take in",
    "sync": "Share and carry",
    "rebuild": "Look after the store and the clients",
    "demo": "Try and measure",
}
EXIT_CODES = """\b
Exit codes:
  0   done
  1   something unexpected went wrong
  3   no such memory, or an ambiguous id
  4   refused: a duplicate, a secret, a state that does not allow it
  5   the store, the embedder or an optional part cannot be used
  64  the command or its input cannot be understood"""


class Lazy(click.Group):
    """A group that knows its commands by name and imports them one at a time."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the commands in the order a newcomer meets them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import and give one command."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"holdfast.hosts.cli.{COMMANDS[cmd_name][0]}")
        command = getattr(module, cmd_name.replace("-", "_") + "_command")
        assert isinstance(command, click.Command)
        command.epilog = command.epilog or examples_of(cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands by what they are for, without importing any."""
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

        found = [CompletionItem(name, help=line) for name, (_, line) in COMMANDS.items() if name.startswith(incomplete)]
        return found + click.Command.shell_complete(self, ctx, incomplete)

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

    What one session learned, decided, broke or left open is there in the next.

    \b
    holdfast init                                    set up the clients on this machine
    holdfast remember "Migrate before you seed."     keep something
    holdfast recall how do I set up the database     find it again, by word or meaning
    holdfast recall --help                           what a command can do, with examples
    """
    if plain:
        os.environ["NO_COLOR"] = "1"
    ctx.obj = {name: value for name, _, value in (pair.partition("=") for pair in pairs)} | {"home": home}
    if ctx.invoked_subcommand is None:
        from holdfast.hosts.cli.start import greet

        greet()


def main() -> None:
    """Run the command line; every failure ends in one clear line and a documented exit code."""
    speak_unicode(sys.stdout, sys.stderr)
    try:
        code = _run(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader (head, less) has seen enough. Python would complain once more while closing stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code)


def speak_unicode(*streams: object) -> None:
    """Let texts in any script be printed: Windows gives pipes a code page, and older terminals cannot show everything."""
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
    except click.exceptions.NoArgsIsHelpError as problem:  # a group alone shows what it can do
        problem.show()
        return Invalid.exit_code
    except click.ClickException as problem:
        _report(_misused(problem), as_json="--json" in arguments)
        return Invalid.exit_code
    return code if isinstance(code, int) else 0  # what a command left with, if it left early


def _misused(problem: click.ClickException) -> Invalid:
    """Say what was wrong with the words of a command, how it is meant, and where its examples are."""
    ctx = problem.ctx if isinstance(problem, click.UsageError) else None
    hint = f"{ctx.get_usage()}\n`{ctx.command_path} --help` has examples." if ctx else ""
    return Invalid(problem.format_message(), hint=hint)


def _report(problem: HoldfastError, *, as_json: bool) -> None:
    if as_json:
        import json

        from holdfast.model.fence import escaped

        print(escaped(json.dumps({"error": problem.code, "message": problem.message, "hint": problem.hint})))
    from holdfast.hosts.cli.render import say_error

    say_error(problem.message, problem.hint)

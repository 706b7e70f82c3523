"""The `holdfast` command: find a command, import only its module, and report errors."""

import errno
import json
import os
import sys
import traceback
from collections.abc import Mapping
from difflib import get_close_matches
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from holdfast import __version__
from holdfast.hosts.cli.command import COMMANDS, FIRST, HEADINGS, HIDDEN, MOVED, SYNONYMS, Entry, built
from holdfast.model.errors import HoldfastError, Invalid, StoreError, StoreFull, StoreUnwritable
from holdfast.model.patterns import tables

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_TEXTS = tables(__file__)
EXIT_CODES = "\n".join(("\b\nExit codes:", *(f"  {code:<5}{meaning}" for code, meaning in _TEXTS["exit codes"])))
WELCOME = tuple(line for line, _ in _TEXTS["welcome"])
FAILED, INTERRUPTED = 70, 130
VARIABLE = "_HOLDFAST_COMPLETE"
# A slip of the finger must not lead to one of these.
NEVER_GUESSED = frozenset({"forget", "uninstall", "unlink", "unshare", *HIDDEN})


class Lazy(click.Group):
    """A group that imports each command when it is needed."""

    def __init__(self, *args: Any, entries: Mapping[str, Entry], **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.entries = entries

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the commands in the order a newcomer meets them."""
        return list(self.entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import and return a command."""
        if (entry := self.entries.get(cmd_name)) is None:
            return None
        texts: dict[str, Any] = {"help": "\n\n".join(entry.help), "epilog": entry.epilog}
        if entry.module == "+":
            return Lazy(cmd_name, entries=entry.commands, **texts)
        command = built(entry, **texts)
        if not entry.commands:
            return command
        texts |= {"callback": command.callback, "params": command.params, "invoke_without_command": True}
        return Lazy(cmd_name, entries=entry.commands, **texts)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands under their headings, without importing any."""
        headings = HEADINGS if self.entries is COMMANDS else {"Commands": self.entries}
        for heading, entries in headings.items():
            with formatter.section(heading):
                formatter.write_dl([(name, entry.line) for name, entry in entries.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Complete a command's name without importing any."""
        from click.shell_completion import CompletionItem

        names = [name for name in self.entries if name.startswith(incomplete) and name not in HIDDEN]
        items = [CompletionItem(name, help=self.entries[name].line) for name in names]
        return items + click.Command.shell_complete(self, ctx, incomplete)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Name the right command for one that does not exist."""
        word = args[0] if args else "-"
        if word in self.entries or word.startswith("-"):
            return super().resolve_command(ctx, args)
        path, known = ctx.command_path.partition(" ")[2], word.lower()
        if path and ((near := _nearest(known, {name: name for name in self.entries})) or known in COMMANDS):
            meant = f"{path} {near}" if near else known
            ctx.fail(f"There is no command `holdfast {path} {word}`. Did you mean `holdfast {meant}`?")
        if known in MOVED:
            ctx.fail(f"`{word}` is `holdfast {MOVED[known]}` now.")
        meant = SYNONYMS.get(known) or _nearest(known, {name: name for name in COMMANDS} | SYNONYMS | MOVED)
        hint = f" Did you mean `holdfast {meant}`?" if meant else ""
        raise click.UsageError(f"There is no command {word!r}.{hint}", ctx)


def _nearest(word: str, meant: Mapping[str, str]) -> str:
    """Return what is meant by the name that a mistyped word resembles, never one that removes something; "" if there is none."""
    names = [name for name, command in meant.items() if not {name, command} & NEVER_GUESSED]
    near = get_close_matches(word, names, n=1, cutoff=0.8)
    return meant[near[0]] if near else ""


@click.group(
    "cli",
    cls=Lazy,
    entries=COMMANDS,
    invoke_without_command=True,
    epilog=EXIT_CODES,
    context_settings={"help_option_names": ["-h", "--help"]},
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
    holdfast init                                                     set up
    holdfast remember "Run the migrations before the seed script."    save
    holdfast recall what comes first, seeding or migrating            find
    holdfast help recall                                              explain
    """
    if plain:
        os.environ["NO_COLOR"] = "1"
    ctx.obj = {name: value for name, _, value in (pair.partition("=") for pair in pairs)} | {"home": home}
    if ctx.invoked_subcommand is None:
        from holdfast.hosts.cli.render import page

        page("welcome", __version__, WELCOME, FIRST)()


def help_command(words: tuple[str, ...] = (), *, all_: bool = False) -> None:
    found = click.get_current_context().find_root()
    for word in words:
        group = found.command
        if not isinstance(group, click.Group):
            break
        name, inner, _ = group.resolve_command(found, [word])
        assert inner is not None
        found = click.Context(inner, info_name=name, parent=found)
    click.echo(found.get_help())
    if all_ and not words:
        formatter = found.make_formatter()
        with formatter.section("For programs"):
            formatter.write_dl([(name, entry.line) for name, entry in HIDDEN.items()])
        click.echo(formatter.getvalue())


def completion_command(shell: Literal["bash", "zsh", "fish"]) -> None:
    from click.shell_completion import get_completion_class

    completion = get_completion_class(shell)
    assert completion is not None
    root = click.get_current_context().find_root().command
    place = dict(_TEXTS["completion"])[shell]
    click.echo(f"# {place}\n{completion(root, {}, 'holdfast', VARIABLE).source()}")


def main() -> None:
    """Run the command line; every failure ends in a clear message and a documented exit code."""
    for name in ("stdout", "stderr"):  # a closed one would be the number of the next file that is opened
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w"))  # noqa: SIM115  until the process ends
    # Print any script: Windows gives pipes a code page, and some terminals cannot display everything.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and stream.encoding.lower().replace("-", "") != "utf8":
            stream.reconfigure(errors="replace") if stream.isatty() else stream.reconfigure(encoding="utf-8")
    try:
        code = _run(sys.argv[1:])
    except (BrokenPipeError, SystemExit):  # the reader (head, less) has closed the pipe; click exits only then
        _drop_output()
        code = 0
    except KeyboardInterrupt:
        code = INTERRUPTED
    except Exception:  # noqa: BLE001  a bug: the report needs where it happened
        traceback.print_exc()
        click.echo("This is a bug in Holdfast. Please report it with the lines above.", err=True)
        code = FAILED
    sys.exit(code)


def _drop_output() -> None:
    """Send what is left of the output nowhere: Python would report again, while closing it, that it cannot be written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(arguments: list[str]) -> int:
    failed: HoldfastError
    try:
        code = cli.main(args=arguments, prog_name="holdfast", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0  # the exit code of a command that ended early
    except HoldfastError as problem:
        failed = problem
    except OSError as problem:
        if problem.errno not in _REFUSED:
            raise
        if problem.filename is None:
            _drop_output()
        failed = _REFUSED[problem.errno](f"{problem.filename or 'The output'}: {problem.strerror}.")
    except click.Abort as problem:  # Ctrl-C, or the end of input at a question
        if sys.stdin.isatty() or isinstance(problem.__cause__, KeyboardInterrupt):
            return INTERRUPTED
        click.echo(err=True)
        failed = Invalid("Nothing was done.", hint="Use --yes to do it without asking.")
    except click.exceptions.NoArgsIsHelpError as problem:  # a group without a command prints its help
        problem.show()
        return Invalid.exit_code
    except click.ClickException as problem:
        ctx = problem.ctx if isinstance(problem, click.UsageError) else None
        usage = " ".join(ctx.get_usage().split()) if ctx else ""  # in one line: it is wrapped with its indent later
        hint = f"{usage}\n`{ctx.command_path} --help` has examples." if ctx else ""
        failed = Invalid(" ".join(problem.format_message().split()), hint=hint)
    if "--json" in arguments:
        from holdfast.model.text import escaped

        print(escaped(json.dumps({"error": failed.code, "message": failed.message, "hint": failed.hint})))
    from holdfast.hosts.cli.render import print_error

    print_error(failed.message, failed.hint)
    return failed.exit_code


# The system refuses to read or write a file, whichever it is: no bug.
_REFUSED: dict[int | None, type[StoreError]] = {
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), StoreUnwritable),
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), StoreFull),
}

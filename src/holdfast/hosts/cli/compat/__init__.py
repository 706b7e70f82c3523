"""`holdfast compat`: the commands of other systems, with the names and options of their documents."""

from importlib import import_module

import click

# Each module has its commands as `group`, and is imported when one of them is called.
SYSTEMS = ("gitmem", "memory-mcp", "git-notes", "claude-mem", "bettermemory")


@click.command(
    "compat",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.argument("system", type=click.Choice(SYSTEMS), metavar="SYSTEM")
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="COMMAND [OPTIONS]...")
@click.pass_context
def compat_command(ctx: click.Context, system: str, words: tuple[str, ...]) -> None:
    """Run a command of another system, as its documents write it.

    SYSTEM is gitmem, memory-mcp, git-notes, claude-mem or bettermemory; its defaults and environment variables are in force. `holdfast compat
    SYSTEM --help` lists its commands.
    """
    group: click.Group = import_module(f"holdfast.hosts.cli.compat.{system.replace('-', '_')}").group
    root = ctx.find_root()
    root.obj = {**root.obj, "preset": system}
    with group.make_context(f"compat {system}", list(words), parent=root) as own:
        group.invoke(own)

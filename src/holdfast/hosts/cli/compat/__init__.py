"""`holdfast compat`: the commands of other systems, with the names and options of their documents."""

from importlib import import_module

import click

# Each module has its commands as `group`, and is imported when one of them is called.
SYSTEMS = ("gitmem", "memory-mcp", "git-notes", "claude-mem", "bettermemory")


@click.command("compat", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
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


def run(*words: str, **flags: bool | tuple[str, ...]) -> None:
    """Run a command of Holdfast with the settings in force; `flags` are options as they were given to the command of the other system."""
    given = list(words)
    for name, value in flags.items():
        option = f"--{name.replace('_', '-')}"
        given += ([option] if value else []) if isinstance(value, bool) else [w for one in value for w in (option, one)]
    root = click.get_current_context().find_root()
    assert isinstance(root.command, click.Group)
    command = root.command.get_command(root, given[0])
    assert command is not None
    with command.make_context(given[0], given[1:], parent=root) as own:
        command.invoke(own)


def version_option() -> click.Option:
    """Return the option that prints the version of Holdfast."""

    def show(ctx: click.Context, _: click.Parameter, value: bool) -> None:
        if value:
            from holdfast import __version__

            click.echo(f"holdfast {__version__}")
            ctx.exit()

    return click.Option(["--version"], is_flag=True, is_eager=True, expose_value=False, callback=show)

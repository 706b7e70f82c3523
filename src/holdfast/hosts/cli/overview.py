"""`holdfast help`: the overview, or the help of a command."""

import click

from holdfast.hosts.cli.commands import HIDDEN


@click.command("help")
@click.argument("words", nargs=-1, metavar="[COMMAND]...")
@click.option("--all", "everything", is_flag=True, help="Also commands for programs: hooks and other systems.")
@click.pass_context
def help_command(ctx: click.Context, words: tuple[str, ...], everything: bool) -> None:
    """Show every command, or the help of one."""
    found = ctx.find_root()
    for word in words:
        group = found.command
        if not isinstance(group, click.Group):
            break
        name, command, _ = group.resolve_command(found, [word])
        assert command is not None
        found = click.Context(command, info_name=name, parent=found)
    click.echo(found.get_help())
    if everything and not words:
        formatter = found.make_formatter()
        with formatter.section("For programs"):
            formatter.write_dl([(name, entry.line) for name, entry in HIDDEN.items()])
        click.echo(formatter.getvalue())

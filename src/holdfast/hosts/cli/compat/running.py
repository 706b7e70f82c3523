"""Run our own commands for those of other systems."""

import click


def run(*words: str) -> None:
    """Run a command of Holdfast with the settings in force."""
    root = click.get_current_context().find_root()
    assert isinstance(root.command, click.Group)
    command = root.command.get_command(root, words[0])
    assert command is not None
    with command.make_context(words[0], list(words[1:]), parent=root) as own:
        command.invoke(own)


def version_option() -> click.Option:
    """Return the option that prints the version of Holdfast."""

    def show(ctx: click.Context, _: click.Parameter, value: bool) -> None:
        if value:
            from holdfast import __version__

            click.echo(f"holdfast {__version__}")
            ctx.exit()

    return click.Option(["--version"], is_flag=True, is_eager=True, expose_value=False, callback=show)

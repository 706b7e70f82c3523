"""`holdfast completion`: print a shell's completion script."""

import click

VARIABLE = "_HOLDFAST_COMPLETE"
# How to install each script, as the comment on top of it says.
PLACES = {
    "bash": 'Add to ~/.bashrc:  eval "$(holdfast completion bash)"',
    "zsh": 'Add to ~/.zshrc, after compinit:  eval "$(holdfast completion zsh)"',
    "fish": "Once:  holdfast completion fish > ~/.config/fish/completions/holdfast.fish",
}


@click.command("completion")
@click.argument("shell", type=click.Choice(list(PLACES)))
def completion_command(shell: str) -> None:
    """Print a script that lets a shell complete commands, options, kinds, scopes and ids.

    \b
    eval "$(holdfast completion bash)"      in ~/.bashrc
    eval "$(holdfast completion zsh)"       in ~/.zshrc, after compinit
    holdfast completion fish > ~/.config/fish/completions/holdfast.fish
    """
    from click.shell_completion import get_completion_class

    completion = get_completion_class(shell)
    assert completion is not None
    root = click.get_current_context().find_root().command
    click.echo(f"# {PLACES[shell]}\n{completion(root, {}, 'holdfast', VARIABLE).source()}")

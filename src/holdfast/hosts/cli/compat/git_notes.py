"""git-notes-memory has no command line: its slash commands are in the plugin, and here under the same names."""

import click

from holdfast.hosts.cli.compat.running import run, version_option

group = click.Group("git-notes", help="The slash commands of git-notes-memory.", params=[version_option()])
# Its slash commands without /memory: and ours that do the same.
COMMANDS = {
    "capture": ("remember",),
    "recall": ("recall",),
    "search": ("recall",),
    "status": ("status",),
    "sync": ("sync",),
    "health": ("stats", "health"),
    "validate": ("doctor",),
    "metrics": ("stats", "metrics"),
    "traces": ("watch", "--once"),
    "audit-log": ("stats", "audit"),
    "scan-secrets": ("store", "scan"),
}


def _add(name: str, ours: tuple[str, ...]) -> None:
    @group.command(name, context_settings={"ignore_unknown_options": True}, help=f"holdfast {' '.join(ours)}")
    @click.argument("words", nargs=-1, type=click.UNPROCESSED)
    def command(words: tuple[str, ...]) -> None:
        run(*ours, *words)


for _name, _ours in COMMANDS.items():
    _add(_name, _ours)

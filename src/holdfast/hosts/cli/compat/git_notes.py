"""git-notes-memory has no command line: its slash commands are in the plugin, and here under the same names and options."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import click

from holdfast.hosts.cli.compat import run, version_option
from holdfast.model.errors import Invalid
from holdfast.model.kinds import KINDS
from holdfast.policy.secrets.find import find_secrets

group = click.Group("git-notes", help="The slash commands of git-notes-memory.", params=[version_option()])
# Its ten namespaces and the kind that takes the memories of each.
NAMESPACES = {name: kind.name for kind in KINDS.values() if (name := kind.names.get("git-notes"))} | {
    "learnings": "learning",
    "patterns": "pattern",
    "progress": "progress",
}
ALLOWLIST = (
    "There is no list of exceptions: a text that looks like a secret is refused, or stored with the secret masked (holdfast remember --redact). "
    "Reword it if it is none."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One of its commands: ours that does the same, and its options in our words; None if there is no counterpart."""

    ours: tuple[str, ...]
    options: Mapping[str, str | None] = field(default_factory=dict)  # with a value
    flags: Mapping[str, tuple[str, ...] | None] = field(default_factory=dict)  # (): what is done anyway
    modes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # first words that mean another command of ours


COMMANDS = {
    "recall": Command(ours=("recall",), options={"--namespace": "--kind", "--limit": "--limit"}),
    "search": Command(
        ours=("recall",),
        options={"--namespace": "--kind", "--limit": "--limit", "--type": None},
        flags={"--verbose": None},
    ),
    "status": Command(ours=("status",), flags={"--verbose": None}),
    "sync": Command(
        ours=("sync",),
        flags={"--remote": (), "--dry-run": ("--dry-run",)},
        modes={"full": ("store", "rebuild"), "repair": ("store", "rebuild"), "verify": ("doctor",)},
    ),
    "health": Command(ours=("stats", "health"), flags={"--timing": None, "--verbose": None}),
    "validate": Command(ours=("doctor",), flags={"--verbose": None, "--fix": None}),
    "metrics": Command(ours=("stats", "metrics"), options={"--format": None, "--filter": None}),
    "traces": Command(
        ours=("watch", "--once"), options={"--operation": "--what", "--status": None, "--limit": "--last"}
    ),
    "audit-log": Command(
        ours=("stats", "audit"),
        options={"--since": None, "--namespace": None, "--type": "--verb", "--limit": "--limit"},
        flags={"--json": ("--json",)},
    ),
    "scan-secrets": Command(
        ours=("store", "scan"), options={"--namespace": None}, flags={"--fix": ("--redact", "--yes"), "--dry-run": ()}
    ),
}
# Values that mean something of their own here, or what is done anyway.
VALUES = {
    ("--type", "text"): ("--words",),
    ("--type", "semantic"): (),
    ("--format", "json"): ("--json",),
    ("--format", "text"): (),
}


def translated(command: Command, words: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
    """Return our command for the words of one of theirs, and the options that have no counterpart here."""
    left, ours, unused = list(words), list[str](), list[str]()
    base = command.modes.get(left[0], ()) if left else ()
    if base:
        left = left[1:]
    while left:
        word = left.pop(0)
        name, _, given = word.partition("=")
        if name in command.flags:
            chosen = command.flags[name]
        elif name in command.options:
            value = given or (left.pop(0) if left else "")
            value = NAMESPACES.get(value, value) if name == "--namespace" else value
            option = command.options[name]
            chosen = VALUES.get((name, value), (option, value) if option else None)
        else:
            chosen = (word,)
        ours += chosen or ()
        unused += [name] if chosen is None else []
    return (*(base or command.ours), *ours), unused


def captured(words: Sequence[str]) -> tuple[str, ...]:
    """Return our command for `capture [NAMESPACE] SUMMARY -- CONTENT`."""
    namespace, left = ("", list(words)) if not words or words[0] not in NAMESPACES else (words[0], list(words[1:]))
    place = left.index("--") if "--" in left else len(left)
    summary, content = " ".join(left[:place]), " ".join(left[place + 1 :])
    if not summary:
        raise Invalid("The summary is empty.", hint='capture decisions "Chose PostgreSQL" -- "It has row locks."')
    title = ("--title", summary) if content else ()
    return ("remember", "--kind", NAMESPACES.get(namespace, "learning"), *title, "--", content or summary)


def _add(name: str, explanation: str, work: Callable[[tuple[str, ...]], None]) -> None:
    settings = {"ignore_unknown_options": True, "allow_interspersed_args": False}
    words = click.Argument(["words"], nargs=-1, type=click.UNPROCESSED)
    group.add_command(click.Command(name, settings, callback=work, params=[words], help=explanation))


def _passing(command: Command) -> Callable[[tuple[str, ...]], None]:
    def pass_on(words: tuple[str, ...]) -> None:
        ours, unused = translated(command, words)
        if unused:
            click.echo(f"Without effect here: {', '.join(unused)}.", err=True)
        run(*ours)

    return pass_on


def _test_secret(words: tuple[str, ...]) -> None:
    found = find_secrets(" ".join(words))
    click.echo(f"A secret ({', '.join(sorted({secret.name for secret in found}))})." if found else "Not a secret.")


for _name, _command in COMMANDS.items():
    _add(_name, f"holdfast {' '.join(_command.ours)}", _passing(_command))
_add("capture", "holdfast remember: [NAMESPACE] SUMMARY -- CONTENT", lambda words: run(*captured(words)))
_add("secrets-allowlist", "Explain how a false alarm is handled.", lambda words: click.echo(ALLOWLIST))  # noqa: ARG005
_add("test-secret", "Check whether a text looks like a secret; store nothing.", _test_secret)

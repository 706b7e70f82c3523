"""git-notes-memory has no command line: its slash commands are in the plugin, and here under the same names and options."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import click

from holdfast.hosts.cli.compat.running import run, version_option
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
    """One of its commands: ours that does the same, and its options in our words (empty: nothing to choose here)."""

    ours: tuple[str, ...]
    options: Mapping[str, str] = field(default_factory=dict)  # with a value
    flags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    modes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # first words that mean another command of ours


COMMANDS = {
    "recall": Command(ours=("recall",), options={"--namespace": "--kind", "--limit": "--limit"}),
    "search": Command(
        ours=("recall",), options={"--namespace": "--kind", "--limit": "--limit", "--type": ""}, flags={"--verbose": ()}
    ),
    "status": Command(ours=("status",), flags={"--verbose": ()}),
    "sync": Command(
        ours=("sync",),
        flags={"--remote": (), "--dry-run": ("--dry-run",)},
        modes={"full": ("store", "rebuild"), "repair": ("store", "rebuild"), "verify": ("doctor",)},
    ),
    "health": Command(ours=("stats", "health"), flags={"--timing": (), "--verbose": ()}),
    "validate": Command(ours=("doctor",), flags={"--verbose": (), "--fix": ()}),
    "metrics": Command(ours=("stats", "metrics"), options={"--format": "", "--filter": ""}),
    "traces": Command(ours=("watch", "--once"), options={"--operation": "--what", "--status": "", "--limit": "--last"}),
    "audit-log": Command(
        ours=("stats", "audit"),
        options={"--since": "", "--namespace": "", "--type": "--verb", "--limit": "--limit"},
        flags={"--json": ("--json",)},
    ),
    "scan-secrets": Command(
        ours=("store", "scan"), options={"--namespace": ""}, flags={"--fix": ("--redact", "--yes"), "--dry-run": ()}
    ),
}
# Values that mean something of their own here.
VALUES = {("--type", "text"): ("--words",), ("--format", "json"): ("--json",)}


def translated(command: Command, words: Sequence[str]) -> tuple[str, ...]:
    """Return our command for the words of one of theirs."""
    left, ours = list(words), list[str]()
    base = command.modes.get(left[0], ()) if left else ()
    if base:
        left = left[1:]
    while left:
        word = left.pop(0)
        name, _, given = word.partition("=")
        if name in command.flags:
            ours += command.flags[name]
        elif name in command.options:
            value = given or (left.pop(0) if left else "")
            value = NAMESPACES.get(value, value) if name == "--namespace" else value
            ours += VALUES.get((name, value)) or ([command.options[name], value] if command.options[name] else [])
        else:
            ours.append(word)
    return (*(base or command.ours), *ours)


def captured(words: Sequence[str]) -> tuple[str, ...]:
    """Return our command for `capture [NAMESPACE] SUMMARY -- CONTENT`."""
    namespace, left = ("", list(words)) if not words or words[0] not in NAMESPACES else (words[0], list(words[1:]))
    place = left.index("--") if "--" in left else len(left)
    summary, content = " ".join(left[:place]), " ".join(left[place + 1 :])
    if not summary:
        raise Invalid("What should be kept?", hint='capture decisions "Chose PostgreSQL" -- "It has row locks."')
    title = ("--title", summary) if content else ()
    return ("remember", "--kind", NAMESPACES.get(namespace, "learning"), *title, "--", content or summary)


def _add(name: str, explanation: str, work: Callable[[tuple[str, ...]], None]) -> None:
    settings = {"ignore_unknown_options": True, "allow_interspersed_args": False}

    @group.command(name, context_settings=settings, help=explanation)
    @click.argument("words", nargs=-1, type=click.UNPROCESSED)
    def command(words: tuple[str, ...]) -> None:
        work(words)


def _test_secret(words: tuple[str, ...]) -> None:
    found = find_secrets(" ".join(words))
    click.echo(f"A secret ({', '.join(sorted({secret.name for secret in found}))})." if found else "Not a secret.")


for _name, _command in COMMANDS.items():
    _add(
        _name,
        f"holdfast {' '.join(_command.ours)}",
        lambda words, command=_command: run(*translated(command, words)),  # type: ignore[misc]
    )
_add("capture", "holdfast remember: [NAMESPACE] SUMMARY -- CONTENT", lambda words: run(*captured(words)))
_add("secrets-allowlist", "Explain how a false alarm is handled.", lambda _: click.echo(ALLOWLIST))
_add("test-secret", "Check whether a text looks like a secret; store nothing.", _test_secret)

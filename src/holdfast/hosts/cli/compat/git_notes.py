"""git-notes-memory has no command line: its slash commands are in the plugin, and here under the same names and options."""

from collections.abc import Sequence

import click

from holdfast.hosts.cli.compat import NAMESPACES, passing, run
from holdfast.model.errors import Invalid
from holdfast.policy.secrets.find import find_secrets

ALLOWLIST = (
    "There is no list of exceptions: a text that looks like a secret is refused, or stored with the secret masked (holdfast remember --redact). "
    "Reword it if it is none."
)


def captured(words: Sequence[str]) -> tuple[str, ...]:
    """Return our command for `capture [NAMESPACE] SUMMARY -- CONTENT`."""
    namespace, left = ("", list(words)) if not words or words[0] not in NAMESPACES else (words[0], list(words[1:]))
    place = left.index("--") if "--" in left else len(left)
    summary, content = " ".join(left[:place]), " ".join(left[place + 1 :])
    if not summary:
        raise Invalid("The summary is empty.", hint='capture decisions "Chose PostgreSQL" -- "It has row locks."')
    title = ("--title", summary) if content else ()
    return ("remember", "--kind", NAMESPACES.get(namespace, "learning"), *title, "--", content or summary)


def _test_secret(words: tuple[str, ...]) -> None:
    found = find_secrets(" ".join(words))
    click.echo(f"A secret ({', '.join(sorted({secret.name for secret in found}))})." if found else "Not a secret.")


capture_command = passing(lambda words: run(*captured(words)))
secrets_allowlist_command = passing(lambda _words: click.echo(ALLOWLIST))
test_secret_command = passing(_test_secret)

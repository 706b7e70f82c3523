"""The commands of claude-mem's worker, as its hooks call them."""

import sys
from typing import Literal

import click

from holdfast.hosts.cli.command import command, opened
from holdfast.surfaces.claude_mem import shapes
from holdfast.verbs.records.read import called
from holdfast.verbs.search.observations import recent

EVENTS = {"session-init": "UserPromptSubmit", "observation": "PostToolUse", "summarize": "Stop"}


@command(json=False)
def start_command() -> None:
    """Report that nothing needs to be started: hooks start a worker that ends by itself."""
    click.echo("No worker is needed; `holdfast web --port 37777` serves the viewer and the HTTP interface.")


@command(json=False)
def hook_command(
    client: str, what: Literal["context", "user-message", "session-init", "observation", "summarize"]
) -> None:
    """Run one of its hooks: print the context of a session, or store the event on stdin. `user-message` does nothing."""
    if what == "user-message":  # it reported to the user, at the start of a session, that context was loaded
        return
    if what == "context":
        with opened() as memory:
            observed = called(memory, recent(memory, [memory.project]))
            click.echo(shapes.context(memory.project, observed, memory.clock.now()))
        return
    from holdfast.hosts.hooks.hook import main

    main([EVENTS[what], "--client", client, "--preset", "claude-mem"])
    sys.stdout.flush()

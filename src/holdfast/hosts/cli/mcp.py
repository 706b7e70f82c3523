"""`holdfast mcp`: the server that MCP clients start."""

from contextlib import ExitStack

import click

from holdfast.hosts.cli.options import opened
from holdfast.verbs.memory import Memory


@click.command("mcp")
@click.option(
    "--surface", "names", multiple=True, default=("core",), show_default=True, help="Which tools to offer; repeatable."
)
def mcp_command(names: tuple[str, ...]) -> None:
    r"""Serve the memory to an MCP client over stdio.

    Clients start this themselves. To try it by hand, add it to one, for instance:

    \b
    claude mcp add holdfast -- holdfast mcp
    codex mcp add holdfast -- holdfast mcp
    """
    from holdfast.hosts.mcp.protocol import Server
    from holdfast.hosts.mcp.stdio import main
    from holdfast.model.errors import Invalid
    from holdfast.surfaces.core.tools import surface
    from holdfast.surfaces.tool import Call, once

    known = {"core": surface}
    for name in names:
        if name not in known:
            raise Invalid(f"There is no surface {name!r}.", hint=f"Surfaces are {', '.join(known)}.")
    context = click.get_current_context()

    def open_here() -> Memory:
        with context:  # a tool is called from a thread that knows no command line
            return opened()

    with ExitStack() as stack:

        def open_for_good() -> Memory:
            memory = stack.enter_context(open_here())
            if memory.embedder is not None:
                from holdfast.verbs.embed import keeping_up

                stack.enter_context(keeping_up(memory))
            return memory

        main(Server([known[name] for name in dict.fromkeys(names)], Call(open=once(open_for_good))))

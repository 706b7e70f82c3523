"""The entry point: a plain `holdfast mcp`, as clients start it, goes straight to the server, anything else to the command line.

Clients start a server with every session and wait for its list of tools; importing the command-line library alone would
cost as much CPU as everything else.
"""

import os
import sys
from collections.abc import Sequence

from holdfast.model.errors import HoldfastError


def main() -> None:
    """Run the MCP server or the command line."""
    names = _surfaces_to_serve(sys.argv[1:])
    if names is None:
        from holdfast.hosts.cli.main import main as command_line

        command_line()
        return
    from holdfast.hosts.mcp import stdio
    from holdfast.hosts.mcp.serving import serving

    if plugin := os.environ.get("COPILOT_PLUGIN_ROOT"):
        stdio.leave(plugin)
    try:
        with serving(names, {}) as server:
            stdio.main(server)
    except HoldfastError as problem:
        print(f"holdfast: {problem}", file=sys.stderr)
        sys.exit(problem.exit_code)


def _surfaces_to_serve(arguments: Sequence[str]) -> list[str] | None:
    """Return the surfaces of a plain `mcp [--surface NAME]…`; None if there are other arguments."""
    if not arguments or arguments[0] != "mcp":
        return None
    from holdfast.hosts.mcp.serving import SURFACES

    flags, names = arguments[1::2], list(arguments[2::2])
    if len(flags) != len(names) or set(flags) - {"--surface"} or set(names) - set(SURFACES):
        return None
    return names or ["core"]

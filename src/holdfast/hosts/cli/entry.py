"""The entry point: a plain `holdfast mcp`, as clients start it, goes straight to the server, anything else to the command line.

Clients start a server with every session and wait for its list of tools; importing the command-line library alone would
cost as much CPU as everything else.
"""

import os
import sys

from holdfast.model.errors import HoldfastError


def main() -> None:
    """Run the MCP server for a plain `mcp [--surface NAME]…`, else the command line."""
    flags, names = sys.argv[2::2], sys.argv[3::2]
    if sys.argv[1:2] == ["mcp"] and flags == ["--surface"] * len(names):
        from holdfast.hosts.mcp import stdio
        from holdfast.hosts.mcp.serving import SURFACES, serving

        if set(names) <= set(SURFACES):
            if plugin := os.environ.get("COPILOT_PLUGIN_ROOT"):
                stdio.leave(plugin)
            try:
                with serving(names or ["core"], {}) as server:
                    stdio.main(server)
            except HoldfastError as problem:
                print(f"holdfast: {problem}", file=sys.stderr)
                sys.exit(problem.exit_code)
            return
    from holdfast.hosts.cli.main import main as command_line

    command_line()

"""Memory MCP's tools on a real store: the scripts beside this."""

from tests.surfaces.scripts import scripts_in

scripts_in(globals())

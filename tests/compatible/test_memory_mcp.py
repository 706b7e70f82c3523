"""Memory MCP's API reference, tried literally: the scripts beside this."""

from tests.compatible.scripts import scripts_in

globals().update(scripts_in(__file__))

"""The compatible surface of Memory MCP: memories by integer ids, a hot cache, trust, mining, predictions, maintenance."""

from holdfast.surfaces.memory_mcp.tools import surface

__all__ = ["surface"]

"""The compatible surface of Memory MCP: memories by integer ids, a hot cache, trust, mining, predictions, maintenance."""

from holdfast.surfaces.contract import surface_of
from holdfast.surfaces.memory_mcp import link_tools, memory_tools, shapes, store_tools

surface = surface_of(shapes.CONTRACT, memory_tools, link_tools, store_tools, present_error=shapes.present_error)

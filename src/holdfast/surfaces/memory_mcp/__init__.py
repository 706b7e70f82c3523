"""The compatible surface of Memory MCP: memories by integer ids, a hot cache, trust, mining, predictions, maintenance."""

from holdfast.surfaces.contract import surface_of
from holdfast.surfaces.memory_mcp import knowledge, memories, shapes, upkeep

surface = surface_of(shapes.CONTRACT, memories, knowledge, upkeep, present_error=shapes.present_error)

"""The compatible surface of Memory MCP: memories by integer ids, a hot cache, trust, mining, predictions, maintenance."""

from holdfast.model.errors import HoldfastError
from holdfast.surfaces.maps import problem_text, surface_of, text_or_json
from holdfast.surfaces.memory_mcp.tools import CONTRACT, ROWS, TERMS


def present_error(problem: HoldfastError) -> str:
    """Format an error as an object with success false."""
    return text_or_json({"success": False, "error": problem_text(problem)})


surface = surface_of(CONTRACT, ROWS, terms=TERMS, present_error=present_error)

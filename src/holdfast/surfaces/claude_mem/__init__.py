"""The compatible surface of claude-mem: an index, a timeline and full texts, by integer ids."""

from holdfast.model.errors import HoldfastError
from holdfast.surfaces.claude_mem.tools import CONTRACT, ROWS
from holdfast.surfaces.maps import problem_text, surface_of


def present_error(problem: HoldfastError) -> str:
    """Format an error as one line."""
    return f"Error: {problem_text(problem)}"


surface = surface_of(CONTRACT, ROWS, present_error=present_error)

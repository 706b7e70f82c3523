"""The compatible surface of GitMem: sessions with a closing ceremony, scars that need confirmation, threads."""

from holdfast.model.errors import HoldfastError
from holdfast.surfaces.gitmem.tools import CONTRACT, ROWS, TERMS, memory_for
from holdfast.surfaces.maps import surface_of, text_or_json


def present_error(problem: HoldfastError) -> str:
    """Format an error as GitMem documents it."""
    message = str(problem) if problem.problems else problem.hint or problem.message
    errors = list(problem.problems) or [problem.message]
    return text_or_json({"success": False, "errors": errors, "message": message})


surface = surface_of(CONTRACT, ROWS, terms=TERMS, memory_for=memory_for, present_error=present_error)

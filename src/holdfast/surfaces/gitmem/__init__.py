"""The compatible surface of GitMem: sessions with a closing ceremony, scars that need confirmation, threads."""

from holdfast.surfaces.contract import surface_of
from holdfast.surfaces.gitmem import shapes, tools

surface = surface_of(tools.CONTRACT, tools, present_error=shapes.present_error)

"""The compatible surface of claude-mem: an index, a timeline and full texts, by integer ids."""

from holdfast.surfaces.claude_mem import shapes, tools
from holdfast.surfaces.contract import surface_of

surface = surface_of(tools.CONTRACT, tools, present_error=shapes.present_error)

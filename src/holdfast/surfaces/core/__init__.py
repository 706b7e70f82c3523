"""The native surface: a small set of tools, with resources and prompts."""

from holdfast.surfaces.core import prompts, resources, tools
from holdfast.surfaces.core.table import surface

__all__ = ["prompts", "resources", "surface", "tools"]

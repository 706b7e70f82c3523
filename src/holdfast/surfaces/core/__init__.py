"""The native surface: few tools that a model understands without a manual, with resources and prompts."""

from holdfast.surfaces.core import prompts, resources, tools
from holdfast.surfaces.core.table import surface

__all__ = ["prompts", "resources", "surface", "tools"]

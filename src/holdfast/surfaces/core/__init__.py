"""The native surface: a small set of tools, with resources and prompts."""

from holdfast.surfaces.core.tools import surface

__all__ = ["surface"]

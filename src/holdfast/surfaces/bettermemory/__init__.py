"""The compatible surface of bettermemory: search with staleness, gated writes, tombstones, curation."""

from holdfast.surfaces.bettermemory.tools import surface

__all__ = ["surface"]

"""The compatible surface of bettermemory: search with staleness, gated writes, tombstones, curation."""

from holdfast.surfaces.bettermemory import shapes, tools
from holdfast.surfaces.contract import surface_of

surface = surface_of(tools.CONTRACT, tools, present=shapes.present, present_error=shapes.present_error)

"""Which places a text names, and whether a memory may have gone stale: the calendar, cited paths, commits."""

from tests.policy.scripts import scripts_in

globals().update(scripts_in(__file__, package="holdfast.policy holdfast.surfaces.bettermemory"))

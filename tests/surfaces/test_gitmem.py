"""GitMem's tools on a real store: the scripts beside this."""

from tests.surfaces.scripts import scripts_in

globals().update(scripts_in(__file__))

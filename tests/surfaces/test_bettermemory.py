"""bettermemory's tools on a real store: the scripts beside this, and limits."""

from holdfast.surfaces.bettermemory.tools import MOST_LISTED, surface
from tests.surfaces.scripts import scripts_in

scripts_in(globals())


def test_the_policy_fits_where_clients_cut_it() -> None:
    assert (len(surface.instructions.encode()) < 1_700, MOST_LISTED) == (True, 1_000)

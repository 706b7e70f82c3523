"""Knowledge that keeps itself: trust, the hot set, prediction, modes of recall, health and maintenance."""

from tests.verbs.scripts import scripts_in

MEMORY = {"config": {"starters": False, "hot_capacity": 3}}
scripts_in(globals())

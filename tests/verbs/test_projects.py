"""Memories and their names: moved between projects, found by the ids of other systems and by short names of projects."""

from tests.verbs.scripts import scripts_in

globals().update(scripts_in(__file__))

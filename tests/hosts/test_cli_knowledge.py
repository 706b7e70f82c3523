"""Contradictions, near-duplicates and mining from the command line."""

from tests.hosts.scripts import scripts_in

globals().update(scripts_in(__file__))

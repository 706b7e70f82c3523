"""Contradictions: found by comparing what is new with its neighbours, and resolved by a person."""

from tests.verbs.scripts import scripts_in

globals().update(scripts_in(__file__))

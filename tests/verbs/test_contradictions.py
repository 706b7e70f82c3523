"""Contradictions and near-duplicates: found by comparing what is new with its neighbours, and settled by a person."""

from holdfast.verbs.memory import Memory, Report
from holdfast.verbs.truth.contradictions import compare, open_contradictions
from tests.verbs.scripts import scripts_in


def found(memory: Memory) -> Report:
    """Compare what is new, as the worker does, and return the contradictions."""
    compare(memory)
    return open_contradictions(memory)


globals().update(scripts_in(__file__, found=lambda script, _: found(script.memory)))

"""Contradictions and near-duplicates: found by comparing what is new with its neighbours, and settled by a person."""

from holdfast.verbs.truth.consolidate import proposals
from holdfast.verbs.truth.contradictions import compare, open_contradictions
from tests.verbs.scripts import scripts_in

# Both compare what is new first, as the worker does.
scripts_in(
    globals(),
    found=lambda script, _: (compare(script.memory), open_contradictions(script.memory))[1],
    alike=lambda script, _: (compare(script.memory), proposals(script.memory))[1],
)

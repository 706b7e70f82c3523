"""Texts that somebody made to break something, and how many of them to try."""

import json
import os
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from tests.rows import WHOLE

TIMES = int(os.environ.get("HOSTILE", "1"))  # times what every run of the tests does
DEEP = "[" * 5_000 + "]" * 5_000

# Each a text, or the pieces that it is made of with how often each is repeated.
NASTY = tuple(
    made if isinstance(made, str) else "".join(piece * times for piece, times in made)
    for made in json.loads(Path(__file__).with_name("nasty.json").read_text(encoding="utf-8"))
)

# Hypothesis prints what it tries: the long ones are tried one by one instead.
SHORT = tuple(text for text in NASTY if len(text) < 600)

texts = st.one_of(st.sampled_from(SHORT), st.text(max_size=40), st.text(st.characters(codec=None), max_size=10))
NUMBERS = (0, -1, 2**31, 2**63, -(2**64), 10**400)
numbers = st.one_of(st.integers(-3, 30), st.integers(), st.floats(), st.sampled_from(NUMBERS))
values = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, texts),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=6,
)


def tried(examples: int) -> settings:
    """Give the settings of a test that tries so many examples: a third unless tests run whole, many times that as HOSTILE says."""
    checks = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large]
    most = examples * TIMES if WHOLE or TIMES > 1 else -(-examples // 3)
    return settings(max_examples=most, suppress_health_check=[*checks, HealthCheck.filter_too_much])

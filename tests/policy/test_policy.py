"""Secrets, admission, weights, trust, the hot set, retention and the health score: pure functions, judged by examples."""

from tests.policy.scripts import scripts_in

globals().update(scripts_in(__file__))

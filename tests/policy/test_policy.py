"""Secrets, admission and weights: pure functions, judged by examples."""

from tests.policy.scripts import scripts_in

globals().update(scripts_in(__file__))

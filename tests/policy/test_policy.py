"""Secrets, admission, weights, trust, the hot set, retention and the health score: pure functions, judged by examples."""

from tests.policy.scripts import scripts_in

scripts_in(globals())

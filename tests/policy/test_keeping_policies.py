"""Trust, salience, the hot set, retention and the health score: every formula with worked values."""

from tests.policy.scripts import scripts_in

globals().update(scripts_in(__file__))

"""Consolidation: near-duplicates are proposed with what would become of them, merged on request, and taken apart again."""

from tests.verbs.scripts import scripts_in

globals().update(scripts_in(__file__))

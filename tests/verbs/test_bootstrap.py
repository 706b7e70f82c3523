"""A memory filled from documents: in their order, once, and only from inside the project."""

from tests.verbs.scripts import scripts_in

globals().update(scripts_in(__file__))

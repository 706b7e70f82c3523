"""The graph of a project through four lenses, and the store from above: projects and days."""

from tests.verbs.scripts import scripts_in

scripts_in(globals())

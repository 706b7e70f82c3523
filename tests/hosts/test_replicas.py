"""Replicas on the command line and in the worker: the scripts beside this."""

from tests.hosts.scripts import scripts_in

scripts_in(globals(), hooks=True)

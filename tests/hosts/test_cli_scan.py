"""`holdfast store scan` on the command line: the scripts beside this."""

from tests.hosts.scripts import scripts_in

globals().update(scripts_in(__file__))

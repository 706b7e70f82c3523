"""What docs/compatibility.md says about git-notes-memory, tried literally."""

from tests.compatible.scripts import scripts_in

globals().update(scripts_in(__file__))

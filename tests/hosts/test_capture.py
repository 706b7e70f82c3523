"""What prompts, answers and interrupted sessions leave behind: the scripts beside this."""

import pytest

from tests.hosts.scripts import scripts_in

globals().update(scripts_in(__file__, hooks=True))
pytestmark = pytest.mark.embedded

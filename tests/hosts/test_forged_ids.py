"""An id of another project's record, session or thread, or of a private one, is answered like an id that never was."""

import re
from collections.abc import Iterator

import pytest

from holdfast.surfaces.tool import Tool
from tests.hosts.team import BANK, SHOP, at_work, furnish, team, visit
from tests.hosts.test_isolation import EACH_TOOL, OWN, READER, THERE, Fort, ask, calls_of
from tests.rows import sampled

NEVER, SHARED = "01M00000000000000000000ZZZ", "qxz5150shared"
pytestmark = pytest.mark.xdist_group("forged")


@pytest.fixture(scope="module")
def fort(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fort]:
    with team(tmp_path_factory.mktemp("forged")) as members:
        with at_work(members, visit("carla", BANK)) as memory:
            there = furnish(memory, *THERE)
        with at_work(members, visit("ben", SHOP, shares=False)) as memory:
            own = furnish(memory, *OWN)
        with at_work(members, visit("anna", SHOP)) as memory:
            furnish(memory, "kiosk", SHARED)
        yield Fort(members, there, own)


@EACH_TOOL
def test_an_id_of_another_is_answered_like_one_that_never_was(fort: Fort, name: str, tool: Tool) -> None:
    """A forged id of any kind, in every parameter that takes a text or a number, is no more than unknown."""
    for kind in sampled(("fact", "session", "thread", "number", "scar", "pending"), 3):
        forged = [value for ids in (fort.there, fort.own) for key, value in ids.items() if key.startswith(kind)]
        for said in forged:
            never = "9" * len(said) if said.isdigit() else NEVER
            asked = zip(calls_of(tool, said, whole=False), calls_of(tool, never, whole=False), strict=True)
            for one, other in sampled(asked, 3):
                if tool.read_only and one != other:
                    came = ask(fort, READER, name, "tools/call", {"name": tool.name, "arguments": one})
                    unknown = ask(fort, READER, name, "tools/call", {"name": tool.name, "arguments": other})
                    assert THERE[1] not in came
                    assert OWN[1] not in came
                    if said.isdigit() and SHARED in came + unknown:
                        continue  # a digit may also occur in what the reader may see
                    assert _alike(came, said) == _alike(unknown, never), one


def _alike(answer: str, said: str) -> str:
    """Give an answer without the id it was asked for, whole or short, and without times and numbers."""
    for length in (len(said), 10, 8) if not said.isdigit() else ():
        answer = answer.replace(said[:length], "ID").replace(said[:length].lower(), "ID")
    return re.sub(r"01[0-9A-Z]{6,24}|\d+", "N", answer)

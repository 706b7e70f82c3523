"""Many clients on one store at once, over stdio and HTTP: nothing is lost, nobody gets an error."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import at_once
from tests.hosts.served import Served
from tests.hosts.test_mcp import Peer, text_of

pytestmark = pytest.mark.whole

STDIO, HTTP, EACH = 6, 3, 8


def test_six_processes_and_an_http_server_write_and_recall_at_once(environment: dict[str, str], tmp_path: Path) -> None:
    answers: dict[str, list[str]] = {}

    def work(name: str, call: Callable[..., str]) -> None:
        answers[name] = []
        for turn in range(EACH):
            answers[name].append(
                call("remember", text=f"{name} found out thing{turn} about topic{name}{turn}.", force=True)
            )
            answers[name].append(call("recall", query=f"topic{name}{turn}", mode="exploratory"))

    peers = [Peer(environment, tmp_path) for _ in range(STDIO)]
    with Served(environment, tmp_path) as served:
        calls: dict[str, Callable[..., str]] = {f"pipe{place}": _over(peer) for place, peer in enumerate(peers)}
        calls |= {f"web{place}": served.call for place in range(HTTP)}
        at_once(work, calls.items())
        every = [answer for told in answers.values() for answer in told]
        kept, found = every[::2], every[1::2]
        assert [answer for answer in kept if not answer.startswith("Saved as ")] == []
        assert [answer for answer in found if " fit" not in answer] == []
        ids = {answer.split()[2].rstrip(":") for answer in kept}
        assert len(ids) == (STDIO + HTTP) * EACH
        for name in calls:
            for turn in range(EACH):
                wanted = f"{name} found out thing{turn} about topic{name}{turn}."
                assert wanted in served.call("recall", query=f"topic{name}{turn}", mode="exploratory")
    for peer in peers:
        assert peer.close()[1] == ""


def _over(peer: Peer) -> Callable[..., str]:
    return lambda name, **arguments: text_of(peer.call(name, **arguments))

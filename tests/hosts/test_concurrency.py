"""Many clients on one store at once, over stdio and HTTP: nothing is lost, nobody gets an error."""

from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

from tests.conftest import at_once
from tests.hosts.served import Served
from tests.hosts.test_mcp import Peer, text_of

pytestmark = pytest.mark.whole

STDIO, HTTP, EACH = 6, 3, 8


def test_six_processes_and_an_http_server_write_and_recall_at_once(environment: dict[str, str], tmp_path: Path) -> None:
    kept, found = list[str](), list[str]()

    def text(name: str, turn: int) -> str:
        return f"{name} found out thing{turn} about topic{name}{turn}."

    def work(name: str, call: Callable[..., str]) -> None:
        for turn in range(EACH):
            kept.append(call("remember", text=text(name, turn), force=True))
            found.append(call("recall", query=f"topic{name}{turn}", mode="exploratory"))

    peers = [Peer(environment, tmp_path) for _ in range(STDIO)]
    with Served(environment, tmp_path) as served:
        calls: dict[str, Callable[..., str]] = {f"pipe{place}": _over(peer) for place, peer in enumerate(peers)}
        calls |= {f"web{place}": served.call for place in range(HTTP)}
        at_once(work, calls.items())
        assert [answer for answer in kept if not answer.startswith("Saved as ")] == []
        assert [answer for answer in found if " fit" not in answer] == []
        assert len({answer.split()[2] for answer in kept}) == (STDIO + HTTP) * EACH
        for name, turn in product(calls, range(EACH)):
            assert text(name, turn) in served.call("recall", query=f"topic{name}{turn}", mode="exploratory")
    assert [peer.close()[1] for peer in peers] == [""] * STDIO


def _over(peer: Peer) -> Callable[..., str]:
    return lambda name, **arguments: text_of(peer.call(name, **arguments))

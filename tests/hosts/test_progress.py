"""Progress: told to who asked for it, only in long calls, a little at a time, and never after the answer."""

import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from holdfast.hosts.mcp.protocol import Progress, meta_of
from tests.hosts.test_mcp import Peer
from tests.hosts.toy import most_told
from tests.rows import each

ROOT = Path(__file__).parent.parent.parent


class Heard:
    """A client that writes down what it is told, and a clock hand that tests move."""

    def __init__(self) -> None:
        self.now = 0.0
        self.sent: list[dict[str, Any]] = []
        self.progress = Progress("t", lambda _, params: self.sent.append(params), lambda: self.now)

    def report_at(self, now: float, done: float, total: float | None = 100, message: str = "") -> None:
        self.now = now
        self.progress.report(done, total, message)


def test_nothing_is_told_in_the_first_second() -> None:
    heard = Heard()
    heard.report_at(0.0, 1)
    heard.report_at(0.99, 2)
    assert heard.sent == []
    heard.report_at(1.0, 3, message="half way")
    assert heard.sent == [{"progressToken": "t", "progress": 3, "total": 100, "message": "half way"}]


def test_a_few_reports_a_second_are_told_each_further_than_the_last() -> None:
    heard = Heard()
    for step in range(100):
        heard.report_at(1 + step / 128, step + 1, None)
    assert [sent["progress"] for sent in heard.sent] == [1, 40, 79]
    heard.report_at(5, 79)
    heard.report_at(6, 12)
    assert len(heard.sent) == 3


def test_that_everything_is_done_is_left_to_the_answer() -> None:
    heard = Heard()
    heard.report_at(2, 100)
    assert heard.sent == []


def test_nothing_is_told_after_the_answer() -> None:
    heard = Heard()
    heard.progress.close()
    heard.report_at(60, 50)
    assert heard.sent == []


@each("params", [{}, {"_meta": None}, {"_meta": {}}, {"_meta": {"progressToken": [1]}}])
def test_nothing_is_told_to_who_did_not_ask(params: dict[str, Any]) -> None:
    told: list[str] = []
    token, minutes = meta_of(params).get("progressToken"), count(0, 60)
    Progress(token, lambda method, _: told.append(method), lambda: next(minutes)).report(1, 2)
    assert told == []


@pytest.fixture
def toy() -> Iterator[Peer]:
    one = Peer({"PYTHONPATH": str(ROOT)}, ROOT, ("-m", "tests.hosts.toy"))
    yield one
    if one.process.poll() is None:
        one.close()


def work(seconds: float, request: int = 1, **meta: Any) -> dict[str, Any]:
    params = {"name": "work", "arguments": {"seconds": seconds}, "_meta": meta}
    return {"jsonrpc": "2.0", "id": request, "method": "tools/call", "params": params}


def test_a_long_call_reports_and_then_answers(toy: Peer) -> None:
    began = time.monotonic()
    toy.send(work(1.8, progressToken=7))
    heard = [toy.receive()]
    while "id" not in heard[-1]:
        heard.append(toy.receive())
    *told, answer = heard
    assert answer["result"]["content"][0]["text"] == "Done."
    assert 1 <= len(told) <= most_told(time.monotonic() - began)
    assert all(one["method"] == "notifications/progress" for one in told)
    assert [one["params"]["progressToken"] for one in told] == [7] * len(told)
    places = [one["params"]["progress"] for one in told]
    assert places == sorted(set(places))
    assert told[0]["params"]["message"] == f"step {places[0]}"


def test_a_short_call_and_one_without_a_token_only_answer(toy: Peer) -> None:
    toy.send(work(0.2, request=1, progressToken=7))
    toy.send(work(1.3, request=2))
    assert [toy.receive()["id"], toy.receive()["id"]] == [1, 2]


def test_a_call_cancelled_while_it_runs_is_neither_reported_nor_answered(toy: Peer) -> None:
    toy.send(work(1.3, request=1, progressToken=7))
    toy.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
    assert toy.ask("tools/list", request=2)["id"] == 2


def test_a_client_that_leaves_in_the_middle_is_no_error(toy: Peer) -> None:
    toy.send(work(1.2, progressToken=7))
    assert toy.process.stdin is not None
    assert toy.process.stdout is not None
    assert toy.process.stderr is not None
    toy.process.stdout.close()
    toy.process.stdin.close()
    assert toy.process.wait(timeout=120) == 0
    assert toy.process.stderr.read() == b""
    toy.process.stderr.close()

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


def test_that_everything_is_done_and_what_comes_after_the_answer_is_not_told() -> None:
    heard = Heard()
    heard.report_at(2, 100)
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
    assert {(one["method"], one["params"]["progressToken"]) for one in told} == {("notifications/progress", 7)}
    places = [one["params"]["progress"] for one in told]
    assert places == sorted(set(places))
    assert told[0]["params"]["message"] == f"step {places[0]}"


def test_a_short_call_one_without_a_token_and_a_cancelled_one_report_nothing(toy: Peer) -> None:
    toy.send(work(0.2, request=1, progressToken=7))
    toy.send(work(1.3, request=2))
    toy.send(work(1.3, request=3, progressToken=7))
    toy.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}})
    toy.send({"jsonrpc": "2.0", "id": 4, "method": "tools/list"})
    assert [toy.receive()["id"] for _ in range(3)] == [1, 2, 4]


def test_a_client_that_leaves_in_the_middle_is_no_error(toy: Peer) -> None:
    toy.send(work(1.2, progressToken=7))
    assert toy.process.stdin
    assert toy.process.stdout
    assert toy.process.stderr
    toy.process.stdout.close()
    toy.process.stdin.close()
    assert toy.process.wait(timeout=120) == 0
    with toy.process.stderr as said:
        assert said.read() == b""

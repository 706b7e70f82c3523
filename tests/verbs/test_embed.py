"""Vectors in the background, while others ask."""

import threading
from collections.abc import Sequence
from pathlib import Path

from holdfast.engine.search.vectors import Codes
from holdfast.model.event import Actor
from holdfast.model.ports import Encoded
from holdfast.model.query import Query
from holdfast.verbs.memory import Memory
from holdfast.verbs.search.embed import catch_up, keeping_up
from holdfast.verbs.search.recall import recall
from tests.conftest import Time, at_once, keep, make_memory
from tests.verbs.test_recall import Topics, titles


class Slow(Topics):
    """An embedder that, in the background, does not get on before it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = threading.Event()
        self.let = threading.Event()

    def embed(self, texts: Sequence[str]) -> list[Encoded]:
        if threading.current_thread().name == "holdfast-vectors":
            self.begun.set()
            self.let.wait(10)
        return super().embed(texts)


def test_a_question_does_not_wait_for_the_background_to_finish(tmp_path: Path, time: Time) -> None:
    slow = Slow()
    with make_memory(tmp_path, time, embedder=slow) as memory:
        keep(memory, "The automobile stands in the garage.")
        with keeping_up(memory) as idle:
            assert slow.begun.wait(10)
            assert titles(recall(memory, Query(text="where is the automobile"))) == [
                "The automobile stands in the garage."
            ]
            assert "where is the automobile" in slow.embedded
            slow.let.set()
            assert idle.wait(10)
        assert catch_up(memory) == 0


def test_sessions_that_share_a_memory_write_and_recall_at_once(tmp_path: Path, time: Time) -> None:
    problems: list[object] = []

    def work(memory: Memory, name: str) -> None:
        for letter in "abcde":
            body = f"The {name}{letter} database stands on {letter}{name} street."
            keep(memory, body)
            if body not in titles(recall(memory, Query(text=f"storage of {name}{letter}", weak=True))):
                problems.append(body)

    with make_memory(tmp_path, time, embedder=Topics(), actor=Actor(kind="user")) as memory:
        codes = memory.caches.codes
        at_once(work, ((memory, name) for name in ("wolf", "bear", "lynx", "hare")))
        assert problems == []
        catch_up(memory)
        recall(memory, Query(text="storage"))
        if not isinstance(codes, Codes):  # the server holds them
            return
        (held,) = [one for one in codes.held.values() if len(one.numbers)]
        assert sorted(set(held.numbers.tolist())) == sorted(held.numbers.tolist())
        assert len(held.numbers) == 20

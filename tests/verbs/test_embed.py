"""Vectors in the background, while others ask."""

import threading
from collections.abc import Sequence
from pathlib import Path

from holdfast.model.ports import Vectors
from holdfast.model.query import Query
from holdfast.verbs.embed import catch_up, keeping_up
from holdfast.verbs.recall import recall
from tests.conftest import Time, keep, make_memory
from tests.verbs.test_recall import Topics, titles


class Slow(Topics):
    """An embedder that, in the background, does not get on before it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = threading.Event()
        self.let = threading.Event()

    def embed(self, texts: Sequence[str]) -> Vectors:
        if threading.current_thread().name == "holdfast-vectors":
            self.begun.set()
            self.let.wait()
        return super().embed(texts)


def test_a_question_does_not_wait_for_the_background_to_finish(tmp_path: Path, time: Time) -> None:
    slow = Slow()
    with make_memory(tmp_path, time, embedder=slow) as memory:
        keep(memory, "The automobile stands in the garage.")
        with keeping_up(memory) as idle:
            slow.begun.wait()
            assert titles(recall(memory, Query(text="where is the automobile"))) == [
                "The automobile stands in the garage."
            ]
            assert "where is the automobile" in slow.embedded
            slow.let.set()
            idle.wait()
        assert catch_up(memory) == 0

"""Finding things: by word, by meaning, in the right project, at the right time, and honestly."""

import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from holdfast.engine.search.vectors import Codes
from holdfast.engine.views import vectors
from holdfast.model.errors import EmbedderError
from holdfast.model.event import Actor
from holdfast.model.ports import Encoded, Task
from holdfast.model.query import Query, Recalled
from holdfast.verbs.memory import Memory
from holdfast.verbs.search.embed import catch_up, keeping_up
from holdfast.verbs.search.recall import recall
from holdfast.verbs.search.respell import respelled
from holdfast.verbs.upkeep.doctor import rebuild_vectors
from tests.conftest import Time, at_once, keep, make_memory, recorded
from tests.rows import each, of_type, opened
from tests.verbs.scripts import scripts_in

scripts_in(globals())


class Topics:
    """An embedder for tests: one direction per topic, found by the words that name it."""

    name = "topics"
    size = 8
    earlier: Sequence[str] = ()
    floor = 0.0
    ceiling = 1.0
    center = 0.0
    topics = ({"car", "automobile", "vehicle"}, {"database", "postgres", "storage"}, {"bread", "loaf", "baking"})

    def __init__(self) -> None:
        self.broken = False
        self.embedded: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[Encoded]:
        if self.broken:
            raise EmbedderError("It is broken.")
        self.embedded.extend(texts)
        rows = []
        for text in texts:
            row = np.full(self.size, 0.01, dtype=np.float32)
            for place, topic in enumerate(self.topics):
                row[place] = float(any(word in text.lower() for word in topic))
            rows.append(row / np.linalg.norm(row))
        return [Encoded(vector=row) for row in rows]

    def knows(self, word: str) -> bool:
        return word != "trumpte"  # an encoder knows most words


meaning = opened(lambda tmp_path, time: make_memory(tmp_path, time, embedder=Topics()))


def titles(found: Recalled) -> list[str]:
    return [hit.record.title for hit in found.hits]


def test_a_narrow_filter_finds_what_commoner_records_would_hide(memory: Memory) -> None:
    noise = {"project": "example.org/acme/shop", "kind": "fact"}
    memory.commit([recorded(memory.clock, f"gateway timeout number{number}", **noise) for number in range(1_300)])
    wanted = keep(memory, "The gateway speaks two protocols.", kind="learning")
    assert [hit.record for hit in recall(memory, Query(text="gateway timeout", kinds=("learning",))).hits] == [wanted]


def test_a_long_text_is_found_by_any_of_its_passages(meaning: Memory) -> None:
    chapter = "Chapter one. " + "Nothing much to say about it. " * 20 + "\n"
    keep(meaning, chapter * 3 + "At last the vehicle is repaired.")
    assert len(recall(meaning, Query(text="car")).hits) == 1


def test_an_embedder_that_breaks_is_another_or_is_newer_is_noticed_and_vectors_are_never_mixed(meaning: Memory) -> None:
    embedder = of_type(Topics, meaning.embedder)
    keep(meaning, "The automobile is in the garage.")
    embedder.broken = True
    found = recall(meaning, Query(text="garage automobile"))
    assert (titles(found), found.search) == (["The automobile is in the garage."], "words")
    assert found.notes == ("Searched by words only: It is broken. `holdfast doctor` checks it.",)
    embedder.broken = False
    catch_up(meaning)
    embedder.name = "other"
    found = recall(meaning, Query(text="car garage"))
    assert (found.search, "holdfast store rebuild vectors" in found.notes[0]) == ("words", True)
    assert rebuild_vectors(meaning, lambda _: None) == 1
    assert recall(meaning, Query(text="car")).search == "hybrid"
    # A newer version searches the old vectors until they are made again.
    embedder.name, embedder.earlier, embedder.embedded = "other-2", ("other",), []
    assert recall(meaning, Query(text="car")).search == "hybrid"
    assert (catch_up(meaning, stop=lambda: True), vectors.lag(meaning.store)) == (0, 1)
    found = recall(meaning, Query(text="car"))
    assert (len(found.hits), found.search, found.lagging) == (1, "hybrid", 0)
    assert (catch_up(meaning), catch_up(meaning)) == (1, 0)
    assert embedder.embedded == ["car", "car", "The automobile is in the garage."]


def test_a_broken_embedder_does_not_stop_the_background(meaning: Memory, caplog: pytest.LogCaptureFixture) -> None:
    embedder = of_type(Topics, meaning.embedder)
    embedder.broken = True
    with keeping_up(meaning) as idle:
        assert idle.wait(5)
        keep(meaning, "The automobile is in the garage.")
        while "It is broken." not in caplog.text:
            assert idle.wait(5)
        embedder.broken = False
        keep(meaning, "A loaf is on the table.")
        while vectors.lag(meaning.store):
            assert idle.wait(5)
    assert titles(recall(meaning, Query(text="car"))) == ["The automobile is in the garage."]


def test_a_word_that_the_embedder_knows_is_not_misspelled(meaning: Memory) -> None:
    keep(meaning, "The trumpet is loud.")
    assert respelled(meaning, "trumpte or trumped", [(0, 2**62)], 1) == {"trumpte": "trumpet"}


class Counting:
    """A classifier for tests that finds an answer everywhere, and counts what it reads."""

    name = "counting"
    read = 0

    def load(self) -> None:
        """It is there."""

    def chances(self, task: Task, first: str, second: str = "") -> dict[str, float]:
        assert (task, bool(first and second)) == ("answers", True)
        self.read += 1
        return {"yes": 0.9}


RED = "My car is red. "


@each("text, people, is_read", [(RED, 1, True), (RED, 2, False), (RED * 30, 1, False)])
def test_a_long_text_and_a_turn_of_a_conversation_are_not_read(
    tmp_path: Path, time: Time, text: str, people: int, is_read: bool
) -> None:
    reader = Counting()
    folder = tmp_path / f"{len(text)} {people}"
    with make_memory(folder, time, config={"starters": False}, embedder=Topics()) as memory:
        for name in ("ada", "grace")[:people]:
            keep(memory.acting(actor=Actor(kind="user", name=name, session="talk")), f"{text}So says {name}.")
        catch_up(memory)
        assert recall(replace(memory, classifier=reader), Query(text="which car is red")).hits
    assert bool(reader.read) == is_read


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
            found = recall(memory, Query(text="where is the automobile"))
            assert titles(found) == ["The automobile stands in the garage."]
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

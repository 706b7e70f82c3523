"""Pairs of records found for a whole project at once: by the words they share, and by their vectors."""

import numpy as np
import pytest

from holdfast.engine.search import near_duplicates as module
from holdfast.engine.search.near_duplicate_vectors import near_duplicates
from holdfast.engine.search.near_duplicates import newest_words, pairs
from holdfast.engine.search.sqlite_vectors import code_of
from holdfast.engine.store import Store
from holdfast.engine.views import records, vectors
from holdfast.engine.views.records import span
from holdfast.engine.views.vectors import Passage
from holdfast.model.event import Event
from holdfast.model.ids import Clock
from tests.conftest import Time, recorded


def kept(store: Store, time: Time, *bodies: str, project: str = "p") -> list[int]:
    clock = Clock(time)
    return [entry.number for body in bodies for entry in store.commit([recorded(clock, body, project=project)])]


def numbers_of(store: Store, place: tuple[int, int], least: float) -> list[tuple[int, int]]:
    return [(one.first, one.second) for one in pairs(store, newest_words(store, place), place, {}, least=least)]


def test_records_that_share_rare_words_are_paired_most_alike_first(store: Store, time: Time) -> None:
    one, two, three, _ = kept(
        store,
        time,
        "zebra walks over the wooden bridge",
        "zebra runs over the wooden bridge",
        "zebra sleeps",
        "nothing in common here",
    )
    found = numbers_of(store, span(store.project_number("p")), 0.1)
    assert (found[0], set(found[1:])) == ((one, two), {(one, three), (two, three)})


def test_words_that_are_common_alone_are_looked_up_in_twos(
    store: Store, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "HOLDERS", 3)
    monkeypatch.setattr(module, "NEWEST", 1)
    first = kept(store, time, "alpha beta gamma")[0]
    for _ in range(4):
        kept(store, time, "alpha", "beta", "gamma")
    last = kept(store, time, "alpha beta gamma")[0]
    place = span(store.project_number("p"))
    assert list(newest_words(store, place)) == [last]
    assert numbers_of(store, place, 0.9) == [(first, last)]
    monkeypatch.setattr(module, "COMMON", 0)
    assert numbers_of(store, place, 0.9) == []


def test_records_of_other_projects_are_paired_only_when_handed_over(store: Store, time: Time) -> None:
    here = kept(store, time, "zebra walks over the bridge")[0]
    elsewhere = kept(store, time, "zebra walks over the bridge", project="q")[0]
    place = span(store.project_number("p"))
    assert numbers_of(store, place, 0.5) == []
    others = newest_words(store, span(store.project_number("q")))
    found = pairs(store, newest_words(store, place), place, others, least=0.5)
    assert [(one.first, one.second, one.share) for one in found] == [(here, elsewhere, 1.0)]


def test_short_records_whose_vectors_nearly_coincide_are_twins(store: Store, time: Time) -> None:
    numbers = kept(store, time, "one", "two", "three", "four", "five")
    random = np.random.default_rng(1)
    base = random.standard_normal(384)
    near, far = base + 0.1 * random.standard_normal(384), random.standard_normal(384)
    for number, parts in zip(numbers, ([base], [near], [far], [base, far], [base]), strict=True):
        vectors.store(store, [number], [passage(number, place, part) for place, part in enumerate(parts)])
    gone, clock = records.by_numbers(store, [numbers[4]])[numbers[4]], Clock(time)
    store.commit([Event(id=clock.tick(gone.head), about=gone.id, verb="retired", at=clock.now())])
    found = near_duplicates(store, store.project_number("p"), least=0.9)
    assert [(one.first, one.second) for one in found] == [(numbers[1], numbers[0])]
    assert found[0].share > 0.95
    assert near_duplicates(store, store.project_number("p"), least=0.999) == []
    assert near_duplicates(store, store.project_number("nowhere"), least=0.9) == []


def passage(number: int, place: int, values: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> Passage:
    unit = values / np.linalg.norm(values)
    code, half = code_of(unit, 0.0).tobytes(), unit.astype(np.float16).tobytes()
    return Passage(number=number, passage=place, fingerprint="", code=code, vector=half)

"""Ids, instants, scopes, kinds and texts."""

import re
from itertools import permutations
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from holdfast.model.event import Event
from holdfast.model.ids import ULID, Clock, short
from holdfast.model.kinds import KINDS
from holdfast.model.patterns import lazy
from holdfast.model.session import apply_event
from tests.policy.scripts import scripts_in
from tests.rows import refused

VALUES = {
    "LINE": "x" * 101,
    "LONG": "x" * 2_001,
    "WORDS": "word " * 100,
    "KINDS": KINDS,
    "TAGS": [f"tag{number}" for number in range(65)],
}
scripts_in(globals(), VALUES, package="holdfast.model")


@given(st.lists(st.floats(0, 4_000_000_000), min_size=2, max_size=30))
def test_ids_sort_in_the_order_they_were_given_whatever_the_clock_does(moments: list[float]) -> None:
    hand = iter(moments)
    clock = Clock(lambda: next(hand))
    ids = [clock.tick() for _ in moments]
    assert ids == sorted(ids)
    assert len(set(ids)) == len(ids)
    assert all(ULID.fullmatch(one) for one in ids)


def test_a_clock_told_time_and_chance_gives_the_same_ids_again() -> None:
    first, again, other = (Clock(lambda: 1_700_000_000.0, Random(seed).getrandbits) for seed in (1, 1, 2))
    given = [[clock.tick() for _ in range(5)] for clock in (first, again, other)]
    assert given[0] == given[1] != given[2]


def test_an_id_is_later_than_what_it_answers_and_two_clocks_that_count_on_from_it_do_not_meet() -> None:
    known = Clock(lambda: 1_800_000_000.0).tick()
    given = [Clock(lambda: 1_700_000_000.0).tick(after=known) for _ in range(1_000)]
    assert (len(set(given)), min(given) > known) == (1_000, True)
    clock = Clock(lambda: 1_700_000_000.0)
    hour, year = Clock(lambda: 1_700_003_600.0).tick(), Clock(lambda: 1_731_600_000.0).tick()
    clock.observe(year)
    assert clock.tick() < hour
    clock.observe(hour)
    assert hour < clock.tick() < year


def test_a_session_has_its_latest_title_in_any_order_of_arrival() -> None:
    titles = {"01A": "first", "01B": "", "01C": "latest", "01D": ""}
    events = [
        Event(id=name, about="s", verb="started", at="2026-01-01T00:00:00.000Z", data={"title": title})
        for name, title in titles.items()
    ]
    for order in permutations(events):
        session = None
        for event in (*order, order[0]):
            session = apply_event(session, event)
        assert session is not None
        assert (session.title, session.first, session.last) == ("latest", "01A", "01D")


def test_a_new_id_is_short_in_lists() -> None:
    letters = int("01011" * 16, 2)  # eighty bits that spell BBBBBBBBBBBBBBBB
    made = Clock(lambda: 1_700_000_000.0, lambda _: letters).tick()
    assert (made[-8:-1], made[-1].isdigit(), len(short(made))) == ("BBBBBBB", True, 8)
    theirs = "7736211e-1111-4222-8333-e3dd0bcb38d0", "0199a213-81c0-7800-8aa0-e3dd0bcb38d0"
    assert [*map(short, theirs), short("run-7")] == ["7736211e", "0199a213-81c0", "run-7"]


def test_a_pattern_is_compiled_at_its_first_use_where_an_invalid_one_fails() -> None:
    found = lazy(r"(?P<word>[a-z]+)", re.IGNORECASE)
    assert [match["word"] for match in found.finditer("Two words")] == ["Two", "words"]
    assert (found.sub("x", "a b"), found.pattern, found.search("1")) == ("x x", r"(?P<word>[a-z]+)", None)
    broken = lazy("(")
    refused(re.error, lambda: broken.search(""))

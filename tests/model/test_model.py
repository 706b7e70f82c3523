"""Ids, instants, scopes, kinds and texts."""

import re
from itertools import permutations
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.model import errors
from holdfast.model.errors import HoldfastError, Invalid
from holdfast.model.event import Actor, Event, event_from_json, in_words
from holdfast.model.ids import (
    ULID,
    Clock,
    check_id,
    days_before,
    days_between,
    fixed_id,
    instant,
    moved_id,
    parse_instant,
    short,
)
from holdfast.model.kinds import KINDS, check_fields, check_kind
from holdfast.model.patterns import lazy
from holdfast.model.scope import check_scopes, check_tags, project_of_remote, within
from holdfast.model.session import apply_event
from holdfast.model.text import check_keepable, check_text, flat, headline, plotted, shorten, tokens_of
from tests.rows import each, examples, refused


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


def test_an_id_is_later_than_what_it_answers_even_if_that_came_from_the_future() -> None:
    future = Clock(lambda: 2_000_000_000.0).tick()
    clock = Clock(lambda: 1_700_000_000.0)
    assert clock.tick(after=future) > future


def test_two_clocks_that_count_on_from_the_same_id_do_not_meet() -> None:
    known = Clock(lambda: 1_800_000_000.0).tick()
    given = [Clock(lambda: 1_700_000_000.0).tick(after=known) for _ in range(1_000)]
    assert len(set(given)) == 1_000


def test_numbers_are_drawn_as_bars() -> None:
    assert plotted([0, 1, 4, 8]) == " ▁▄█"
    assert plotted([0, 0]) == "  "
    assert plotted([]) == ""


def test_a_clock_counts_on_from_another_an_hour_ahead_but_not_from_one_a_year_ahead() -> None:
    clock = Clock(lambda: 1_700_000_000.0)
    hour, year = Clock(lambda: 1_700_003_600.0).tick(), Clock(lambda: 1_731_600_000.0).tick()
    clock.observe(year)
    assert clock.tick() < hour
    clock.observe(hour)
    assert hour < clock.tick() < year


@each("text", ["", "x", "01ARZ3NDEKTSV4RRFFQ69G5FA", "7ZZZZZZZZZZZZZZZZZZZZZZZZZ", "01ARZ3NDEKTSV4RRFFQ69G5FAU"])
def test_what_is_no_id_is_refused(text: str) -> None:
    refused(Invalid, check_id, text)


def test_instants_are_stored_in_one_form() -> None:
    assert parse_instant("2026-11-15") == "2026-11-15T00:00:00.000Z"
    assert parse_instant("2026-11-15T10:30:00+02:00") == "2026-11-15T08:30:00.000Z"
    assert parse_instant(instant(1_700_000_000.1234)) == instant(1_700_000_000.1234)
    assert days_between("2026-11-15T00:00:00.000Z", "2026-11-16T12:00:00.000Z") == 1.5
    refused(Invalid, parse_instant, "yesterday")


def test_scopes_nest_and_scopes_and_tags_are_checked() -> None:
    assert check_scopes([" tools ", "projects:shop:api", "tools"]) == ("tools", "projects:shop:api")
    assert within("projects:shop:api", "projects:shop")
    assert not within("projects:shopping", "projects:shop")
    for bad in ("Tools", "a b", "", ":a", "a::b", "x" * 101):
        refused(Invalid, check_scopes, [bad])
    assert check_tags([" two  words ", "", "x", "x"]) == ("two words", "x")
    refused(Invalid, check_tags, [f"tag{number}" for number in range(65)])


@examples
def test_a_remote_is_one_project_however_it_is_spelled(url: str, project: str | None) -> None:
    assert project_of_remote(url) == project


def test_every_kind_of_the_map_is_there_with_its_rules() -> None:
    assert set(KINDS) == {
        "fact", "preference", "reference", "decision", "scar", "win", "pattern", "anti_pattern", "learning", "blocker",
        "progress", "review", "retrospective", "inception", "elicitation", "observation", "summary", "thread", "item",
    }  # fmt: skip
    assert len({kind.icon for kind in KINDS.values()}) == len(KINDS)


def test_a_scar_says_everything_it_lacks_at_once() -> None:
    with pytest.raises(Invalid) as refused:
        check_fields(KINDS["scar"], {"severty": "high", "counter_arguments": ["one"]})
    assert str(refused.value) == (
        "This scar cannot be saved: severty is not a field of scar (did you mean severity?); "
        "severity is required: one of critical, high, medium, low; counter_arguments needs at least 2."
    )


def test_fields_are_checked_by_type() -> None:
    kind = KINDS["observation"]
    good = {"facts": [" one ", "two"], "discovery_tokens": 12, "type": "bugfix", "subtitle": ""}
    assert check_fields(kind, good) == {"type": "bugfix", "facts": ["one", "two"], "discovery_tokens": 12}
    for bad in (
        {"facts": "x"},
        {"discovery_tokens": True},
        {"type": 5},
        {"severity": "awful"},
        {"type": "x" * 101},
        {"facts": ["x" * 2001]},
    ):
        refused(Invalid, check_fields, kind, bad)


def test_a_mistyped_kind_is_answered_with_the_nearest() -> None:
    refused(Invalid, check_kind, "decison", says="Did you mean decision")


def test_text_is_cleaned_or_refused() -> None:
    assert check_text("  a\r\nb ", "text", 10) == "a\nb"
    for bad in ("", "  \n", "x" * 11, "a\0b", "\ud800"):
        refused(Invalid, check_text, bad, "text", 10)
    for value in ({"a": ["\0"]}, {"\0": 1}, [float("nan")], float("inf")):
        refused(Invalid, check_keepable, value)


def test_one_line_says_where_headings_and_paragraphs_end() -> None:
    text = "Hooks capture markers\n\n## Context\nThey run at the end.\n\nTwice: no\nmore"
    assert flat(text) == "Hooks capture markers. Context: They run at the end. Twice: no more"


def test_headlines_are_the_first_sentence_and_short() -> None:
    assert headline("# Use SQLite. It needs no server.\nmore") == "Use SQLite."
    assert headline("See e.g. the U.S. docs") == "See e.g. the U.S. docs"
    assert len(headline("word " * 100)) <= 120
    assert shorten("one two three", 9) == "one two…"


def test_tokens_are_estimated_by_bytes() -> None:
    assert tokens_of("") == 0
    assert tokens_of("x" * 400) == 100
    assert tokens_of("日本語") > tokens_of("abc")


def test_the_message_of_an_error_is_its_docstring_unless_given() -> None:
    for item in vars(errors).values():
        if isinstance(item, type) and issubclass(item, HoldfastError):
            assert item().message == (item.__doc__ or "").splitlines()[0]
            assert item.exit_code != 2
    assert str(Invalid("Bad.", hint="Do this.")) == "Bad. Do this."


def test_the_codes_of_errors_stay_as_programs_know_them() -> None:
    codes = {item.code for item in vars(errors).values() if isinstance(item, type) and issubclass(item, HoldfastError)}
    assert codes == set(
        "error invalid invalid_config invalid_file not_found ambiguous conflict not_saved forbidden store not_a_store newer_store "
        "store_corrupt store_full store_unwritable store_busy unreachable replica embedder missing_package".split()
    )


@each(
    "change",
    [{"id": "x"}, {"verb": "sang"}, {"data": []}, {"by": None}, {"at": "never"}, {"about": 5}, {"data": {"a": "\0"}}],
)
def test_a_malformed_event_is_refused(change: dict[str, object]) -> None:
    event_id = Clock(lambda: 1_700_000_000.0).tick()
    good = {
        "id": event_id,
        "about": event_id,
        "verb": "recorded",
        "at": "2026-01-01",
        "by": {"kind": "user", "name": "", "session": ""},
        "data": {},
    }
    assert event_from_json(good).id == event_id
    refused(Invalid, event_from_json, {**good, **change})


def test_days_before_a_moment_stay_within_what_a_date_can_say() -> None:
    now = "2026-11-15T08:30:00.000Z"
    assert days_before(now, 1) == "2026-11-14T08:30:00.000Z"
    assert days_before(now, -1) == "2026-11-16T08:30:00.000Z"
    assert (days_before(now, 1e30), days_before(now, -1e30)) == ("1970-01-01T00:00:00.000Z", "9999-12-31T00:00:00.000Z")


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


def test_an_id_moved_in_time_is_the_same_but_for_its_time() -> None:
    before = fixed_id(1_790_000_000.0, "some name")
    after = moved_id(before, 86_400_000)
    assert after == fixed_id(1_790_086_400.0, "some name")
    assert moved_id(after, -86_400_000) == before


@each(
    ("event", "words"),
    [
        ({"verb": "recorded", "by": Actor(name="ada")}, "saved by ada"),
        ({"verb": "retired", "by": Actor(kind="agent")}, "retired by agent"),
        ({"verb": "arrived", "data": {"from": "mira@example.org"}}, "received from mira@example.org"),
        ({"verb": "arrived", "by": Actor(kind="rule", name="border")}, "received from an unknown author"),
    ],
)
def test_an_event_can_be_said_in_plain_words(event: dict[str, Any], words: str) -> None:
    assert " ".join(in_words(Event(id="1", about="1", at="", **event))) == words


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

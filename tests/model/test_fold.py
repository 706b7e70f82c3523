"""A record is the fold of its events: in any order, however often, and with data of any shape."""

from functools import partial
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from holdfast.model.event import Actor, Event, Verb, event_from_json, event_to_json
from holdfast.model.ids import Clock, instant
from holdfast.model.record import Link, Record, as_of, fold_all, record_from_json, record_to_json, scrub
from tests.rows import some

ABOUT = Clock(lambda: 1_700_000_000.0).tick()
VERBS: list[Verb] = [
    "recorded", "confirmed", "revised", "verified", "retired", "restored", "erased", "linked", "unlinked", "used",
]  # fmt: skip

texts = st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
contents = st.fixed_dictionaries(
    {},
    optional={
        "title": texts,
        "body": texts,
        "kind": st.sampled_from(["fact", "scar"]),
        "fields": st.dictionaries(texts, texts, max_size=2),
        "scopes": st.lists(st.sampled_from(["a", "b:c"]), max_size=2),
        "tags": st.lists(texts, max_size=2),
        "confidence": st.sampled_from(["high", "low", "absurd"]),
        "reason": texts,
        "relation": st.sampled_from(["supersedes", "relates_to", "absurd"]),
        "target": st.sampled_from([ABOUT, "X"]),
        "pending": st.booleans(),
        "project": texts,
        "outcome": st.sampled_from(["applied", "ignored"]),
    },
)


@st.composite
def histories(draw: st.DrawFn, data: st.SearchStrategy[dict[str, Any]] = contents) -> list[Event]:
    """Give events about one record, in the order of their ids, on clocks that may step back."""
    now = [1_700_000_000.0]
    clock, by = Clock(lambda: now[0]), Actor(name="a", session="s")
    events = []
    for verb in ["recorded", *draw(st.lists(st.sampled_from(VERBS), max_size=8))]:
        now[0] += draw(st.sampled_from([-3600.0, 0.0, 0.0005, 5.0]))
        events.append(Event(id=clock.tick(), about=ABOUT, verb=verb, at=instant(now[0]), by=by, data=draw(data)))
    return events


@given(histories(), st.randoms())
def test_any_order_of_arrival_with_repeats_ends_in_the_same_record(events: list[Event], random: Any) -> None:
    shuffled = [*events, *random.choices(events, k=3)]
    random.shuffle(shuffled)
    assert fold_all(shuffled) == fold_all(events)


@given(histories())
def test_erasure_leaves_the_same_record_whether_payloads_were_scrubbed_or_not(events: list[Event]) -> None:
    erased = Event(id=Clock(lambda: 1_700_100_000.0).tick(), about=ABOUT, verb="erased", at=events[-1].at)
    record = some(fold_all([*events, erased]))
    assert record.state == "erased"
    assert record == fold_all([*(scrub(event) for event in events), erased])
    assert (record.title, record.body, record.fields, record.tags, record.links) == ("", "", {}, (), ())


names = st.sampled_from(["title", "body", "fields", "links", "scopes", "kind", "anchors", "seen"]) | texts


@given(histories(st.dictionaries(names, json_values)))
def test_data_of_any_shape_folds_to_a_record_that_can_be_written_and_read(events: list[Event]) -> None:
    record = some(fold_all(event_from_json(event_to_json(event)) for event in events))
    assert record_from_json(record_to_json(record)) == record


@given(histories())
def test_as_of_a_moment_only_what_had_happened_counts(events: list[Event]) -> None:
    moment = events[len(events) // 2].at
    assert as_of(events, moment) == fold_all(event for event in events if event.at <= moment)


def happened(*steps: tuple[float, Verb, dict[str, Any]]) -> Record:
    """Return the fold of what was done to one record, each step at its hour on a clock of its own."""
    moments = [(1_700_000_000.0 + 3600 * hours, verb, data) for hours, verb, data in steps]
    events = [
        Event(id=Clock(partial(float, at)).tick(), about=ABOUT, verb=verb, at=instant(at), data=data)
        for at, verb, data in moments
    ]
    return some(fold_all(events))


def test_links_are_kept_once_and_can_be_taken_away_and_nothing_follows_erasure_even_when_its_clock_ran_behind() -> None:
    begun: tuple[float, Verb, dict[str, Any]] = (0, "recorded", {"title": "t", "body": "b"})
    arrow = {"relation": "supersedes", "target": "X"}
    linked = happened(begun, (1, "linked", arrow), (2, "linked", arrow))
    assert linked.links == (Link(relation="supersedes", target="X"),)
    assert happened(begun, (1, "linked", arrow), (2, "unlinked", arrow)).links == ()
    erased = happened(begun, (-9_000, "erased", {}))
    assert (erased.state, erased.body) == ("erased", "")

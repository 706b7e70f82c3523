"""Secrets, admission and weights: pure functions, judged by examples."""

import pytest

from holdfast.model.event import Actor
from holdfast.model.ids import instant
from holdfast.model.query import Usage
from holdfast.model.record import Draft, Record
from holdfast.policy.admission.admit import (
    Admitted,
    Duplicate,
    Pending,
    PreviouslyRemoved,
    ScopeMismatch,
    SecretFound,
    Similar,
    Transient,
    Verdict,
    Waivers,
    admit,
)
from holdfast.policy.ranking.trust import trust
from holdfast.policy.ranking.weight import freshness, use, weigh
from holdfast.policy.secrets.find import drop_private, masked
from tests.rows import each, examples


def test_private_spans_are_dropped_even_when_they_are_not_closed() -> None:
    assert drop_private("a <private>b</private> c <PRIVATE>d") == "a  c "
    value = {"k": ["x <private>y</private>", 5], "t": "has npm_" + "aB1" * 12}
    assert masked(value) == {"k": ["x ", 5], "t": "has [redacted npm token]"}


def similar(share: float, **given: object) -> Similar:
    return Similar(record=Record(id="X", **given), similarity=share)  # type: ignore[arg-type]


def judged(body: str, **given: object) -> Verdict:
    draft_keys = {"kind", "scopes", "source"}
    draft = Draft(body=body, **{key: value for key, value in given.items() if key in draft_keys})  # type: ignore[arg-type]
    return admit(draft, body, **{key: value for key, value in given.items() if key not in draft_keys})  # type: ignore[arg-type]


def test_a_plain_draft_is_admitted_with_what_is_related() -> None:
    assert judged("We use SQLite.") == Admitted()
    near = similar(0.5)
    assert judged("We use SQLite.", active=[near, similar(0.2)]) == Admitted(related=(near,))


def test_what_an_active_record_says_is_a_duplicate_unless_insisted() -> None:
    same = similar(0.8)
    assert judged("x y", active=[same]) == Duplicate(matches=(same,))
    assert judged("x y", active=[same], waivers=Waivers(duplicate=True)) == Admitted(related=(same,))


def test_what_was_removed_comes_with_its_reason() -> None:
    gone = similar(0.9, reason="wrong")
    assert judged("x y", removed=[gone]) == PreviouslyRemoved(matches=(gone,))


def test_wording_about_now_is_refused_but_not_in_what_is_about_a_moment() -> None:
    assert judged("We use SQLite for now, yesterday it was redis.") == Transient(markers=("for now", "yesterday"))
    assert judged("We use SQLite for now.", waivers=Waivers(transient=True)) == Admitted()
    assert judged("I just fixed it.", kind="observation") == Admitted()
    assert judged("The concurrently running jobs share a lock.") == Admitted()


@examples
def test_a_state_of_today_is_a_fact(text: str) -> None:
    assert judged(text) == Admitted()


@examples
def test_residue_of_the_work_at_hand_is_refused(text: str) -> None:
    assert isinstance(judged(text), Transient)


def test_naming_a_known_project_without_its_scope_is_refused() -> None:
    known = ["projects:shop", "projects:shop:api", "projects:ab"]
    assert judged("The shop needs redis.", known_scopes=known) == ScopeMismatch(
        suggested=("projects:shop", "projects:shop:api")
    )
    assert judged("The shop needs redis.", known_scopes=known, scopes=("projects:shop:web",)) == Admitted()
    assert judged("The workshop ab is closed.", known_scopes=known) == Admitted()


def test_a_secret_is_refused_before_anything_else() -> None:
    found = judged("currently a key", secrets=["npm token"], active=[similar(1.0)])
    assert found == SecretFound(names=("npm token",))


def test_an_inferred_preference_waits_for_a_yes() -> None:
    assert isinstance(judged("Likes tabs.", kind="preference", source="inferred"), Pending)
    assert judged("Likes tabs.", kind="preference") == Admitted()
    assert isinstance(judged("x", confirm_all=True), Pending)


DAY = 86_400.0
NOW = instant(1_790_000_000.0)


def aged(days: float, **given: object) -> Record:
    at = instant(1_790_000_000.0 - days * DAY)
    return Record(id="X", created_at=at, updated_at=at, **given)  # type: ignore[arg-type]


@each(
    ("record", "expected"),
    [
        (aged(0), 1.0),
        (aged(180), 0.5),
        (aged(180, verified_at=NOW), 1.0),
        (aged(30, kind="observation"), 0.5),
        (aged(9_999, kind="preference"), 1.0),
        (aged(9_999, kind="scar", fields={"scar_type": "process"}), 1.0),
        (aged(90, kind="scar", fields={"scar_type": "incident"}), 1.0),
        (aged(9_999, kind="of a later version"), 1.0),
    ],
)
def test_freshness_falls_as_each_kind_ages_until_it_is_verified(record: Record, expected: float) -> None:
    assert freshness(record, NOW) == pytest.approx(expected)


def test_trust_follows_source_and_confidence() -> None:
    assert trust(Record(id="X", confidence="high")) == 1.0
    assert trust(Record(id="X", source="mined", confidence="low")) == pytest.approx(0.42)


def test_use_speaks_for_or_against() -> None:
    assert use(Usage()) == 0
    assert use(Usage(surfaced=50)) == 0
    assert use(Usage(applied=8)) == pytest.approx(0.8)
    assert use(Usage(contradicted=4)) == pytest.approx(-0.8)
    assert use(Usage(ignored=4)) < 0 < use(Usage(applied=1))


def test_weights_only_name_what_says_something() -> None:
    by = Actor(kind="agent")
    assert weigh(aged(0, confidence="high", by=by), Usage(), project="p", now=NOW) == {}
    assert weigh(aged(0, confidence="high"), Usage(), project="p", now=NOW) == pytest.approx({"user": 1.1})
    scar = aged(0, kind="scar", confidence="high", project="p", by=by, fields={"severity": "critical"})
    assert weigh(scar, Usage(applied=2), project="p", now=NOW) == pytest.approx(
        {"severity": 1.1, "scope": 1.05, "use": 1.05}
    )

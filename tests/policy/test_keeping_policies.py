"""Trust, salience, the hot set, retention and the health score: every formula with worked values."""

import pytest

from holdfast.model.ids import instant
from holdfast.model.query import Usage
from holdfast.model.record import Record
from holdfast.policy.ranking.health import measures, score, word_for
from holdfast.policy.ranking.hot_set import helpfulness, hot_score, stale_after, why_not_hot
from holdfast.policy.ranking.retention import outlived
from holdfast.policy.ranking.salience import importance, salience
from holdfast.policy.ranking.trust import REASONS, base_trust, decayed, trust

START = 1_790_000_000.0


def day(number: float) -> str:
    return instant(START + number * 86_400)


def test_trust_begins_with_where_it_comes_from() -> None:
    rows = {
        "explicit high": 1.0,
        "explicit medium": 0.9,
        "mined high": 0.7,
        "imported low": 0.48,
        "starter medium": 0.45,
    }
    parts = {row: dict(zip(("source", "confidence"), row.split(), strict=True)) for row in rows}
    assert {row: base_trust(Record(id="x", **parts[row])) for row in rows} == pytest.approx(rows)  # type: ignore[arg-type]


def test_every_reason_moves_trust_by_its_own_amount() -> None:
    assert dict(REASONS) == {
        "used_correctly": 0.05,
        "explicitly_confirmed": 0.15,
        "cross_validated": 0.20,
        "outdated": -0.10,
        "partially_incorrect": -0.15,
        "factually_wrong": -0.30,
        "superseded": -0.05,
        "low_utility": -0.05,
        "contradiction_resolved": -0.20,
    }


def test_trust_stays_between_0_and_1_at_each_step() -> None:
    record = Record(id="x", confidence="high")
    assert trust(record, [0.2, -0.3]) == pytest.approx(0.7)  # not 0.9: it could not rise above 1
    assert trust(record, [-0.3] * 5 + [0.1]) == pytest.approx(0.1)


def test_trust_fades_with_idleness_and_use_slows_it() -> None:
    facts = {(0, 0): 1.0, (180, 0): 0.5, (180, 9): 0.5 * 1.2303, (180, 10_000): 0.5 * 1.5, (10, 10_000): 1.0}
    rows = {**{("fact", *fact): share for fact, share in facts.items()}, ("preference", 5_000, 0): 1.0, ("observation", 60, 0): 0.25}  # fmt: skip
    found = {row: decayed(1.0, row[0], idle_days=row[1], uses=row[2]) for row in rows}
    assert found == pytest.approx(rows, abs=1e-3)


def test_importance_counts_length_code_and_names() -> None:
    shares = {5: 0.2, 50: 0.5, 200: 1.0, 1_000: 0.8, 5_000: 0.6}
    assert {size: importance("a" * size) / 0.3 for size in shares} == pytest.approx(shares, abs=1e-3)
    named = "def run(): see src/app.py and https://example.org, then git push" + " " * 40
    assert importance(named) == pytest.approx(0.3 * 1.0 + 0.4 * 0.5 + 0.3 * 0.4, abs=1e-3)


def test_salience_weighs_importance_trust_use_and_its_recency() -> None:
    rows = {(0, None): 0.075 + 0.15, (5, 0): 0.225 + 0.2 + 0.3, (10, 14): 0.225 + 0.4 + 0.15, (50, 28): 0.225 + 0.4 + 0.075}  # fmt: skip
    found = {row: salience(importance=0.5, trust=1.0, uses=row[0], idle_days=row[1]) for row in rows}
    assert found == pytest.approx(rows, abs=1e-3)


def test_who_is_let_into_the_hot_set() -> None:
    fact, scar = Record(id="x"), Record(id="y", kind="scar")
    assert why_not_hot(fact, Usage(), 0.49) == "threshold"
    assert why_not_hot(fact, Usage(), 0.5) == ""
    assert why_not_hot(scar, Usage(), 0.3) == ""
    assert why_not_hot(fact, Usage(applied=3), 0.1) == ""
    assert why_not_hot(Record(id="z", kind="observation"), Usage(applied=9), 0.9) == "kind"
    assert why_not_hot(fact, Usage(surfaced=30), 0.6) == "helpfulness"


def test_helpfulness_is_cautious_about_few_showings() -> None:
    assert helpfulness(Usage()) == 0.25
    assert helpfulness(Usage(surfaced=1, applied=1)) == pytest.approx(2 / 5)
    assert helpfulness(Usage(surfaced=6)) == pytest.approx(0.1)


def test_the_coldest_leaves_first_and_idleness_depends_on_the_kind() -> None:
    assert hot_score(2, 7) == pytest.approx(2.25)
    assert hot_score(0, None) == 0.0
    assert [stale_after(kind) for kind in ("scar", "fact", "observation")] == [28, 14, 7]


def test_what_tells_of_a_moment_is_kept_for_a_time() -> None:
    seen = Record(id="x", kind="observation", updated_at=day(0))
    assert not outlived(seen, None, day(180))
    assert outlived(seen, None, day(181))
    assert not outlived(seen, Usage(last_used_at=day(100)), day(181))
    assert not outlived(Record(id="y", kind="fact", updated_at=day(0)), None, day(5_000))


def test_the_health_score_says_what_it_is_made_of() -> None:
    fine = dict.fromkeys(("contradicted", "conflicts", "unverified", "stale", "drifted", "dead", "cold", "typos"), 0)
    assert score(measures({**fine, "total": 100})) == 100
    assert score(measures({**fine, "total": 0})) == 100
    worse = measures({**fine, "total": 100, "contradicted": 5, "unverified": 40, "cold": 20})
    assert [(one.name, one.cost) for one in worse[:3]] == [("contradicted", 15.0), ("unverified", 6.0), ("cold", 2.0)]
    assert score(worse) == 77
    assert [word_for(points) for points in (90, 77, 20)] == ["healthy", "fair", "needs care"]

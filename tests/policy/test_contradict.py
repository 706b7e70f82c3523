"""When two texts contradict each other, and when they only resemble each other."""

from hypothesis import given, settings
from hypothesis import strategies as st

from bench.labelled import LEAST_PRECISION, LEAST_RECALL, SPLITS, alike, rows_of, score_pairs
from holdfast.policy.language.contradict import Contradiction, contradicts
from tests.rows import each


def test_another_number_in_the_same_slot_contradicts() -> None:
    assert contradicts("The gateway times out after 30 seconds.", "The gateway times out after 45 s.") == Contradiction(
        reason="value", slot="gateway times out after", older="30 seconds", newer="45 s", strength=0.9
    )


def test_what_is_denied_after_it_was_affirmed_contradicts() -> None:
    assert contradicts("The seed script is idempotent.", "The seed script is not idempotent.") == Contradiction(
        reason="polarity",
        slot="seed script idempotent",
        older="The seed script is idempotent",
        newer="The seed script is not idempotent",
        strength=0.9,
    )


def test_a_reported_change_contradicts_what_was_left_behind() -> None:
    found = contradicts("Docs are built with Sphinx.", "We replaced Sphinx with MkDocs for the docs.")
    assert found == Contradiction(
        reason="change",
        slot="Docs",
        older="Docs are built with Sphinx",
        newer="We replaced Sphinx with MkDocs for the docs",
        strength=0.95,
    )


def test_a_contradiction_explains_itself_in_a_sentence() -> None:
    found = contradicts("The gateway times out after 30 seconds.", "The gateway times out after 45 s.")
    assert found is not None
    assert found.explain == "About gateway times out after: the older text says 30 seconds, the newer 45 s."


def test_similarity_weighs_a_contradiction_and_never_makes_one() -> None:
    pair = "The pool has 8 threads.", "The pool has 16 threads."
    strengths = [
        found.strength for share in (None, 1.0, 0.5, 0.0) if (found := contradicts(*pair, similarity=share)) is not None
    ]
    assert strengths == [0.9, 0.9, 0.855, 0.81]
    assert contradicts("Use tabs in Go.", "In Go, use tabs.", similarity=1.0) is None


@each(
    ("older", "newer"),
    [
        ("The job waits 90 seconds.", "The job waits 1.5 minutes."),
        ("The disk has 2 TB.", "The disk has 2048 GB."),
        ("Keys rotate after one month.", "Keys rotate after 30 days."),
        ("We allow 120 calls per minute.", "We allow 2 calls per second."),
        ("The schema version is 4.2.", "The schema version is 4.2.7."),
        ("The importer takes about twelve minutes.", "The importer takes about 12 min."),
    ],
)
def test_the_same_amount_in_another_unit_is_no_contradiction(older: str, newer: str) -> None:
    assert contradicts(older, newer) is None


@each(
    ("older", "newer"),
    [
        ("The staging mailer sends at 06:00.", "The production mailer sends at 07:00."),
        ("Step 3 runs the linter.", "Step 4 runs the linter."),
        ("Fact number 2 about the pool.", "Fact number 3 about the pool."),
        ("The worker is stateless.", "The worker is small."),
        ("Errors are logged.", "Validation errors are not logged."),
        ("Is the cache on?", "The cache is not on."),
        ("| limit | 10 | is the most |", "| limit | 20 | is the most |"),
        ("We never merge without a review.", "We always merge with a review."),
    ],
)
def test_other_subjects_narrower_ones_and_double_negation_are_no_contradiction(older: str, newer: str) -> None:
    assert contradicts(older, newer) is None


@each(
    ("older", "newer"),
    [
        ("The upload limit is 10 MB.", "Uploads may be up to 50 MB."),
        ("A password must have at least 8 characters.", "Passwords need a minimum of 12 characters."),
        ("The SDK supports Python 3.8 and newer.", "The SDK needs Python 3.11 or later."),
        ("Access tokens expire after an hour.", "Access tokens are valid for 15 minutes."),
        ("The cache TTL is 60 seconds.", "Cache entries live for five minutes."),
        ("We deploy on Tuesdays.", "Deploys happen on Wednesdays and Fridays."),
        ("Marta maintains the importer.", "The importer is maintained by Jonas."),
        ("Contributors must sign the CLA.", "A CLA is no longer needed."),
    ],
)
def test_the_same_slot_in_other_words_contradicts(older: str, newer: str) -> None:
    assert contradicts(older, newer) is not None


@each(
    ("older", "newer"),
    [
        ("Builds are kept for 14 days.", "A build takes 12 minutes."),
        ("A password must have at least 8 characters.", "A password may have at most 64 characters."),
        ("The minimum pool size is 5.", "The maximum pool size is 20."),
        ("Retries wait at least 2 seconds.", "Retries wait at most 30 seconds."),
        ("We keep at least 3 replicas.", "We run up to 10 replicas."),
        ("Access tokens expire after an hour.", "Refresh tokens expire after 30 days."),
        ("Python services log as JSON.", "Go services log in logfmt."),
        ("The newsletter goes out on Monday.", "The newsletter draft is reviewed on Fridays."),
        ("Sam leads the mobile team.", "The web team is led by Ines."),
        ("The client needs Node 18 or later.", "The server needs Python 3.12 or later."),
    ],
)
def test_other_periods_subjects_and_holders_do_not_contradict(older: str, newer: str) -> None:
    assert contradicts(older, newer) is None


def test_one_contradicting_sentence_among_many_is_found() -> None:
    older = "The shop has three services. They share one bucket. The bucket is public. Ask Noor for keys."
    newer = "Ask Noor for keys. The shop has three services. The bucket is not public."
    found = contradicts(older, newer)
    assert found is not None
    assert (found.reason, found.older, found.newer) == ("polarity", "The bucket is public", "The bucket is not public")


@settings(max_examples=200)
@given(st.text(max_size=200), st.text(max_size=200))
def test_any_two_texts_can_be_compared_and_none_contradicts_itself(older: str, newer: str) -> None:
    contradicts(older, newer)
    assert contradicts(older, older) is None


@each(
    "text",
    [
        "moved from " * 9_000,
        "is owned by " * 9_000,
        "may be up to " * 9_000,
        "a, " * 30_000,
        "x" * 100_000,
        "not " * 20_000,
        "`" * 50_000,
    ],
)
def test_hostile_texts_are_compared_in_no_time(text: str) -> None:
    from time import process_time

    start = process_time()
    contradicts(text, text + " is now 5")
    assert process_time() - start < 0.25


def test_the_labelled_pairs_are_many_distinct_and_half_held_back() -> None:
    halves = {split: rows_of("contradictions", split) for split in SPLITS}
    assert {split: len(rows) for split, rows in halves.items()} == {"dev": 128, "held": 128}
    assert len({(row["older"], row["newer"]) for rows in halves.values() for row in rows}) == 256
    assert {split: sum(row["contradicts"] for row in rows) for split, rows in halves.items()} == {"dev": 62, "held": 62}


def test_contradictions_are_found_on_pairs_nobody_tuned_for() -> None:
    for split in SPLITS:
        ours = score_pairs(lambda older, newer: contradicts(older, newer) is not None, split)
        naive = score_pairs(alike, split)
        print(
            f"{split}: precision {ours.precision:.3f} recall {ours.recall:.3f}, naive {naive.precision:.3f} {naive.recall:.3f}"
        )
        assert ours.precision >= LEAST_PRECISION
        assert ours.recall >= LEAST_RECALL
        assert ours.precision > naive.precision

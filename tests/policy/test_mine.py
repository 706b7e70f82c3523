"""What is worth keeping in a session's log, and what is only said in passing."""

from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.labelled import LEAST_PRECISION, LEAST_RECALL, SPLITS, every_sentence, rows_of, score_passages
from holdfast.policy.language.mine import FAMILIES, Found, mine, pattern_key, score
from holdfast.policy.language.reading import passages
from tests.rows import each, examples


def kinds(text: str) -> list[tuple[str, str]]:
    return [(found.kind, found.text) for found in mine(text)]


def test_a_find_is_the_whole_sentence_with_its_place_in_the_log() -> None:
    log = "Let me look. The mailer retries for 2 days; `MAIL_RETRY_HOURS` defaults to 48. All good!"
    sentence = "The mailer retries for 2 days; `MAIL_RETRY_HOURS` defaults to 48."
    at = log.index(sentence)
    assert mine(log) == [Found(kind="configuration", text=sentence, confidence=0.8, span=(at, at + len(sentence)))]


def test_a_sentence_wrapped_over_lines_is_kept_in_one_piece() -> None:
    assert kinds("- We chose Postgres over MySQL because\n  we need partial indexes.\n- Next I'll write the test.") == [
        ("decision", "We chose Postgres over MySQL because we need partial indexes.")
    ]


@each(
    ("sentence", "confidence"),
    [
        ("We settled on UUIDs for order numbers.", 0.7),
        ("We settled on UUIDs because shops merge.", 0.8),
        ("We settled on UUIDs rather than counters because shops merge.", 0.9),
    ],
)
def test_a_decision_counts_more_with_its_reason_and_its_alternative(sentence: str, confidence: float) -> None:
    assert [(found.kind, found.confidence) for found in mine(sentence)] == [("decision", confidence)]


def test_the_same_thing_said_twice_is_found_once() -> None:
    log = "The web app uses Redis for sessions.\n\nFor sessions the web app uses Redis.\n\n$ make proto\n$ make  proto"
    assert kinds(log) == [("tech_stack", "The web app uses Redis for sessions."), ("command", "make proto")]


@examples
def test_quotes_prompts_code_diffs_questions_guesses_and_secrets_are_passed_over(log: str) -> None:
    assert mine(log) == []


def test_what_follows_a_passed_over_block_is_read_again() -> None:
    log = "<memory>Old.</memory>\nYou are a bot.\n\nUSER: hm\n\nASSISTANT: We use Redis for sessions.\n"
    assert kinds(log) == [("tech_stack", "We use Redis for sessions.")]


def test_commands_are_taken_from_prompts_and_shell_blocks_but_not_those_that_look_around() -> None:
    log = "$ git status\n$ ls -la\n$ just db-reset\n```bash\n# seed it\npnpm run seed --small\n```\n`git log` shows it."
    assert kinds(log) == [("command", "just db-reset"), ("command", "pnpm run seed --small")]


def test_names_of_environment_variables_are_found_and_never_a_secret_beside_them() -> None:
    assert kinds("The worker reads its queue from `QUEUE_URL`.") == [
        ("configuration", "The worker reads its queue from `QUEUE_URL`.")
    ]
    assert mine("The worker reads QUEUE_TOKEN=aB3dE5gH7jK9 from `QUEUE_ENV`.") == []


def found(kind: str, text: str) -> Found:
    return Found(kind=kind, text=text, confidence=0.5, span=(0, 0))


def test_a_pattern_key_ignores_order_form_and_parameter_names_but_not_a_denial() -> None:
    assert pattern_key(found("fact", "Orders are stored in Postgres.")) == "fact order postgr stor"
    assert pattern_key(found("architecture", "In Postgres, orders are stored")) == "fact order postgr stor"
    assert pattern_key(found("fact", "Orders are not stored in Postgres.")) == "fact not order postgr stor"
    assert pattern_key(found("command", "Build it with `make  all`.")) == "command make all"
    assert pattern_key(found("api_endpoint", "`GET /users/:id/?full=1` gives a user.")) == "api_endpoint GET /users/{}"
    assert pattern_key(found("api_endpoint", '@app.get("/users/{user_id}")')) == "api_endpoint GET /users/{}"


def test_a_pattern_counts_by_occurrences_age_and_confidence() -> None:
    assert [score(*given) for given in ((10, 0, 1.0), (50, 0, 0.8), (5, 0, 1.0), (10, 7, 1.0), (3, 14, 0.5))] == [
        1.0,
        0.8,
        0.5,
        0.5,
        pytest.approx(0.0375),
    ]


@settings(max_examples=200)
@given(st.text(alphabet=st.sampled_from("ab .`\n<>$-+@:;uU\"'{}memory/"), max_size=300))
def test_any_log_can_be_mined_and_spans_lie_inside_it(log: str) -> None:
    for passage in passages(log):
        assert 0 <= passage.start <= passage.end <= len(log)
    mine(log)


@each(
    "piece",
    [
        "<memory ",
        "<system-x>",
        "<memory>a</memory>",
        "```\n",
        "user: a\n",
        "a. B. ",
        "because the cache is ",
        "`make x ",
        "- a\n",
    ],
)
def test_hostile_logs_are_mined_in_no_time(piece: str) -> None:
    log = piece * (100_000 // len(piece))
    start = process_time()
    mine(log)
    assert process_time() - start < 2


def test_the_labelled_passages_are_half_traps_and_half_held_back() -> None:
    halves = {split: rows_of("mining", split) for split in SPLITS}
    assert {split: len(rows) for split, rows in halves.items()} == {"dev": 132, "held": 132}
    assert {split: sum(not row["wanted"] for row in rows) for split, rows in halves.items()} == {"dev": 66, "held": 66}
    wanted = {want["kind"] for rows in halves.values() for row in rows for want in row["wanted"]}
    assert wanted | {"insight"} == set(FAMILIES)


def test_knowledge_is_found_in_passages_nobody_tuned_for() -> None:
    for split in SPLITS:
        ours, naive = score_passages(mine, split), score_passages(every_sentence, split, kinds=False)
        print(
            f"{split}: precision {ours.precision:.3f} recall {ours.recall:.3f}, naive {naive.precision:.3f} {naive.recall:.3f}"
        )
        assert ours.precision >= LEAST_PRECISION
        assert ours.recall >= LEAST_RECALL
        assert ours.precision > naive.precision

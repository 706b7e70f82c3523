"""Credentials of every kind are found in their surroundings, and what only looks like one is left alone."""

import json

from bench import planting
from bench.labelled import SPLITS
from bench.leaks import LEAST_RECALL, MOST_FALSE, covers, hit, look_alikes, ours, planted, score
from holdfast.policy.secrets.find import _hinted, mask_secrets, masked, secrets_in
from holdfast.policy.secrets.words import RULES
from tests.rows import WHOLE, each

PLANTED = [row for split in SPLITS for row in planted(split)]
PASSWORD = "Xk9!mQ2#" + "vLw7"
# Wrappings that leave a secret in one piece or say that it goes on; of one that is broken or cut, its end may read like a word.
UNBROKEN = tuple(name for name in planting.WRAPPINGS if name not in (*planting.BREAKS, "YAML, folded", "quoted-printable") and "lines" not in name)  # fmt: skip
LEAST_EACH, MOST_EACH = (0.9, 0.1) if WHOLE else (0.85, 0.15)  # every day there are few of each: one weighs much
TOKEN = "ghp_" + "a1B2" * 9


def test_the_corpus_and_the_rules_are_as_many_as_promised() -> None:
    assert len(PLANTED) >= 80
    assert len({kind for kind, _, _ in PLANTED}) >= 65
    assert sum(len(look_alikes(split)) for split in SPLITS) >= 220
    assert len({rule[0] for rule in RULES}) >= 62
    for count in ([len(planted(split)) for split in SPLITS], [len(look_alikes(split)) for split in SPLITS]):
        assert 3 * count[1] >= sum(count)


@each(("secret", "text"), [row[1:] for row in PLANTED])
def test_a_planted_secret_is_found_and_nothing_of_it_is_left(secret: str, text: str) -> None:
    assert hit(ours(text), secret)
    clean = mask_secrets(text)
    assert [line for line in secret.replace("\\n", "\n").split("\n") if len(line) > 8 and line in clean] == []
    assert mask_secrets(clean) == clean


@each("around", ["{}", "word {} word", "--{}--", "_{}.", "\n{}\n"])
def test_a_rule_is_tried_wherever_its_hint_is(around: str) -> None:
    hints = [hint for rule in RULES for hint in rule[1].removeprefix("~").split()]
    assert len(hints) > 250
    assert [hint for hint in hints if hint not in {rule[1] for rule in _hinted(around.format(hint))}] == []


@each("split", SPLITS)
def test_look_alikes_are_left_alone(split: str) -> None:
    found = score(ours, split)
    assert found.recall >= 0.95
    assert found.alarms <= 0.02


def test_names_are_masked_and_make_their_text_a_secret() -> None:
    value = {
        "password": PASSWORD,
        "env": [{"name": "DB_PASSWORD", "value": PASSWORD}, {"name": "LOG_LEVEL", "value": "debug-2"}],
        f"X-{TOKEN}": 1,
        "token_id": "4f2c9a7d-1e8b",
        "plain": "text",
    }
    assert secrets_in(value) == ("GitHub token", "password or key")
    assert masked(value) == {
        "password": "[redacted password or key]",
        "env": [{"name": "DB_PASSWORD", "value": "[redacted password or key]"}, {"name": "LOG_LEVEL", "value": "debug-2"}],
        "X-[redacted GitHub token]": 1,
        "token_id": "4f2c9a7d-1e8b",
        "plain": "text",
    }  # fmt: skip


def test_two_names_that_differ_by_their_secrets_stay_two() -> None:
    value = {TOKEN: 1, TOKEN[::-1][:36].join(("ghp_", "")): 2}
    assert sorted(masked(value).values()) == [1, 2]


def test_quotes_escaped_by_json_in_json_hide_nothing() -> None:
    line = json.dumps({"text": json.dumps({"password": PASSWORD})})
    assert PASSWORD not in mask_secrets(line)
    assert PASSWORD not in mask_secrets(json.dumps(line))


@each(("secret", "text"), [row[1:] for row in PLANTED])
def test_a_secret_in_json_in_json_is_found(secret: str, text: str) -> None:
    line = json.dumps({"message": json.dumps({"text": f"before\n{text}\nafter"})})
    assert json.dumps(secret)[1:-1] not in mask_secrets(line).replace("\\\\", "\\")


def test_rules_that_overlap_hide_nothing_from_each_other() -> None:
    text = f"token={PASSWORD}-{TOKEN} and more"
    assert mask_secrets(text) == "token=[redacted password or key] and more"


def test_secrets_are_found_whole_however_they_are_wrapped_or_split() -> None:
    missed, alarms, planted, alike = [], [], 0, 0
    for wrapping in planting.WRAPPINGS:
        every = 1 if wrapping == "plain" else 2 if WHOLE else 11
        secrets = [secret for split in SPLITS for secret in planting.planted(split, wrapping)][::every]
        others = [text for split in SPLITS for text in planting.look_alikes(split, wrapping)][::every]
        lost = [secret for secret in secrets if not covers(ours(secret.text), secret.secret)]
        false = [text for text in others if ours(text)]
        print(f"{wrapping}: {len(secrets) - len(lost)}/{len(secrets)} found, {len(false)}/{len(others)} false alarms")
        # The average must not hide one wrapping that is not undone at all.
        strict = wrapping in UNBROKEN and every <= 2
        assert len(secrets) - len(lost) >= (LEAST_RECALL if strict else LEAST_EACH) * len(secrets), lost
        assert len(false) <= (MOST_FALSE if strict else MOST_EACH) * len(others), false
        missed += [f"missed, {wrapping}: {secret.kind}: {secret.text!r}" for secret in lost]
        alarms += [f"false alarm, {wrapping}: {text!r}" for text in false]
        planted, alike = planted + len(secrets), alike + len(others)
    print(
        f"all: {planted - len(missed)}/{planted} found, {len(alarms)}/{alike} false alarms", *missed, *alarms, sep="\n"
    )
    assert len(planting.WRAPPINGS) >= 50
    assert planted - len(missed) >= LEAST_RECALL * planted
    assert len(alarms) <= MOST_FALSE * alike


def test_the_second_set_is_as_large_as_promised() -> None:
    kinds = {one.kind for split in SPLITS for one in planting.planted(split)}
    assert len(kinds) >= 200
    assert sum(len(planting.look_alikes(split)) for split in SPLITS) >= 430


@each(
    "before", ["", "m", "_", "=", "x", "\x1b[32m", "\x1b[K", "\\u001b[32m", "\\x1b[0;1m", "\\033[m", "\u200b", "token"]
)
def test_nothing_that_stands_before_a_prefix_hides_it(before: str) -> None:
    for token in (TOKEN, "glpat-" + "a1B2" * 5, "sk-ant-api03-" + "a1B2-" * 18, "hf_" + "0a" * 6 + "_" + "aB3-" * 11):
        clean = mask_secrets(f"see {before}{token} there")
        assert token[10:] not in clean
        assert clean.endswith("] there")


def test_exactly_the_wrapped_secret_is_cut_out() -> None:
    text = f"a\x1b[1mb \x1b[32m{TOKEN[:9]}\x1b[0m\u200b{TOKEN[9:]}\x1b[0m %41 &amp; c\\n"
    assert mask_secrets(text) == "a\x1b[1mb \x1b[32m[redacted GitHub token]\x1b[0m %41 &amp; c\\n"


def test_our_own_keys_and_passes_are_known() -> None:
    key, pass_ = (
        "hf_" + "0a1b2c" * 2 + "_" + "aB3-" * 10 + "xyz",
        "0a1b2c" * 2 + ".2026-03-02T10:11:12.123Z." + "0f" * 32,
    )
    assert mask_secrets(f"HOLDFAST_KEY={key}") == "HOLDFAST_KEY=[redacted Holdfast key]"
    assert mask_secrets(f"Cookie: holdfast-pass={pass_}") == "Cookie: holdfast-pass=[redacted Holdfast pass]"
    assert mask_secrets(f"got {pass_}") == "got [redacted Holdfast pass]"


def test_every_rule_names_where_its_format_is_described() -> None:
    assert [rule[0] for rule in RULES if len(rule[3]) < 6] == []

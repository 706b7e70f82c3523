"""Credentials of every kind are found in their surroundings, and what only looks like one is left alone."""

import json
from collections.abc import Callable

from bench import planting
from bench.labelled import SPLITS
from bench.leaks import LEAST_RECALL, MOST_FALSE, covers, hit, look_alikes, ours, planted, score
from holdfast.policy.secrets.find import _hinted, drop_private, find_secrets, mask_secrets, masked, secrets_in
from holdfast.policy.secrets.words import COMMANDS, RULES
from tests.rows import WHOLE, cpu_seconds, each, examples, rows, sampled

PLANTED = [row for split in SPLITS for row in planted(split)]
PASSWORD = "Xk9!mQ2#" + "vLw7"
# Wrappings that leave a secret in one piece or say that it goes on; of one that is broken or cut, its end may read like a word.
UNBROKEN = tuple(name for name in planting.WRAPPINGS if name not in (*planting.BREAKS, "YAML, folded", "quoted-printable") and "lines" not in name)  # fmt: skip
LEAST_EACH, MOST_EACH = (0.9, 0.1) if WHOLE else (0.85, 0.15)  # every day there are few of each: one weighs much
TOKEN = "ghp_" + "a1B2" * 9
VALUE = "q" + "T7" + "$m" + "Rk" + "9x" + "Wv" + "3"


def test_the_sets_and_the_rules_are_as_many_as_promised() -> None:
    alike = [len(look_alikes(split)) + len(planting.look_alikes(split)) for split in SPLITS]
    kinds = {kind for kind, _, _ in PLANTED} | {one.kind for split in SPLITS for one in planting.planted(split)}
    assert (len(PLANTED) >= 80, len(kinds) >= 200, sum(alike) >= 650, len(RULES) >= 62) == (True,) * 4
    assert [rule[0] for rule in RULES if len(rule[3]) < 6] == []  # where its format is described


@each(("secret", "text"), [row[1:] for row in PLANTED])
def test_a_planted_secret_is_found_and_nothing_of_it_is_left(secret: str, text: str) -> None:
    assert hit(ours(text), secret)
    clean = mask_secrets(text)
    assert [line for line in secret.replace("\\n", "\n").split("\n") if len(line) > 8 and line in clean] == []
    assert mask_secrets(clean) == clean
    line = json.dumps({"message": json.dumps({"text": f"before\n{text}\nafter"})})
    assert json.dumps(secret)[1:-1] not in mask_secrets(line).replace("\\\\", "\\")


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
        "env": [{"name": "DB_PASSWORD", "value": PASSWORD}, {"name": "LOG_LEVEL", "value": "debug-2"}],
        f"X-{TOKEN}": PASSWORD,
        "password": PASSWORD,
        "token_id": "4f2c9a7d-1e8b",
    }
    assert secrets_in(value) == ("GitHub token", "password or key")
    hidden = "[redacted password or key]"
    assert masked(value) == {
        "env": [{"name": "DB_PASSWORD", "value": hidden}, {"name": "LOG_LEVEL", "value": "debug-2"}],
        "X-[redacted GitHub token]": PASSWORD,
        "password": hidden,
        "token_id": "4f2c9a7d-1e8b",
    }
    assert sorted(masked({TOKEN: 1, TOKEN[::-1][:36].join(("ghp_", "")): 2}).values()) == [1, 2]


KEY = "hf_" + "0a1b2c" * 2 + "_" + "aB3-" * 10 + "xyz"
PASS = "0a1b2c" * 2 + ".2026-03-02T10:11:12.123Z." + "0f" * 32


@examples
def test_exactly_the_secret_is_cut_out_our_own_keys_and_passes_too(text: str, clean: str) -> None:
    assert mask_secrets(text.format_map(globals())) == clean


@examples
def test_a_secret_in_this_place_is_masked(place: str) -> None:
    assert VALUE not in mask_secrets(place.format(VALUE))


@examples
def test_this_is_no_secret(text: str) -> None:
    assert find_secrets(text) == []


def test_secrets_are_found_whole_however_they_are_wrapped_or_split() -> None:
    found, false, planted, alike = 0, 0, 0, 0
    for wrapping in planting.WRAPPINGS:
        every = 1 if wrapping == "plain" else 2 if WHOLE else 11
        secrets = [secret for split in SPLITS for secret in planting.planted(split, wrapping)][::every]
        others = [text for split in SPLITS for text in planting.look_alikes(split, wrapping)][::every]
        lost = [secret for secret in secrets if not covers(ours(secret.text), secret.secret)]
        alarms = [text for text in others if ours(text)]
        # The average must not hide one wrapping that is not undone at all.
        strict = wrapping in UNBROKEN and every <= 2
        assert len(secrets) - len(lost) >= (LEAST_RECALL if strict else LEAST_EACH) * len(secrets), (wrapping, lost)
        assert len(alarms) <= (MOST_FALSE if strict else MOST_EACH) * len(others), (wrapping, alarms)
        found, planted = found + len(secrets) - len(lost), planted + len(secrets)
        false, alike = false + len(alarms), alike + len(others)
    print(f"{found}/{planted} found, {false}/{alike} false alarms")
    assert len(planting.WRAPPINGS) >= 50
    assert (found >= LEAST_RECALL * planted, false <= MOST_FALSE * alike) == (True, True)


@examples
def test_nothing_that_stands_before_a_prefix_hides_it(before: str) -> None:
    for token in (TOKEN, "glpat-" + "a1B2" * 5, "sk-ant-api03-" + "a1B2-" * 18, "hf_" + "0a" * 6 + "_" + "aB3-" * 11):
        clean = mask_secrets(f"see {before}{token} there")
        assert token[10:] not in clean
        assert clean.endswith("] there")


SIZE = 20_000  # characters
MOST = 60  # times what prose of the same length takes
PROSE = "The quick brown fox jumps over the lazy dog, and nobody knows why it did so on Monday. "
HINTS = sorted({hint for _, hints, _, _ in RULES for hint in hints.removeprefix("~").split()})
NAMES = sorted({name for names, _, _ in COMMANDS for name in names.split()})
SEEDS: list[str] = rows("texts_that_look_like_the_beginning_of_a_secret")


def seconds(look: Callable[[str], object], seed: str, times: int = 1) -> float:
    return cpu_seconds(look, (seed * (SIZE // len(seed) + 1))[:SIZE], times=times)


def test_no_text_takes_long() -> None:
    usual = seconds(find_secrets, PROSE, 5)
    texts = sampled([seed + filling for seed in (*SEEDS, *NAMES, *HINTS) for filling in ("", " ", "\n")], 47)
    slow = [text for text in texts if seconds(find_secrets, text) > MOST * usual]
    # Measured again before it counts: the machine may have been busy with something else.
    assert [text for text in slow if seconds(find_secrets, text, 3) > MOST * usual] == []
    private = ("<private>", "<private", "</private>", "<private></private>", "<PRIVATE>x", "<")
    assert [text for text in private if seconds(drop_private, text, 3) > MOST * usual] == []

"""The time to look for secrets grows with the text alone, whatever it is made of."""

from collections.abc import Callable

from holdfast.policy.secrets.find import drop_private, find_secrets
from holdfast.policy.secrets.words import COMMANDS, RULES
from tests.rows import cpu_seconds, rows, sampled

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

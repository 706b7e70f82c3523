"""Made-up memories with the statistics of technical text: words of Python's manual, and identifiers made of them."""

import bisect
import re
from collections import Counter
from functools import cache
from itertools import accumulate
from pydoc_data.topics import topics
from random import Random

VOCABULARY = 30_000


class Corpus:
    """Texts whose words follow Zipf's law, the same for the same seed."""

    def __init__(self, seed: int = 1) -> None:
        self._random = Random(seed)
        self._words = _vocabulary()
        self._weights = list(accumulate(1 / (rank + 2.7) ** 1.05 for rank in range(VOCABULARY)))

    def text(self, length: int = 60) -> str:
        """Return a text of the given number of words."""
        return " ".join(self._word() for _ in range(length))

    def question(self) -> str:
        """Return a question of twelve words: eleven of prose, common ones included, and one identifier."""
        prose = [word for word in (self._word() for _ in range(60)) if "_" not in word][:11]
        return " ".join([*prose, self._random.choice(self._words[-5_000:])])

    def _word(self) -> str:
        return self._words[bisect.bisect(self._weights, self._random.random() * self._weights[-1])]


@cache
def _vocabulary() -> list[str]:
    """Return the manual's words by frequency, then identifiers made of pairs of them: the long tail of code."""
    counts = Counter(re.findall(r"[a-z]{2,}", " ".join(topics.values()).lower()))
    words = [word for word, _ in counts.most_common()]
    random = Random(0)
    names = dict.fromkeys(f"{random.choice(words)}_{random.choice(words)}" for _ in range(2 * VOCABULARY))
    return [*words, *names][:VOCABULARY]

"""Made-up memories with the statistics of real text: a few very common words, a long tail of rare ones."""

import bisect
from itertools import accumulate
from random import Random

VOCABULARY = 30_000
_COMMON = (
    "the of to and a in is it for on that with as this be are by from or an at not when we use file test run error "
    "data code function build deploy server config user token api cache query index table request fix bug release"
).split()
_SYLLABLES = "ba co di fu ge hi jo ka le mi no pu ra se ti vo wa xe yi zu".split()


class Corpus:
    """Texts drawn from a Zipf distribution, the same for the same seed."""

    def __init__(self, seed: int = 1) -> None:
        self._random = Random(seed)
        self._words = [*_COMMON, *(_word(number) for number in range(VOCABULARY - len(_COMMON)))]
        self._weights = list(accumulate(1 / (rank + 2.7) ** 1.05 for rank in range(VOCABULARY)))

    def text(self, length: int = 60) -> str:
        """Give one text of so many words."""
        return " ".join(self._word() for _ in range(length))

    def question(self) -> str:
        """Give twelve words as a person would ask, common ones among them."""
        return self.text(12)

    def _word(self) -> str:
        return self._words[bisect.bisect(self._weights, self._random.random() * self._weights[-1])]


def _word(number: int) -> str:
    text = ""
    number += len(_SYLLABLES)
    while number:
        number, place = divmod(number, len(_SYLLABLES))
        text += _SYLLABLES[place]
    return text

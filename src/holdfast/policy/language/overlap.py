"""Compare short texts by the words they share, for use without an embedder."""

import re

SAME, SAME_ISSUE = 0.6, 0.4
_HAN = r"\u3040-\u30ff\u3400-\u9fff"  # scripts without spaces: every two neighbours count as a word
_WORD = re.compile(rf"(?=([{_HAN}]{{2}}))|[^\W_{_HAN}](?:[^\W{_HAN}]|-)+")
_ISSUE = re.compile(r"\s*([A-Z][A-Z0-9]*-\d+)\b")
_FUNCTION = frozenset(
    """
    the an and or but if then else of to in on at by for from with without into over under about as is are was were be been
    being do does did has have had it its this that these those we our you your not no so than too can will should
    """.split()
)


def words(text: str) -> frozenset[str]:
    """Return the words of a text that carry meaning."""
    return frozenset(in_order(text))


def in_order(text: str) -> list[str]:
    """Return the words of a text that carry meaning, each once."""
    found = dict.fromkeys(match[1] or match[0] for match in _WORD.finditer(text.lower()))
    return [word for word in found if word not in _FUNCTION]


def overlap(first: str, second: str) -> float:
    """Return the share of the shorter text's words that the other text contains."""
    left, right = words(first), words(second)
    return len(left & right) / min(len(left), len(right)) if left and right else 0.0


def is_same(first: str, second: str) -> bool:
    """True if two texts name the same piece of work; less need be alike where both begin with the same issue key, such as SHOP-12."""
    left, right = _ISSUE.match(first), _ISSUE.match(second)
    least = SAME_ISSUE if left and right and left[1] == right[1] else SAME
    return plain(first) == plain(second) or overlap(first, second) > least


def plain(text: str) -> str:
    """Return a text without case, line breaks and final punctuation."""
    return " ".join(text.lower().split()).rstrip(".!?;:")

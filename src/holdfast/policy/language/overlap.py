"""Whether two short texts are about the same thing, by the words they share. For where no embedder can be asked."""

import re

SAME, SAME_ISSUE = 0.6, 0.4
_WORD = re.compile(r"[^\W_][\w-]+")
_ISSUE = re.compile(r"\s*([A-Z][A-Z0-9]*-\d+)\b")
_FUNCTION = frozenset(
    """
    the an and or but if then else of to in on at by for from with without into over under about as is are was were be been
    being do does did has have had it its this that these those we our you your not no so than too can will should
    """.split()
)


def words(text: str) -> frozenset[str]:
    """Give the words of a text that carry meaning."""
    return frozenset(_WORD.findall(text.lower())) - _FUNCTION


def overlap(some: str, other: str) -> float:
    """Give the share of the shorter text's words that the other one holds too."""
    left, right = words(some), words(other)
    return len(left & right) / min(len(left), len(right)) if left and right else 0.0


def same_issue(some: str, other: str) -> bool:
    """Tell whether both begin with the same issue key, such as SHOP-12."""
    left, right = _ISSUE.match(some), _ISSUE.match(other)
    return bool(left and right and left[1] == right[1])


def is_same(some: str, other: str) -> bool:
    """Tell whether two texts name the same piece of work."""
    return _plain(some) == _plain(other) or overlap(some, other) > (SAME_ISSUE if same_issue(some, other) else SAME)


def _plain(text: str) -> str:
    return " ".join(text.lower().split()).rstrip(".!?;:")

"""Estimate how much a text is worth and how much a record is in use, each from 0 to 1."""

import re

HALF_LIFE_DAYS = 14.0
ENOUGH_USES = 10
_CODE = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"```",
        r"\bdef \w",
        r"\bclass \w",
        r"^[ \t]*(?:import|from) \w",
        r"\bfunction\b|=>",
        r"\w\s*=\s*[\"'`]",
        r"\b(?:npm|pnpm|yarn|pip|uv|cargo|go) (?:install|add|run|test|build)\b",
        r"\bgit \w+",
    )
)
_ENTITY = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?<![\w.-])[\w.-]+/[\w./-]",  # anchored where a name begins, so that a long word is read once
        r"https?://",
        r"\b[A-Z][a-z]+[A-Z]\w+",
        r"\b[A-Z]{2,}\b",
        r"\b\d+\.\d+\.\d+\b",
        r"(?<!\w)@\w+",
    )
)


def importance(text: str) -> float:
    """Return how much a text seems worth, by its length and the code and names in it."""
    code = min(1.0, 0.25 * sum(bool(cue.search(text)) for cue in _CODE))
    entity = min(1.0, 0.2 * sum(bool(cue.search(text)) for cue in _ENTITY))
    return round(0.3 * _length(len(text)) + 0.4 * code + 0.3 * entity, 3)


def salience(*, importance: float, trust: float, uses: int, idle_days: float | None) -> float:
    """Return how much a record matters now; `idle_days` is None if it was never used."""
    recency = 0.5 ** (idle_days / HALF_LIFE_DAYS) if idle_days is not None else 0.0
    return round(0.15 * importance + 0.15 * trust + 0.40 * min(1.0, uses / ENOUGH_USES) + 0.30 * recency, 3)


def _length(characters: int) -> float:
    for most, worth in ((20, 0.2), (100, 0.5), (500, 1.0), (2_000, 0.8)):
        if characters < most:
            return worth
    return 0.6

"""Names of technologies in a text, and those that would take their place. Loads only the word lists: every write asks."""

import re

from holdfast.policy.language.lexicon import TECHNOLOGIES

MOST_RIVALS = 24
_WORD = re.compile(r"[\w+#]+(?:[-.][\w+#]+)*")
_PHRASES = (
    (re.compile(r"\bgoogle cloud(?: platform)?\b", re.IGNORECASE), "gcp"),
    (re.compile(r"\bamazon web services\b", re.IGNORECASE), "aws"),
    (re.compile(r"\bpostgresql\b", re.IGNORECASE), "postgres"),
    (re.compile(r"\bargo cd\b", re.IGNORECASE), "argocd"),
    (re.compile(r"\blocal time\b", re.IGNORECASE), "localtime"),
    (re.compile(r"\bgithub actions\b", re.IGNORECASE), "github-actions"),
)


def plain_names(text: str) -> str:
    """Return a text with names of several words in their short form: gcp for Google Cloud."""
    for pattern, name in _PHRASES:
        text = pattern.sub(name, text)
    return text


def classes_in(text: str) -> dict[str, str]:
    """Return the technologies that a text names, with their class."""
    words = _WORD.findall(plain_names(text).lower())
    return {word: TECHNOLOGIES[word] for word in words if word in TECHNOLOGIES}


def rivals(text: str) -> list[str]:
    """Return the names that would fill the same slots as those in a text: the others of their classes, as texts spell them."""
    own = classes_in(text)
    kinds = set(own.values())
    others = [name for name, kind in TECHNOLOGIES.items() if kind in kinds and name not in own][:MOST_RIVALS]
    return [{"gcp": "google cloud"}.get(name, name) for name in others] + (["gcp"] if "gcp" in others else [])

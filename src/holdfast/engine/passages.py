"""Cut long texts into the passages that get a vector each."""

WHOLE = 800
SIZE = 600
MOST = 16


def passages(text: str) -> list[str]:
    """Give a short text whole, a long one in pieces."""
    if len(text) <= WHOLE:
        return [text]
    return [text[start : start + SIZE] for start in range(0, len(text), SIZE)][:MOST]

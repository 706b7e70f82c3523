"""Split texts into passages. Each has its own vector, and a record scores as its best passage."""

import re

WHOLE = 800  # characters: a text up to this length is one passage
SIZE = 500  # longer texts are cut at line ends into pieces of at most this size; 400 to 600 work equally well
MOST = 16  # passages per text: bounds the cost of one huge text
TITLE = 100  # a first line up to this length is a title and is put above every passage

# A diff names each path four times; one of them is enough.
_DIFF = re.compile(
    r"^diff --git a/(\S+) b/\S+\n"
    r"(?:(?:index|new file|deleted file|old mode|new mode|similarity|rename|---|\+\+\+) ?.*\n)*",
    re.MULTILINE,
)
_HUNK = re.compile(r"^@@ [-+\d, ]+ @@", re.MULTILINE)
_PATH = re.compile(r"[\w./-]+/[\w.-]+\.\w+")


def pieces(text: str) -> list[str]:
    """Return the pieces of a text: the whole text if it is short, else cut at line ends."""
    plain = _HUNK.sub("@@", _DIFF.sub(r"\1\n", text)).strip() if "diff --git " in text else text.strip()
    return [plain] if len(plain) <= WHOLE else _cut(plain)


def passages(text: str) -> list[str]:
    """Return the pieces as they are embedded: each below the title, or below the last path named before it."""
    cut = pieces(text)
    first = cut[0].split("\n", 1)[0]
    head = first if len(first) <= TITLE else ""
    headed = []
    for place, piece in enumerate(cut):
        lines = piece.split("\n")
        headed.append(f"{head}\n{piece}" if place and head and not _PATH.fullmatch(lines[0]) else piece)
        head = next((line for line in reversed(lines) if _PATH.fullmatch(line)), head)
    return headed


def _cut(text: str) -> list[str]:
    found: list[str] = []
    current = ""
    for line in (part for long in text.split("\n") for part in _folded(long.rstrip())):
        if current and len(current) + 1 + len(line) > SIZE:
            found.append(current)
            current = line
        else:
            current = f"{current}\n{line}" if current else line
        if len(found) == MOST:
            return found
    return [*found, current]


def _folded(line: str) -> list[str]:
    """Return a line in parts of at most SIZE characters, cut after a sentence or at a space if possible."""
    parts = []
    while len(line) > SIZE:
        at = line.rfind(". ", SIZE // 2, SIZE) + 1 or max(line.rfind(" ", SIZE // 2, SIZE), 0) or SIZE
        parts.append(line[:at])
        line = line[at:].lstrip()
    return [*parts, line] if line else parts

"""The tokenizer of the built-in encoder: WordPiece as BERT uses it, read from the model's `vocab.txt.gz`, a token a line."""

import gzip
from functools import cache, lru_cache
from pathlib import Path
from unicodedata import category, normalize

from holdfast.model.patterns import lazy

CACHED = 10_000  # words whose tokens are kept
LONGEST_WORD = 100  # characters; a longer word is unknown


class Tokenizer:
    """Turns a text into the numbers of its tokens, as the `tokenizers` package does with 30 MB of downloading code."""

    def __init__(self, file: Path, longest: int) -> None:
        self._names = gzip.decompress(file.read_bytes()).decode().split("\n")
        self._numbers = dict(zip(self._names, range(len(self._names)), strict=True))
        self._first, self.last, self._unknown = (self._numbers[name] for name in ("[CLS]", "[SEP]", "[UNK]"))
        self._longest = longest
        self._tokens = lru_cache(CACHED)(self._pieces)

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text between the start and the end token, cut to the longest."""
        tokens: list[int] = []
        room = self._longest - 2
        for word in _words(text[: room * LONGEST_WORD]):
            tokens += self._tokens(word)
            if len(tokens) >= room:
                break
        return [self._first, *tokens[:room], self.last]

    def knows(self, word: str) -> bool:
        """True if a word in lower case is one token."""
        return word in self._numbers

    def words(self, tokens: list[int]) -> list[bool]:
        """Return for each token whether it is a word or part of one, not a sign."""
        names = (self._names[token] for token in tokens)  # the last character decides for nearly every one
        return [(name[-1].isalnum() or _HAS_WORD.search(name) is not None) and name[0] != "[" for name in names]

    def _pieces(self, word: str) -> tuple[int, ...]:
        """Return the tokens of a word: the longest known piece at each place; one unknown token if some part has none."""
        if len(word) > LONGEST_WORD:
            return (self._unknown,)
        pieces, start = list[int](), 0
        while start < len(word):
            prefix = "##" if start else ""
            known = (end for end in range(len(word), start, -1) if prefix + word[start:end] in self._numbers)
            if not (end := next(known, 0)):
                return (self._unknown,)
            pieces.append(self._numbers[prefix + word[start:end]])
            start = end
        return tuple(pieces)


def _words(text: str) -> list[str]:
    """Return the words of a text in lower case without accents; signs and Chinese characters are words of their own."""
    if text.isascii():
        return _ASCII_WORD.findall(text.lower().translate(_CONTROLS))
    # A decomposed text has accents as characters of their own.
    bare = "".join(char for char in normalize("NFD", "".join(map(_clean, text))) if category(char) != "Mn")
    return "".join(map(_apart, bare.lower())).split()


_CONTROLS = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 127))
_HAS_WORD = lazy(r"[^\W_]")
_ASCII_WORD = lazy(r"[^\s!-/:-@\[-`{-~]+|[!-/:-@\[-`{-~]")


@cache
def _clean(character: str) -> str:
    """Drop control characters, turn every space into a blank and put blanks around Chinese characters."""
    if character in "\t\n\r":
        return " "
    if category(character) in ("Cc", "Cf", "Co") or character == "\ufffd":
        return ""
    if character.isspace():
        return " "
    return f" {character} " if _CHINESE.match(character) else character


@cache
def _apart(character: str) -> str:
    is_ascii_sign = character.isascii() and character.isprintable() and not character.isalnum()
    return f" {character} " if category(character)[0] == "P" or is_ascii_sign else character


_PLANE_2 = "\U00020000-\U0002a6df\U0002a700-\U0002b73f\U0002b740-\U0002b81f\U0002b820-\U0002ceaf\U0002f800-\U0002fa1f"
_CHINESE = lazy(f"[\u4e00-\u9fff\u3400-\u4dbf\uf900-\ufaff{_PLANE_2}]")

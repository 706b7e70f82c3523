"""Normalise source for comparison: without comments and layout, so that reformatting is no change."""

import hashlib
import re
from functools import cache

_STRINGS = r"\"\"\"[\s\S]*?\"\"\"|'''[\s\S]*?'''|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`"
_HASH, _SLASH, _DASH = r"\#[^\n]*", r"//[^\n]*|/\*[\s\S]*?\*/", r"--[^\n]*|/\*[\s\S]*?\*/"
_COMMENTS = {
    **dict.fromkeys("py pyi rb sh bash zsh toml yaml yml r pl tf dockerfile makefile mk cfg ini".split(), _HASH),
    **dict.fromkeys(
        "js jsx mjs cjs ts tsx mts cts go rs java kt kts scala swift c h cc cpp cxx hpp hh cs php dart proto zig".split(),
        _SLASH,
    ),
    **dict.fromkeys("sql lua hs elm".split(), _DASH),
}
_LAYOUT = re.compile(r"\s+")
_TRAILING = re.compile(r",(?=[)\]}])")


def essence(text: str, extension: str) -> str:
    """Return a text without layout, trailing commas and the choice of quotes; code also without comments."""
    code = _comments(extension)
    bare = code.sub(lambda match: match[1] or "", text) if code else text
    bare = _LAYOUT.sub("", bare)
    return _TRAILING.sub("", bare.replace("'", '"')) if code else bare


def digest(essence: str) -> str:
    """Return the hash of a normalised text."""
    return hashlib.sha256(essence.encode()).hexdigest()[:16]


def extension_of(path: str) -> str:
    """Return the extension of a file, or its name if it has none."""
    name = path.rpartition("/")[2].lower()
    return name.rpartition(".")[2]


@cache
def _comments(extension: str) -> re.Pattern[str] | None:
    if extension not in _COMMENTS:
        return None
    return re.compile(f"({_STRINGS})|{_COMMENTS[extension]}")

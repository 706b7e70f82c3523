"""Find quoted text: quotation marks, block quotes, code, and what a text says a document says.

A quoted decision is not the author's own. Every pattern is bounded, so that no text takes long.
"""

import re

from holdfast.model.patterns import lazy

_NAMED = (
    r"readme|contributing|changelog|docs?|documentation|docstring|wiki|guide|page|article|issue|ticket|comment|"
    r"commit message|e-?mail|transcript|file|log|output|web ?site|prompt|tool"
)
_DOCUMENT = rf"(?:(?<![\w./-])[\w./-]{{1,80}}\.[a-z]{{2,5}}|{_NAMED})\b"
# Not code files: "app.py: we decided …" is about that file.
_PROSE = rf"(?:(?<![\w./-])[\w./-]{{1,80}}\.(?:md|txt|rst|adoc|log)|{_NAMED})\b"
_SAYS = (
    r"(?:says?|said|states?|stated|reads?|claims?|claimed|mentions?|mentioned|writes?|wrote|tells? \w+|told \w+|contains?|contained|"
    r"prints?|printed|returns?|returned|recommends?|recommended|puts? it|quotes?|quoted)\b"
)
_MARKS = lazy(
    r"`[^`\n]*`|\"(?:[^\"\n]|\n(?!\s*\n)){2,1000}\"|“[^“”]{2,1000}+”|„[^„“”]{2,1000}+[“”]|«[^«»]{2,1000}+»"
    r"|‘(?=[^\n]{8})(?:[^‘’\n]++|’(?=\w)){1,40}+’(?!\w)|(?<!\w)'(?=\w[^\n]{8})(?:[^'\n]++|'(?=\w)){1,40}+'(?!\w)"
)
_BLOCK = lazy(r"^[ \t]{0,3}>.*$", re.MULTILINE)
_FENCED = lazy(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1|\Z)", re.MULTILINE | re.DOTALL)
_INDENTED = lazy(r"(?:\A|\n[ \t]*\n)((?:(?: {4}|\t)(?![ \t]*(?:[-*•]|\d{1,2}[.)])[ \t])[^\n]*(?:\n|\Z))+)")
# "the README says …", up to the end of the quoted clause.
_SAID = lazy(
    rf"\b{_DOCUMENT}(?: \w+){{0,4}} {_SAYS}(?P<quoted>(?:[^.;!?\n,]|\.(?=\S)|,(?! (?:so|but|therefore|hence|and so|which is why)\b)){{1,600}})",
    re.IGNORECASE,
)
_ACCORDING = lazy(
    rf"\b(?:according to|as (?:per |stated |written )?(?:in )?|quoting) [^,;.!?\n]{{0,60}}?{_DOCUMENT}[^,;!?\n]{{0,30}},"
    r"(?P<quoted>[^;!?\n]{1,600})",
    re.IGNORECASE,
)
# "the issue has this:" and the whole paragraph after it.
_FOLLOWING = lazy(
    rf"\b{_PROSE}[^.;!?\n:]{{0,40}}:(?P<quoted>[ \t]*(?:\n[ \t]*){{0,2}}(?:[^\n]|\n(?![ \t]*\n)){{1,2000}})",
    re.IGNORECASE,
)


def quoted_spans(text: str) -> list[tuple[int, int]]:
    """Return the spans of quoted text, unordered and possibly overlapping."""
    spans = [match.span() for pattern in (_MARKS, _BLOCK, _FENCED) for match in pattern.finditer(text)]
    spans += [match.span(1) for match in _INDENTED.finditer(text)]
    return spans + [
        match.span("quoted") for pattern in (_SAID, _ACCORDING, _FOLLOWING) for match in pattern.finditer(text)
    ]


def without_quotes(text: str) -> str:
    """Return a text of the same length with an x for every quoted character; white space stays."""
    parts, last = list[str](), 0
    for start, end in sorted(quoted_spans(text)):
        parts += text[last:start], re.sub(r"\S", "x", text[max(start, last) : end])
        last = max(last, end)
    return "".join(parts) + text[last:]

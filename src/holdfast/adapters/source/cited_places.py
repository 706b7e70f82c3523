"""Look at a cited place: whether it exists, its content, and where the cited part is now if it moved."""

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from holdfast.adapters.source.definitions import extension_of
from holdfast.adapters.source.spans import Span, digest, essence, moved_lines, symbol_spans, text_in, value_of, whole
from holdfast.model.anchor import Anchor, CodeMark, bare_value
from holdfast.model.foreign_json import parse_json

_LOCKED = ("uv.lock", "poetry.lock", "Cargo.lock")
_PLAIN = {"python": ".python-version", "node": ".nvmrc", "ruby": ".ruby-version"}
_MANIFESTS = {  # and how each names the version of a package
    "go.mod": r"^\s*(?:require\s+)?{name} v(\S+)",
    "Gemfile.lock": r"^    {name} \(([^)]+)\)",
    "requirements.txt": r"^{name}(?:\[[^\]]*\])?==([^\s;#]+)",
    "pyproject.toml": r'"{name}(?:\[[^\]]*\])?==([^\s;",]+)',
    "package.json": r'"{name}"\s*:\s*"[~^=v]*(\d[^"]*)"',
}
GONE, UNKNOWN = CodeMark(there=False), CodeMark(there=None)


@dataclass(frozen=True, slots=True)
class Content:
    """A file that was read."""

    raw: bytes


@dataclass(frozen=True, slots=True)
class Absent:
    """No file at this path."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file that exists, but is a folder, too large, outside the checkout or not permitted to be read."""


File = Content | Absent | Unreadable
Read = Callable[[str], File]


def only(path: str, raw: bytes) -> Read:
    """Return a reader that knows one file."""
    return lambda name: Content(raw) if name == path else Absent()


def look(anchor: Anchor, read: Read, cited: CodeMark | None = None) -> CodeMark:
    """Return the mark of a place. With the mark that was cited, a part that only moved is found where it is now."""
    if anchor.kind == "version":
        return _version(anchor, read)
    if anchor.kind == "commit":
        return UNKNOWN  # git has to be asked
    match read(anchor.path):
        case Absent():
            return GONE
        case Unreadable():
            return CodeMark()  # it exists, and that is all that is known
        case Content(raw):
            return _look_into(anchor, raw, cited)


def _look_into(anchor: Anchor, raw: bytes, cited: CodeMark | None) -> CodeMark:
    blob = hashlib.sha1(b"blob %d\0" % len(raw) + raw, usedforsecurity=False).hexdigest()
    if cited and cited.blob == blob and cited.hash:
        return cited  # the file is unchanged
    if b"\0" in raw[:8_000]:
        return CodeMark(blob=blob, hash=blob[:16]) if anchor.kind in ("path", "absent") else UNKNOWN
    return replace(_inside(anchor, raw.decode(errors="replace").replace("\r\n", "\n"), cited), blob=blob)


def _inside(anchor: Anchor, text: str, cited: CodeMark | None) -> CodeMark:
    match anchor.kind:
        case "symbol":
            return _symbol(anchor, text, cited)
        case "lines":
            return _lines(anchor, text, cited)
        case "value":
            found = value_of(anchor.path, text, anchor.name)
            return CodeMark(value=found[0], first=found[1], last=found[1]) if found else GONE
    return _mark(anchor, text, whole(text))


def _symbol(anchor: Anchor, text: str, cited: CodeMark | None) -> CodeMark:
    """Return the definition with the cited text, else the first one in its fullest extent."""
    found = GONE
    for span in symbol_spans(anchor.path, text, anchor.name):
        mark = _mark(anchor, text, span)
        if cited and cited.hash == mark.hash:
            return mark
        if not found.there or (mark.first <= found.first and mark.last >= found.last):
            found = mark
    return found


def _lines(anchor: Anchor, text: str, cited: CodeMark | None) -> CodeMark:
    last = whole(text).last
    if cited and cited.hash:
        here = Span(first=cited.first, last=cited.last)
        if here.last <= last and (mark := _mark(anchor, text, here)).hash == cited.hash:
            return mark
        if moved := moved_lines(text, anchor.path, cited.hash, cited.size):
            return _mark(anchor, text, moved)
    if anchor.first > last:
        return GONE
    return _mark(anchor, text, Span(first=anchor.first, last=min(anchor.last, last)))


def _mark(anchor: Anchor, text: str, span: Span) -> CodeMark:
    says = essence(text_in(text, span), extension_of(anchor.path))
    return CodeMark(hash=digest(says), size=len(says), first=span.first, last=span.last)


def _version(anchor: Anchor, read: Read) -> CodeMark:
    """Compare a version with the one in use; 2.31 means any 2.31.x."""

    def text(path: str) -> str:
        file = read(path)
        return file.raw.decode(errors="replace") if isinstance(file, Content) else ""

    found = next(filter(None, _versions(anchor.name, text)), "") if anchor.name else ""
    if not found:
        return UNKNOWN
    is_cited = found == anchor.value or found.startswith(f"{anchor.value}.")
    return CodeMark(value=bare_value(anchor.value) if is_cited else found)


def _versions(name: str, text: Callable[[str], str]) -> Iterator[str]:
    """Yield the version of a package that each lock file and manifest of a project names, "" if it names none."""

    def matched(pattern: str, path: str) -> str:
        match = re.search(pattern.format(name=re.escape(name)), text(path), re.MULTILINE | re.IGNORECASE)
        return match[1] if match else ""

    if name.lower() in _PLAIN:
        yield text(_PLAIN[name.lower()]).strip().removeprefix("v")
    for file in _LOCKED:
        yield matched(r'name = "{name}"\r?\nversion = "([^"]+)"', file)
    try:
        packages = parse_json(text("package-lock.json") or "{}").get("packages", {})
        yield str(packages.get(f"node_modules/{name}", {}).get("version", ""))
    except (ValueError, AttributeError):
        pass
    for file, pattern in _MANIFESTS.items():
        yield matched(pattern, file)

"""One file of the checkout: its source, with the memories that cite it in the margin and what drifted marked."""

from dataclasses import dataclass
from itertools import groupby

from starlette.responses import Response

from holdfast.hosts.web import render
from holdfast.hosts.web.viewer import Ask
from holdfast.model.errors import NotFound
from holdfast.model.files import read_inside
from holdfast.policy.secrets.find import mask_secrets
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.freshness import is_here
from holdfast.verbs.records.repository import Citation, citations_of

MOST_LINES, MOST_BYTES, WIDEST = 3_000, 400_000, 400
NEAR, SHORT = 8, 60  # lines shown around what is cited; a file shorter than that is shown whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line of source, the citations that begin there, and the state of the citation it belongs to."""

    number: int
    text: str
    citations: tuple[Citation, ...] = ()
    state: str = ""
    near: bool = True  # to what is cited


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Consecutive lines, folded if nothing cites what is near them."""

    folded: bool
    lines: tuple[Line, ...]


def page(ask: Ask) -> Response:
    """Return the source of a file with what is known about it."""
    path = ask.text("path").strip("/")
    cited = citations_of(ask.memory, path)
    lines, problem = source_of(ask.memory, path)
    return render.page(
        ask,
        "file.html",
        title=path.rpartition("/")[2] or "File",
        path=path,
        folder=path.rpartition("/")[0],
        parts=parts_of(lines, cited),
        problem=problem,
        cited=cited,
    )


def source_of(memory: Memory, path: str) -> tuple[list[str], str]:
    """Return the lines of a tracked file, with secrets masked, or the reason why they cannot be shown."""
    if not is_here(memory, memory.project):
        return [], "The checkout of this project is not here; only what cites the file is known."
    tracked = memory.checkout.files()
    top = memory.checkout.top().resolve()
    file = (top / path).resolve()
    if not path or not file.is_relative_to(top) or (tracked is not None and path not in tracked):
        hint = "The map under Memories lists the files of the checkout."
        raise NotFound(f"{path or 'This'} is no tracked file of the checkout.", hint=hint)
    if tracked is None and not _is_cited(memory, path):
        raise NotFound(f"No memory cites {path}.", hint="Outside git only files that a memory cites are shown.")
    try:
        return _lines(read_inside(top, path, MOST_BYTES).decode(errors="replace"))
    except OSError as problem:
        return [], f"The file cannot be shown: {problem.strerror}."


def _is_cited(memory: Memory, path: str) -> bool:
    return any(True for _ in citations_of(memory, path))


def _lines(text: str) -> tuple[list[str], str]:
    if "\0" in text:
        return [], "It is a binary file."
    lines = mask_secrets(text).split("\n")
    shown = [line if len(line) <= WIDEST else line[: WIDEST - 1] + "…" for line in lines[:MOST_LINES]]
    return shown, f"The first {MOST_LINES:,} of {len(lines):,} lines are shown." if len(lines) > MOST_LINES else ""


def parts_of(lines: list[str], cited: list[Citation]) -> list[Part]:
    """Return the lines of a file in parts, those far from everything that is cited folded.

    Citations of the whole file, or of lines that are gone, begin at the first line.
    """
    begin: dict[int, list[Citation]] = {}
    inside: dict[int, str] = {}
    for one in cited:
        begin.setdefault(one.first if 0 < one.first <= len(lines) else 1, []).append(one)
        for number in range(one.first, one.last + 1) if one.first else ():
            inside.setdefault(number, one.state)
    marked = {*begin, *inside}
    near = {number for at in marked for number in range(at - NEAR, at + NEAR + 1)}
    whole = not cited or len(lines) <= SHORT
    numbered = (
        Line(
            number=number,
            text=text,
            citations=tuple(begin.get(number, ())),
            state=inside.get(number, ""),
            near=whole or number in near,
        )
        for number, text in enumerate(lines, start=1)
    )
    return [Part(folded=not near, lines=tuple(ones)) for near, ones in groupby(numbered, key=lambda line: line.near)]

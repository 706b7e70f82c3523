"""One file of the checkout: its source, with the memories that cite it in the margin and what drifted marked."""

from pathlib import Path

from starlette.responses import Response

from holdfast.hosts.web import render
from holdfast.hosts.web.viewer import Ask
from holdfast.model.errors import NotFound
from holdfast.policy.secrets.find import mask_secrets
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.freshness import is_here
from holdfast.verbs.records.repository import Citation, citations_of

MOST_LINES, MOST_BYTES, WIDEST = 3_000, 400_000, 400


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
        lines=lines,
        problem=problem,
        cited=cited,
        at=_by_line(cited, len(lines)),
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
    if not file.is_file():
        return [], "The file no longer exists."
    if file.stat().st_size > MOST_BYTES:
        return [], "The file is too large to show."
    return _read(file), ""


def _is_cited(memory: Memory, path: str) -> bool:
    return any(True for _ in citations_of(memory, path))


def _read(file: Path) -> list[str]:
    text = file.read_text(encoding="utf-8", errors="replace")
    return (
        ["(a binary file)"] if "\0" in text else [line[:WIDEST] for line in mask_secrets(text).split("\n")[:MOST_LINES]]
    )


def _by_line(cited: list[Citation], last: int) -> dict[int, list[Citation]]:
    """Return the citations that begin at each line; those of the whole file, or of lines that are gone, at the first."""
    at: dict[int, list[Citation]] = {}
    for one in cited:
        at.setdefault(one.first if 0 < one.first <= last else 1, []).append(one)
    return at

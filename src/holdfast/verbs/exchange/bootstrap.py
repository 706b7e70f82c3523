"""Import a project's documents as memories. Running it again changes nothing."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path

from holdfast.engine.views import records
from holdfast.engine.views.records import fingerprint
from holdfast.model.errors import Invalid
from holdfast.model.event import Event
from holdfast.model.fold import fold
from holdfast.model.ports import Elsewhere
from holdfast.model.record import Draft, Record
from holdfast.model.text import check_text, counted, shorten
from holdfast.policy.language.documents import FILES, MARKDOWN, is_text, pieces
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.hot import hot_set, promote
from holdfast.verbs.records.write import draft_event

LARGEST = 1_000_000  # bytes of one document
MOST_PIECES = 2_000
MOST_FILES = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Seeded:
    """The result of an import of documents: how many there were and were read, new and known memories, and problems."""

    found: int = 0
    read: int = 0
    kept: tuple[Record, ...] = ()
    known: int = 0
    hot: int = 0
    problems: tuple[str, ...] = ()

    def __str__(self) -> str:
        files = f"{counted(self.read, 'document')} read: " if self.found else ""
        return f"{files}{counted(len(self.kept), 'new memory')}, {self.known} already known, {self.hot} added to the hot set."


def bootstrap(memory: Memory, like: Draft, *, root: str = ".", files: Sequence[str] = (), hot: bool = True) -> Seeded:
    """Import the documents of a project; unreadable ones are reported and skipped.

    `like` has the kind and labels of the memories. The most important documents come first, also in the hot set.
    """
    folder = confined(memory, root)
    if not folder.is_dir():
        raise Invalid(f"{root} is not a folder of this project.", hint="Pass a folder inside the project.")
    done, seen = Seeded(), set[Path]()
    for name in files or FILES:
        for path in _named(folder, name):
            if path not in seen and len(seen) < MOST_FILES:
                seen.add(path)
                done = _joined(done, _document(memory, path, like, folder))
    missing = [f"{name}: there is no such file" for name in files if not any(_named(folder, name))]
    return _warmed(memory, replace(done, problems=(*done.problems, *missing)), hot=hot)


def seed_text(memory: Memory, text: str, like: Draft, *, hot: bool = False) -> Seeded:
    """Import each item and paragraph of a text as a separate memory."""
    checked = check_text(text, "text", LARGEST)
    return _warmed(memory, _saved(memory, [piece.under("") for piece in pieces(checked)], like), hot=hot)


def seed_file(memory: Memory, path: Path, like: Draft, *, hot: bool = False) -> Seeded:
    """Import a file."""
    done = _document(memory, path, like, path.parent)
    return _warmed(memory, done, hot=hot)


def confined(memory: Memory, path: str) -> Path:
    """Return the path inside the project's folder; raise Invalid if it, or a link in it, leads outside."""
    if isinstance(memory.checkout, Elsewhere):
        raise Invalid(
            "A server reads no files.", hint="Run this on the machine that has the checkout, or pass the text."
        )
    top = memory.checkout.top().resolve()
    try:
        place = (top / Path(path).expanduser()).resolve()
        place.exists()
    except (OSError, ValueError, RuntimeError) as problem:  # too long, invalid characters, or an unknown home folder
        raise Invalid(f"{shorten(path, 80)!r} is not a path.") from problem
    if not place.is_relative_to(top):
        raise Invalid(f"{path} is outside of the project.", hint=f"Use a path below {top}.")
    return place


def _named(folder: Path, name: str) -> list[Path]:
    """Return the files that match a name or pattern inside the folder."""
    if name.startswith(("/", "~")) or ".." in Path(name).parts:
        return []
    try:
        paths = sorted(folder.glob(name))
        return [path for path in paths if path.is_file() and path.resolve().is_relative_to(folder)]
    except (OSError, ValueError, NotImplementedError):
        return []  # not a pattern, so there is no such file


def _document(memory: Memory, path: Path, like: Draft, folder: Path) -> Seeded:
    name = path.relative_to(folder).as_posix()
    text = _text(path)
    if isinstance(text, Invalid):
        return Seeded(found=1, problems=(f"{name}: {text.message}",))
    texts = [piece.under(name) for piece in pieces(text, markdown=path.suffix.lower() in MARKDOWN or not path.suffix)]
    drafted = replace(like, anchors=(name,), extra={**like.extra, "document": name})
    return replace(_saved(memory, texts, drafted), found=1, read=1)


def _text(path: Path) -> str | Invalid:
    """Return the text of a file, or why it cannot be used."""
    try:
        size = path.stat().st_size
        raw = path.read_bytes() if 0 < size <= LARGEST else b""
    except OSError as problem:
        return Invalid(f"it cannot be read ({problem.strerror})")
    if not raw.strip():
        return Invalid("it is empty" if size <= LARGEST else f"it is larger than {LARGEST:,} bytes")
    if not is_text(raw):
        return Invalid("it is a binary file")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return Invalid("it is not UTF-8")


def _saved(memory: Memory, texts: Sequence[str], like: Draft) -> Seeded:
    """Save texts in a single transaction, except exact duplicates; credentials in them are masked."""
    events = [event for text in texts[:MOST_PIECES] if (event := _fresh(memory, replace(like, body=text)))]
    unique = {fingerprint(_record(event)): event for event in reversed(events)}
    saved = memory.commit(list(reversed(unique.values()))) if unique else []
    left = (f"{len(texts) - MOST_PIECES} pieces were left out",) if len(texts) > MOST_PIECES else ()
    return Seeded(kept=tuple(entry.record for entry in saved), known=len(texts) - len(saved), problems=left)


def _fresh(memory: Memory, draft: Draft) -> Event | None:
    """Return the event that saves a draft; None if this project has it, active or retired."""
    event = draft_event(memory, draft)
    record = _record(event)
    same = records.with_fingerprint(memory.store.db, fingerprint(record))
    return None if any(entry.record.project == record.project for entry in same) else event


def _record(event: Event) -> Record:
    record = fold(None, event)
    assert record is not None
    return record


def _joined(first: Seeded, second: Seeded) -> Seeded:
    return Seeded(
        found=first.found + second.found,
        read=first.read + second.read,
        kept=(*first.kept, *second.kept),
        known=first.known + second.known,
        problems=(*first.problems, *second.problems),
    )


def _warmed(memory: Memory, done: Seeded, *, hot: bool) -> Seeded:
    """Add new records to the hot set as far as there is room."""
    if not hot or not done.kept:
        return done
    room = max(0, memory.config.hot_capacity - len(hot_set(memory)))
    chosen = list(_spread(done.kept))[:room]
    for record in chosen:
        promote(memory, record.id, why="bootstrap")
    return replace(done, hot=len(chosen))


def _spread(kept: Sequence[Record]) -> Iterator[Record]:
    """Yield records in turn from each document, in the order of the documents."""
    by_document: dict[str, list[Record]] = {}
    for record in kept:
        by_document.setdefault(str(record.extra.get("document", "")), []).append(record)
    return (record for turn in zip_longest(*by_document.values()) for record in turn if record)

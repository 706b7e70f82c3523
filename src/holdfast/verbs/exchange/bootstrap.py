"""Import a project's documents as memories. Running it again changes nothing."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from holdfast.engine.views import records
from holdfast.model.errors import Invalid
from holdfast.model.event import Event
from holdfast.model.files import read_inside
from holdfast.model.ports import RemoteCheckout
from holdfast.model.record import Draft, Record
from holdfast.model.text import check_text, counted, shorten
from holdfast.policy.language import documents
from holdfast.policy.manifests import HOW_TO, LOCKS, MANIFESTS, how_to_work
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.hot import hot_set, promote
from holdfast.verbs.records.write import draft_event, record_of

LARGEST = 1_000_000  # bytes of one document
MOST_PIECES = 2_000
MOST_FILES = 200
MOST_DOCS = 100  # sections of docs/ that are imported automatically
MOST_RELEASES = 10  # of a changelog


@dataclass(frozen=True, slots=True, kw_only=True)
class Seeded:
    """The result of an import of documents: how many there were and were read, new and known memories, and problems."""

    found: int = 0
    read: int = 0
    kept: tuple[Record, ...] = ()
    known: int = 0
    hot: int = 0
    problems: tuple[str, ...] = ()
    dry_run: bool = False

    def __str__(self) -> str:
        files = f"{counted(self.read, 'document')} read: " if self.found else ""
        count = len(self.kept)
        new = f"{counted(count, 'memory')} would be saved" if self.dry_run else counted(count, "new memory")
        return f"{files}{new}, {self.known} already known, {self.hot} added to the hot set."


def bootstrap(
    memory: Memory, like: Draft, *, root: str = ".", files: Sequence[str] = (), hot: bool = False, dry_run: bool = False
) -> Seeded:
    """Import a project's documents, important ones first, and how to build, run and test it, as memories `like` one."""
    folder = confined(memory, root)
    if not folder.is_dir():
        raise Invalid(f"{root} is not a folder of this project.", hint="Pass a folder inside the project.")
    paths = [path for name in files or documents.FILES for path in _named(folder, name)]
    if not files:
        paths = [path for path in paths if documents.is_document(path.name) and not documents.is_changelog(path.name)]
        paths = [path for path in paths if not documents.is_aside(path.name)]
        paths += [path for name in MANIFESTS for path in _named(folder, name)]
    each = list({path.resolve(): path for path in reversed(paths)}.values())[::-1]  # once, where it came first
    drafts, problems, texts, read = list[Draft](), list[str](), set[str](), 0
    for path in (chosen := each[:MOST_FILES]):
        name = path.relative_to(folder).as_posix()
        parts, wrong = _parts(path, folder, named=bool(files))
        read += bool(parts or not wrong)
        drafts += _drafts([part for part in parts if part.text not in texts], like, name)
        texts |= {part.text for part in parts}
        problems += [f"{name}: {problem}" for problem in wrong]
    docs = [draft for draft in drafts if str(draft.extra["document"]).startswith("docs/")]
    if not files and (over := {id(draft) for draft in docs[MOST_DOCS:]}):
        drafts = [draft for draft in drafts if id(draft) not in over]
        problems.append(f"docs: {counted(len(over), 'section')} left out; import them with --file 'docs/*'")
    problems += [f"{name}: there is no such file" for name in files if not any(_named(folder, name))]
    return _seeded(memory, drafts, problems, found=len(chosen), read=read, hot=hot, dry_run=dry_run)


def seed_text(memory: Memory, text: str, like: Draft, *, hot: bool = False) -> Seeded:
    """Import each item and paragraph of a text as a separate memory."""
    return _seeded(memory, _drafts(documents.pieces(check_text(text, "text", LARGEST)), like, ""), hot=hot)


def seed_file(memory: Memory, path: Path, like: Draft, *, hot: bool = False, dry_run: bool = False) -> Seeded:
    """Import a file: its sections, or each item and paragraph if it has no headings."""
    parts, wrong = _parts(path, path.parent, named=True, items=True)
    problems, read = [f"{path.name}: {problem}" for problem in wrong], int(bool(parts or not wrong))
    return _seeded(memory, _drafts(parts, like, path.name), problems, found=1, read=read, hot=hot, dry_run=dry_run)


def confined(memory: Memory, path: str) -> Path:
    """Return the path inside the project's folder; raise Invalid if it, or a link in it, leads outside."""
    if isinstance(memory.checkout, RemoteCheckout):
        raise Invalid("A server reads no files.", hint="Run it on the machine that has the checkout, or pass the text.")
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
    if name.startswith(("/", "~")) or ".." in Path(name).parts:
        return []
    try:
        return [path for path in sorted(folder.glob(name)) if path.is_file() and path.resolve().is_relative_to(folder)]
    except (OSError, ValueError, NotImplementedError):
        return []  # not a pattern, so there is no such file


def _parts(path: Path, folder: Path, *, named: bool, items: bool = False) -> tuple[list[documents.Piece], list[str]]:
    try:
        raw = read_inside(folder, path, LARGEST)
        text = raw.decode("utf-8-sig")
    except OSError as problem:
        return [], [f"it cannot be read ({problem.strerror})"]
    except UnicodeDecodeError:
        return [], ["it is not UTF-8" if documents.is_text(raw) else "it is a binary file"]
    if not raw.strip() or not documents.is_text(raw):
        return [], ["it is a binary file" if raw.strip() else "it is empty"]
    name, markdown = path.relative_to(folder).as_posix(), path.suffix.lower() not in documents.RST
    if not named and any(path in _named(folder, pattern) for pattern in MANIFESTS):
        runner = next((runner for lock, runner in LOCKS.items() if (path.parent / lock).exists()), "npm")
        work = how_to_work(name, text, runner=runner)
        return [documents.Piece(path=(HOW_TO,), text=work)] if work else [], []
    if documents.is_changelog(name) and (all_releases := documents.releases(text, markdown=markdown)):
        left = len(all_releases) - MOST_RELEASES
        older = [f"{counted(left, 'older release')} left out"] if left > 0 else []
        return all_releases[:MOST_RELEASES], older
    if items and not documents.has_headings(text, markdown=markdown):
        return documents.pieces(text), []
    return documents.sections(text, markdown=markdown), []


def _drafts(parts: Iterable[documents.Piece], like: Draft, name: str) -> list[Draft]:
    origin: dict[str, Any] = {"anchors": (name,), "extra": {**like.extra, "document": name}} if name else {}
    return [replace(like, body=part.under(name), **origin) for part in parts]


def _seeded(
    memory: Memory, drafts: list[Draft], problems: Sequence[str] = (), *, hot: bool, dry_run: bool = False, **read: int
) -> Seeded:
    """Save drafts in one transaction, except exact duplicates, with credentials masked; make them hot as far as there is room."""
    unique = dict[str, Event]()
    for draft in drafts[:MOST_PIECES]:
        event = draft_event(memory, draft)
        record = record_of(event)
        same = records.with_fingerprint(memory.store, value := records.fingerprint(record))
        if not any(entry.record.project == record.project for entry in same):  # active or retired
            unique.setdefault(value, event)
    new = list(unique.values())
    kept = [entry.record for entry in memory.commit(new)] if new and not dry_run else [*map(record_of, new)]
    over = [f"{len(drafts) - MOST_PIECES} pieces were left out"] if len(drafts) > MOST_PIECES else []
    chosen = list[Record]()
    if hot and kept and not dry_run:
        by_document = defaultdict[str, list[Record]](list)  # in turn from each document, in their order
        for record in kept:
            by_document[str(record.extra.get("document", ""))].append(record)
        in_turn = [record for turn in zip_longest(*by_document.values()) for record in turn if record]
        chosen = in_turn[: max(0, memory.config.hot_capacity - len(hot_set(memory)))]
    for record in chosen:
        promote(memory, record.id, why="bootstrap")
    known, said = len(drafts) - len(kept), (*problems, *over)
    return Seeded(kept=tuple(kept), known=known, hot=len(chosen), problems=said, dry_run=dry_run, **read)

"""Transcripts of sessions and the pieces they are searched by: raw data outside the journal."""
# The word index of the pieces is FTS5 on SQLite and GIN on PostgreSQL; it is created with the first transcript.

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from holdfast.engine.database import Database, Queries, Row, as_dict, column, insert, statements, value
from holdfast.engine.journal import Journal, counted_up
from holdfast.engine.tokens import query_terms, tokens

_SQL = Queries(__file__)
NEWEST = 1_000  # the most matching chunks that PostgreSQL returns, newest first, to be scored here
K1, B = 1.2, 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """The transcript of a session, as it was submitted."""

    session: str
    project: int
    format: str
    saved_at: str
    tokens: int
    body: str


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a transcript that matches a question: its BM25 score, and the share of the question's words in it."""

    session: str
    place: int
    body: str
    score: float
    share: float


def save(store: Journal, transcript: Transcript, pieces: Sequence[str]) -> None:
    """Store a transcript with its pieces; it replaces an earlier one of the same session."""
    with store.db.transaction():
        drop(store, transcript.session)
        insert(store.db, "transcripts", [asdict(transcript)])
        first = counted_up(store.db, "chunks", len(pieces)) - len(pieces) + 1
        own, placed = {"session": transcript.session}, enumerate(pieces)
        rows = [{**own, "number": first + place, "place": place, "body": body} for place, body in placed]
        insert(store.db, "chunks", rows)
        _add_words(store.db, rows)


def index_chunks(db: Database) -> None:
    """Rebuild the word index of all pieces."""
    if rows := db.query("select number, body from chunks"):
        with db.transaction():
            db.drop_table("chunk_words")
            _add_words(db, rows)


def drop(store: Journal, session: str) -> bool:
    """Delete a transcript permanently; False if there is none."""
    db, given = store.db, {"session": session}
    with db.transaction():
        if not db.query("select 1 from transcripts where session = :session", given):
            return False
        db.execute("delete from chunk_words where rowid in (select number from chunks where session = :session)", given)
        db.execute("delete from chunks where session = :session", given)
        return bool(db.execute("delete from transcripts where session = :session", given))


def get(store: Journal, session: str) -> Transcript | None:
    """Return the transcript of a session, None if there is none."""
    names = ", ".join(Transcript.__dataclass_fields__)
    rows = store.db.query(f"select {names} from transcripts where session = :session", {"session": session})
    return Transcript(**as_dict(rows[0], Transcript)) if rows else None


def sessions(store: Journal) -> list[str]:
    """Return the ids of the sessions that have a transcript."""
    return column(store.db, "select session from transcripts order by session")


def rename(store: Journal, session: str, name: str) -> None:
    """Change the session id of a transcript and its pieces."""
    for table in ("transcripts", "chunks"):
        sql = f"update {table} set session = :name where session = :session"
        store.db.execute(sql, {"name": name, "session": session})


def counted(store: Journal) -> int:
    """Return the number of transcripts."""
    return int(value(store.db, "select count(*) from transcripts"))


def search(store: Journal, question: str, project: int | None, limit: int) -> list[Piece]:
    """Return the pieces that match a question best, by BM25; in all projects if `project` is None."""
    terms = set(query_terms(question)) if counted(store) else set()
    found = _best(store.db, terms, project, limit) if terms else []
    shares = [len(terms & set(tokens(row[2]))) / len(terms) for row, _ in found]
    return [Piece(row[0], row[1], row[2], score, share) for (row, score), share in zip(found, shares, strict=True)]


def create_index(db: Database) -> None:
    """Create the word index if it is missing; checked first, because a server's role may not create tables."""
    if not db.has_table("chunk_words"):
        db.script(statements(Path(__file__).with_name("chunk_words.sql")))


def _add_words(db: Database, rows: Sequence[Any]) -> None:
    create_index(db)
    indexed = [{"rowid": row["number"], "body": " ".join(tokens(str(row["body"])))} for row in rows]
    db.many(_SQL[f"insert_{db.dialect}"], indexed)


def _best(db: Database, terms: set[str], project: int | None, limit: int) -> list[tuple[Row, float]]:
    given = {"project": project or 0, "everywhere": int(project is None)}
    if db.dialect == "sqlite":
        asked = {"wanted": " OR ".join(f'"{word}"' for word in sorted(terms)), "limit": limit}
        return [(row, -row[3]) for row in db.query(_SQL["search"], given | asked)]
    asked = {"wanted": " | ".join(f"'{word}'" for word in sorted(terms)), "limit": NEWEST}
    rows, total = db.query(_SQL["candidates"], given | asked), int(value(db, "select count(*) from chunks"))
    bodies = [tokens(row[2]) for row in rows]
    mean_length = sum(map(len, bodies)) / len(bodies) if bodies else 1.0
    holding = {term: sum(term in words for words in bodies) for term in terms}
    idf = {term: max(1e-6, math.log((max(0, total - n) + 0.5) / (n + 0.5))) for term, n in holding.items()}
    scored = []
    for row, words in zip(rows, bodies, strict=True):
        norm = K1 * (1 - B + B * len(words) / mean_length)
        counts = ((idf[term], words.count(term)) for term in terms)
        scored.append((row, sum(weight * n * (K1 + 1) / (n + norm) for weight, n in counts)))
    return sorted(scored, key=lambda pair: -pair[1])[:limit]

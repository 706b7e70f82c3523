"""Transcripts of sessions and the pieces they are searched by: raw data outside the journal."""

from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.engine.database import Database
from holdfast.engine.journal import Journal
from holdfast.engine.raw import transcript_words
from holdfast.engine.tokens import query_terms, tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """The transcript of a session, as it was submitted."""

    session: str
    project: int
    format: str
    saved_at: str
    tokens: int
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A part of a transcript that matches a question: its BM25 score, and the share of the question's words in it."""

    session: str
    place: int
    body: str
    score: float
    share: float = 0.0


def save(store: Journal, transcript: Transcript, pieces: Sequence[str]) -> None:
    """Store a transcript with its pieces; it replaces an earlier one of the same session."""
    with store.db.transaction():
        _drop(store.db, transcript.session)
        store.db.execute(_PUT, {name: getattr(transcript, name) for name in Transcript.__dataclass_fields__})
        store.db.execute("update counters set value = value + :n where name = 'chunks'", {"n": len(pieces)})
        last = int(store.db.query("select value from counters where name = 'chunks'")[0][0])
        rows = [
            {"number": last - len(pieces) + 1 + place, "session": transcript.session, "place": place, "body": body}
            for place, body in enumerate(pieces)
        ]
        store.db.many(
            "insert into chunks (number, session, place, body) values (:number, :session, :place, :body)", rows
        )
        transcript_words.add(store.db, rows)


def index_chunks(db: Database) -> None:
    """Rebuild the word index of all pieces."""
    rows = db.query("select number, body from chunks")
    if rows:
        with db.transaction():
            db.drop_table(transcript_words.TABLE)
            transcript_words.add(db, rows)


_PUT = """
insert into transcripts (session, project, format, saved_at, tokens, body)
values (:session, :project, :format, :saved_at, :tokens, :body)
"""


def drop(store: Journal, session: str) -> bool:
    """Delete a transcript permanently; False if there is none."""
    with store.db.transaction():
        return _drop(store.db, session)


def _drop(db: Database, session: str) -> bool:
    given = {"session": session}
    if not db.query("select 1 from transcripts where session = :session", given):
        return False
    db.execute("delete from chunk_words where rowid in (select number from chunks where session = :session)", given)
    db.execute("delete from chunks where session = :session", given)
    return bool(db.execute("delete from transcripts where session = :session", given))


def get(store: Journal, session: str) -> Transcript | None:
    """Return the transcript of a session, None if there is none."""
    names = ", ".join(Transcript.__dataclass_fields__)
    rows = store.db.query(f"select {names} from transcripts where session = :session", {"session": session})
    return Transcript(**{name: rows[0][name] for name in Transcript.__dataclass_fields__}) if rows else None


def sessions(store: Journal) -> list[str]:
    """Return the ids of the sessions that have a transcript."""
    return [row[0] for row in store.db.query("select session from transcripts order by session")]


def rename(store: Journal, session: str, name: str) -> None:
    """Change the session id of a transcript and its pieces."""
    for table in ("transcripts", "chunks"):
        store.db.execute(
            f"update {table} set session = :name where session = :session", {"name": name, "session": session}
        )


def counted(store: Journal) -> int:
    """Return the number of transcripts."""
    return int(store.db.query("select count(*) from transcripts")[0][0])


def search(store: Journal, question: str, project: int | None, limit: int) -> list[Piece]:
    """Return the pieces that match a question best, by BM25; in all projects if `project` is None."""
    if not store.db.query("select 1 from transcripts limit 1"):
        return []
    terms = set(query_terms(question))
    if not terms:
        return []
    return [
        Piece(
            session=row[0], place=row[1], body=row[2], score=score, share=len(terms & set(tokens(row[2]))) / len(terms)
        )
        for row, score in transcript_words.best(store.db, terms, project, limit)
    ]

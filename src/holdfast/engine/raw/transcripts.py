"""Transcripts of sessions and the pieces they are searched by: raw material beside the journal, never the truth."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.engine.database import Database, Dialect, Row
from holdfast.engine.tokens import query_terms, tokens

# Made with the first transcript: most stores never hold one. Rowid = number of the chunk.
_WORDS: dict[Dialect, str] = {
    "sqlite": """
create virtual table if not exists chunk_words using fts5 (body, tokenize = 'unicode61 remove_diacritics 0', detail = none);
""",
    "postgres": """
create table if not exists chunk_words (rowid integer primary key, lexemes tsvector not null);
create index if not exists chunk_words_lexemes on chunk_words using gin (lexemes);
""",
}
_INDEX: dict[Dialect, str] = {
    "sqlite": "insert into chunk_words (rowid, body) values (:rowid, :body)",
    "postgres": """
insert into chunk_words (rowid, lexemes)
values (:rowid, array_to_tsvector(array_remove(string_to_array(:body, ' '), '')))
""",
}
NEWEST = 1_000  # pieces that PostgreSQL hands over to be scored
K1, B = 1.2, 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """What was said in a session, as it was handed over."""

    session: str
    project: int
    format: str
    saved_at: str
    tokens: int
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A stretch of a transcript that holds what was asked for: BM25, and the share of the question's words in it."""

    session: str
    place: int
    body: str
    score: float
    share: float = 0.0


def save(db: Database, transcript: Transcript, pieces: Sequence[str]) -> None:
    """Keep a transcript in place of an earlier one of the same session."""
    with db.transaction():
        _drop(db, transcript.session)
        db.execute(_PUT, {name: getattr(transcript, name) for name in Transcript.__dataclass_fields__})
        db.execute("update counters set value = value + :n where name = 'chunks'", {"n": len(pieces)})
        last = int(db.query("select value from counters where name = 'chunks'")[0][0])
        rows = [
            {"number": last - len(pieces) + 1 + place, "session": transcript.session, "place": place, "body": body}
            for place, body in enumerate(pieces)
        ]
        db.many("insert into chunks (number, session, place, body) values (:number, :session, :place, :body)", rows)
        _index(db, rows)


def index_chunks(db: Database) -> None:
    """Make the words of all pieces anew."""
    rows = db.query("select number, body from chunks")
    if rows:
        with db.transaction():
            db.script("drop table if exists chunk_words;\n")
            _index(db, rows)


def make_words(db: Database) -> None:
    """Make what finds words in pieces; whoever may make no tables finds it made."""
    if db.dialect == "sqlite" or not db.query("select 1 where to_regclass('chunk_words') is not null"):
        db.script(_WORDS[db.dialect])


def _index(db: Database, rows: Sequence[Any]) -> None:
    make_words(db)
    indexed = [{"rowid": row["number"], "body": " ".join(tokens(str(row["body"])))} for row in rows]
    db.many(_INDEX[db.dialect], indexed)


_PUT = """
insert into transcripts (session, project, format, saved_at, tokens, body)
values (:session, :project, :format, :saved_at, :tokens, :body)
"""


def drop(db: Database, session: str) -> bool:
    """Remove a transcript for good; tell whether there was one."""
    with db.transaction():
        return _drop(db, session)


def _drop(db: Database, session: str) -> bool:
    given = {"session": session}
    if not db.query("select 1 from transcripts where session = :session", given):
        return False
    db.execute("delete from chunk_words where rowid in (select number from chunks where session = :session)", given)
    db.execute("delete from chunks where session = :session", given)
    return bool(db.execute("delete from transcripts where session = :session", given))


def get(db: Database, session: str) -> Transcript | None:
    """Give the transcript of a session."""
    names = ", ".join(Transcript.__dataclass_fields__)
    rows = db.query(f"select {names} from transcripts where session = :session", {"session": session})
    return Transcript(**{name: rows[0][name] for name in Transcript.__dataclass_fields__}) if rows else None


def sessions(db: Database) -> list[str]:
    """Give the sessions of which there is a transcript."""
    return [row[0] for row in db.query("select session from transcripts order by session")]


def rename(db: Database, session: str, name: str) -> None:
    """Give a session another name here."""
    for table in ("transcripts", "chunks"):
        db.execute(f"update {table} set session = :name where session = :session", {"name": name, "session": session})


def compact(db: Database) -> None:
    """Merge the index so that nothing of dropped pieces is left in it."""
    if db.query("select 1 from sqlite_master where name = 'chunk_words'"):
        db.execute("insert into chunk_words (chunk_words) values ('optimize')")


def counted(db: Database) -> int:
    """Tell how many transcripts there are."""
    return int(db.query("select count(*) from transcripts")[0][0])


def search(db: Database, question: str, project: int | None, limit: int) -> list[Piece]:
    """Give the pieces that hold most of a question's words, rarest first."""
    if not db.query("select 1 from transcripts limit 1"):
        return []
    terms = set(query_terms(question))
    if not terms:
        return []
    everywhere = "1 = 1 or " if project is None else ""
    if db.dialect == "sqlite":
        asked = {"wanted": " OR ".join(f'"{word}"' for word in sorted(terms)), "project": project or 0, "limit": limit}
        rows = db.query(_SEARCH.format(everywhere=everywhere), asked)
        return [_piece(row, terms, set(tokens(row[2])), -row[3]) for row in rows]
    asked = {"wanted": " | ".join(f"'{word}'" for word in sorted(terms)), "project": project or 0, "limit": NEWEST}
    return _ranked(db.query(_CANDIDATES.format(everywhere=everywhere), asked), terms, _chunks(db))[:limit]


def _chunks(db: Database) -> int:
    return int(db.query("select count(*) from chunks")[0][0])


def _ranked(rows: Sequence[Row], terms: set[str], total: int) -> list[Piece]:
    """Score pieces as FTS5 does (BM25), best first."""
    said = [tokens(row[2]) for row in rows]
    usual = sum(map(len, said)) / len(said) if said else 1.0
    holding = {term: sum(term in words for words in said) for term in terms}
    idf = {
        term: max(1e-6, math.log((total - n + 0.5) / (n + 0.5))) if n < total else 1e-6 for term, n in holding.items()
    }
    found = []
    for row, words in zip(rows, said, strict=True):
        counts = {term: words.count(term) for term in terms}
        norm = K1 * (1 - B + B * len(words) / usual)
        score = sum(idf[term] * n * (K1 + 1) / (n + norm) for term, n in counts.items())
        found.append(_piece(row, terms, set(words), score))
    return sorted(found, key=lambda piece: -piece.score)


def _piece(row: Row, terms: set[str], held: set[str], score: float) -> Piece:
    return Piece(session=row[0], place=row[1], body=row[2], score=score, share=len(terms & held) / len(terms))


_FROM = """
from chunk_words join chunks on chunks.number = chunk_words.rowid
join transcripts on transcripts.session = chunks.session
"""
_SEARCH = f"""
select chunks.session, place, chunks.body, bm25(chunk_words) as score {_FROM}
where chunk_words match :wanted and ({{everywhere}}transcripts.project = :project)
order by score limit :limit
"""
_CANDIDATES = f"""
select chunks.session, place, chunks.body {_FROM}
where lexemes @@ cast(:wanted as tsquery) and ({{everywhere}}transcripts.project = :project)
order by chunks.number desc limit :limit
"""

"""The word index of transcripts: FTS5 on SQLite, GIN on PostgreSQL. Created with the first transcript."""

import math
from collections.abc import Sequence
from typing import Any

from holdfast.engine.database import Database, Dialect, Row
from holdfast.engine.tokens import tokens

TABLE = "chunk_words"
# The rowid is the number of the chunk.
_CREATE: dict[Dialect, str] = {
    "sqlite": """
create virtual table if not exists chunk_words using fts5 (body, tokenize = 'unicode61 remove_diacritics 0', detail = none);
""",
    "postgres": """
create table if not exists chunk_words (rowid integer primary key, lexemes tsvector not null);
create index if not exists chunk_words_lexemes on chunk_words using gin (lexemes);
""",
}
_INSERT: dict[Dialect, str] = {
    "sqlite": "insert into chunk_words (rowid, body) values (:rowid, :body)",
    "postgres": """
insert into chunk_words (rowid, lexemes)
values (:rowid, array_to_tsvector(array_remove(string_to_array(:body, ' '), '')))
""",
}
NEWEST = 1_000  # the most matching chunks that PostgreSQL returns, newest first, to be scored here
K1, B = 1.2, 0.75


def create(db: Database) -> None:
    """Create the index if it is missing; checked first, because a server's role may not create tables."""
    if not db.has_table(TABLE):
        db.script(_CREATE)


def add(db: Database, rows: Sequence[Any]) -> None:
    """Add the words of chunks to the index."""
    create(db)
    indexed = [{"rowid": row["number"], "body": " ".join(tokens(str(row["body"])))} for row in rows]
    db.many(_INSERT[db.dialect], indexed)


def best(db: Database, terms: set[str], project: int | None, limit: int) -> list[tuple[Row, float]]:
    """Return chunks that contain some of the terms (session, place, body) with their BM25 score, best first."""
    everywhere = "1 = 1 or " if project is None else ""
    if db.dialect == "sqlite":
        asked = {"wanted": " OR ".join(f'"{word}"' for word in sorted(terms)), "project": project or 0, "limit": limit}
        return [(row, -row[3]) for row in db.query(_SEARCH.format(everywhere=everywhere), asked)]
    asked = {"wanted": " | ".join(f"'{word}'" for word in sorted(terms)), "project": project or 0, "limit": NEWEST}
    total = int(db.query("select count(*) from chunks")[0][0])
    return _scored(db.query(_CANDIDATES.format(everywhere=everywhere), asked), terms, total)[:limit]


def _scored(rows: Sequence[Row], terms: set[str], total: int) -> list[tuple[Row, float]]:
    """Score chunks as FTS5 does (BM25), best first."""
    bodies = [tokens(row[2]) for row in rows]
    mean_length = sum(map(len, bodies)) / len(bodies) if bodies else 1.0
    holding = {term: sum(term in words for words in bodies) for term in terms}
    idf = {
        term: max(1e-6, math.log((total - n + 0.5) / (n + 0.5))) if n < total else 1e-6 for term, n in holding.items()
    }
    scored = []
    for row, words in zip(rows, bodies, strict=True):
        counts = {term: words.count(term) for term in terms}
        norm = K1 * (1 - B + B * len(words) / mean_length)
        scored.append((row, sum(idf[term] * n * (K1 + 1) / (n + norm) for term, n in counts.items())))
    return sorted(scored, key=lambda pair: -pair[1])


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

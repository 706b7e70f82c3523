"""The word index: a record can be found by its words the moment its write returns.

Rowids are record numbers, so a project is one range and a search costs what the project holds, not the store.
Retired records stand under the negated number: outside every search, but found when their like is written again.

SQLite finds words by FTS5. PostgreSQL does by a GIN index over lexemes that carry the project (`deploy/7`): the postings
of a word in one project are then a list of their own, and `deploy/` begins those of all. Words are cut by us and scored
by us, so both engines give the same answers.
"""

import json
from collections.abc import Iterable, Mapping, Sequence

from holdfast.engine.database import Database, Dialect, query_each
from holdfast.engine.passages import pieces
from holdfast.engine.tokens import tokens
from holdfast.engine.views import Batch
from holdfast.engine.views.records import PROJECT_BITS
from holdfast.model.record import Record

NAME = "words"
VERSION = 1
TABLES = ("words",)
# The tokenizer only has to split at spaces; positions are never asked for. PostgreSQL's index is always complete: a list
# of pending entries would be read by every search.
SCHEMA: dict[Dialect, str] = {
    "sqlite": """
create virtual table words using fts5 (body, tokenize = 'unicode61 remove_diacritics 0', detail = none);
""",
    "postgres": """
create table words (
    rowid integer primary key,
    body text not null,
    lexemes tsvector not null
);
""",
}
_INSERT: dict[Dialect, str] = {
    "sqlite": "insert into words (rowid, body) values (:rowid, :body)",
    "postgres": "insert into words (rowid, body, lexemes) values (:rowid, :body, array_to_tsvector(string_to_array(:lexemes, ' ')))",
}
_MATCH: dict[Dialect, str] = {"sqlite": "words match one.value", "postgres": "lexemes @@ cast(one.value as tsquery)"}
_HERE = "rowid between :low and :high"
Span = tuple[int, int]
_INDEX = """
set local maintenance_work_mem = '1GB';
create index words_lexemes on words using gin (lexemes) with (fastupdate = off);
"""


def index(db: Database) -> None:
    """Make what finds words, once many rows are there: that is much quicker than adding each to it."""
    if db.dialect == "postgres":
        db.script(_INDEX)


def drop_index(db: Database) -> None:
    """Let go of it, before very many rows come."""
    if db.dialect == "postgres":
        db.script("drop index if exists words_lexemes;\n")


def apply(db: Database, batch: Batch, /) -> None:
    """Index the words each record now has."""
    gone = [entry.number for entry in batch.entries if entry.known]
    if gone:
        db.many("delete from words where rowid in (:number, :negated)", [{"number": n, "negated": -n} for n in gone])
    rows = []
    for entry in batch.entries:
        if entry.record.state != "erased":
            rowid = entry.number if entry.record.state == "active" else -entry.number
            rows.append(_row(db, rowid, indexed(entry.record)))
    db.many(_INSERT[db.dialect], rows)


def _row(db: Database, rowid: int, body: str) -> dict[str, object]:
    if db.dialect == "sqlite":
        return {"rowid": rowid, "body": body}
    home = _home(rowid)
    return {"rowid": rowid, "body": body, "lexemes": " ".join([f"{word}/{home}" for word in set(body.split())])}


def _home(rowid: int) -> str:
    """Give what lexemes of a row end in: the project, and whether the record is retired."""
    return str(rowid >> PROJECT_BITS) if rowid >= 0 else f"-{-rowid >> PROJECT_BITS}"


def indexed(record: Record) -> str:
    """Give the index words of a record: its title, a line for each passage, and one for its labels and author.

    The title is there besides the text it may be taken from: what somebody put first counts twice. Every word has a
    space of its own on either side, so that counting " word " counts just that word.
    """
    labels = " ".join((*record.tags, *record.scopes, record.by.name))
    return "\n".join(f" {'  '.join(tokens(part))} " for part in (record.title, *pieces(record.text), labels))


def counts(db: Database, wanted: Mapping[Span, Sequence[str]]) -> dict[Span, dict[str, int]]:
    """Return how many records of each span hold each of the words wanted there."""
    each = [_asked(db, [[word] for word in some], place) for place, some in wanted.items()]
    found = query_each(db, _COUNTS[db.guarded][db.dialect], each)
    return {
        place: {word: int(row[0]) for word, row in zip(some, rows, strict=True)}
        for (place, some), rows in zip(wanted.items(), found, strict=True)
    }


def holders(db: Database, wanted: Sequence[str], places: Sequence[Span]) -> dict[str, list[int]]:
    """Return, for each of some words, the records that hold it, span by span."""
    if not wanted:
        return {}
    found: dict[str, list[int]] = {word: [] for word in wanted}
    each = [_asked(db, [[word] for word in wanted], place) for place in places]
    # One JSON array of small numbers is read in a third of the time of as many rows.
    for (low, _), rows in zip(places, query_each(db, _HOLDERS[db.guarded][db.dialect], each), strict=True):
        for word, row in zip(wanted, rows, strict=True):
            found[word] += [low + number for number in json.loads(row[0])]
    return found


def newest_holders(db: Database, wanted: Sequence[Sequence[str]], place: Span, most: int) -> list[list[int]]:
    """Give, for each of some sets of words, the newest records of a span that hold all of it."""
    rows = db.query(_NEWEST_HOLDERS[db.guarded][db.dialect], _asked(db, wanted, place) | {"most": most})
    return [json.loads(row[0]) for row in rows]


# What is wanted comes as a list and goes in one question: a server may be far away. A project's lexemes are its own, so
# PostgreSQL is kept from reading the project's rows by their number in the hope of meeting the word.
_ROWID: dict[Dialect, str] = {"sqlite": "rowid", "postgres": "(rowid + 0)"}


def _by_way(select: str) -> dict[bool, dict[Dialect, str]]:
    """Write a question for each engine; and for a guarded one, which matches words in a function of its own.

    Under row-level security PostgreSQL would read every row before it looks for a word, as matching may tell on rows.
    """
    each, here = "select ({select}) from json_each(:wanted) as one", "{rowid} between :low and :high"
    direct: dict[Dialect, str] = {
        name: select.format(words="words", where=f"{_MATCH[name]} and {here}", rowid="{rowid}") for name in _MATCH
    }
    found = select.format(
        words="holdfast_found(cast(one.value as tsquery)) as words (rowid)", where=here, rowid="{rowid}"
    )
    ways: dict[bool, dict[Dialect, str]] = {False: direct, True: {"postgres": found}}
    return {
        way: {name: each.format(select=text.replace("{rowid}", _ROWID[name])) for name, text in asked.items()}
        for way, asked in ways.items()
    }


_COUNTS = _by_way("select count(*) from {words} where {where}")
_HOLDERS = _by_way("select json_group_array(rowid - :low) from {words} where {where}")
_NEWEST_HOLDERS = _by_way("""
select json_group_array(number) from (
    select rowid as number from {words} where {where} order by {rowid} desc limit :most
) as found
""")


def _asked(db: Database, wanted: Sequence[Sequence[str]], place: Span) -> dict[str, object]:
    """Give the parameters of a search in a span, for each of some sets of words."""
    low, high = place
    if db.dialect == "sqlite":
        said = [" ".join(f'"{word}"' for word in one) for one in wanted]
    else:
        first, last = _home(low), _home(high)
        end = f"/{first}'" if first == last else "/':*"
        said = [" & ".join(f"'{word}{end}" for word in one) for one in wanted]
    return {"wanted": json.dumps(said), "low": low, "high": high}


def bodies(db: Database, numbers: Iterable[int]) -> dict[int, str]:
    """Give the index words of records, as one spaced text each."""
    rows = db.query(_BODIES, {"numbers": json.dumps(list(numbers))})
    return {row[0]: row[1] for row in rows}


def newest(db: Database, places: Sequence[Span], most: int) -> dict[int, str]:
    """Return the index words of the newest records of each span."""
    each = [{"low": low, "high": high} for low, high in places]
    return {row[0]: row[1] for rows in query_each(db, _NEWEST, each, {"most": most}) for row in rows}


def drawn(db: Database, places: Sequence[Span], most: int) -> list[str]:
    """Give the index words of about so many records from all over some spans, the same ones each time."""
    from random import Random  # noqa: PLC0415  only very large stores need it

    last: dict[int, int] = {}
    for low, high in places:
        homes = {"first": low >> PROJECT_BITS, "last": high >> PROJECT_BITS}
        last |= {row[0]: row[1] for row in db.query(_PROJECTS, homes)}
    chance = Random(0)  # noqa: S311  nothing is kept secret by it
    chosen = chance.choices(list(last), list(last.values()), k=most) if last else []
    return list(bodies(db, {(home << PROJECT_BITS) + chance.randint(1, last[home]) for home in chosen}).values())


_PROJECTS = "select number, records from projects where number between :first and :last and records > 0 order by number"


def is_empty(db: Database, place: Span) -> bool:
    """Tell whether a span holds no record."""
    return not db.query(f"select rowid from words where {_HERE} limit 1", {"low": place[0], "high": place[1]})


_BODIES = "select rowid, body from words where rowid in (select cast(value as bigint) from json_each(:numbers))"
_NEWEST = f"select rowid, body from words where {_HERE} order by rowid desc limit :most"

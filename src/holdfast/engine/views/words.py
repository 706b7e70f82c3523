"""View of words: the full-text index, up to date as soon as a write returns."""
# Rowids are record numbers, so a project is one range, and the cost of a search depends on the project, not the store.
# Records that are not active are stored under the negated number: search skips them, the check for duplicates reads
# them.
# SQLite uses FTS5. PostgreSQL uses a GIN index over lexemes with the project as suffix (`deploy/7`): each word has one
# posting list per project, and the prefix `deploy/` matches all projects. Tokens and scores are computed in Python, so
# both engines return the same results.

import json
from collections.abc import Iterable, Mapping, Sequence

from holdfast.engine.database import Database, Queries, query_each
from holdfast.engine.journal import Journal
from holdfast.engine.tokens import pieces, tokens
from holdfast.engine.views import Batch, view_of
from holdfast.engine.views.records import PROJECT_BITS
from holdfast.model.kinds import CODED
from holdfast.model.record import Record

_SQL = Queries(__file__)
Span = tuple[int, int]
# How words are matched: where, and by which condition. Under row-level security PostgreSQL would check every row before it
# matches words, since matching might leak hidden rows: a guarded database matches them in a function.
_WAYS = {
    "sqlite": ("words", "words match one.value and "),
    "postgres": ("words", "lexemes @@ cast(one.value as tsquery) and "),
    "guarded": ("holdfast_found(cast(one.value as tsquery)) as words (rowid)", ""),
}


def index(db: Database) -> None:
    """Create PostgreSQL's index. After a bulk load that is much faster than adding each row to it."""
    if db.dialect == "postgres":
        db.script(_SQL["index"])


@view_of(4)
def words(db: Database, batch: Batch) -> None:
    """Index the current words of each record."""
    gone = [{"number": entry.number, "negated": -entry.number} for entry in batch.known]
    db.many("delete from words where rowid in (:number, :negated)", gone)
    rows = list[dict[str, object]]()
    for entry in (one for one in batch.entries if one.record.state != "erased"):
        rowid = entry.number if entry.record.state == "active" else -entry.number
        body, home = indexed(entry.record), _home(rowid)
        rows.append({"rowid": rowid, "body": body})
        if db.dialect == "postgres":
            rows[-1]["lexemes"] = " ".join([f"{word}/{home}" for word in set(body.split())])
    db.many(_SQL[f"insert_{db.dialect}"], rows)


def _home(rowid: int) -> str:
    """Return the suffix of a row's lexemes: the project number, negative if the record is not active."""
    return str(rowid >> PROJECT_BITS) if rowid >= 0 else f"-{-rowid >> PROJECT_BITS}"


def indexed(record: Record) -> str:
    """Return the index words of a record: a line for its title, one for each passage, and one for what labels it."""
    # A title that repeats the start of the text makes these words count twice: that is intended. Every word has its own
    # space on either side, so that counting " word " counts exactly that word.
    coded = (value for name, value in record.fields.items() if name in CODED and isinstance(value, str))
    labels = " ".join((*record.tags, *record.scopes, record.by.name, *record.anchors, *coded))
    return "\n".join(f" {'  '.join(tokens(part))} " for part in (record.title, *pieces(record.text), labels))


def counts(db: Database, wanted: Mapping[Span, Sequence[str]]) -> dict[Span, dict[str, int]]:
    """Return, for each span, how many of its records contain each of the words wanted there."""
    each = [_asked(db, [[word] for word in some], place) for place, some in wanted.items()]
    found = query_each(db, _matching(db, "counts"), each)
    return {
        place: {word: int(row[0]) for word, row in zip(some, rows, strict=True)}
        for (place, some), rows in zip(wanted.items(), found, strict=True)
    }


def holders(db: Database, wanted: Sequence[str], places: Sequence[Span]) -> dict[str, list[int]]:
    """Return, for each word, the numbers of the records that contain it, in the order of the spans."""
    if not wanted:
        return {}
    found: dict[str, list[int]] = {word: [] for word in wanted}
    each = [_asked(db, [[word] for word in wanted], place) for place in places]
    # One JSON array of small numbers takes a third of the time to read that as many rows take.
    for (low, _), rows in zip(places, query_each(db, _matching(db, "holders"), each), strict=True):
        for word, row in zip(wanted, rows, strict=True):
            found[word] += [low + number for number in json.loads(row[0])]
    return found


def newest_holders(db: Database, wanted: Sequence[Sequence[str]], place: Span, most: int) -> list[list[int]]:
    """Return, for each set of words, the newest records of a span that contain all of them."""
    rows = db.query(_matching(db, "newest_holders"), _asked(db, wanted, place) | {"most": most})
    return [json.loads(row[0]) for row in rows]


def beginning_with(store: Journal, beginnings: Sequence[str], places: Sequence[Span], most: int) -> dict[int, str]:
    """Return the index words of the newest records that contain a word with one of these beginnings, by number."""
    db = store.db
    said = [f'"{one}"*' if db.dialect == "sqlite" else f"'{one}':*" for one in beginnings]
    each = [{"wanted": json.dumps(said), "low": low, "high": high, "most": most} for low, high in places]
    found = query_each(db, _matching(db, "newest_holders"), each)
    return bodies(db, {number for rows in found for row in rows for number in json.loads(row[0])})


def _matching(db: Database, query: str) -> str:
    """Return a query as words are matched in this database; all words go in one, because a server may be far away."""
    words, match = _WAYS["guarded" if db.guarded else db.dialect]
    # `+ 0` keeps the planner from scanning the project's rows by number: the lexemes already select the project.
    rowid = "rowid" if db.dialect == "sqlite" else "(rowid + 0)"
    asked = _SQL[query].format(words=words, where=f"{match}{rowid} between :low and :high", rowid=rowid)
    return f"select ({asked}) from json_each(:wanted) as one"


def _asked(db: Database, wanted: Sequence[Sequence[str]], place: Span) -> dict[str, object]:
    (low, high), homes = place, {_home(number) for number in place}
    said = [" ".join(f'"{word}"' for word in one) for one in wanted]
    if db.dialect == "postgres":
        end = f"/{homes.pop()}'" if len(homes) == 1 else "/':*"
        said = [" & ".join(f"'{word}{end}" for word in one) for one in wanted]
    return {"wanted": json.dumps(said), "low": low, "high": high}


def bodies(db: Database, numbers: Iterable[int]) -> dict[int, str]:
    """Return the index words of records by number, as `indexed` writes them."""
    return {row[0]: row[1] for row in db.query(_SQL["bodies"], {"numbers": list(numbers)})}


def newest(db: Database, places: Sequence[Span], most: int) -> dict[int, str]:
    """Return the index words of the newest records of each span."""
    each = [{"low": low, "high": high} for low, high in places]
    return {row[0]: row[1] for rows in query_each(db, _SQL["newest"], each, {"most": most}) for row in rows}


def drawn(db: Database, places: Sequence[Span], most: int) -> list[str]:
    """Return the index words of at most `most` random records of some spans; the same store gives the same sample."""
    from random import Random  # noqa: PLC0415  only very large stores need it

    homes = [{"first": low >> PROJECT_BITS, "last": high >> PROJECT_BITS} for low, high in places]
    last = {row[0]: int(row[1]) for home in homes for row in db.query(_SQL["projects"], home)}
    chance = Random(0)  # noqa: S311  a sample, not a secret
    chosen = chance.choices(list(last), list(last.values()), k=most) if last else []
    return list(bodies(db, {(home << PROJECT_BITS) + chance.randint(1, last[home]) for home in chosen}).values())


def is_empty(db: Database, place: Span) -> bool:
    """True if a span has no indexed record."""
    return not db.query(_SQL["newest"], {"low": place[0], "high": place[1], "most": 1})

"""The word index (FTS5): a record can be found by its words the moment its write returns.

Rowids are record numbers, so a project is one range and a search costs what the project holds, not the store.
Retired records stand under the negated number: outside every search, but found when their like is written again.
"""

from holdfast.engine.database import Database
from holdfast.engine.passages import pieces
from holdfast.engine.tokens import tokens
from holdfast.engine.views import Batch
from holdfast.model.record import Record

NAME = "words"
VERSION = 1
TABLES = ("words",)
# Words are cut by us, so the tokenizer only has to split at spaces; positions are never asked for.
SCHEMA = """
create virtual table words using fts5 (body, tokenize = 'unicode61 remove_diacritics 0', detail = none);
"""


def apply(db: Database, batch: Batch, /) -> None:
    """Index the words each record now has."""
    rows = []
    for entry in batch.entries:
        number, record = entry.number, entry.record
        if record.revision > 1:
            db.execute("delete from words where rowid in (:number, :negated)", {"number": number, "negated": -number})
        if record.state != "erased":
            rowid = number if record.state == "active" else -number
            rows.append({"rowid": rowid, "body": indexed(record)})
    db.many("insert into words (rowid, body) values (:rowid, :body)", rows)


def indexed(record: Record) -> str:
    """Give the index words of a record: its title, a line for each passage, and one for its labels and author.

    The title is there besides the text it may be taken from: what somebody put first counts twice. Every word has a
    space of its own on either side, so that counting " word " counts just that word.
    """
    labels = " ".join((*record.tags, *record.scopes, record.by.name))
    return "\n".join(f" {'  '.join(tokens(part))} " for part in (record.title, *pieces(record.text), labels))


def compact(db: Database) -> None:
    """Merge the index so that nothing of deleted rows is left in it."""
    db.execute("insert into words (words) values ('optimize')")

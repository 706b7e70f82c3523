"""View of records: the current state of each, with the queries that filter, page and count them."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import product
from typing import Literal, NamedTuple

from holdfast.engine.database import Database, Params, Queries, column, insert, query_each, stored, value
from holdfast.engine.journal import FOLDING_ONLY, Journal
from holdfast.engine.views import Batch, Entry, view_of
from holdfast.model.ids import TAIL
from holdfast.model.kinds import SEPARATE
from holdfast.model.query import Order
from holdfast.model.record import Record, record_from_json, record_to_json

PROJECT_BITS = 32  # four billion records a project, two million projects within 53 bits
BESIDE = "\x1f"  # in the name of a project's records of a separate kind; no project's name contains it
MEMORIES = "kind not in ({})".format(", ".join(f"'{kind}'" for kind in sorted(SEPARATE)))
SQL = Queries(__file__, memories=MEMORIES, folding_only=FOLDING_ONLY)
NUMBERS = "select cast(value as bigint) from json_each(:numbers)"
MINUTE = "substr(created_at, 1, 16)"  # it belongs to one day in every time zone
_NESTED = (("from", ":"), ("to", ";"))  # bounds of the scopes in a scope: ';' comes after ':'


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """The conditions a record must meet. `projects` None means all of them; no `kinds` means all that are not separate."""

    projects: tuple[int, ...] | None = None
    kinds: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    any_scopes: tuple[str, ...] = ()
    without_scopes: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    states: tuple[str, ...] = ("active",)
    author: str = ""  # a person
    session: str = ""
    since: str = ""
    until: str = ""
    starters: bool = False
    separate: bool = False  # also records of separate kinds
    waits: bool = False  # only records in quarantine or with quarantined changes
    cites: bool = False  # only records that were verified or cite a place in code
    before: int = 0  # only lower numbers, unless 0

    @property
    def narrow(self) -> bool:
        """Whether it filters by more than project and state."""
        scoped = self.scopes or self.any_scopes or self.without_scopes
        return bool(self.kinds or scoped or self.tags or self.author or self.session or self.since or self.until)


class Place(NamedTuple):
    """Who wrote a record, when and in which session, its index words, and its neighbours in the session with their distance."""

    number: int
    session: str
    author: str
    created_at: str
    body: str
    near: tuple[tuple[int, int], ...] = ()


def span(project: int) -> tuple[int, int]:
    """Return the first and last number that records of a project can have."""
    return project << PROJECT_BITS, ((project + 1) << PROJECT_BITS) - 1


def within(project: int | None) -> dict[str, int]:
    """Return the parameters of `number between :low and :high` for a project, or for all of them."""
    low, high = (0, 2**62) if project is None else span(project)
    return {"low": low, "high": high}


def homes_of(projects: Iterable[str], kinds: Iterable[str] = ()) -> list[str]:
    """Return the names under which records are numbered: their project's, or for a separate kind one of its own beside it."""
    # So whatever goes through the numbers of a project passes by the separate kinds, and costs nothing for them.
    pairs = product(projects, tuple(kinds) or ("",))
    return list(dict.fromkeys(f"{name}{BESIDE}{kind}" if kind in SEPARATE else name for name, kind in pairs))


def fingerprint(record: Record) -> str:
    """Return a hash of the text that ignores case, spacing and, unless it is a separate one, the kind."""
    said = f"{record.kind if record.kind in SEPARATE else ''}\n{record.text}"
    return blake2b(" ".join(said.casefold().split()).encode(), digest_size=12).hexdigest()


@view_of(8)
def records(db: Database, batch: Batch) -> None:
    """Store the current state of each record."""
    rows = [
        {name: getattr(record, name) for name in "id kind state created_at updated_at verified_at source".split()}
        | {
            "number": entry.number,
            "tail": record.id[-TAIL:],
            "waits": int(bool(record.waiting)),
            "cites": int(bool(record.verified_at or record.anchors or record.seen)),
            "title": record.title.casefold(),
            "session": record.by.session,
            "author": record.by.name if record.by.kind == "user" else "",
            "fingerprint": fingerprint(record) if record.state != "erased" else "",
            "doc": json.dumps(record_to_json(record), ensure_ascii=False),
        }
        for entry in batch.entries
        for record in [entry.record]
    ]
    insert(db, "records", rows, replacing="number")


def with_part(store: Journal, part: str, most: int) -> list[Entry]:
    """Return the records whose id ends with a part, else those whose id begins with it, by id."""
    ending = _entries(store, "tail = :tail order by id", {"tail": part[-TAIL:]}) if len(part) >= TAIL else []
    if found := [entry for entry in ending if entry.record.id.endswith(part)]:
        return found[:most]
    # Crockford base 32 has no letter after Z, so this bounds every id that starts with the part.
    between = {"low": part, "high": part + "~", "most": most}
    return _entries(store, "id >= :low and id < :high order by id limit :most", between)


def by_numbers(store: Journal, numbers: Iterable[int]) -> dict[int, Record]:
    """Return the records with these local numbers, by number."""
    wanted = list(numbers)
    entries = _entries(store, f"number in ({NUMBERS})", {"numbers": wanted}) if wanted else ()
    return {entry.number: entry.record for entry in entries}


def with_fingerprint(store: Journal, value: str) -> list[Entry]:
    """Return the records with a fingerprint: the same text but for case and spacing."""
    return _entries(store, "fingerprint = :value", {"value": value})


def authors(db: Database) -> list[str]:
    """Return the users who wrote records; the query skips from name to name instead of reading every row."""
    return column(db, "select * from holdfast_authors()" if db.guarded else SQL["authors"])


def wrote(db: Database, author: str, low: int, high: int) -> bool:
    """True if the author wrote any record in a span of numbers."""
    return bool(db.query(SQL["wrote"], {"author": author, "low": low, "high": high}))


def people(store: Journal, project: int | None) -> list[str]:
    """Return the authors who wrote in a project, or in any."""
    return [name for name in authors(store.db) if project is None or wrote(store.db, name, *span(project))]


def written_in(
    db: Database, periods: Sequence[tuple[str, str]], spans: Sequence[tuple[int, int]], most: int
) -> list[int]:
    """Return the numbers of the newest active records written in any of the periods, in spans of numbers."""
    pairs = product(periods, spans)
    each = [{"since": since, "until": until, "low": low, "high": high} for (since, until), (low, high) in pairs]
    return [row[0] for rows in query_each(db, SQL["written_in"], each, {"most": most}) for row in rows]


def conversations(store: Journal, sessions: Iterable[str]) -> set[str]:
    """Return the sessions in which several people wrote."""
    named = sorted({session for session in sessions if session})
    return set(column(store.db, SQL["conversations"], {"sessions": named})) if named else set()


def places(db: Database, numbers: Iterable[int], reach: int) -> dict[int, Place]:
    """Return the place of each active record, with up to `reach` neighbours before and after it in its session."""
    found = dict[int, Place]()
    for *place, before, later in db.query(SQL["places"], {"numbers": list(numbers), "reach": reach}):
        sides = [json.loads(side) for side in (before, later) if side != "[]"]
        near = tuple([(number, distance) for side in sides for distance, number in enumerate(side, start=1)])
        found[place[0]] = Place(*place)._replace(near=near)
    return found


def page(
    store: Journal, chosen: Filter, *, limit: int, offset: int = 0, order: Order | Literal["stored"] = "newest"
) -> list[Entry]:
    """Return a page of records in an order. As they were `stored` here, latest first, needs no sort: it stops at the limit."""
    where, params = _where(chosen)
    paged, given = f"{where} {SQL[f'by_{order}']} limit :limit offset :offset", {"limit": limit, "offset": offset}
    if order in ("newest", "oldest", "stored"):
        return _entries(store, paged, params | given)
    table = "records left join usage using (id)" if order in ("applied", "shown") else "records"
    # Only the numbers are sorted, and only what is on the page is read in full.
    numbers = column(store.db, f"select number from {table} where {paged}", params | given)
    known = by_numbers(store, numbers)
    return [Entry(number=number, record=known[number]) for number in numbers if number in known]


def after(store: Journal, number: int, limit: int) -> list[Entry]:
    """Return the records with a higher number, in order, of any project and state."""
    return _entries(store, "number > :number order by number limit :limit", {"number": number, "limit": limit})


def newest(
    store: Journal, kind: str, project: int, *, state: str = "active", limit: int, own: bool = False
) -> list[Entry]:
    """Return the latest records of one kind in one project, latest first; with `own` none with imported events."""
    where = f"{SQL['newest']} {SQL['own'] if own else ''} order by number desc limit :limit"
    return _entries(store, where, {"kind": kind, **within(project), "state": state, "limit": limit})


def with_triggers(store: Journal, project: int, *, limit: int) -> list[Entry]:
    """Return the latest active records of a project that have triggers of their own, latest first."""
    where = "number between :low and :high and state = 'active' and doc like :mark order by number desc limit :limit"
    return _entries(store, where, {**within(project), "mark": '%"triggers"%', "limit": limit})


def waiting(store: Journal, projects: tuple[int, ...] | None, limit: int) -> list[Entry]:
    """Return records in quarantine or with quarantined changes, latest number first. Uses their index."""
    chosen = Filter(projects=projects, states=(), separate=True, waits=True)
    return page(store, chosen, limit=limit, order="stored")


def of_session(store: Journal, session: str, *, limit: int = 1_000) -> list[Entry]:
    """Return the memories a session wrote, in order, in any state but erased."""
    where = f"session = :session and state <> 'erased' and {MEMORIES} order by number limit :limit"
    return _entries(store, where, {"session": session, "limit": limit})


def counted_in_sessions(store: Journal, sessions: Iterable[str]) -> dict[str, int]:
    """Count the memories that each session wrote, in any state but erased."""
    rows = store.db.query(SQL["counted_in_sessions"], {"sessions": set(sessions)})
    return {row[0]: int(row[1]) for row in rows}


def kinds_since(store: Journal, project: int, since: str, sessions: Iterable[str] | None = None) -> dict[str, int]:
    """Count by kind the active records of a project created since an instant; with `sessions`, only theirs."""
    given = {**within(project), "since": since, "all": int(sessions is None), "sessions": set(sessions or ())}
    return {row[0]: int(row[1]) for row in store.db.query(SQL["kinds_since"], given)}


def tallied(store: Journal, chosen: Filter, one: str, other: str) -> list[tuple[str, str, int]]:
    """Count the records that match a filter by two columns, in their order: MINUTE, "kind", "source" or the project of its number."""
    where, params = _where(chosen)
    sql = f"select {one} as one, {other} as other, count(*) from records where {where} group by one, other order by one, other"
    return [(row[0], row[1], int(row[2])) for row in store.db.query(sql, params)]


def starters(store: Journal) -> set[str]:
    """Return the ids of the lessons that ship with Holdfast. They are old and global, so few rows are read."""
    return set(column(store.db, SQL["starters"], {"most": span(0)[1]}))


def last_made(store: Journal, project: int) -> str:
    """Return when the record with the highest number in a project was created; empty if there is none."""
    return str(value(store.db, SQL["last_made"], within(project), ""))


def by_ids(store: Journal, ids: Iterable[str]) -> dict[str, Entry]:
    """Return the records with these ids, by id."""
    entries = _entries(store, "id in (select value from json_each(:ids))", {"ids": list(ids)})
    return {entry.record.id: entry for entry in entries}


def changes(
    store: Journal, verbs: Sequence[str], since: str, until: str, chosen: Filter, *, limit: int
) -> list[tuple[str, str, str, str, str]]:
    """Return what was done to the records that match a filter between two instants, the latest first: verb, id, kind, time, by whom."""
    where, params = _where(chosen)
    sql = f"{SQL['changes']} and {where} order by seq desc limit :limit"
    given = {"verbs": list(verbs), "start": since, "stop": until, "limit": limit}
    return [tuple(row) for row in store.db.query(sql, params | given)]


def counted(store: Journal, chosen: Filter) -> int:
    """Count the records that match a filter."""
    where, params = _where(chosen)
    return int(value(store.db, f"select count(*) from records where {where}", params))


def kinds_of(store: Journal, project: int) -> dict[str, int]:
    """Count the records of each kind in a project, in any state. Answered from the index: no row is read."""
    return {row[0]: int(row[1]) for row in store.db.query(SQL["kinds_of"], within(project))}


def numbers(store: Journal, chosen: Filter) -> set[int]:
    """Return the local numbers of the records that match a filter."""
    where, params = _where(chosen)
    return set(column(store.db, f"select number from records where {where}", params))


def _where(chosen: Filter) -> tuple[str, dict[str, object]]:
    """Return a filter as SQL and parameters. The fragments are constants; input is only in the parameters."""
    tests = [("1 = 1", {}), *_by_column(chosen), *_by_label(chosen)]
    return " and ".join(test for test, _ in tests), {name: item for _, given in tests for name, item in given.items()}


def _by_column(chosen: Filter) -> Iterator[tuple[str, Params]]:
    if chosen.projects is not None:
        spans = [f"number between :low{place} and :high{place}" for place in range(len(chosen.projects))]
        bounds = {f"{end}{place}": n for place, one in enumerate(chosen.projects) for end, n in within(one).items()}
        yield f"({' or '.join(spans)})", bounds
    match chosen.kinds:
        case (kind,):  # with `=` the index gives them in order; but the index of tags finds fewer: `||` chooses it
            yield "kind || '' = :kind" if chosen.tags else "kind = :kind", {"kind": kind}
        case (_, *_):
            yield "kind in (select value from json_each(:kind))", {"kind": chosen.kinds}
        case _ if not chosen.separate:
            yield MEMORIES, {}
    if chosen.states == ("pending",):
        yield "state = 'pending'", {}  # exactly as in the condition of the partial index, or it is not used
    elif chosen.states:
        yield "state in (select value from json_each(:state))", {"state": chosen.states}
    flags = {"source <> 'starter'": not chosen.starters, "waits = 1": chosen.waits, "cites = 1": chosen.cites}
    yield from ((test, {}) for test, applies in flags.items() if applies)
    tests = {"author": "author =", "session": "session =", "since": "created_at >=", "until": "created_at <"}
    tests["before"] = "number <"
    yield from ((f"{test} :{name}", {name: value}) for name, test in tests.items() if (value := getattr(chosen, name)))


def _by_label(chosen: Filter) -> Iterator[tuple[str, Params]]:
    for place, tag in enumerate(chosen.tags):
        yield f"number in ({SQL['tagged']} = :tag{place})", {f"tag{place}": tag}
    for name, scopes in (("all", chosen.scopes), ("any", chosen.any_scopes), ("not", chosen.without_scopes)):
        tests = [f"number in ({SQL['scoped'].format(place=f'{name}{place}')})" for place in range(len(scopes))]
        given = {f"{name}{place}": scope for place, scope in enumerate(scopes)}
        given |= {f"{name}{place}_{at}": f"{one}{end}" for place, one in enumerate(scopes) for at, end in _NESTED}
        if tests:
            anyone = f"({' or '.join(tests)})"
            yield {"all": " and ".join(tests), "any": anyone, "not": f"not {anyone}"}[name], given


def _entries(store: Journal, where: str, params: Params) -> list[Entry]:
    rows = store.db.query(f"select number, doc from records where {where}", params)
    return [Entry(number=row[0], record=parsed(row[1])) for row in rows]


@lru_cache(maxsize=2048)
def parsed(doc: str) -> Record:
    """Parse a stored record. Cached by its text, so repeated reads are free."""
    return stored(doc, record_from_json)

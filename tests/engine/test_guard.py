"""Row-level security on a real PostgreSQL: whoever asks sees their projects and nobody's private records, whatever the query."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from holdfast.engine.postgres.database import Postgres
from holdfast.engine.postgres.row_security import MEMBER, OPEN, VISIBLE, protect
from holdfast.engine.store import Store, open_store
from holdfast.engine.views import words
from holdfast.engine.views.records import span
from holdfast.model.access import Access, asking
from holdfast.model.errors import Forbidden, HoldfastError, StoreError
from holdfast.model.event import Actor, Event, Verb
from holdfast.model.ids import Clock
from tests import engines, scripts

SHOP, BANK = "example.org/acme/shop", "example.org/acme/bank"
ANNA = Access(user="anna", role="write", projects=(SHOP,))
BEN = Access(user="ben", role="write", projects=(SHOP,))
CARLA = Access(user="carla", role="write", projects=(BANK,))
ROOT = Access(user="root", role="admin", projects=("*",))
READER = replace(ANNA, role="read")
USERS = {"anna": ANNA, "ben": BEN, "carla": CARLA, "root": ROOT, "reader": READER, "nobody": Access()}
Told = Callable[..., Event]


@pytest.fixture
def url(tmp_path: Path) -> str:
    return engines.schema(str(tmp_path))


@pytest.fixture
def owner(url: str) -> Iterator[Store]:
    store = open_store(Postgres(url))
    protect(store.db)
    yield store
    store.close()


@pytest.fixture
def served(url: str, owner: Store) -> Iterator[Store]:
    assert not owner.db.guarded
    store = Store(Postgres(url, role=MEMBER))
    yield store
    store.close()


@pytest.fixture
def told() -> Told:
    clock = Clock(lambda: 1_790_000_000.0)

    def make(who: Access, body: str, project: str = SHOP, visibility: str = "team") -> Event:
        made = clock.tick()
        data = {"body": body, "title": body, "project": project, "visibility": visibility}
        by = Actor(kind="agent", name=who.user, session=f"of-{who.user}")
        return Event(id=made, about=made, verb="recorded", at=clock.now(), by=by, data=data)

    return make


def about(made: Event, about: str, verb: Verb, **data: object) -> Event:
    """Give an event about something else, by the same user."""
    return replace(made, about=about, verb=verb, data=data)


def keep(store: Store, who: Access, event: Event) -> str:
    with asking(who):
        store.commit([event])
    return event.about


def rows_of(store: Store, who: Access) -> dict[str, str]:
    """Give every row of every table that somebody can read, as text."""
    with asking(who):
        return {
            table: "\n".join(str(row[0]) for row in store.db.query(f"select cast(one as text) from {table} as one"))
            for table in VISIBLE
        }


@dataclass(kw_only=True)
class Script(scripts.Script):
    """A script of users (`tests/scripts.py`): `anna keep …` is a request of Anna's, `!anna keep …` must be refused."""

    served: Store
    owner: Store
    told: Told

    def answer(self, sign: str, word: str, given: str) -> Any:
        if sign == "@":
            return (
                self.owner.rebuild() if word == "rebuild" else self.owner.db.query("select number from privates")[0][0]
            )
        act, _, rest = given.strip().partition(" ")
        arguments = {name: value for name, _, value in self.parts(rest)}
        try:
            done = getattr(self, f"do_{act}")(USERS[word], **arguments)
        except HoldfastError as problem:
            if not sign:
                raise
            return f"{type(problem).__name__}: {problem}"
        assert not sign, f"{word}{given} was not refused"
        return done

    def do_keep(self, who: Access, body: str, by: str = "", project: str = "shop", visibility: str = "team") -> str:
        where = f"example.org/acme/{project}" if project else ""
        return keep(self.served, who, self.told(USERS[by] if by else who, body, where, visibility))

    def do_tell(self, who: Access, of: str, verb: Verb, data: Mapping[str, object] = MappingProxyType({})) -> str:
        return keep(self.served, who, about(self.told(who, ""), of, verb, **data))

    def do_rows(self, who: Access) -> dict[str, str]:
        return rows_of(self.served, who)

    def do_everything(self, who: Access) -> str:
        return "\n".join(rows_of(self.served, who).values())

    def do_query(self, who: Access, sql: str) -> list[list[Any]]:
        with asking(who):
            return [list(row) for row in self.served.db.query(sql)]

    def do_execute(self, who: Access, sql: str) -> int:
        with asking(who):
            return self.served.db.execute(sql)

    def do_folded(self, who: Access, of: str) -> Any:
        with asking(who):
            return self.served.folded(of)

    def do_holders(self, who: Access, word: str) -> list[int]:
        with asking(who):
            return words.holders(self.served.db, [word], [self.shop])[word]

    def do_newest_holders(self, who: Access, word: str) -> list[int]:
        with asking(who):
            return words.newest_holders(self.served.db, [[word]], self.shop, 9)[0]

    def do_counts(self, who: Access, word: str) -> int:
        with asking(who):
            return words.counts(self.served.db, {self.shop: [word]})[self.shop][word]

    @property
    def shop(self) -> tuple[int, int]:
        return span(self.owner.project_number(SHOP))


def start(request: pytest.FixtureRequest, known: dict[str, Any]) -> Script:
    served, owner, told = (request.getfixturevalue(name) for name in ("served", "owner", "told"))
    return Script(request.getfixturevalue("tmp_path"), known, served=served, owner=owner, told=told)


globals().update(scripts.scripts_in(__file__, start))


def test_items_of_a_project_are_for_those_who_may_read_the_project(served: Store, told: Told) -> None:
    event = told(ANNA, "zebras in stock")
    item = keep(served, ANNA, replace(event, data={**event.data, "kind": "item"}))
    seen = {
        who.user: [table for table, rows in rows_of(served, who).items() if item in rows]
        for who in (ANNA, BEN, CARLA, ROOT)
    }
    assert seen == {"anna": seen["anna"], "ben": seen["anna"], "carla": [], "root": seen["anna"]}
    assert {"entries", "records", "events"} <= set(seen["anna"])
    with asking(CARLA):
        assert (served.homes(SHOP), served.projects()) == ((-1,), {"": 0})


def test_a_key_to_read_changes_no_row_of_any_table_in_sql(served: Store, owner: Store, told: Told) -> None:
    keep(served, ANNA, told(ANNA, "the shop sells zebras"))
    keep(served, BEN, told(BEN, "a private walrus", visibility="private"))
    before = rows_of(owner, ROOT)
    with asking(Access(user="anna", role="read", projects=(SHOP, "*"))):
        for table in (*VISIBLE, *OPEN):
            (column, *_), *_ = owner.db.query(_COLUMN, {"name": table})
            for sql in (f"delete from {table}", f"update {table} set {column} = {column}"):
                try:
                    assert served.db.execute(sql) == 0, sql
                except StoreError as problem:
                    assert "does not let us" in str(problem), sql  # noqa: PT017  either outcome is a refusal
            with pytest.raises((Forbidden, StoreError), match=r"may not do this|does not let us"):
                served.db.execute(f"insert into {table} default values")
    assert rows_of(owner, ROOT) == before


_COLUMN = """
select column_name from information_schema.columns
where table_schema = current_schema() and table_name = :name order by ordinal_position
"""


def test_temporary_tables_do_not_stand_in_for_ours(served: Store, told: Told) -> None:
    hers = keep(served, CARLA, told(CARLA, "the bank lends yachts", BANK))
    keep(served, BEN, told(BEN, "a private walrus", visibility="private"))
    with asking(ANNA), served.db.transaction():
        for table in ("entries", "sessions", "privates", "projects"):
            served.db.execute(f"create temporary table {table} (id text, number bigint, owner text, name text)")
        assert not served.db.query("select holdfast_found(to_tsquery('simple', 'walrus'))")
        (unknown,) = served.db.query("select holdfast_unknown(:id)", {"id": hers})
        assert unknown[0] is False
        for table in ("entries", "sessions", "privates", "projects"):
            served.db.execute(f"drop table pg_temp.{table}")
    with asking(ANNA), pytest.raises(Forbidden):
        served.commit([about(told(ANNA, ""), hers, "retired")])


def test_a_table_nobody_decided_about_is_not_served(owner: Store) -> None:
    owner.db.script("create table extra (a text);\n")
    with pytest.raises(StoreError, match="who may see extra"):
        protect(owner.db)

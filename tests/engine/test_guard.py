"""Row-level security on a real PostgreSQL: whoever asks sees their projects and nobody's private records, whatever the query."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.engine.postgres.database import Postgres
from holdfast.engine.postgres.row_security import MEMBER, OPEN, VISIBLE, protect
from holdfast.engine.store import Store, open_store
from holdfast.engine.views import words
from holdfast.engine.views.records import span
from holdfast.model.access import Access, asking
from holdfast.model.errors import Forbidden, StoreError
from holdfast.model.event import Actor, Event, Verb
from holdfast.model.ids import Clock
from tests import engines
from tests.rows import refused

SHOP, BANK = "example.org/acme/shop", "example.org/acme/bank"
ANNA = Access(user="anna", role="write", projects=(SHOP,))
BEN = Access(user="ben", role="write", projects=(SHOP,))
CARLA = Access(user="carla", role="write", projects=(BANK,))
ROOT = Access(user="root", role="admin", projects=("*",))
READER = Access(user="anna", role="read", projects=(SHOP,))
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


def seen_by(store: Store, *texts: str) -> dict[str, list[str]]:
    """Give which of some texts each user finds in any table."""
    users = {who.user or "nobody": "".join(rows_of(store, who).values()) for who in (ANNA, BEN, CARLA, ROOT, Access())}
    return {user: [text for text in texts if text in rows] for user, rows in users.items()}


def test_items_of_a_project_are_for_those_who_may_read_the_project(served: Store, told: Told) -> None:
    event = told(ANNA, "zebras in stock")
    item = keep(served, ANNA, replace(event, data={**event.data, "kind": "item"}))
    assert seen_by(served, item) == {"anna": [item], "ben": [item], "carla": [], "root": [item], "nobody": []}
    with asking(CARLA):
        assert (served.homes(SHOP), served.projects()) == ((-1,), {"": 0})


def test_a_table_shows_only_the_rows_of_ones_own_projects(served: Store, told: Told) -> None:
    keep(served, ANNA, told(ANNA, "the shop sells zebras"))
    there = keep(served, CARLA, told(CARLA, "the bank lends yachts", BANK))
    shop, bank = ["zebras"], ["yachts", there, BANK]
    seen = seen_by(served, *shop, *bank)
    assert seen == {"anna": shop, "ben": shop, "carla": bank, "root": [*shop, *bank], "nobody": []}
    assert [table for table, rows in rows_of(served, ANNA).items() if "zebras" in rows] == ["events", "records"]
    with asking(Access()):
        assert (served.db.query("select 1 from projects"), served.folded(there)) == ([], None)


def test_a_private_record_is_its_owners_even_in_a_shared_project(owner: Store, served: Store, told: Told) -> None:
    own = keep(served, ANNA, told(ANNA, "a private walrus", visibility="private"))
    for _ in ("as it was", "made anew"):
        seen = seen_by(served, "walrus", own)
        assert seen == {"anna": ["walrus", own], "ben": [], "carla": [], "root": [], "nobody": []}
        owner.rebuild()


def test_words_are_found_through_the_same_rule(served: Store, told: Told) -> None:
    keep(served, ANNA, told(ANNA, "a team walrus"))
    keep(served, ANNA, told(ANNA, "a private walrus", visibility="private"))
    with asking(ANNA):
        place = span(served.project_number(SHOP))
        assert len(words.holders(served.db, ["walrus"], [place])["walrus"]) == 2
    with asking(BEN):
        assert len(words.holders(served.db, ["walrus"], [place])["walrus"]) == 1
        assert words.counts(served.db, {place: ["walrus"]}) == {place: {"walrus": 1}}
    with asking(CARLA):
        assert words.holders(served.db, ["walrus"], [place]) == {"walrus": []}
        assert words.newest_holders(served.db, [["walrus"]], place, 9) == [[]]


def test_writing_elsewhere_as_another_or_with_a_key_to_read_is_refused(served: Store, told: Told) -> None:
    mine = keep(served, ANNA, told(ANNA, "the shop sells zebras"))
    hers = keep(served, CARLA, told(CARLA, "the bank lends yachts", BANK))
    for who, event in (
        (ANNA, told(ANNA, "in another project", BANK)),
        (ANNA, told(ANNA, "for all projects", "")),
        (ANNA, told(BEN, "as another")),
        (READER, told(ANNA, "with a key to read")),
        (ANNA, about(told(ANNA, ""), hers, "retired")),
        (Access(), told(Access(), "as nobody")),
    ):
        with asking(who), pytest.raises(Forbidden):
            served.commit([event])
    assert "the bank lends" in rows_of(served, CARLA)["records"]
    assert mine in rows_of(served, BEN)["events"]
    assert "another" not in "".join(rows_of(served, ROOT).values())
    keep(served, ROOT, told(ROOT, "for all projects", ""))
    assert "for all projects" in rows_of(served, ANNA)["records"]


def test_a_session_is_changed_by_its_user_and_by_an_admin_only(served: Store, told: Told) -> None:
    def of(who: Access, verb: Verb, **data: str) -> Event:
        return about(told(who, ""), "s-ben", verb, project=SHOP, **data)

    keep(served, BEN, of(BEN, "started"))
    for event in (of(ANNA, "started", title="taken over"), of(ANNA, "closed", title="ended"), of(ANNA, "surfaced")):
        with asking(ANNA):
            refused(Forbidden, served.commit, [event])
    with asking(replace(BEN, role="read")):
        refused(Forbidden, served.commit, [of(BEN, "surfaced")])
    mine = ["s-ben"]
    seen = seen_by(served, "s-ben", "taken over")
    assert seen == {"anna": mine, "ben": mine, "carla": [], "root": mine, "nobody": []}
    keep(served, ROOT, of(ROOT, "closed", title="ended by root"))
    assert "ended by root" in rows_of(served, BEN)["sessions"]


def test_a_server_can_neither_read_keys_nor_make_tables_nor_pass_by_the_policies(served: Store) -> None:
    with asking(ROOT):
        for sql in ("select * from keys", "select * from users", "create table extra (a text)", "truncate events"):
            refused(StoreError, served.db.execute, sql, says="does not let us")
    rows = served.db.query("select rolsuper, rolbypassrls, rolcanlogin from pg_roles where rolname = current_user")
    assert [list(row) for row in rows] == [[False, False, False]]


def test_the_journal_can_neither_be_deleted_nor_rewritten(served: Store, told: Told) -> None:
    mine = keep(served, ANNA, told(ANNA, "the shop sells zebras"))
    with asking(ANNA):
        for sql in ("delete from events", "update events set name = 'ben'", "update events set verb = 'erased'"):
            refused(StoreError, served.db.execute, sql, says="does not let us")
        assert served.db.execute("update events set data = '{}'") == 0
    assert "zebras" in rows_of(served, ANNA)["events"]
    keep(served, ANNA, about(told(ANNA, ""), mine, "erased"))
    assert "zebras" not in "".join(rows_of(served, ROOT).values())


def test_nobody_makes_the_private_record_of_another_their_own(served: Store, owner: Store, told: Told) -> None:
    keep(served, ANNA, told(ANNA, "a private walrus", visibility="private"))
    (row,) = owner.db.query("select number from privates")
    with asking(CARLA):  # she has another project
        assert served.db.query("select * from privates") == []
    with asking(BEN):
        assert served.db.execute("update privates set owner = 'ben'") == 0
        assert served.db.execute("delete from privates") == 0
        insert = "insert into privates (number, owner) values (:n, 'anna')"
        refused(Forbidden, served.db.execute, insert, {"n": int(row[0]) + 1})
    assert seen_by(served, "walrus")["ben"] == []


def test_a_key_to_read_changes_no_row_of_any_table_in_sql(served: Store, owner: Store, told: Told) -> None:
    keep(served, ANNA, told(ANNA, "the shop sells zebras"))
    keep(served, BEN, told(BEN, "a private walrus", visibility="private"))
    before = rows_of(owner, ROOT)
    with asking(replace(READER, projects=(SHOP, "*"))):
        for table in (*VISIBLE, *OPEN):
            (column, *_), *_ = owner.db.query(_COLUMN, {"name": table})
            for sql in (f"delete from {table}", f"update {table} set {column} = {column}"):
                try:
                    assert served.db.execute(sql) == 0, sql
                except StoreError as problem:
                    assert "does not let us" in str(problem), sql  # noqa: PT017  either outcome is a refusal
            says = r"may not do this|does not let us"
            refused((Forbidden, StoreError), served.db.execute, f"insert into {table} default values", says=says)
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
        assert served.db.query("select holdfast_unknown(:id)", {"id": hers})[0][0] is False
        for table in ("entries", "sessions", "privates", "projects"):
            served.db.execute(f"drop table pg_temp.{table}")
    with asking(ANNA):
        refused(Forbidden, served.commit, [about(told(ANNA, ""), hers, "retired")])


def test_a_table_nobody_decided_about_is_not_served(owner: Store) -> None:
    owner.db.script("create table extra (a text);\n")
    refused(StoreError, protect, owner.db, says="who may see extra")

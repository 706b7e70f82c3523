"""Row-level security on a real PostgreSQL: whoever asks sees their projects and nobody's private records, whatever the query."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from holdfast.engine.postgres.database import Postgres
from holdfast.engine.postgres.row_security import MEMBER, OPEN, VISIBLE, protect
from holdfast.engine.store import Store, open_store
from holdfast.engine.views import words
from holdfast.engine.views.records import span
from holdfast.model.errors import Forbidden, StoreError
from holdfast.model.event import Access, Actor, Event, Verb, asking
from holdfast.model.ids import Clock
from tests import engines
from tests.rows import refused

SHOP, BANK = "example.org/acme/shop", "example.org/acme/bank"
ANNA = Access(user="anna", role="write", projects=(SHOP,))
BEN = Access(user="ben", role="write", projects=(SHOP,))
CARLA = Access(user="carla", role="write", projects=(BANK,))
ROOT = Access(user="root", role="admin", projects=("*",))
READER = Access(user="anna", role="read", projects=(SHOP,))
NOBODY = Access()


@dataclass(frozen=True)
class Team:
    """A store behind the policies, as its owner and as its server has it."""

    owner: Store
    served: Store
    clock: Clock

    def told(self, who: Access, body: str, project: str = SHOP, **given: Any) -> Event:
        """Give the event of a new record; with `about` and `verb`, one about something else."""
        made = self.clock.tick()
        by = Actor(kind="agent", name=who.user, session=f"of-{who.user}")
        about, verb = given.pop("about", made), given.pop("verb", "recorded")
        new = {"body": body, "title": body, "project": project, "visibility": "team"} if verb == "recorded" else {}
        return Event(id=made, about=about, verb=verb, at=self.clock.now(), by=by, data=new | given)

    def commit(self, who: Access, event: Event) -> str:
        with asking(who):
            self.served.commit([event])
        return event.about

    def keep(self, who: Access, body: str, project: str = SHOP, **given: Any) -> str:
        return self.commit(who, self.told(who, body, project, **given))

    def turn_away(self, who: Access, event: Event) -> None:
        refused(Forbidden, self.commit, who, event)

    def rows(self, who: Access, store: Store | None = None) -> dict[str, str]:
        """Give every row of every table that somebody can read, as text."""
        db, sql = (store or self.served).db, "select cast(one as text) from {} as one"
        with asking(who):
            return {table: "\n".join(str(row[0]) for row in db.query(sql.format(table))) for table in VISIBLE}

    def seen(self, *texts: str) -> dict[str, list[str]]:
        """Give which of some texts each user finds in any table."""
        users = {who.user or "nobody": "".join(self.rows(who).values()) for who in (ANNA, BEN, CARLA, ROOT, NOBODY)}
        return {user: [text for text in texts if text in rows] for user, rows in users.items()}


@pytest.fixture
def team(tmp_path: Path, clock: Clock) -> Iterator[Team]:
    url = engines.schema(str(tmp_path))
    with closing(open_store(Postgres(url))) as owner:
        protect(owner.db)
        assert not owner.db.guarded
        with closing(Store(Postgres(url, role=MEMBER))) as served:
            yield Team(owner, served, clock)


def test_items_of_a_project_are_for_those_who_may_read_the_project(team: Team) -> None:
    item = team.keep(ANNA, "zebras in stock", kind="item")
    assert team.seen(item) == {"anna": [item], "ben": [item], "carla": [], "root": [item], "nobody": []}
    with asking(CARLA):
        assert (team.served.homes(SHOP), team.served.projects()) == ((-1,), {"": 0})


def test_a_table_shows_only_the_rows_of_ones_own_projects(team: Team) -> None:
    team.keep(ANNA, "the shop sells zebras")
    there = team.keep(CARLA, "the bank lends yachts", BANK)
    shop, bank = ["zebras"], ["yachts", there, BANK]
    seen = team.seen(*shop, *bank)
    assert seen == {"anna": shop, "ben": shop, "carla": bank, "root": [*shop, *bank], "nobody": []}
    assert [table for table, rows in team.rows(ANNA).items() if "zebras" in rows] == ["events", "records"]
    with asking(NOBODY):
        assert (team.served.db.query("select 1 from projects"), team.served.folded(there)) == ([], None)


def test_a_private_record_is_its_owners_even_in_a_shared_project(team: Team) -> None:
    own = team.keep(ANNA, "a private walrus", visibility="private")
    for _ in ("as it was", "made anew"):
        seen = team.seen("walrus", own)
        assert seen == {"anna": ["walrus", own], "ben": [], "carla": [], "root": [], "nobody": []}
        team.owner.rebuild()


def test_words_are_found_through_the_same_rule(team: Team) -> None:
    team.keep(ANNA, "a team walrus")
    team.keep(ANNA, "a private walrus", visibility="private")
    db = team.served.db
    with asking(ANNA):
        place = span(team.served.project_number(SHOP))
    for who, found in ((ANNA, 2), (BEN, 1), (CARLA, 0)):
        with asking(who):
            assert len(words.holders(db, ["walrus"], [place])["walrus"]) == found
            assert words.counts(db, {place: ["walrus"]}) == {place: {"walrus": found}}
            assert len(words.newest_holders(db, [["walrus"]], place, 9)[0]) == found


def test_writing_elsewhere_as_another_or_with_a_key_to_read_is_refused(team: Team) -> None:
    mine = team.keep(ANNA, "the shop sells zebras")
    hers = team.keep(CARLA, "the bank lends yachts", BANK)
    team.turn_away(ANNA, team.told(ANNA, "in another project", BANK))
    team.turn_away(ANNA, team.told(ANNA, "for all projects", ""))
    team.turn_away(ANNA, team.told(BEN, "as another"))
    team.turn_away(READER, team.told(ANNA, "with a key to read"))
    team.turn_away(ANNA, team.told(ANNA, "", about=hers, verb="retired"))
    team.turn_away(NOBODY, team.told(NOBODY, "as nobody"))
    assert "the bank lends" in team.rows(CARLA)["records"]
    assert mine in team.rows(BEN)["events"]
    assert "another" not in "".join(team.rows(ROOT).values())
    team.keep(ROOT, "for all projects", "")
    assert "for all projects" in team.rows(ANNA)["records"]


def test_a_session_is_changed_by_its_user_and_by_an_admin_only(team: Team) -> None:
    def of(who: Access, verb: Verb, **data: str) -> Event:
        return replace(team.told(who, "", about="s-ben", verb=verb), data={"project": SHOP, **data})

    team.commit(BEN, of(BEN, "started"))
    for event in (of(ANNA, "started", title="taken over"), of(ANNA, "closed", title="ended"), of(ANNA, "surfaced")):
        team.turn_away(ANNA, event)
    team.turn_away(replace(BEN, role="read"), of(BEN, "surfaced"))
    mine = ["s-ben"]
    seen = team.seen("s-ben", "taken over")
    assert seen == {"anna": mine, "ben": mine, "carla": [], "root": mine, "nobody": []}
    team.commit(ROOT, of(ROOT, "closed", title="ended by root"))
    assert "ended by root" in team.rows(BEN)["sessions"]


def test_a_server_can_neither_read_keys_nor_make_tables_nor_pass_by_the_policies(team: Team) -> None:
    db = team.served.db
    with asking(ROOT):
        for sql in ("select * from keys", "select * from users", "create table extra (a text)", "truncate events"):
            refused(StoreError, db.execute, sql, says="does not let us")
    rows = db.query("select rolsuper, rolbypassrls, rolcanlogin from pg_roles where rolname = current_user")
    assert [list(row) for row in rows] == [[False, False, False]]


def test_the_journal_can_neither_be_deleted_nor_rewritten(team: Team) -> None:
    mine, db = team.keep(ANNA, "the shop sells zebras"), team.served.db
    with asking(ANNA):
        for sql in ("delete from events", "update events set name = 'ben'", "update events set verb = 'erased'"):
            refused(StoreError, db.execute, sql, says="does not let us")
        assert db.execute("update events set data = '{}'") == 0
    assert "zebras" in team.rows(ANNA)["events"]
    team.keep(ANNA, "", about=mine, verb="erased")
    assert "zebras" not in "".join(team.rows(ROOT).values())


def test_nobody_makes_the_private_record_of_another_their_own(team: Team) -> None:
    team.keep(ANNA, "a private walrus", visibility="private")
    (row,) = team.owner.db.query("select number from privates")
    db, insert = team.served.db, "insert into privates (number, owner) values (:n, 'anna')"
    with asking(CARLA):  # she has another project
        assert db.query("select * from privates") == []
    with asking(BEN):
        assert (db.execute("update privates set owner = 'ben'"), db.execute("delete from privates")) == (0, 0)
        refused(Forbidden, db.execute, insert, {"n": int(row[0]) + 1})
    assert team.seen("walrus")["ben"] == []


_COLUMN = """
select column_name from information_schema.columns
where table_schema = current_schema() and table_name = :name order by ordinal_position
"""


def test_a_key_to_read_changes_no_row_of_any_table_in_sql(team: Team) -> None:
    team.keep(ANNA, "the shop sells zebras")
    team.keep(BEN, "a private walrus", visibility="private")
    before, db = team.rows(ROOT, team.owner), team.served.db
    with asking(replace(READER, projects=(SHOP, "*"))):
        for table in (*VISIBLE, *OPEN):
            (column, *_), *_ = team.owner.db.query(_COLUMN, {"name": table})
            for sql in (f"delete from {table}", f"update {table} set {column} = {column}"):
                try:
                    assert db.execute(sql) == 0, sql
                except StoreError as problem:
                    assert "does not let us" in str(problem), sql  # noqa: PT017  either outcome is a refusal
            says = r"may not do this|does not let us"
            refused((Forbidden, StoreError), db.execute, f"insert into {table} default values", says=says)
    assert team.rows(ROOT, team.owner) == before


def test_temporary_tables_do_not_stand_in_for_ours(team: Team) -> None:
    hers = team.keep(CARLA, "the bank lends yachts", BANK)
    team.keep(BEN, "a private walrus", visibility="private")
    db, tables = team.served.db, ("entries", "sessions", "privates", "projects")
    with asking(ANNA), db.transaction():
        for table in tables:
            db.execute(f"create temporary table {table} (id text, number bigint, owner text, name text)")
        assert not db.query("select holdfast_found(to_tsquery('simple', 'walrus'))")
        assert db.query("select holdfast_unknown(:id)", {"id": hers})[0][0] is False
        for table in tables:
            db.execute(f"drop table pg_temp.{table}")
    team.turn_away(ANNA, team.told(ANNA, "", about=hers, verb="retired"))


def test_a_table_nobody_decided_about_is_not_served(team: Team) -> None:
    team.owner.db.script("create table extra (a text);\n")
    refused(StoreError, protect, team.owner.db, says="who may see extra")

"""Row-level security in PostgreSQL: what a user of a server may see and write is decided by the database, not by our queries.

A server's requests run as the role `holdfast_member`, which owns nothing and may not pass by the policies made here. They look
at three variables of the session that `Postgres` sets from who asks: holdfast.user, holdfast.role and holdfast.projects.
A table that was made anew has neither grants nor policies, so until `protect` ran again a server can read nothing of it.
"""

from hashlib import blake2b

from holdfast.engine.database import Database
from holdfast.engine.postgres.roles import KEEPER, MEMBER
from holdfast.engine.raw import transcript_words
from holdfast.engine.views.records import AUTHORS
from holdfast.model.errors import Invalid, StoreError

# What everybody may see: counters and settings of the store, and numbers that name nobody.
OPEN = {"settings": "select", "views": "select"}
_COUNTING = ("tallies", "heat_counts")
_HIDDEN = ("users", "keys")
_WRITES = "holdfast_role() in ('write', 'admin')"
_HERE = "(select number from projects)"  # through its own policy: the projects of who asks
# Looked up for each row in the key's index: asked whether one exists, PostgreSQL would often read all that is private first.
_SEEN = f"""
{{number}} >> 32 in {_HERE}
and coalesce((select owner from privates where privates.number = {{number}}), holdfast_user()) = holdfast_user()
"""
# The nearest vectors of a project are found by reading all of them, so what is others' own is read once instead.
_SEARCHED = f"""
{{number}} >> 32 in {_HERE}
and {{number}} not in (
    select privates.number from privates where privates.number >> 32 in {_HERE} and privates.owner <> holdfast_user()
)
"""
_OF_RECORD = "exists (select 1 from entries where entries.id = {table}.{column})"
_OF_SESSION = "exists (select 1 from sessions where sessions.id = {table}.session)"
_OWN_SESSION = """
exists (
    select 1 from sessions where sessions.id = {table}.session and cast(sessions.doc as json) ->> 'agent' = holdfast_user()
)
"""
_AGENT = "cast(sessions.doc as json) ->> 'agent' = holdfast_user()"
_SESSIONS = f"""
holdfast_user() <> '' and (project = any (holdfast_projects()) or holdfast_everywhere())
and (coalesce(cast(sessions.doc as json) ->> 'private', '') <> 'true' or {_AGENT})
"""
_ABOUT = """
exists (select 1 from entries where entries.id = events.about)
or exists (select 1 from sessions where sessions.id = events.about)
or (name = holdfast_user() and holdfast_unknown(about))
"""
_OWN_OR_ADMIN = f"({_AGENT} or holdfast_role() = 'admin')"
# A session is its user's own; records of all projects take a key for all of them, except to say how they were used.
_MAY_TELL = f"""
name = holdfast_user() and (
    holdfast_unknown(about) or exists (select 1 from sessions where sessions.id = events.about and {_OWN_OR_ADMIN})
    or exists (
        select 1 from entries where entries.id = events.about
        and (entries.number >> 32 <> 0 or holdfast_everywhere() or verb in ('used', 'touched', 'trusted', 'heated'))
    )
)
"""
_MAY_PLACE = "{number} >> 32 <> 0 or holdfast_everywhere()"

# What may be seen of each table; inserts and changes must leave rows that may be seen, too.
VISIBLE: dict[str, str] = {
    "projects": "holdfast_user() <> '' and (name = '' or holdfast_everywhere() or name = any (holdfast_projects()))",
    "events": _ABOUT,
    **{name: _SEEN.format(number=f"{name}.number") for name in ("entries", "records", "labels")},
    "vectors": _SEARCHED.format(number="vectors.number"),
    "words": _SEEN.format(number="abs(words.rowid)"),
    "privates": "true",  # numbers and owners only; the policies of the others must see all of it
    "links": _OF_RECORD.format(table="links", column="source"),
    **{name: _OF_RECORD.format(table=name, column="id") for name in ("heat", "touches", "trusts", "usage", "uses")},
    "shown": f"{_OF_RECORD.format(table='shown', column='id')} and {_OF_SESSION.format(table='shown')}",
    "steps": f"{_OF_RECORD.format(table='steps', column='source')} and {_OF_RECORD.format(table='steps', column='target')}",
    "last_steps": _OF_SESSION.format(table="last_steps"),
    "costs": _OF_SESSION.format(table="costs"),
    "sessions": _SESSIONS,
    "transcripts": _OWN_SESSION.format(table="transcripts"),
    "chunks": _OWN_SESSION.format(table="chunks"),
    "chunk_words": "exists (select 1 from chunks where chunks.number = chunk_words.rowid)",
    "trail": _OWN_SESSION.format(table="trail"),
    # Raw material is its user's own, and so is what was mined from it until it is kept as a record.
    "outputs": _OWN_SESSION.format(table="outputs"),
    "sightings": _OWN_SESSION.format(table="sightings"),
    "patterns": "exists (select 1 from sightings where sightings.pattern = patterns.id)",
    "mining": f"project in {_HERE}",
    "failures": "holdfast_role() = 'admin' and holdfast_everywhere()",
    "unembedded": "false",  # a queue that requests only add to: vectors are made by the server itself
    **dict.fromkeys(_COUNTING, "holdfast_user() <> ''"),
    "counters": "true",
}
# What a new row needs besides a key that may write.
ADDED: dict[str, str] = {
    "projects": "name <> ''",
    "events": _MAY_TELL,
    "entries": _MAY_PLACE.format(number="number"),
    "records": _MAY_PLACE.format(number="number"),
    "privates": "owner = holdfast_user()",
}
# What a row needs besides to be changed or taken away: the journal is only ever scrubbed, where a record was erased.
CHANGED: dict[str, str] = {
    "events": "holdfast_erased(about)",
    "privates": "owner = holdfast_user()",
    "sessions": _OWN_OR_ADMIN,
}
# What the role of servers may do at all, where that is not everything.
GRANTED: dict[str, str] = {"events": "select, insert, update (data, checksum)", "counters": "select, update"}
# Rows that may be added by who cannot see them.
_UNSEEN = {"unembedded": _SEEN.format(number="unembedded.number"), "failures": "holdfast_user() <> ''"}

# What a server does by itself, where it does not own the tables: look at keys, and make vectors.
KEPT: dict[str, str] = {
    "users": "select",
    "keys": "select, update",
    "settings": "select, insert, update",
    "views": "select",
    "counters": "select, update",
    "projects": "select",
    "entries": "select",
    "records": "select",
    "vectors": "select, insert, update, delete",
    "unembedded": "select, delete",
    "tallies": "select, insert, update",
    "failures": "select, insert, update",
    "events": "select (seq, id)",
    "trail": "select (id)",
}

_ROLE = """
do $$ begin
    if not exists (select 1 from pg_roles where rolname = '{role}') then create role {role} nologin; end if;
    exception when duplicate_object or unique_violation then null;
end $$
"""
# Tables in the functions are those of the schema, never temporary ones of whoever asks: `pg_temp` is searched first unless it is named.
_FUNCTIONS = r"""
create or replace function holdfast_user() returns text stable language sql
as $$ select coalesce(current_setting('holdfast.user', true), '') $$;
create or replace function holdfast_role() returns text stable language sql
as $$ select coalesce(current_setting('holdfast.role', true), '') $$;
create or replace function holdfast_projects() returns text[] stable language sql
as $$ select string_to_array(current_setting('holdfast.projects', true), E'\n') $$;
create or replace function holdfast_everywhere() returns boolean stable language sql
as $$ select holdfast_user() <> '' and coalesce('*' = any (holdfast_projects()), false) $$;
create or replace function holdfast_unknown(told text) returns boolean stable security definer language sql
set search_path to {schema}, pg_temp
as $$ select not exists (select 1 from entries where id = told) and not exists (select 1 from sessions where id = told) $$;
create or replace function holdfast_erased(told text) returns boolean stable security definer language sql
set search_path to {schema}, pg_temp
as $$ select exists (select 1 from events where about = told and verb = 'erased') $$;
create or replace function holdfast_authors() returns setof text stable security definer language sql
set search_path to {schema}, pg_temp
as $$ select author from ({authors}) as everybody where holdfast_user() <> '' $$;
create or replace function holdfast_found(wanted tsquery) returns setof bigint stable security definer language sql
set search_path to {schema}, pg_temp
as $$ select rowid from words where lexemes @@ wanted and abs(rowid) >> 32 in (
    select number from projects where {projects}
) and not exists (select 1 from privates where number = abs(words.rowid) and owner <> holdfast_user()) $$;
"""


def protect(db: Database) -> None:
    """Let the role of servers in and put every table behind its policy; done again it changes nothing."""
    with db.transaction():
        transcript_words.create(db)
        tables = {str(row[0]) for row in db.query(_TABLES)}
        known = {*VISIBLE, *OPEN, *_HIDDEN}
        if tables != known:
            raise StoreError(f"Nobody decided who may see {', '.join(sorted(tables ^ known))}.")
        for role in (MEMBER, KEEPER):
            db.execute(_ROLE.format(role=role))
        for statement in (_MEMBERSHIP, f"grant usage on schema {_schema(db)} to {MEMBER}, {KEEPER}"):
            db.execute(statement)
        for function in (
            _FUNCTIONS.replace("{projects}", VISIBLE["projects"])
            .replace("{authors}", AUTHORS)
            .replace("{schema}", _schema(db))
            .split(";\n")
        ):
            if function.strip():
                db.execute(function)
        for table in sorted(tables):
            db.script(f"revoke all on {table} from {MEMBER}, {KEEPER};\n{_policies(table)}{_keeping(table)}")
        db.execute(_NOTE, {"value": _digest()})


def is_protected(db: Database) -> bool:
    """True if the tables are behind row policies."""
    return bool(db.query("select 1 from settings where name = 'protected'"))


def owns(db: Database) -> bool:
    """Tell whether we may do everything to the tables here; where there are none yet, we would make them."""
    rows = db.query(
        "select pg_has_role(current_user, relowner, 'usage') from pg_class where oid = to_regclass('events')"
    )
    return not rows or bool(rows[0][0])


def check_protected(db: Database) -> None:
    """Refuse to serve from tables that are not ours and not behind the policies of this version."""
    rows = db.query("select value from settings where name = 'protected'")
    if not rows or rows[0][0] != _digest():
        raise StoreError(
            "The policies of the database are not those of this version.",
            hint="As the owner of the tables run `holdfast migrate --grant ROLE`.",
        )


def let_serve(db: Database, login: str) -> None:
    """Let a login role run servers: it may become the two roles and is nothing by itself, so its own queries find nothing."""
    rows = db.query(_LOGIN, {"login": login})
    if not rows:
        raise Invalid(f"There is no role {login}.", hint=f"create role {login} login password '…'")
    if rows[0][0]:
        raise Invalid(
            f"{login} may pass by every policy.", hint="Take another: nosuperuser, nobypassrls, no tables of its own."
        )
    name = '"' + login.replace('"', '""') + '"'
    kept = " with inherit false, set true" if int(rows[0][1]) >= 160_000 else ""
    alone = "" if kept else f"alter role {name} noinherit;\n"
    db.script(f"{alone}grant {MEMBER}, {KEEPER} to {name}{kept};\ngrant usage on schema {_schema(db)} to {name};\n")


_TABLES = "select tablename from pg_tables where schemaname = current_schema()"
_NOTE = """
insert into settings (name, value) values ('protected', :value) on conflict (name) do update set value = excluded.value
"""
_LOGIN = """
select rolsuper or rolbypassrls or exists (
    select 1 from pg_class where oid = to_regclass('events') and pg_has_role(pg_roles.oid, relowner, 'member')
), current_setting('server_version_num') from pg_roles where rolname = :login
"""
# Whoever makes a role may give it to themselves; a superuser needs no membership to become anybody.
_MEMBERSHIP = f"""
do $$ begin
    if not pg_has_role(current_user, '{MEMBER}', 'set') then execute format('grant {MEMBER} to %I', current_user); end if;
end $$
"""


def _digest() -> str:
    """Give what changes with the policies."""
    told = "".join(_policies(table) + _keeping(table) for table in sorted({*VISIBLE, *OPEN, *_HIDDEN})) + _FUNCTIONS
    return blake2b(told.encode(), digest_size=8).hexdigest()


def _keeping(table: str) -> str:
    """Let a server that does not own the tables do its own work."""
    if table not in KEPT:
        return ""
    parts = [f"grant {KEPT[table]} on {table} to {KEEPER}"]
    if table in VISIBLE:
        parts.append(f"drop policy if exists keeper on {table}")
        parts.append(f"create policy keeper on {table} to {KEEPER} using (true) with check (true)")
    return "".join(f"{part};\n" for part in parts)


def _schema(db: Database) -> str:
    return f'"{db.query("select current_schema()")[0][0]}"'


def _policies(table: str) -> str:
    if table in _HIDDEN:
        return ""
    if table in OPEN:
        return f"grant {OPEN[table]} on {table} to {MEMBER};\n"
    seen = VISIBLE[table]
    added = f"({_UNSEEN.get(table, seen)}) and ({ADDED.get(table, 'true')}) and {_WRITES}"
    changed = f"({seen}) and ({CHANGED.get(table, 'true')}) and {_WRITES}"
    parts = [
        f"grant {GRANTED.get(table, 'select, insert, update, delete')} on {table} to {MEMBER}",
        f"alter table {table} enable row level security",
    ]
    for verb, rule in (
        ("select", f"using ({seen})"),
        ("insert", f"with check ({added})"),
        ("update", f"using ({changed}) with check ({changed})"),
        ("delete", f"using ({changed})"),
    ):
        parts.append(f"drop policy if exists member_{verb} on {table}")
        parts.append(f"create policy member_{verb} on {table} for {verb} to {MEMBER} {rule}")
    return "".join(f"{part};\n" for part in parts)

"""Row-level security in PostgreSQL: the database, not our queries, decides what a user of a server may read and write.

A server's requests run as the role `holdfast_member`, which owns nothing and cannot bypass the policies created here.
The policies read three session variables that `Postgres` sets for the requesting user: holdfast.user, holdfast.role and
holdfast.projects. A recreated table has neither grants nor policies, so a server cannot read it until `protect` has
run again.
"""

from hashlib import blake2b
from pathlib import Path

from holdfast.engine.database import Database, insert, value
from holdfast.engine.raw.transcripts import create_index
from holdfast.engine.views.records import AUTHORS, BESIDE
from holdfast.model.errors import Invalid, StoreError

MEMBER, KEEPER = "holdfast_member", "holdfast_keeper"


# Tables that every user may read: settings, versions and counts, which identify no user.
OPEN = {"settings": "select", "views": "select"}
_COUNTING = ("tallies", "heat_counts")
_HIDDEN = ("users", "keys")
_WRITES = "holdfast_role() in ('write', 'admin')"
_PROJECT = f"split_part(name, chr({ord(BESIDE)}), 1)"  # records of a separate kind belong to their project
_HERE = "(select number from projects)"  # filtered by its own policy: the projects of the requesting user
# A scalar subquery, looked up by key for each row: with `exists`, PostgreSQL often reads all of `privates` first.
_SEEN = f"""
{{number}} >> 32 in {_HERE}
and coalesce((select owner from privates where privates.number = {{number}}), holdfast_user()) = holdfast_user()
"""
# A vector search reads all vectors of a project, so the private records of other users are read once, not for each row.
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
# Only its user or an admin may write about a session. Global records need a key for all projects, except for their use.
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

# Which rows of each table a user may read. Inserted and updated rows must satisfy this too.
VISIBLE: dict[str, str] = {
    "projects": f"holdfast_user() <> '' and (name = '' or holdfast_everywhere() or {_PROJECT} = any (holdfast_projects()))",
    "events": _ABOUT,
    **{name: _SEEN.format(number=f"{name}.number") for name in ("entries", "records", "labels")},
    "vectors": _SEARCHED.format(number="vectors.number"),
    "token_vectors": _SEEN.format(number="token_vectors.number"),
    "words": _SEEN.format(number="abs(words.rowid)"),
    # Only numbers and owners. The policies of other tables need every row of the projects they let through, and no others.
    "privates": f"privates.number >> 32 in {_HERE}",
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
    # Raw data is private to its user, and so are the patterns mined from it until they are stored as records.
    "outputs": _OWN_SESSION.format(table="outputs"),
    "sightings": _OWN_SESSION.format(table="sightings"),
    "patterns": "exists (select 1 from sightings where sightings.pattern = patterns.id)",
    "mining": f"project in {_HERE}",
    "failures": "holdfast_role() = 'admin' and holdfast_everywhere()",
    "unembedded": "false",  # a queue that requests only add to; the server itself computes the vectors
    **dict.fromkeys(_COUNTING, "holdfast_user() <> ''"),
    "counters": "true",
}
# Further conditions for inserting a row, besides a key that may write.
ADDED: dict[str, str] = {
    "projects": "name <> ''",
    "events": _MAY_TELL,
    "entries": _MAY_PLACE.format(number="number"),
    "records": _MAY_PLACE.format(number="number"),
    "privates": "owner = holdfast_user()",
}
# Further conditions for updating or deleting a row. Events are only scrubbed, and only those of erased records.
CHANGED: dict[str, str] = {
    "events": "holdfast_erased(about)",
    "privates": "owner = holdfast_user()",
    "sessions": _OWN_OR_ADMIN,
}
# Grants of the member role on tables where it may not do everything.
GRANTED: dict[str, str] = {"events": "select, insert, update (data, checksum)", "counters": "select, update"}
# Tables that users may add rows to without being able to read them.
_UNSEEN = {"unembedded": _SEEN.format(number="unembedded.number"), "failures": "holdfast_user() <> ''"}

# Grants for the work of a server that does not own the tables: check keys and compute vectors.
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
    "token_vectors": "select, insert, update, delete",
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
# In them, `pg_temp` is named last in the search path: unnamed it comes first, and temporary tables of a user could shadow ours.
_FUNCTIONS = "\n" + (Path(__file__).parent / "functions.sql").read_text(encoding="utf-8")


def protect(db: Database) -> None:
    """Create the roles, grants and row policies of every table. Idempotent."""
    with db.transaction():
        create_index(db)
        tables = {str(row[0]) for row in db.query(_TABLES)}
        known = {*VISIBLE, *OPEN, *_HIDDEN}
        if tables != known:
            raise StoreError(f"No policy says who may see {', '.join(sorted(tables ^ known))}.")
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
        insert(db, "settings", [{"name": "protected", "value": _digest()}], replacing="name")


def is_protected(db: Database) -> bool:
    """True if `protect` has run on this database."""
    return bool(_noted_digest(db))


def owns(db: Database) -> bool:
    """True if the current role owns the tables, or there are none yet, so that it would create them."""
    sql = "select pg_has_role(current_user, relowner, 'usage') from pg_class where oid = to_regclass('events')"
    return bool(value(db, sql, default=True))


def check_protected(db: Database) -> None:
    """Raise StoreError if the row policies of the database are missing or of another version."""
    if _noted_digest(db) != _digest():
        raise StoreError(
            "The policies of the database are not those of this version.",
            hint="As the owner of the tables run `holdfast store migrate --grant ROLE`.",
        )


def _noted_digest(db: Database) -> str:
    return str(value(db, "select value from settings where name = 'protected'", default=""))


def let_serve(db: Database, login: str) -> None:
    """Let a login role run servers: it may switch to the two roles but has no rights of its own."""
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
_LOGIN = """
select rolsuper or rolbypassrls or exists (
    select 1 from pg_class where oid = to_regclass('events') and pg_has_role(pg_roles.oid, relowner, 'member')
), current_setting('server_version_num') from pg_roles where rolname = :login
"""
# The creator of a role may grant it to itself; a superuser can switch to any role without being a member.
_MEMBERSHIP = f"""
do $$ begin
    if not pg_has_role(current_user, '{MEMBER}', 'set') then execute format('grant {MEMBER} to %I', current_user); end if;
end $$
"""


def _digest() -> str:
    """Return a hash that changes whenever the policies, grants or functions change."""
    policies = "".join(_policies(table) + _keeping(table) for table in sorted({*VISIBLE, *OPEN, *_HIDDEN})) + _FUNCTIONS
    return blake2b(policies.encode(), digest_size=8).hexdigest()


def _keeping(table: str) -> str:
    """Return the SQL that grants the keeper role its rights on a table, empty if it has none."""
    if table not in KEPT:
        return ""
    parts = [f"grant {KEPT[table]} on {table} to {KEEPER}"]
    if table in VISIBLE:
        parts.append(f"drop policy if exists keeper on {table}")
        parts.append(f"create policy keeper on {table} to {KEEPER} using (true) with check (true)")
    return "".join(f"{part};\n" for part in parts)


def _schema(db: Database) -> str:
    return f'"{value(db, "select current_schema()")}"'


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

"""Row-level security in PostgreSQL: the database, not our queries, decides what a user of a server may read and write."""
# A server's requests run as the role `holdfast_member`, which owns nothing and cannot bypass the policies created here.
# The policies read three session variables that `Postgres` sets for the requesting user: holdfast.user, holdfast.role
# and holdfast.projects. A recreated table has neither grants nor policies, so a server cannot read it until `protect`
# has run again.

from hashlib import blake2b
from pathlib import Path

from holdfast.engine.database import Database, Queries, column, insert, value
from holdfast.engine.raw.transcripts import create_index
from holdfast.engine.views.records import SQL
from holdfast.model.errors import Invalid, StoreError
from holdfast.model.patterns import tables

MEMBER, KEEPER = "holdfast_member", "holdfast_keeper"

_TABLES_OF_RULES = tables(__file__)
_RULES: dict[str, str] = {}
for _name, _rule in _TABLES_OF_RULES["rules"]:
    _RULES[_name] = _rule.format(**_RULES, table="{table}")


def _by_table(section: str) -> dict[str, str]:
    rows = [(name, rule) for names, rule in _TABLES_OF_RULES[section] for name in names.split()]
    return {name: rule.format(**_RULES, table="{table}").format(table=name) for name, rule in rows}


VISIBLE, ADDED, CHANGED, UNSEEN = (_by_table(name) for name in ("visible", "added", "changed", "unseen"))
OPEN, HIDDEN, GRANTED, KEPT = (_by_table(name) for name in ("open", "hidden", "granted", "keeper"))
_KNOWN = {*VISIBLE, *OPEN, *HIDDEN}
_WRITES = "holdfast_role() in ('write', 'admin')"
_SQL = Queries(__file__, member=MEMBER)
# In them, `pg_temp` is named last in the search path: unnamed it comes first, and temporary tables of a user could shadow ours.
_FUNCTIONS = "\n" + (Path(__file__).parent / "functions.sql").read_text(encoding="utf-8")


def protect(db: Database) -> None:
    """Create the roles, grants and row policies of every table. Idempotent."""
    with db.transaction():
        create_index(db)
        there = set(column(db, "select tablename from pg_tables where schemaname = current_schema()"))
        if there != _KNOWN:
            raise StoreError(f"No policy says who may see {', '.join(sorted(there ^ _KNOWN))}.")
        schema, functions = value(db, _SQL["schema"]), _FUNCTIONS
        for name, text in {"projects": VISIBLE["projects"], "authors": SQL["authors"], "schema": schema}.items():
            functions = functions.replace(f"{{{name}}}", text)
        roles = (_SQL["role"].format(role=role) for role in (MEMBER, KEEPER))
        rights = (_SQL["membership"], f"grant usage on schema {schema} to {MEMBER}, {KEEPER}")
        for statement in (*roles, *rights, *filter(str.strip, functions.split(";\n"))):
            db.execute(statement)
        for table in sorted(_KNOWN):
            db.script(_policies(table))
        insert(db, "settings", [{"name": "protected", "value": _digest()}], replacing="name")


def noted_digest(db: Database) -> str:
    """Return the hash of the policies that `protect` created here; empty if it never ran."""
    return str(value(db, "select value from settings where name = 'protected'", default=""))


def owns(db: Database) -> bool:
    """True if the current role owns the tables, or there are none yet, so that it would create them."""
    return bool(value(db, _SQL["owns"], default=True))


def check_protected(db: Database) -> None:
    """Raise StoreError if the row policies of the database are missing or of another version."""
    if noted_digest(db) != _digest():
        hint = "As the owner of the tables run `holdfast store migrate --grant ROLE`."
        raise StoreError("The policies of the database are not those of this version.", hint=hint)


def let_serve(db: Database, login: str) -> None:
    """Let a login role run servers: it may switch to the two roles but has no rights of its own."""
    rows = db.query(_SQL["login"], {"login": login})
    if not rows:
        raise Invalid(f"There is no role {login}.", hint=f"create role {login} login password '…'")
    if rows[0][0]:
        hint = "Take another: nosuperuser, nobypassrls, no tables of its own."
        raise Invalid(f"{login} may pass by every policy.", hint=hint)
    name = '"' + login.replace('"', '""') + '"'
    kept = " with inherit false, set true" if int(rows[0][1]) >= 160_000 else ""
    alone, schema = "" if kept else f"alter role {name} noinherit;\n", value(db, _SQL["schema"])
    db.script(f"{alone}grant {MEMBER}, {KEEPER} to {name}{kept};\ngrant usage on schema {schema} to {name};\n")


def _digest() -> str:
    policies = "".join(map(_policies, sorted(_KNOWN))) + _FUNCTIONS
    return blake2b(policies.encode(), digest_size=8).hexdigest()


def _policies(table: str) -> str:
    """Return the SQL that gives the two roles their rights on a table, and no others."""
    parts, rules = [f"revoke all on {table} from {MEMBER}, {KEEPER}"], dict[str, str]()
    if seen := VISIBLE.get(table, ""):
        added = f"({UNSEEN.get(table, seen)}) and ({ADDED.get(table, 'true')}) and {_WRITES}"
        changed = f"({seen}) and ({CHANGED.get(table, 'true')}) and {_WRITES}"
        parts.append(f"alter table {table} enable row level security")
        conditions = {"member": MEMBER, "seen": seen, "added": added, "changed": changed}
        rules = {name: rule.format(**conditions) for name, rule in _TABLES_OF_RULES["policies"]}
    if granted := OPEN.get(table) or (seen and GRANTED.get(table, "select, insert, update, delete")):
        parts.append(f"grant {granted} on {table} to {MEMBER}")
    if table in KEPT:
        parts.append(f"grant {KEPT[table]} on {table} to {KEEPER}")
        rules |= {"keeper": f"to {KEEPER} using (true) with check (true)"} if seen else {}
    for name, rule in rules.items():
        parts += [f"drop policy if exists {name} on {table}", f"create policy {name} on {table} {rule}"]
    return "".join(f"{part};\n" for part in parts)

"""Open a team's database the way its server and its owner need it, and move a store between databases."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from holdfast.compose import database_at, database_of
from holdfast.engine.postgres import row_security
from holdfast.engine.postgres.row_security import KEEPER
from holdfast.engine.postgres.row_security import MEMBER as MEMBER  # noqa: PLC0414  for the server
from holdfast.engine.recovery.copy_store import Moved, move
from holdfast.engine.store import open_store
from holdfast.engine.views.vectors import make_graph
from holdfast.model.config import Config
from holdfast.model.errors import Invalid
from holdfast.verbs.memory import Memory
from holdfast.verbs.sessions.session import plant


def role_of_server(config: Config, home: Path) -> str:
    """Return the role a server works as: its own ("") if it owns the tables, else the one granted to it."""
    with closing(database_of(config, home)) as db:
        return "" if row_security.owns(db) else KEEPER


def protect(memory: Memory, role: str) -> None:
    """Put every table behind its row policies, with all that only the owner can create; another role only checks them."""
    if role:
        row_security.check_protected(memory.store.db)
    else:
        row_security.protect(memory.store.db)
        plant(memory)


def grant(memory: Memory, login: str) -> None:
    """Bring tables and policies up to date, and let a login role run `serve` on tables it does not own."""
    if memory.store.is_embedded:
        raise Invalid("Only PostgreSQL has roles.", hint="Set HOLDFAST_DATABASE=postgresql://…")
    protect(memory, "")
    if memory.embedder is not None:
        make_graph(memory.store.db, memory.embedder.size)
    row_security.let_serve(memory.store.db, login)


def move_store(
    config: Config, home: Path, *, target: str, source: str, progress: Callable[[str, int, int], None]
) -> Moved:
    """Move the store of the settings to `target`, or the one at `source` into it: each a folder or postgresql:// URL."""
    with closing(database_of(config, home)) as own, closing(database_at(target or source)) as other:
        old, new = (own, other) if target else (other, own)
        return move(open_store(old), open_store(new, unfinished=True), progress)

"""A team's store on a real PostgreSQL, as its server holds it: behind the policies, with users, projects and secrets."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from holdfast.compose.settings import Settings, load_settings
from holdfast.engine.postgres.row_security import OPEN, VISIBLE
from holdfast.hosts.server.app import open_members
from holdfast.hosts.server.members import Members, Visit
from holdfast.model.event import Access, Role, asking
from holdfast.surfaces.memory_mcp.memory_types import numbers_of
from holdfast.verbs.memory import Memory
from tests import engines
from tests.hosts.conftest import environment_of
from tests.verbs.scripts import world

SHOP, BANK = "example.org/acme/shop", "example.org/acme/bank"
THERE, OWN, OURS = ("zanzibar", "qxz7431vault"), ("quokka", "qxz9262diary"), ("kiosk", "qxz5150shared")


def settings_of(folder: Path) -> Settings:
    """Give the settings of a store of its own on the server for tests."""
    environment = environment_of(folder) | {"HOLDFAST_DATABASE": engines.schema(str(folder))}
    return load_settings(folder=folder, environment=environment)


@contextmanager
def team(folder: Path) -> Iterator[Members]:
    with open_members(settings_of(folder)) as members:
        yield members


def visit(user: str, *projects: str, role: Role = "write", shares: bool = True) -> Visit:
    return Visit(access=Access(user=user, projects=projects, role=role), key="k", project=projects[0], shares=shares)


@contextmanager
def at_work(members: Members, who: Visit) -> Iterator[Memory]:
    with asking(who.access):
        yield members.call_of(who).memory


ANNA, READER = visit("anna", SHOP), visit("rita", SHOP, role="read")
BEN, CARLA = visit("ben", SHOP, shares=False), visit("carla", BANK)


@contextmanager
def furnished(folder: Path) -> Iterator[tuple[Members, dict[str, dict[str, str]]]]:
    """Give a store with one of everything, and the ids: of another project, private to another user, and shared."""
    with team(folder) as members:
        ids = {}
        for name, who, said in (("there", CARLA, THERE), ("own", BEN, OWN), ("ours", ANNA, OURS)):
            with at_work(members, who) as memory:
                ids[name] = furnish(memory, *said)
        yield members, ids


def everything(members: Members) -> dict[str, list[str]]:
    """Give every row of every table but keys and users, as the owner of the tables sees them."""
    db = members.owner.store.db
    rows = {table: db.query(f"select cast(one as text) from {table} as one") for table in {*VISIBLE, *OPEN}}
    return {table: sorted(str(row[0]) for row in found) for table, found in rows.items()}


def furnish(memory: Memory, word: str, unsaid: str) -> dict[str, str]:
    """Keep one of everything, each with a word to find it by and a text that nobody else may ever see; give the ids."""
    memory, ids = world("a_furnished_store", memory, word=word, unsaid=unsaid)
    numbers = numbers_of(memory, [ids["scar"], ids["fact"]])
    return ids | {f"number {one[:4]}": str(number) for one, number in numbers.items()}

"""A team's store on a real PostgreSQL, as its server holds it: behind the policies, with users, projects and secrets."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from holdfast.compose.settings import Settings, load_settings
from holdfast.engine.postgres.row_security import OPEN, VISIBLE
from holdfast.hosts.server.app import open_members
from holdfast.hosts.server.members import Members, Visit
from holdfast.model.access import Access, Role, asking
from holdfast.model.record import Draft
from holdfast.surfaces.memory_mcp.memory_types import numbers_of
from holdfast.verbs.capture.mining import log_output, mine_outputs
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.hot import promote
from holdfast.verbs.records.lifecycle import link, retire
from holdfast.verbs.records.write import WrittenPending, draft_event, write
from holdfast.verbs.sessions.session import start
from holdfast.verbs.sessions.thread import Opened, open_thread
from holdfast.verbs.sessions.transcript import save_transcript
from tests import engines
from tests.conftest import keep
from tests.hosts.conftest import environment_of
from tests.rows import of_type

SHOP, BANK = "example.org/acme/shop", "example.org/acme/bank"
SCAR = {"severity": "high", "counter_arguments": ["It is only a column.", "There is a backup."]}
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
    memory, opening = start(memory, title=f"{word} migrations {unsaid}")
    session = opening["session"].id
    scar = keep(memory, f"Rehearse {word} migrations on a copy {unsaid}.", kind="scar", fields=SCAR)
    thread = of_type(Opened, open_thread(memory, f"Write the {word} runbook for on-call {unsaid}")).thread.record
    hint = Draft(body=f"Flaky {word} imports {unsaid}", kind="thread", source="mined", extra={"evidence": [session]})
    suggestion = memory.commit([draft_event(memory, hint, pending=True)])[0].record
    save_transcript(memory, f"user: why does the nightly {word} import fail? {unsaid}")
    fact = keep(memory, f"The {word} API listens on port 8080 {unsaid}.", tags=(f"tag-{unsaid}",), scopes=("tools",))
    hot = keep(memory, f"Backups of {word} run every night {unsaid}.")
    promote(memory, hot.id)
    link(memory, fact.id, "relates_to", hot.id)
    log_output(memory, f"We decided to use {word} Valkey instead of Memcached because {unsaid} persists its data.")
    candidate = mine_outputs(memory)["offered"][0]
    decision = keep(memory, f"We chose {word} JWT {unsaid}.", kind="decision", fields={"rationale": f"It is {unsaid}."})
    retired = retire(memory, keep(memory, f"The old {word} API had a SOAP endpoint {unsaid}.").id, f"gone {unsaid}")
    guess = Draft(body=f"The user likes short {word} answers {unsaid}.", kind="preference", source="inferred")
    held = of_type(WrittenPending, write(memory, guess))
    ids = {"session": session, "thread": thread.id, "suggestion": suggestion.id, "candidate": candidate.id}
    ids |= {"scar": scar.id, "fact": fact.id, "hot": hot.id, "decision": decision.id, "retired": retired.id}
    numbers = numbers_of(memory, [scar.id, fact.id])
    return ids | {"pending": held.record.id, **{f"number {one[:4]}": str(number) for one, number in numbers.items()}}

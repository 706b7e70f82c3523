"""A small world, and for every tool of every contract a call that works in it. «scar» and the like are ids of that world."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from holdfast.model.query import Query
from holdfast.model.record import Draft
from holdfast.surfaces.memory_mcp.memory_types import numbers_of
from holdfast.surfaces.tool import Surface
from holdfast.verbs.capture.mining import log_output, mine_outputs
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.hot import promote
from holdfast.verbs.records.lifecycle import link, retire
from holdfast.verbs.records.write import WrittenPending, draft_event, write
from holdfast.verbs.search.recall import recall
from holdfast.verbs.sessions.session import start
from holdfast.verbs.sessions.thread import Opened, open_thread
from holdfast.verbs.sessions.transcript import save_transcript
from tests.conftest import keep

SCAR = {"severity": "high", "counter_arguments": ["It is only a column.", "There is a backup."]}
EVIDENCE = "Ran the migration on a copy of production and compared the row counts."
ANSWERS = dict.fromkeys(
    "what_broke what_took_longer do_differently what_worked wrong_assumption".split(), "Nothing much."
)
EXAMPLES: dict[str, dict[str, dict[str, Any]]] = json.loads(Path(__file__).with_suffix(".json").read_bytes())


def world(memory: Memory) -> dict[str, str]:
    """Fill a memory with one of everything; give the ids."""
    memory, opening = start(memory, title="Migrations")
    session = opening["session"].id
    scar = keep(memory, "Rehearse migrations on a copy.", kind="scar", fields=SCAR)
    recall(memory, Query(text="rehearse migrations"))
    thread = open_thread(memory, "Write the runbook for on-call")
    assert isinstance(thread, Opened)
    draft = Draft(body="Flaky imports keep coming back", kind="thread", source="mined", extra={"evidence": [session]})
    suggestion = memory.commit([draft_event(memory, draft, pending=True)])[0].record
    save_transcript(memory, "user: why does the nightly import fail?")
    one = keep(memory, "The API listens on port 8080.", tags=("database",))
    other = keep(memory, "The worker reads jobs from Redis.", scopes=("tools",))
    hot = keep(memory, "Backups run every night at two.")
    promote(memory, hot.id)
    link(memory, one.id, "relates_to", hot.id)
    log_output(memory, "We decided to use Valkey instead of Memcached because it persists its data.")
    candidate = mine_outputs(memory)["offered"][0]
    (memory.checkout.top() / "notes.md").write_text("# Deploy\n\n- Deploys happen on Fridays only.\n")
    retired = retire(memory, keep(memory, "The old API had a SOAP endpoint.").id, "gone")
    held = write(memory, Draft(body="The user likes short answers.", kind="preference", source="inferred"))
    assert isinstance(held, WrittenPending)
    numbers = numbers_of(memory, [record.id for record in (scar, one, other, hot, candidate)])
    named = {"number": scar, "one": one, "other": other, "hot": hot, "candidate": candidate}
    ids = {"session": session, "scar": scar.id, "thread": thread.thread.record.id, "suggestion": suggestion.id}
    ids |= {"fact": other.id, "retired": retired.id, "pending": f"pending_{held.record.id}"}
    return ids | {name: str(numbers[record.id]) for name, record in named.items()}


def filled(value: Any, ids: dict[str, str]) -> Any:
    """Put the ids of a world into a call; one that it has not is that of its fact."""
    match value:
        case dict():
            return {name: filled(item, ids) for name, item in value.items()}
        case list():
            return [filled(item, ids) for item in value]
        case str() if value.startswith("«"):
            return ids.get(value.strip("«»"), ids["fact"])
    return value


def requests_of(surface: Surface, said: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the requests for every resource and prompt of a surface that say something wherever it can be said."""
    for one in surface.resources.values():
        yield "resources/read", {"uri": re.sub(r"\{\w+\}", lambda _: said, one.uri)}
    for prompt in surface.prompts.values():
        yield "prompts/get", {"name": prompt.name, "arguments": dict.fromkeys(prompt.schema["properties"], said)}

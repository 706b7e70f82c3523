"""A small store for attacks: what an attacker can plant in it, and every output that a model or user reads."""

import io
import json
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from holdfast.compose import open_memory
from holdfast.compose.settings import load_settings
from holdfast.hosts.cli.render import json_text, page
from holdfast.model.event import LOCAL, Actor, Event, Verb, event_to_json
from holdfast.model.ids import Clock
from holdfast.model.query import Query
from holdfast.model.record import Draft, Record, fold_all, record_to_json
from holdfast.policy.admission.admit import Waivers
from holdfast.policy.admission.sharing import with_team
from holdfast.surfaces.bettermemory import tools as bettermemory
from holdfast.surfaces.claude_mem import tools as claude_mem
from holdfast.surfaces.core import tools as core
from holdfast.surfaces.gitmem import tools as gitmem
from holdfast.surfaces.memory_mcp import tools as memory_mcp
from holdfast.surfaces.tool import Call, Surface
from holdfast.verbs.capture.prepare import prepare, write_handover
from holdfast.verbs.exchange.incoming import keep_events, passed
from holdfast.verbs.exchange.jsonl import import_lines
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.quarantine import accept
from holdfast.verbs.records.read import history, hydrate
from holdfast.verbs.records.write import Written, WrittenPending, write
from holdfast.verbs.search.brief import brief
from holdfast.verbs.search.recall import recall
from holdfast.verbs.sessions.opening_brief import brief_of
from holdfast.verbs.sessions.session import start

QUESTION = "how do we deploy the orders service to production"
PROJECT = "example.org/acme/shop"
MALLORY, ADA = "Mallory <mallory@example.net>", "Ada <ada@example.org>"
SCAR = "Never run `git push --force` on the release branch: it lost two days of the orders service in production."
DECISION = "We deploy the orders service to production from the release branch only, after the smoke test."
OTHERS = (
    "The orders service is deployed to production by the pipeline at nine in the morning.",
    "Production credentials of the orders service come from the vault when we deploy.",
    "A deploy of the orders service needs the migration job to have run in production.",
    "Roll back the orders service in production with the previous image tag.",
    "The orders service answers health checks on port 8080 in production after a deploy.",
    "Alerts of the orders service are muted for ten minutes while we deploy to production.",
)


@dataclass
class Stage:
    """A store with a scar, a decision and a few facts, and the attacker's clock and input."""

    folder: Path
    memory: Memory
    scar: Record
    decision: Record
    others: tuple[Record, ...]
    away: Clock = field(default_factory=Clock)  # the attacker's clock
    given: list[Event] = field(default_factory=list)  # every event sent, as a store without checks would keep it
    planted: list[str] = field(default_factory=list)  # every text sent, as a store that only concatenates would have it

    def sent(self, *events: Event, who: str = MALLORY) -> tuple[str, ...]:
        """Receive events from a replica, sent by `who`; return why some were rejected."""
        self.given += events
        self.planted += [text for event in events for text in _said(event)]
        border = passed(
            self.memory, events, with_team(PROJECT), way="notes", carriers=lambda ids: dict.fromkeys(ids, who)
        )
        keep_events(self.memory, [*border.marks, *border.events])
        return tuple(remark.why for remark in border.remarks)

    def record(self, body: str, *, by: Actor | None = None, **data: Any) -> Event:
        """Return the event of a new team memory, made on another machine."""
        name = self.away.tick()
        told = {"kind": "fact", "title": body[:100], "body": body, "visibility": "team", "source": "explicit", **data}
        return Event(
            id=name, about=name, verb="recorded", at=self.away.now(), by=by or Actor(name="Mallory"), data=told
        )

    def act(self, verb: Verb, about: str, **data: Any) -> Event:
        """Return an event about a local memory, made on another machine."""
        return Event(
            id=self.away.tick(), about=about, verb=verb, at=self.away.now(), by=Actor(name="Mallory"), data=data
        )

    def kept(self, body: str, **given: Any) -> Record:
        """Store a memory of the local agent that quotes the attacker's text."""
        self.planted += [str(given.get("title", "")), body]
        draft = Draft(body=body, **given)
        done = write(self.memory, draft, waivers=Waivers(duplicate=True, transient=True, scope=True))
        assert isinstance(done, Written | WrittenPending), done
        return done.record

    def imported(self, *events: Event) -> None:
        """Import an attacker's export file, marked as foreign."""
        self.given += events
        self.planted += [text for event in events for text in _said(event)]
        lines = [json.dumps({"holdfast": "export", "format": 1}), *(_line(event) for event in events)]
        import_lines(self.memory, lines, quarantine_as="import of theirs.jsonl")

    def pushed(self) -> str:
        """Return everything that is injected automatically: the brief, warnings at commands, notes at files."""
        prepare(self.memory, self.folder / "prepared.json")
        return (self.folder / "prepared.json").read_text(encoding="utf-8") + "\n" + brief_of(self.memory).text

    def triggers(self) -> list[dict[str, Any]]:
        """Return the prepared triggers, which warn at commands."""
        prepare(self.memory, self.folder / "prepared.json")
        found = json.loads((self.folder / "prepared.json").read_text(encoding="utf-8"))["triggers"]
        return [one for one in found if isinstance(one, dict)]

    def outputs(self, *ids: str) -> dict[str, str]:
        """Return what every surface, resource, prompt and command prints for the question and these memories."""
        call, memory = Call(open=lambda: self.memory), self.memory
        shown = {name: _called(surface, call, tool, arguments) for name, (surface, tool, arguments) in _ASKED.items()}
        for one in ids:
            shown[f"read {one}"] = _called(core.surface, call, "read", {"ids": [one]})
            shown[f"history {one}"] = _called(core.surface, call, "read", {"ids": [one], "level": "history"})
            shown[f"resource {one}"] = (core.surface.read(call, f"holdfast://record/{one}") or (None, ""))[1]
            shown[f"terminal {one}"] = _printed(page("record", hydrate(memory, one, "full")))
            shown[f"terminal history {one}"] = _printed(page("history", history(memory, one)))
            shown[f"terminal json {one}"] = _printed(lambda one=one: print(json_text(record_to_json(hydrate(memory, one, "full").record))))  # fmt: skip
        for uri in ("holdfast://hot", "holdfast://project"):
            shown[uri] = (core.surface.read(call, uri) or (None, ""))[1]
        for name in core.surface.prompts:
            shown[f"prompt {name}"] = core.surface.say(call, name, {})
        found = recall(memory, Query(text=QUESTION, limit=10), surface=False)
        shown["terminal recall"] = _printed(page("recalled", found))
        shown["terminal list"] = _printed(page("records", [hit.record for hit in found.hits]))
        shown["sub-agent"] = _called(core.surface, call, "brief", {"plan": QUESTION, "form": "full"})
        shown["sub-agent plain"] = brief(memory, QUESTION, form="full").text
        write_handover(self.folder / "handover", "\n".join(self.planted))
        shown["handover"] = (self.folder / "handover").read_text(encoding="utf-8")
        shown["brief"] = brief_of(memory).text
        shown["warnings"] = "\n".join(str(one["text"]) for one in self.triggers())
        return shown

    def plain(self, about: str) -> Record:
        """Return a memory as a store would have it that accepts every event."""
        here = [event for event in self.memory.store.events_about(about) if event.verb not in LOCAL]
        record = fold_all([*here, *(event for event in self.given if event.about == about and event.verb not in LOCAL)])
        assert record, about
        return record

    def naive(self) -> str:
        """Return the prompt of a store that concatenates everything it ever received."""
        return "\n".join([SCAR, DECISION, *OTHERS, *self.planted])


_ASKED: dict[str, tuple[Surface, str, dict[str, Any]]] = {
    "recall": (core.surface, "recall", {"query": QUESTION}),
    "gitmem recall": (gitmem.surface, "recall", {"plan": QUESTION}),
    "gitmem search": (gitmem.surface, "search", {"query": QUESTION}),
    "gitmem session_start": (gitmem.surface, "session_start", {}),
    "gitmem list_threads": (gitmem.surface, "list_threads", {}),
    "claude-mem search": (claude_mem.surface, "search", {"query": QUESTION}),
    "claude-mem context": (claude_mem.surface, "session_start_context", {}),
    "memory-mcp recall": (memory_mcp.surface, "recall", {"query": QUESTION}),
    "bettermemory search": (bettermemory.surface, "memory_search", {"query": QUESTION}),
}


def staged(folder: Path) -> Stage:
    """Return a new store with true memories; the only accepted author is Ada."""
    given = {"home": str(folder), "project": PROJECT, "block_actions": True, "starters": False, "embedder": "none"}
    memory = open_memory(
        load_settings(folder=folder, environment={}, flags={**given, "agent": "claude"}), folder=folder
    )
    memory, _ = start(memory)
    user = memory.acting_as("grace")
    fields = {"severity": "critical", "counter_arguments": ["It is quick.", "Nobody else is on it."], "blocking": True}
    fields |= {"verify_with": ["git status"], "must_show": "clean"}
    scar = _written(user, Draft(body=SCAR, kind="scar", fields=fields, visibility="team"))
    decision = _written(user, Draft(body=DECISION, kind="decision", visibility="team"))
    others = tuple(_written(user, Draft(body=text)) for text in OTHERS)
    accept(memory, ["ada@example.org"])
    return Stage(folder=folder, memory=memory, scar=scar, decision=decision, others=others)


def _written(memory: Memory, draft: Draft) -> Record:
    done = write(memory, draft)
    assert isinstance(done, Written), done
    return done.record


def _called(surface: Surface, call: Call, tool: str, arguments: dict[str, Any]) -> str:
    return surface.call(call, tool, arguments)[0]


def _printed(show: Any) -> str:
    out = io.StringIO()
    with redirect_stdout(out):
        show()
    return out.getvalue()


def _said(event: Event) -> Sequence[str]:
    return [
        event.by.name,
        *(str(event.data[name]) for name in ("kind", "title", "body", "reason") if name in event.data),
    ]


def _line(event: Event) -> str:
    return json.dumps(event_to_json(event))

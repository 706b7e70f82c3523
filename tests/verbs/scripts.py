"""Scripts of verbs (`tests/scripts.py`): a step calls a verb of `holdfast.verbs` by its name, as `module.verb` where several have it.

What a verb takes as one value (a draft, a query, a revision) is written as its fields, and a record stands for its id. A verb
after `!` must raise; the answer is the error with its name. A verb that returns a memory changes who acts from then on.
A name that no verb has is a function of the engine, a policy or the model.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from inspect import signature
from pathlib import Path
from typing import Any, ClassVar, cast

import pytest

from holdfast.adapters.embedders.local import LocalEmbedder
from holdfast.model.event import Actor
from holdfast.model.record import Draft, Record
from holdfast.policy.admission.admit import Waivers
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.write import Written, draft_event, write
from tests import scripts
from tests.calls import called, functions_in, made, refusal_of
from tests.conftest import Time, make_memory
from tests.engine.test_store import everything
from tests.engines import kept_bytes
from tests.rows import of_type, rows

ENCODER = LocalEmbedder()  # loads at its first use


def keep(memory: Memory, draft: Draft, *, waivers: Waivers | None = None) -> Record:
    """Write something that must be admitted; return the record."""
    return of_type(Written, write(memory, draft, waivers=waivers)).record


def keep_all(memory: Memory, value: Any) -> Record | list[Record]:
    """Keep a text or a draft, or each of a list."""
    if isinstance(value, list):
        return [of_type(Record, keep_all(memory, item)) for item in value]
    return of_type(Record, called(keep, (memory,), value if isinstance(value, dict) else {"body": value}))


def suggestion(memory: Memory, topic: str) -> Record:
    """Have a thread suggested because three sessions mention its topic."""
    draft = Draft(body=topic, kind="thread", source="mined", extra={"evidence": ["a", "b", "c"]})
    return memory.commit([draft_event(memory, draft, pending=True)])[0].record


class Verbs(dict[str, scripts.Step]):
    """Steps by their names; one that is not there is the verb of that name."""

    def __missing__(self, name: str) -> scripts.Step:
        verb = functions_in("holdfast.verbs")[name]
        return lambda script, given: script.go_on(called(verb, (script.memory,), given))


@dataclass(kw_only=True)
class Script(scripts.Script):
    """A script of verbs."""

    memory: Memory
    time: Time
    request: pytest.FixtureRequest

    def call(self, tool: str, arguments: dict[str, Any], *, refused: bool) -> Any:
        function, first = (keep, (self.memory,)) if tool == "keep" else self.named(tool)
        if refused:
            return refusal_of(function, first, arguments)
        answer = self.go_on(called(function, first, arguments))
        return list(answer) if isinstance(answer, Iterator) else answer

    def named(self, name: str) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Return the function of a name, with what it acts on."""
        packages = ("verbs", "engine", "policy", "model")
        function = next(found for package in packages if (found := functions_in(f"holdfast.{package}").get(name)))
        acts_on = {"memory": (self.memory,), "store": (self.memory.store,)}
        return function, acts_on.get(next(iter(signature(function).parameters)), ())

    def go_on(self, answer: Any) -> Any:
        """Act with the memory that an answer is, or begins with; return the answer, or its rest."""
        if isinstance(answer, tuple) and isinstance(next(iter(answer), None), Memory):
            self.memory, answer = answer
        elif isinstance(answer, Memory):
            self.memory = answer
        return answer

    def keep(self, days: float = 0, **given: Any) -> None:
        """Keep what is given, so many days apart."""
        for number, (name, value) in enumerate(given.items()):
            self.time.pass_days(days if number else 0)
            self.known[name] = keep_all(self.memory, value)

    def open_store(self, folder: str) -> None:
        """Act on another store, with the same clock."""
        self.go_on(make_memory(self.folder / folder, self.time))
        self.request.addfinalizer(self.memory.close)

    steps: ClassVar = {
        **scripts.STEPS,
        "keep": lambda script, given: script.keep(**given),
        "pass": lambda script, given: script.time.pass_days(given["days"]),
        "now": lambda script, _: script.memory.clock.now(),
        "memory": lambda script, given: script.go_on(given.get("is", script.memory)),
        "open": lambda script, given: script.go_on(script.request.getfixturevalue(given["fixture"])),
        "on": lambda script, given: script.go_on(script.memory.acting_on(given["project"])),
        "in": lambda script, given: script.go_on(script.memory.acting_in(given["session"])),
        "as": lambda script, given: script.go_on(script.memory.acting(actor=Actor(**given))),
        "config": lambda script, given: script.go_on(
            replace(
                script.memory, config=replace(script.memory.config, **{name: made(None, given[name]) for name in given})
            )
        ),
        "set": lambda script, given: script.go_on(replace(script.memory, **given)),
        "event": lambda script, given: script.memory.commit([script.memory.event(**given)]),
        "commit": lambda script, given: script.memory.commit(given["events"]),
        "unsent": lambda script, given: script.memory.event(**given),
        "stored": lambda script, given: script.memory.store.commit(given["events"]),
        "journal": lambda script, _: [event for _, event in script.memory.store.journal()],
        "suggest": lambda script, given: suggestion(script.memory, given["topic"]),
        "note": lambda script, given: script.memory.store.note(given["setting"], given["value"]),
        "views": lambda script, _: everything(script.memory.store),
        "rebuild": lambda script, _: script.memory.store.rebuild(),
        "store": lambda script, given: script.open_store(given["in"]),
        "patch": lambda script, given: script.request.getfixturevalue("monkeypatch").setattr(given["of"], given["to"]),
        "disk": lambda script, _: kept_bytes(script.folder / "store").decode("latin-1").lower(),
    }


def scripts_in(module: dict[str, Any], *functions: Callable[..., Any], **named: Callable[..., Any]) -> None:
    """Add a test for each script in the text beside a test module, which may have functions as steps of its own.

    The fixture `memory` opens what a script acts on.
    """
    steps = {name: step_of(do) for name, do in ({do.__name__: do for do in functions} | named).items()}
    scripts.scripts_in(module, lambda request, known: script_of(request, known, **steps))


def step_of(do: Callable[..., Any]) -> scripts.Step:
    """Return a step that calls a function of a script, or else of its memory, with what is given."""
    first, *others = map(str, signature(do).parameters.values())
    if others in (["given"], ["_"]):
        return do
    return lambda script, given: do(script if first.startswith("script") else script.memory, **given)


def script_of(request: pytest.FixtureRequest, known: dict[str, Any], **steps: scripts.Step) -> Script:
    """Return a script that acts on the fixture `memory`."""
    memory, time, tmp = (request.getfixturevalue(name) for name in ("memory", "time", "tmp_path"))
    request.node.funcargs["tmp_path"] = tmp  # whose database is dropped after the test
    known |= {"ENCODER": ENCODER, "LONG": "x" * 100_001, "tmp": str(tmp)}
    kind: type[Script] = type("Script", (Script,), {"steps": Script.steps | steps})
    return kind(tmp, known, memory=memory, time=time, request=request)


def part_of(request: pytest.FixtureRequest, module: str, name: str) -> Script:
    """Return a script that has done a part of the text beside a test module."""
    known, named = scripts.parts_of(module)
    script = script_of(request, known)
    for line in list(scripts.lines_of(named[name], named))[1:]:
        script.run(line)
    return script


def taken(name: str, memory: Memory, **known: Any) -> Script:
    """Return a script that has taken the steps that data/examples.json has under a name."""
    folder = Path(str(memory.store.folder))
    script = Script(folder, scripts.COMMON | known, memory=memory, time=Time(), request=cast("Any", None))
    for line in rows(name):
        script.run(line)
    return script


def world(name: str, memory: Memory, **known: Any) -> tuple[Memory, dict[str, str]]:
    """Fill a memory with the steps of a name; return it as they left it, and the ids that data/examples.json lists for them."""
    script = taken(name, memory, **known)
    return script.memory, {of: str(script.of(path)) for of, path in rows(f"ids_of_{name}").items()}

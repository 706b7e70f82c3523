"""Scripts of verbs (`tests/scripts.py`): a step calls a verb of `holdfast.verbs` by its name, as `module.verb` where several have it.

What a verb takes as one value (a draft, a query, a revision) is written as its fields, and a record stands for its id. A verb
after `!` must raise; the answer is the error with its name. A verb that returns a memory changes who acts from then on.
"""

import pkgutil
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, is_dataclass, replace
from functools import cache
from importlib import import_module
from inspect import isfunction, signature
from typing import Any, ClassVar, get_args

import pytest

import holdfast.verbs
from holdfast.adapters.embedders.local import LocalEmbedder
from holdfast.model.errors import HoldfastError
from holdfast.model.event import Actor
from holdfast.model.record import Draft, Record
from holdfast.policy.admission.admit import Waivers
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.write import Written, write
from tests import scripts
from tests.conftest import Time
from tests.engine.test_store import everything
from tests.engines import kept_bytes
from tests.rows import of_type

ENCODER = LocalEmbedder()  # loads at its first use


def keep(memory: Memory, draft: Draft, *, waivers: Waivers | None = None) -> Record:
    """Write something that must be admitted; return the record."""
    return of_type(Written, write(memory, draft, waivers=waivers)).record


@cache
def verbs() -> dict[str, Callable[..., Any]]:
    """Return every verb by its name, if only one module has it, and by the names of module and verb."""
    found, times = dict[str, Callable[..., Any]](), Counter[str]()
    for module in pkgutil.walk_packages(holdfast.verbs.__path__, "holdfast.verbs."):
        for name, verb in vars(import_module(module.name)).items():
            if isfunction(verb) and verb.__module__ == module.name and not name.startswith("_"):
                times[name] += 1
                found |= {name: verb, f"{module.name.rpartition('.')[2]}.{name}": verb}
    return {name: verb for name, verb in found.items() if times[name] < 2} | {"keep": keep}


def made(hint: Any, value: Any) -> Any:
    """Return a value of a script as a verb takes it: lists are tuples, and an object is what its annotation names."""
    kinds = [kind for kind in _types_in(hint) if is_dataclass(kind)]
    match value:
        case list():
            return tuple(made(hint, item) for item in value)
        case Record() if Record not in kinds:
            return value.id
        case dict() if kinds:
            taken = signature(kinds[0]).parameters
            return kinds[0](**{name: made(taken[name].annotation, item) for name, item in value.items()})
    return value


def _types_in(hint: Any) -> Iterator[type]:
    if isinstance(hint, type):
        yield hint
    for part in get_args(hint):
        yield from _types_in(part)


@dataclass(kw_only=True)
class Script(scripts.Script):
    """A script of verbs."""

    memory: Memory
    time: Time
    request: pytest.FixtureRequest

    def call(self, tool: str, arguments: dict[str, Any], *, refused: bool) -> Any:
        if not refused:
            return self.go_on(self.called(verbs()[tool], arguments))
        with pytest.raises(HoldfastError) as caught:
            self.called(verbs()[tool], arguments)
        return f"{type(caught.value).__name__}: {caught.value}"

    def called(self, verb: Callable[..., Any], arguments: dict[str, Any]) -> Any:
        """Call a verb; fields that are no parameters of it are those of the value that it takes."""
        taken = {one.name: one.annotation for one in list(signature(verb).parameters.values())[1:]}
        given = {name: made(hint, arguments[name]) for name, hint in taken.items() if name in arguments}
        rest = {name: value for name, value in arguments.items() if name not in taken}
        whole = [name for name, hint in taken.items() if name not in given and is_dataclass(hint)]
        if rest or whole:
            given[whole[0]] = made(taken[whole[0]], rest)
        return verb(self.memory, **given)

    def go_on(self, answer: Any) -> Any:
        """Act with the memory that an answer is, or begins with; return the answer, or its rest."""
        if isinstance(answer, tuple) and isinstance(next(iter(answer), None), Memory):
            self.memory, answer = answer
        elif isinstance(answer, Memory):
            self.memory = answer
        return answer

    steps: ClassVar = {
        **scripts.STEPS,
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
        "journal": lambda script, _: [event for _, event in script.memory.store.journal()],
        "note": lambda script, given: script.memory.store.note(given["setting"], given["value"]),
        "views": lambda script, _: everything(script.memory.store),
        "rebuild": lambda script, _: script.memory.store.rebuild(),
        "disk": lambda script, _: kept_bytes(script.folder / "store").decode("latin-1").lower(),
    }


def scripts_in(module: str, **steps: scripts.Step) -> dict[str, Callable[..., None]]:
    """Return a test for each script in the text beside a test module, which may have steps of its own.

    The fixture `memory` opens what a script acts on.
    """

    def start(request: pytest.FixtureRequest, known: dict[str, Any]) -> Script:
        memory, time, tmp = (request.getfixturevalue(name) for name in ("memory", "time", "tmp_path"))
        request.node.funcargs["tmp_path"] = tmp  # whose database is dropped after the test
        known |= {"ENCODER": ENCODER, "LONG": "x" * 2_000, "tmp": str(tmp)}
        kind: type[Script] = type("Script", (Script,), {"steps": Script.steps | steps})
        return kind(tmp, known, memory=memory, time=time, request=request)

    return scripts.scripts_in(module, start)

"""Scripts of people who share a replica (`tests/scripts.py`): `ada revise …` is what Ada does, `! ada revise …` must be refused.

What a person can do is a method of their seat, their replica or their store, or a verb (`tests/calls.py`). `kind` says which
replica: notes, repository, folder, or `checkout`, where the files lie in a real repository. After a step with `sync="ada bob"`
these two sync, one after the other.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pytest

from tests import scripts
from tests.calls import called, functions_in, refusal_of
from tests.replicas.seats import Seat, Seats, git, in_checkout, seating
from tests.verbs.scripts import keep


@dataclass(kw_only=True)
class Script(scripts.Script):
    """A script of people; each sits down at the first thing they do."""

    seats: Seats
    seated: dict[str, Seat] = field(default_factory=dict)

    def answer(self, sign: str, word: str, given: str) -> Any:
        if sign == "@":
            return super().answer(sign, word, given)
        act, _, rest = given.strip().partition(" ")
        arguments = dict[str, Any]()
        for name, _, value in self.parts(rest):
            arguments |= {name: value} if name else value
        after = arguments.pop("sync", "").split()
        found = self.done(self.seat(word), sign, self.filled(act), arguments)
        self.sync(after)
        return found

    def done(self, seat: Seat, sign: str, act: str, arguments: dict[str, Any]) -> Any:
        for owner in (seat, seat.replica, seat.memory.store):
            if hasattr(owner, act) and act != "keep":
                found = getattr(owner, act)
                return found(**arguments) if callable(found) else found
        verb = keep if act == "keep" else functions_in("holdfast.verbs")[act]
        return (refusal_of if sign else called)(verb, (seat.memory,), arguments)

    def seat(self, name: str) -> Seat:
        if name not in self.seated:
            self.seated[name] = self.seats(name)
        return self.seated[name]

    def sync(self, names: Iterable[str]) -> None:
        for name in names:
            self.seat(name).sync()

    def make_strangers(self) -> None:
        """Let two people have names in git, and no one accepted."""
        for name in ("ada", "bob"):
            self.seat(name).introduce(name, f"{name}@example.org")
            self.seat(name).configure(quarantine="show")

    def check_same(self, first: str, *others: str) -> None:
        """Compare what people's records say."""
        assert [name for name in others if self.seat(name).story() != self.seat(first).story()] == []

    steps: ClassVar = {
        **scripts.STEPS,
        "same": lambda script, given: script.check_same(*given["who"].split()),
        "sync": lambda script, given: script.sync(given["who"].split()),
        "move": lambda script, given: (script.folder / given["from"]).rename(script.folder / given["to"]),
        "git": lambda script, given: git(script.folder / given["in"], *given["do"].split()),
    }


def scripts_in(module: str, kind: str = "") -> dict[str, Callable[..., None]]:
    """Return a test for each script in the text beside a test module, about one kind of replica or those that a script names."""

    def start(request: pytest.FixtureRequest, known: dict[str, Any]) -> Script:
        folder = request.getfixturevalue("tmp_path")
        chosen: str = known.get("kind", kind)
        around = seating("repository" if chosen == "checkout" else chosen, folder)
        seats = around.__enter__()
        request.addfinalizer(lambda: around.__exit__(None, None, None))
        own = (lambda name: in_checkout(seats(name), folder / "repo")) if chosen == "checkout" else seats
        script = Script(folder, known | {"tmp": str(folder)}, seats=own)
        if known.get("strangers") and chosen == "notes":
            script.make_strangers()
        return script

    return scripts.scripts_in(module, start)

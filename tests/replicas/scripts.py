"""Scripts of people who share a replica (`tests/scripts.py`): `ada revise …` is what Ada does, `! ada revise …` must be refused.

What a person can do is a method of their seat, their replica or their store, or a verb (`tests/calls.py`). `kind` says which
replica: notes, repository, folder, or `checkout`, where the files lie in a real repository. After a step with `sync="ada bob"`
these two sync, one after the other.
"""

import shlex
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import pytest

from holdfast.adapters.checkout import GitCheckout
from holdfast.model.replica import parts_of
from tests import conftest, scripts
from tests.calls import called, functions_in, refusal_of
from tests.conftest import new_file, recorded
from tests.replicas.seats import Seat, Seats, commit, git, in_checkout, seating
from tests.verbs.scripts import keep


def edit(seat: Seat, change: dict[str, str], file: str = "") -> None:
    """Replace parts of a file, all of which it must have."""
    for old, new in change.items():
        text = seat.file(file).read_text()
        assert old in text, text
        seat.file(file).write_text(text.replace(old, new))


def keep_as_before(seat: Seat, body: str) -> str:
    """Store a record of the team as an older version, which checked less, may have kept it; give its id."""
    event = recorded(seat.memory.clock, body, project=seat.memory.project, visibility="team")
    return seat.memory.store.commit([event])[0].record.id


def carried(seat: Seat) -> str:
    """Give everything the replica holds, as text."""
    if seat.replica.name != "notes":
        return "\n".join(path.read_text() for path in seat.folder.glob("*.md"))
    names = git(seat.folder, "for-each-ref", "--format=%(refname)", "refs/notes/holdfast").splitlines()
    listed = [line for name in names for line in git(seat.folder, "notes", "--ref", name, "list").splitlines()]
    return "\n".join(git(seat.folder, "cat-file", "blob", line.split()[0]) for line in listed)


def lose_states(seat: Seat) -> None:
    """Remove what was remembered of earlier syncs."""
    seat.replica.close()
    shutil.rmtree(seat.replica._states)


# What a person does, besides the methods of their seat. A file without a name is the only one there is.
ACTS: dict[str, Callable[..., Any]] = {
    "edit": edit,
    "keep_as_before": keep_as_before,
    "carried": carried,
    "lose_states": lose_states,
    "bodies": lambda seat: [record.body for record in seat.records().values()],
    "record": lambda seat, of: seat.records()[of],
    "parts": lambda seat, of: dict(parts_of(seat.records()[of])),
    "git": lambda seat, do: [git(seat.folder, *shlex.split(part)) for part in do.split(" && ")][-1],
    "commit": lambda seat, file: commit(seat.folder, file),
    "files": lambda seat: sorted(path.name for path in seat.folder.glob("*.md")),
    "text": lambda seat, file="": seat.file(file).read_text(),
    "put": lambda seat, text, file="": new_file(seat.file(file), text),
    "remove": lambda seat, file="", first=0: [
        path.unlink() for path in ([seat.file(file)] if file else sorted(seat.folder.glob("*.md"))[:first])
    ],
    "rename": lambda seat, new: seat.file().rename(seat.folder / new),
    "keep_many": lambda seat, count, **given: [
        conftest.keep(seat.memory, f"Thing number {number} of {number * 31}.", **given) for number in range(count)
    ],
    "said": lambda seat, of: str([event.data for event in seat.memory.store.events_about(of)]),
    "later": lambda seat, days: seat.time.pass_days(days),
    "on": lambda seat, project: setattr(seat, "memory", seat.memory.acting_on(project)),
    "configure": lambda seat, **given: setattr(
        seat, "memory", replace(seat.memory, config=replace(seat.memory.config, **given))
    ),
    "introduce": lambda seat, name, email: [
        git(seat.folder, "config", f"user.{part}", value) for part, value in (("name", name), ("email", email))
    ],
    "work_in_clone": lambda seat: setattr(seat, "memory", replace(seat.memory, checkout=GitCheckout(seat.folder))),
}


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
        if act in ACTS:
            return ACTS[act](seat, **arguments)
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
            ACTS["introduce"](self.seat(name), name, f"{name}@example.org")
            ACTS["configure"](self.seat(name), quarantine="show")

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


def scripts_in(module: dict[str, Any], kind: str = "") -> None:
    """Add a test for each script in the text beside a test module, about one kind of replica or those that a script names."""

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

    scripts.scripts_in(module, start)

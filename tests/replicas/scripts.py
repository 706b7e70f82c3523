"""Scripts of people who share a replica (`tests/scripts.py`): `ada keep …` is what Ada does, `!ada retire …` must be refused.

`kind` says which replica: notes, repository, folder, or `checkout`, where the files lie in a real repository.
"""

import json
import shlex
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from holdfast.adapters.checkout import GitCheckout
from holdfast.model.errors import HoldfastError
from holdfast.model.event import Event
from holdfast.model.query import Query
from holdfast.model.record import Draft
from holdfast.verbs.exchange.replicas import share, unshare
from holdfast.verbs.exchange.sync import sync
from holdfast.verbs.records.lifecycle import Revision, link, record_use, restore, retire, revise
from holdfast.verbs.records.quarantine import accept, reject, standing, waiting
from holdfast.verbs.records.read import get
from holdfast.verbs.records.write import confirm, write
from holdfast.verbs.search.recall import recall
from holdfast.verbs.sessions.opening_brief import brief_of
from holdfast.verbs.truth.verify import verify
from holdfast.verbs.upkeep.erasing import erase
from tests import scripts
from tests.conftest import keep, recorded
from tests.replicas.seats import Seat, Seats, commit, git, in_checkout, seating

if TYPE_CHECKING:
    from pathlib import Path


def _sync(seat: Seat, **options: Any) -> dict[str, Any]:
    """Sync, and return what was done and what was asked."""
    asked: list[str] = []

    def answer(question: str) -> bool:
        asked.append(question)
        return bool(agrees)

    if (agrees := options.get("agree")) is not None:
        options["agree"] = answer
    return {**asdict(seat.sync(**options)), "asked": asked}


def _configure(seat: Seat, **given: Any) -> None:
    seat.memory = replace(seat.memory, config=replace(seat.memory.config, **given))


def _introduce(seat: Seat, name: str, email: str) -> None:
    git(seat.folder, "config", "user.name", name)
    git(seat.folder, "config", "user.email", email)


def _lose_states(seat: Seat) -> None:
    seat.replica.close()
    shutil.rmtree(seat.replica._states)


def _work_in_clone(seat: Seat) -> None:
    seat.memory = replace(seat.memory, checkout=GitCheckout(seat.folder))


def _edit(seat: Seat, change: dict[str, str], file: str = "") -> None:
    path = seat.file(file)
    text = path.read_text()
    for old, new in change.items():
        assert old in text, (old, text)
        text = text.replace(old, new)
    path.write_text(text)


def _kept_before(seat: Seat, **given: Any) -> Event:
    """Store a record as an older version, which checked less, may have kept it."""
    event = recorded(seat.memory.clock, project=seat.memory.project, **given)
    seat.memory.store.commit([event])
    return event


def _recalled(seat: Seat) -> dict[str, Any]:
    found = recall(seat.memory, Query(text="where do orders live"), surface=False)
    return {name: [asdict(hit) for hit in getattr(found, name)] for name in ("hits", "held")}


def _tuples(given: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}


ACTS: dict[str, Callable[..., Any]] = {
    "keep": lambda seat, **given: keep(seat.memory, **_tuples(given)),
    "write": lambda seat, **given: write(seat.memory, Draft(**given)),
    "kept_before": _kept_before,
    "keep_many": lambda seat, count, **given: [
        keep(seat.memory, f"Thing number {number} of {number * 31}.", **given) for number in range(count)
    ],
    "revise": lambda seat, of, **changed: revise(seat.memory, of, Revision(**_tuples(changed))),
    "retire": lambda seat, of, reason: retire(seat.memory, of, reason),
    "restore": lambda seat, of: restore(seat.memory, of),
    "erase": lambda seat, of: erase(seat.memory, of),
    "verify": lambda seat, of: verify(seat.memory, of),
    "confirm": lambda seat, of: confirm(seat.memory, of),
    "link": lambda seat, source, relation, target: link(seat.memory, source, relation, target),
    "use": lambda seat, of, outcome: record_use(seat.memory, [of], outcome),
    "share": lambda seat, of: share(seat.memory, [of]),
    "unshare": lambda seat, of: unshare(seat.memory, [of]),
    "accept": lambda seat, who: accept(seat.memory, who),
    "reject": lambda seat, who: reject(seat.memory, who),
    "waiting": lambda seat: [{**asdict(one), "would": one.would} for one in waiting(seat.memory)],
    "standing": lambda seat, project, who: standing(seat.memory.acting_on(project), who),
    "sync": _sync,
    "sync_here": lambda seat: sync(seat.memory, seat.replica, seat.sharing),  # without its remote
    "rewrite": lambda seat: seat.replica.rewrite("origin"),
    "follows_rewrites": lambda seat: seat.replica.follows_rewrites(),
    "follow_rewrites": lambda seat: seat.replica.follow_rewrites(),
    "configure": _configure,
    "introduce": _introduce,
    "lose_states": _lose_states,
    "work_in_clone": _work_in_clone,
    "rebuild": lambda seat: seat.memory.store.rebuild(),
    "record": lambda seat, of: seat.records()[of],
    "records": lambda seat: {id_: asdict(record) for id_, record in seat.records().items()},
    "bodies": lambda seat: sorted(record.body for record in seat.records().values()),
    "folded": lambda seat, of: seat.memory.store.folded(of),
    "came": lambda seat, of: get(seat.memory, of).came,
    "story": lambda seat: seat.story(),
    "events": lambda seat, of: [asdict(event) for event in seat.memory.store.events_about(of)],
    "history": lambda seat, of: str([event.data for event in seat.memory.store.events_about(of)]),
    "verbs": lambda seat: [event.verb for _, event in seat.memory.store.journal()],
    "recalled": _recalled,
    "brief": lambda seat: brief_of(seat.memory).text,
    "carried": lambda seat: seat.carried(),
    "git": lambda seat, do: git(seat.folder, *shlex.split(do)),
    "commit": lambda seat, file: commit(seat.folder, file),
    "note": lambda seat, space="learnings", at="HEAD": git(
        seat.folder, "notes", "--ref", f"holdfast/{space}", "show", at
    ).splitlines(),
    "note_instead": lambda seat, line: git(
        seat.folder, "notes", "--ref", "holdfast/learnings", "add", "-f", "-m", line, "HEAD"
    ),
    "files": lambda seat: sorted(path.name for path in seat.folder.glob("*.md")),
    "text": lambda seat, file="": seat.file(file).read_text(),
    "put": lambda seat, file, text: scripts.STEPS["write"](seat, {file: text}),
    "edit": _edit,
    "remove": lambda seat, file="": seat.file(file).unlink(),
    "remove_some": lambda seat, count: [path.unlink() for path in sorted(seat.folder.glob("*.md"))[:count]],
    "remove_folder": lambda seat: shutil.rmtree(seat.folder),
    "rename": lambda seat, new: seat.file().rename(seat.folder / new),
    "later": lambda seat, days: seat.time.pass_days(days),
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
        arguments = {name: value for name, _, value in self.parts(rest)}
        try:
            done = ACTS[act](self.seat(word), **arguments)
        except HoldfastError as problem:
            if not sign:
                raise
            return f"{type(problem).__name__}: {problem}"
        assert not sign, f"{word}{given} was not refused"
        return json.loads(json.dumps(done, default=_plain))

    def seat(self, name: str) -> Seat:
        if name not in self.seated:
            self.seated[name] = self.seats(name)
        return self.seated[name]

    def sync_all(self, names: str) -> None:
        for name in names.split():
            self.seat(name).sync()

    def make_strangers(self) -> None:
        """Let two people have names in git, and no one accepted."""
        for name in ("ada", "bob"):
            _introduce(self.seat(name), name, f"{name}@example.org")
            _configure(self.seat(name), quarantine="show")

    steps: ClassVar = {
        **scripts.STEPS,
        "strangers": lambda script, _given: script.make_strangers(),
        "sync": lambda script, given: script.sync_all(given["who"]),
        "move": lambda script, given: (script.folder / given["from"]).rename(script.folder / given["to"]),
        "git": lambda script, given: git(script.folder / given["in"], *shlex.split(given["do"])),
    }


def _plain(value: Any) -> Any:
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else str(value)


def scripts_in(module: str, kind: str = "") -> dict[str, Callable[..., None]]:
    """Return a test for each script in the text beside a test module, about one kind of replica or those that a script names."""

    def start(request: pytest.FixtureRequest, known: dict[str, Any]) -> Script:
        folder: Path = request.getfixturevalue("tmp_path")
        chosen: str = known.get("kind", kind)
        around = seating("repository" if chosen == "checkout" else chosen, folder)
        seats = around.__enter__()
        request.addfinalizer(lambda: around.__exit__(None, None, None))
        own = (lambda name: in_checkout(seats(name), folder / "repo")) if chosen == "checkout" else seats
        return Script(folder, known | {"tmp": str(folder)}, seats=own)

    return scripts.scripts_in(module, start)

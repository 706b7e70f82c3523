"""The Python API: `holdfast.open()` and the methods of what it returns, each of which calls one verb."""

import asyncio
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Literal, Self

from holdfast.compose import open_memory
from holdfast.compose.adapters import IMPORTERS, foreign_items
from holdfast.compose.settings import load_settings, working_folder
from holdfast.model.anchor import Freshness
from holdfast.model.errors import Invalid, NotSaved, StoreError
from holdfast.model.event import Event
from holdfast.model.files import lines_in, open_regular
from holdfast.model.ids import moment_of
from holdfast.model.kinds import built, fitting
from holdfast.model.query import Mode, Query, Recalled, Usage
from holdfast.model.record import GLOBAL, Confidence, Draft, Link, Record, Source, State
from holdfast.policy.admission.admit import Refused, SecretFound, Waivers, explain
from holdfast.surfaces.phrases import REMEDIES
from holdfast.verbs import memory as internal
from holdfast.verbs.exchange import jsonl, replicas
from holdfast.verbs.exchange.import_foreign import import_items
from holdfast.verbs.records import lifecycle, read, write
from holdfast.verbs.records.lifecycle import Revision
from holdfast.verbs.records.read import Listed
from holdfast.verbs.search import brief, recall
from holdfast.verbs.truth import verify

EMBEDDING_SECONDS = 2.0  # that a recall may take to make vectors of new memories: no background process does it here
Texts = Iterable[str]
When = str | date | timedelta
Visibility = Literal["private", "team"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """A memory that was saved, and what its writer should know about it."""

    record: Record
    pending: str = ""  # why it needs approval before it is used; empty if it does not
    related: tuple[Record, ...] = ()
    warnings: tuple[str, ...] = ()  # anchors that are wrong already

    @property
    def id(self) -> str:
        """The id of the memory."""
        return self.record.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A memory with its context."""

    record: Record
    freshness: Freshness | None  # None: it describes the past, so it cannot become stale
    superseded_by: str  # id of the memory that replaced it, or empty
    usage: Usage
    came: str  # who sent it and by which replica, if it came from elsewhere


class Memory:
    """An open memory. Use it in a `with` statement, or call `close`.

    Threads may share one. Every method raises a subclass of `HoldfastError` if it fails, with `message`, `hint` and
    `code`. An id may be shortened to its last eight characters, as it is printed.
    """

    def __init__(self, inner: internal.Memory, notes: tuple[str, ...] = ()) -> None:
        self._opened: internal.Memory | None = inner
        self.notes = notes  # settings that were ignored; that a local copy replaces an unreachable database

    def __repr__(self) -> str:
        return f"<holdfast.Memory of {self.project}>" if self._opened else "<holdfast.Memory, closed>"

    @property
    def _inner(self) -> internal.Memory:
        """The internal object."""
        if self._opened is None:
            raise StoreError("This memory is closed.", hint="holdfast.open() opens another.")
        return self._opened

    @property
    def project(self) -> str:
        """The project whose memories are read and written."""
        return self._inner.project

    def remember(
        self,
        text: str,
        *,
        kind: str = "fact",
        title: str = "",
        fields: Mapping[str, Any] | None = None,
        scopes: Texts = (),
        tags: Texts = (),
        anchors: Texts = (),
        triggers: Texts = (),
        links: Iterable[Link] = (),
        visibility: Visibility = "private",
        confidence: Confidence = "medium",
        source: Source = "explicit",
        everywhere: bool = False,
        extra: Mapping[str, Any] | None = None,
        force: bool = False,
        redact: bool = False,
    ) -> Saved:
        """Save a memory; raise NotSaved if it is a duplicate, soon untrue or contains a secret.

        `everywhere` makes it count in every project, `extra` holds your own data as JSON. `force` saves a duplicate or
        a text that will soon be untrue, `redact` masks secrets; nothing saves a secret unmasked.
        """
        asked: dict[str, Any] = {"kind": kind, "title": title, "fields": fields, "scopes": scopes, "tags": tags}
        asked |= {"anchors": anchors, "triggers": triggers, "links": links, "visibility": visibility}
        asked |= {"confidence": confidence, "source": source, "extra": extra}
        draft = Draft.of(text, project=GLOBAL if everywhere else None, **asked)
        waivers = Waivers(duplicate=force, transient=force, scope=force)
        return _saved(write.write(self._inner, draft, waivers=waivers, redact=redact))

    def recall(
        self,
        question: str,
        *,
        kinds: Texts = (),
        scopes: Texts = (),
        tags: Texts = (),
        since: When = "",
        until: When = "",
        as_of: When = "",
        project: str | None = None,
        everywhere: bool = False,
        limit: int = 10,
        budget: int = 0,
        mode: Mode = "balanced",
        words_only: bool = False,
    ) -> Recalled:
        """Return the memories that answer a question, best first, with freshness; none if none fits.

        Dates are texts as the command line takes them ("7d", "monday"), dates, datetimes or timedeltas back from now.
        Iterate over the result, index it, or read its `hits`; `closest` is the nearest memory if none fits. `budget` limits the
        tokens of all snippets. `words_only` searches without vectors, which starts faster. New memories get their vectors
        first, for at most `EMBEDDING_SECONDS`; `lagging` and `notes` say how many are left.
        """
        if not words_only and not as_of:
            from holdfast.verbs.search.embed import try_to_catch_up  # noqa: PLC0415  numpy

            try_to_catch_up(self._inner, seconds=EMBEDDING_SECONDS)
        asked: dict[str, Any] = {"kinds": kinds, "scopes": scopes, "tags": tags, "since": since, "until": until}
        asked |= {"as_of": as_of, "project": project, "everywhere": everywhere, "limit": limit, "budget": budget}
        query = Query.of(question, now=self._inner.clock.now(), mode=mode, words_only=words_only, **asked)
        return recall.recall(self._inner, query)

    def show(self, id: str, *, as_of: When = "") -> Shown:  # noqa: A002
        """Return a memory in full, with its freshness; `as_of` returns it as it was at a date, with no freshness."""
        at = moment_of(as_of, self._inner.clock.now()) if as_of else ""
        shown = read.get(self._inner, id, at=at) if at else read.hydrate(self._inner, id)
        names = ("record", "freshness", "superseded_by", "usage", "came")
        return Shown(**{name: getattr(shown, name) for name in names})

    def list(
        self,
        *,
        kinds: Texts = (),
        scopes: Texts = (),
        tags: Texts = (),
        states: Iterable[State] = ("active",),
        since: When = "",
        until: When = "",
        project: str | None = None,
        everywhere: bool = False,
        limit: int = 20,
        offset: int = 0,
    ) -> Listed:
        """Return one page of memories, newest first; `total` counts all of them. A page has at most 1,000."""
        asked: dict[str, Any] = {"kinds": kinds, "scopes": scopes, "tags": tags, "since": since, "until": until}
        query = Query.of(now=self._inner.clock.now(), project=project, everywhere=everywhere, limit=limit, **asked)
        return read.list_records(self._inner, query, states=fitting("states", tuple[str, ...], states), offset=offset)

    def revise(
        self,
        id: str,  # noqa: A002
        *,
        text: str | None = None,
        title: str | None = None,
        kind: str | None = None,
        fields: Mapping[str, Any] | None = None,
        scopes: Texts | None = None,
        tags: Texts | None = None,
        anchors: Texts | None = None,
        triggers: Texts | None = None,
        visibility: Visibility | None = None,
        confidence: Confidence | None = None,
        extra: Mapping[str, Any] | None = None,
        redact: bool = False,
    ) -> Record:
        """Change parts of a memory and return it; the old values stay in its history. None leaves a part as it is."""
        given = {"body": text, "title": title, "kind": kind, "fields": fields, "scopes": scopes, "tags": tags}
        given |= {"anchors": anchors, "triggers": triggers, "visibility": visibility}
        revision = built(Revision, {**given, "confidence": confidence, "extra": extra})
        outcome = lifecycle.revise(self._inner, id, revision, redact=redact)
        if isinstance(outcome, SecretFound):
            raise refused_as(outcome)
        return outcome

    def forget(self, id: str, reason: str) -> Record:  # noqa: A002
        """Take a memory out of use and return it; `restore` puts it back."""
        return lifecycle.retire(self._inner, id, reason)

    def restore(self, id: str) -> Record:  # noqa: A002
        """Put a forgotten memory back into use."""
        return lifecycle.restore(self._inner, id)

    def erase(self, id: str) -> None:  # noqa: A002
        """Delete a memory permanently: from the history, and from every copy on this machine."""
        from holdfast.verbs.upkeep import erasing  # noqa: PLC0415  rarely needed

        erasing.erase(self._inner, id)

    def confirm(self, id: str) -> Saved:  # noqa: A002
        """Approve a pending memory; raise NotSaved if another one says the same by now."""
        return _saved(write.confirm(self._inner, id))

    def verify(self, id: str, note: str = "") -> Record:  # noqa: A002
        """Record that a memory was checked and is true; raise Conflict if an anchor is not."""
        return verify.verify(self._inner, id, note=note)

    def history(self, id: str) -> Sequence[Event]:  # noqa: A002
        """Return every event of a memory, oldest first."""
        return read.history(self._inner, id)

    def brief(self, plan: str = "", *, form: Literal["compact", "full", "gate"] = "compact", budget: int = 0) -> str:
        """Return what an agent should know: about a plan, or without one what a new session of this project gets."""
        if plan:
            return brief.brief(self._inner, plan, form=form, budget=budget).text
        from holdfast.verbs.sessions.opening_brief import brief_of  # noqa: PLC0415  only for a session's brief

        return brief_of(self._inner, budget=fitting("budget", int, budget)).text

    def embed(self) -> int:
        """Make the vectors that are missing and return how many; a recall does so for a moment only."""
        from holdfast.verbs.search.embed import catch_up  # noqa: PLC0415  numpy

        return catch_up(self._inner)

    def share(self, id: str) -> Record:  # noqa: A002
        """Make a memory visible to the team of the repository; the next sync sends it."""
        return replicas.share(self._inner, [id])[0]

    def link(self, id: str, relation: str, target: str, *, note: str = "") -> Record:  # noqa: A002
        """Link a memory to another: supersedes, contradicts, refines, relates_to, and others."""
        return lifecycle.link(self._inner, id, relation, target, note=note)

    def judge(self, ids: Texts, outcome: str, *, note: str = "") -> Sequence[str]:
        """Report how memories that were shown turned out (applied, ignored, contradicted, corrected); return their ids."""
        return lifecycle.record_use(self._inner, fitting("ids", tuple[str, ...], ids), outcome, note=note)

    def export(self) -> Iterator[str]:
        """Yield the whole store as JSON lines: a header, then an event on each line, nothing left out."""
        return jsonl.export(self._inner)

    def import_(
        self, lines: Iterable[str] | None = None, *, system: str = "", path: str | os.PathLike[str] = ""
    ) -> int:
        """Import an export (lines, or the file at a `path`) or another `system`'s data; return how many memories are new or changed."""
        if (lines is None) == (not path) or (fitting("system", str, system) and not path):
            raise Invalid("Pass either lines or a path.", hint="A path is that of an export, or of data of a system.")
        if lines is not None:
            return int(jsonl.import_lines(self._inner, fitting("lines", Iterable, lines))["records"])
        place = Path(fitting("path", os.PathLike, path))
        if not system:
            try:
                with open_regular(place) as file:
                    decoded = (line.decode(errors="surrogateescape") for line in lines_in(file))
                    return int(jsonl.import_lines(self._inner, decoded)["records"])
            except (OSError, ValueError) as problem:
                raise Invalid(f"{place} cannot be read: {problem}.") from problem
        if system not in IMPORTERS:
            raise Invalid(f"There is no importer for {system[:40]!r}.", hint=f"One of {', '.join(IMPORTERS)}.")
        report = import_items(self._inner, system, foreign_items(system, place))
        return len(report.taken) + len(report.revised)

    def close(self) -> None:
        """Close the store. Closing twice does nothing."""
        if self._opened:
            self._opened.close()
        self._opened = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncMemory:
    """A memory for programs with an event loop: every method of `Memory` is awaited, and runs in a thread."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._memory, name)
        return partial(asyncio.to_thread, found) if callable(found) else found

    def __repr__(self) -> str:
        return repr(self._memory).replace("Memory", "AsyncMemory", 1)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self._memory.close)


def open(  # noqa: A001
    folder: str | os.PathLike[str] | None = None,
    *,
    home: str | os.PathLike[str] | None = None,
    project: str | None = None,
    agent: str | None = None,
    session: str | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Memory:
    """Open the memory of a folder's project, the working directory's by default, with the user's settings.

    `home` is the folder of the store. What is saved is attributed to the current user, or to `agent`. `settings` sets any
    other setting by name.
    """
    here = Path(fitting("folder", os.PathLike, folder)) if folder is not None else working_folder()
    if not here.is_dir():
        raise Invalid(f"{here} is not a folder.", hint="Pass the folder of a project.")
    place = None if home is None else os.fspath(fitting("home", os.PathLike, home))
    named = {"home": place, "project": project, "agent": agent, "session": session}
    flags = {**fitting("settings", Mapping, settings or {}), **{n: v for n, v in named.items() if v is not None}}
    chosen = load_settings(folder=here, flags=flags)
    inner = open_memory(chosen, folder=here)
    return Memory(inner, notes=(*chosen.warnings, *inner.notices))


def _saved(outcome: write.Outcome) -> Saved:
    if not isinstance(outcome, write.Written | write.WrittenPending):
        raise refused_as(outcome)
    related, pending = tuple(near.record for near in outcome.related), getattr(outcome, "why", "")
    return Saved(record=outcome.record, pending=pending, related=related, warnings=getattr(outcome, "doubts", ()))


def refused_as(refused: Refused) -> NotSaved:
    """Return a refusal as an exception that names the argument which waives it."""
    refusal = explain(refused, REMEDIES["python"])
    matches = [match.record.id for match in getattr(refused, "matches", ())]
    return NotSaved(refusal.reason, hint=refusal.hint, refusal=refusal.code, matches=matches)

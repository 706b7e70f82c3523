"""The open memory, an object that every verb takes as its first argument."""

import logging
import re
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from holdfast.engine.raw import counters
from holdfast.engine.search.lexical import Frequencies
from holdfast.engine.store import Store
from holdfast.engine.views import Entry, queries, records
from holdfast.model.config import Config
from holdfast.model.errors import Ambiguous, Forbidden, Invalid, NotFound, StoreFull, StoreUnwritable
from holdfast.model.event import Actor, Event, Role, Verb
from holdfast.model.ids import UUID, Clock, check_part, days_before, is_part, short
from holdfast.model.ports import Checkout, Classifier, Embedder
from holdfast.model.record import GLOBAL, Record
from holdfast.model.session import Host
from holdfast.model.text import check_is_text, check_keepable, shorten
from holdfast.policy.secrets.find import masked
from holdfast.policy.sessions.outcomes import SessionFeedback

if TYPE_CHECKING:
    from holdfast.engine.search.vectors import Codes, Neighbours
    from holdfast.model.ports import Observing
    from holdfast.model.replica import Outdated, ReplicaUpdate, Scrubbed
    from holdfast.policy.language.reading import SentenceReader

log = logging.getLogger(__name__)
# An id or its beginning, which is a recent time. A short form may be any eight characters, so those are looked up.
_LIKE_AN_ID = re.compile(r"0[01][0-9A-HJKMNP-TV-Z]{6,24}", re.IGNORECASE)
_LIKE_A_SHORT_ID = re.compile(r"(?=[A-Z]*\d)[0-9A-HJKMNP-TV-Z]{8,26}", re.IGNORECASE)
# Some clients prefix the id of a thread or of a suggested thread with its type: t-…, ts-…
_TAG = re.compile(r"ts?-(?=[0-9A-Z]{4,26}$)", re.IGNORECASE)
MOST_CANDIDATES = 20
Report = dict[str, Any]  # for a page or a program: what its keys say


@dataclass(frozen=True, slots=True)
class Clean:
    """An event without any credential. Making one scans the event, so none exists that was not scanned."""

    event: Event
    masked: bool = field(init=False)  # True if something had to be masked

    def __post_init__(self) -> None:
        # A copy: the caller may still change its data after the scan.
        given = replace(self.event, data=deepcopy(dict(self.event.data)))
        event = _without_secrets(given)
        object.__setattr__(self, "event", event)
        object.__setattr__(self, "masked", event is not given)


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Who acts, in which session and project, and for whom."""

    actor: Actor
    project: str = ""  # empty: the project of the settings or of the checkout
    # On a shared store: the user who makes the request, and whether their records are visible to the team.
    user: str = ""
    shares: bool = False
    # What the user's key allows; without a key, everything.
    role: Role = "admin"


@dataclass(kw_only=True)
class Caches:
    """What searching learns about one store. All memories of that store share it."""

    store: Store
    embedder: Embedder | None
    judged: dict[str, list[float]] = field(default_factory=dict)  # sentences, by the classifier

    @cached_property
    def frequencies(self) -> Frequencies:
        """Word frequencies, cached as they are counted."""
        return Frequencies(self.store)

    @cached_property
    def codes(self) -> "Codes | Neighbours":
        """The vector search: codes of the projects searched so far on SQLite, or queries to PostgreSQL."""
        from holdfast.engine.search.vectors import vector_search  # noqa: PLC0415  numpy takes a tenth of a second to import

        return vector_search(self.store, self.embedder.center if self.embedder else 0.0)


@dataclass(frozen=True, kw_only=True)
class Memory:
    """A store with what a verb needs: the settings, the ports to the machine, and the context it acts in.

    It never changes: a verb that starts a session returns a memory that acts in it, and the host keeps its context.
    """

    store: Store
    config: Config
    checkout: Checkout
    embedder: Embedder | None
    context: Context
    classifier: Classifier | None = None  # judges in the worker, and reads a recall's leading answers; never in a write
    # Created on demand: a misconfigured observer must not prevent the memory from opening.
    observing: "Callable[[], Observing | None]" = lambda: None
    # Commits events that erase something, and removes the text from every copy on this machine (`upkeep/erasing.py`).
    on_erased: "Callable[[Memory, Sequence[Event]], tuple[list[Entry], Any]]"
    # Removes erased records from the replicas on this machine.
    copies: "Callable[[Sequence[ReplicaUpdate], Outdated], Scrubbed] | None" = None
    clock: Clock = field(default_factory=Clock)
    host: Host = field(default_factory=Host)
    # One thread at a time makes vectors; `wrote` wakes it when there is something to embed.
    embedding: threading.Lock = field(default_factory=threading.Lock)
    wrote: threading.Event = field(default_factory=threading.Event)
    keeping_up: threading.Event = field(default_factory=threading.Event)  # set while a thread embeds what is new
    # Why a local copy is used instead of the team's database; empty unless that is unreachable.
    apart: str = ""
    notices: tuple[str, ...] = ()  # what the user should know about how it was opened
    appended: list[Event] | None = None  # collects what is committed, for an undo
    # Feedback of each session, kept only while this process runs.
    feedback: dict[str, SessionFeedback] = field(default_factory=dict)

    caches: Caches = None  # type: ignore[assignment]  # made below, unless another memory of the store has them

    def __post_init__(self) -> None:
        known = self.caches
        if known is None or known.store is not self.store or known.embedder is not self.embedder:  # type: ignore[redundant-expr]
            object.__setattr__(self, "caches", Caches(store=self.store, embedder=self.embedder))

    @property
    def reader(self) -> "SentenceReader":
        """Reads what users and agents write; all memories of a store share what it has judged."""
        from holdfast.policy.language.reading import SentenceReader  # noqa: PLC0415  only where something is captured or compared

        return SentenceReader(self.classifier, self.caches.judged)

    @property
    def actor(self) -> Actor:
        """The agent, user or rule that acts, with its session."""
        return self.context.actor

    @property
    def project(self) -> str:
        """The current project: from the context, else from the settings, else from the checkout."""
        return self.context.project or self.config.project or self.checkout.project()

    @property
    def here(self) -> int:
        """The number of the current project in the store."""
        return self.store.project_number(self.project)

    @property
    def user(self) -> str:
        """The user of a server who makes the request; empty without a server."""
        return self.context.user

    @property
    def role(self) -> Role:
        """What the user's key allows."""
        return self.context.role

    def acting(self, **changed: Any) -> "Memory":
        """Return this memory with parts of its context changed: actor, project, user, shares, role."""
        return replace(self, context=replace(self.context, **changed))

    def acting_on(self, project: str) -> "Memory":
        """Return this memory for a project; the same object if there is none, or it is the current one."""
        return self if project in ("", self.project) else self.acting(project=project)

    def acting_in(self, session: str) -> "Memory":
        """Return this memory for another session."""
        return self.acting(actor=replace(self.actor, session=session))

    def acting_as(self, name: str) -> "Memory":
        """Return this memory with its events attributed to the named user."""
        return self.acting(actor=Actor(kind="user", name=name))

    def event(
        self,
        verb: Verb,
        about: str = "",
        *,
        data: Mapping[str, Any] | None = None,
        after: str = "",
        at: str = "",
        by: Actor | None = None,
    ) -> Event:
        """Return a new event, with an id later than `after`; without `about` it starts a record."""
        id_, at = self.clock.tick(after), at or self.clock.now()
        return Event(id=id_, about=about or id_, verb=verb, at=at, by=by or self.actor, data=data or {})

    def commit(self, events: Sequence[Event | Clean]) -> list[Entry]:
        """Store events with credentials masked, and erase every copy on this machine; return the records that changed.

        With a read-only key nothing is stored: impressions and uses that a rule observed are dropped, since they would
        change what others see, and all other events raise Forbidden.
        """
        if self.role == "read":
            for event in (each.event if isinstance(each, Clean) else each for each in events):
                if event.verb not in ("surfaced", "injected") and (event.verb, event.by.kind) != ("used", "rule"):
                    raise Forbidden("This key is read-only.", hint="Ask for a key of the role write.")
            return []
        signed = [self.signed(event) for event in events]
        is_erasing = any(event.verb in ("erased", "accepted") for event in signed)
        changed = self.on_erased(self, signed)[0] if is_erasing else self.store.commit(signed)
        if self.appended is not None:
            self.appended.extend(signed)
        if changed:  # impressions change no record and need no vector
            self.wrote.set()
            if not self.user and self.project == self.checkout.project():
                self.checkout.note_project(self.project)
        return changed

    def signed(self, event: Event | Clean) -> Event:
        """Return an event as it is stored: attributed to the requesting user, visible as they chose, credentials masked."""
        signed = given = event.event if isinstance(event, Clean) else event
        if self.user:
            data: dict[str, Any] = dict(given.data)
            if self.context.shares and given.verb == "recorded":
                data["visibility"] = "team"
            elif not self.context.shares and given.verb == "started":
                data["private"] = True
            signed = replace(given, by=replace(given.by, name=self.user), data=data)
        return signed if isinstance(event, Clean) and signed == given else _without_secrets(signed)

    def known(self, ids: Iterable[str]) -> dict[str, Record]:
        """Return the records with these ids, in their order; unknown ids are left out."""
        wanted = dict.fromkeys(ids)
        found = records.by_ids(self.store, wanted) if wanted else {}
        return {id_: found[id_].record for id_ in wanted if id_ in found}

    def note(self, events: Sequence[Event]) -> str:
        """Commit events that only record a read; return the reason if that failed, else an empty string.

        Reading must work on a full disk and from a store that cannot be written.
        """
        try:
            self.commit(events)
        except (StoreFull, StoreUnwritable) as problem:
            log.warning("what was read is not recorded: %s", problem)
            return f"{problem.message} {problem.hint}".strip()
        return ""

    def note_failure(self, name: str, reason: str) -> None:
        """Record why background work failed, for `holdfast doctor`."""
        counters.fail(self.store, name, self.clock.now(), reason)

    def close(self) -> None:
        """Close the store."""
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _without_secrets(event: Event) -> Event:
    stored = {"about": event.about, "name": event.by.name, "session": event.by.session, "data": event.data}
    clean = masked(stored)
    if clean is stored:
        return event
    by = replace(event.by, name=clean["name"], session=clean["session"])
    return replace(event, about=clean["about"], by=by, data=clean["data"])


def check_choice(value: str, allowed: Iterable[str], what: str) -> None:
    """Raise Invalid unless a value is one of those allowed; `what` it should be, with its article."""
    if value not in allowed:
        raise Invalid(f"{value!r} is not {what}.", hint=f"Use one of {', '.join(allowed)}.")


def is_at_hand(memory: Memory, record: Record) -> bool:
    """True if a record is active and belongs to this project or is global."""
    return record.state == "active" and record.project in (memory.project, GLOBAL)


def find(memory: Memory, reference: str, lists: str = "") -> Entry:
    """Return the record of an id, of its end or beginning, or of its id elsewhere; erased ones are not found. `lists` is the command for a hint."""
    check_keepable(reference)
    own = untagged(reference)
    found = _own(memory, own) or queries.by_foreign_id(memory.store, reference.strip())
    if not found:
        what, others = ("memory", "list") if own == reference.strip() else ("thread", "thread list")
        check_part(own, lists or others)
        raise NotFound(f"There is no {what} {reference}.", hint=f"`holdfast {lists or others}` shows what there is.")
    if len(found) > 1:
        raise Ambiguous(candidates(reference, {entry.record.id: entry.record.title for entry in found}))
    return found[0]


def expires(memory: Memory, record: Record) -> str:
    """Return until when a pending record can be approved; for a mined pattern the time counts from when it was last seen."""
    pattern = record.extra.get("pattern")
    seen = pattern.get("last_at") if isinstance(pattern, dict) else None
    since, days = (seen, memory.config.mined_days) if seen else (record.created_at, memory.config.pending_days)
    return days_before(str(since), -days)


def lapsed(memory: Memory, record: Record) -> bool:
    """True if a record has been pending too long."""
    return record.state == "pending" and expires(memory, record) < memory.clock.now()


def untagged(reference: str) -> str:
    """Return an id without its type prefix (`t-`, `ts-`)."""
    return _TAG.sub("", check_is_text(reference, "The id").strip(), count=1)


def is_reference(memory: Memory, text: str) -> bool:
    """True if a text is an id rather than words."""
    said = text.strip()
    if _LIKE_AN_ID.fullmatch(said) or _TAG.match(said) or UUID.fullmatch(said):
        return True
    return bool(_LIKE_A_SHORT_ID.fullmatch(said) and _own(memory, said))


def candidates(reference: str, titles: Mapping[str, str]) -> str:
    """Return a message that lists the ids a reference fits, each long enough to be used, with their titles."""
    shown = "; ".join(f"{short(id_, titles)} {shorten(title, 60)}" for id_, title in list(titles.items())[:5])
    return f"{reference} matches {len(titles)} memories: {shown}{'; …' if len(titles) > 5 else ''}"


def _own(memory: Memory, reference: str) -> list[Entry]:
    if not is_part(reference):
        return []
    found = records.with_part(memory.store, check_part(reference), MOST_CANDIDATES)
    return [entry for entry in found if entry.record.state != "erased"]

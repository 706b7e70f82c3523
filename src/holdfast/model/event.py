"""Events: immutable facts from which every record and view is derived; who made them, and what the current request may do."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

from holdfast.model.errors import Invalid
from holdfast.model.ids import check_id, parse_instant
from holdfast.model.text import check_keepable, texts_of

Json = dict[str, Any]
Verb = Literal[
    "recorded",  # a record was created; data is the whole draft, with `pending` if it needs approval
    "confirmed",  # a pending record was approved
    "revised",  # some fields got new values
    "verified",  # checked to be still true
    "retired",  # no longer used, kept with its reason
    "restored",  # back in use
    "redacted",  # credentials in its events were masked afterwards
    "erased",  # its text is deleted permanently, here and in every replica
    "linked",  # points at another record
    "unlinked",
    "arrived",  # events were imported: which, from whom, how, and whether they are quarantined
    "accepted",  # quarantined events were accepted, or with `withdrawn` they are quarantined again
    "rejected",  # quarantined events were rejected, or with `withdrawn` they are quarantined again
    "surfaced",  # returned by recall; says nothing about truth
    "used",  # its outcome was reported, or with `withdraws` a report was taken back
    "touched",  # worked on, as a thread, or with `withdraws` that was taken back
    "trusted",  # its trust was changed
    "heated",  # added to the hot set, or removed from it
    "injected",  # put into a context automatically
    "started",  # a session began or resumed
    "closed",  # a session ended
]
# What people read where the verb is not plain.
VERB_WORDS = {"recorded": "saved", "confirmed": "approved", "heated": "hot set changed", "redacted": "masked"}
# What can become of a record that was used, as `used` events report it.
OUTCOMES = (
    "applied",  # it was heeded
    "acknowledged",  # seen, does not apply here
    "refuted",  # seen, overruled knowingly
    "ignored",  # shown, and nothing came of it
    "contradicted",  # it is wrong
    "corrected",  # it was wrong and has been revised
    "succeeded",  # the work it was applied to went well
    "failed",  # it did not
    "dismissed",  # a suggestion nobody wanted
)
VERBS: frozenset[str] = frozenset(get_args(Verb))
# These change no record; views count them.
COUNTED: frozenset[str] = frozenset("surfaced used touched trusted heated injected started closed".split())
FOLDING: frozenset[str] = VERBS - COUNTED
# This store's own decisions about imported events: never sent, never accepted from others.
LOCAL: frozenset[str] = frozenset({"arrived", "accepted", "rejected"})
SHARED: frozenset[str] = FOLDING - LOCAL
ActorKind = Literal["agent", "user", "rule"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who caused an event, and in which session."""

    kind: ActorKind = "user"
    name: str = ""
    session: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened. The id sorts by time, which is the order of folding."""

    id: str
    about: str
    verb: Verb
    at: str
    by: Actor = field(default_factory=Actor)
    data: Mapping[str, Any] = field(default_factory=dict)


def by_record(events: Iterable[Event]) -> dict[str, list[Event]]:
    """Return events by what they are about, in their order."""
    found: dict[str, list[Event]] = {}
    for event in events:
        found.setdefault(event.about, []).append(event)
    return found


def ids_in(event: Event) -> tuple[str, ...]:
    """Return the ids of the records that an event says a session was given."""
    return tuple(texts_of(event.data.get("ids")))


def tokens_in(event: Event) -> int:
    """Return how many tokens an event says a session was given."""
    tokens = event.data.get("tokens")
    return tokens if isinstance(tokens, int) else 0


def in_words(event: Event) -> tuple[str, str]:
    """Return what happened and who caused it, for people: ("saved", "by ada"), ("received", "from mira@example.org")."""
    if event.verb == "arrived":
        return "received", f"from {event.data.get('from') or 'an unknown author'}"
    return VERB_WORDS.get(event.verb, event.verb), f"by {event.by.name or event.by.kind}"


def event_to_json(event: Event) -> Json:
    """Return an event in the format of exports."""
    by, data = asdict(event.by), dict(event.data)
    return {"id": event.id, "about": event.about, "verb": event.verb, "at": event.at, "by": by, "data": data}


def event_from_json(value: Any) -> Event:
    """Parse and check an exported event; every result can be folded."""
    try:
        by = value["by"]
        by = Actor(kind=by["kind"], name=_text(by["name"]), session=_text(by["session"]))
        parts = {"id": check_id(value["id"]), "about": _text(value["about"]), "at": parse_instant(value["at"])}
        event = Event(**parts, verb=value["verb"], by=by, data=value["data"])
    except (KeyError, TypeError, AttributeError) as problem:
        raise Invalid("This is not an event.", hint="Each line of an export is an event as JSON.") from problem
    if event.verb not in VERBS or event.by.kind not in get_args(ActorKind) or not isinstance(event.data, dict):
        raise Invalid("This is not an event of this version.", hint="It may come from a newer Holdfast: upgrade.")
    if event.verb in FOLDING:
        check_id(event.about)
    check_keepable(value)
    return event


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


Role = Literal["read", "write", "admin"]
EVERYWHERE = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """A user and what their key allows: a role in these projects (`*` is all of them), and nothing elsewhere."""

    user: str = ""
    role: Role = "read"
    projects: tuple[str, ...] = ()

    def reaches(self, project: str) -> bool:
        """True if this access includes a project."""
        return project in self.projects or EVERYWHERE in self.projects


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A user's key as it is stored. Times are empty if they do not apply: never used, not revoked, no expiry."""

    id: str
    owner: str
    hash: str
    role: Role
    projects: tuple[str, ...]
    created_at: str
    expires_at: str = ""
    used_at: str = ""
    revoked_at: str = ""


NO_ACCESS = Access()
_asking: ContextVar[Access] = ContextVar("asking", default=NO_ACCESS)
who_asks = _asking.get  # the access of this thread or task, as set by `asking`; without it, an access to nothing


@contextmanager
def asking(access: Access) -> Iterator[None]:
    """Set the access of this thread or task for the duration of the block."""
    before = _asking.set(access)
    try:
        yield
    finally:
        _asking.reset(before)

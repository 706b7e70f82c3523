"""One thing that happened; events never change and everything else follows from them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from holdfast.model.errors import Invalid
from holdfast.model.ids import check_id, parse_instant
from holdfast.model.text import check_keepable

Json = dict[str, Any]
Verb = Literal[
    "recorded",  # a record came to be; data is the whole draft, `pending` when it waits for a yes
    "confirmed",  # a pending record was accepted
    "revised",  # some fields got new values
    "verified",  # somebody checked that it still holds
    "retired",  # no longer used, kept with its reason
    "restored",  # back in use
    "redacted",  # credentials in what was said of it were masked afterwards
    "erased",  # its text is gone for good, here and in every replica
    "linked",  # points at another record
    "unlinked",
    "arrived",  # events came from elsewhere: which, from whom, by what way, and whether they wait to be accepted
    "accepted",  # what arrived and waited may count
    "rejected",  # what arrived shall not count
    "surfaced",  # recall showed it; says nothing about truth
    "used",  # somebody said what became of it
    "touched",  # somebody worked on it, as on a thread
    "trusted",  # somebody said how far it is to be believed
    "heated",  # it was put into the hot set, or taken out of it
    "injected",  # it was put into a context unasked
    "started",  # a session began, or was taken up again
    "closed",  # a session ended
]
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
COUNTED: frozenset[str] = frozenset(
    {"surfaced", "used", "touched", "trusted", "heated", "injected", "started", "closed"}
)
FOLDING: frozenset[str] = VERBS - COUNTED
# What this store decided about what came to it: never told to anybody, never taken from anybody.
LOCAL: frozenset[str] = frozenset({"arrived", "accepted", "rejected"})
SHARED: frozenset[str] = FOLDING - LOCAL
ActorKind = Literal["agent", "user", "rule"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who did it, and in which session."""

    kind: ActorKind = "user"
    name: str = ""
    session: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One thing that happened. The id sorts by time: the order of folding, everywhere."""

    id: str
    about: str
    verb: Verb
    at: str
    by: Actor = field(default_factory=Actor)
    data: Mapping[str, Any] = field(default_factory=dict)


def event_to_json(event: Event) -> Json:
    """Write an event as it is exported."""
    by = {"kind": event.by.kind, "name": event.by.name, "session": event.by.session}
    return {
        "id": event.id,
        "about": event.about,
        "verb": event.verb,
        "at": event.at,
        "by": by,
        "data": dict(event.data),
    }


def event_from_json(value: Any) -> Event:
    """Read an exported event; whatever passes here can be folded."""
    try:
        by = value["by"]
        event = Event(
            id=check_id(value["id"]),
            about=_text(value["about"]),
            verb=value["verb"],
            at=parse_instant(value["at"]),
            by=Actor(kind=by["kind"], name=_text(by["name"]), session=_text(by["session"])),
            data=value["data"],
        )
    except (KeyError, TypeError, AttributeError) as problem:
        raise Invalid("This is not an event.", hint="Each line of an export is one event as JSON.") from problem
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

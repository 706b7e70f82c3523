"""Learn from a repository's history: what was chosen and why, what kept breaking, what was taken back."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from holdfast.model.errors import Invalid
from holdfast.model.event import Actor, Event
from holdfast.model.fold import fold
from holdfast.model.history import History
from holdfast.model.ids import fixed_id
from holdfast.model.record import Draft, Record
from holdfast.policy.activity.commits import is_held, learnable
from holdfast.policy.language.signals import NOVEL
from holdfast.verbs.capture.derive import novelty
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.write import draft_event

LIMIT, MOST, MOST_KEPT = 500, 5_000, 50
BY = Actor(kind="rule", name="learn")


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """What a history taught: how many commits were new, what is kept now, what was known, and what was too much at once."""

    commits: int = 0
    kept: tuple[Record, ...] = ()
    known: int = 0
    left_out: int = 0
    dry_run: bool = False


def learn(memory: Memory, history: History, *, since: str = "", limit: int = LIMIT, dry_run: bool = False) -> Learned:
    """Read what happened since the last time into candidates. Done again it changes nothing."""
    if not 1 <= limit <= MOST:
        raise Invalid(f"limit must be between 1 and {MOST}.")
    head = history.head()
    fresh = history.commits(after="" if since else learned_up_to(memory), since=since, limit=limit)
    # A fix may go on with a chain that began before, so the latest of what was read already is looked at again.
    every = fresh if since or not fresh else history.commits(limit=limit)
    told = _told(
        memory, learnable(list({one.hash: one for one in (*every, *fresh)}.values())), {one.hash for one in fresh}
    )
    events = [event for about, draft in told.items() if (event := _event(memory, about, draft))]
    kept = events[-MOST_KEPT:]
    records = _preview(memory, kept) if dry_run else [entry.record for entry in memory.commit(kept)]
    if head and not (dry_run or since):
        memory.store.note(_mark(memory), head)
    return Learned(
        commits=len(fresh),
        kept=tuple(records),
        known=len(told) - len(events),
        left_out=len(events) - len(kept),
        dry_run=dry_run,
    )


def learned_up_to(memory: Memory) -> str:
    """Give the commit up to which this project's history was read."""
    return memory.store.setting(_mark(memory))


def _mark(memory: Memory) -> str:
    return f"learned {memory.project}"


def _told(memory: Memory, drafts: Sequence[Draft], fresh: set[str]) -> dict[str, Draft]:
    """Give the drafts that a new commit has a part in, each by the id it is kept under."""
    return {_about(memory, draft): draft for draft in drafts if fresh & set(draft.extra["commits"])}


def _about(memory: Memory, draft: Draft) -> str:
    """Give the id of a draft: what makes it the same one next time is where it began and the file it is about."""
    first, place = draft.extra["commits"][0], next(iter(draft.anchors), "")
    name = f"learn {memory.project} {draft.kind} {draft.fields.get('subtitle', '')} {first} {place}"
    return fixed_id(datetime.fromisoformat(str(draft.extra["began"])).timestamp(), name)


def _event(memory: Memory, about: str, draft: Draft) -> Event | None:
    """Give the event that keeps a draft, or brings a chain of fixes up to date; nothing if it is known or was sorted out."""
    known = memory.store.folded(about)
    if known is None and novelty(memory, draft) < NOVEL:
        return None
    # What waits for a yes waits from now on, however old the commit is.
    event = draft_event(memory, replace(draft, at="") if is_held(draft) else draft, pending=is_held(draft))
    origin = {"commit": draft.extra["commits"][-1]}
    if known is None:
        return replace(event, id=about, about=about, by=BY, data={**event.data, "origin": origin})
    told = memory.store.events_about(about)
    if (
        known.body == event.data["body"]
        or known.state not in ("active", "pending")
        or any(one.by != BY for one in told)
    ):
        return None
    changed = {name: event.data[name] for name in ("title", "body", "fields", "extra") if name in event.data}
    return replace(memory.event("revised", about, data=changed, after=known.head), by=BY)


def _preview(memory: Memory, events: Sequence[Event]) -> list[Record]:
    """Give the records as they would be."""
    return [record for event in events if (record := fold(memory.store.folded(event.about), event))]

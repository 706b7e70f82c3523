"""Sync the store with a replica, both ways: import what arrived, then export what changed."""

import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from holdfast.engine.locks import turn
from holdfast.engine.views import records
from holdfast.model.event import FOLDING, SHARED, Event
from holdfast.model.fold import REJECTED, set_aside
from holdfast.model.foreign import Remark
from holdfast.model.ports import RemoteReplica, Replica
from holdfast.model.record import Record, record_to_json
from holdfast.model.replica import DeletedFile, ReadOutcome, ReplicaChanges, ReplicaUpdate, WriteCounts
from holdfast.model.text import counted
from holdfast.policy.admission.admit import secret_names
from holdfast.policy.admission.sharing import Sharing, is_carried
from holdfast.policy.secrets.find import mask_secrets, texts_of
from holdfast.verbs.exchange.edits import Plan, plan_edits, plan_retirements
from holdfast.verbs.exchange.incoming import FROM_THE_FUTURE, TOO_EARLY, Passed, keep_events, passed
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.conflicts import overwritten

PAGE = 1_000
TRIES = 5
Agree = Callable[[str], bool]


def never(_question: str) -> bool:
    """Return False: a sync without a user confirms nothing."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Synced:
    """What a sync did, or would do."""

    replica: str
    came: int = 0  # records that changed here
    retired: int = 0  # of these, because their file was deleted
    put: WriteCounts = field(default_factory=WriteCounts)
    remarks: tuple[Remark, ...] = ()
    missing: int = 0  # deleted files whose memories were not retired
    offline: str = ""
    pushed: int = 0
    held: Mapping[str, int] = field(default_factory=dict)  # quarantined memories by author


def sync(
    memory: Memory,
    replica: Replica,
    sharing: Sharing,
    *,
    agree: Agree = never,
    put_back: bool = False,
    dry_run: bool = False,
) -> Synced:
    """Sync store and replica. Idempotent; after an interruption it can be repeated."""
    with turn(memory.store.folder):  # an erasure meanwhile must not be undone by a later write
        last, cursor = memory.store.last_seq(), replica.cursor
        arrived = replica.read(afresh=cursor > last)
        plan = plan_edits(memory, arrived, sharing, lost=not cursor)
        gone, missing = _gone(arrived, agree=agree, put_back=put_back)
        retired = plan_retirements(memory, gone, plan)

        def carriers(ids: Collection[str]) -> Mapping[str, str | None]:
            return {**replica.carriers([id_ for id_ in ids if id_ not in plan.authors]), **plan.authors}

        border = passed(memory, [*arrived.events, *plan.arriving], sharing, way=replica.name, carriers=carriers)
        events = [*border.marks, *border.events, *plan.events, *retired]
        remarks = [*arrived.remarks, *plan.refused, *plan.remarks, *border.remarks]
        more = {*plan.touched, *arrived.owed, *((file.about for file in arrived.gone) if put_back else ())}
        born = {about: path for path, about in plan.born.items()}
        outgoing = partial(_outgoing, memory, replica, sharing, 0 if cursor > last else cursor, born, more)
        if dry_run:
            updates, withheld = outgoing()
            put, changed, replaced = (
                WriteCounts(records=len(updates)),
                {event.about for event in events},
                list[Remark](),
            )
        else:
            changed = {record.id for record in keep_events(memory, events)}
            upto = memory.store.last_seq()  # read first: what others write meanwhile is exported next time
            updates, withheld = outgoing()
            put = replica.write(updates, _settled(plan, border, arrived, put_back=put_back), cursor=upto)
            replaced = [each.remark for each in overwritten(memory, changed)]
        return Synced(
            replica=replica.name,
            came=len(changed - _waiting_in(events)),
            retired=len(retired),
            put=put,
            remarks=_printable([*remarks, *withheld, *put.remarks, *replaced]),
            missing=missing,
            held=border.held,
        )


def take_from(memory: Memory, replica: Replica, sharing: Sharing) -> Synced:
    """Import the content of a replica, and write nothing to it."""
    arrived = replica.read(afresh=True)
    plan = plan_edits(memory, arrived, sharing, lost=True)
    border = passed(memory, [*arrived.events, *plan.arriving], sharing)
    came = keep_events(memory, [*border.events, *plan.events])
    remarks = _printable([*arrived.remarks, *plan.refused, *plan.remarks, *border.remarks])
    return Synced(replica=replica.name, came=len(came), remarks=remarks)


def sync_afar(
    memory: Memory, replica: RemoteReplica, sharing: Sharing, remote: str, *, push: bool = True, dry_run: bool = False
) -> Synced:
    """Sync with a remote: fetch, merge, sync, push, and again if the remote changed meanwhile. Offline it syncs locally."""
    whole = Synced(replica=replica.name)
    for _ in range(TRIES):
        reached = replica.fetch(remote) if remote and not dry_run else None
        whole = _added(whole, sync(memory, replica, sharing, dry_run=dry_run))
        if reached is None or reached.problem or not push:
            return replace(whole, offline=reached.problem if reached else "")
        sent = replica.push(remote)
        if not sent.rejected:
            return replace(whole, offline=sent.problem, pushed=sent.refs)
    return replace(whole, offline=f"{remote} keeps changing or rejects the push: {sent.problem}")


def _printable(remarks: Sequence[Remark]) -> tuple[Remark, ...]:
    """Return remarks with the secrets in names of files and authors masked."""
    return tuple(Remark(where=mask_secrets(remark.where), why=mask_secrets(remark.why)) for remark in remarks)


def _waiting_in(events: Sequence[Event]) -> set[str]:
    """Return the records of which only quarantined events came."""
    marks = [event for event in events if event.verb == "arrived" and event.data["held"]]
    waits = {event_id for mark in marks for event_id in mark.data["events"]}
    return {mark.about for mark in marks} - {
        event.about for event in events if event.verb in SHARED and event.id not in waits
    }


def _added(first: Synced, second: Synced) -> Synced:
    counts = ("records", "events", "removed", "scrubbed")
    put = replace(second.put, **{name: getattr(first.put, name) + getattr(second.put, name) for name in counts})
    remarks = tuple(dict.fromkeys((*first.remarks, *second.remarks)))
    held = {who: first.held.get(who, 0) + second.held.get(who, 0) for who in (*first.held, *second.held)}
    came, retired = first.came + second.came, first.retired + second.retired
    return replace(second, came=came, retired=retired, put=put, remarks=remarks, held=held)


def _gone(arrived: ReplicaChanges, *, agree: Agree, put_back: bool) -> tuple[list[DeletedFile], int]:
    """Return the records whose files were deleted on purpose, and how many are missing without confirmation.

    A missing folder, or many files at once, may be an accident: that needs confirmation.
    """
    abouts = list(arrived.gone)
    if not abouts or put_back or arrived.jumped:
        return [], 0
    many = len(abouts) > 1 and 5 * len(abouts) > arrived.files
    if not arrived.vanished and not many:
        return abouts, 0
    what = "The folder is gone" if arrived.vanished else f"{len(abouts)} of {counted(arrived.files, 'file')} are gone"
    if agree(f"{what}. Retire {counted(len(abouts), 'memory')}?"):
        return abouts, 0
    return [], len(abouts)


def _settled(plan: Plan, border: Passed, arrived: ReplicaChanges, *, put_back: bool) -> ReadOutcome:
    rejected = {remark.where for remark in border.remarks}
    refused = {remark.where for remark in plan.refused}
    refused |= {edit.where for edit in arrived.edits if edit.about in rejected}
    back = frozenset(file.about for file in arrived.gone) if put_back else frozenset()
    again = border.left or any(remark.why in (TOO_EARLY, FROM_THE_FUTURE) for remark in border.remarks)
    kept = {event.about for event in border.events}
    refused |= {edit.where for edit in arrived.edits if border.left and edit.author and edit.about not in kept}
    return ReadOutcome(refused=frozenset(refused), old=plan.old, put_back=back, again=again)


def _outgoing(
    memory: Memory, replica: Replica, sharing: Sharing, cursor: int, where: Mapping[str, str], more: set[str]
) -> tuple[list[ReplicaUpdate], list[Remark]]:
    """Return what to write to the replica (changes since its cursor, and what its own files created) and what is withheld."""
    updates, withheld = [], []
    for record in _changed(memory, cursor, sharing, {*where, *more}):
        carried = is_carried(record, sharing)
        history = memory.store.events_about(record.id) if sharing.team else []
        aside = set_aside(history)
        if record.state == "held" or record.reason == REJECTED:
            continue
        if "waits" in aside.values() and not replica.stores_events:
            continue  # a file with quarantined content is neither followed nor undone
        events = tuple(event for event in history if event.verb in SHARED and event.id not in aside)
        was_shared = any(event.data.get("visibility") == "team" for event in events)
        if not carried and not was_shared and record.state != "erased":  # of an erased one that is unknown
            continue
        contents = [dict(event.data) for event in events] if replica.stores_events else [record_to_json(record)]
        if carried and sharing.team and (names := secret_names("\n".join(texts_of(contents)))):
            withheld.append(
                Remark(where=record.id, why=f"it contains a secret ({', '.join(names)}), so it is not shared")
            )
            continue
        if replica.stores_events and any(memory.clock.is_ahead(event.id) for event in events):
            why = "it was written while the clock was ahead, so others import it later; save it again to share it now"
            withheld.append(Remark(where=record.id, why=why))
        updates.append(ReplicaUpdate(record=record, events=events, carried=carried, where=where.get(record.id, "")))
    return updates, withheld


def _changed(memory: Memory, cursor: int, sharing: Sharing, more: set[str]) -> Iterator[Record]:
    if cursor:
        new = (event.about for _, event in memory.store.journal(cursor) if event.verb in FOLDING)
        for about in dict.fromkeys((*new, *sorted(more))):
            if record := memory.store.folded(about):
                yield record
        return
    homes = memory.store.homes(sharing.project)
    for low, high in map(records.span, homes) if sharing.team else [(0, sys.maxsize)]:
        last = low - 1
        while page := [entry for entry in records.after(memory.store, last, PAGE) if entry.number <= high]:
            yield from (entry.record for entry in page)
            last = page[-1].number

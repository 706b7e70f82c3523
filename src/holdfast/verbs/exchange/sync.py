"""Sync the store with a replica, both ways. Edits of files become events: a new file records, a deleted one retires."""

import json
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from typing import Any

from holdfast.engine.locks import turn
from holdfast.engine.views import records
from holdfast.model import replica as exchange
from holdfast.model.errors import Invalid
from holdfast.model.event import FOLDING, SHARED, Actor, ActorKind, Event, Json
from holdfast.model.foreign_json import texts_in
from holdfast.model.ids import named_id
from holdfast.model.ports import RemoteReplica, Replica
from holdfast.model.record import GLOBAL, REJECTED, Draft, Record, fold, plain, record_to_json, set_aside
from holdfast.model.replica import BIRTH, DeletedFile, Edit, Remark, ReplicaChanges, WriteCounts, parts_of
from holdfast.model.text import check_keepable, counted, headline, text_or_empty
from holdfast.policy.admission.sharing import Sharing, is_carried
from holdfast.policy.secrets.find import find_secrets, mask_secrets, secrets_in
from holdfast.verbs.exchange.incoming import FROM_THE_FUTURE, TOO_EARLY, Passed, keep_events, passed
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.conflicts import overwritten
from holdfast.verbs.records.read import pages
from holdfast.verbs.records.write import check_draft, draft_event, refuse_secrets

TRIES = 5
Agree = Callable[[str], bool]
REMOVED = "its file was removed"
_DRAFT = frozenset(spec.name for spec in fields(Draft)) - {"at", "links", "project", "source"}
_MERGED = ("fields", "extra")  # mappings that are merged entry by entry
_ALWAYS = frozenset({"kind", "confidence", "visibility"})  # deleting their line in a file does not empty these


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


@dataclass(slots=True)
class Plan:
    """The events of edits, the records of new files, and what is left unchanged."""

    events: list[Event] = field(default_factory=list)
    arriving: list[Event] = field(default_factory=list)  # pass the border: new records with an id, committed edits
    retired: list[Event] = field(default_factory=list)  # of deleted files
    born: dict[str, str] = field(default_factory=dict)  # records of new files → their files
    touched: set[str] = field(default_factory=set)
    refused: list[Remark] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)  # about files that were used nevertheless
    old: dict[str, str] = field(default_factory=dict)
    authors: dict[str, str | None] = field(default_factory=dict)  # of what arrives; None: edited on this machine

    def arrive(self, events: Sequence[Event], author: str) -> None:
        """Let events pass the border under an author's name; without one they count as edited on this machine."""
        self.arriving += events
        self.authors |= dict.fromkeys((event.id for event in events), author or None)


def sync(
    memory: Memory,
    replica: Replica,
    sharing: Sharing,
    *,
    agree: Agree = lambda _: False,
    put_back: bool = False,
    dry_run: bool = False,
) -> Synced:
    """Sync store and replica. Idempotent; after an interruption it can be repeated."""
    with turn(memory.store.folder):  # an erasure meanwhile must not be undone by a later write
        last, cursor = memory.store.last_seq(), replica.cursor
        arrived = replica.read(afresh=cursor > last)
        plan = plan_edits(memory, arrived, sharing, lost=not cursor)
        gone, missing = _gone(arrived, agree=agree, put_back=put_back)
        _plan_retirements(memory, gone, plan)

        def carriers(ids: Collection[str]) -> Mapping[str, str | None]:
            return {**replica.carriers([id_ for id_ in ids if id_ not in plan.authors]), **plan.authors}

        border = passed(memory, [*arrived.events, *plan.arriving], sharing, way=replica.name, carriers=carriers)
        events = [*border.marks, *border.events, *plan.events, *plan.retired]
        changed = {each.about for each in events} if dry_run else {each.id for each in keep_events(memory, events)}
        upto = memory.store.last_seq()  # read first: what others write meanwhile is exported next time
        more = {*plan.touched, *arrived.owed, *((file.about for file in arrived.gone) if put_back else ())}
        updates, withheld = _outgoing(memory, replica, sharing, 0 if cursor > last else cursor, plan.born, more)
        put, replaced = WriteCounts(records=len(updates)), list[Remark]()
        if not dry_run:
            put = replica.write(updates, _settled(plan, border, arrived, put_back=put_back), cursor=upto)
            replaced = [each.remark for each in overwritten(memory, changed)]
        # Of some records only quarantined events came.
        quarantining = [event for event in events if event.verb == "arrived" and event.data["held"]]
        waits = {event_id for event in quarantining for event_id in event.data["events"]}
        used = {event.about for event in events if event.verb in SHARED and event.id not in waits}
        remarks = (arrived.remarks, plan.refused, plan.remarks, border.remarks, withheld, put.remarks, replaced)
        return Synced(
            replica=replica.name,
            came=len(changed - ({event.about for event in quarantining} - used)),
            retired=len(plan.retired),
            put=put,
            remarks=_printable(*remarks),
            missing=missing,
            held=border.held,
        )


def take_from(memory: Memory, replica: Replica, sharing: Sharing) -> Synced:
    """Import the content of a replica, and write nothing to it."""
    arrived = replica.read(afresh=True)
    plan = plan_edits(memory, arrived, sharing, lost=True)
    border = passed(memory, [*arrived.events, *plan.arriving], sharing)
    came = keep_events(memory, [*border.events, *plan.events])
    remarks = _printable(arrived.remarks, plan.refused, plan.remarks, border.remarks)
    return Synced(replica=replica.name, came=len(came), remarks=remarks)


def sync_afar(
    memory: Memory, replica: RemoteReplica, sharing: Sharing, remote: str, *, push: bool = True, dry_run: bool = False
) -> Synced:
    """Sync with a remote: fetch, merge, sync, push, and again if the remote changed meanwhile. Offline it syncs locally."""
    whole = Synced(replica=replica.name)
    for _ in range(TRIES):
        reached = replica.fetch(remote) if remote and not dry_run else None
        second = sync(memory, replica, sharing, dry_run=dry_run)
        counts = ("records", "events", "removed", "scrubbed")
        put = replace(second.put, **{name: getattr(whole.put, name) + getattr(second.put, name) for name in counts})
        remarks = tuple(dict.fromkeys((*whole.remarks, *second.remarks)))
        held = {who: whole.held.get(who, 0) + second.held.get(who, 0) for who in (*whole.held, *second.held)}
        came, retired = whole.came + second.came, whole.retired + second.retired
        whole = replace(second, came=came, retired=retired, put=put, remarks=remarks, held=held)
        if reached is None or reached.problem or not push:
            return replace(whole, offline=reached.problem if reached else "")
        sent = replica.push(remote)
        if not sent.rejected:
            return replace(whole, offline=sent.problem, pushed=sent.refs)
    return replace(whole, offline=f"{remote} keeps changing or rejects the push: {sent.problem}")


def _printable(*remarks: Iterable[Remark]) -> tuple[Remark, ...]:
    """Return remarks with the secrets in names of files and authors masked."""
    return tuple(Remark(where=mask_secrets(each.where), why=mask_secrets(each.why)) for each in chain(*remarks))


def _gone(arrived: ReplicaChanges, *, agree: Agree, put_back: bool) -> tuple[list[DeletedFile], int]:
    """Return files deleted on purpose, and how many are missing unconfirmed: many at once may be an accident."""
    abouts = list(arrived.gone)
    if not abouts or put_back or arrived.jumped:
        return [], 0
    many = len(abouts) > 1 and 5 * len(abouts) > arrived.files
    if arrived.vanished or many:
        of = f"{len(abouts)} of {counted(arrived.files, 'file')} are gone"
        what = "The folder is gone" if arrived.vanished else of
        if not agree(f"{what}. Retire {counted(len(abouts), 'memory')}?"):
            return [], len(abouts)
    return abouts, 0


def _settled(plan: Plan, border: Passed, arrived: ReplicaChanges, *, put_back: bool) -> exchange.ReadOutcome:
    rejected = {remark.where for remark in border.remarks}
    refused = {remark.where for remark in plan.refused}
    refused |= {edit.where for edit in arrived.edits if edit.about in rejected}
    back = frozenset(file.about for file in arrived.gone) if put_back else frozenset()
    again = border.left or any(remark.why in (TOO_EARLY, FROM_THE_FUTURE) for remark in border.remarks)
    kept = {event.about for event in border.events}
    refused |= {edit.where for edit in arrived.edits if border.left and edit.author and edit.about not in kept}
    return exchange.ReadOutcome(refused=frozenset(refused), old=plan.old, put_back=back, again=again)


def _outgoing(
    memory: Memory, replica: Replica, sharing: Sharing, cursor: int, where: Mapping[str, str], more: set[str]
) -> tuple[list[exchange.ReplicaUpdate], list[Remark]]:
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
        if carried and sharing.team and (names := secrets_in("\n\n".join(texts_in(contents, keys=False)))):
            why = f"it contains a secret ({', '.join(names)}), so it is not shared"
            withheld.append(Remark(where=record.id, why=why))
            continue
        if replica.stores_events and any(memory.clock.is_ahead(event.id) for event in events):
            why = "it was written while the clock was ahead, so others import it later; save it again to share it now"
            withheld.append(Remark(where=record.id, why=why))
        place = where.get(record.id, "")
        updates.append(exchange.ReplicaUpdate(record=record, events=events, carried=carried, where=place))
    return updates, withheld


def _changed(memory: Memory, cursor: int, sharing: Sharing, more: set[str]) -> Iterator[Record]:
    if cursor:
        new = (event.about for _, event in memory.store.journal(cursor) if event.verb in FOLDING)
        for about in dict.fromkeys((*new, *sorted(more))):
            if record := memory.store.folded(about):
                yield record
        return
    spans = map(records.span, memory.store.homes(sharing.project)) if sharing.team else [(0, sys.maxsize)]
    yield from (record for span in spans for page in pages(memory, span) for record in page)


def plan_edits(memory: Memory, arrived: ReplicaChanges, sharing: Sharing, *, lost: bool) -> Plan:
    """Return the events of edited files. `lost`: the former content of the files is unknown."""
    plan = Plan()
    for edit in arrived.edits:
        try:
            _plan(memory, edit, sharing, plan, jumped=arrived.jumped, lost=lost)
        except Invalid as problem:
            plan.refused.append(Remark(where=edit.where, why=str(problem)))
    return plan


def _plan_retirements(memory: Memory, gone: Sequence[DeletedFile], plan: Plan) -> None:
    """Plan to retire records whose files were deleted here; deletions by a commit pass the border."""
    for file in gone:
        record, history = memory.store.folded(file.about), memory.store.events_about(file.about)
        aside = set_aside(history) if file.author else {}
        # The same deletion may have arrived before, without counting.
        waits = any(event.verb == "retired" and event.by.name == file.author for event in history if event.id in aside)
        if record is None or record.state != "active" or waits:
            continue
        if file.doubt and memory.config.quarantine != "off":
            plan.refused.append(Remark(where=file.where, why=f"It was deleted, but {file.doubt}."))
            continue
        who = memory.acting_as(file.author) if file.author else memory
        event = who.event("retired", record.id, data={"reason": REMOVED}, after=record.head)
        plan.arrive([event], file.author) if file.author else plan.retired.append(event)


def _plan(memory: Memory, edit: Edit, sharing: Sharing, plan: Plan, *, jumped: bool, lost: bool) -> None:
    if edit.doubt and memory.config.quarantine != "off":
        raise Invalid(f"It was not imported: {edit.doubt}.")
    if secrets := refuse_secrets(edit.said):
        raise Invalid(f"It contains a secret ({', '.join(secrets.names)}).", hint="Remove it from the file.")
    if find_secrets(edit.where):  # the names of files are in the state of the replica
        raise Invalid("Its name contains a secret.", hint="Rename the file.")
    check_keepable(edit.said)
    who = memory.acting_as(edit.author) if edit.author else memory
    if not edit.about:
        plan.born[_plan_new(memory, edit, sharing, plan)] = edit.where
        return
    record, history = memory.store.folded(edit.about), memory.store.events_about(edit.about)
    if record is None:
        plan.arrive(_recorded_elsewhere(memory, edit, sharing), edit.author)
        plan.born[edit.about] = edit.where
        return
    _check_open(record, edit, sharing)
    base = edit.before if edit.before is not None else _nearest(history, edit.said, sharing)
    unchanged = edit.before is None and base == edit.said
    if unchanged and jumped:
        plan.old[edit.where] = record.id
        return
    plan.touched.add(record.id)
    if record.state == "retired" and lost:
        if not unchanged:
            raise Invalid(f"It was retired ({record.reason}).", hint=f"Run `holdfast restore {record.id}` first.")
        return  # a leftover file
    done = [who.event("restored", record.id, after=record.head)] if record.state == "retired" else []
    done += _revision(who, record, base, edit.said, after=done[0].id if done else record.head)
    plan.arrive(done, edit.author) if edit.author else plan.events.extend(done)
    fixed = BIRTH - {"id"} - sharing.implied.keys()
    if changed := sorted(name for name in fixed if base.get(name) != edit.said.get(name)):
        plan.remarks.append(Remark(where=edit.where, why=f"{', '.join(changed)} cannot be changed by hand"))


def _plan_new(memory: Memory, edit: Edit, sharing: Sharing, plan: Plan) -> str:
    """Plan the record of a new file and return its id; a committed file gets the same id on every read."""
    if not edit.author:
        parts = edit.said
        values = {name: parts[name] for name in _DRAFT & parts.keys()} | dict(sharing.implied)
        project = values.get("project", parts.get("project", GLOBAL))
        event = draft_event(memory, _draft({**values, "project": project, "body": parts.get("body", "")}))
        # Parts that a draft has no field for are kept.
        unknown = {name: item for name, item in parts.items() if name not in _DRAFT | BIRTH | {"verified_at", "body"}}
        plan.events.append(replace(event, data={**event.data, **unknown}))
        return event.about
    about = named_id(f"file {edit.where}\n{edit.author}\n{json.dumps(edit.said, sort_keys=True, default=str)}")
    if not memory.store.events_about(about):
        title = edit.said.get("title") or headline(str(edit.said.get("body", "")))
        identified = replace(edit, about=about, said={**edit.said, "title": title})
        plan.arrive(_recorded_elsewhere(memory, identified, sharing), edit.author)
    return about


def _check_open(record: Record, edit: Edit, sharing: Sharing) -> None:
    if record.state == "erased":
        raise Invalid("It was erased.", hint="Delete the file, or remove its id to make it a new memory.")
    if record.state == "retired" and edit.before is not None:
        raise Invalid(f"It was retired meanwhile ({record.reason}).", hint=f"Run `holdfast restore {record.id}` first.")
    if not is_carried(record, sharing) and record.state not in ("pending", "held"):
        raise Invalid("It is private here, or belongs to another project.")


def _recorded_elsewhere(memory: Memory, edit: Edit, sharing: Sharing) -> list[Event]:
    """Return the events of a file about a record made elsewhere: the same on every machine that reads it."""
    parts = edit.said
    if not parts.get("body") and not parts.get("title"):
        raise Invalid("It is empty.")
    at = parts.get("created_at") or memory.clock.now()
    said = parts["by"] if isinstance(parts.get("by"), dict) else {}
    kind, name = said.get("kind"), said.get("name")
    known: ActorKind = kind if kind in ("agent", "user", "rule") else "user"
    by = Actor(kind=known, name=text_or_empty(name))
    data = {name: item for name, item in parts.items() if name not in ("id", "by", "created_at", "verified_at")}
    first = named_id(f"file {edit.about}", at, after=edit.about)  # the original event, if it ever arrives, sorts first
    events = [Event(id=first, about=edit.about, verb="recorded", at=at, by=by, data={**data, **sharing.implied})]
    if checked := parts.get("verified_at"):
        name = named_id(f"file {edit.about} {checked}", checked, after=first)
        events.append(Event(id=name, about=edit.about, verb="verified", at=checked, by=by))
    return events


def _revision(memory: Memory, record: Record, base: Json, parts: Json, *, after: str) -> list[Event]:
    """Return the events that apply the changes of a file to its record, and nothing else."""
    now, changed = parts_of(record), dict[str, Any]()
    for name in sorted({*base, *parts} - BIRTH):  # mappings change entry by entry, the rest whole
        if base.get(name) == parts.get(name):
            continue
        if name in _MERGED:
            old, new = base.get(name, {}), parts.get(name, {})
            merged = now.get(name, {}) | {key: item for key, item in new.items() if old.get(key) != item}
            changed[name] = {key: item for key, item in merged.items() if key in new or key not in old}
        elif name in parts or name not in _ALWAYS:
            changed[name] = parts[name] if name in parts else type(base[name])()
    changed = {name: item for name, item in changed.items() if item != now.get(name)}
    checked = changed.pop("verified_at", "")
    if "body" in changed and "title" not in changed and record.body.startswith(record.title.rstrip("…")):
        changed["title"] = ""  # the title was derived from the text, so it follows it
    current = {name: getattr(record, name) for name in _DRAFT}
    draft = check_draft(memory, _draft({**current, **{name: changed[name] for name in _DRAFT & changed.keys()}}))
    data = {name: plain(getattr(draft, name)) if name in _DRAFT else item for name, item in changed.items()}
    data = {name: item for name, item in data.items() if item != now.get(name)}
    events = [memory.event("revised", record.id, data=data, after=after)] if data else []
    if checked and checked != record.verified_at:
        events.append(memory.event("verified", record.id, after=events[-1].id if events else after, at=checked))
    return events


def _nearest(history: Sequence[Event], content: Json, sharing: Sharing) -> Json:
    """Return the former state of a record that is nearest to a file: most likely what it was written from."""
    record, past = None, list[Json]()
    for event in history:
        if record := fold(record, event):
            past.append(parts_of(record, frozenset(sharing.implied)))

    def distance(parts: Json) -> int:
        return sum(parts.get(name) != content.get(name) for name in {*parts, *content})

    return min(reversed(past), key=distance, default={})


def _draft(values: Mapping[str, Any]) -> Draft:
    listed = {name: tuple(item) for name, item in values.items() if name in ("scopes", "tags", "anchors", "triggers")}
    return Draft(**{**values, **listed})

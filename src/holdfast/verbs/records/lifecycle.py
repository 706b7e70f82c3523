"""Change records after they are written (revise, retire, restore, link, rename scopes, record outcomes), and take changes back.

An undo compensates each event that an action appended by another one, so that the journal keeps both.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any

from holdfast.engine.views import records, usage
from holdfast.model.anchor import snapshot_to_json
from holdfast.model.errors import Conflict, Invalid, NotFound
from holdfast.model.event import FOLDING, LOCAL, OUTCOMES, SHARED, Event, Json, Verb
from holdfast.model.ids import short
from holdfast.model.kinds import SEPARATE, Asked, built
from holdfast.model.record import (
    CONFIDENCES,
    REJECTED,
    VISIBILITIES,
    Draft,
    Link,
    Record,
    check_scopes,
    fold_all,
    plain,
)
from holdfast.model.text import check_keepable, check_text
from holdfast.policy.admission.admit import Admitted, Duplicate, Pending, Refused, SecretFound, Waivers
from holdfast.policy.secrets.find import masked
from holdfast.verbs.memory import Clean, Memory, check_choice, find
from holdfast.verbs.records import quarantine
from holdfast.verbs.records.conflicts import SEEN
from holdfast.verbs.records.freshness import snapshot_of
from holdfast.verbs.records.hot import admit_used
from holdfast.verbs.records.read import in_use
from holdfast.verbs.records.write import NO_MEMORY, allowed_scopes, check_draft, check_links, refuse_secrets, verdict_on

LONGEST_REASON = 1_000
MOST_ACTIONS = 20  # that can be undone, per user
FINAL = "final"  # stands where an action that cannot be undone has no events
UNDONE = "taken back right after it was saved"


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """New values for some parts of a record; None leaves a part as it is."""

    body: Annotated[str | None, Asked("The new text; - reads it from stdin.", flag="--text")] = None
    title: Annotated[str | None, Asked("A new headline.")] = None
    kind: Annotated[str | None, Asked("Another kind; its fields are checked.", form="kind")] = None
    fields: Annotated[Mapping[str, Any] | None, Asked("Replaces the fields; repeat a name to make a list.")] = None
    scopes: Annotated[tuple[str, ...] | None, Asked("Replaces the scopes.", form="scope")] = None
    tags: Annotated[tuple[str, ...] | None, Asked("Replaces the tags.")] = None
    visibility: Annotated[str | None, Asked("Who may see it.", choices=VISIBILITIES)] = None
    confidence: Annotated[str | None, Asked("How sure it is.", choices=CONFIDENCES)] = None
    anchors: Annotated[tuple[str, ...] | None, Asked("Replaces its anchors.")] = None
    triggers: Annotated[
        tuple[str, ...] | None, Asked("Replaces its triggers: '' infers them again, none turns them off.")
    ] = None
    extra: Mapping[str, Any] | None = None

    @classmethod
    def of(cls, **asked: Any) -> "Revision":
        """Build a revision from what a caller passed; what is empty is left as it is, triggers of '' are inferred again."""
        given = {name: value for name, value in asked.items() if value}
        if "triggers" in given:
            given["triggers"] = [trigger for trigger in given["triggers"] if trigger]
        return built(cls, given)


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What an action did, in words, and the events that `undo` would compensate."""

    message: str
    events: tuple[Event, ...] = ()
    result: Any = None  # what the action returned


def amend(memory: Memory, reference: str, revision: Revision, *, waivers: Waivers | None = None) -> Record | Refused:
    """Change parts of a record; return the refusal if admission rejects the new text, as that of a new record."""
    record = in_use(memory, reference)
    if revision.body is not None and revision.body.strip() != record.body:
        draft = Draft(
            body=revision.body,
            kind=revision.kind or record.kind,
            fields=dict(record.fields if revision.fields is None else revision.fields),
            scopes=record.scopes if revision.scopes is None else revision.scopes,
            project=record.project,
        )
        verdict = verdict_on(memory, draft, waivers=waivers or Waivers())
        if isinstance(verdict, Duplicate):  # resembling the text it replaces is no objection
            others = tuple(match for match in verdict.matches if match.record.id != record.id)
            verdict = Duplicate(matches=others) if others else Admitted()
        if not isinstance(verdict, Admitted | Pending):
            return verdict
    return revise(memory, record.id, revision)


def revise(memory: Memory, reference: str, revision: Revision, *, redact: bool = False) -> Record | SecretFound:
    """Change parts of a record; the old values stay in its history."""
    record = find(memory, reference).record
    if record.state not in ("active", "pending"):
        raise Conflict(f"{record.id} is {record.state}.", hint="Restore it first.")
    values = {name: value for name in _REVISED if (value := getattr(revision, name)) is not None}
    if not values:
        raise Invalid("Nothing to revise.", hint="Pass what should change.")
    if "body" in values and "title" not in values and record.body.startswith(record.title.rstrip("…")):
        values["title"] = ""  # the title was derived from the text, so derive it again
    current = {spec.name: getattr(record, spec.name) for spec in fields(Draft) if spec.name not in ("at", "links")}
    draft = check_draft(memory, Draft(**{**current, **values}), redact=redact)
    changed = {name: getattr(draft, name) for name in values if getattr(draft, name) != getattr(record, name)}
    if (draft.kind in SEPARATE) != (record.kind in SEPARATE):
        raise Invalid(NO_MEMORY, hint="Save what it says as a memory: `holdfast remember`.")
    if not changed:
        return record
    data = {name: plain(value) for name, value in changed.items()} | {SEEN: record.head}
    if changed.keys() & {"body", "anchors", "kind"}:
        seen = snapshot_of(memory, replace(draft, project=record.project))
        data["seen"] = snapshot_to_json(seen) if seen else {"marks": {}}
    checked = Clean(_event(memory, "revised", record, data))
    if checked.masked and (found := refuse_secrets(changed)):
        return found
    return memory.commit([checked])[0].record


def retire(memory: Memory, reference: str, reason: str) -> Record:
    """Take a record out of use. The reason is returned if something similar is written again."""
    record = find(memory, reference).record
    if record.state == "retired":
        raise Conflict(f"{record.id} is already retired ({record.reason}).")
    return commit_about(memory, "retired", record, {"reason": remark(reason)})


def restore(memory: Memory, reference: str) -> Record:
    """Put a retired record back into use."""
    record = find(memory, reference).record
    if record.state != "retired":
        raise Conflict(f"{record.id} is {record.state}, not retired.", hint="There is nothing to restore.")
    if record.reason == REJECTED:
        hint = f"`holdfast review approve {short(record.id)}` accepts it after all."
        raise Conflict(f"{record.id} was rejected.", hint=hint)
    return commit_about(memory, "restored", record)


def link(memory: Memory, source: str, relation: str, target: str, *, note: str = "") -> Record:
    """Link a record to another; the optional note stays in the history."""
    record, arrow = _arrow(memory, source, relation, target)
    if arrow.target == record.id:
        raise Invalid("A memory cannot link to itself.")
    if arrow in record.links:
        return record
    why = {"note": remark(note)} if note else {}
    return commit_about(memory, "linked", record, {"relation": arrow.relation, "target": arrow.target, **why})


def unlink(memory: Memory, source: str, relation: str, target: str) -> Record:
    """Remove a link."""
    record, arrow = _arrow(memory, source, relation, target)
    if arrow not in record.links:
        hint = f"`holdfast show {record.id}` lists its links."
        raise NotFound(f"{record.id} has no link {relation} to {arrow.target}.", hint=hint)
    return commit_about(memory, "unlinked", record, {"relation": arrow.relation, "target": arrow.target})


def _arrow(memory: Memory, source: str, relation: str, target: str) -> tuple[Record, Link]:
    return find(memory, source).record, check_links(memory, (Link(relation=relation, target=target),))[0]


def rename_scope(memory: Memory, old: str, new: str, *, retired: bool = True) -> list[Record]:
    """Rename a scope, and the scopes nested in it, in every record; all of them or none."""
    old, new = check_scopes((old,))[0], allowed_scopes(memory, (new,))[0]
    if old == new:
        raise Invalid("The two scopes are the same.")
    states = ("active", "pending", "retired") if retired else ("active", "pending")
    entries = records.page(memory.store, records.Filter(scopes=(old,), states=states, separate=True), limit=1_000_000)
    if not entries:
        raise NotFound(f"No memory has the scope {old}.", hint="`holdfast list --scopes` lists the scopes.")

    def renamed(scope: str) -> str:
        return f"{new}{scope.removeprefix(old)}" if f"{scope}:".startswith(f"{old}:") else scope

    events = []
    for record in (entry.record for entry in entries):
        data = {"scopes": list(dict.fromkeys(map(renamed, record.scopes)))}
        events.append(memory.event("revised", record.id, data=data, after=record.head))
    return [entry.record for entry in memory.commit(events)]


def record_use(memory: Memory, references: Iterable[str], outcome: str, *, note: str = "") -> list[str]:
    """Record the outcome of using records, one of `OUTCOMES`; return their ids."""
    check_choice(outcome, OUTCOMES, "an outcome")
    data = {"outcome": outcome} | ({"note": remark(note)} if note else {})
    ids = [find(memory, reference).record.id for reference in references]
    if not ids:
        raise Invalid("Name at least one memory.")
    shown = usage.shown(memory.store, memory.actor.session)
    wording = {impression.id: {"variant": impression.variant} for impression in shown if impression.variant}
    memory.commit([memory.event("used", id_, data=data | wording.get(id_, {})) for id_ in ids])
    admit_used(memory, ids)
    return ids


def commit_about(memory: Memory, verb: Verb, record: Record, data: Mapping[str, Any] | None = None) -> Record:
    """Commit an event about a record; return the record as it is now."""
    return memory.commit([_event(memory, verb, record, data)])[0].record


def _event(memory: Memory, verb: Verb, record: Record, data: Mapping[str, Any] | None = None) -> Event:
    """Return an event about a record; raises Conflict if the record is quarantined."""
    check_keepable(data)
    if record.state == "held" and verb != "erased":
        hint = f"`holdfast review approve {short(record.id)}` or `holdfast review reject {short(record.id)}` first."
        raise Conflict(f"{record.id} is quarantined.", hint=hint)
    return memory.event(verb, record.id, data=data, after=record.head)


def remark(text: str) -> str:
    """Return a note checked and with credentials masked: a note is never refused for them."""
    return check_text(masked(text), "reason", LONGEST_REASON)


_REVISED = tuple(spec.name for spec in fields(Revision))
_COMPARED = (*_REVISED, "links", "state", "reason", "verified_at")


def act(memory: Memory, do: Callable[[Memory], tuple[str, Any]]) -> Done:
    """Perform an action, which returns a message and a result, and keep its events as the last thing to undo."""
    events = list[Event]()
    message, result = do(replace(memory, appended=events))
    return Done(message=message, events=tuple(keep_action(memory, events)), result=result)


def keep_action(memory: Memory, events: Sequence[Event]) -> Sequence[Event]:
    """Keep the events of an action as the last thing to undo; return those that can be: of an erasure, which is final, none."""
    changes = [event for event in events if event.by.kind != "rule" and event.verb in (*_COUNTED, *FOLDING)]
    if erased := [short(event.about) for event in events if event.verb == "erased"]:
        keep_final(memory, f"erased {', '.join(erased[:3])}")
        return ()
    if changes and not memory.user:  # a server's viewer keeps them itself
        place, actions = _actions(memory)
        memory.store.note(place, [[event.id for event in changes], *actions][:MOST_ACTIONS])
    return changes


def keep_final(memory: Memory, what: str) -> None:
    """Keep an action that cannot be undone as the last one, so that an undo does not take back an earlier one instead."""
    if not memory.user:
        place, actions = _actions(memory)
        memory.store.note(place, [[FINAL, what], *actions][:MOST_ACTIONS])


def undo_last(memory: Memory, reference: str = "") -> list[Record]:
    """Take back the user's last action in this project, or the last one on a memory; return the records it was about.

    Raises Conflict, and names the one before it, if the last action cannot be taken back.
    """
    about = find(memory, reference).record.id if reference else ""
    place, actions = _actions(memory)
    final = actions[0][1] if actions and actions[0][0] == FINAL and not reference else ""
    for ids in actions:
        known = memory.store.events_with(ids)
        abouts = {event.about for event in known.values()}
        is_erased = any(record.state == "erased" for record in memory.known(abouts).values())
        if known and (about in abouts or not about) and not is_erased:
            if final:
                record = find(memory, next(iter(abouts))).record
                hint = f"The one before it is about “{record.title}”: `holdfast undo {short(record.id)}`."
                raise Conflict(f"The last thing you did ({final}) cannot be undone.", hint=hint)
            undone = undo(replace(memory, appended=None), [known[id_] for id_ in ids if id_ in known])
            memory.store.note(place, [other for other in actions if other is not ids])
            return undone
    raise NotFound("There is nothing to undo in this project.", hint="An erasure is final. See `holdfast history ID`.")


def _actions(memory: Memory) -> tuple[str, list[list[str]]]:
    """Return where the user's latest actions in this project are noted, and the events of each, the last one first."""
    place = f"actions {memory.actor.name} {memory.project}"
    return place, memory.store.kept(place, list[list[str]]())


def undo(memory: Memory, events: Sequence[Event]) -> list[Record]:
    """Compensate the events of an action, the last ones first; return the records they were about.

    Raises Conflict, and changes nothing, if a record was changed again in the meantime.
    """
    abouts = dict.fromkeys(event.about for event in reversed(events) if event.verb not in ("started", "closed"))
    with memory.store.transaction():
        for about in abouts:
            mine = [event for event in events if event.about == about]
            for event in reversed(mine):
                if event.verb in _COUNTED:
                    past = [each for each in memory.store.all_about(about) if each.verb == event.verb]
                    after = max(each.id for each in past) if event.verb == "heated" else ""
                    data = _compensation(memory, event, past)
                    memory.commit([memory.event(event.verb, about, data=data, after=after)])
            if decided := [event for event in mine if event.verb in ("accepted", "rejected")]:
                quarantine.withdraw(memory, decided)
            if folding := [event for event in mine if event.verb in SHARED]:
                _take_back(memory, about, folding)
    return [find(memory, about).record for about in abouts]


def version_at(memory: Memory, reference: str, event_id: str) -> Record:
    """Return a record as it was right after one of its events."""
    about = find(memory, reference).record.id
    events = [event for event in memory.store.events_about(about) if event.id <= event_id or event.verb in LOCAL]
    record = fold_all(events) if any(event.id == event_id for event in events) else None
    if record is None:
        raise NotFound(f"{about} has no event {event_id[:40]!r}.", hint=f"`holdfast history {about}` lists them.")
    return record


def revert(memory: Memory, before: Record) -> Record:
    """Return a record to an earlier version."""
    now = find(memory, before.id).record
    if "erased" in (now.state, before.state) or "held" in (now.state, before.state):
        raise Conflict(f"{now.id} is {now.state}; it cannot go back to an earlier version.")
    with memory.store.transaction():
        for verb, data in _steps(now, before):
            now = commit_about(memory, verb, now, {**data, "updated_at": before.updated_at})
    return now


def _take_back(memory: Memory, about: str, events: Sequence[Event]) -> None:
    """Return a record to what it was before some of its events; one that they created is retired."""
    now, history = find(memory, about).record, memory.store.events_about(about)
    # What the comparison linked since then is a finding about the record, no change of it.
    found = [event for event in history if event.verb in LOCAL or (event.verb, event.by.kind) == ("linked", "rule")]
    after = fold_all(event for event in history if event.id <= events[-1].id or event in found)
    if after and any(getattr(now, name) != getattr(after, name) for name in _COMPARED):
        raise Conflict(f"{about} was changed again in the meantime.", hint="Its history has every earlier version.")
    before = fold_all(event for event in history if event.id < events[0].id or event.verb in LOCAL)
    if before is None:
        commit_about(memory, "retired", now, {"reason": UNDONE})
    else:
        now = revert(memory, before)
        if before.project != now.project and any("project" in event.data for event in events):
            commit_about(memory, "revised", now, {"project": before.project})


_COUNTED = ("used", "touched", "trusted", "heated")


def _compensation(memory: Memory, event: Event, past: Sequence[Event]) -> Json:
    """Return the data of the event that compensates one, given all events of its verb about the same record."""
    gone = {each.data.get("withdraws") for each in past}
    if event.id in gone or (event.verb == "used" and not usage.is_counted(memory.store, event.id)):
        raise Conflict("This was taken back already.")
    match event.verb:
        case "used":
            return {"outcome": event.data["outcome"], "withdraws": event.id}
        case "touched":
            left = [each.at for each in past if each.id not in (gone | {event.id}) and "withdraws" not in each.data]
            return {"withdraws": event.id, "at": event.at, "last_at": max(left, default="")}
        case "heated":
            before = max((each for each in past if each.id < event.id), key=lambda each: each.id, default=None)
            return dict(before.data) if before else {"hot": False, "pinned": False, "why": "manual"}
    return {"reason": event.data["reason"], "delta": -event.data["delta"], "note": "taken back"}


def _steps(now: Record, before: Record) -> Iterator[tuple[Verb, Mapping[str, Any]]]:
    """Yield the events that turn one version of a record into another, in an order in which each is allowed."""
    if before.state not in (now.state, "retired"):
        yield "restored", {"pending": True} if before.state == "pending" else {}
    changed = {name: getattr(before, name) for name in _REVISED if getattr(before, name) != getattr(now, name)}
    seen_before = snapshot_to_json(before.seen) if before.seen else {"marks": {}}
    seen = {"seen": seen_before} if before.seen != now.seen else {}
    if changed:
        yield "revised", {name: plain(value) for name, value in changed.items()} | seen
    reworded = bool(changed.keys() & {"title", "body", "fields"})
    if before.verified_at != ("" if reworded else now.verified_at) or (seen and not changed):
        yield "verified", {"verified_at": before.verified_at, "anchors": list(before.anchors)} | seen
    steps: dict[Verb, tuple[Record, Record]] = {"unlinked": (now, before), "linked": (before, now)}
    for verb, (one, other) in steps.items():
        for link in (link for link in one.links if link not in other.links):
            yield verb, {"relation": link.relation, "target": link.target}
    if before.state == "retired" and (now.state, now.reason) != (before.state, before.reason):
        yield "retired", {"reason": before.reason}

"""Change records after they are written: revise, retire, restore, link, rename scopes, record outcomes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any

from holdfast.engine.views import records
from holdfast.engine.views.records import Filter
from holdfast.engine.views.usage import worded_in
from holdfast.model.anchor import snapshot_to_json
from holdfast.model.errors import Conflict, Invalid, NotFound
from holdfast.model.event import OUTCOMES, Event, Verb
from holdfast.model.fold import REJECTED
from holdfast.model.ids import short
from holdfast.model.kinds import SEPARATE
from holdfast.model.record import CONFIDENCES, VISIBILITIES, Draft, Link, Record
from holdfast.model.request import Asked, built
from holdfast.model.scope import check_scopes
from holdfast.model.text import check_keepable, check_text
from holdfast.policy.admission.admit import SecretFound
from holdfast.policy.secrets.find import masked
from holdfast.verbs.memory import Clean, Memory, find
from holdfast.verbs.records.freshness import snapshot_of
from holdfast.verbs.records.hot import admit_used
from holdfast.verbs.records.overwritten import SEEN
from holdfast.verbs.records.write import NO_MEMORY, allowed_scopes, check_draft, check_links, refuse_secrets

LONGEST_REASON = 1_000


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
        tuple[str, ...] | None,
        Asked("Replaces its triggers: '' infers them again, none turns them off."),
    ] = None
    extra: Mapping[str, Any] | None = None

    @classmethod
    def of(cls, **asked: Any) -> "Revision":
        """Build a revision from what a caller passed; what is empty is left as it is, triggers of '' are inferred again."""
        given = {name: value for name, value in asked.items() if value}
        if "triggers" in given:
            given["triggers"] = [trigger for trigger in given["triggers"] if trigger]
        return built(cls, given)


def revise(memory: Memory, reference: str, revision: Revision, *, redact: bool = False) -> Record | SecretFound:
    """Change parts of a record; the old values stay in its history."""
    record = find(memory, reference).record
    if record.state not in ("active", "pending"):
        raise Conflict(f"{record.id} is {record.state}.", hint="Restore it first.")
    values = {spec.name: value for spec in fields(revision) if (value := getattr(revision, spec.name)) is not None}
    if not values:
        raise Invalid("Nothing to revise.", hint="Pass a new text, title, kind, fields, scopes, tags or confidence.")
    if "body" in values and "title" not in values and record.body.startswith(record.title.rstrip("…")):
        values["title"] = ""  # the title was derived from the text, so derive it again
    current = {spec.name: getattr(record, spec.name) for spec in fields(Draft) if spec.name not in ("at", "links")}
    draft = check_draft(memory, Draft(**{**current, **values, "body": values.get("body", record.body)}), redact=redact)
    changed = {name: getattr(draft, name) for name in values if getattr(draft, name) != getattr(record, name)}
    if (draft.kind in SEPARATE) != (record.kind in SEPARATE):
        raise Invalid(NO_MEMORY, hint="Save what it says as a memory: `holdfast remember`.")
    if not changed:
        return record
    plain = {name: list(value) if isinstance(value, tuple) else value for name, value in changed.items()}
    if changed.keys() & {"body", "anchors", "kind"}:
        seen = snapshot_of(memory, replace(draft, project=record.project))
        plain["seen"] = snapshot_to_json(seen) if seen else {"marks": {}}
    event = _event(memory, "revised", record, {**plain, SEEN: record.head})
    checked = Clean(event)
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
        raise Conflict(
            f"{record.id} was rejected.", hint=f"`holdfast review approve {short(record.id)}` accepts it after all."
        )
    return commit_about(memory, "restored", record)


def link(memory: Memory, source: str, relation: str, target: str, *, note: str = "") -> Record:
    """Link a record to another; the optional note stays in the history."""
    record = find(memory, source).record
    arrow = check_links(memory, (Link(relation=relation, target=target),))[0]
    if arrow.target == record.id:
        raise Invalid("A memory cannot link to itself.")
    if arrow in record.links:
        return record
    why = {"note": remark(note)} if note else {}
    return commit_about(memory, "linked", record, {"relation": arrow.relation, "target": arrow.target, **why})


def unlink(memory: Memory, source: str, relation: str, target: str) -> Record:
    """Remove a link."""
    record = find(memory, source).record
    arrow = check_links(memory, (Link(relation=relation, target=target),))[0]
    if arrow not in record.links:
        raise NotFound(
            f"{record.id} has no link {relation} to {arrow.target}.",
            hint=f"`holdfast show {record.id}` lists its links.",
        )
    return commit_about(memory, "unlinked", record, {"relation": arrow.relation, "target": arrow.target})


def rename_scope(memory: Memory, old: str, new: str, *, retired: bool = True) -> list[Record]:
    """Rename a scope, and the scopes nested in it, in every record; all of them or none."""
    old, new = check_scopes((old,))[0], allowed_scopes(memory, (new,))[0]
    if old == new:
        raise Invalid("The two scopes are the same.")
    states = ("active", "pending", "retired") if retired else ("active", "pending")
    entries = records.page(memory.store, Filter(scopes=(old,), states=states, separate=True), limit=1_000_000)
    if not entries:
        raise NotFound(f"No memory has the scope {old}.", hint="`holdfast list --scopes` lists the scopes.")
    events = [
        memory.event(
            "revised",
            entry.record.id,
            data={"scopes": _renamed(entry.record.scopes, old, new)},
            after=entry.record.head,
        )
        for entry in entries
    ]
    return [entry.record for entry in memory.commit(events)]


def record_use(memory: Memory, references: Iterable[str], outcome: str, *, note: str = "") -> list[str]:
    """Record the outcome of using records, one of `OUTCOMES`; return their ids."""
    if outcome not in OUTCOMES:
        raise Invalid(f"{outcome!r} is not an outcome.", hint=f"Use one of {', '.join(OUTCOMES)}.")
    data = {"outcome": outcome} | ({"note": remark(note)} if note else {})
    used = [find(memory, reference).record for reference in references]
    if not used:
        raise Invalid("Name at least one memory.")
    variants = {impression.id: impression.variant for impression in worded_in(memory.store, memory.actor.session)}
    wording = {record.id: {"variant": variants[record.id]} if record.id in variants else {} for record in used}
    memory.commit([memory.event("used", record.id, data=data | wording[record.id]) for record in used])
    admit_used(memory, [record.id for record in used])
    return [record.id for record in used]


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


def _renamed(scopes: tuple[str, ...], old: str, new: str) -> list[str]:
    inside = (
        f"{new}{scope.removeprefix(old)}" if scope == old or scope.startswith(old + ":") else scope for scope in scopes
    )
    return list(dict.fromkeys(inside))

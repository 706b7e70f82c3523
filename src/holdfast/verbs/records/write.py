"""Write a record: check the draft, then store it, store it as pending, or refuse it with a reason."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from holdfast.engine.raw import counters
from holdfast.engine.search.lexical import similar
from holdfast.engine.views import labels
from holdfast.model.anchor import check_anchors, snapshot_to_json
from holdfast.model.errors import Conflict, Invalid
from holdfast.model.event import Actor, Event
from holdfast.model.foreign_json import texts_in, with_texts
from holdfast.model.ids import days_before, moment_of
from holdfast.model.kinds import SEPARATE, check_fields, check_kind
from holdfast.model.record import (
    CONFIDENCES,
    RELATIONS,
    SOURCES,
    VISIBILITIES,
    Draft,
    Link,
    Record,
    check_scopes,
    check_tags,
    fold,
    plain,
    within,
)
from holdfast.model.text import LONGEST_BODY, LONGEST_TITLE, check_keepable, check_text, headline
from holdfast.policy.admission import admit as admission
from holdfast.policy.freshness import wrong_claims
from holdfast.policy.language.comparing import says_otherwise
from holdfast.policy.secrets.find import drop_private, masked, secrets_in
from holdfast.policy.sessions.triggers import problem_with
from holdfast.verbs.memory import Clean, Memory, check_choice, find, lapsed
from holdfast.verbs.records.conflicts import claim_of, is_comparable
from holdfast.verbs.records.freshness import snapshot_of

NO_MEMORY = "Items are data of an application: no memory becomes an item, and no item a memory."


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """The record is stored and can be found by its words."""

    record: Record
    related: tuple[admission.Similar, ...] = ()
    doubts: tuple[str, ...] = ()  # why anchors are wrong already at the time of writing


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenPending:
    """The record is stored as pending: it is not used until it is approved."""

    record: Record
    why: str
    related: tuple[admission.Similar, ...] = ()


Outcome = Written | WrittenPending | admission.Refused


def write(memory: Memory, draft: Draft, *, waivers: admission.Waivers | None = None, redact: bool = False) -> Outcome:
    """Store a draft, or return why it is refused. `redact` masks credentials instead of refusing them."""
    clean = check_draft(memory, draft, redact=redact)
    if clean.kind in SEPARATE:
        raise Invalid(NO_MEMORY, hint="Use another kind, such as fact.")
    if clean.at > days_before(memory.clock.now(), -1):
        raise Invalid(f"{clean.at[:10]} is in the future.", hint="Pass the date it happened.")
    event = memory.event("recorded", data=_data(memory, clean), at=clean.at)
    preview = record_of(event)
    checked = Clean(event)
    with memory.store.transaction():  # two that save the same text at once must not both save it
        verdict = _judge(memory, clean, preview, waivers, scan=checked.masked)
        # Which wordings are refused as transient, and which are saved anyway, shows how good the word list is.
        how, markers = "fired", verdict.markers if isinstance(verdict, admission.Transient) else ()
        if not markers and waivers and waivers.transient:
            how, markers = "insisted", admission.transient_markers(clean, strict=waivers.strict)
        for marker in markers:
            counters.add(memory.store, f"transient.{how}.{marker}", memory.clock.now())
        match verdict:
            case admission.Admitted(related=related):
                doubts = tuple(wrong_claims(preview.anchors, preview.seen))
                return Written(record=memory.commit([checked])[0].record, related=related, doubts=doubts)
            case admission.Pending(why=why, related=related):
                held = replace(event, data={**event.data, "pending": True})
                return WrittenPending(record=memory.commit([held])[0].record, why=why, related=related)
    return verdict


def draft_event(
    memory: Memory, draft: Draft, *, pending: bool = False, about: str = "", by: Actor | None = None
) -> Event:
    """Return the event that stores a draft without judging it, credentials masked: for drafts written by rules.

    `about` is the id of the record if it follows from where the draft comes from.
    """
    clean = check_draft(memory, draft, redact=True)
    data = _data(memory, clean) | ({"pending": True} if pending else {})
    event = memory.event("recorded", about, data=data, at=clean.at, by=by)
    return replace(event, id=event.about)


def verdict_on(memory: Memory, draft: Draft, *, waivers: admission.Waivers | None = None) -> admission.Verdict:
    """Return the verdict on a draft without storing it."""
    clean = check_draft(memory, draft)
    return _judge(memory, clean, record_of(memory.event("recorded", data=_data(memory, clean))), waivers)


def confirm(memory: Memory, reference: str, *, waivers: admission.Waivers | None = None) -> Outcome:
    """Approve a pending record. It is judged again, since other records may have changed in the meantime."""
    record = _pending(memory, reference)
    draft = Draft(kind=record.kind, body=record.body, scopes=record.scopes)
    verdict = _judge(memory, draft, record, replace(waivers or admission.Waivers(), transient=True, scope=True))
    if isinstance(verdict, admission.Admitted | admission.Pending):
        event = memory.event("confirmed", record.id, after=record.head)
        return Written(record=memory.commit([event])[0].record, related=verdict.related)
    return verdict


def cancel(memory: Memory, reference: str) -> Record:
    """Reject a pending record."""
    record, why = _pending(memory, reference), {"reason": "never confirmed"}
    return memory.commit([memory.event("retired", record.id, data=why, after=record.head)])[0].record


def check_draft(memory: Memory, draft: Draft, *, redact: bool = False) -> Draft:
    """Return the draft with every part checked and cleaned; raise Invalid if a part cannot be stored."""
    kind = check_kind(draft.kind)
    values = {name: getattr(draft, name) for name in _TEXTS}
    clean: dict[str, Any] = masked(values) if redact else with_texts(values, drop_private)
    clean = {name: tuple(item) if isinstance(item, list) else item for name, item in clean.items()}
    draft = replace(draft, **clean)
    body = check_text(draft.body, "text", LONGEST_BODY)
    title = check_text(draft.title, "title", LONGEST_TITLE) if draft.title.strip() else headline(body)
    check_choice(draft.visibility, VISIBILITIES, "a visibility")
    check_choice(draft.confidence, CONFIDENCES, "a confidence")
    check_choice(draft.source, SOURCES, "a source")
    check_keepable([dict(draft.extra), *draft.triggers])
    if problem := problem_with(draft.triggers):
        hint = "A trigger is a command or a path, such as `git push` or src/api/*.py."
        raise Invalid(f"This cannot be kept: {problem}.", hint=hint)
    return replace(
        draft,
        body=body,
        title=title,
        project=check_text(draft.project, "project", LONGEST_TITLE) if draft.project else draft.project,
        fields=check_fields(kind, draft.fields),
        scopes=allowed_scopes(memory, draft.scopes),
        tags=check_tags(draft.tags),
        links=check_links(memory, draft.links),
        anchors=check_anchors(draft.anchors),
        at=moment_of(draft.at, memory.clock.now()),
    )


def allowed_scopes(memory: Memory, scopes: tuple[str, ...]) -> tuple[str, ...]:
    """Return the normalised scopes; raise Invalid if one is malformed or outside `allowed_scopes`."""
    checked, allowed = check_scopes(scopes), memory.config.allowed_scopes
    for scope in checked:
        if allowed and not any(within(scope, outer) for outer in allowed):
            raise Invalid(f"The scope {scope} is not allowed here.", hint=f"allowed_scopes are {', '.join(allowed)}.")
    return checked


def check_links(memory: Memory, links: tuple[Link, ...]) -> tuple[Link, ...]:
    """Return links with full ids; raise if a relation is unknown or a target does not exist."""
    for link in links:
        check_choice(link.relation, RELATIONS, "a relation")
    return tuple(replace(link, target=find(memory, link.target).record.id) for link in links)


def refuse_secrets(value: Mapping[str, Any]) -> admission.SecretFound | None:
    """Return a refusal if any text in a value contains credentials, else None."""
    return admission.SecretFound(names=names) if (names := secrets_in(value)) else None


_TEXTS = ("title", "body", "fields", "tags", "anchors", "triggers", "extra")


def _data(memory: Memory, draft: Draft) -> dict[str, Any]:
    origin, seen = memory.checkout.origin(), snapshot_of(memory, draft)
    value: dict[str, Any] = {spec.name: plain(getattr(draft, spec.name)) for spec in fields(draft) if spec.name != "at"}
    value |= {
        "project": memory.project if draft.project is None else draft.project,
        "origin": {"branch": origin.branch, "worktree": origin.worktree, "commit": origin.commit},
        "seen": snapshot_to_json(seen) if seen else {},
    }
    return {name: item for name, item in value.items() if item not in ([], {}, "")}


def record_of(event: Event) -> Record:
    """Return the record that the event would create."""
    record = fold(None, event)
    assert record is not None
    return record


def preview(memory: Memory, draft: Draft) -> Record:
    """Return the record that a draft would become."""
    return record_of(draft_event(memory, draft))


def novelty(memory: Memory, draft: Draft) -> float:
    """Return how new a draft is: 1 if nothing is like it, 0 if the same text is stored or was retired."""
    known = [*similar(memory.store, new := preview(memory, draft)), *similar(memory.store, new, retired=True)]
    return 1.0 - max((share for _, share in known), default=0.0)


def _judge(
    memory: Memory, draft: Draft, record: Record, waivers: admission.Waivers | None, *, scan: bool = True
) -> admission.Verdict:
    """Return the verdict on a draft. Pass `scan=False` if nothing was masked in its event."""
    text = f"{record.title}\n{record.text}"  # what was said; `extra` is data, such as the folder it was said in
    texts = {name: getattr(record, name) for name in (*_TEXTS, "scopes")}
    every = "\n".join((text, *texts_in([record.tags, record.extra], keys=False)))
    if scan and (names := secrets_in(texts) or secrets_in(every)):
        return admission.admit(draft, text, secrets=names)
    waived = waivers or admission.Waivers()
    return admission.admit(
        draft,
        text,
        active=list(_near(memory, record)),
        removed=[] if waived.duplicate else list(_near(memory, record, retired=True)),
        known_scopes=[] if waived.scope else labels.scopes_under(memory.store, "projects"),
        waivers=waived,
        confirm_all=memory.config.confirm_writes,
    )


def _near(memory: Memory, record: Record, *, retired: bool = False) -> Iterator[admission.Similar]:
    """Yield similar records: the same in another kind or with other fields is the same, what says something else at most related."""
    for other, share in [] if record.kind in SEPARATE else similar(memory.store, record, retired=retired):
        same = is_comparable(record, other) and (record.title, record.body) == (other.title, other.body)
        differs = share >= admission.SAME and says_otherwise(claim_of(record), claim_of(other), may_add=retired)
        likeness = 1.0 if same else min(share, admission.RELATED) if differs else share
        yield admission.Similar(record=other, similarity=likeness)


def _pending(memory: Memory, reference: str) -> Record:
    record = find(memory, reference, "list --state pending").record
    if record.state != "pending":
        raise Conflict(f"“{record.title}” is {record.state}.", hint="`holdfast list --state pending` shows what waits.")
    if lapsed(memory, record):
        days = memory.config.mined_days if "pattern" in record.extra else memory.config.pending_days
        raise Conflict(f"“{record.title}” waited longer than {days} days.", hint="Write it again.")
    return record

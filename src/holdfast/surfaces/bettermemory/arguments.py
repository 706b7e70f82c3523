"""What callers of bettermemory give, as values of ours: categories are kinds, sources have other names."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from holdfast.model.errors import Invalid
from holdfast.model.kinds import KINDS
from holdfast.model.query import Query
from holdfast.model.record import Draft, Record, Source
from holdfast.policy.admission.admit import Waivers
from holdfast.surfaces.bettermemory.drift import anchors_of, verified_parts
from holdfast.verbs.records.lifecycle import Revision

SYSTEM = "bettermemory"
# Kinds that are memories there; threads and summaries tell of sessions.
KNOWN = tuple(kind.name for kind in KINDS.values() if SYSTEM in kind.names)
DEFAULT_RESULTS, MOST_RESULTS = 5, 50
PENDING = "pending_"
_KINDS = {"fact": "fact", "user-inference": "preference", "ambient": "observation"}
_SOURCES: Mapping[str, Source] = {
    "explicit-statement": "explicit",
    "inferred": "inferred",
    "user-correction": "correction",
}


def draft(given: Mapping[str, Any]) -> Draft:
    """Give the draft of a memory; what is said about a person counts as inferred, so that it waits for a yes."""
    about_somebody = given["category"] == "user-inference"
    source = _SOURCES[given["source"]]
    return Draft(
        body=given["content"],
        kind=_KINDS[given["category"]],
        scopes=tuple(given["scopes"]),
        confidence=given["confidence"],
        source="inferred" if about_somebody else source,
        extra={"source": given["source"]} if about_somebody and source != "inferred" else {},
    )


def waivers(given: Mapping[str, Any]) -> Waivers:
    """Give which refusals the caller has seen and overrules."""
    return Waivers(
        duplicate=given["force"],
        transient=given["acknowledge_transient"],
        scope=given["acknowledge_scope_mismatch"],
    )


def revision(record: Record, given: Mapping[str, Any]) -> Revision:
    """Give the new values of a memory; its kind changes only where its category does."""
    category = given.get("category", "")
    changed = Revision(
        body=given.get("content"),
        scopes=tuple(given["scopes"]) if "scopes" in given else None,
        confidence=given.get("confidence"),
    )
    if not category:
        return changed
    if category == category_of(record):
        return replace(changed, kind=record.kind)
    return replace(changed, kind=_KINDS[category], fields={})


def query(text: str, *, scopes: Sequence[str], muted: Sequence[str], limit: int, everywhere: bool) -> Query:
    """Give the question a caller means."""
    return Query(
        text=text,
        kinds=KNOWN,
        any_scopes=tuple(scopes),
        without_scopes=tuple(muted),
        everywhere=everywhere,
        limit=min(MOST_RESULTS, max(1, limit)),
        starters=False,
    )


def anchors(record: Record, given: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Give what a check looked at: lists that are given replace those there, an empty one clears them."""
    told = {name: value for name, value in given.items() if name.startswith("verified_")}
    return anchors_of({**verified_parts(record.anchors), **told}) if told else None


def held_id(pending_id: str) -> str:
    """Give the record that waits under a pending id."""
    if not pending_id.startswith(PENDING):
        raise Invalid(f"{pending_id[:40]!r} is no pending id.", hint="memory_write gives it with status pending.")
    return pending_id.removeprefix(PENDING)


def category_of(record: Record) -> str:
    """Give the category a record has there."""
    return KINDS[record.kind].names.get(SYSTEM, "fact") if record.kind in KINDS else "fact"


def source_of(record: Record) -> str:
    """Give the source a record has there."""
    said = record.extra.get("source")
    if isinstance(said, str) and said in _SOURCES:
        return said
    return next((name for name, source in _SOURCES.items() if source == record.source), "inferred")

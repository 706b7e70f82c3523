"""Convert the arguments of bettermemory's tools: categories become kinds, sources have other names."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from holdfast.model.errors import Invalid
from holdfast.model.kinds import KINDS
from holdfast.model.query import Query
from holdfast.model.record import GLOBAL, Draft, Record, Source
from holdfast.policy.admission.admit import Waivers
from holdfast.policy.language.overlap import words
from holdfast.surfaces.bettermemory.drift import anchors_of, verified_parts
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.lifecycle import Revision

SYSTEM = "bettermemory"
# Kinds that are memories in bettermemory; threads and summaries belong to sessions.
KNOWN = tuple(kind.name for kind in KINDS.values() if SYSTEM in kind.names)
MOST_RESULTS = 50
ASKING = frozenset("how what when where which who whose why me my mine i us there here tell show please".split())
PENDING = "pending_"
_KINDS = {"fact": "fact", "user-inference": "preference", "ambient": "observation"}
_SOURCES: Mapping[str, Source] = {
    "explicit-statement": "explicit",
    "inferred": "inferred",
    "user-correction": "correction",
}


def is_anywhere(memory: Memory) -> bool:
    """True outside any repository: what is written there is global, and everything is read."""
    return not (memory.context.project or memory.config.project) and not memory.checkout.in_git()


def draft(memory: Memory, args: Mapping[str, Any]) -> Draft:
    """Return the draft of a memory; statements about the user count as inferred, so they need confirmation."""
    about_user = args["category"] == "user-inference"
    source = _SOURCES[args["source"]]
    return Draft(
        body=args["content"],
        kind=_KINDS[args["category"]],
        scopes=tuple(args["scopes"]),
        project=GLOBAL if is_anywhere(memory) else None,
        confidence=args["confidence"],
        source="inferred" if about_user else source,
        extra={"cwd": str(memory.checkout.top())}
        | ({"source": args["source"]} if about_user and source != "inferred" else {}),
    )


def waivers(args: Mapping[str, Any]) -> Waivers:
    """Return the admission checks the caller overrules."""
    return Waivers(
        duplicate=args["force"],
        transient=args["acknowledge_transient"],
        strict=True,
        scope=args["acknowledge_scope_mismatch"],
    )


def revision(record: Record, args: Mapping[str, Any]) -> Revision:
    """Return the new values of a memory; its kind changes only if its category does."""
    category = args.get("category", "")
    changed = Revision(
        body=args.get("content"),
        scopes=tuple(args["scopes"]) if "scopes" in args else None,
        confidence=args.get("confidence"),
    )
    if not category:
        return changed
    if category == category_of(record):
        return replace(changed, kind=record.kind)
    return replace(changed, kind=_KINDS[category], fields={})


def asks_nothing(text: str) -> bool:
    """True if a question consists only of words that every text has."""
    return not words(text) - ASKING


def query(text: str, *, scopes: Sequence[str], muted: Sequence[str], limit: int, everywhere: bool) -> Query:
    """Return the query for a caller's question."""
    return Query(
        text=text,
        kinds=KNOWN,
        any_scopes=tuple(scopes),
        without_scopes=tuple(muted),
        everywhere=everywhere,
        limit=min(MOST_RESULTS, max(1, limit)),
    )


def anchors(record: Record, args: Mapping[str, Any], missing: Sequence[str] = ()) -> tuple[str, ...] | None:
    """Return what a check covered: a list that is passed replaces the stored one, an empty list clears it.

    Stored paths that are missing by now are dropped: the caller checked the memory, not where it used to be true.
    """
    verified = {name: value for name, value in args.items() if name.startswith("verified_")}
    stored = verified_parts(record.anchors)
    stored = {**stored, "verified_paths": [path for path in stored["verified_paths"] if path not in missing]}
    return anchors_of({**stored, **verified}) if verified or missing else None


def record_id_of(pending_id: str) -> str:
    """Return the id of the record behind a pending id."""
    if not pending_id.startswith(PENDING):
        raise Invalid(f"{pending_id[:40]!r} is not a pending id.", hint="memory_write returns it with status pending.")
    return pending_id.removeprefix(PENDING)


def category_of(record: Record) -> str:
    """Return the bettermemory category of a record."""
    return KINDS[record.kind].names.get(SYSTEM, "fact") if record.kind in KINDS else "fact"


def source_of(record: Record) -> str:
    """Return the bettermemory source of a record."""
    stored = record.extra.get("source")
    if isinstance(stored, str) and stored in _SOURCES:
        return stored
    return next((name for name, source in _SOURCES.items() if source == record.source), "inferred")

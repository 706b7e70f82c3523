"""Records that another program addresses by a key of its own, such as a path: one record for each key.

The key is in `extra` under the program's name, and each of its beginnings is a tag, so that all records below a
beginning are found by the index of labels.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any

from holdfast.model.errors import Invalid
from holdfast.model.query import Query
from holdfast.model.record import MAX_LABEL, Draft, Record
from holdfast.policy.admission.admit import SecretFound
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.lifecycle import Revision, retire, revise
from holdfast.verbs.records.read import list_records
from holdfast.verbs.records.write import check_draft, draft_event, refuse_secrets

Key = Sequence[str]
KIND = "item"
MOST_PARTS = 50  # of a key; each is a tag
PAGE = 500
_IN_USE = ("active", "pending")
_TEXTS = ("title", "body", "tags", "extra")


def put(memory: Memory, system: str, key: Key, draft: Draft) -> Record | SecretFound:
    """Store a draft under a key, or as a revision of the record there; return the refusal if it contains a secret.

    It is not compared with other records: the program, not the text, decides which record it belongs to.
    """
    record = at(memory, system, key)
    keyed = replace(draft, kind=KIND, **_labels(system, key, draft.extra, record))
    if record:
        revision = Revision(body=keyed.body, title=keyed.title or None, tags=keyed.tags, extra=keyed.extra)
        return revise(memory, record.id, revision)
    checked = check_draft(memory, keyed)
    if found := refuse_secrets({name: getattr(checked, name) for name in _TEXTS}):
        return found
    return memory.commit([draft_event(memory, keyed, pending=memory.config.confirm_writes)])[0].record


def at(memory: Memory, system: str, key: Key) -> Record | None:
    """Return the record of a key, active or pending, or None."""
    # Two processes may create the same key at once; all of them then use the older record.
    found = [record for record in under(memory, system, key) if key_of(record, system) == tuple(key)]
    return found[-1] if found else None


def under(memory: Memory, system: str, prefix: Key = ()) -> Iterator[Record]:
    """Yield the records of this project whose key begins with a prefix, active or pending, newest first."""
    query = Query(text="", kinds=(KIND,), tags=(tag_of(system, prefix),), limit=PAGE)
    offset = 0
    while page := list_records(memory, query, states=_IN_USE, offset=offset):
        for record in page:
            if record.project == memory.project and key_of(record, system)[: len(prefix)] == tuple(prefix):
                yield record
        offset += PAGE


def move(memory: Memory, system: str, record: Record, key: Key, *, title: str = "") -> Record | SecretFound:
    """Move a record to another key, and change its title if one is passed."""
    return revise(memory, record.id, Revision(title=title or None, **_labels(system, key, own(record, system), record)))


def drop(memory: Memory, system: str, key: Key, reason: str, *, below: bool = True) -> list[Record]:
    """Retire the records of a key, and those whose key begins with it unless `below` is False; return them."""
    gone = [record for record in under(memory, system, key) if below or key_of(record, system) == tuple(key)]
    return [retire(memory, record.id, reason) for record in gone]


def key_of(record: Record, system: str) -> tuple[str, ...]:
    """Return the key of a record; empty if it has none."""
    key = own(record, system).get("key")
    return tuple(map(str, key)) if isinstance(key, list | tuple) else ()


def own(record: Record, system: str) -> Mapping[str, Any]:
    """Return what a record keeps for a system."""
    kept = record.extra.get(system)
    return kept if isinstance(kept, Mapping) else {}


def _labels(system: str, key: Key, own: Mapping[str, Any], record: Record | None) -> dict[str, Any]:
    """Return the tags and the extra data of a key, with those that a record has for other reasons."""
    if not 0 < len(key) <= MOST_PARTS:
        raise Invalid(f"A key has between 1 and {MOST_PARTS} parts.", hint="Use a shorter path or namespace.")
    tags = [tag_of(system, key[:length]) for length in range(len(key) + 1)]
    others = [tag for tag in record.tags if tag != system and not tag.startswith(f"{system}:")] if record else []
    extra = {**(record.extra if record else {}), system: {**own, "key": list(key)}}
    return {"tags": (*tags, *others), "extra": extra}


def tag_of(system: str, prefix: Key) -> str:
    """Return the tag of the records below a beginning of a key; a digest stands for one that is too long."""
    path = "/".join(re.sub(r"[%/\s]", lambda match: f"%{ord(match[0]):02X}", part) for part in prefix)
    tag = f"{system}:{path}" if path else system
    return tag if len(tag) <= MAX_LABEL else f"{system}:{blake2b(path.encode(), digest_size=16).hexdigest()}"

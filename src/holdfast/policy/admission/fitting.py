"""Fit foreign memories into records: masked, within the limits, with a note for everything left out."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

from holdfast.model.errors import Invalid
from holdfast.model.foreign import Foreign, Remark
from holdfast.model.kinds import check_kind, fit_fields
from holdfast.model.scope import MAX_LABEL, MAX_LABELS, SCOPE
from holdfast.model.text import LONGEST_BODY, LONGEST_TITLE, check_keepable, good_cut, headline
from holdfast.policy.secrets.find import masked

# An event must fit into a line of an export with room to spare.
LONGEST_EVENT = 2_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """One record made from a foreign memory: its event data, and a hash that changes when the memory does."""

    key: str
    data: Mapping[str, Any]
    hash: str
    asides: tuple[str, ...] = ()
    masked: bool = False


def fitted(foreign: Foreign) -> tuple[Fitted, ...] | Remark:
    """Return the records of a foreign memory, several if its text is too long for one, or why it makes none."""
    data = _data_of(foreign)
    try:
        kind = check_kind(foreign.draft.kind)
        check_keepable([foreign.key, foreign.draft.project, foreign.by.name, foreign.by.session, foreign.reason])
        serialized = _serialized(data)
    except Invalid as problem:
        return Remark(where=foreign.where, why=problem.message)
    clean = masked(data)
    title, body = _title_and_body(clean["title"], clean["body"])
    if not body:
        return Remark(where=foreign.where, why="it is empty" if clean is data else "it contains only private text")
    if (besides := len(serialized) - len(body)) > LONGEST_EVENT:
        return Remark(
            where=foreign.where, why=f"it has {besides:,} characters besides its text; at most {LONGEST_EVENT:,} fit"
        )
    fields, rest = fit_fields(kind, clean["fields"])
    labelled, asides = _labelled({**clean, "title": title, "body": body, "fields": fields})
    asides += [f"its {name} does not fit" for name in rest if any(name == spec.name for spec in kind.fields)]
    more_extra = {**({"fields": rest} if rest else {}), **({"counts": dict(foreign.counts)} if foreign.counts else {})}
    whole = Fitted(
        key=foreign.key,
        data={**labelled, "extra": {**labelled["extra"], **more_extra}},
        hash=blake2b((serialized if clean is data else _serialized(clean)).encode(), digest_size=12).hexdigest(),
        asides=tuple(asides),
        masked=clean is not data,
    )
    return _parts(whole)


def _serialized(data: Mapping[str, Any]) -> str:
    """Return the data as one JSON text; raise if no store could return it unchanged."""
    try:
        text = json.dumps(data, ensure_ascii=False, allow_nan=False, sort_keys=True)
        text.encode()
        doubtful = "\\u0000" in text
    except ValueError:  # broken Unicode
        doubtful = True
    if doubtful:
        check_keepable(data)
    return text


def _data_of(foreign: Foreign) -> dict[str, Any]:
    draft = foreign.draft
    return {
        "kind": draft.kind,
        "title": draft.title,
        "body": draft.body,
        "fields": dict(draft.fields),
        "scopes": list(draft.scopes),
        "tags": list(draft.tags),
        "confidence": draft.confidence,
        "visibility": draft.visibility,
        "anchors": list(draft.anchors),
        "triggers": list(draft.triggers),
        "extra": dict(draft.extra),
    }


def _title_and_body(title: str, body: str) -> tuple[str, str]:
    """Return title and body as stored; a title that is too long becomes part of the body."""
    title = " ".join(title.split())
    body = body.replace("\r\n", "\n").replace("\r", "\n").strip() or title
    if len(title) > LONGEST_TITLE:
        body = body if body.startswith(title) else f"{title}\n\n{body}"
        title = ""
    return title or headline(body), body


def _labelled(data: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the data with valid labels: an invalid scope becomes a tag, an invalid label goes to `extra`."""
    scopes = [scope.strip() for scope in data["scopes"]]
    good = [scope for scope in scopes if len(scope) <= MAX_LABEL and SCOPE.fullmatch(scope)]
    wanted = _distinct(
        " ".join(tag.split()) for tag in (*data["tags"], *(scope for scope in scopes if scope not in good))
    )
    tags = [tag for tag in wanted if len(tag) <= MAX_LABEL][:MAX_LABELS]
    kept = {"scopes": _distinct(good)[:MAX_LABELS], "tags": tags}
    rest = [label for label in (*wanted, *good) if label not in (*tags, *kept["scopes"])]
    extra = {**data["extra"], "labels": rest} if rest else data["extra"]
    return {**data, **kept, "extra": extra}, [f"the label {label[:40]!r} does not fit" for label in rest]


def _distinct(labels: Iterable[str]) -> list[str]:
    return [label for label in dict.fromkeys(labels) if label]


def _parts(whole: Fitted) -> tuple[Fitted, ...]:
    pieces = _pieces(whole.data["body"])
    if len(pieces) == 1:
        return (whole,)
    name = whole.data["title"][: LONGEST_TITLE - 20]
    parts = [
        replace(whole, data={**whole.data, "title": f"{name} ({number}/{len(pieces)})", "body": piece})
        for number, piece in enumerate(pieces, start=1)
    ]
    later = (replace(part, key=f"{whole.key}#{number}", asides=()) for number, part in enumerate(parts[1:], start=2))
    return (parts[0], *later)


def _pieces(text: str) -> list[str]:
    """Split a text that is too long at the end of a paragraph, line or word."""
    pieces = []
    while len(text) > LONGEST_BODY:
        cut = good_cut(text, 0, LONGEST_BODY)
        pieces.append(text[:cut].rstrip())
        text = text[cut:].lstrip()
    return [*pieces, text]

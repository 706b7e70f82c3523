"""Make what another system kept fit what a record may hold: masked, within the limits, and nothing dropped unsaid."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

from holdfast.model.errors import Invalid
from holdfast.model.foreign import Foreign, Remark
from holdfast.model.kinds import check_kind, fit_fields
from holdfast.model.scope import MAX_LABEL, MAX_LABELS, SCOPE
from holdfast.model.text import LONGEST_BODY, LONGEST_TITLE, check_keepable, headline
from holdfast.policy.secrets.find import masked

# An event must fit a line of an export with room to spare.
LONGEST_EVENT = 2_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """One record out of a foreign memory: what its event says, and a hash that changes when the memory does."""

    key: str
    data: Mapping[str, Any]
    hash: str
    asides: tuple[str, ...] = ()
    masked: bool = False


def fitted(foreign: Foreign) -> tuple[Fitted, ...] | Remark:
    """Give the records a foreign memory makes, several if its text is too long for one, or why it makes none."""
    given = _given(foreign)
    try:
        kind = check_kind(foreign.draft.kind)
        check_keepable([foreign.key, foreign.draft.project, foreign.by.name, foreign.by.session, foreign.reason])
        said = _written(given)
    except Invalid as problem:
        return Remark(where=foreign.where, why=problem.message)
    clean = masked(given)
    title, body = _told(clean["title"], clean["body"])
    if not body:
        return Remark(where=foreign.where, why="it is empty" if clean is given else "nothing but private text is in it")
    if (besides := len(said) - len(body)) > LONGEST_EVENT:
        return Remark(where=foreign.where, why=f"it has {besides:,} characters besides its text; {LONGEST_EVENT:,} fit")
    fields, rest = fit_fields(kind, clean["fields"])
    data, asides = _labelled({**clean, "title": title, "body": body, "fields": fields})
    asides += [f"its {name} does not fit" for name in rest if any(name == spec.name for spec in kind.fields)]
    beside = {**({"fields": rest} if rest else {}), **({"counts": dict(foreign.counts)} if foreign.counts else {})}
    whole = Fitted(
        key=foreign.key,
        data={**data, "extra": {**data["extra"], **beside}},
        hash=_hash(said if clean is given else _written(clean)),
        asides=tuple(asides),
        masked=clean is not given,
    )
    return _parts(whole)


def _written(given: Mapping[str, Any]) -> str:
    """Give the whole as one text, or say what no store could give back unchanged."""
    try:
        said = json.dumps(given, ensure_ascii=False, allow_nan=False, sort_keys=True)
        said.encode()
        doubtful = "\\u0000" in said
    except ValueError:  # broken Unicode among it
        doubtful = True
    if doubtful:
        check_keepable(given)
    return said


def _given(foreign: Foreign) -> dict[str, Any]:
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


def _told(title: str, body: str) -> tuple[str, str]:
    """Give title and text as they are kept; a title too long for one becomes part of the text."""
    title = " ".join(title.split())
    body = body.replace("\r\n", "\n").replace("\r", "\n").strip() or title
    if len(title) > LONGEST_TITLE:
        body = body if body.startswith(title) else f"{title}\n\n{body}"
        title = ""
    return title or headline(body), body


def _labelled(given: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Give the data with labels that can be used; a scope that is none becomes a tag, what is no label stands in extra."""
    scopes = [scope.strip() for scope in given["scopes"]]
    good = [scope for scope in scopes if len(scope) <= MAX_LABEL and SCOPE.fullmatch(scope)]
    wanted = _once(" ".join(tag.split()) for tag in (*given["tags"], *(one for one in scopes if one not in good)))
    tags = [tag for tag in wanted if len(tag) <= MAX_LABEL][:MAX_LABELS]
    kept = {"scopes": _once(good)[:MAX_LABELS], "tags": tags}
    rest = [label for label in (*wanted, *good) if label not in (*tags, *kept["scopes"])]
    extra = {**given["extra"], "labels": rest} if rest else given["extra"]
    return {**given, **kept, "extra": extra}, [f"the label {label[:40]!r} does not fit" for label in rest]


def _once(labels: Iterable[str]) -> list[str]:
    return [label for label in dict.fromkeys(labels) if label]


def _parts(whole: Fitted) -> tuple[Fitted, ...]:
    pieces = _pieces(whole.data["body"])
    if len(pieces) == 1:
        return (whole,)
    name = whole.data["title"][: LONGEST_TITLE - 20]
    parts = [
        replace(whole, data={**whole.data, "title": f"{name} ({place}/{len(pieces)})", "body": piece})
        for place, piece in enumerate(pieces, start=1)
    ]
    later = (replace(part, key=f"{whole.key}#{place}", asides=()) for place, part in enumerate(parts[1:], start=2))
    return (parts[0], *later)


def _hash(said: str) -> str:
    return blake2b(said.encode(), digest_size=12).hexdigest()


def _pieces(text: str) -> list[str]:
    """Cut a text that is too long where a paragraph, a line or a word ends."""
    found = []
    while len(text) > LONGEST_BODY:
        earliest = LONGEST_BODY * 4 // 5
        cuts = (text.rfind(mark, earliest, LONGEST_BODY) for mark in ("\n\n", "\n", " "))
        cut = next((place for place in cuts if place > 0), LONGEST_BODY)
        found.append(text[:cut].rstrip())
        text = text[cut:].lstrip()
    return [*found, text]

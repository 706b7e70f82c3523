"""Decide whether a draft becomes a record. Refusals are values; a table says in words why each was made and what to do about it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.model.ids import short
from holdfast.model.kinds import KINDS, SEPARATE
from holdfast.model.patterns import patterns_of, tables
from holdfast.model.record import Draft, Record, within
from holdfast.model.text import shorten

# Share of words in common (Jaccard) from which two texts say the same, or are related.
SAME, RELATED = 0.75, 0.40
_RE = patterns_of(__file__, "patterns")
# Kinds that make no lasting claim: they are about a moment by nature, or data of an application.
MOMENTARY = SEPARATE | {"observation", "summary", "progress", "blocker", "thread", "review", "retrospective"}
TITLE = 100  # characters of a title in a message
_TABLE = {code: row.split(" | ") for code, row in tables(__file__)["refusals"]}
_PENDING = ("Approve it with {approve}", "Reject it with {reject}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Similar:
    """A record that says nearly the same, and how similar it is."""

    record: Record
    similarity: float


def how_near(near: Similar) -> str:
    """Return how a stored record relates to one that was just written."""
    return "says nearly the same" if near.similarity >= SAME else "related"


@dataclass(frozen=True, slots=True, kw_only=True)
class Waivers:
    """Refusals that the writer overrules."""

    duplicate: bool = False
    transient: bool = False
    strict: bool = False  # the opposite of a waiver: states of today are refused as well, as bettermemory does
    scope: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """Store it; these records are related."""

    related: tuple[Similar, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """Store it as pending until it is approved."""

    why: str
    related: tuple[Similar, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Duplicate:
    """An active record says this already: revise that one, or insist."""

    matches: tuple[Similar, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviouslyRemoved:
    """This was stored before and retired: restore it, or insist."""

    matches: tuple[Similar, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Transient:
    """The wording will soon be untrue: reword it, or acknowledge."""

    markers: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeMismatch:
    """It names a project whose scope it does not have: add the scope, or acknowledge."""

    suggested: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretFound:
    """It contains credentials: remove them, or have them masked."""

    names: tuple[str, ...]


Refused = Duplicate | PreviouslyRemoved | Transient | ScopeMismatch | SecretFound
Verdict = Admitted | Pending | Refused


def admit(
    draft: Draft,
    text: str,
    *,
    secrets: Sequence[str] = (),
    active: Sequence[Similar] = (),
    removed: Sequence[Similar] = (),
    known_scopes: Sequence[str] = (),
    waivers: Waivers | None = None,
    confirm_all: bool = False,
) -> Verdict:
    """Judge a draft with the full text `text`, given the credentials in it and similar records."""
    waived = waivers or Waivers()
    if secrets:
        return SecretFound(names=tuple(secrets))
    if not waived.transient and (markers := transient_markers(draft, text, strict=waived.strict)):
        return Transient(markers=markers)
    if not waived.scope and (suggested := _unnamed_scopes(draft, text, known_scopes)):
        return ScopeMismatch(suggested=suggested)
    if not waived.duplicate:
        if same := _at_least(SAME, active):
            return Duplicate(matches=same)
        if same := _at_least(SAME, removed):
            return PreviouslyRemoved(matches=same)
    related = _at_least(RELATED, active)
    if confirm_all:
        return Pending(why="every write needs approval here (confirm_writes)", related=related)
    if draft.source == "inferred" and KINDS[draft.kind].pending:
        return Pending(why="it is inferred about a person", related=related)
    return Admitted(related=related)


def transient_markers(draft: Draft, text: str = "", *, strict: bool = False) -> tuple[str, ...]:
    """Return the wordings of a draft, or of its full text, that will soon be untrue; none for kinds about a moment."""
    names = () if draft.kind in MOMENTARY else ("transient", "today") if strict else ("transient",)
    found = (match for name in names for match in _RE[name].finditer(text or f"{draft.title}\n{draft.body}"))
    return tuple(dict.fromkeys(match[0].lower() for match in found))


def _unnamed_scopes(draft: Draft, text: str, known: Sequence[str]) -> tuple[str, ...]:
    """Return `projects:<name>` scopes whose name the text mentions but the draft does not have."""
    names = {scope: scope.split(":")[1] for scope in known if scope.startswith("projects:")}
    patterns = {scope: rf"(?<![\w-]){re.escape(name)}(?![\w-])" for scope, name in names.items() if len(name) >= 3}
    named = [scope for scope, pattern in patterns.items() if re.search(pattern, text, re.IGNORECASE)]
    return tuple(one for one in named if not any(within(own, f"projects:{names[one]}") for own in draft.scopes))[:5]


def _at_least(least: float, candidates: Sequence[Similar]) -> tuple[Similar, ...]:
    near = [similar for similar in candidates if similar.similarity >= least]
    return tuple(sorted(near, key=lambda similar: -similar.similarity)[:5])


# What one host calls each way out of a refusal, by the names in the table; {id} and {scope} are filled in.
Remedies = Mapping[str, str]
ADD_SCOPE = {"add_scope": "the scope {scope}"}  # every host has this one


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A refusal as people and agents read it."""

    code: str
    reason: str
    hint: str

    def __str__(self) -> str:
        return f"Not saved: {self.reason} {self.hint}".rstrip()


def explain(refused: Refused, remedies: Remedies = ADD_SCOPE) -> Refusal:
    """Return why a write was refused and what to do about it, in the words of a host."""
    match refused:
        case Duplicate(matches=matches) | PreviouslyRemoved(matches=matches):
            record = matches[0].record
            why = record.reason.rstrip(".") or "no reason given"
            values = {"id": short(record.id), "title": shorten(record.title, TITLE), "why": why}
        case Transient(markers=markers):
            values = {"markers": ", ".join(f'"{marker}"' for marker in markers)}
        case ScopeMismatch(suggested=suggested):
            values = {"scope": suggested[0], "scopes": ", ".join(scope.split(":")[1] for scope in suggested)}
        case SecretFound(names=names):
            values = {"names": ", ".join(names)}
    code = re.sub(r"(?<!^)(?=[A-Z])", "_", type(refused).__name__).lower()
    reason, *ways = _TABLE[code]
    return Refusal(code=code, reason=reason.format(**values), hint=_hint(ways, remedies, values))


def explain_pending(id: str, remedies: Remedies) -> str:  # noqa: A002
    """Return what to do about a write that needs approval."""
    return _hint(_PENDING, remedies, {"id": short(id)})


def _hint(ways: Sequence[str], remedies: Remedies, values: Mapping[str, Any]) -> str:
    filled = {"id": "", "scope": "", **values}
    known = {name: text.format(**filled) for name, text in (ADD_SCOPE | dict(remedies)).items()}
    possible = [way.format(**known) for way in ways if all(map(known.get, re.findall(r"{(\w+)}", way)))]
    return ", or ".join(possible[:1] + [way[0].lower() + way[1:] for way in possible[1:]]) + "." * bool(possible)

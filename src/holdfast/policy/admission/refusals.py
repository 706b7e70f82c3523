"""Why a write is refused: one table with the code, the reason for people and the hint; a host adds what it calls each remedy."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from holdfast.model.ids import short
from holdfast.model.text import shorten
from holdfast.policy.admission.admit import Duplicate, PreviouslyRemoved, Refused, ScopeMismatch, SecretFound, Transient

TITLE = 100  # characters of a title in a message


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedies:
    """What one host calls each way out of a refusal, with {id} and {scope} filled in; empty where it has none."""

    revise: str = ""
    restore: str = ""
    force: str = ""
    transient: str = ""
    add_scope: str = "the scope {scope}"
    any_scope: str = ""
    redact: str = ""
    approve: str = ""
    reject: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A refusal as people and agents read it."""

    code: str
    reason: str
    hint: str

    def __str__(self) -> str:
        return f"Not saved: {self.reason} {self.hint}".rstrip()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    code: str
    reason: str
    ways: tuple[str, ...]  # those whose remedy the host does not have are left out of the hint


_TABLE: Mapping[type[Refused], _Row] = {
    Duplicate: _Row(
        code="duplicate",
        reason='"{title}" ({id}) already says this.',
        ways=("Change that one with {revise}", "Save this one too with {force}"),
    ),
    PreviouslyRemoved: _Row(
        code="previously_removed",
        reason='"{title}" ({id}) said this and was retired: {why}.',
        ways=("Restore it with {restore}", "Save this one anyway with {force}"),
    ),
    Transient: _Row(
        code="transient",
        reason="{markers} suggests this will change.",
        ways=("Reword it", "Save it anyway with {transient}"),
    ),
    ScopeMismatch: _Row(
        code="scope_mismatch",
        reason="The text is about {scopes}, but the memory does not have that scope.",
        ways=("Add {add_scope}", "Save it anyway with {any_scope}"),
    ),
    SecretFound: _Row(
        code="secret_found",
        reason="The text contains credentials ({names}).",
        ways=("Remove them", "Mask them with {redact}"),
    ),
}
_PENDING = ("Approve it with {approve}", "Reject it with {reject}")


def explain(refused: Refused, remedies: Remedies | None = None) -> Refusal:
    """Return why a write was refused and what to do about it, in the words of a host."""
    row, values = _TABLE[type(refused)], _values(refused)
    return Refusal(
        code=row.code, reason=row.reason.format(**values), hint=_hint(row.ways, remedies or Remedies(), values)
    )


def explain_pending(id: str, remedies: Remedies) -> str:  # noqa: A002
    """Return what to do about a write that needs approval."""
    return _hint(_PENDING, remedies, {"id": short(id)})


def _hint(ways: tuple[str, ...], remedies: Remedies, values: Mapping[str, Any]) -> str:
    known = {name: text.format(**{"id": "", "scope": "", **values}) for name, text in asdict(remedies).items()}
    possible = [way.format(**known) for way in ways if all(known[name] for name in known if f"{{{name}}}" in way)]
    if not possible:
        return ""
    first, *rest = possible
    return ", or ".join([first, *(way[0].lower() + way[1:] for way in rest)]) + "."


def _values(refused: Refused) -> dict[str, Any]:
    match refused:
        case Duplicate(matches=matches) | PreviouslyRemoved(matches=matches):
            record = matches[0].record
            why = record.reason.rstrip(".") or "no reason given"
            return {"id": short(record.id), "title": shorten(record.title, TITLE), "why": why}
        case Transient(markers=markers):
            return {"markers": ", ".join(f'"{marker}"' for marker in markers)}
        case ScopeMismatch(suggested=suggested):
            return {"scope": suggested[0], "scopes": ", ".join(scope.split(":")[1] for scope in suggested)}
        case SecretFound(names=names):
            return {"names": ", ".join(names)}

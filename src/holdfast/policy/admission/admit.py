"""Whether a draft should become a record. Refusals are values: each says what stood in the way and how to go on."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from holdfast.model.kinds import KINDS
from holdfast.model.record import Draft, Record
from holdfast.model.scope import within
from holdfast.policy.secrets.find import find_secrets

# Share of words in common (Jaccard): above the first two texts say the same, above the second they are related.
SAME, RELATED = 0.75, 0.40
_TRANSIENT = re.compile(
    r"\b(currently|as of now|right now|for now|at the moment|today (?:i|we)|this (?:morning|afternoon|week|month)|"
    r"yesterday|tomorrow|last week|(?:i|we) just|just (?:shipped|pushed|merged)|shipped today|the latest|is unpushed|"
    r"commits? (?:ahead|behind)|now (?:uses|using|relies))\b",
    re.IGNORECASE,
)
# What an agent saw or reported is about a moment by nature.
MOMENTARY = frozenset({"observation", "summary", "progress", "blocker", "thread", "review", "retrospective"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Similar:
    """A record that says nearly the same, and how nearly."""

    record: Record
    similarity: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Waivers:
    """Refusals the writer has seen and overrules."""

    duplicate: bool = False
    transient: bool = False
    scope: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """Keep it; these are related."""

    related: tuple[Similar, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """Keep it, but wait for a yes."""

    why: str
    related: tuple[Similar, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Duplicate:
    """An active record says this already: revise that one, or insist."""

    matches: tuple[Similar, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviouslyRemoved:
    """This was kept before and retired for a reason: restore it, or insist."""

    matches: tuple[Similar, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Transient:
    """The wording will be untrue soon: say what lasts, or acknowledge."""

    markers: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeMismatch:
    """It names a project whose scope it does not carry: add the scope, or acknowledge."""

    suggested: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretFound:
    """It holds credentials: leave them out, or have them masked."""

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
    """Judge a draft whose whole text is `text`, given which credentials it holds and what is already known."""
    waived = waivers or Waivers()
    if secrets:
        return SecretFound(names=tuple(secrets))
    if not waived.transient and draft.kind not in MOMENTARY and (markers := _markers(text)):
        return Transient(markers=markers)
    if not waived.scope and (suggested := _unnamed_scopes(draft, text, known_scopes)):
        return ScopeMismatch(suggested=suggested)
    if not waived.duplicate:
        if same := _at_least(SAME, active):
            return Duplicate(matches=same)
        if same := _at_least(SAME, removed):
            return PreviouslyRemoved(matches=same)
    related = _at_least(RELATED, active)
    if why := _waits_for(draft, confirm_all=confirm_all):
        return Pending(why=why, related=related)
    return Admitted(related=related)


def secret_names(text: str) -> tuple[str, ...]:
    """Give what credentials a text holds, once each."""
    return tuple(dict.fromkeys(secret.name for secret in find_secrets(text)))


def transient_markers(draft: Draft) -> tuple[str, ...]:
    """Give the wordings of a draft that will be untrue soon, unless its kind is about a moment anyway."""
    return () if draft.kind in MOMENTARY else _markers(f"{draft.title}\n{draft.body}")


def _markers(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(match[0].lower() for match in _TRANSIENT.finditer(text)))


def _unnamed_scopes(draft: Draft, text: str, known: Sequence[str]) -> tuple[str, ...]:
    """Give `projects:<name>` scopes whose name the text mentions but which the draft does not carry."""
    names = {scope: scope.split(":")[1] for scope in known if scope.startswith("projects:")}
    return tuple(
        scope
        for scope, name in names.items()
        if len(name) >= 3
        and not any(within(own, f"projects:{name}") for own in draft.scopes)
        and re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text, re.IGNORECASE)
    )[:5]


def _at_least(least: float, found: Sequence[Similar]) -> tuple[Similar, ...]:
    near = [similar for similar in found if similar.similarity >= least]
    return tuple(sorted(near, key=lambda similar: -similar.similarity)[:5])


def _waits_for(draft: Draft, *, confirm_all: bool) -> str:
    if confirm_all:
        return "every write waits for a yes here (confirm_writes)"
    if draft.source == "inferred" and KINDS[draft.kind].pending:
        return "it is inferred about a person"
    return ""


OUTCOME_CODES: Mapping[type[Verdict], str] = {
    Admitted: "admitted",
    Pending: "pending",
    Duplicate: "duplicate",
    PreviouslyRemoved: "previously_removed",
    Transient: "transient",
    ScopeMismatch: "scope_mismatch",
    SecretFound: "secret_found",
}

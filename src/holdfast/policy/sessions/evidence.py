"""What an agent reads of a scar, in one of two wordings whose effect is compared, and what it must answer."""

import re
from collections.abc import Mapping
from hashlib import blake2b

from holdfast.model.patterns import lazy
from holdfast.model.record import Record
from holdfast.model.text import shorten, texts_of

SHORTEST, LONGEST = 50, 2_000
VARIANTS = ("steps", "goal")  # what to do, or what must be true in the end
WORDING = 160  # characters of each item
OUTCOME_OF: Mapping[str, str] = {"APPLYING": "applied", "N_A": "acknowledged", "REFUTED": "refuted"}
DECISIONS = tuple(OUTCOME_OF)
# Final outcome of a scar -> shortest evidence, in characters.
REFLECTIONS: Mapping[str, int] = {"OBEYED": 15, "REFUTED": 30}
# gitmem's words for a use -> ours.
_SAME = {name: name for name in ("acknowledged", "refuted")}
USE_OF: Mapping[str, str] = {"explicit": "applied", "implicit": "applied", "none": "ignored", **_SAME}
# A promise is not evidence. Only the writer's own future counts ("the cache will expire" is a fact).
_PROMISE = lazy(
    r"\b(?:I|we)(?:\s+(?:will|shall|am going to|are going to|plan to|intend to|aim to|expect to)|['’]ll|['’]m going to|['’]re going to)\b",
    re.IGNORECASE,
)
_RISK = lazy(
    r"\b(?:risk\w*|despite|overrid\w*|overrul\w*|acknowledg\w*|accept\w*|aware\w*|trade-?offs?|exceptions?)\b",
    re.IGNORECASE,
)
_WANTED = {
    "APPLYING": "say what was done or checked because of it",
    "N_A": "say why it does not apply here",
    "REFUTED": "say why it is overruled and which risk that accepts",
}


def variant_of(who: str, scar_id: str) -> str:
    """Return the wording an agent gets of a scar: random, but always the same one."""
    return VARIANTS[blake2b(f"{who}\n{scar_id}".encode(), digest_size=1).digest()[0] % len(VARIANTS)]


def wording(scar: Record, variant: str) -> str:
    """Return a scar's advice in one of its wordings; "" if it has none."""
    steps, checks = (texts_of(scar.fields.get(name)) for name in ("action_protocol", "self_check"))
    lead, items = ("Do: ", [*steps, *checks]) if variant == "steps" else ("Done when: ", [*checks, *steps])
    return lead + "; ".join(shorten(item, WORDING) for item in items[:3]) if items else ""


def problem_with(decision: str, evidence: str) -> str:
    """Return what is missing in an answer and how to fix it; "" if it is valid."""
    text = evidence.strip()
    if decision not in DECISIONS:
        return f"{decision!r} is not a decision: use {', '.join(DECISIONS)}"
    if problem := _problem_with_length(text, SHORTEST, _WANTED[decision]):
        return problem
    if decision == "APPLYING" and (promise := _PROMISE.search(text)):
        return f"“{promise[0]}” is a promise: say what was done or checked, in the past tense"
    if decision == "REFUTED" and not _RISK.search(text):
        return "say which risk is accepted by overruling it (risk, despite, accept, trade-off …)"
    return ""


def problem_with_reflection(outcome: str, evidence: str) -> str:
    """Return what is missing in a later report about a scar; "" if it is valid."""
    if outcome not in REFLECTIONS:
        return f"{outcome!r} is not an outcome: use {', '.join(REFLECTIONS)}"
    return _problem_with_length(evidence.strip(), REFLECTIONS[outcome], "say what was done")


def _problem_with_length(text: str, least: int, wanted: str) -> str:
    if len(text) < least:
        return f"the evidence has {len(text)} characters, {least} are needed: {wanted}"
    return f"the evidence has {len(text)} characters, {LONGEST} is the limit: shorten it" if len(text) > LONGEST else ""

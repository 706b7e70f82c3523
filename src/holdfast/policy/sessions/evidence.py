"""Validate answers to scars: a decision with evidence that can be checked."""

import re
from collections.abc import Mapping
from typing import Literal, get_args

Decision = Literal["APPLYING", "N_A", "REFUTED"]
DECISIONS: tuple[str, ...] = get_args(Decision)
SHORTEST, LONGEST = 50, 2_000
OUTCOME_OF: Mapping[str, str] = {"APPLYING": "applied", "N_A": "acknowledged", "REFUTED": "refuted"}
# Final outcome of a scar -> shortest evidence, in characters.
REFLECTIONS: Mapping[str, int] = {"OBEYED": 15, "REFUTED": 30}
# gitmem's words for a use -> ours.
_SAME = {name: name for name in ("acknowledged", "refuted")}
USE_OF: Mapping[str, str] = {"explicit": "applied", "implicit": "applied", "none": "ignored", **_SAME}
# A promise is not evidence. Only the writer's own future counts ("the cache will expire" is a fact).
_PROMISE = re.compile(
    r"\b(?:I|we)(?:\s+(?:will|shall|am going to|are going to|plan to|intend to|aim to|expect to)|['’]ll|['’]m going to|['’]re going to)\b",
    re.IGNORECASE,
)
_RISK = re.compile(
    r"\b(?:risk\w*|despite|overrid\w*|overrul\w*|acknowledg\w*|accept\w*|aware\w*|trade-?offs?|exceptions?)\b",
    re.IGNORECASE,
)


def problem_with(decision: str, evidence: str) -> str:
    """Return what is missing in an answer and how to fix it; "" if it is valid."""
    text = evidence.strip()
    if decision not in DECISIONS:
        return f"{decision!r} is not a decision: use {', '.join(DECISIONS)}"
    if len(text) < SHORTEST:
        return f"the evidence has {len(text)} characters, {SHORTEST} are needed: {_WANTED[decision]}"
    if len(text) > LONGEST:
        return f"the evidence has {len(text)} characters, {LONGEST} is the limit: shorten it"
    if decision == "APPLYING" and (promise := _PROMISE.search(text)):
        return f"“{promise[0]}” is a promise: say what was done or checked, in the past tense"
    if decision == "REFUTED" and not _RISK.search(text):
        return "say which risk is accepted by overruling it (risk, despite, accept, trade-off …)"
    return ""


def problem_with_reflection(outcome: str, evidence: str) -> str:
    """Return what is missing in a later report about a scar; "" if it is valid."""
    length = len(evidence.strip())
    if outcome not in REFLECTIONS:
        return f"{outcome!r} is not an outcome: use {', '.join(REFLECTIONS)}"
    if length < REFLECTIONS[outcome]:
        return f"the evidence has {length} characters, {REFLECTIONS[outcome]} are needed: say what was done"
    return f"the evidence has {length} characters, {LONGEST} is the limit: shorten it" if length > LONGEST else ""


_WANTED = {
    "APPLYING": "say what was done or checked because of it",
    "N_A": "say why it does not apply here",
    "REFUTED": "say why it is overruled and which risk that accepts",
}

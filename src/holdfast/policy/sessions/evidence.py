"""What counts as an answer to a scar that was shown: a decision, and evidence somebody could check."""

import re
from collections.abc import Mapping
from typing import Literal, get_args

Decision = Literal["APPLYING", "N_A", "REFUTED"]
DECISIONS: tuple[str, ...] = get_args(Decision)
SHORTEST, LONGEST = 50, 2_000
OUTCOME_OF: Mapping[str, str] = {"APPLYING": "applied", "N_A": "acknowledged", "REFUTED": "refuted"}
# What came of a scar in the end, and how much has to be said about it.
REFLECTIONS: Mapping[str, int] = {"OBEYED": 15, "REFUTED": 30}
# How other systems say that a scar was used.
USE_OF: Mapping[str, str] = {
    "explicit": "applied",
    "implicit": "applied",
    "acknowledged": "acknowledged",
    "refuted": "refuted",
    "none": "ignored",
}
# A promise is no evidence; only the writer's own future counts ("the cache will expire" is a fact).
_PROMISE = re.compile(
    r"\b(?:I|we)(?:\s+(?:will|shall|am going to|are going to|plan to|intend to|aim to|expect to)|['’]ll|['’]m going to|['’]re going to)\b",
    re.IGNORECASE,
)
_RISK = re.compile(
    r"\b(?:risk\w*|despite|overrid\w*|overrul\w*|acknowledg\w*|accept\w*|aware\w*|trade-?offs?|exceptions?)\b",
    re.IGNORECASE,
)


def problem_with(decision: str, evidence: str) -> str:
    """Say what is missing in an answer and how to mend it; nothing when it can be taken."""
    said = evidence.strip()
    if decision not in DECISIONS:
        return f"{decision!r} is no decision: use {', '.join(DECISIONS)}"
    if len(said) < SHORTEST:
        return f"the evidence has {len(said)} characters, {SHORTEST} are needed: {_WANTED[decision]}"
    if len(said) > LONGEST:
        return f"the evidence has {len(said)} characters, {LONGEST} are the most: keep the essence"
    if decision == "APPLYING" and (promise := _PROMISE.search(said)):
        return f"“{promise[0]}” promises something: say what was done or checked, in the past tense"
    if decision == "REFUTED" and not _RISK.search(said):
        return "say which risk is accepted by overruling it (risk, despite, accept, trade-off …)"
    return ""


def problem_with_reflection(outcome: str, evidence: str) -> str:
    """Say what is missing in what somebody tells of a scar afterwards; nothing when it can be taken."""
    said = len(evidence.strip())
    if outcome not in REFLECTIONS:
        return f"{outcome!r} is no outcome: use {', '.join(REFLECTIONS)}"
    if said < REFLECTIONS[outcome]:
        return f"the evidence has {said} characters, {REFLECTIONS[outcome]} are needed: say what was done"
    return f"the evidence has {said} characters, {LONGEST} are the most: keep the essence" if said > LONGEST else ""


_WANTED = {
    "APPLYING": "say what was done or checked because of it",
    "N_A": "say why it does not apply here",
    "REFUTED": "say why it is overruled and which risk that accepts",
}

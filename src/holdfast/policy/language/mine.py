"""Mine reusable knowledge from session output: whole sentences with a kind and a confidence, by the rules of `mine.txt`."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from holdfast.model.patterns import cues_of, lazy
from holdfast.policy.language.overlap import words
from holdfast.policy.language.reading import passages
from holdfast.policy.secrets.find import find_secrets

SHORTEST, LONGEST = 15, 400
# A pattern has full weight from this many occurrences on, and loses half of it for each week without one.
FULL_OCCURRENCES, HALF_LIFE_DAYS = 10, 7.0
# Occurrences before it is offered for review, and confidence to offer it at once.
REVIEW_OCCURRENCES, KEEP_CONFIDENCE = 3, 0.8

# Kinds that are easily confused share a family: what a thing is made of, what it is set to, why it is so.
FAMILIES: Mapping[str, str] = {
    **dict.fromkeys(("fact", "architecture", "tech_stack"), "fact"),
    **dict.fromkeys(("configuration", "dependency"), "configuration"),
    **dict.fromkeys(("explanation", "insight"), "explanation"),
    **{kind: kind for kind in ("command", "decision", "api_endpoint")},
}
_CUES = cues_of(__file__)
_WORDS = _CUES["words"]
_TECHNOLOGIES = frozenset(_WORDS["technologies"].split())


def _rules(section: str) -> dict[str, re.Pattern[str]]:
    return {name: lazy(cue, 0 if "exact" in name.split() else re.IGNORECASE) for name, cue in _CUES[section].items()}


_SKIPPED, _KINDS, _DECIDED = _rules("skipped"), _rules("kinds"), _rules("decided")
_CHATTER, _DANGLING = _rules("chatter")["chatter"], _rules("dangling")["dangling"]
_DECISION, _ENDPOINTS = _KINDS["decision 0.7"], _KINDS["api_endpoint 0.9 exact"]
_TRIVIAL, _ENDPOINT, _ROUTE, _TEXTBOOK, _ENDED, _CODE, _ENDING, _DENIED = map(lazy, _CUES["parts"].values())
_COMMAND = lazy(rf"^{_WORDS['tools']}(?:\s+\S.*)?$")
_QUOTED_COMMAND = lazy(rf"`({_WORDS['tools']}\s[^`\n]+)`")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Something worth keeping: its kind, the whole sentence, a confidence, and its span in the log."""

    kind: str
    text: str
    confidence: float
    span: tuple[int, int]


def mine(text: str) -> list[Found]:
    """Return the distinct findings of a session's log that will still be true next time, in order."""
    findings: dict[str, Found] = {}
    for passage in passages(text):
        said, kind, confidence = passage.text, "", 0.0
        if passage.form == "command" and _COMMAND.match(said) and not _TRIVIAL.search(said) and len(said) <= 200:
            kind, confidence = "command", 0.6
        elif passage.form == "route":
            kind, confidence = "api_endpoint", 0.85
        elif passage.form == "sentence" and _is_lasting(said):
            kind, confidence = next((verdict for rule in _KINDS if (verdict := _verdict(rule, said))), ("", 0.0))
        if kind and not find_secrets(said):
            if kind == "command" and passage.form == "sentence" and _ENDED.search(said):
                said = _command_in(said)  # how one run of it ended does not last
            finding = Found(kind=kind, text=said, confidence=confidence, span=(passage.start, passage.end))
            findings.setdefault(pattern_key(finding), finding)
    return list(findings.values())


def pattern_key(finding: Found) -> str:
    """Return the identity of a finding: the same command, route or words in any order have the same key."""
    family, text = FAMILIES[finding.kind], finding.text
    if family == "command" and (command := _command_in(text)):
        return f"command {' '.join(command.split())}"
    if family == "api_endpoint" and (match := _ENDPOINT.search(text) or _ROUTE.search(text)):
        # Method and path, without the names of parameters.
        path = re.sub(r"\{[^}]*\}|:\w+|<[^>]*>", "{}", match[2].partition("?")[0]).rstrip("/.")
        return f"api_endpoint {match[1].upper()} {path}"
    denied = len(_DENIED.findall(text)) % 2
    return " ".join((family, *(["not"] if denied else []), *sorted(_ENDING.sub("", word) for word in words(text))))


def score(occurrences: int, days: float, confidence: float) -> float:
    """Return how much a pattern counts: by occurrences, recency and confidence."""
    return min(occurrences / FULL_OCCURRENCES, 1.0) * math.pow(0.5, days / HALF_LIFE_DAYS) * confidence


def _is_lasting(sentence: str) -> bool:
    """True if a sentence is a statement, makes sense alone and outlasts the session."""
    if not SHORTEST <= len(sentence) <= LONGEST or sentence.endswith("?"):
        return False
    if any(pattern.search(sentence) for pattern in _SKIPPED.values()):
        return False
    textbook = _TEXTBOOK.match(sentence)
    if textbook and textbook[1].lower() in _TECHNOLOGIES:
        return False
    if _DANGLING.search(sentence) and not _ENDPOINTS.search(sentence):
        return False
    return bool(_DECISION.search(sentence)) or not _CHATTER.search(sentence)


def _verdict(rule: str, sentence: str) -> tuple[str, float] | None:
    kind, confidence, *needs = rule.split()
    if not _KINDS[rule].search(sentence):
        return None
    named = any(word.strip("`.,;:()").lower() in _TECHNOLOGIES for word in sentence.split())
    enough = not needs or needs == ["exact"] or named
    if needs[:1] == ["concrete"]:
        enough = named or bool(_CODE.search(sentence)) or len(words(sentence)) >= int(needs[1])
    grounds = sum(bool(pattern.search(sentence)) for pattern in _DECIDED.values()) if kind == "decision" else 0
    return (kind, round(float(confidence) + 0.1 * grounds, 2)) if enough else None


def _command_in(text: str) -> str:
    quoted = _QUOTED_COMMAND.search(text)
    return quoted[1] if quoted else text if _COMMAND.match(text) else ""

"""Mine reusable knowledge from session output: whole sentences with a kind and a confidence."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import chain

from holdfast.policy.language import mining_patterns
from holdfast.policy.language.lexicon import TECHNOLOGIES
from holdfast.policy.language.prose import Passage, passages
from holdfast.policy.language.statements import keys_of, statements
from holdfast.policy.secrets.find import find_secrets

SHORTEST, LONGEST = 15, 400
# A pattern has full weight from this many occurrences on, and loses half of it for each week without one.
FULL_OCCURRENCES, HALF_LIFE_DAYS = 10, 7.0
# Occurrences before it is offered for review; confidence to offer it at once; days until an unseen pattern expires.
REVIEW_OCCURRENCES, KEEP_CONFIDENCE, EXPIRE_DAYS = 3, 0.8, 30

# Kinds that are easily confused share a family: what a thing is made of, what it is set to, why it is so.
FAMILIES: Mapping[str, str] = {
    "fact": "fact",
    "architecture": "fact",
    "tech_stack": "fact",
    "configuration": "configuration",
    "dependency": "configuration",
    "explanation": "explanation",
    "insight": "explanation",
    "command": "command",
    "decision": "decision",
    "api_endpoint": "api_endpoint",
}
_SKIPPED = (
    mining_patterns.UNFINISHED,
    mining_patterns.NO_VERB,
    mining_patterns.VAGUE,
    mining_patterns.MOMENTARY,
    mining_patterns.SUPPOSED,
    mining_patterns.TASK,
)
_Verdict = tuple[str, float] | None


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
        if finding := _judge(passage):
            findings.setdefault(pattern_key(finding), finding)
    return list(findings.values())


def pattern_key(finding: Found) -> str:
    """Return the identity of a finding: the same command, route or words in any order have the same key."""
    family = FAMILIES[finding.kind]
    if family == "command" and (command := _command_in(finding.text)):
        return f"command {' '.join(command.split())}"
    if family == "api_endpoint" and (endpoint := _endpoint_in(finding.text)):
        return f"api_endpoint {endpoint}"
    denied = sum(not claim.affirms for claim in statements(finding.text)) % 2
    return " ".join((family, *(["not"] if denied else []), *sorted(keys_of(finding.text))))


def score(occurrences: int, days: float, confidence: float) -> float:
    """Return how much a pattern counts: by occurrences, recency and confidence."""
    return min(occurrences / FULL_OCCURRENCES, 1.0) * math.pow(0.5, days / HALF_LIFE_DAYS) * confidence


def _judge(passage: Passage) -> Found | None:
    if find_secrets(passage.text):
        return None
    verdict: _Verdict = None
    match passage.form:
        case "command":
            verdict = _typed_command(passage.text)
        case "route":
            verdict = ("api_endpoint", 0.85)
        case "sentence" if _is_lasting(passage.text):
            verdict = next((result for rule in _RULES if (result := rule(passage.text))), None)
    if verdict is None:
        return None
    text = passage.text
    if verdict[0] == "command" and passage.form == "sentence" and mining_patterns.FAILING.search(text):
        text = _command_in(text)  # how one run of it ended does not last
    return Found(kind=verdict[0], text=text, confidence=verdict[1], span=(passage.start, passage.end))


def _is_lasting(sentence: str) -> bool:
    """True if a sentence is a statement, makes sense alone and outlasts the session."""
    if not SHORTEST <= len(sentence) <= LONGEST or sentence.endswith("?"):
        return False
    if any(cue.search(sentence) for cue in _SKIPPED):
        return False
    if mining_patterns.DANGLING.search(sentence) and not mining_patterns.ENDPOINT.search(sentence):
        return False
    textbook = mining_patterns.TEXTBOOK.match(sentence)
    if textbook and textbook[1].lower() in TECHNOLOGIES:
        return False
    return bool(mining_patterns.DECIDED.search(sentence)) or not (
        mining_patterns.CHATTER.search(sentence) or mining_patterns.ASIDE.search(sentence)
    )


def _typed_command(command: str) -> _Verdict:
    is_useful = (
        mining_patterns.COMMAND.match(command) and not mining_patterns.TRIVIAL.search(command) and len(command) <= 200
    )
    return ("command", 0.6) if is_useful else None


def _decision(sentence: str) -> _Verdict:
    if not mining_patterns.DECIDED.search(sentence) or mining_patterns.NO_DECISION.search(sentence):
        return None
    grounds = bool(mining_patterns.ALTERNATIVE.search(sentence)) + bool(mining_patterns.REASON.search(sentence))
    return "decision", (0.7, 0.8, 0.9)[grounds]


def _endpoint(sentence: str) -> _Verdict:
    return (
        ("api_endpoint", 0.9)
        if mining_patterns.ENDPOINT.search(sentence) and not mining_patterns.ACCESS_LOG.search(sentence)
        else None
    )


def _insight(sentence: str) -> _Verdict:
    return ("insight", 0.8) if mining_patterns.INSIGHT.search(sentence) and _is_concrete(sentence) else None


def _command(sentence: str) -> _Verdict:
    quoted = mining_patterns.QUOTED_COMMAND.search(sentence)
    return ("command", 0.8) if quoted and not mining_patterns.TRIVIAL.search(quoted[1]) else None


def _configuration(sentence: str) -> _Verdict:
    if mining_patterns.SET_TO.search(sentence):
        return "configuration", 0.8
    if mining_patterns.BY_ENVIRONMENT.search(sentence):
        return "configuration", 0.75
    return ("configuration", 0.65) if mining_patterns.BY_DEFAULT.search(sentence) else None


def _dependency(sentence: str) -> _Verdict:
    if mining_patterns.VERSIONED.search(sentence):
        return "dependency", 0.85
    return ("dependency", 0.65) if mining_patterns.INSTALLED.search(sentence) else None


def _explanation(sentence: str) -> _Verdict:
    return ("explanation", 0.65) if mining_patterns.BECAUSE.search(sentence) and _is_concrete(sentence) else None


def _tech_stack(sentence: str) -> _Verdict:
    return ("tech_stack", 0.8) if mining_patterns.STACK.search(sentence) and _names_technology(sentence) else None


def _architecture(sentence: str) -> _Verdict:
    return ("architecture", 0.7) if mining_patterns.ARCHITECTURE.search(sentence) and _is_concrete(sentence) else None


def _fact(sentence: str) -> _Verdict:
    if (
        mining_patterns.RULE.search(sentence)
        and _is_concrete(sentence, least=3)
        and not mining_patterns.FAILING.search(sentence)
    ):
        return "fact", 0.7
    return ("fact", 0.6) if mining_patterns.STATE.search(sentence) and _is_concrete(sentence) else None


# The most specific wording first: a decision that gives its reason is a decision.
_RULES: tuple[Callable[[str], _Verdict], ...] = (
    _decision,
    _endpoint,
    _insight,
    _command,
    _configuration,
    _dependency,
    _explanation,
    _tech_stack,
    _architecture,
    _fact,
)


def _is_concrete(sentence: str, least: int = 4) -> bool:
    """True if a sentence names something: code, a number, a technology, or enough content words."""
    return bool(mining_patterns.CODE.search(sentence)) or _names_technology(sentence) or len(keys_of(sentence)) >= least


def _names_technology(sentence: str) -> bool:
    return any(word.strip("`.,;:()").lower() in TECHNOLOGIES for word in sentence.split())


def _command_in(text: str) -> str:
    quoted = mining_patterns.QUOTED_COMMAND.search(text)
    return quoted[1] if quoted else text if mining_patterns.COMMAND.match(text) else ""


def _endpoint_in(text: str) -> str:
    """Return method and path, without the names of parameters."""
    for match in chain(mining_patterns.ENDPOINT.finditer(text), mining_patterns.ROUTE.finditer(text)):
        path = re.sub(r"\{[^}]*\}|:\w+|<[^>]*>", "{}", match[2].partition("?")[0]).rstrip("/.")
        return f"{match[1].upper()} {path}"
    return ""

"""What an agent claims in a turn, what confirms it, and what the user's next prompt says about it."""

import re
from typing import Literal

from holdfast.model.patterns import lazy
from holdfast.policy.activity.digest import digest
from holdfast.policy.activity.turns import Turn
from holdfast.policy.language.noteworthy import Signal, signals
from holdfast.policy.language.overlap import words
from holdfast.policy.language.user_statement_words import QUESTION, TASK
from holdfast.policy.language.user_statements import objection

Standing = Literal["confirmed", "open", "refuted"]

MOST_CLAIMS = 20  # per answer: a text with more is quoting
ECHO, FEWEST_SHARED = 0.7, 3  # share and number of a claim's words that another text contains

# The agent takes back what it said before.
_RETRACTED = lazy(
    r"\b(?:my|the|that|our) (?:earlier|previous|first|initial|original|last) (?:\w+ )?(?:theory|guess|assumption|hypothesis|diagnosis|analysis|explanation|conclusion|claim|answer) (?:was|is|turned out)|"
    r"\bi was (?:wrong|mistaken)\b|\b(?:that|this|it) (?:was|is)(?:n['’]t| not) (?:it|the (?:cause|root cause|culprit|problem|reason|issue))\b|"
    r"\bnot the (?:\w+ )?(?:cause|culprit|reason) after all\b|\bthat theory (?:was|is) wrong\b|\bscratch that\b",
    re.IGNORECASE,
)
_CAUSE = lazy(
    r"\b(?:root cause|cause|culprit|reason|bottleneck|problem) (?:was|is)\b|\bturn(?:s|ed) out\b", re.IGNORECASE
)
_AGREES = lazy(
    r"^\W*(?:yes|yep|yeah|ok(?:ay)?|great|good|nice|perfect|thanks?|thank you|makes sense|exactly|right|correct|agreed|cool|awesome|lgtm|sounds good|"
    r"ja|genau|gut|super|danke|stimmt(?! nicht)|sí|vale|perfecto|gracias|genial|oui|d['’]accord|merci|parfait|sim|certo|ótimo|obrigad[oa]|"
    r"好|对(?!不)|谢谢|没错|はい|了解|ありがとう|その通り)",
    re.IGNORECASE,
)


def claims_of(turn: Turn) -> list[Signal]:
    """Return what an agent claims in a turn, without what it took back or replaced later in the turn."""
    text = turn.said
    found = signals(text)[:MOST_CLAIMS]
    taken_back = max((match.start() for match in _RETRACTED.finditer(text)), default=-1)
    causes = [signal for signal in found if is_guess(signal) and _CAUSE.search(signal.text)]
    last_message = len(text) - len(turn.answer)
    replaced = [signal for signal in causes[:-1] if signal.span[0] < last_message]
    return [
        signal for signal in found if not (is_guess(signal) and (signal.span[1] <= taken_back or signal in replaced))
    ]


def is_guess(signal: Signal) -> bool:
    """True if only the wording marks a claim: the agent did not ask to keep it."""
    return signal.how == "wording"


def takes_back(turn: Turn) -> bool:
    """True if the agent says that what it said before was wrong."""
    return bool(_RETRACTED.search(turn.said))


def is_proven(turn: Turn) -> bool:
    """True if a failing check passed after a change in this turn, or the work was committed, and no check fails at its end."""
    work = digest(turn)
    return bool(work.fixed or work.commits) and not work.broken


def standing_of(claim: str, prompt: str) -> Standing:
    """Return what the next prompt makes of a claim: it objects to it, leaves it open, or continues from it."""
    match objection(prompt):
        case "no":
            return "refuted"
        case "doubt":
            return "open"
    return "open" if not prompt.strip() or _is_contested(claim, prompt) else "confirmed"


def is_disputed(turn: Turn, prompt: str) -> bool:
    """True if a prompt contradicts or doubts what an agent claimed in the turn before."""
    guesses = [claim for claim in claims_of(turn) if is_guess(claim)]
    return any(standing_of(claim.text, prompt) != "confirmed" for claim in guesses)


def _is_contested(claim: str, prompt: str) -> bool:
    """True if a prompt states something about the same things without agreeing: neither a task nor a question."""
    if _AGREES.match(prompt) or TASK.match(prompt.strip()) or QUESTION.search(prompt.strip()):
        return False
    return bool(words(claim) & words(prompt))


def is_echo(text: str, known: str) -> bool:
    """True if nearly all words of a text are in another one."""
    own = words(text)
    shared = len(own & words(known))
    return shared >= FEWEST_SHARED and shared >= ECHO * len(own)

"""What an agent claims in a turn, what confirms it, and what the user's next prompt says about it."""

import re
from typing import Literal

from holdfast.model.patterns import lazy
from holdfast.policy.activity.digest import digest
from holdfast.policy.activity.turns import Turn
from holdfast.policy.language.cues import CUES
from holdfast.policy.language.noteworthy import Signal, signals
from holdfast.policy.language.overlap import words
from holdfast.policy.language.user_statements import objection

Standing = Literal["confirmed", "open", "refuted"]

MOST_CLAIMS, MOST_FINDINGS = 20, 3  # per answer: a text with more is quoting, or only reports
LIKELY = 0.6  # chance from which one finding of an answer is kept as pending without evidence
ECHO, FEWEST_SHARED = 0.7, 3  # share and number of a claim's words that another text contains
TAKEN_BACK = 0.6
# Explicit agreement, at the start of a prompt: a closed list, like other markers.
_AGREES = lazy(rf"^\W*(?:{CUES['yes']})(?!\w)", re.IGNORECASE)


def claims_of(turn: Turn) -> list[Signal]:
    """Return what an agent claims in a turn, without what it took back later; of findings without evidence only the surest."""
    found = signals(turn.said, turn.reader)[:MOST_CLAIMS]
    taken_back = max(
        (sentence.span[0] for sentence in turn.reader.message(turn.said) if sentence.share("refuted") >= TAKEN_BACK),
        default=-1,
    )
    standing = [signal for signal in found if not is_guess(signal) or signal.span[1] > taken_back]
    findings = [signal for signal in standing if signal.kind == "finding"]
    surest = sorted(findings, key=lambda signal: -signal.confidence)
    kept = surest[:MOST_FINDINGS] if is_proven(turn) else [one for one in surest[:1] if one.confidence >= LIKELY]
    return [signal for signal in standing if signal.kind != "finding" or signal in kept]


def is_guess(signal: Signal) -> bool:
    """True if only the wording marks a claim: the agent did not ask to keep it."""
    return signal.how == "wording"


def takes_back(turn: Turn, text: str = "") -> bool:
    """True if the agent says that what it said before was wrong; with a text, in a sentence that shares words with it."""
    refuted = [one.text for one in turn.reader.message(turn.said) if one.share("refuted") >= TAKEN_BACK]
    return any(not text or words(one) & words(text) for one in refuted)


def is_proven(turn: Turn) -> bool:
    """True if a failing check passed after a change in this turn, or the work was committed, and no check fails at its end."""
    work = digest(turn)
    return bool(work.fixed or work.commits) and not work.broken


def standing_of(claim: str, after: Turn) -> Standing:
    """Return what the next turn makes of a claim: refuted by an objection, confirmed by agreement or by evidence, else open."""
    match objection(after.prompt, after.previous, after.reader):
        case "no":
            return "refuted"
        case "doubt":
            return "open"
    agrees = _AGREES.match(after.prompt) or (is_proven(after) and words(claim) & words(after.said))
    return "confirmed" if agrees else "open"


def is_echo(text: str, known: str) -> bool:
    """True if nearly all words of a text are in another one."""
    own = words(text)
    shared = len(own & words(known))
    return shared >= FEWEST_SHARED and shared >= ECHO * len(own)

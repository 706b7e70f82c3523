"""Wordings that mark a statement as worth keeping, each with a confidence, and wordings that only resemble them."""

import re
from dataclasses import dataclass

from holdfast.model.patterns import lazy


@dataclass(frozen=True, slots=True, kw_only=True)
class Cue:
    """A wording, its signal, and the confidence before adjustments."""

    signal: str
    confidence: float
    pattern: re.Pattern[str]


def _cues(signal: str, *patterns: tuple[float, str]) -> tuple[Cue, ...]:
    return tuple(
        Cue(signal=signal, confidence=confidence, pattern=lazy(pattern, re.IGNORECASE))
        for confidence, pattern in patterns
    )


_HAVE = r"(?:'ve| have| has|'s)?(?: (?:now|all|both|just|also|finally|therefore|jointly))?"
_US = r"\b(?:we|the team|they|everybody|everyone)"
_WORK = (
    r"(?:release|launch|deploy(?:ment)?|work|task|ticket|story|pr|pull request|merge|migration|roll-?out|upgrade|feature|"
    r"sprint|progress|milestone|build-out|cut-?over|hand-?over|team|project)"
)
_MILESTONE = (
    r"(?:\b(?:phase|milestone|sprint|release|epic|roll-?out|migration|cut-?over|beta|alpha|mvp|audit|prototype|v\d[\w.]*|"
    r"pull request)\b|\b(?:PR|MR|issue|ticket)\s*[#!]?\d+|#\d+|\b[A-Z]{2,}-\d+|\bto production\b|"
    r"\bto (?:all|half|most|the first|every|\d+\s?%?)(?: of)?(?: \w+){0,2} (?:users?|customers?|regions?|tenants?|clients?|shops?)\b)"
)
_OWN_SLIP = r"(?!i\b|i'm\b|i've\b|my\b|we (?:forgot|missed|were|are)\b|nothing\b|it was me\b)"
_AGAIN = r"(?: again| at last)?"

CUES: tuple[Cue, ...] = (
    *_cues(
        "decision",
        (0.88, rf"{_US}{_HAVE} (?:decided|chose|opted|settled|agreed|voted)\b(?! nothing)"),
        (0.86, rf"{_US}{_HAVE} (?:picked(?! up)|selected|ruled out|rejected|committed to)\b"),
        # A single person decides all day long: keep it only with a reason or an alternative.
        (
            0.84,
            rf"\bi{_HAVE} (?:decided|chose|opted|settled|picked(?! up)|went)\b(?=.*(?:\bover\b|\binstead\b|\brather than\b|\bbecause\b|\bsince\b|\bagainst\b))",
        ),
        (0.88, r"\bthe decision (?:is|was|stands)\b(?! (?:in|made by|stored|pending))"),
        (0.92, r"^decision:\s"),
        (0.86, r"\bit (?:was|has been|is) (?:decided|agreed)\b"),
        (0.85, r"\bwe(?:'ll| will|'re going to| are going to) (?:go|stick|stay) with\b"),
        (0.85, r"\b(?:we|i)(?:'re|'m| are| am) going with\b"),
        (0.84, r"^(?:ok(?:ay)?,? |so |then )*let's (?:go|stick|stay) with\b"),
        (0.84, rf"{_US} went with\b"),
        (0.85, r"^after (?:considering|evaluating|weighing|comparing)\b(?=.*\b(?:we|i)\b)"),
        (0.84, r"^(?:we )?finally (?:decided|settled) on\b"),
        (0.84, r"\bmade the call to\b"),
        (0.86, r"\b(?:we|team)(?:'re| are| is) (?:standardi[sz]ing on|dropping|switching to|moving to|moving away from|sticking with)\b"),
        (0.86, r"^from now on\b|\bgoing forward,? we\b"),
    ),
    *_cues(
        "learning",
        (0.93, r"^(?:til|today (?:i|we) learn(?:ed|t))\b:?"),
        (0.92, r"^(?:the )?(?:key|main|important) (?:insight|takeaway|learning|lesson)s?(?:\s*:| (?:is|was|here)\b)"),
        (0.92, r"^lessons? learn(?:ed|t)\b\s*[:,]"),
        (0.9, rf"\b(?:i|we){_HAVE} (?:learn(?:ed|t)|reali[sz]ed|discovered|found out)\b(?: [\w ]{{0,20}})? that {_OWN_SLIP}"),
        (0.88, rf"\bwe{_HAVE} (?:learn(?:ed|t)|reali[sz]ed|discovered|found out) (?!that\b|about\b|where\b){_OWN_SLIP}\w+"),
        (0.86, rf"\bi{_HAVE} (?:learn(?:ed|t)|reali[sz]ed|found out) (?:why|how)\b"),
        (0.86, rf"(?<!how it )\bturn(?:s|ed) out(?: to be| that|,| the| our| a| an|:)? {_OWN_SLIP}(?!well|fine|ok\b|great)"),
        (0.87, r"\b(?:the )?root cause (?:was|is|turned out)\b(?! (?:in|at|unclear|unknown|not))"),
        (0.84, r"\bnow (?:i|we) (?:know|understand|see) (?:why|that)\b"),
        (0.82, r"^(?:i|we) (?:didn't|did not|never) know that\b"),
        (0.72, r"^interestingly\b,?"),
        (0.9, r"^(?:gotcha|caveat|pitfall|trap)s?:\s"),
        (0.84, r"\bthe (?:catch|gotcha|trap|pitfall) (?:is|was|here is) that\b"),
    ),
    *_cues(
        "blocker",
        (0.93, r"^blockers?:\s"),
        (0.92, rf"\b(?:we|i|the (?:\w+ ){{0,3}}{_WORK})(?:'re|'m| are| am| is| have been| has been| remains?)(?: still| now)? blocked (?:by|on|until)\b"),
        (0.88, rf"\b(?:is|are) (?:still |now )?blocking (?:us|me|everybody|everyone|the (?:[\w-]+ ){{0,3}}{_WORK})\b"),
        (0.88, r"\b(?:i|we)(?:'m|'re| am| are| got| have been|'ve been)(?: still)? stuck (?:on|with|because|until|at)\b"),
        (0.86, r"\b(?:i|we) (?:still )?(?:can't|cannot|can not|am unable to|are unable to) (?!see\b|find\b|use\b|tell\b)(?=.*\b(?:because|until|without|unless|as long as)\b)"),
        (0.82, r"\b(?:i|we)(?:'m|'re| am| are| have been|'ve been)(?: still)? (?:having trouble|struggling)\b"),
        (0.8, r"\b(?:i|we) (?:still )?(?:can't|cannot) (?:figure out|work out|explain) (?:why|how|what)\b"),
        (0.8, r"\b(?:i|we) (?:still )?(?:can't|cannot) (?:get|make)\b(?=.+? (?:to|work|pass|build|start)\b)"),
        (0.8, r"\bwaiting (?:on|for) (?!(?:the )?(?:build|tests?|server|command|process|job|it|socket|response|page|lock|input|output)\b)(?=.*\b(?:before|until|so that)\b)"),
    ),
    *_cues(
        "resolution",
        (0.88, r"\b(?:the|our) (?:fix|solution|cure|trick|remedy|workaround) (?:was|is|turned out to be)(?: simply| just)? (?:to|that|an?)\b"),
        (0.88, r"^(?:as a )?workaround\s?[:,]\s"),
        (0.86, r"^solution:\s"),
        (0.88, rf"^(?:(?:i|we){_HAVE} )?(?:finally )?(?:fixed|resolved|solved|cured|got rid of|worked around)\b.{{3,100}}? by (?:always |never |simply )?\w+ing\b"),
        (0.86, r"\bfigured (?:it|that|this) out:\s"),
        (0.86, r"\b(?:finally )?figured out (?:why|that|how)\b"),
        (0.84, rf"^(?:(?:i|we){_HAVE} )?(?:finally )?got .{{3,80}}? (?:working|green|passing|running|to \w+){_AGAIN} (?:by|after|with)\b"),
        (0.86, r"\bwhat (?:finally )?(?:fixed|solved|helped|worked|cured)(?: it| this| that| here)? was\b"),
    ),
    *_cues(
        "progress",
        (0.87, rf"^(?:(?:i|we){_HAVE} )?(?:finally |just )?(?:finished|completed|shipped|released|merged|wrapped up|landed|delivered|rolled out|launched|deployed|done with)\b(?=.*?{_MILESTONE})"),
        (0.84, r"\b(?:migration|move|switch|roll-?out|upgrade|cut-?over|phase \w+|milestone \w+|milestone|epic)\b(?=.* (?:is|are) (?:now )?(?:complete|completed|done|finished|live)\b(?! when| once| if))"),
        (0.82, r"\bmade (?:good |some |real |great |steady |much )?progress (?:on|with)\b"),
        (0.84, r"^(?:(?:i|we) )?(?:rolled out|launched|shipped)\b(?=.*\bto\b.*\b(?:users|customers|regions|tenants|everyone|everybody)\b)"),
    ),
    *_cues(
        "pattern",
        (0.88, r"^(?:the )?best practices?(?: here| in \S+ \w+| for [\w -]+?)? (?:is|are)\b|^best practices?:\s"),
        (0.86, r"^pattern:\s(?!x)"),
        (0.85, r"\bidiomatic (?:way|approach|style)\b(?=.* is\b)|\bit is idiomatic\b(?=.* to\b)"),
        (0.85, r"^the (?:usual|standard|established|recommended|normal|house|common) (?:way|pattern|approach|recipe)\b(?=.* is\b)|^the (?:usual|standard|established) (?:way|pattern) to\b"),
        (0.86, r"\bthe (?:naming )?convention\b.{0,60}? is\b|^by convention\b"),
        (0.87, r"\brule of thumb\b\s*(?:[:,]|is\b|here\b)"),
        (0.84, r"\bthis (?:approach|pattern|technique|trick|recipe) (?:works(?: well| best)?|is useful|pays off|helps) (?:when|whenever|for|because|as long|if)\b"),
        (0.82, r"^we (?:always|never) \w+"),
    ),
    *_cues(
        "preference",
        (0.9, r"\bmy (?:\w+ )?preference (?:is|would be)\b"),
        (0.88, r"\bi (?:always |strongly |generally |usually |really |much |still )*prefer\b(?! to (?:look|check|see|run|start|wait|read)\b)"),
        (0.86, r"\bi(?:'d| would) (?:much |really )?(?:rather|prefer)\b"),
        (0.82, r"\bi (?:really |also |do )?(?:don't like|do not like|dislike|hate|like|love) (?:it when|it if|when|how|to see|to have|seeing|that)\b"),
        (0.86, r"^(?:and |also |but )?please,? (?:always|never|don't ever|do not ever)\s\w+"),
        # Without “please” it may describe what code does: only suggested, unless it mentions a person or this project.
        (0.84, r"^(?:and |also |but )?(?:always|never|don't ever|do not ever)\s(?!mind\b|been\b|seen\b|had\b)\w+(?=.*\b(?:me|my|you|your|i|this (?:project|repo\w*|code ?base)|here)\b)"),
        (0.70, r"^(?:and |also |but )?(?:always|never)\s(?!mind\b|been\b|seen\b|had\b)(?:use|run|write|add|commit|push|ask|put|name|keep|test|check|call|import|edit|touch)\b"),
        (0.8, r"^(?:please,? )?stop \w+ing\b"),
        (0.8, r"\bi want (?:all|every|each|any|no)\b"),
        (0.82, r"\bi (?:want|need) you to (?:always|never)\b"),
    ),
    *_cues(
        "explicit",
        (0.94, r"^(?:please,? |and |also )*remember(?:(?: this| that)?[:,]| that| this)\s(?!function\b|file\b|time\b|one\b)"),
        (0.92, r"\b(?:save|keep|store|write down) (?:this|that) (?:for (?:later|future|next time)|in (?:your |the )?memory)\b"),
        (0.9, r"^(?:a )?notes? (?:for (?:the future|later|next time)|to self)\b"),
        (0.88, r"\bfor (?:future|later) reference\b"),
        (0.86, r"^(?:please,? |and |also )*(?:don't|do not|never) forget that\b"),
        (0.85, r"^(?:please,? |and |also |always )*keep (?:this |that )?in mind\b"),
        (0.8, r"^(?:please,? |also )*note that (?!i\b|i'm\b|i've\b|we\b|you\b|this\b|these\b|it\b|the (?:above|following|code|example|tests?|output)\b)"),
        (0.8, r"^important:\s"),
    ),
)  # fmt: skip

# Suppositions and plans. Only the text up to the end of the wording counts: a reason after it may be a supposition.
SUPPOSED = lazy(
    r"\b(?:maybe|perhaps|probably|possibly|presumably|might|could|should|whether|suppose|supposing|assuming|unclear|if|unless|"
    r"once|until|before we|when|how it|what if|not sure|no longer|not yet|would be|one option|nothing|nobody)\b",
    re.IGNORECASE,
)
# Narration of the next step or of an edit: true for a minute.
PASSING = lazy(
    r"\blet me\b|\bi(?:'ll| will)\b|\bi(?:'m| am) (?:now )?(?:adding|fixing|opening|running|going to)\b|"
    r"[,;] (?:now )?(?:adding|fixing|opening|running|applying|trying|checking|reading)\b(?: \w+){0,3}[.!]?$|"
    r"\bso i (?:searched|changed|rewrote|renamed|moved|removed)\b|\bfor now\b|(?<!me )\bfirst[.!]?$|\bfirst before\b|\bwhere (?:was|were) (?:i|we)\b|"
    r"\b(?:file|line|folder|branch) (?:i|you) (?:just )?(?:edited|opened|mentioned)\b",
    re.IGNORECASE,
)
LOOKING = lazy(
    r"\b(?:decided|chose|opted) to (?:\w+ )?(?:look|check|run|start|try|read|open|see|skip|wait|take|go back|search|stop)\b",
    re.IGNORECASE,
)
ASKED = lazy(
    r"\?[\"')*]*$|^(?:should|shall|do|does|did|can|could|would|will|is|are|was|were|have|has|why|what|how|where|who|which) "
    r"(?:we|you|i|it|the|there|that|this|they|anyone|somebody)\b.*\?",
    re.IGNORECASE,
)
# Asks to keep the sentence before.
POINTS_BACK = lazy(
    r"^(?:please,? |and |so |also )*(?:remember|note|save|keep|store)(?: this| that| it)"
    r"(?: in mind| for (?:later|the future|next time))?,?(?: please)?[.!]?$",
    re.IGNORECASE,
)
STRONG = lazy(r"\b(?:important|critical|crucial|essential|must|never|always)\b", re.IGNORECASE)
GROUNDS = lazy(r"\b(?:because|since|so that|instead of|rather than|over)\b|[:;]\s", re.IGNORECASE)

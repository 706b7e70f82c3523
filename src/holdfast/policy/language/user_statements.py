"""What a user states in a prompt: rules, facts, decisions and corrections, each as a text that stands alone."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from types import MappingProxyType
from typing import Literal

from holdfast.model.patterns import lazy, patterns_of
from holdfast.model.text import sentence_ends
from holdfast.policy.language.cues import CUES
from holdfast.policy.language.foreign import own_part
from holdfast.policy.language.overlap import words
from holdfast.policy.language.reading import KEPT, LONGEST_PROMPT, REFUSED, Sentence, SentenceReader
from holdfast.policy.secrets.find import MASKED, find_secrets

Kind = Literal["preference", "fact", "decision", "learning", "blocker"]
Objection = Literal["", "doubt", "no"]
# Memories, earliest first; of those that the user stated in the session, what they corrected.
Shown = Mapping[str, str | None]

KINDS: dict[str, Kind] = {"rule": "preference", "fact": "fact", "decision": "decision", "correction": "fact"}
REQUESTS = ("task", "question", "chat")
NEAR, NEAR_BEFORE = 3, 8  # sentences of a prompt that answer what was said before, and statements of earlier prompts
DOUBTED, LEADS, LEAST, ASKS, SURE, OPPOSED, CONFLICTS, NAMED, CERTAIN = 0.6, 0.6, 0.1, 0.65, 0.1, 0.25, 0.5, 0.1, 0.9
VERY_SHORT, SHORT = 8, 10  # words; in a longer statement a pronoun at its start points at what follows
FEWEST_WORDS, FEW_WORDS = 2, 4  # content words; with fewer than the second a statement leans on what was said before
MOST_CLAUSES = 4
_RE = patterns_of(__file__, "patterns")
_REMEMBER = lazy(
    rf"^\W*(?:please |and |also )*(?:{CUES['remember']})(?: this| that| dass| que| di que| dat| che)?\s*[:,，：]?\s+(?=\S)(?! to\b)",
    re.IGNORECASE,
)
# Openings that name the kind of what they open, whatever the classifier takes it for.
_NAMED: dict[Kind, re.Pattern[str]] = {
    "learning": lazy(rf"^\W*(?:{CUES['learned']})\b[^?]*$", re.IGNORECASE),
    "decision": lazy(rf"^\W*(?:{CUES['decided']})\b[^?]*$", re.IGNORECASE),
    "blocker": lazy(rf"^\W*(?:{CUES['blocked']})\b[^?]*$", re.IGNORECASE),
}
_POINTS_BACK = lazy(rf"^\W*(?:{CUES['keep_it']})\W*$", re.IGNORECASE)
_DENIES = lazy(rf"^\W*(?:(?:{CUES['no']})(?=[\s,.!:;-])|{CUES['no_cjk']})", re.IGNORECASE)
# A no that answers, and not one that belongs to the statement: “no deploys on Fridays”, “não usamos tabs”.
_LEADING_NO = lazy(
    rf"^\W*(?:(?:{CUES['no']})(?:\s*[,.!:;–—-]|(?=\s+(?:we|it|it['’]s|that|this|the|you|i|our|they|there|wir|das|die|der)\b))|"
    rf"(?:{CUES['no_cjk']}))",
    re.IGNORECASE,
)
_FORBIDS = lazy(rf"^\W*(?:(?:{CUES['please']})\W+)?(?:do )?(?:{CUES['negation']}|n['’])", re.IGNORECASE)
_JOINS = lazy(rf"^\W*(?:{CUES['joins']})\b[\s,]+", re.IGNORECASE)
_POLITE = lazy(rf"^\W*(?:{CUES['please']})\b[\s,]+|[\s,]+(?:{CUES['please']})(?=[.!]*$)", re.IGNORECASE)
# "I said …" repeats; "30 minutes, not an hour" names the value and no thing that has it.
_AGAIN = lazy(rf"^\W*(?:{CUES['again']})[\s:,，：]+(?=\S)", re.IGNORECASE)
_CONTRAST = lazy(rf"^(?:\S+\s+){{0,3}}?[^\s,]+,\s+(?:{CUES['not']})\s+\S+(?:\s+\S+){{0,3}}$", re.IGNORECASE)
_PRONOUN = lazy(rf"^\W*(?:{CUES['pronoun']})(?:['’]\w+)?\b", re.IGNORECASE)
_CHOICE = lazy(rf"\b(?:{CUES['choice']})\b", re.IGNORECASE)
_OBJECT = lazy(rf"\s(?:(?:{CUES['pronoun']}|{CUES['choice']})\W*$|(?:it|them)\b)", re.IGNORECASE)
_CLAUSE, _VALUE, _CJK, _WORDED, _BARE = (_RE[name] for name in ("clause", "value", "cjk", "worded", "bare"))
_EDGE = " \t,.;:!-–—，。、：；！"


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One statement of a user. `corrects` is true if it contradicts what was said before; then `about` is that sentence.

    `doubtful` is true if it may be pasted text.
    """

    kind: Kind
    text: str
    span: tuple[int, int]
    corrects: bool = False
    doubtful: bool = False
    about: str = ""


def stated(
    prompt: str, answer: str, reader: SentenceReader, *, certain: str | None = None, shown: Shown = MappingProxyType({})
) -> list[Said]:
    """Return what a user states for good, in order; `answer` is what the agent said before, `shown` memories it was shown.

    `certain` is the prompt as long as it is certainly the user's; it is found out if it is not passed. What the user stated
    in the session is shown with what it corrected: a bare value may correct that again, or restore it.
    """
    own = own_part(prompt[:LONGEST_PROMPT])
    certain, result, before = own.certain if certain is None else certain, dict[str, Said](), None
    for sentence in reader.prompt(own.text, answer):
        said, before = _said(sentence, before, answer, reader, shown), sentence
        # What lacks a part is partly a quotation.
        is_whole = said and own.text[slice(*said.span)] == prompt[slice(*said.span)]
        if said and is_whole and not (MASKED in said.text or find_secrets(said.text)):
            doubtful = not certain[slice(*said.span)].strip()
            result[said.text.lower()] = replace(said, doubtful=doubtful)
    return list(result.values())


def objection(prompt: str, answer: str, reader: SentenceReader, before: str = "") -> Objection:
    """Return how a prompt answers what was said before it: it denies it, doubts it, or neither ("").

    One that corrects what the user stated `before`, rather than the answer, is no objection.
    """
    first = reader.prompt(own_part(prompt[:LONGEST_PROMPT]).text, answer)[:NEAR]
    corrections = [sentence for sentence in first if sentence.share("correction") >= REFUSED]
    denies = bool(_DENIES.match(prompt))
    if first and denies and first[0].share(*KEPT, "report") >= REFUSED:
        corrections = corrections or first[:1]
    if corrections:

        def opposed(said: Iterable[str]) -> float:
            pairs = product(said, corrections)
            return max((reader.relation(old, new.text).get("conflict", 0.0) for old, new in pairs), default=0.0)

        own = opposed([one.text for one in reader.prompt(before) if one.lasts][-NEAR_BEFORE:])
        answers = opposed(one.text for one in reader.message(answer))
        about = {word for one in corrections for word in words(one.text)} & words(answer)
        sure = denies or about or max(one.share("correction") for one in corrections) >= CERTAIN
        is_news = not sure and answers < OPPOSED
        return "" if is_news or (own >= CONFLICTS and own > answers) else "no"
    doubts = (sentence for sentence in first if sentence.share("guess", "question", "correction") >= DOUBTED)
    return "doubt" if any(words(sentence.text) & words(answer) for sentence in doubts) else ""


def resolved(statement: str, old: str, *, leans: bool = False) -> str:
    """Return a statement that leans on an earlier sentence as one that stands alone; "" if it says nothing of its own.

    One that names its subject stays as it is. With one value in each, the old sentence gets the new value; else both are
    kept, the old sentence quoted.
    """
    if not old or not (leans or is_elliptic(statement, old)):
        return statement
    if replaced := _replaced(statement, old):
        return replaced
    fresh, news = {*_VALUE.findall(statement)} - {*_VALUE.findall(old)}, len(words(statement) - words(old))
    return f"“{old.strip(_EDGE)}” → {statement}" if fresh or news > needs_subject(statement) else ""


def _replaced(statement: str, old: str) -> str:
    """Return a sentence with the one new value of a statement, and its reason; "" if it is not clear which that replaces."""
    old_values = _VALUE.findall(old)
    fresh = [value for value in _VALUE.findall(statement) if value not in old_values]
    shape, unit = (_shape(fresh[0]), _unit(statement, fresh[0])) if fresh else ("", "")
    gone = [value for value in old_values if _shape(value) == shape and unit in ("", _unit(old, value))]
    if not len(fresh) == len(gone) == 1:
        return ""
    new, bare = old.replace(gone[0], fresh[0], 1), None if _CONTRAST.match(statement) else _bare(statement)
    return f"{new.rstrip(_EDGE)} – {bare['reason']}" if bare and bare["reason"] else new


def _bare(text: str) -> re.Match[str] | None:
    """Match a text that is hardly more than a value, and perhaps its reason: “sorry, I meant 20, the gateway is slow”."""
    match = _BARE.match(_VALUE.sub("\0", text))
    return match if match and len(_WORDED.findall(match["clause"])) < FEW_WORDS else None


def is_elliptic(statement: str, old: str = "") -> bool:
    """True if a statement is too short to name what it is about, or only refers to it."""
    signs, own = len(_CJK.findall(statement)), words(statement)
    size = len(_CJK.sub(" ", statement).split()) + 2 * signs // 3
    is_short = size < FEW_WORDS or (len(own) < FEW_WORDS and not (own & words(old) if old else own))
    return needs_subject(statement) or _is_value(statement) or is_short


def needs_subject(text: str, short: int = SHORT) -> bool:
    """True if a statement cannot be understood without what was said before it: it is short, and its subject a pronoun."""
    lead, _, rest = text.partition(",")
    own = rest if rest and " " not in lead.strip() else text
    first, whole = len(_CLAUSE.split(own)[0].split()), len(own.split())
    return bool(first < short and _PRONOUN.match(own)) or bool(whole < VERY_SHORT and _OBJECT.search(own))


def _said(
    sentence: Sentence, before: Sentence | None, answer: str, reader: SentenceReader, shown: Shown
) -> Said | None:
    if _POINTS_BACK.match(sentence.text):
        return Said(kind="fact", text=before.text, span=before.span) if before else None
    if marked := _REMEMBER.match(sentence.text):
        text = sentence.text[marked.end() :]
        (judged,) = reader.prompt(text, answer)[:1] or (sentence,)
        kind = max(KEPT, key=lambda name: judged.chances.get(name, 0.0))
        return Said(kind=KINDS[kind], text=text, span=sentence.span) if len(words(text)) >= FEWEST_WORDS else None
    for named, opening in _NAMED.items():
        if opening.match(sentence.text) and len(words(sentence.text)) > FEWEST_WORDS:
            return Said(kind=named, text=sentence.text, span=sentence.span)
    made = {one: old for one, old in reversed((*shown.items(),)) if old is not None}
    part = _lasting(sentence, answer, reader)
    if part is None or part.share("correction") >= REFUSED:
        # A request for the value that a user's correction replaced takes that back.
        asks, values = sentence.share("task", *KEPT) >= ASKS, _VALUE.findall(sentence.text)
        back = next((one for one, old in made.items() if asks and {*values} & {*_VALUE.findall(old)}), "")
        text = back and _replaced(sentence.text, back)
        if text or part is None:
            return Said(kind="fact", text=text, span=sentence.span, corrects=True, about=back) if text else None
    kind = max(KEPT, key=part.chances.__getitem__)
    objects = max(part.share("correction"), sentence.share("correction")) >= REFUSED
    corrects = kind == "correction" or objects or bool(_DENIES.match(sentence.text))
    if kind == "correction" and part.share("rule") > part.share("fact", "decision"):
        kind = "rule"
    is_short = is_elliptic(part.text) or (corrects and bool(_bare(part.text)))
    leans = corrects or is_short
    old = (*shown,) if kind != "decision" else ()  # what is agreed to was just said
    about = _corrected(part.text, answer, reader, old, or_noise=corrects) if leans else ""
    about = next(_fuller(part.text, about, made, reader), about) if is_short else about
    denial = _LEADING_NO.match(part.text)
    said = _POLITE.sub("", _JOINS.sub("", part.text[denial.end() :].lstrip(_EDGE) if denial else part.text))
    bare = _AGAIN.sub("", said)
    is_bare = _AGAIN.match(part.text) or not is_elliptic(bare)
    text = resolved(bare if is_bare else part.text, about, leans=is_short)
    if about and not text and kind == "decision":
        text = f"“{about.strip(_EDGE)}” → {sentence.text}"  # an agreement is worth what it agrees to
    nameless = needs_subject(text) or _is_value(text) or len(words(bare)) < FEWEST_WORDS - (kind == "rule")
    nameless = nameless or (kind == "correction" and is_elliptic(bare))
    if not text or text.endswith((":", "：")) or (not about and nameless):
        return None  # no one could tell later what it is about
    return Said(kind=KINDS[kind], text=text, span=sentence.span, corrects=corrects, about=about)


def _lasting(sentence: Sentence, answer: str, reader: SentenceReader) -> Sentence | None:
    """Return the part worth keeping, without clauses that are tasks, objections or small talk; it names its subject."""
    if sentence.share(*KEPT) < LEAST:
        return None
    cuts = [0, *_cuts(sentence.text)][:MOST_CLAUSES]
    parts = [sentence, *(part for cut in cuts[1:] for part in reader.prompt(sentence.text[cut:], answer)[:1])]
    kept = [part for part in parts if part.lasts]
    # What asks for something may be behind it, or its reason, which refers to that.
    points = bool(kept) and kept[0] is not sentence and needs_subject(kept[0].text)
    for cut in cuts[:0:-1] if points or not kept else ():
        (head,) = reader.prompt(sentence.text[:cut].strip(_EDGE), answer)[:1] or (sentence,)
        if head.lasts and not is_elliptic(head.text):
            reason = [one for one in reader.prompt(sentence.text[cut:], answer) if needs_subject(one.text)]
            return replace(head, text=sentence.text) if reason and reason[0].share(*REQUESTS) < ASKS else head
    if not kept:
        return None
    best = kept[0]
    for shorter in parts[parts.index(best) + 1 :]:
        lead = reader.prompt(best.text[: len(best.text) - len(shorter.text)].strip(_EDGE), answer)[:1]
        # What an objection says instead is worth keeping, also if that alone is not.
        objects = best.share("correction") >= REFUSED and shorter.share(*REQUESTS) < ASKS
        # "That's wrong" names neither a thing nor a value.
        named = _LEADING_NO.sub("", lead[0].text).strip(_EDGE) if lead else ""
        names = not needs_subject(named) and (len(words(named)) >= FEWEST_WORDS or _VALUE.search(named))
        empty = not names or lead[0].share(*KEPT) < 1 - LEADS
        if empty and (shorter.lasts or objects) and not is_elliptic(shorter.text):
            best = shorter if shorter.lasts else replace(best, text=shorter.text)
    tail = best.text[(last := max(_cuts(best.text), default=0)) :]
    judged = reader.prompt(tail, answer)[:1] if last else []
    objects = best.share("correction") >= REFUSED
    asks = judged and judged[0].share(*REQUESTS) >= ASKS and judged[0].label != "chat"
    if asks and not _FORBIDS.match(best.text) and (objects or not is_elliptic(tail)):  # else it is what to do instead
        (whole,) = reader.prompt(best.text[:last].strip(_EDGE), answer)[:1] or (best,)
        leans = is_elliptic(whole.text) and whole.share("correction") < REFUSED
        is_as_sure = whole.share(*KEPT) > best.share(*KEPT) - SURE  # else it is a part of what is stated
        best = whole if whole.lasts and is_as_sure and not leans else best
    return best


def _cuts(text: str) -> list[int]:
    """Return where the clauses of a sentence begin, except the first."""
    ends = {after for _, after in sentence_ends(text)}
    return [match.end() for match in _CLAUSE.finditer(text) if match[0][0] != "." or match.end() in ends]


def _corrected(correction: str, answer: str, reader: SentenceReader, shown: Sequence[str], *, or_noise: bool) -> str:
    """Return the sentence of the answer or of a memory shown that a statement contradicts most, perhaps noise."""
    heard = reader.message(answer)  # an option that is named is no noise
    said = [one.text for one in heard if or_noise or one.label != "noise" or _CHOICE.search(one.text)][-8:]
    chosen = [old for name in _CHOICE.findall(correction) for old in said if name.lower() in old.lower()]
    valued = [old for old in said if or_noise and _bare(correction) and _replaced(correction, old)]
    known = chosen or valued or [text for text in (*shown, *said) if not needs_subject(text)] or said
    known_words = {*words(correction), *words(answer), *_VALUE.findall(answer)}

    def worth(old: str) -> float:
        shared = known_words & {*words(old), *_VALUE.findall(old)} if old in shown else words(old) & words(correction)
        is_meant = shared or old not in shown  # a memory was shown earlier, and perhaps for something else
        return reader.relation(old, correction).get("conflict", 0.0) + NAMED * len(shared) if is_meant else 0.0

    best = max(reversed(known), key=worth, default="")  # a proposal comes last
    leans = is_elliptic(correction, best) and not _is_value(correction) and (best in said or worth(best) >= NAMED)
    return best if best and (leans or best in valued or worth(best) >= OPPOSED) else ""


def _fuller(correction: str, about: str, made: Iterable[str], reader: SentenceReader) -> Iterator[str]:
    """Yield what the user stated about the value that a correction is about."""
    values = set(_VALUE.findall(about))
    for one in (one for one in made if (known := set(_VALUE.findall(one))) and (known & values or not values)):
        is_it = _replaced(correction, one) and any(_unit(one, old) == _unit(about, old) for old in values)
        if is_it or reader.relation(one, correction).get("conflict", 0.0) >= OPPOSED:
            yield one


def _is_value(text: str) -> bool:
    return bool(_CONTRAST.match(text) and _VALUE.search(text))


def _unit(text: str, value: str) -> str:
    found = re.search(rf"{re.escape(value)}\s+([^\W\d]+)", text)
    return found[1].lower() if found and words(found[1]) else ""


def _shape(value: str) -> str:
    return re.sub(r"\d[\d.,:_]*", "0", value) if value[:1].isdigit() else re.sub(r"[\w.]+", "a", value)

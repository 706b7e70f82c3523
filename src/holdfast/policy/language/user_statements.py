"""Read what a user states in a prompt: standing rules, facts, decisions and corrections, in any of seven languages.

A prompt is split into sentences and clauses. A clause is kept if it holds beyond the task: by a word of permanence, by
what the project does as a habit, by a preference, a prohibition of a kind of thing, a contrast, or because it corrects the
answer before. Questions, suppositions, reports of failures, tasks, quotes and what holds only this once are not kept.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from holdfast.model.patterns import lazy
from holdfast.policy.language import user_statement_words as words
from holdfast.policy.language.foreign import own_part
from holdfast.policy.language.statements import statements
from holdfast.policy.secrets.find import find_secrets

Kind = Literal["preference", "fact", "decision"]
Objection = Literal["", "doubt", "no"]

LONGEST_PROMPT, LONGEST_SENTENCE = 20_000, 500  # characters
NEAR = 3  # sentences after an objection that still belong to it
FEWEST_WORDS, FEWEST_CHARACTERS = 2, 4  # words, or characters of Chinese and Japanese

_SENTENCE = lazy(r"(?<=[.!?;])[\"')\]]*\s+|(?<=[。！？；])|\n+")
_CLAUSE = lazy(
    r"(?:,|;|:)\s+|[，、：；]|\s+[-–—]\s+|\s+(?=(?:but|because|so|and (?:always|never|please|don['’]t|do not|we|use)|aber|weil|pero|porque|mais|mas)\b)",
    re.IGNORECASE,
)
_BULLET = lazy(r"^[ \t]*(?:[-*•]|\d{1,2}[.)]|#{1,6}|>)[ \t]+")
_ABBREVIATED = lazy(r"\b(?:e\.g|i\.e|etc|vs|approx|incl|cf|z\.B|bzw|p\.ej)\.$", re.IGNORECASE)
_CJK = lazy(r"[\u3040-\u30ff\u3400-\u9fff]")
_WORD = lazy(r"[^\W_][\w.@/+#'’-]*")
_GENERIC = lazy(r"\b(?:for|in|as|with) (?!the\b|this\b|that\b|a\b|an\b|now\b|it\b)\w+", re.IGNORECASE)
_OURS = lazy(r"\b(?:our|unsere?[nrms]?|nuestr[oa]s?|notre|nos|noss[oa]s?)\b", re.IGNORECASE)
_CONCRETE = lazy(r"\d|\w/\w|\w\.\w|\w_\w|[a-z][A-Z]|(?<=\w )[A-Z][a-z]|\bcalled \w")
_IS = lazy(r"\b(?:is|are|isn['’]t|aren['’]t|was|it['’]s|ist|sind|es|son|est|sont|é|são)\b", re.IGNORECASE)
_UNIT = lazy(
    r"\b(?:are|is|van?|son|sont|são|sind|werden) (?:always )?(?:in|en|em) (?!the\b|this\b|that\b|my\b|la\b|el\b|le\b|o\b)\w+\W*$",
    re.IGNORECASE,
)
_PROPER = lazy(r"\d|://|\w/\w|\w_\w|[a-z][A-Z]|(?<=(?:is|es|st|re|nd) )[A-Z][a-z]")
_THEN_DO = lazy(
    r"[,;.]\s*(?:please |(?:can|could|would) you )?(?:simplify|fix|implement|change|do|add|update|adapt|make|build|handle|migrate|port|convert|move|extend|replace) (?:it|this|that|them|the \w+)\b(?! to the lock)",
    re.IGNORECASE,
)
_RELATIVE = lazy(r"\b(?:that|which|who|so that)\b", re.IGNORECASE)
_YOU_MUST = lazy(
    r"(?:you|we) (?:must|have to|need to|should|can only|may only|shouldn['’]t|mustn['’]t)\b", re.IGNORECASE
)
_OWN_RESOURCE = lazy(r"\b(?:existing|our|shared)\b", re.IGNORECASE)
_KIND_OF_THINGS = lazy(
    r"(?!this|its|his|always|us|yes|thanks|is|as|was|has|does|les|los|las|das|os)[a-z][\w-]*s \w", re.IGNORECASE
)
_EACH_PART = lazy(
    r"(?:all|every|each|any|jede[rs]?|cada|chaque|tod[oa]s?|tous|toutes)\b.{0,20}\b(?:prs?|commits?|files?|functions?|methods?|endpoints?|tests?|tickets?|branch(?:es)?|components?|queries|query)\b",
    re.IGNORECASE,
)
_PLACE = lazy(r"(?:below|above|in|on|at|under|after|before|next to|inside|over|with|for)\b", re.IGNORECASE)
# "two tests share …", "the planner picks the …": a plural and a verb, or a noun and a verb with its object.
_VERB = lazy(
    r"\b[a-z]+s (?!of|in|on|and|or|for|with|to|from|at|by|that|which|the|a)[a-z]{3,} \w|\b[a-z]+ [a-z]{2,}s (?:the|an?|its?|to|on|into|by|from|at|no|\d|too)\b"
)
_IT_NOW = lazy(
    r"(?:it|that|this)(?:['’]s| is) (?!fine|ok|okay|good|great|clear|perfect|gone|all)[^\s,]+(?: [^\s,]+){0,2} now\b",
    re.IGNORECASE,
)
_WISH = lazy(r"\b(?:wants?|needs?|would like|asks?|hopes?|wishe?s?)\b", re.IGNORECASE)
_DEICTIC_END = lazy(r"\b(?:it|this|that|them|das|esto|eso|ça|cela|isso|isto)\W*$", re.IGNORECASE)
_CJK_DEFINITE = lazy(r"(?:この|その|あの|这个|那个)(?!プロジェクト|リポジトリ|项目|仓库)")
_EDGE = " \t,.;:!-–—，。、：；！"


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One statement of a user. `corrects` is true if it contradicts the answer before, `updates` if it replaces what was true.

    `doubtful` is true if it may be pasted text.
    """

    kind: Kind
    text: str
    span: tuple[int, int]
    corrects: bool = False
    updates: bool = False
    doubtful: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Clause:
    text: str
    start: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sentence:
    text: str
    start: int
    clauses: tuple[_Clause, ...]


def stated(prompt: str, *, disputes: bool = False, certain: str | None = None) -> list[Said]:
    """Return what a user states for good, in order; `disputes` if the prompt is known to contradict the answer before.

    `certain` is the prompt as long as it is certainly the user's; it is found out if it is not passed.
    """
    own = own_part(prompt[:LONGEST_PROMPT])
    plain, certain = own.text, own.certain if certain is None else certain
    result: list[Said] = []
    objected = -NEAR - 1
    before: _Sentence | None = None
    for index, sentence in enumerate(_sentences(plain)):
        if _objects(sentence.text):
            objected = index
        corrects = disputes or (index - objected <= NEAR and _opens_with_objection(prompt))
        said = _pointed_back(plain, sentence, before) or _read(plain, sentence, corrects=index == objected or corrects)
        if said and not find_secrets(said.text):
            result.append(replace(said, doubtful=not certain[slice(*said.span)].strip()))
        before = sentence
    return list({said.text.lower(): said for said in result}.values())


def objection(prompt: str) -> Objection:
    """Return how a prompt answers what was said before it: it denies it, doubts it, or neither ("")."""
    sentences = list(_sentences(own_part(prompt[:LONGEST_PROMPT]).text))[:NEAR]
    if any(_objects(sentence.text) for sentence in sentences):
        return "no"
    return "doubt" if any(words.DOUBT.search(sentence.text) for sentence in sentences) else ""


def _sentences(text: str) -> Iterator[_Sentence]:
    begin = 0
    cuts = [match.span() for match in _SENTENCE.finditer(text)]
    for start, end in (*cuts, (len(text), len(text))):
        if _ABBREVIATED.search(text[begin:start]):
            continue
        yield from _sentence(text, begin, start)
        begin = end


def _sentence(text: str, begin: int, end: int) -> Iterator[_Sentence]:
    bullet = _BULLET.match(text, begin, end)
    begin = bullet.end() if bullet else begin
    raw = text[begin:end]
    if not raw.strip(_EDGE):
        return
    clauses, start = list[_Clause](), 0
    for cut in (*_CLAUSE.finditer(raw), None):
        stop = cut.start() if cut else len(raw)
        if raw[start:stop].strip(_EDGE):
            clauses.append(_Clause(text=raw[start:stop], start=begin + start))
        start = cut.end() if cut else stop
    yield _Sentence(text=raw, start=begin, clauses=tuple(clauses))


def _opens_with_objection(prompt: str) -> bool:
    first = next(_sentences(prompt[:LONGEST_SENTENCE]), None)
    return first is not None and _objects(first.text)


def _objects(sentence: str) -> bool:
    rest = _without_openers(sentence)
    return bool(words.OBJECTION.match(rest)) and not words.PLEASANTRY.match(rest)


def _without_openers(text: str) -> str:
    """Return a text without the words that only lead up to it."""
    rest = text.lstrip(_EDGE)
    while (match := words.OPENER.match(rest)) and rest[match.end() :].strip(_EDGE):
        rest = rest[match.end() :].lstrip(_EDGE)
    return rest


def _pointed_back(plain: str, sentence: _Sentence, before: _Sentence | None) -> Said | None:
    """Return the sentence before, if this one asks to remember it."""
    if before is None or not words.POINTS_BACK.match(_without_openers(sentence.text)):
        return None
    text = plain[before.start : before.start + len(before.text)].strip()
    return Said(kind="fact", text=" ".join(text.split()), span=(before.start, before.start + len(before.text)))


def _read(plain: str, sentence: _Sentence, *, corrects: bool) -> Said | None:
    """Return the statement of a sentence: from the first clause that lasts to its end."""
    if len(sentence.text) > LONGEST_SENTENCE or _is_excluded(sentence.text):
        return None
    asks_to_remember = any(words.REMEMBER.match(_without_openers(clause.text)) for clause in sentence.clauses)
    for place, clause in enumerate(sentence.clauses):
        if place and words.POINTS_BACK.match(_without_openers(clause.text)):
            return _said(plain, sentence, 0, "fact", corrects=corrects)
        rest = "".join(plain[clause.start : sentence.start + len(sentence.text)])
        kind = _kind_of(clause.text, rest, corrects=corrects, remembered=asks_to_remember)
        if kind:
            first = _first_clause(sentence, place)
            return _said(plain, sentence, first, kind, corrects=corrects)
    return None


def _is_excluded(sentence: str) -> bool:
    asks = words.QUESTION.search(sentence) and not words.TAG_QUESTION.search(sentence)
    return bool(asks or words.SUPPOSED.search(sentence) or words.REPORTED.search(sentence))


def _first_clause(sentence: _Sentence, place: int) -> int:
    """Return where the statement begins: clauses before it that are a task, an opener or an objection are left out."""
    first = place
    while first and not _leads(sentence.clauses[first - 1].text):
        first -= 1
    return first


def _leads(clause: str) -> bool:
    """True if a clause is no part of the statement after it."""
    rest = _without_openers(clause)
    objects = words.OBJECTION.fullmatch(rest.strip(_EDGE)) or words.REMEMBER.match(rest + " ")
    bare = not rest.strip(_EDGE) or words.OPENER.fullmatch(rest.strip(_EDGE))
    return bool(objects or bare or words.TASK.match(rest) or words.QUESTION.search(rest) or words.ONE_OFF.search(rest))


def _said(plain: str, sentence: _Sentence, first: int, kind: Kind, *, corrects: bool) -> Said | None:
    start, end = sentence.clauses[first].start, sentence.start + len(sentence.text)
    whole = " ".join(plain[start:end].split())
    text = _stripped(words.ABOUT_MEMORY.sub("", whole))
    if not _says_enough(text):
        return None
    updates = corrects or bool(words.CHANGED.search(text) or words.ABOUT_MEMORY.search(whole))
    return Said(kind=kind, text=text, span=(start, end), corrects=corrects, updates=updates)


def _stripped(text: str) -> str:
    """Return a statement without the openers and objections before it."""
    rest = text
    while True:
        shorter = _without_openers(rest)
        match = words.OBJECTION.match(shorter)
        if match and (tail := shorter[match.end() :]) and tail[0] in ",.!:;，。、":
            shorter = tail.lstrip(_EDGE)
        elif match := words.REMEMBER.match(shorter):
            shorter = re.sub(r"^(?:that|dass|que|qu['’])\s*", "", shorter[match.end() :].lstrip(_EDGE))
        if shorter == rest or not _says_enough(shorter):
            return rest.strip()
        rest = shorter


def _says_enough(text: str) -> bool:
    return len(_WORD.findall(text)) >= FEWEST_WORDS or len(_CJK.findall(text)) >= FEWEST_CHARACTERS


def _kind_of(clause: str, rest: str, *, corrects: bool, remembered: bool) -> Kind | None:
    """Return what a clause states for good; `rest` is the sentence from this clause on."""
    own = _without_openers(clause)
    if words.PLEASANTRY.match(own) or words.ONE_OFF.search(clause) or words.RESIDUE.search(clause):
        return None
    if words.DECIDED.search(own):
        return None if words.VAGUE_CHOICE.search(clause) else "decision"
    if words.PREFER.search(own) or (words.ANSWER_IN.search(own) and not words.TASK.match(own)):
        return "preference"
    if (remembered and not words.REMEMBER.match(own)) or _remember_rest(own):
        return "preference" if words.ALWAYS.search(own) else "fact"
    if _is_specification(own, rest) and not corrects:
        return None
    return _ordered(clause, own, rest, corrects=corrects) or _declared(own, rest, corrects=corrects)


def _remember_rest(own: str) -> bool:
    match = words.REMEMBER.match(own)
    return (
        bool(match) and (len(own[match.end() :].split()) > FEWEST_WORDS or bool(_CJK.search(own))) if match else False
    )


def _is_specification(own: str, rest: str) -> bool:
    """True if a clause says how a part of the product shall behave: that is a task."""
    generally = words.STANDING.search(own) or words.FROM_NOW.search(rest) or _OURS.match(own) or _EACH_PART.match(own)
    about_product = words.PRODUCT.match(own) and not generally
    orders_behaviour = words.BEHAVIOUR.match(re.sub(r"^\W*(?:always|never|only|don['’]t|do not)\s+", "", own))
    return bool(about_product or orders_behaviour or _THEN_DO.search(rest))


def _ordered(clause: str, own: str, rest: str, *, corrects: bool) -> Kind | None:
    """Return "preference" for an order that is meant for good."""
    lasts: object = words.ALWAYS.match(own) or words.FROM_NOW.match(own) or words.STANDING.match(own)
    if words.JA_DONT.search(own) or words.ZH_USE.search(own):
        lasts = lasts or not _CJK_DEFINITE.search(own)
    elif words.DONT.match(own):
        because = _is_explained(rest) or re.match(r"\s*so\b", clause)
        generic = not _points(own) and _is_long_enough(own)
        lasts = (
            lasts
            or words.FROM_NOW.search(own)
            or words.STANDING.search(own)
            or because
            or generic
            or (corrects and _is_long_enough(own))
        )
    elif words.HABIT.match(own):
        lasts = True
    elif words.TASK.match(own):
        lasts = lasts or (words.FROM_NOW.search(own) and not _RELATIVE.search(own))
    elif _YOU_MUST.match(own):
        lasts = words.UNIVERSAL.search(own) or words.ALWAYS.search(own) or words.FROM_NOW.search(own)
    elif words.USE.match(own):
        permanent = words.ALWAYS.search(rest) or words.FROM_NOW.search(rest) or words.STANDING.search(rest)
        explained = len(rest) > len(clause) + 2 and _GENERIC.search(own)
        generic = bool(words.CONTRAST.search(rest) or explained or corrects) and not _points(own)
        generic = generic or (corrects and bool(_CONCRETE.search(own)))
        lasts = (
            lasts
            or permanent
            or generic
            or _OWN_RESOURCE.search(own)
            or (words.PROCESS.search(own) and not _points(own))
        )
    return "preference" if lasts else None


def _is_explained(rest: str) -> bool:
    """True if what follows an order says why: with a reason, or a statement of how things are."""
    after = [_without_openers(part) for part in _CLAUSE.split(rest)[1:]]
    is_so = any((_IS.search(part) or words.STATIVE.search(part)) and not _is_order(part) for part in after)
    return bool(words.REASON.search(rest)) or is_so


def _is_long_enough(order: str) -> bool:
    """True if an order names what it is about."""
    return len(order.split()) > 2 or len(_CJK.findall(order)) > 4 or bool(re.match(r"no \w+s\b", order, re.IGNORECASE))


def _points(own: str) -> bool:
    """True if an order is about one certain thing: `use the token`, `don't change it`, `in dedupe()`."""
    negated = re.match(r"(?:don['’]?t|do not|never|no|ne|não|nicht)\s", own, re.IGNORECASE)
    after = own.split(None, 2)[2:] if negated else own.split(None, 1)[1:]
    return bool(after and words.DEFINITE.match(after[0])) or "()" in own or bool(re.search(r"\bline \d", own))


def _declared(own: str, rest: str, *, corrects: bool) -> Kind | None:
    """Return the kind of a declarative clause that holds beyond the task."""
    rule = words.ALWAYS.search(own) or words.MUST.search(own)
    habit = words.WE.search(own)
    does = habit and habit["verb"] not in (None, "have", "are", "is")
    if (words.REPORT.search(own) and not words.MUST.search(own) and not does) or _is_order(own):
        return None
    if words.MUST.search(own) and _DEICTIC_END.search(own):
        return None  # "this must be fixed", "il faut corriger ça"
    kind: Kind = "preference" if rule else "fact"
    if habit:
        return kind
    if not (_has_subject(own) or (_IT_NOW.match(own) and (corrects or re.search(r"\d", own)))):
        return None
    if rule or words.STANDING.search(own) or words.CHANGED.search(own):
        return kind
    return "fact" if _is_lasting_fact(own, rest, corrects=corrects) else None


def _is_lasting_fact(own: str, rest: str, *, corrects: bool) -> bool:
    """True if a clause describes how something is for good: a contrast, a kind of things, a name or a number."""
    stative, copula = words.STATIVE.search(own), _IS.search(own)
    if corrects and (stative or copula or _has_predicate(own)):
        return not _CJK_DEFINITE.search(own)
    if _OURS.match(own) and _has_predicate(own) and not _WISH.search(own):
        return True
    if not (stative or copula):
        return False
    if words.CONTRAST.search(rest) or words.UNIVERSAL.match(own) or _UNIT.search(own):
        return True
    if stative and (words.UNIVERSAL.search(own) or words.REASON.search(rest)):
        return True
    if words.REPORT.search(rest) or any(words.TASK.match(_without_openers(part)) for part in _CLAUSE.split(rest)[1:]):
        return False  # it only leads up to a task
    named = _CONCRETE.search(own) or _KIND_OF_THINGS.match(own) if stative else _PROPER.search(own)
    return bool(named or _OURS.search(own))


def _has_predicate(own: str) -> bool:
    """True if a clause is a whole statement, not only a name: verbs are known for English, elsewhere its length decides."""
    if (len(own.split()) < 3 and len(_CJK.findall(own)) < 6) or _PLACE.match(own):
        return False
    return (
        not own.isascii()
        or bool(_VERB.search(own))
        or any(claim.predicate and claim.subject for claim in statements(own))
    )


def _is_order(own: str) -> bool:
    return any(pattern.match(own) for pattern in (words.TASK, words.USE, words.DONT)) and not words.PROCESS.match(own)


def _has_subject(own: str) -> bool:
    """True if a clause is about something other than the writer, the reader or what was just shown."""
    return not re.match(
        r"(?:i|my|you|we|it(?!(?: is|['’]s) called (?!twice|again|once|by|from|with|in))|this(?! is an? )|that|they|there|he|she|ich|du|es|das(?! (?-i:[A-ZÄÖÜ]))|yo|tú|eso|je|tu|ça|eu|você|isso)\b(?!['’]s (?:called|now))",
        own,
        re.IGNORECASE,
    )

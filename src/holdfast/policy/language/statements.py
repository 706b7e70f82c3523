"""What a text says, clause by clause: its words made comparable, whether it affirms or denies, and where it holds."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from holdfast.policy.language.lexicon import (
    ALIASES,
    DENIES,
    ENVIRONMENTS,
    FUNCTION_WORDS,
    GRANTS,
    LIGHT_VERBS,
    MODALS,
    NEGATORS,
    OPPOSITES,
    UNIVERSAL,
    VERBS,
)
from holdfast.policy.language.quantities import Quantity, read_quantity

# How much of a text is read. What is longer than a long sentence is no sentence.
MOST_CHARACTERS, MOST_STATEMENTS, LONGEST_SENTENCE = 4_000, 40, 400

_ABBREVIATION = re.compile(r"\b(e\.g|i\.e|etc|vs|approx|incl|resp|cf)\.(?=\s)", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?])[\"')\]]?\s+(?=[\"'(`\[]?[A-Z0-9`])|\n+")
_CLAUSE = re.compile(
    r";\s+|:\s+|\s+[—–-]\s+|,\s+(?=(?:but|so|then|not|never|and|or|use|uses|don't|do)\b)|,\s+", re.IGNORECASE
)
_BULLET = re.compile(r"^[\s\-*>#•]*(?:\d{1,2}[.)]\s+)?[*\s]*")
_ADVERBIAL = re.compile(r"(?:by|in|on|for|with|as|at|during|from|under|after|before)(?:\s+\S+){1,4}", re.IGNORECASE)
_AND_VERB = re.compile(r"\s+and\s+(?=(\w+)\b)")
# A reason is not part of what is claimed; a condition narrows it.
_REASON = re.compile(r"\s+(?:because|since|so that|in order to|which is why|that is why|due to)\b.*", re.IGNORECASE)
_CONDITION = re.compile(r"\b(?:when|whenever|if|unless|during|outside|except)\b", re.IGNORECASE)
_RELATIVE = re.compile(r"\s+(?:that|which|who|when|whenever|if|unless|while|until)\s+.*", re.IGNORECASE)
_LEADING = re.compile(r"^(?:when|whenever|if|while|until|once|since)\b[^,]*,\s*", re.IGNORECASE)
# Named and turned down in the same breath: it is no part of the claim.
_TURNED_DOWN = re.compile(
    r",?\s*\b(?:instead of|rather than|and not|no more|(?<=, )not|in place of)\s+(?:the |an? |in |with |on )?([^,;:.()]+)",
    re.IGNORECASE,
)
_PREFERRED_OVER = re.compile(r"(?<=\s)over\s+([^,;:.()]+)", re.IGNORECASE)
_PREFERS = re.compile(r"\b(?:prefer|chose|choose|favou?r|picked)", re.IGNORECASE)
_HEDGE = re.compile(
    r"\b(?:e\.?g\.?|for example|for instance|such as|may|might|can be|could|too|sometimes|often)\b", re.IGNORECASE
)
_TURNED_ON = re.compile(
    r"\b(is|are|was|were|be|turned|switched|turn|switch|stays?|kept|mode|with)\s+on(?=$|[.,;:]|\s+(?:in|by|for|at|when|everywhere|per|and)\b)",
    re.IGNORECASE,
)
_WORD = re.compile(r"`[^`\n]+`|[^\s`=]+")
_EDGES = " .,;:!?()[]{}\"'“”‘’*"
LONGEST_NAME = 200  # characters in which a word shows whether it is a name
_NAME = re.compile(r"[A-Z].*[A-Z]|[a-z][A-Z]|[A-Za-z].*\d|\d.*[A-Za-z]|[_/@#\\.]|::")
_CONTRACTED = re.compile(r"n['’]t$", re.IGNORECASE)
_DETERMINERS = frozenset("the a an our its your their this that of".split())
_SURE = frozenset("is are was were has have had must should can may will does do be defaults lives".split())
_ALSO_NOUNS = frozenset(
    """
    cache log logs branch branches report reports time times call calls name base commit push start end load import imports
    export exports test format target targets host hosts support default return returns need use run runs build builds back
    cut retry retries trigger triggers merge merges poll deploy deploys store stores set work works read reads write writes
    """.split()
)
_EMPTY = FUNCTION_WORDS | NEGATORS | GRANTS | DENIES | LIGHT_VERBS
_SUPPOSING = frozenset({"if", "when", "whenever", "once", "unless", "suppose"})
_PRONOUN = frozenset({"it", "they", "this", "these", "that"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A word that carries content: equal keys mean the same."""

    key: str
    raw: str
    place: int
    quantity: Quantity | None = None
    named: bool = False
    verb: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One claim of a text. `subject` says how many of its words stand before the predicate."""

    raw: str
    sentence: str
    words: tuple[Word, ...]
    keys: frozenset[str]
    lead: tuple[str, ...]
    subject: int
    predicate: bool
    affirms: bool
    universal: bool
    conditional: bool
    hedged: bool
    scope: frozenset[str]
    turned_down: frozenset[str]


@lru_cache(maxsize=2_048)
def statements(text: str) -> tuple[Statement, ...]:
    """Give the claims of a text in order; a very long text is read up to a limit."""
    found: list[Statement] = []
    for sentence in sentences(text[:MOST_CHARACTERS]):
        found += _of_sentence(sentence, found[-1] if found else None)
        if len(found) >= MOST_STATEMENTS:
            break
    return tuple(found[:MOST_STATEMENTS])


def sentences(text: str) -> list[str]:
    """Give the sentences of a text; a line's end ends a sentence too."""
    plain = _ABBREVIATION.sub(lambda match: match[1].replace(".", ""), text)
    parts = (_BULLET.sub("", part).strip() for part in _SENTENCE.split(plain))
    return [part for part in parts if part]


@lru_cache(maxsize=8_192)
def stem(word: str) -> str:
    """Give a rough stem, good enough to see that two forms are one word."""
    word = ALIASES.get(word, word)
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-2] if word.endswith(("sses", "ches", "shes", "xes")) else word[:-1]
    for ending in ("ingly", "edly", "ing", "ed", "ly"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            if word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            break
    return ALIASES.get(word.removesuffix("e"), word.removesuffix("e"))


_LIGHT_STEMS = frozenset(stem(verb) for verb in LIGHT_VERBS)


def _of_sentence(sentence: str, before: Statement | None) -> Iterator[Statement]:
    # A question claims nothing; a row of a table or a log has lost what it is about.
    if sentence.endswith(("?", "?)")) or sentence.startswith(("|", "[")) or len(sentence) > LONGEST_SENTENCE:
        return
    scope = _scope(sentence)
    hedged = bool(_HEDGE.search(sentence))
    subject: tuple[Word, ...] = ()
    for number, clause in enumerate(_clauses(_LEADING.sub("", sentence))):
        inherited = subject if number else ()
        made = _read(clause, sentence, inherited, scope, hedged=hedged)
        if made is None:
            continue
        if before and number == 0 and made.lead[:1] and made.lead[0] in _PRONOUN:
            inherited = before.words[: before.subject]
            made = _read(clause, sentence, inherited, scope, hedged=hedged) or made
        subject = made.words[: made.subject]
        yield made


def _clauses(sentence: str) -> list[str]:
    """Split where a new predicate begins; a comma in a list does not end a clause."""
    parts: list[str] = []
    last = 0
    sentence = _as_equation(sentence)
    for cut in _CLAUSE.finditer(sentence):
        hard = not cut[0].startswith(",")
        following = _CLAUSE.split(sentence[cut.end() :], maxsplit=1)[0]
        if hard or (_has_predicate(sentence[last : cut.start()]) and _has_predicate(following)):
            parts.append(sentence[last : cut.start()])
            last = cut.end()
    parts.append(sentence[last:])
    return [piece for part in parts for piece in _at_and(part) if piece.strip()]


def _as_equation(sentence: str) -> str:
    """Read "Log retention: 30 days" as "Log retention is 30 days"."""
    name, colon, value = sentence.partition(": ")
    # One plain word and a colon is the label of a list, not a thing that has a value.
    named = len(name) <= 50 and (" " in name.strip() or "_" in name) and not _has_predicate(name)
    return f"{name} is {value}" if colon and named and len(value.split()) <= 3 else sentence


def _has_predicate(text: str) -> bool:
    if _ADVERBIAL.fullmatch(text.strip()):
        return False
    return any(_opens_predicate(_lower(word)) for word in text.split()[:8])


def _opens_predicate(word: str) -> bool:
    return word in VERBS or word in NEGATORS or word in GRANTS or word.endswith(" not")


def _at_and(clause: str) -> list[str]:
    pieces, last = [], 0
    for cut in _AND_VERB.finditer(clause):
        if _opens_predicate(_lower(cut[1])) and _has_predicate(clause[last : cut.start()]):
            pieces.append(clause[last : cut.start()])
            last = cut.end()
    return [*pieces, clause[last:]]


def _scope(sentence: str) -> frozenset[str]:
    words = (_lower(word) for word in sentence.split())
    return ENVIRONMENTS.intersection(ALIASES.get(word, word) for word in words)


def _read(
    clause: str, sentence: str, inherited: Sequence[Word], scope: frozenset[str], *, hedged: bool
) -> Statement | None:
    claimed = _REASON.sub("", clause)
    kept, turned_down = _without_turned_down(claimed)
    kept = _TURNED_ON.sub(r"\1 enabled", kept)
    raws = [raw for raw in _WORD.findall(kept) if raw.strip(_EDGES)]
    lowers = tuple(_lower(raw) for raw in raws)
    first = _predicate(raws, lowers)
    own = _content(raws, lowers, first)
    if not own and not turned_down:
        return None
    begins = sum(word.place < first for word in own)
    takes = begins == 0 or (bool(lowers) and lowers[0] in _PRONOUN)
    words = (*inherited, *own) if takes and inherited else tuple(own)
    main = tuple(_lower(word) for word in _RELATIVE.sub("", kept).split())
    return Statement(
        raw=clause.strip(" .,"),
        sentence=sentence,
        words=words,
        keys=frozenset(word.key for word in words),
        lead=lowers,
        subject=len(words) - len(own) + begins,
        predicate=("=" in kept or any(map(_opens_predicate, lowers))) and not _SUPPOSING.intersection(lowers[:1]),
        affirms=_affirms(main),
        universal=any(part in UNIVERSAL for lower in lowers for part in lower.split()),
        conditional=bool(_CONDITION.search(clause)),
        hedged=hedged,
        scope=scope,
        turned_down=turned_down,
    )


@lru_cache(maxsize=8_192)
def _lower(raw: str) -> str:
    """Give a word without its punctuation; "doesn't" becomes "does not"."""
    return _CONTRACTED.sub(" not", raw.strip(_EDGES).lower())


def _predicate(raws: Sequence[str], lowers: Sequence[str]) -> int:
    """Give where the predicate begins; in "the log level is", log is a noun, since a sure verb follows soon."""
    places = [place for place, lower in enumerate(lowers) if _verbal(lower) and not _capital(raws, place)]
    first = places[0] if places else len(lowers)
    sure = next((place for place in places if lowers[place].split(maxsplit=1)[0] in _SURE), first)
    if first == sure or lowers[first] not in _ALSO_NOUNS:
        return first
    # Right after an article it is a noun for certain, so a longer stretch may lie between.
    starts = first == 0 or lowers[first - 1] in _DETERMINERS
    return sure if sure - first <= (4 if starts else 2) else first


def _verbal(lower: str) -> bool:
    return lower.split(maxsplit=1)[0] in VERBS or lower in MODALS


def _capital(raws: Sequence[str], place: int) -> bool:
    return place > 0 and raws[place].strip(_EDGES)[:1].isupper()


def _without_turned_down(clause: str) -> tuple[str, frozenset[str]]:
    gone: list[str] = []
    for pattern in (_TURNED_DOWN, _PREFERRED_OVER) if _PREFERS.search(clause) else (_TURNED_DOWN,):
        gone += [match[1] for match in pattern.finditer(clause)]
        clause = pattern.sub("", clause)
    return clause, frozenset(key for part in gone for key in keys_of(part))


def turned_down(clause: str) -> frozenset[str]:
    """Give the keys of what a clause names only to turn it down."""
    return _without_turned_down(clause)[1]


def keys_of(text: str) -> frozenset[str]:
    """Give the keys of the content words of a phrase."""
    return frozenset(word.key for word in content_words(text))


def content_words(text: str) -> list[Word]:
    """Give the words of a phrase that carry content."""
    raws = [raw for raw in _WORD.findall(text) if raw.strip(_EDGES)]
    return _content(raws, tuple(_lower(raw) for raw in raws))


def _content(raws: Sequence[str], lowers: Sequence[str], predicate: int = -1) -> list[Word]:
    """Give the words that carry content, numbers joined with their units."""
    found: list[Word] = []
    skip = 0
    for place, (raw, lower) in enumerate(zip(raws, lowers, strict=True)):
        if skip:
            skip -= 1
            continue
        if number := read_quantity(lower.strip("`:"), tuple(lowers[place + 1 : place + 5])):
            quantity, skip = number
            shown = " ".join(part.strip(_EDGES) for part in raws[place : place + 1 + skip])
            found.append(Word(key=quantity.key, raw=shown, place=place, quantity=quantity, named=True))
        elif key := _key(raw, lower, name=_capital(raws, place)):
            clean = raw.strip(_EDGES)
            named = "`" in raw or bool(_NAME.search(clean[:LONGEST_NAME])) or _capital(raws, place)
            verb = place == predicate or (lower in VERBS and lower not in _ALSO_NOUNS and not named)
            found.append(Word(key=key, raw=clean, place=place, named=named, verb=verb))
    return found


@lru_cache(maxsize=8_192)
def _key(raw: str, lower: str, *, name: bool) -> str:
    if raw.startswith("`"):
        return raw.strip("`() ").removeprefix("./").lower()
    if " " in lower:  # a contraction: "does not"
        return ""
    lower = re.sub(r"['’]s?$", "", lower).removeprefix("./").removesuffix("()")
    if lower in OPPOSITES:
        return OPPOSITES[lower][0]
    if not name and (lower in _EMPTY or stem(lower) in _LIGHT_STEMS):
        return ""
    return lower if _NAME.search(lower[:LONGEST_NAME]) else stem(lower)


def _affirms(words: Sequence[str]) -> bool:
    """Tell the sign of a clause: every word that turns it round counts, and two of them cancel."""
    turns = 0
    for word in (part for lower in words for part in lower.split()):
        turns += word in NEGATORS or word in DENIES or OPPOSITES.get(word, ("", 1))[1] < 0
        turns += word == "but" and bool({"nobody", "nothing"} & set(words))
    return turns % 2 == 0

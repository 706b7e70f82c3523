"""Split a text into comparable statements: its key words, whether each affirms or denies, and its environment."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from holdfast.model.patterns import lazy
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

# How much of a text is read, in characters and statements. Longer “sentences” are skipped.
MOST_CHARACTERS, MOST_STATEMENTS, LONGEST_SENTENCE = 4_000, 40, 400

_ABBREVIATION = lazy(r"\b(e\.g|i\.e|etc|vs|approx|incl|resp|cf)\.(?=\s)", re.IGNORECASE)
_SENTENCE = lazy(r"(?<=[.!?])[\"')\]]?\s+(?=[\"'(`\[]?[A-Z0-9`])|\n+")
_CLAUSE = lazy(
    r";\s+|:\s+|\s+[—–-]\s+|,\s+(?=(?:but|so|then|not|never|and|or|use|uses|don't|do)\b)|,\s+", re.IGNORECASE
)
_BULLET = lazy(r"^[\s\-*>#•]*(?:\d{1,2}[.)]\s+)?[*\s]*")
_ADVERBIAL = lazy(r"(?:by|in|on|for|with|as|at|during|from|under|after|before)(?:\s+\S+){1,4}", re.IGNORECASE)
_AND_VERB = lazy(r"\s+and\s+(?=(\w+)\b)")
# A reason is not part of the claim; a condition narrows it.
_REASON = lazy(r"\s+(?:because|since|so that|in order to|which is why|that is why|due to)\b.*", re.IGNORECASE)
_CONDITION = lazy(r"\b(?:when|whenever|if|unless|during|outside|except)\b", re.IGNORECASE)
_RELATIVE = lazy(r"\s+(?:that|which|who|when|whenever|if|unless|while|until)\s+.*", re.IGNORECASE)
_LEADING = lazy(r"^(?:when|whenever|if|while|until|once|since)\b[^,]*,\s*", re.IGNORECASE)
# An alternative that the same sentence rejects: it is not part of the claim.
_REJECTED = lazy(
    r",?\s*\b(?:instead of|rather than|and not|no more|(?<=, )not|in place of)\s+(?:the |an? |in |with |on )?([^,;:.()]+)",
    re.IGNORECASE,
)
_PREFERRED_OVER = lazy(r"(?<=\s)over\s+([^,;:.()]+)", re.IGNORECASE)
_PREFERS = lazy(r"\b(?:prefer|chose|choose|favou?r|picked)", re.IGNORECASE)
_HEDGE = lazy(
    r"\b(?:e\.?g\.?|for example|for instance|such as|may|might|can be|could|too|sometimes|often)\b", re.IGNORECASE
)
_DECIDED_AGAINST = lazy(r"\b(decided|voted|opted|advised|ruled|recommended) against\b", re.IGNORECASE)
_TURNED_ON = lazy(
    r"\b(is|are|was|were|be|turned|switched|turn|switch|stays?|kept|mode|with)\s+on(?=$|[.,;:]|\s+(?:in|by|for|at|when|everywhere|per|and)\b)",
    re.IGNORECASE,
)
_WORD = lazy(r"`[^`\n]+`|[^\s`=]+")
_EDGES = " .,;:!?()[]{}\"'“”‘’*"
LONGEST_NAME = 200  # characters of a word that are checked for a name
_NAME = lazy(r"[A-Z].*[A-Z]|[a-z][A-Z]|[A-Za-z].*\d|\d.*[A-Za-z]|[_/@#\\.]|::")
_CONTRACTED = lazy(r"n['’]t$", re.IGNORECASE)
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
    """A content word: equal keys mean the same."""

    key: str
    raw: str
    place: int
    quantity: Quantity | None = None
    named: bool = False
    verb: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One claim of a text. `subject` is the number of its words before the predicate."""

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
    rejected: frozenset[str]


@lru_cache(maxsize=2_048)
def statements(text: str) -> tuple[Statement, ...]:
    """Return the claims of a text in order; a very long text is read up to a limit."""
    claims: list[Statement] = []
    for sentence in sentences(text[:MOST_CHARACTERS]):
        claims += _claims_of(sentence, claims[-1] if claims else None)
        if len(claims) >= MOST_STATEMENTS:
            break
    return tuple(claims[:MOST_STATEMENTS])


def sentences(text: str) -> list[str]:
    """Return the sentences of a text; a line break ends a sentence too."""
    plain = _ABBREVIATION.sub(lambda match: match[1].replace(".", ""), text)
    parts = (_BULLET.sub("", part).strip() for part in _SENTENCE.split(plain))
    return [part for part in parts if part]


@lru_cache(maxsize=8_192)
def stem(word: str) -> str:
    """Return a rough stem, good enough to match two forms of a word."""
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


def _claims_of(sentence: str, before: Statement | None) -> Iterator[Statement]:
    # A question claims nothing; a row of a table or a log has no context.
    if sentence.endswith(("?", "?)")) or sentence.startswith(("|", "[")) or len(sentence) > LONGEST_SENTENCE:
        return
    scope = _environments(sentence)
    hedged = bool(_HEDGE.search(sentence))
    subject: tuple[Word, ...] = ()
    for number, clause in enumerate(_clauses(_LEADING.sub("", sentence))):
        inherited = subject if number else ()
        statement = _read(clause, sentence, inherited, scope, hedged=hedged)
        if statement is None:
            continue
        if before and number == 0 and statement.lead[:1] and statement.lead[0] in _PRONOUN:
            inherited = before.words[: before.subject]
            statement = _read(clause, sentence, inherited, scope, hedged=hedged) or statement
        subject = statement.words[: statement.subject]
        yield statement


def _clauses(sentence: str) -> list[str]:
    """Split where a new predicate begins; a comma in a list does not end a clause."""
    parts: list[str] = []
    last = 0
    sentence = _as_equation(sentence)
    for separator in _CLAUSE.finditer(sentence):
        is_hard = not separator[0].startswith(",")
        following = _CLAUSE.split(sentence[separator.end() :], maxsplit=1)[0]
        if is_hard or (_has_predicate(sentence[last : separator.start()]) and _has_predicate(following)):
            parts.append(sentence[last : separator.start()])
            last = separator.end()
    parts.append(sentence[last:])
    return [piece for part in parts for piece in _split_at_and(part) if piece.strip()]


def _as_equation(sentence: str) -> str:
    """Rewrite "Log retention: 30 days" as "Log retention is 30 days"."""
    name, colon, value = sentence.partition(": ")
    # A single plain word with a colon labels a list; it does not have a value.
    is_name = len(name) <= 50 and (" " in name.strip() or "_" in name) and not _has_predicate(name)
    return f"{name} is {value}" if colon and is_name and len(value.split()) <= 3 else sentence


def _has_predicate(text: str) -> bool:
    if _ADVERBIAL.fullmatch(text.strip()):
        return False
    return any(_opens_predicate(_lower(word)) for word in text.split()[:8])


def _opens_predicate(word: str) -> bool:
    return word in VERBS or word in NEGATORS or word in GRANTS or word.endswith(" not")


def _split_at_and(clause: str) -> list[str]:
    pieces, last = [], 0
    for cut in _AND_VERB.finditer(clause):
        if _opens_predicate(_lower(cut[1])) and _has_predicate(clause[last : cut.start()]):
            pieces.append(clause[last : cut.start()])
            last = cut.end()
    return [*pieces, clause[last:]]


def _environments(sentence: str) -> frozenset[str]:
    words = (_lower(word) for word in sentence.split())
    return ENVIRONMENTS.intersection(ALIASES.get(word, word) for word in words)


def _read(
    clause: str, sentence: str, inherited: Sequence[Word], scope: frozenset[str], *, hedged: bool
) -> Statement | None:
    claimed = _REASON.sub("", clause)
    claim, rejected = _without_rejected(claimed)
    claim = _TURNED_ON.sub(r"\1 enabled", _DECIDED_AGAINST.sub(r"\1 not to use", claim))
    raws = [raw for raw in _WORD.findall(claim) if raw.strip(_EDGES)]
    lowers = tuple(_lower(raw) for raw in raws)
    first = _predicate_start(raws, lowers)
    own = _content(raws, lowers, first)
    if not own and not rejected:
        return None
    before_predicate = sum(word.place < first for word in own)
    is_continued = before_predicate == 0 or (bool(lowers) and lowers[0] in _PRONOUN)
    words = (*inherited, *own) if is_continued and inherited else tuple(own)
    main = tuple(_lower(word) for word in _RELATIVE.sub("", claim).split())
    return Statement(
        raw=clause.strip(" .,"),
        sentence=sentence,
        words=words,
        keys=frozenset(word.key for word in words),
        lead=lowers,
        subject=len(words) - len(own) + before_predicate,
        predicate=("=" in claim or any(map(_opens_predicate, lowers))) and not _SUPPOSING.intersection(lowers[:1]),
        affirms=_affirms(main),
        universal=any(part in UNIVERSAL for lower in lowers for part in lower.split()),
        conditional=bool(_CONDITION.search(clause)),
        hedged=hedged,
        scope=scope,
        rejected=rejected,
    )


@lru_cache(maxsize=8_192)
def _lower(raw: str) -> str:
    """Return a word in lower case without punctuation; "doesn't" becomes "does not"."""
    return _CONTRACTED.sub(" not", raw.strip(_EDGES).lower())


def _predicate_start(raws: Sequence[str], lowers: Sequence[str]) -> int:
    """Return where the predicate begins. In "the log level is", log is a noun, since a certain verb follows soon."""
    verbs = [index for index, lower in enumerate(lowers) if _is_verb(lower) and not _is_capitalized(raws, index)]
    first = verbs[0] if verbs else len(lowers)
    certain = next((index for index in verbs if lowers[index].split(maxsplit=1)[0] in _SURE), first)
    if first == certain or lowers[first] not in _ALSO_NOUNS:
        return first
    # Right after an article it is certainly a noun, so the verb may be further away.
    after_article = first == 0 or lowers[first - 1] in _DETERMINERS
    return certain if certain - first <= (4 if after_article else 2) else first


def _is_verb(lower: str) -> bool:
    return lower.split(maxsplit=1)[0] in VERBS or lower in MODALS


def _is_capitalized(raws: Sequence[str], index: int) -> bool:
    return index > 0 and raws[index].strip(_EDGES)[:1].isupper()


def _without_rejected(clause: str) -> tuple[str, frozenset[str]]:
    rejected: list[str] = []
    for pattern in (_REJECTED, _PREFERRED_OVER) if _PREFERS.search(clause) else (_REJECTED,):
        rejected += [match[1] for match in pattern.finditer(clause)]
        clause = pattern.sub("", clause)
    return clause, frozenset(key for part in rejected for key in keys_of(part))


def rejected_in(clause: str) -> frozenset[str]:
    """Return the keys of alternatives that a clause rejects."""
    return _without_rejected(clause)[1]


def keys_of(text: str) -> frozenset[str]:
    """Return the keys of the content words of a phrase."""
    return frozenset(word.key for word in content_words(text))


def content_words(text: str) -> list[Word]:
    """Return the content words of a phrase."""
    raws = [raw for raw in _WORD.findall(text) if raw.strip(_EDGES)]
    return _content(raws, tuple(_lower(raw) for raw in raws))


def _content(raws: Sequence[str], lowers: Sequence[str], predicate: int = -1) -> list[Word]:
    """Return the content words, numbers joined with their units."""
    words: list[Word] = []
    skip = 0
    for index, (raw, lower) in enumerate(zip(raws, lowers, strict=True)):
        if skip:
            skip -= 1
            continue
        if number := read_quantity(lower.strip("`:"), tuple(lowers[index + 1 : index + 5])):
            quantity, skip = number
            raw_quantity = " ".join(part.strip(_EDGES) for part in raws[index : index + 1 + skip])
            words.append(Word(key=quantity.key, raw=raw_quantity, place=index, quantity=quantity, named=True))
        elif key := _key(raw, lower, is_name=_is_capitalized(raws, index)):
            clean = raw.strip(_EDGES)
            named = "`" in raw or bool(_NAME.search(clean[:LONGEST_NAME])) or _is_capitalized(raws, index)
            verb = index == predicate or (lower in VERBS and lower not in _ALSO_NOUNS and not named)
            words.append(Word(key=key, raw=clean, place=index, named=named, verb=verb))
    return words


@lru_cache(maxsize=8_192)
def _key(raw: str, lower: str, *, is_name: bool) -> str:
    if raw.startswith("`"):
        return raw.strip("`() ").removeprefix("./").lower()
    if " " in lower:  # a contraction: "does not"
        return ""
    lower = re.sub(r"['’]s?$", "", lower).removeprefix("./").removesuffix("()")
    if lower in OPPOSITES:
        return OPPOSITES[lower][0]
    if not is_name and (lower in _EMPTY or stem(lower) in _LIGHT_STEMS):
        return ""
    return lower if _NAME.search(lower[:LONGEST_NAME]) else stem(lower)


def _affirms(words: Sequence[str]) -> bool:
    """True if a clause affirms: every negating word flips it, and two cancel."""
    flips = 0
    for word in (part for lower in words for part in lower.split()):
        flips += word in NEGATORS or word in DENIES or OPPOSITES.get(word, ("", 1))[1] < 0
        flips += word == "but" and bool({"nobody", "nothing"} & set(words))
    return flips % 2 == 0

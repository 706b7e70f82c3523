"""Split text into index words (stems, identifiers and paths whole and in parts), and long texts into passages."""
# Each passage has its own vector, and a record scores as its best passage.
# Words match across languages: `terms.txt` lists terms of software work. English is the common language of the index: a
# text in another language is indexed by the English words for its terms, and a question is translated in the same way.
# And short forms match: `short_forms.txt` lists pairs such as “db” and “database”, “PR” and “pull request”. The index has
# one form of each: the long form of a word, the short form of a phrase.

import re
import threading
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path

import Stemmer

from holdfast.model.patterns import lazy, tables

# English function words and words that occur in most questions, and those of other languages.
_TABLES = tables(__file__)
STOP, FOREIGN = (frozenset(words.split()) for _, words in _TABLES["function words"])
LONGEST_TERM = 8  # characters of a term in a script without spaces
SHORT, ENDING = 4, 4  # a shorter term matches whole words only; longer ones may have an ending of so many letters
_OTHER_SCRIPT = lazy(r"[\u0370-\u1fff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LETTERS = lazy(r"[^\W\d_]{2,}")  # one letter is often a variable's name
_ACCENTS = lazy(r"[\u0300-\u036f]+")  # which NFKD separates from their letters
Meanings = tuple[tuple[str, ...], ...]  # the English words for each meaning of a term, the most usual one first
MOST_WORDS = 12  # a longer question says enough by itself; the encoder would read two forms of many words
LONGEST_SHORT = 8  # letters of a short form and its plural
# A word that is not part of a path, an address or an identifier.
_SHORT_FORM = re.compile(rf"(?<![\w./\\:@#-])[A-Za-z0-9]{{2,{LONGEST_SHORT}}}(?![\w/\\@#-]|[.:]\w)")
# Runs of letters and digits, joined by the punctuation of identifiers, paths, versions and addresses.
_COMPOUND = lazy(r"[^\W_]++(?:[_./\\:@#\-]++[^\W_]++)*+")
_ASCII_COMPOUND = re.compile(r"[A-Za-z0-9]++(?:[_./\\:@#\-]++[A-Za-z0-9]++)*+")  # the same, in half the time
# A path, a symbol and a line are joined by these: src/pay.py::Shop.pay, src/pay.py:12.
_SECTION = re.compile(r"[:@#]+")
_NAME = re.compile(r"[^\W_]+(?:[_\-]+[^\W_]+)*")
_FILE = lazy(r"[/\\]([^/\\]+\.[^/\\]+)$")
# fooBar, HTTPServer, sha256, v2: a new part begins where case changes or digits begin or end.
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_APOSTROPHE = lazy(r"(?<=\w)['’](?=\w)")
_UNSPACED = lazy("|".join(rf"(?P<{script}>[{characters}]+)" for script, characters in _TABLES["unspaced scripts"]))
_PARTICLE = lazy(r"[的了吗呢吧么嗎們们着]")
_ENDING, _INFLECTION = (dict.fromkeys(words.split()) for _, words in _TABLES["inflection"])
_ENDINGS = lazy(rf"(?<=..)(?:{'|'.join(_ENDING)})$")
_JOINS = lazy(rf"[的了吗呢吧么嗎們们着]+|(?:{'|'.join(_ENDING)})+")  # what only joins terms
LONGEST = 64
MOST_TOKENS = 20_000

Phrase = tuple[tuple[str, ...], str]  # its index words, and its short form

_stemmer = Stemmer.Stemmer("english")
_stemming = threading.Lock()  # the stemmer has internal buffers and is not thread-safe


def tokens(text: str, *, is_question: bool = False) -> list[str]:
    """Return the index words of a text, repeats included, up to about MOST_TOKENS."""
    # A term in another language gives the English words for it; in a question, which wants as few words as it has
    # itself, only the most usual one.
    plain = folded(text)
    plain = _APOSTROPHE.sub("", plain) if "'" in plain or "’" in plain else plain
    compounds = (_ASCII_COMPOUND if plain.isascii() else _COMPOUND).findall(plain)[:MOST_TOKENS]
    # Most texts in English have no function word of another language: that takes less time to see.
    is_plain = text.isascii() and FOREIGN.isdisjoint([word.lower() for word in compounds if len(word) > 1])
    foreign = not is_plain and is_foreign_in_latin(text)
    found = [token for compound in compounds for token in _tokens_of(compound, foreign, is_question)]
    return _with_phrases(found[:MOST_TOKENS], is_question=is_question)


def _with_phrases(found: list[str], *, is_question: bool) -> list[str]:
    """Return index words with the short form of each phrase that has one: added, or in a question instead of its words."""
    _, phrases = _one_form()
    if phrases.keys().isdisjoint(found):
        return found
    unique = set(found)
    known = [pair for first in phrases.keys() & unique for pair in phrases[first] if unique.issuperset(pair[0])]
    if not known:
        return found
    result, place = list[str](), 0
    while place < len(found):
        words, short = next((pair for pair in known if tuple(found[place : place + len(pair[0])]) == pair[0]), ((), ""))
        kept = found[place : place + max(1, len(words))]
        result += [short] if words and is_question else [*kept, short] if words else kept
        place += len(kept)
    return result


@cache
def _one_form() -> tuple[Mapping[str, str], Mapping[str, list[Phrase]]]:
    """Return which index word stands for another form of it, and by their first word the phrases that have a short form."""
    words, phrases, named = dict[str, str](), dict[str, list[Phrase]](), dict[str, str]()
    for short, long in long_forms().items():
        stems = tuple(map(_stem, long.split()))
        chosen = stems[0] if len(stems) == 1 else named.setdefault(long, short)
        words |= {_stem(short): chosen, _stem(f"{short}s"): chosen}
        if len(stems) > 1 and chosen == short:
            first, second, *_ = long.split()
            joined = (*stems[:2], first + second, *stems[2:])  # as “multi-factor authentication” is indexed
            phrases.setdefault(stems[0], []).extend([(stems, short), (joined, short)])
    return words, phrases


def query_terms(text: str) -> list[str]:
    """Return the distinct index words of a question, without stop words unless nothing else is left."""
    found = list(dict.fromkeys(tokens(text, is_question=True)))
    return [word for word in found if word not in STOP_STEMS] or found


@lru_cache(maxsize=16_384)
def _tokens_of(compound: str, foreign: bool, is_question: bool) -> tuple[str, ...]:
    instead, _ = _one_form()
    if len(compound) <= LONGEST_SHORT and (short := _stem(compound.lower())) in instead:
        return (instead[short],)
    parts = compound.replace("-", "_").split("_")
    is_plain = not foreign and len(compound) <= LONGEST and compound.isascii() and compound.islower()
    if is_plain and all(part.isalpha() for part in parts):
        found = [*map(_stem, parts), *(["".join(parts)] if len(parts) > 1 else [])]  # the usual case, in half the time
        return tuple([instead.get(token, token) for token in found])
    sections = [section for section in _SECTION.split(compound) if section]
    found = []
    for section in sections:  # of a path, a dotted name or an identifier: its parts, itself, and a path's file name
        names = _NAME.findall(section)
        found += [token for name in names for token in _name_tokens(name, foreign, is_question)]
        if len(names) > 1:
            file = _FILE.search(section)
            found += [*_joined(names), *(_joined(_NAME.findall(file[1])) if file else ())]
    found += _joined(_NAME.findall(compound)) if len(sections) > 1 else []
    if "/" in compound or "." in compound or "\\" in compound:  # in a path, “app” and “py” are names
        return tuple(found)
    return tuple([instead.get(token, token) for token in found])


def _joined(names: list[str]) -> list[str]:
    whole = "".join(names).replace("_", "").replace("-", "").lower()
    return [whole] if len(whole) <= LONGEST else []


def _name_tokens(name: str, foreign: bool, is_question: bool) -> Iterator[str]:
    last = 0
    if not name.isascii():
        for run in _UNSPACED.finditer(name):  # a run of each script is cut by its own rule
            yield from _part_tokens(name[last : run.start()], foreign, is_question)
            pieces = list(terms_in(run[0]))
            for piece, meanings in pieces:
                if meanings:
                    yield from _in_english(meanings, is_question)
                elif len(pieces) == 1 or not _JOINS.fullmatch(piece):
                    yield from _cut(piece, str(run.lastgroup))
            last = run.end()
    yield from _part_tokens(name[last:], foreign, is_question)
    parts = _PART.findall(name) if not last else []
    whole = "".join(parts).lower()
    if len(parts) > 1 and len(whole) <= LONGEST:
        yield whole


def _part_tokens(name: str, foreign: bool, is_question: bool) -> Iterator[str]:
    for part in _PART.findall(name):
        word = part.lower()[:LONGEST]
        meanings = english_of(word) if foreign or not word.isascii() else ()
        yield from _in_english(meanings, is_question) if meanings else [_stem(word)]


def _in_english(meanings: Meanings, is_question: bool) -> list[str]:
    return [_stem(word) for words in meanings for word in (words[:1] if is_question else words)]


def _cut(run: str, script: str) -> list[str]:
    """Return overlapping pairs of characters of a run, without what only joins words in its script."""
    match script:
        case "han":
            return [pair for piece in _PARTICLE.split(run) if piece for pair in _pieces(piece, 2)] or [run[:1]]
        case "katakana":  # a loan word
            return [*_pieces(run, 2), *([run] if 2 < len(run) <= LONGEST else [])]
        case "hiragana":
            return [pair for pair in _pieces(run, 2) if len(run) > 1 and pair not in _INFLECTION]
        case "hangul":
            return _pieces(_ENDINGS.sub("", run), 2)
        case _:
            return _pieces(run, 3)


def _pieces(run: str, size: int) -> list[str]:
    return [run[place : place + size] for place in range(max(1, len(run) - size + 1))]


@lru_cache(maxsize=16_384)
def _stem(word: str) -> str:
    with _stemming:
        return str(_stemmer.stemWord(word))


STOP_STEMS = STOP | frozenset(_stem(word) for word in STOP)


WHOLE = 800  # characters: a text up to this length is one passage
SIZE = 500  # longer texts are cut at line ends into pieces of at most this size; 400 to 600 work equally well
MOST = 16  # passages per text: bounds the cost of one huge text
TITLE = 100  # a first line up to this length is a title and is put above every passage

_DIFF, _HUNK, _PATH = (lazy(pattern, re.MULTILINE) for _, pattern in _TABLES["diffs"])


def pieces(text: str) -> list[str]:
    """Return the pieces of a text: the whole text if it is short, else cut at line ends."""
    plain = _HUNK.sub("@@", _DIFF.sub(r"\1\n", text)).strip() if "diff --git " in text else text.strip()
    if len(plain) <= WHOLE:
        return [plain]
    found = [""]
    for line in (part for long in plain.split("\n") for part in _folded(long.rstrip())):
        if found[-1] and len(found[-1]) + 1 + len(line) > SIZE:
            found.append(line)
            if len(found) > MOST:
                break
        else:
            found[-1] += f"\n{line}" if found[-1] else line
    return found[:MOST]


def passages(text: str) -> list[str]:
    """Return the pieces as they are embedded: each below the title, or below the last path named before it."""
    cut = pieces(text)
    first = cut[0].split("\n", 1)[0]
    head = first if len(first) <= TITLE else ""
    headed = []
    for place, piece in enumerate(cut):
        lines = piece.split("\n")
        headed.append(f"{head}\n{piece}" if place and head and not _PATH.fullmatch(lines[0]) else piece)
        head = next((line for line in reversed(lines) if _PATH.fullmatch(line)), head)
    return headed


def _folded(line: str) -> list[str]:
    """Return a line in parts of at most SIZE characters, cut after a sentence or at a space if possible."""
    parts = []
    while len(line) > SIZE:
        at = line.rfind(". ", SIZE // 2, SIZE) + 1 or max(line.rfind(" ", SIZE // 2, SIZE), 0) or SIZE
        parts.append(line[:at])
        line = line[at:].lstrip()
    return [*parts, line] if line else parts


def is_foreign(text: str) -> bool:
    """True if a text is in another language than English, by its script or its function words."""
    return bool(_OTHER_SCRIPT.search(text)) or is_foreign_in_latin(text)


def is_foreign_in_latin(text: str) -> bool:
    """True if the Latin words of a text are in another language than English."""
    words = set(_LETTERS.findall(text.lower()))
    accented = sum(not word.isascii() for word in words - FOREIGN)
    return len(words & FOREIGN) + accented > len(words & STOP)


def folded(text: str) -> str:
    """Return a text without accents, so that a word is the same with and without them."""
    if text.isascii():
        return text
    plain = _ACCENTS.sub("", unicodedata.normalize("NFKD", text))
    # Scripts from Hebrew to Khmer write vowels as marks, which would cut a word in parts: without them it stays whole.
    marks = [char for char in set(plain) if "\u0590" <= char < "\u1800" and unicodedata.category(char)[0] == "M"]
    return unicodedata.normalize("NFC", plain.translate(dict.fromkeys(map(ord, marks))) if marks else plain)


def english_of(word: str) -> Meanings:
    """Return the English words for a term in lower case without accents; none if it is not known."""
    # A compound such as “datenbankschema” gives the words of its parts.
    terms = _terms()
    for end in range(len(word), SHORT - 2, -1):
        if (found := terms.get(word[:end])) and (end == len(word) or end >= SHORT):
            rest = word[end:]
            if len(rest) <= ENDING:
                return found
            if more := english_of(rest) or english_of(rest.removeprefix("s")):
                return *found, *more
    return ()


def terms_in(run: str) -> Iterator[tuple[str, Meanings]]:
    """Cut a text without spaces into terms with their English words, and what is between them, with none."""
    # A single character is a term only if it stands alone: in a longer word it means something else.
    terms, start, place, shortest = _terms(), 0, 0, min(2, len(run))
    while place < len(run):
        sizes = range(min(LONGEST_TERM, len(run) - place), shortest - 1, -1)
        if term := next((run[place : place + size] for size in sizes if run[place : place + size] in terms), ""):
            if start < place:
                yield run[start:place], ()
            yield term, terms[term]
            start = place + len(term)
        place += len(term) or 1
    if start < len(run):
        yield run[start:], ()


@cache
def _terms() -> Mapping[str, Meanings]:
    found: dict[str, Meanings] = {}
    for line in (Path(__file__).parent / "terms.txt").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            english, *others = line.split("|")
            for term in set(folded(" ".join(others)).split()):
                found[term] = (*found.get(term, ()), tuple(english.split()))
    return found


@cache
def long_forms() -> Mapping[str, str]:
    """Return the long form of each short form."""
    lines = (Path(__file__).parent / "short_forms.txt").read_text(encoding="utf-8").splitlines()
    pairs = [line.split(" | ") for line in lines if not line.startswith("#")]
    return {short: long for long, shorts in pairs for short in shorts.split()}


def spelled_out(question: str) -> str:
    """Return a short question with the long form after each short form, for an encoder that knows only some of them."""

    def with_long_form(found: re.Match[str]) -> str:
        word = found[0].lower()
        long = long_forms().get(word) or long_forms().get(word.removesuffix("s"))
        is_name = found.start() and found[0].istitle()  # such as Max
        return f"{found[0]} {long}" if long and not is_name else found[0]

    return _SHORT_FORM.sub(with_long_form, question) if len(question.split()) <= MOST_WORDS else question

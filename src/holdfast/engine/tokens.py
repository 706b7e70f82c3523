"""Split text into index words (stems, identifiers and paths whole and in parts), and long texts into passages.

Each passage has its own vector, and a record scores as its best passage.
"""

import re
import threading
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache

import Stemmer

from holdfast.engine import languages
from holdfast.model.patterns import lazy

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
# Scripts whose words have no spaces between them, or (Korean) particles attached to them.
_UNSPACED = lazy(
    r"(?P<han>[\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+)"
    r"|(?P<katakana>[\u30a1-\u30ff\u31f0-\u31ff]+)|(?P<hiragana>[\u3041-\u309f]+)|(?P<hangul>[\uac00-\ud7af]+)"
    r"|(?P<other>[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]+)"  # Thai, Lao, Burmese, Khmer
)
_PARTICLE = lazy(r"[的了吗呢吧么嗎們们着]")
_ENDING = (
    "에서는|에서|에게|으로|이라는|라는|하는|했던|했다|합니다|했습니다|하나요|인가요|인가|입니다|이다|까지|부터|보다|처럼|"
    "마다|하고|하면|하기|한다|해요|을|를|이|가|은|는|에|의|로|와|과|도|만|나"
)
_ENDINGS = lazy(rf"(?<=..)(?:{_ENDING})$")
_JOINS = lazy(rf"[的了吗呢吧么嗎們们着]+|(?:{_ENDING})+")  # what only joins terms
# Hiragana that inflects verbs and joins phrases.
_INFLECTION = frozenset(
    "です ます した する して しま まし ませ せん ない ある いる れる られ から まで など こと もの ため よう たい てい いま ので のは のに "
    "には では とは への での への とし って った すか です のか でし".split()
)
LONGEST = 64
MOST_TOKENS = 20_000

Phrase = tuple[tuple[str, ...], str]  # its index words, and its short form

_stemmer = Stemmer.Stemmer("english")
_stemming = threading.Lock()  # the stemmer has internal buffers and is not thread-safe


def tokens(text: str, *, is_question: bool = False) -> list[str]:
    """Return the index words of a text, repeats included, up to about MOST_TOKENS.

    A term in another language gives the English words for it; in a question, which wants as few words as it has itself,
    only the most usual one.
    """
    plain = languages.folded(text)
    plain = _APOSTROPHE.sub("", plain) if "'" in plain or "’" in plain else plain
    compounds = (_ASCII_COMPOUND if plain.isascii() else _COMPOUND).findall(plain)[:MOST_TOKENS]
    # Most texts in English have no function word of another language: that takes less time to see.
    is_plain = text.isascii() and languages.FOREIGN.isdisjoint([word.lower() for word in compounds if len(word) > 1])
    foreign = not is_plain and languages.is_foreign_in_latin(text)
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
    for short, long in languages.long_forms().items():
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
    if len(compound) <= languages.LONGEST_SHORT and (short := _stem(compound.lower())) in instead:
        return (instead[short],)
    parts = compound.replace("-", "_").split("_")
    if (
        not foreign
        and len(compound) <= LONGEST
        and compound.isascii()
        and compound.islower()
        and all(part.isalpha() for part in parts)
    ):
        found = [*map(_stem, parts), *(["".join(parts)] if len(parts) > 1 else [])]  # the usual case, in half the time
        return tuple([instead.get(token, token) for token in found])
    sections = [section for section in _SECTION.split(compound) if section]
    found = [token for section in sections for token in _section_tokens(section, foreign, is_question)]
    if len(sections) > 1:
        found += _joined(_NAME.findall(compound))
    if "/" in compound or "." in compound or "\\" in compound:  # in a path, “app” and “py” are names
        return tuple(found)
    return tuple([instead.get(token, token) for token in found])


def _section_tokens(section: str, foreign: bool, is_question: bool) -> Iterator[str]:
    """Yield the words of a path, a dotted name or an identifier: its parts, itself, and a path's file name."""
    names = _NAME.findall(section)
    for name in names:
        yield from _name_tokens(name, foreign, is_question)
    if len(names) > 1:
        yield from _joined(names)
        if file := _FILE.search(section):
            yield from _joined(_NAME.findall(file[1]))


def _joined(names: list[str]) -> list[str]:
    whole = "".join(names).replace("_", "").replace("-", "").lower()
    return [whole] if len(whole) <= LONGEST else []


def _name_tokens(name: str, foreign: bool, is_question: bool) -> Iterator[str]:
    last = 0
    if not name.isascii():
        for run in _UNSPACED.finditer(name):  # a run of each script is cut by its own rule
            yield from _part_tokens(name[last : run.start()], foreign, is_question)
            yield from _unspaced_tokens(run[0], str(run.lastgroup), is_question)
            last = run.end()
    yield from _part_tokens(name[last:], foreign, is_question)
    parts = _PART.findall(name) if not last else []
    whole = "".join(parts).lower()
    if len(parts) > 1 and len(whole) <= LONGEST:
        yield whole


def _part_tokens(name: str, foreign: bool, is_question: bool) -> Iterator[str]:
    for part in _PART.findall(name):
        word = part.lower()[:LONGEST]
        meanings = languages.english_of(word) if foreign or not word.isascii() else ()
        yield from _in_english(meanings, is_question) if meanings else [_stem(word)]


def _in_english(meanings: languages.Meanings, is_question: bool) -> list[str]:
    return [_stem(word) for words in meanings for word in (words[:1] if is_question else words)]


def _unspaced_tokens(run: str, script: str, is_question: bool) -> Iterator[str]:
    pieces = list(languages.terms_in(run))
    for piece, meanings in pieces:
        if meanings:
            yield from _in_english(meanings, is_question)
        elif len(pieces) == 1 or not _JOINS.fullmatch(piece):
            yield from _cut(piece, script)


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


STOP_STEMS = languages.STOP | frozenset(_stem(word) for word in languages.STOP)


WHOLE = 800  # characters: a text up to this length is one passage
SIZE = 500  # longer texts are cut at line ends into pieces of at most this size; 400 to 600 work equally well
MOST = 16  # passages per text: bounds the cost of one huge text
TITLE = 100  # a first line up to this length is a title and is put above every passage

# A diff names each path four times; one of them is enough.
_DIFF = re.compile(
    r"^diff --git a/(\S+) b/\S+\n"
    r"(?:(?:index|new file|deleted file|old mode|new mode|similarity|rename|---|\+\+\+) ?.*\n)*",
    re.MULTILINE,
)
_HUNK = re.compile(r"^@@ [-+\d, ]+ @@", re.MULTILINE)
_PATH = re.compile(r"[\w./-]+/[\w.-]+\.\w+")


def pieces(text: str) -> list[str]:
    """Return the pieces of a text: the whole text if it is short, else cut at line ends."""
    plain = _HUNK.sub("@@", _DIFF.sub(r"\1\n", text)).strip() if "diff --git " in text else text.strip()
    return [plain] if len(plain) <= WHOLE else _in_pieces(plain)


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


def _in_pieces(text: str) -> list[str]:
    found: list[str] = []
    current = ""
    for line in (part for long in text.split("\n") for part in _folded(long.rstrip())):
        if current and len(current) + 1 + len(line) > SIZE:
            found.append(current)
            current = line
        else:
            current = f"{current}\n{line}" if current else line
        if len(found) == MOST:
            return found
    return [*found, current]


def _folded(line: str) -> list[str]:
    """Return a line in parts of at most SIZE characters, cut after a sentence or at a space if possible."""
    parts = []
    while len(line) > SIZE:
        at = line.rfind(". ", SIZE // 2, SIZE) + 1 or max(line.rfind(" ", SIZE // 2, SIZE), 0) or SIZE
        parts.append(line[:at])
        line = line[at:].lstrip()
    return [*parts, line] if line else parts

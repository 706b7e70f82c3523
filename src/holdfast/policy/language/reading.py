"""The one reader of sentences: where each begins and ends in a prompt, a message or a log, and what it is, as the classifier judges it.

A user's sentence is a rule, fact, decision or correction (worth keeping), or a task, question, report, guess or chat. An
agent's is a finding, lesson or decision, a guess or a refuted one, what is done, open or blocked, or noise.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Literal

from holdfast.model.patterns import lazy, patterns_of
from holdfast.model.ports import CLASSES, Classifier, Task
from holdfast.model.text import filled, sentence_ends
from holdfast.policy.language.cues import CUES
from holdfast.policy.language.overlap import plain

LONGEST_PROMPT, LONGEST_SENTENCE = 20_000, 500  # characters
MOST_SENTENCES = 120  # of an answer: the first and the last ones
CONTEXT = 300  # characters of what stands before a sentence
BETWEEN = " … "  # stands between the agent's message and the sentence before, as in the training data
KEPT = ("rule", "fact", "decision", "correction")
# Measured on sentences of another hand (`python3 dev.py bench classifier`): from here on a statement is worth keeping.
STATES, CLAIMS = 0.7, 0.75
CLEARLY = 0.9  # from here on two statements are about different things
REFUSED, CORRECTS = 0.35, 0.4  # a correction is one from the first on, and worth keeping with the second

_RE = patterns_of(__file__, "patterns")
BULLET, FENCED, DIFF, TRACEBACK = (_RE[name] for name in ("bullet", "fenced", "diff", "traceback"))
_SHELL = frozenset({"bash", "sh", "shell", "zsh", "console", "fish"})
_OUTPUT = lazy(rf"^\s*(?:{CUES['output']})", re.VERBOSE)  # and source code

Form = Literal["sentence", "command", "route"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A sentence, a typed command or a route declared in code, and its span in the log."""

    form: Form
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence, its span, and the probability of each class."""

    text: str
    span: tuple[int, int]
    chances: Mapping[str, float]

    @property
    def label(self) -> str:
        """The likeliest class."""
        return max(self.chances, key=self.chances.__getitem__)

    @property
    def lasts(self) -> bool:
        """True if a user's sentence is worth keeping."""
        return self.share(*KEPT) >= (CORRECTS if self.share("correction") >= REFUSED else STATES)

    def share(self, *classes: str) -> float:
        """Return the probability that the sentence is of one of these classes."""
        return sum(self.chances.get(name, 0.0) for name in classes)


@dataclass(slots=True, eq=False)
class SentenceReader:
    """Judges sentences once: `known` holds what was judged before. Without a classifier nothing is read into a text."""

    classifier: Classifier | None = None
    known: MutableMapping[str, list[float]] = field(default_factory=dict)

    def prompt(self, text: str, answer: str = "") -> list[Sentence]:
        """Return the sentences of a user's prompt; `answer` is what the agent said before it."""
        last = " ".join(answer.split())[-CONTEXT:]
        return self._judged("user", list(sentences(text[:LONGEST_PROMPT])), last)

    def message(self, text: str) -> list[Sentence]:
        """Return the sentences of what an agent wrote, without code, output and quotations."""
        spans = [(one.text, one.start, one.end) for one in passages(text) if one.form == "sentence"]
        half = MOST_SENTENCES // 2
        return self._judged("agent", spans if len(spans) <= MOST_SENTENCES else [*spans[:half], *spans[-half:]], "")

    def relation(self, older: str, newer: str) -> Mapping[str, float]:
        """Return the chance of each relation of two statements, read in both orders; empty without a classifier."""
        is_same = plain(older) == plain(newer)
        one = {"same": 1.0} if is_same else dict(zip(CLASSES["pair"], self.judge("pair", older, newer), strict=False))
        if one.get("other", 1.0) >= CLEARLY:  # for most pairs the other order would not change it
            return one
        again = self.judge("pair", newer, older)
        return {name: (share + other) / 2 for (name, share), other in zip(one.items(), again, strict=True)}

    def _judged(self, task: Literal["user", "agent"], spans: list[tuple[str, int, int]], answer: str) -> list[Sentence]:
        found, before = list[Sentence](), ""
        for text, start, end in spans:
            context, before = BETWEEN.join(filled(answer, before)), text
            is_judged = len(text) <= LONGEST_SENTENCE and _RE["has_words"].search(text)
            if is_judged and (chances := self.judge(task, text, context)):
                shares = dict(zip(CLASSES[task], chances, strict=True))
                if task == "agent" and (named := _RE["named"].match(text)):
                    shares = {name: float(name == named.lastgroup) for name in shares}
                found.append(Sentence(text=text, span=(start, end), chances=shares))
        return found

    def judge(self, task: Task, first: str, second: str = "") -> list[float]:
        """Return the probability of each class of a task; empty without a classifier."""
        if self.classifier is None:
            return []
        key = blake2b(f"{self.classifier.name}\0{task}\0{first}\0{second}".encode(errors="replace"), digest_size=9)
        if (name := key.hexdigest()) not in self.known:
            judged = self.classifier.chances(task, first, second)
            self.known[name] = [round(share, 3) for share in judged.values()]
        return self.known[name]


def sentences(text: str, *, clauses: bool = True) -> Iterator[tuple[str, int, int]]:
    """Yield sentences with their spans, without bullets; for `clauses` a single word belongs to what follows."""
    begin = 0
    for end, after in (*sentence_ends(text), (len(text), len(text))):
        if text[end - 1 : end] in (";", "；") and after < len(text):
            continue  # what follows gives the reason, or what replaces it
        bullet = BULLET.match(text, begin, end)
        start = bullet.end() if bullet else begin
        whole = " ".join(text[start:end].split()).removesuffix("**")
        is_word = whole[-1:] in (".", "!") and " " not in whole and after < len(text)
        if clauses and is_word and "\n" not in text[end:after]:
            continue  # "No! It stays.": one word belongs to what follows
        if whole:
            yield whole, start, end
        begin = after


def passages(log: str) -> Iterator[Passage]:
    """Yield the sentences, commands and routes of a log, in order; everything else is skipped."""
    # Everything but the session's own words is blanked out; positions stay.
    text = blanked(log, tagged(log, _RE["injected"]))
    for pattern in (_RE["asked"], TRACEBACK, _RE["speaker"]):
        text = blanked(text, (match.span() for match in pattern.finditer(text)))
    fences = list(FENCED.finditer(text))
    shell = [match.span("code") for match in fences if match["language"].lower() in _SHELL]
    text = blanked(text, (match.span() for match in fences if match["language"].lower() not in _SHELL))
    text = blanked(text, (match.span() for match in DIFF.finditer(text)))
    block: list[tuple[int, str]] = []
    muted = False  # inside a paragraph of instructions
    for start, line in (*lines_of(text), (len(text), "")):
        form = _form(line, inside=any(first <= start < last for first, last in shell))
        muted = form == "instruction" or (muted and form != "nothing")
        is_continued = block and _RE["lower"].match(line) and not block[-1][1].rstrip().endswith((".", "!", "?", ":"))
        if form == "prose" and is_continued:
            block.append((start, line))
            continue
        if block:
            offset = block[0][0]
            whole = text[offset : block[-1][0] + len(block[-1][1])].replace("\n", " ")
            for sentence, begin, end in sentences(whole, clauses=False):
                yield Passage(form="sentence", text=sentence, start=offset + begin, end=offset + end)
        block = [(start, line)] if form == "prose" and not muted else []
        if (form == "command" or form == "route") and not muted:  # noqa: PLR1714  so that the type is known
            prompt = _RE["prompt"].match(line)
            first = start + (prompt.end() if prompt else len(line) - len(line.lstrip()))
            end = start + len(line.rstrip())
            yield Passage(form=form, text=text[first:end].strip(), start=first, end=end)


def tagged(
    text: str, opening: re.Pattern[str], is_open: Callable[[re.Match[str]], object] = lambda match: match["open"]
) -> list[tuple[int, int]]:
    """Return the spans of tagged text, in one pass. One that is never closed reaches to the end, if it `is_open`; else it is no tag."""
    spans, unclosed = list[tuple[int, int]](), set[str]()
    for match in opening.finditer(text):
        name = match[match.lastgroup or 0].lower()
        if name in unclosed or (spans and match.start() < spans[-1][1]):
            continue
        if end := re.compile(rf"</{name}\s*>", re.IGNORECASE).search(text, match.end()):
            spans.append((match.start(), end.end()))
        elif is_open(match):
            return [*spans, (match.start(), len(text))]
        else:
            unclosed.add(name)
    return spans


def blanked(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return a text with these spans as blanks; lines and positions stay."""
    parts, last = list[str](), 0
    for start, end in sorted(spans):
        begin = max(start, last)
        if begin < end:
            parts += text[last:begin], re.sub(r"[^\n]", " ", text[begin:end])
            last = end
    return "".join((*parts, text[last:]))


def lines_of(text: str) -> Iterator[tuple[int, str]]:
    """Yield each line of a text with its position."""
    start = 0
    for line in text.split("\n"):
        yield start, line
        start += len(line) + 1


def _form(line: str, *, inside: bool) -> Literal["nothing", "command", "route", "instruction", "output", "prose"]:
    if not line.strip() or line.lstrip().startswith("```"):
        return "nothing"
    if _RE["prompt"].match(line) or (inside and not line.lstrip().startswith("#")):
        return "command"
    if _RE["route"].match(line):
        return "route"
    bullet = BULLET.match(line)
    if _RE["instruction"].match(line[bullet.end() if bullet else 0 :]):
        return "instruction"
    return "output" if _OUTPUT.match(line) else "prose"

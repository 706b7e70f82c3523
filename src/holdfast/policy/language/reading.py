"""Read what people and agents write, sentence by sentence: what each sentence is, as the classifier judges it.

A user's sentence is a rule, fact, decision or correction (worth keeping), or a task, question, report, guess or chat. An
agent's is a finding, lesson or decision, a guess or a refuted one, what is done, open or blocked, or noise.
"""

from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal

from holdfast.model.patterns import lazy
from holdfast.model.ports import CLASSES, Classifier, Task
from holdfast.policy.language.prose import passages

LONGEST_PROMPT, LONGEST_SENTENCE = 20_000, 500  # characters
MOST_SENTENCES = 120  # of an answer: the first and the last ones
CONTEXT = 300  # characters of what stands before a sentence
BETWEEN = " … "  # stands between the agent's message and the sentence before, as in the training data
KEPT = ("rule", "fact", "decision", "correction")
# Measured on sentences of another hand (`python3 dev.py bench classifier`): from here on a statement is worth keeping.
STATES, CLAIMS = 0.65, 0.6
REFUSED, CORRECTS = 0.45, 0.55  # a correction is one from the first on, and worth keeping with the second
_END = lazy(r"(?<=[\w)\]\"'`%“”’»][.!?;])[\"')\]»”]*\s+(?=\S)|(?<=[。！？；])|\n+")
_ABBREVIATED = lazy(r"\b(?:e\.g|i\.e|etc|vs|approx|incl|cf|z\.B|d\.h|bzw|ca|p\.ej|nr|[A-Z])\.$")
_BULLET = lazy(r"^[ \t]*(?:[-*•]|\d{1,2}[.)]|#{1,6}|>)[ \t]+")
_HAS_WORDS = lazy(r"\w{2}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


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


class SentenceReader:
    """Judges sentences once: `known` holds what was judged before. Without a classifier nothing is read into a text."""

    def __init__(
        self, classifier: Classifier | None = None, known: MutableMapping[str, list[float]] | None = None
    ) -> None:
        self._classifier = classifier
        self.known = {} if known is None else known

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
        """Return the chance of each relation of two statements; empty without a classifier."""
        return dict(zip(CLASSES["pair"], self.judge("pair", older, newer), strict=False))

    def _judged(self, task: Literal["user", "agent"], spans: list[tuple[str, int, int]], answer: str) -> list[Sentence]:
        found, before = list[Sentence](), ""
        for text, start, end in spans:
            if len(text) <= LONGEST_SENTENCE and _HAS_WORDS.search(text):
                context = BETWEEN.join(part for part in (answer, before) if part)
                if chances := self.judge(task, text, context):
                    shares = dict(zip(CLASSES[task], chances, strict=True))
                    found.append(Sentence(text=text, span=(start, end), chances=shares))
            before = text
        return found

    def judge(self, task: Task, first: str, second: str = "") -> list[float]:
        """Return the probability of each class of a task; empty without a classifier."""
        if self._classifier is None:
            return []
        key = blake2b(f"{self._classifier.name}\0{task}\0{first}\0{second}".encode(errors="replace"), digest_size=9)
        name = key.hexdigest()
        if name not in self.known:
            judged = self._classifier.chances(task, first, second)
            self.known[name] = [round(share, 3) for share in judged.values()]
        return self.known[name]


def sentences(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the sentences of a text with their spans, without bullets."""
    begin = 0
    cuts = [match.span() for match in _END.finditer(text)]
    for end, after in (*cuts, (len(text), len(text))):
        if _ABBREVIATED.search(text[begin:end]):
            continue
        bullet = _BULLET.match(text, begin, end)
        start = bullet.end() if bullet else begin
        whole = " ".join(text[start:end].split())
        if whole[-1:] in (".", "!") and " " not in whole and after < len(text) and "\n" not in text[end:after]:
            continue  # "No! It stays.": one word belongs to what follows
        if whole:
            yield whole, start, end
        begin = after

"""Questions of our own: in nine languages, and as the first ones to an almost empty store. The gate is on, as for users."""

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from string import ascii_lowercase
from typing import Any

from bench.measure import table
from bench.quality import plain_fts5
from holdfast.compose import open_memory
from holdfast.compose.settings import load_settings
from holdfast.model.query import Query
from holdfast.model.record import Draft, Record
from holdfast.policy.admission.admit import Waivers
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.write import Written, WrittenPending, confirm, write
from holdfast.verbs.search.embed import catch_up
from holdfast.verbs.search.recall import recall

DATA = Path(__file__).parent / "data"
HALVES = ("a", "b")
LEAST_MISSPELLED = 5  # letters of a word that gets a slip
_ANY = Waivers(duplicate=True, transient=True, scope=True)
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What recall returned for a question: labels of the hits, best first, and the confidence of each; else the closest."""

    labels: tuple[str, ...]
    confidences: tuple[str, ...]
    closest: str = ""

    @property
    def outcome(self) -> str:
        """Return `nothing`, `weak` (no hit is better) or `answered`."""
        if not self.labels:
            return "nothing"
        return "weak" if set(self.confidences) == {"weak"} else "answered"

    def is_right(self, expected: Sequence[str]) -> bool:
        """True if the first hit is one of those expected."""
        return self.labels[:1] != () and self.labels[0] in expected

    def names(self, expected: Sequence[str]) -> bool:
        """True if the first hit, or the closest if there is none, is one of those expected."""
        return self.is_right(expected) or self.closest in expected


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """A question with the language of its memory, and what it got: as users ask, without the gate, from plain FTS5."""

    row: Row
    asks_in: str
    kept_in: str
    answer: Answer
    ungated: Answer
    plain: Sequence[str]


def run_languages() -> None:
    """Print how often the first hit is right, by language, and what off-topic questions get; for both sets, halves apart."""
    strangers = _read("languages")["off_topic"]
    for name, title in (
        ("languages", "far-fetched questions"),
        ("languages_plain", "plain questions"),
        ("languages_later", "plain questions across languages, written before the terms"),
    ):
        _ask_in_languages(title, _read(name), strangers)


def _ask_in_languages(title: str, sets: Mapping[str, Sequence[Row]], off_topic: Sequence[Row]) -> None:
    language = {row["id"]: row["language"] for row in sets["memories"]}
    search = plain_fts5([(row["id"], row["text"], {}) for row in sets["memories"]])
    with filled(sets["memories"]) as memory:
        asked = [
            _Asked(
                row=row,
                asks_in=row["language"],
                kept_in=language[row["expected"][0]],
                answer=ask(memory, row["text"]),
                ungated=ask(memory, row["text"], weak=True),
                plain=search(row["text"], 1),
            )
            for row in sets["questions"]
        ]
        strangers = [(row, ask(memory, row["text"])) for row in off_topic]
    same = [one for one in asked if one.asks_in == one.kept_in]
    across = [one for one in asked if one.asks_in != one.kept_in]
    names = sorted(set(language.values()))
    _show_first(
        f"languages, {title}: the right memory is the first hit",
        {
            f"{name}, half {half}": [one for one in own if one.row["half"] == half]
            for name, own in (("same language", same), ("across languages", across))
            for half in HALVES
        }
        | {"same language": same, "across languages": across},
    )
    _show_first(
        "the same by language",
        {f"{name} to {name}": [one for one in same if one.asks_in == name] for name in names}
        | {f"{name} to others": [one for one in across if one.asks_in == name] for name in names}
        | {f"others to {name}": [one for one in across if one.kept_in == name] for name in names},
    )
    _show_outcomes(
        "off-topic questions: refused means that there is no hit",
        ("nothing",),
        {
            f"{key} {value}": [answer for row, answer in strangers if row[key] == value]
            for key, values in (("half", HALVES), ("about", ("everyday", "software")), ("language", names))
            for value in values
        }
        | {"all": [answer for _, answer in strangers]},
    )
    _show_reliability([(one.answer, one.row["expected"]) for one in asked] + [(answer, ()) for _, answer in strangers])


def run_teams() -> None:
    """Print the same for the notes of small teams, with the longest word misspelled, and for notes and questions with short forms."""
    teams = _read("teams")["halves"]
    _ask_teams("teams", teams)
    _ask_teams("teams, misspelled", {half: _misspelled(sets) for half, sets in teams.items()})
    _ask_teams("short forms", _read("short_forms")["halves"])


def _misspelled(sets: Mapping[str, Any]) -> dict[str, Any]:
    """Return memories with a slip in the longest word of each question, the same ones in every run; off-topic questions unchanged."""
    chance = Random(1)
    changed = [
        {**row, "questions": [_slip(question, chance) for question in row["questions"]]} for row in sets["memories"]
    ]
    return {**sets, "memories": changed}


def _slip(question: str, chance: Random) -> str:
    """Swap, omit, double or replace a letter of the longest word, but not its first or last."""
    word = max((word for word in question.split() if word.isalpha()), key=len, default="")
    if len(word) < LEAST_MISSPELLED:
        return question
    place = chance.randrange(1, len(word) - 2)
    here, after = word[place], word[place + 1]
    slip = chance.choice((after + here, after, here + here + after, chance.choice(ascii_lowercase) + after))
    return question.replace(word, word[:place] + slip + word[place + 2 :], 1)


def _ask_teams(title: str, halves: Mapping[str, Mapping[str, Any]]) -> None:
    """Ask what the notes of both halves, all in one store, answer, and off-topic questions about similar work."""
    memories = [
        {**row, "id": f"{half}-{place}"}
        for half, sets in halves.items()
        for place, row in enumerate(sets["memories"], start=1)
    ]
    search = plain_fts5([(row["id"], row["text"], {}) for row in memories])
    with filled(memories) as memory:
        asked = [
            _Asked(
                row={"expected": [row["id"]], "half": row["id"][0]},
                asks_in="en",
                kept_in="en",
                answer=ask(memory, question),
                ungated=ask(memory, question, weak=True),
                plain=search(question, 1),
            )
            for row in memories
            for question in row["questions"]
        ]
        strangers = {half: [ask(memory, question) for question in sets["off_topic"]] for half, sets in halves.items()}
    _show_first(
        f"{title}: the right one of {len(memories)} memories is the first hit",
        {f"half {half}": [one for one in asked if one.row["half"] == half] for half in HALVES} | {"all": asked},
    )
    everyone = [answer for own in strangers.values() for answer in own]
    _show_outcomes(
        "off-topic questions about similar work: refused means that there is no hit",
        ("nothing",),
        {f"half {half}": own for half, own in strangers.items()} | {"all": everyone},
    )
    _show_reliability([(one.answer, one.row["expected"]) for one in asked] + [(answer, ()) for answer in everyone])


def run_first() -> bool:
    """Print how many first questions are answered, which are not, and what unrelated questions get; True if all are."""
    sets = _read("first_questions")
    answers = first_answers()
    failed = [row for row in sets["cases"] if not answers[row["id"]].names(row["first"])]
    groups = {f"half {half}": [row for row in sets["cases"] if row["half"] == half] for half in HALVES}
    groups |= {
        "from pages": [row for row in sets["cases"] if row["source"] != "own"],
        "own": [row for row in sets["cases"] if row["source"] == "own"],
        "all": sets["cases"],
    }
    rows = [(name, len(own), _share([row not in failed for row in own])) for name, own in groups.items()]
    table(
        "first questions: a wanted memory is the first hit, or named as the closest",
        ("questions", "number", "answered"),
        rows,
    )
    if failed:
        shown = [
            (row["id"], row["question"], ", ".join(row["first"]), ", ".join(answers[row["id"]].labels[:3]))
            for row in failed
        ]
        table("not answered", ("case", "question", "wanted first", "hits"), shown)
    unrelated = {half: [answers[row["id"]] for row in sets["unrelated"] if row["half"] == half] for half in HALVES}
    _show_outcomes(
        "unrelated questions to small stores, where the best hit may be shown: refused means no hit that is not weak",
        ("nothing", "weak"),
        {**{f"half {half}": own for half, own in unrelated.items()}, "all": [*unrelated["a"], *unrelated["b"]]},
    )
    for row in sets["unrelated"]:
        if answers[row["id"]].outcome == "answered":
            print(f"answered: {row['question']!r} in {row['store']}: {', '.join(answers[row['id']].labels[:3])}")
    return not failed


def first_answers(one_in: int = 1) -> dict[str, Answer]:
    """Ask every first question and every unrelated one, each store apart, or one in so many stores; return the answers by the case's id."""
    sets, answers = _read("first_questions"), dict[str, Answer]()
    for name, memories in list(sets["stores"].items())[::one_in]:
        with filled(memories) as memory:
            for row in [*sets["cases"], *sets["unrelated"]]:
                if row["store"] == name:
                    answers[row["id"]] = ask(memory, row["question"])
    return answers


def first_cases() -> tuple[list[Row], list[Row]]:
    """Return the cases with a wanted memory, and the unrelated ones."""
    sets = _read("first_questions")
    return sets["cases"], sets["unrelated"]


@contextmanager
def filled(memories: Sequence[Row]) -> Iterator[Memory]:
    """Open an empty store, write memories to it as a user does, and embed them."""
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as scratch:
        folder = Path(scratch)
        settings = load_settings(folder=folder, environment={}, flags={"home": scratch, "project": "bench"})
        with open_memory(settings, folder=folder) as memory:
            for row in memories:
                _write(memory, row)
            catch_up(memory)
            yield memory


def ask(memory: Memory, question: str, *, weak: bool = False) -> Answer:
    """Ask as a user does."""
    found = recall(memory, Query(text=question, weak=weak))
    return Answer(
        labels=tuple(_label(hit.record) for hit in found.hits),
        confidences=tuple(hit.confidence for hit in found.hits),
        closest=_label(found.closest) if found.closest else "",
    )


def _label(record: Record) -> str:
    return str(record.extra.get("label", record.title))


def _write(memory: Memory, row: Row) -> None:
    draft = Draft(
        body=row["text"],
        kind=row["kind"],
        title=row.get("title", ""),
        fields=row.get("fields", {}),
        scopes=tuple(row.get("scopes", ())),
        tags=tuple(row.get("tags", ())),
        anchors=tuple(row.get("anchors", ())),
        extra={"label": row["id"]},
    )
    outcome = write(memory, draft, waivers=_ANY)
    if isinstance(outcome, WrittenPending):
        outcome = confirm(memory, outcome.record.id, waivers=_ANY)
    assert isinstance(outcome, Written), outcome


def _read(name: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    return value


def _share(values: Sequence[bool]) -> str:
    return f"{sum(values) / len(values):.3f}" if values else "–"


def _show_first(title: str, groups: Mapping[str, Sequence[_Asked]]) -> None:
    rows = [
        (
            name,
            len(own),
            _share([one.plain == one.row["expected"] for one in own]),
            _share([one.answer.is_right(one.row["expected"]) for one in own]),
            _share([not set(one.row["expected"]).isdisjoint(one.answer.labels[:5]) for one in own]),
            _share([one.ungated.is_right(one.row["expected"]) for one in own]),
        )
        for name, own in groups.items()
    ]
    columns = ("questions", "number", "plain FTS5 first", "first", "among five", "first without the gate")
    table(title, columns, rows)


def _show_outcomes(title: str, refused: tuple[str, ...], groups: Mapping[str, Sequence[Answer]]) -> None:
    rows = []
    for name, answers in groups.items():
        outcomes = [answer.outcome for answer in answers]
        counts = [outcomes.count(outcome) for outcome in ("nothing", "weak", "answered")]
        rows.append((name, len(answers), _share([outcome in refused for outcome in outcomes]), *counts))
    table(title, ("questions", "number", "refused", "no hit", "weak hits only", "fair or strong"), rows)


def _show_reliability(answers: Sequence[tuple[Answer, Sequence[str]]]) -> None:
    rows = []
    for confidence in ("strong", "fair", "weak"):
        own = [(one, expected) for one, expected in answers if one.confidences[:1] == (confidence,)]
        rows.append((confidence, len(own), _share([one.is_right(expected) for one, expected in own])))
    table("what the confidence of the first hit is worth, off-topic questions included", ("confidence", "number", "right"), rows)  # fmt: skip

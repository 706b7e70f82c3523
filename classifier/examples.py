"""Read the labelled data: examples of each task, split into what is trained on and what is held out."""

import json
import lzma
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from classifier.labels import BETWEEN, TASKS
from holdfast.model.ports import Task

DATA = Path(__file__).parent / "data"
HELD = 0.15  # share that is held out
COLLECTED = ("functions", "issues", "reports")  # kinds of what the encoder is trained on
WORD = re.compile(r"[a-z]{3,}")
# Texts drawn for a question, of which so many closest are wrong answers; share of those of conversations with an answer.
DRAWN, CLOSE, ANSWERED = 200, 6, 0.7
ACROSS = 0.3  # share of the pairs of a card that are in two languages
SAME_WAY = 0.3  # share of the conflicts of two ways where only the value differs
RELATED = {"conflict": 0.4, "same": 0.15, "refines": 0.1, "other": 0.35}  # pairs of a card
# What may be put in place of another without a change of meaning.
VARIED = (
    (r"[.。]$", "", "!", " :)"),
    (r"^(?=[A-Z][a-z]+ )", "Please note: ", "By the way, ", "As always: ", "Remember: "),
    (r"^(?=\w)", "- ", "PS: ", "NB: ", "(", "FYI "),
    (r"^(?:The|Our|This) ", "Our ", "The ", "Here the ", "At our place, the "),
    (r"^(?=(?:Use|Run|Keep|Write|Put|Add|Call|Do|Never|Always|Don't)\b)", "Please ", "Always ", "We agreed: "),
    (
        r"^We (?!are|have|were|never|don|do |can|must|may|only|all)",
        "We always ",
        "At our place we ",
        "Our team does: we ",
    ),
    (r"\bdo not\b", "don't", "do NOT"),
    (r"\bdon't\b", "do not", "dont"),
    (r"\bis\b", "is", "is indeed", "'s"),
    (r", ", " and ", "; ", ", "),
    (r"`", "", "'"),
    (r" and ", " & ", " as well as "),
    (r"\b(?:because|since|as)\b", "since", "because"),
    (r"\b(\w{4,}[a-z])s\b(?=[.!]?$)", r"\1", r"\1s"),
)
PRESENT = 0.4  # share of the framed texts that hold now
BLOCK = 8  # neighbouring lines are often contrast pairs: they are held out together


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One or two texts and the class, by number. `lang` is that of the first text."""

    first: str
    second: str
    label: int
    lang: str = "en"


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The memories of a small team, and questions with the places of the memories that answer them."""

    memories: tuple[str, ...]
    questions: tuple[tuple[str, frozenset[int]], ...]
    lang: str = "en"


def rows_of(pattern: str, folder: Path = DATA) -> list[dict[str, Any]]:
    """Read the lines of some files, in the order of their names."""
    return [
        json.loads(line)
        for path in sorted(folder.glob(pattern))
        for line in path.read_text("utf-8").splitlines()
        if line.strip()
    ]


def sentences(task: Task, rows: Iterable[dict[str, Any]]) -> list[Example]:
    """Return the sentences of prompts or answers, each with what stands before it."""
    found = []
    for row in rows:
        before = ""
        for text, label in row["s"]:
            context = BETWEEN.join(part for part in (row.get("prev", ""), before) if part)
            found.append(Example(first=text, second=context, label=TASKS[task].index(label), lang=row["lang"]))
            before = text
    return found


def pairs(rows: Iterable[dict[str, Any]]) -> list[Example]:
    """Return pairs of memories, the older one first."""
    labels = TASKS["pair"]
    return [
        Example(first=row["older"], second=row["newer"], label=labels.index(row["rel"]), lang=row["la"]) for row in rows
    ]


def joined(rows: Iterable[dict[str, Any]]) -> list[Example]:
    """Return the pairs that follow from two with the same older text: what is said again relates to others as that text does."""
    by_older = defaultdict[str, list[dict[str, Any]]](list)
    for row in rows:
        by_older[row["older"]].append(row)
    found = []
    for related in by_older.values():
        for again, row in product((row for row in related if row["rel"] == "same"), related):
            if again["newer"] != row["newer"]:
                found.append({**row, "older": again["newer"], "la": again["lb"]})
    return pairs(found)


def from_card(card: dict[str, Any], chance: random.Random) -> Example:
    """Return a pair made of a card: of the ways to say a thing, its values or sides, and what holds beside all of them."""
    lang, other = chance.sample(sorted(card["other"]), 2)
    other = other if chance.random() < ACROSS else lang
    (rel,) = chance.choices([*RELATED], [*RELATED.values()])
    if sides := card.get("sides"):
        old, new = chance.sample(sides, 2)
        rel = "same" if rel == "refines" else rel
        first, again = chance.sample(old[lang], 2)
        second = {"conflict": new, "same": old, "other": card}[rel]
        second = second["other"][other] if rel == "other" else second[other]
        newer = again if rel == "same" and other == lang else chance.choice(second)
    else:
        old, new, third = chance.sample(range(len(card["values"][lang])), 3)
        begins = [text for text in card["switch"][lang] if "{v}" in text and rel in ("conflict", "same")]
        first, again = chance.sample(card["ways"][lang] + begins, 2)
        name = {"conflict": chance.choice(("ways", "ways", "switch", "more")), "refines": "more"}.get(rel, rel)
        if name == "same":
            newer = again if other == lang else chance.choice(card["ways"][other])
        elif name == "ways" and other == lang and chance.random() < SAME_WAY:
            newer = first
        else:
            newer = chance.choice(card[name][other])
        before, values = card["values"][lang], card["values"][other]
        first = _filled(first, before[chance.choice((new, third))], before[old])
        changes = rel == "conflict"
        newer = _filled(newer, values[old if changes else third], values[new if changes else old])
    return Example(first=first, second=newer, label=TASKS["pair"].index(rel), lang=lang)


def said_again(text: str, chance: random.Random) -> str:
    """Return a text with changes that mean nothing: case, an article, a final stop, a polite word, a contraction, a typo."""
    ways = [way for way in VARIED if re.search(way[0], text)]
    for pattern, *others in chance.sample(ways, min(len(ways), chance.choice((0, 1, 1, 2)))):
        text = re.sub(pattern, chance.choice(others), text, count=1)
    if (longer := re.findall(r"[a-z]{7,}", text)) and chance.random() < 0.15:
        word, place = chance.choice(longer), chance.randrange(2, 6)
        text = text.replace(word, word[:place] + word[place + 1 :], 1)
    return text.lower() if chance.random() < 0.15 else text


def framed(pair: Example, frames: Mapping[str, dict[str, Any]], chance: random.Random) -> Example:
    """Return a pair whose second text is told as what holds now, or as past or an idea: then it contradicts nothing."""
    found, rel = frames.get(pair.lang) or frames["en"], TASKS["pair"][pair.label]
    kind = "now" if rel in ("same", "refines") or chance.random() < PRESENT else "not"
    second = chance.choice(found[kind]).replace("{x}", pair.second)
    return replace(pair, second=second, label=pair.label if kind == "now" else TASKS["pair"].index("other"))


def _filled(text: str, old: str, new: str) -> str:
    begins = text.startswith("{")
    text = text.replace("{old}", old).replace("{v}", new)
    return text[:1].upper() + text[1:] if begins else text


def groups(rows: Iterable[dict[str, Any]]) -> list[Group]:
    """Return the groups of memories and questions."""
    return [
        Group(
            memories=tuple(row["m"]),
            questions=tuple((question, frozenset(right)) for question, right, *_ in row["q"]),
            lang=row["lang"],
        )
        for row in rows
    ]


def collected(file: Path) -> list[Group]:
    """Return questions to code, patches, reports and conversations, of the file that `encoder.collect` wrote."""
    chance, pairs, found = random.Random(7), json.loads(file.read_text("utf-8")), list[Group]()
    for rows in (pairs[kind] for kind in COLLECTED):
        chance.shuffle(rows)
        words = [set(WORD.findall(f"{row['q'][0]} {row['d'][0]}".lower())) for row in rows]
        for place, row in enumerate(rows):
            drawn = chance.sample(range(len(rows)), min(DRAWN, len(rows)))
            alike = {other: len(words[place] & words[other]) / len(words[place] | words[other]) for other in drawn}
            near = sorted((other for other in drawn if row["d"] != rows[other]["d"]), key=alike.__getitem__)[::-1]
            questions = [(question, frozenset({0})) for question in dict.fromkeys(row["q"])]
            questions += [(rows[other]["q"][0], frozenset[int]()) for other in near[CLOSE : 2 * CLOSE : 3]]
            memories = (chance.choice(row["d"]), *(chance.choice(rows[other]["d"]) for other in near[:CLOSE]))
            found.append(Group(memories=memories, questions=tuple(questions)))
    for turns, question, right in ((one["turns"], *asked) for one in pairs["dialogues"] for asked in one["q"]):
        answers = [place for place in right[:CLOSE] if place < len(turns)] * (chance.random() < ANSWERED)
        beside = [place + step for place in right for step in (-2, -1, 1, 2) if 0 <= place + step < len(turns)]
        wrong = [*beside, *chance.sample(range(len(turns)), min(CLOSE, len(turns)))]
        places = dict.fromkeys([*answers, *(place for place in wrong if place not in right)])
        memories = tuple(": ".join(turns[place]) for place in places)
        found.append(Group(memories=memories, questions=((question, frozenset(range(len(answers)))),)))
    return found


def parallel(file: Path) -> list[dict[str, str]]:
    """Return texts that stand in several languages, by language, of the file that `classifier.parallel` wrote."""
    with lzma.open(file, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def split(
    rows: Sequence[dict[str, Any]], key: str = "", *, hold: bool
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return what is trained on and what is held out; rows with the same `key`, or neighbours, stay together."""
    blocks = [str(row[key]).lower() if key else str(place // BLOCK) for place, row in enumerate(rows)]
    names = sorted(set(blocks))
    random.Random(7).shuffle(names)
    held = set(names[: int(len(names) * HELD)]) if hold else set()
    chosen = list(zip(rows, blocks, strict=True))
    return [row for row, block in chosen if block not in held], [row for row, block in chosen if block in held]

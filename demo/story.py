"""The story as read from `demo/data`: its people, their work, and templates of the texts they write."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

_ONE_OR_OTHER = re.compile(r"<([^<>]*)>")
DATA = Path(__file__).parent / "data"
_WORK = ("backend", "frontend", "infra", "data", "side")


@dataclass(frozen=True, slots=True, kw_only=True)
class Area:
    """A part of the code, with the words used in texts about it."""

    name: str
    project: str
    scope: str
    files: tuple[str, ...]
    calls: tuple[str, ...]
    nouns: tuple[str, ...]
    commands: tuple[str, ...]
    env: str
    tags: tuple[str, ...]

    @property
    def side(self) -> str:
        """The first part of its scope: backend, frontend, infra, data or device."""
        return self.scope.partition(":")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """One piece of work: symptom, cause, fix, lesson and remaining work."""

    area: str
    title: str
    symptom: str
    cause: str
    fix: str
    kind: str
    lesson: str
    left: str
    notes: tuple[str, ...]
    choice: str = ""
    why: str = ""
    instead: tuple[str, ...] = ()
    more: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """The whole story: people, projects, areas, episodes and templates."""

    main: str
    side: str
    users: tuple[str, ...]
    agents: tuple[str, ...]
    hosts: Mapping[str, str]
    keys: Mapping[str, str]
    typos: Mapping[str, str]
    areas: Mapping[str, Area]
    episodes: tuple[Episode, ...]
    phrases: Mapping[str, Mapping[str, list[str]]]
    talk: Mapping[str, Any]
    told: Mapping[str, Any]

    def fate(self, scar: str) -> str:
        """Return how sessions answer the scar with a title: heeded, dismissed, ignored, mixed or vain."""
        return next((str(one["fate"]) for one in self.told["scar"] if one["title"] == scar), "mixed")

    def fill(self, template: str, area: Area, chance: Random, **given: str) -> str:
        """Fill a template with words of an area and random numbers."""
        chosen = _ONE_OR_OTHER.sub(lambda found: chance.choice(found[1].split("|")), template)
        return _sentence(chosen.format(**_words(area, chance), **given))

    def say(self, what: str, question: str, area: Area, chance: Random, **given: str) -> str:
        """Return a random filled template for a part of a session's texts."""
        return self.fill(chance.choice(self.phrases[what][question]), area, chance, **given)


def read_story() -> Story:
    """Read the story from `demo/data`."""
    cast, told = _read("cast"), _read("facts") | _read("knowledge") | _read("scars")
    work = {part: _read(part)["episode"] for part in _WORK}
    of_side = {item["area"] for item in work["side"]}
    areas = {
        name: Area(name=name, project=cast["side"] if name in of_side else cast["main"], **_tuples(given))
        for name, given in cast["area"].items()
    }
    return Story(
        **_tuples({name: value for name, value in cast.items() if name != "area"}),
        areas=areas,
        episodes=_shuffled_like_work([[Episode(**_tuples(item)) for item in work[part]] for part in _WORK]),
        phrases=_read("phrases"),
        talk=_read("talk"),
        told=told,
    )


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((DATA / f"{name}.toml").read_text(encoding="utf-8"))


def _tuples(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}


def _shuffled_like_work(parts: list[list[Episode]]) -> tuple[Episode, ...]:
    """Interleave the parts evenly, each in its own order: a real team does not finish one part before the next."""
    placed = [
        ((place + 0.5) / len(part), number, episode)
        for number, part in enumerate(parts)
        for place, episode in enumerate(part)
    ]
    return tuple(episode for _, _, episode in sorted(placed, key=lambda one: one[:2]))


def _words(area: Area, chance: Random) -> dict[str, str]:
    """Return the values of template placeholders; the last file of an area is its test."""
    file, file2 = chance.sample(area.files[:-1], 2)
    noun, noun2 = chance.sample(area.nouns, 2)
    return {
        "file": file,
        "file2": file2,
        "test": area.files[-1],
        "noun": noun,
        "noun2": noun2,
        "rows": chance.choice([one for one in area.nouns if not one.startswith("the ")]),
        "call": chance.choice(area.calls),
        "command": chance.choice(area.commands),
        "env": area.env,
        "slug": area.name,
        "n": f"{chance.randrange(12, 4_800):,}",
        "small": str(chance.randrange(2, 10)),
        "secs": str(chance.randrange(11, 96)),
        "lines": str(chance.randrange(12, 190)),
        "kb": str(chance.randrange(14, 900)),
        "ms": str(chance.randrange(300, 2_400)),
        "ms2": str(chance.randrange(8, 180)),
    }


def _sentence(text: str) -> str:
    """Capitalise the first letter, unless the first word looks like an identifier."""
    first = text.partition(" ")[0]
    return text[:1].upper() + text[1:] if first.isalpha() and first.islower() else text

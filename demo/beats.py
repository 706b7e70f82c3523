"""Beats: records that are stored or changed at some point of the story, besides the episodes of work."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Literal

from demo.story import Story
from holdfast.model.record import Draft

Deed = Literal["keep", "revise", "retire", "object", "confirm", "cancel"]
# Shares of the whole time in which the older and the newer of two records are stored.
EARLY, LATE = (0.03, 0.35), (0.60, 0.97)
ANY = (0.02, 0.97)


@dataclass(frozen=True, slots=True, kw_only=True)
class Beat:
    """One action on a record: `when` is a share of the whole time, `key` identifies the record."""

    when: float
    area: str
    key: str
    do: Deed = "keep"
    draft: Draft | None = None
    text: str = ""
    replaces: str = ""
    by_hand: bool = False  # by a user at the command line, outside any session


Group = tuple[Beat, ...]  # in the required order


def all_beats(story: Story, chance: Random, days: float) -> list[Group]:
    """Return all beats, as groups that belong together."""
    makers = (_facts, _turns, _twins, _preferences, _references, _everywhere, _leaked, _lapsed, _corrected, _chains)
    groups = [group for make in makers for group in make(story, chance)]
    return [*groups, *_specs(story, chance), *_scars(story, chance), *_waiting(story, chance, days)]


def _facts(story: Story, chance: Random) -> Iterator[Group]:
    for area, texts in story.told["facts"].items():
        for place, text in enumerate(texts):
            draft = Draft(body=text, visibility="team", confidence="high")
            by_hand = place > 1 and chance.random() < 0.2  # the first two facts matter most: stored in sessions
            yield (Beat(when=chance.uniform(*ANY), area=area, key=text, draft=draft, by_hand=by_hand),)


def _turns(story: Story, chance: Random) -> Iterator[Group]:
    """Yield pairs of contradicting facts; each is noticed at the end and linked."""
    for area, older, newer in story.told["turn"]:
        said = [
            Beat(when=chance.uniform(*span), area=area, key=text, draft=Draft(body=text))
            for span, text in ((EARLY, older), (LATE, newer))
        ]
        yield (*said, Beat(when=0.98, area=area, key=older, do="object", text=newer))


def _twins(story: Story, chance: Random) -> Iterator[Group]:
    for area, kind, first, second in story.told["twin"]:
        yield tuple(
            Beat(when=chance.uniform(*span), area=area, key=text, draft=Draft(body=text, kind=kind))
            for span, text in (((0.05, 0.5), first), (LATE, second))
        )


def _preferences(story: Story, chance: Random) -> Iterator[Group]:
    for _, fate, text in story.told["preference"]:
        if fate == "new":
            continue
        kept = _preference(text, chance.uniform(0.05, 0.6))
        answer: Deed | None = {"yes": "confirm", "no": "cancel"}.get(fate)  # type: ignore[assignment]
        yield (kept, replace(kept, do=answer, draft=None)) if answer else (kept,)


def _waiting(story: Story, chance: Random, days: float) -> Iterator[Group]:
    """Yield preferences inferred in the last days, which are still pending."""
    for _, fate, text in story.told["preference"]:
        if fate == "new":
            yield (_preference(text, 1 - chance.uniform(0.5, 4.5) / days),)


def _preference(text: str, when: float) -> Beat:
    draft = Draft(body=text, kind="preference", source="inferred", scopes=("people",), tags=("working-style",))
    return Beat(when=when, area="", key=text, draft=draft)


def _references(story: Story, chance: Random) -> Iterator[Group]:
    for area, text, url in story.told["reference"]:
        draft = Draft(body=text, kind="reference", fields={"url": url}, visibility="team")
        yield (Beat(when=chance.uniform(*ANY), area=area, key=url, draft=draft),)


def _everywhere(story: Story, chance: Random) -> Iterator[Group]:
    for kind, text in story.told["everywhere"]:
        draft = Draft(body=text, kind=kind, project="", scopes=("team",))
        yield (Beat(when=chance.uniform(*ANY), area="", key=text, draft=draft, by_hand=True),)


def _leaked(story: Story, _chance: Random) -> Iterator[Group]:
    """Yield a record that should not have been stored; it is erased at the end."""
    area, text = story.told["leaked"]
    yield (Beat(when=0.8, area=area, key=text, draft=Draft(body=text), by_hand=True),)


def _lapsed(story: Story, chance: Random) -> Iterator[Group]:
    for area, text, reason in story.told["lapsed"]:
        yield (
            Beat(when=chance.uniform(*EARLY), area=area, key=text, draft=Draft(body=text)),
            Beat(when=chance.uniform(0.5, 0.95), area=area, key=text, do="retire", text=reason),
        )


def _corrected(story: Story, chance: Random) -> Iterator[Group]:
    for area, text, then in story.told["corrected"]:
        yield (
            Beat(when=chance.uniform(*EARLY), area=area, key=text, draft=Draft(body=text)),
            Beat(when=chance.uniform(0.5, 0.95), area=area, key=text, do="revise", text=then),
        )


def _chains(story: Story, chance: Random) -> Iterator[Group]:
    for chain in story.told["chain"]:
        steps, before, group = chain["steps"], "", []
        for place, (title, why, instead) in enumerate(steps):
            draft = Draft(
                body=f"{title}. {why}",
                kind="decision",
                title=title,
                fields={"rationale": why, "alternatives": instead, "people": list(story.users)},
                visibility="team",
            )
            when = (place + chance.uniform(0.15, 0.8)) / len(steps)
            group.append(Beat(when=when, area=chain["area"], key=title, draft=draft, replaces=before))
            before = title
        yield tuple(group)


def _specs(story: Story, chance: Random) -> Iterator[Group]:
    for spec in story.told["spec"]:
        begun = chance.uniform(0.02, 0.85)
        phased = [("inception", spec["problem"]), *(("elicitation", one) for one in spec["asked"])]
        yield tuple(
            Beat(
                when=begun + place * 0.015,
                area=spec["area"],
                key=text,
                draft=Draft(body=text, kind=kind, fields={"spec": spec["name"], "phase": kind}, tags=(spec["name"],)),
            )
            for place, (kind, text) in enumerate(phased)
        )


def _scars(story: Story, chance: Random) -> Iterator[Group]:
    for scar in story.told["scar"]:
        draft = Draft(
            body=scar["body"],
            kind="scar",
            title=scar["title"],
            fields=_scar_fields(scar),
            triggers=tuple(scar.get("triggers", ())),
            visibility="team",
            confidence="high",
        )
        yield (Beat(when=chance.uniform(0.01, 0.2), area=scar["area"], key=scar["title"], draft=draft),)


def _scar_fields(scar: dict[str, Any]) -> dict[str, Any]:
    fields = {
        "severity": scar["severity"],
        "scar_type": scar["type"],
        "counter_arguments": scar["against"],
        "action_protocol": scar["steps"],
        "self_check": [scar["check"]],
    }
    if "blocking" in scar:
        when, command, shows = scar["blocking"]
        fields |= {"blocking": True, "verify_when": when, "verify_with": [command], "must_show": shows}
    return fields

"""Schedule the sessions of the story on working days, and assign the beats to them."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Literal, TypeVar

from demo.beats import Beat, Group, all_beats
from demo.story import Area, Episode, Story

DAY = 86_400.0
FULL_DAYS = 90.0  # length of the whole story; fewer days use a part of it
FIRST_ISSUE = 400
AFTER = 0.8  # share of episodes whose remaining work gets its own session
LOOK_AHEAD = 6  # how many later sessions are considered for a beat
HOURS = (7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 19, 21)
BUSY = (1, 4, 9, 10, 9, 3, 7, 10, 9, 7, 4, 1, 1)

T = TypeVar("T")
Part = Literal["first", "again", "after"]
Ending = Literal["standard", "quick", "autonomous", "retroactive", "left", "open"]
_ENDINGS: dict[Ending, int] = {"standard": 64, "quick": 17, "autonomous": 9, "retroactive": 3, "left": 7}


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """One planned session: an agent works on an episode for the first time, again, or on its remaining work."""

    episode: Episode
    area: Area
    title: str
    part: Part
    issue: str
    agent: str
    user: str
    ending: Ending
    start: float
    minutes: float
    beats: tuple[Beat, ...] = ()

    @property
    def end(self) -> float:
        """When the session ends, in seconds since the epoch."""
        return self.start + self.minutes * 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All sessions in order of their start, and the records that users store by hand between them."""

    visits: tuple[Visit, ...]
    by_hand: tuple[tuple[float, Beat], ...]


def make_plan(story: Story, *, days: float, seed: int, until: float) -> Plan:
    """Return the plan of the whole story; the same seed gives the same plan."""
    chance = Random(f"{seed} plan")
    share, since = min(1.0, days / FULL_DAYS), until - days * DAY
    outlines = [one for one in _outlines(story, share, days, chance) if one.when < 1]
    visits = [_visit(story, one, since, until, chance) for one in outlines]
    visits = _lively_end(sorted(visits, key=lambda one: (one.start, one.title)), until)
    groups = _spread(all_beats(story, chance, days), share)
    planned = [group for group in groups if not group[0].by_hand]
    by_hand = [(since + beat.when * days * DAY, beat) for group in groups for beat in group if beat.by_hand]
    return Plan(visits=_with_beats(story, visits, planned, since, until), by_hand=tuple(by_hand))


def _spread(items: Sequence[T], share: float) -> list[T]:
    """Return a share of the items, spaced evenly."""
    most = max(1, round(len(items) * share))
    return [items[int((place + 0.5) * len(items) / most)] for place in range(most)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outline:
    """A session without agent and times: `when` is a share of the whole time."""

    when: float
    episode: Episode
    title: str
    part: Part
    issue: str


def _outlines(story: Story, share: float, days: float, chance: Random) -> Iterator[_Outline]:
    chosen = _chosen(story, share)
    numbers = dict.fromkeys(story.keys, FIRST_ISSUE)
    for place, episode in enumerate(chosen):
        project = story.areas[episode.area].project
        numbers[project] += chance.randrange(1, 4)
        issue = f"{story.keys[project]}-{numbers[project]}"
        when = (place + chance.random()) / len(chosen)
        yield _Outline(when=when, episode=episode, title=episode.title, part="first", issue=issue)
        for title in episode.more:
            when += chance.uniform(2, 7) * share / days
            yield _Outline(when=when, episode=episode, title=title, part="again", issue=issue)
        if chance.random() < AFTER:
            when += chance.uniform(2, 16) * share / days
            yield _Outline(when=when, episode=episode, title=episode.left, part="after", issue=issue)


def _chosen(story: Story, share: float) -> list[Episode]:
    """Return a share of the episodes of each project, in the order of the story."""
    by_project: dict[str, list[Episode]] = {}
    for episode in story.episodes:
        by_project.setdefault(story.areas[episode.area].project, []).append(episode)
    titles = {one.title for episodes in by_project.values() for one in _spread(episodes, share)}
    return [one for one in story.episodes if one.title in titles]


def _visit(story: Story, outline: _Outline, since: float, until: float, chance: Random) -> Visit:
    drawn = chance.choices(tuple(_ENDINGS), tuple(_ENDINGS.values()))[0]
    ending = "standard" if outline.episode.more else drawn  # recurring topics are detected only in closed sessions
    at_night = ending == "autonomous"
    minutes = chance.uniform(9, 28) if ending == "quick" else chance.uniform(34, 170)
    start = _at_work(since + outline.when * (until - since), chance, at_night=at_night)
    return Visit(
        episode=outline.episode,
        area=story.areas[outline.episode.area],
        title=outline.title,
        part=outline.part,
        issue=outline.issue,
        agent="codex" if at_night else chance.choices(story.agents, (5, 3, 2))[0],
        user=chance.choices(story.users, (3, 2))[0],
        ending=ending,
        start=max(since, min(start, until - (minutes + 300) * 60)),
        minutes=minutes,
    )


def _at_work(moment: float, chance: Random, *, at_night: bool) -> float:
    """Return a plausible working time near the given one: rarely on weekends; `at_night` for autonomous agents."""
    day = datetime.fromtimestamp(moment, UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    if not at_night and day.weekday() >= 5 and chance.random() < 0.85:
        day += timedelta(days=-1 if day.weekday() == 5 else 1)
    hour = chance.uniform(0.5, 4) if at_night else chance.choices(HOURS, BUSY)[0] + chance.random()
    return day.timestamp() + hour * 3600


def _lively_end(visits: list[Visit], until: float) -> list[Visit]:
    """Move the last three new episodes to the last day: two closed sessions, and one that is still active."""
    last = [place for place, visit in enumerate(visits) if visit.part == "first"][-3:]
    ends: list[tuple[float, float, Ending]] = [(19, 80, "standard"), (4, 90, "standard"), (0.7, 60, "open")]
    for place, (hours, minutes, ending) in zip(last, ends, strict=False):
        visits[place] = replace(visits[place], start=until - hours * 3600, minutes=minutes, ending=ending)
    return sorted(visits, key=lambda one: (one.start, one.title))


def _with_beats(
    story: Story, visits: list[Visit], groups: Sequence[Group], since: float, until: float
) -> tuple[Visit, ...]:
    """Assign each beat to a session: among the next few, one that works on the same area."""
    starts = [visit.start for visit in visits]
    written: list[list[Beat]] = [[] for _ in visits]
    for group in groups:
        earliest = 0
        for beat in group:
            if beat.do in ("confirm", "cancel"):  # approve or reject in the same session
                written[earliest].append(beat)
                continue
            first = max(earliest, bisect_left(starts, since + beat.when * (until - since)))
            earliest = _fitting(story, visits, written, beat, min(first, len(visits) - 1))
            written[earliest].append(beat)
    return tuple(replace(visit, beats=tuple(more)) for visit, more in zip(visits, written, strict=True))


def _fitting(story: Story, visits: list[Visit], written: list[list[Beat]], beat: Beat, first: int) -> int:
    area = story.areas.get(beat.area)
    project = area.project if area else story.main

    def unfit(place: int) -> tuple[bool, bool, bool, int, int]:
        visit = visits[place]
        wrong = visit.area.project != project or visit.ending == "retroactive"
        away = place not in range(first, first + LOOK_AHEAD)
        other = area is not None and visit.area.name != area.name
        return wrong, away, other, len(written[place]), place

    return min(range(first, len(visits)), key=unfit)

"""A place to work at: one session's memory with its own chance, at the desk that all sessions share."""

import re
from dataclasses import dataclass, field, replace
from random import Random

from demo.plan import Visit
from demo.story import Area, Story
from holdfast.model.errors import Invalid
from holdfast.model.event import Actor
from holdfast.model.ports import Unseen
from holdfast.model.record import Confidence, Draft, Origin, Record
from holdfast.model.session import Host
from holdfast.policy.admission.admit import Duplicate, PreviouslyRemoved
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.write import Held, Written, write

TYPO, PATH_ANYWAY, TEAM, DECLARES = 0.015, 0.3, 0.4, 0.4
CONFIDENCES: tuple[Confidence, ...] = ("high", "medium", "low")
_PATH = re.compile(r"[\w\[\]-]+(?:/[\w.\[\]-]+)+\.\w+")


@dataclass(slots=True, kw_only=True)
class Desk:
    """What all sessions share while the story is played."""

    memory: Memory
    story: Story
    known: dict[str, str] = field(default_factory=dict)  # record ids by what they were told under
    threads: dict[str, str] = field(default_factory=dict)  # ids of open threads by their text
    said: set[tuple[str, str]] = field(default_factory=set)  # what was said after what
    suggested: int = 0
    turned_away: int = 0


@dataclass(slots=True, kw_only=True)
class Seat:
    """One session at work."""

    desk: Desk
    visit: Visit
    memory: Memory
    chance: Random
    shown: list[Record] = field(default_factory=list)
    passed_over: set[str] = field(default_factory=set)  # scars this session says nothing about
    applied: list[Record] = field(default_factory=list)  # scars it heeded
    declares: bool = False  # whether it tells of its decision only in the end
    seen: str = ""  # the observation it began with

    @property
    def words(self) -> dict[str, str]:
        """What a wording can say of this session."""
        visit, episode = self.visit, self.visit.episode
        told = {name: getattr(episode, name) for name in ("symptom", "cause", "fix", "lesson", "left")}
        return {"issue": visit.issue, "user": visit.user.capitalize(), "title": visit.title, **told}

    def fill(self, template: str) -> str:
        """Give a wording with the words of this session's area."""
        return self.desk.story.fill(template, self.visit.area, self.chance, **self.words)

    def say(self, what: str, question: str) -> str:
        """Give one of the wordings for a part of what sessions write."""
        return self.desk.story.say(what, question, self.visit.area, self.chance, **self.words)

    def fresh(self, what: str) -> str:
        """Give an opening this area has not used yet, with a detail that did not follow it before."""
        pool, area = self.desk.story.phrases[what], self.visit.area
        code = [] if area.side == "infra" else pool.get("code", [])
        seen = pool.get(area.side, [])
        opening = self._unused(area.name, [*pool["any"], *code, *seen])
        details = pool.get("effects", pool["details"]) if opening in seen else pool["details"]
        return self.fill(f"{opening} {self._unused(opening, details)}")

    def _unused(self, after: str, wordings: list[str]) -> str:
        said = self.desk.said
        chosen = self.chance.choice([one for one in wordings if (after, one) not in said] or wordings)
        said.add((after, chosen))
        return chosen

    def keep(self, draft: Draft, area: Area | None = None) -> Record | None:
        """Write a draft with labels; None if something like it is known already."""
        return keep(self.desk, self.memory, self.labelled(draft, area or self.visit.area))

    def labelled(self, draft: Draft, area: Area) -> Draft:
        """Give a draft with the scope, tags and files somebody at work would give it."""
        chance = self.chance
        team = draft.visibility == "team" or chance.random() < TEAM
        sure = chance.choices(CONFIDENCES, (3, 6, 1))[0]
        paths = _PATH.findall(draft.body) or ([chance.choice(area.files)] if chance.random() < PATH_ANYWAY else [])
        return replace(
            draft,
            project=area.project if draft.project is None else draft.project,
            scopes=draft.scopes or (self._scope(area),),
            tags=draft.tags or tuple(chance.sample(area.tags, chance.randrange(3))),
            anchors=tuple(dict.fromkeys(paths)),
            visibility="team" if team else "private",
            confidence="high" if draft.confidence == "high" else sure,
        )

    def _scope(self, area: Area) -> str:
        """Give the scope of an area, mistyped now and then."""
        typos = self.desk.story.typos
        if area.side in typos and self.chance.random() < TYPO:
            return area.scope.replace(area.side, typos[area.side], 1)
        return area.scope


@dataclass(frozen=True, kw_only=True)
class Branch(Unseen):
    """A checkout that is only told about."""

    name: str
    branch: str
    commit: str

    def project(self) -> str:
        """Give the identity of the codebase."""
        return self.name

    def origin(self) -> Origin:
        """Give the branch somebody works on."""
        return Origin(branch=self.branch, commit=self.commit)


def keep(desk: Desk, memory: Memory, draft: Draft) -> Record | None:
    """Write a draft as it is; None if something like it is known already."""
    match write(memory, draft):
        case Written(record=record) | Held(record=record):
            return record
        case Duplicate() | PreviouslyRemoved():
            desk.turned_away += 1
            return None
        case refused:
            raise Invalid(f"The story holds what no store takes: {draft.body!r} ({type(refused).__name__}).")


def take_seat(desk: Desk, visit: Visit, chance: Random) -> Seat:
    """Give a session its own memory: the same store under another name, in another project."""
    story, project = desk.story, visit.area.project
    slug = re.sub(r"\W+", "-", visit.title.lower()).strip("-")[:40]
    branch = Branch(name=project, branch=f"{visit.issue.lower()}-{slug}", commit=f"{chance.getrandbits(160):040x}")
    place = story.hosts["night" if visit.ending == "autonomous" else visit.user]
    memory = replace(
        desk.memory,
        config=replace(desk.memory.config, project=project),
        actor=Actor(kind="agent", name=visit.agent),
        checkout=branch,
        host=Host(name=place, pid=chance.randrange(2_000, 60_000), parent=chance.randrange(1_000, 2_000)),
    )
    declares = visit.ending != "open" and chance.random() < DECLARES
    return Seat(desk=desk, visit=visit, memory=memory, chance=chance, declares=declares)


def by_hand(desk: Desk, user: str, project: str) -> Memory:
    """Give the memory as a person has it at the command line, in no session."""
    config = replace(desk.memory.config, project=project)
    checkout = Branch(name=project, branch="main", commit="")
    return replace(desk.memory, config=config, actor=Actor(kind="user", name=user), checkout=checkout)

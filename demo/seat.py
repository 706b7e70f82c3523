"""The state of one simulated session, and the state that all sessions share."""

import re
from dataclasses import dataclass, field, replace
from random import Random

from demo.plan import Visit
from demo.story import Area, Story
from holdfast.model.errors import Invalid
from holdfast.model.event import Actor
from holdfast.model.ports import Checkout
from holdfast.model.record import Confidence, Draft, Origin, Record
from holdfast.model.session import Host
from holdfast.policy.admission.admit import Duplicate, PreviouslyRemoved
from holdfast.verbs.memory import Context, Memory
from holdfast.verbs.records.write import Written, WrittenPending, write

TYPO, PATH_ANYWAY, TEAM, DECLARES = 0.015, 0.3, 0.4, 0.4
CONFIDENCES: tuple[Confidence, ...] = ("high", "medium", "low")
_PATH = re.compile(r"[\w\[\]-]+(?:/[\w.\[\]-]+)+\.\w+")


@dataclass(slots=True, kw_only=True)
class Simulation:
    """The state shared by all sessions of a simulation."""

    memory: Memory
    story: Story
    known: dict[str, str] = field(default_factory=dict)  # record ids by the key of their beat
    threads: dict[str, str] = field(default_factory=dict)  # ids of open threads by their text
    said: set[tuple[str, str]] = field(default_factory=set)  # pairs of texts already used one after the other
    suggested: int = 0
    rejected: int = 0


@dataclass(slots=True, kw_only=True)
class Seat:
    """One simulated session."""

    simulation: Simulation
    visit: Visit
    memory: Memory
    chance: Random
    shown: list[Record] = field(default_factory=list)
    passed_over: set[str] = field(default_factory=set)  # scars that this session does not answer
    applied: list[Record] = field(default_factory=list)  # scars that it applied
    declares: bool = False  # True if it reports its decision only at the end
    seen: str = ""  # id of its first observation

    @property
    def words(self) -> dict[str, str]:
        """The placeholders of templates and their values for this session."""
        visit, episode = self.visit, self.visit.episode
        told = {name: getattr(episode, name) for name in ("symptom", "cause", "fix", "lesson", "left")}
        return {"issue": visit.issue, "user": visit.user.capitalize(), "title": visit.title, **told}

    def fill(self, template: str) -> str:
        """Fill a template with words of this session and its area."""
        return self.simulation.story.fill(template, self.visit.area, self.chance, **self.words)

    def say(self, what: str, question: str) -> str:
        """Return a random filled template for a part of a session's texts."""
        return self.simulation.story.say(what, question, self.visit.area, self.chance, **self.words)

    def fresh(self, what: str) -> str:
        """Return an opening not yet used in this area with a detail not yet used after it, as far as there are any."""
        pool, area = self.simulation.story.phrases[what], self.visit.area
        code = [] if area.side == "infra" else pool.get("code", [])
        seen = pool.get(area.side, [])
        opening = self._unused(area.name, [*pool["any"], *code, *seen])
        details = pool.get("effects", pool["details"]) if opening in seen else pool["details"]
        return self.fill(f"{opening} {self._unused(opening, details)}")

    def _unused(self, after: str, wordings: list[str]) -> str:
        said = self.simulation.said
        chosen = self.chance.choice([one for one in wordings if (after, one) not in said] or wordings)
        said.add((after, chosen))
        return chosen

    def keep(self, draft: Draft, area: Area | None = None) -> Record | None:
        """Store a draft with labels; return None if it is a duplicate."""
        return keep(self.simulation, self.memory, self.labelled(draft, area or self.visit.area))

    def labelled(self, draft: Draft, area: Area) -> Draft:
        """Return a draft with plausible scope, tags, files, visibility and confidence."""
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
        """Return the scope of an area, sometimes with a typo."""
        typos = self.simulation.story.typos
        if area.side in typos and self.chance.random() < TYPO:
            return area.scope.replace(area.side, typos[area.side], 1)
        return area.scope


@dataclass(frozen=True, kw_only=True)
class Branch(Checkout):
    """A made-up checkout without files."""

    name: str
    branch: str
    commit: str

    def project(self) -> str:
        """Return the identity of the codebase."""
        return self.name

    def origin(self) -> Origin:
        """Return the branch and commit of the session."""
        return Origin(branch=self.branch, commit=self.commit)


def keep(simulation: Simulation, memory: Memory, draft: Draft) -> Record | None:
    """Store a draft unchanged; return None if it is a duplicate or was removed before."""
    match write(memory, draft):
        case Written(record=record) | WrittenPending(record=record):
            return record
        case Duplicate() | PreviouslyRemoved():
            simulation.rejected += 1
            return None
        case refused:
            raise Invalid(f"The story holds what no store takes: {draft.body!r} ({type(refused).__name__}).")


def take_seat(simulation: Simulation, visit: Visit, chance: Random) -> Seat:
    """Return the seat of a session: a memory on the shared store, with its own agent, project, branch and host."""
    story, project = simulation.story, visit.area.project
    slug = re.sub(r"\W+", "-", visit.title.lower()).strip("-")[:40]
    branch = Branch(name=project, branch=f"{visit.issue.lower()}-{slug}", commit=f"{chance.getrandbits(160):040x}")
    place = story.hosts["night" if visit.ending == "autonomous" else visit.user]
    memory = replace(
        simulation.memory,
        config=replace(simulation.memory.config, project=project),
        context=Context(actor=Actor(kind="agent", name=visit.agent)),
        checkout=branch,
        host=Host(name=place, pid=chance.randrange(2_000, 60_000), parent=chance.randrange(1_000, 2_000)),
    )
    declares = visit.ending not in ("left", "open") and chance.random() < DECLARES
    return Seat(simulation=simulation, visit=visit, memory=memory, chance=chance, declares=declares)


def by_hand(simulation: Simulation, user: str, project: str) -> Memory:
    """Return the memory of a user at the command line, outside any session."""
    config = replace(simulation.memory.config, project=project)
    checkout = Branch(name=project, branch="main", commit="")
    return replace(
        simulation.memory, config=config, context=Context(actor=Actor(kind="user", name=user)), checkout=checkout
    )

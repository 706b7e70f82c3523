"""What one piece of work comes to: its files, its commits, the checks that failed and passed, and what was said. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from holdfast.policy.activity.work import Changed, Committed, Delegated, Looked, Ran, Searched, Step, Turn
from holdfast.policy.language.headlines import outcome_of, request_of
from holdfast.policy.language.signals import Signal, signals

# Files nobody will look for again, and commands that by their name tell nothing.
_SCRATCH = re.compile(r"^(?:/private)?(?:/var)?/tmp/|^/dev/|^/var/folders/|^[A-Z]:/.*/Temp/", re.IGNORECASE)
_PLAIN = re.compile(r"(?:git\b|cd\b|echo\b|python3?$|node$|bash$|sh$|kill\b|open$|$)")
_Kind = TypeVar("_Kind")


@dataclass(frozen=True, slots=True, kw_only=True)
class Broke:
    """A check or program that failed, by its name, with the line that says how."""

    name: str
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """One piece of work, its steps sorted by what they are."""

    turn: Turn
    changes: list[Changed]
    commits: list[Committed]
    runs: list[Ran]
    searches: list[Searched]
    delegated: list[Delegated]
    read: list[str]
    modified: list[str]
    mended: list[Broke]
    broken: list[Broke]
    request: str
    outcome: str
    signals: list[Signal]

    @property
    def acts(self) -> list[Ran]:
        """Commands that did something besides judging the work."""
        return [one for one in self.runs if not one.is_check and not one.wrong and not _PLAIN.match(one.name)]


def digest(turn: Turn) -> Work:
    """Sort the steps of a turn."""
    changes = [one for one in _of(turn.steps, Changed) if not _SCRATCH.match(one.path)]
    modified = list(dict.fromkeys(one.path for one in changes))
    read = dict.fromkeys(one.path for one in _of(turn.steps, Looked) if not _SCRATCH.match(one.path))
    runs = _of(turn.steps, Ran)
    return Work(
        turn=turn,
        changes=changes,
        commits=_of(turn.steps, Committed),
        runs=runs,
        searches=_of(turn.steps, Searched),
        delegated=_of(turn.steps, Delegated),
        read=[path for path in read if path not in modified],
        modified=modified,
        mended=list(_mended(turn.steps)),
        broken=list(_still_broken(runs)),
        request=request_of(turn.prompt),
        outcome=outcome_of(turn.said),
        signals=signals(turn.said),
    )


def pieces(turn: Turn) -> Iterator[Turn]:
    """Cut a turn after each of its commits; what follows the last one stays with it unless it changed something."""
    cuts = [place + 1 for place, step in enumerate(turn.steps) if isinstance(step.did, Committed)]
    found = [turn.steps[start:end] for start, end in zip([0, *cuts], [*cuts, len(turn.steps)], strict=True)]
    if len(found) > 1 and not any(isinstance(step.did, Changed) for step in found[-1]):
        last = found.pop()
        found[-1] = [*found[-1], *last]
    for place, steps in enumerate(found):
        first = steps[0].id if place else turn.id
        said = turn.said if place == len(found) - 1 else ""
        yield replace(turn, id=first, steps=steps, said=said, tokens=turn.tokens // len(found))


def _of(steps: Sequence[Step], wanted: type[_Kind]) -> list[_Kind]:
    return [step.did for step in steps if isinstance(step.did, wanted)]


def _mended(steps: Sequence[Step]) -> Iterator[Broke]:
    """Give what failed and passed at its last run, with a change in between."""
    failed: dict[str, tuple[int, str]] = {}
    changed_at, passed_at = -1, dict[str, int]()
    mended: dict[str, str] = {}
    for place, step in enumerate(steps):
        match step.did:
            case Changed():
                changed_at = place
            case Ran(name=name, wrong=True, error=error):
                failed.setdefault(name, (place, error))
                passed_at.pop(name, None)
                mended.pop(name, None)
            case Ran(name=name, wrong=False) if name in failed and changed_at > failed[name][0]:
                mended[name] = failed[name][1]
    yield from (Broke(name=name, error=error) for name, error in mended.items())


def _still_broken(runs: Sequence[Ran]) -> Iterator[Broke]:
    """Give what failed at its last run."""
    last = {one.name: one for one in runs}
    yield from (Broke(name=one.name, error=one.error) for one in last.values() if one.wrong)

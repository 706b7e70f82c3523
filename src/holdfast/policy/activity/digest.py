"""Summarize one piece of work: its files, commits, and the checks that failed or were fixed."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from holdfast.policy.activity.turns import Changed, Committed, Delegated, FileRead, Ran, Searched, Step, Turn
from holdfast.policy.language.headlines import outcome_of, request_of
from holdfast.policy.language.noteworthy import Signal, signals

# Temporary files, and commands whose name alone says nothing about the work.
_SCRATCH = re.compile(r"^(?:/private)?(?:/var)?/tmp/|^/dev/|^/var/folders/|^[A-Z]:/.*/Temp/", re.IGNORECASE)
_PLAIN = re.compile(r"(?:git\b|cd\b|echo\b|python3?$|node$|bash$|sh$|kill\b|open$|$)")
_Kind = TypeVar("_Kind")


@dataclass(frozen=True, slots=True, kw_only=True)
class Broke:
    """A check or program that failed, with its error line."""

    name: str
    error: str

    @property
    def still(self) -> str:
        """The report that it still fails."""
        return f"{self.name} still fails" + f": {self.error}" * bool(self.error)


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """One piece of work, with its steps sorted by type."""

    turn: Turn
    changes: list[Changed]
    commits: list[Committed]
    runs: list[Ran]
    searches: list[Searched]
    delegated: list[Delegated]
    read: list[str]
    modified: list[str]
    fixed: list[Broke]
    broken: list[Broke]
    request: str
    outcome: str
    signals: list[Signal]

    @property
    def acts(self) -> list[Ran]:
        """Commands that succeeded and did something other than check the work."""
        return [run for run in self.runs if not run.is_check and not run.wrong and not _PLAIN.match(run.name)]


def digest(turn: Turn) -> Work:
    """Sort the steps of a turn by type."""
    changes = [change for change in _of_type(turn.steps, Changed) if not _SCRATCH.match(change.path)]
    modified = list(dict.fromkeys(change.path for change in changes))
    read = dict.fromkeys(look.path for look in _of_type(turn.steps, FileRead) if not _SCRATCH.match(look.path))
    runs = _of_type(turn.steps, Ran)
    last_runs = {run.name: run for run in runs}
    # Checks that failed, then passed at their last run after a change.
    failed, fixed, changed_at = dict[str, tuple[int, str]](), dict[str, str](), -1
    for index, step in enumerate(turn.steps):
        match step.did:
            case Changed():
                changed_at = index
            case Ran(name=name, wrong=True, error=error):
                failed.setdefault(name, (index, error))
                fixed.pop(name, None)
            case Ran(name=name, wrong=False) if name in failed and changed_at > failed[name][0]:
                fixed[name] = failed[name][1]
    return Work(
        turn=turn,
        changes=changes,
        commits=_of_type(turn.steps, Committed),
        runs=runs,
        searches=_of_type(turn.steps, Searched),
        delegated=_of_type(turn.steps, Delegated),
        read=[path for path in read if path not in modified],
        modified=modified,
        fixed=[Broke(name=name, error=error) for name, error in fixed.items()],
        broken=[Broke(name=run.name, error=run.error) for run in last_runs.values() if run.wrong],
        request=request_of(turn.asked),
        outcome=outcome_of(turn.answer),
        signals=[signal for signal in signals(turn.said, turn.reader) if signal.kind != "finding"],
    )


def pieces(turn: Turn) -> Iterator[Turn]:
    """Split a turn after each of its commits; steps after the last commit join it unless they changed a file."""
    cuts = [index + 1 for index, step in enumerate(turn.steps) if isinstance(step.did, Committed)]
    groups = [turn.steps[start:end] for start, end in zip([0, *cuts], [*cuts, len(turn.steps)], strict=True)]
    if len(groups) > 1 and not any(isinstance(step.did, Changed) for step in groups[-1]):
        last = groups.pop()
        groups[-1] = [*groups[-1], *last]
    for index, steps in enumerate(groups):
        first = steps[0].id if index else turn.id
        is_last = index == len(groups) - 1
        answer, between = (turn.answer, turn.between) if is_last else ("", "")
        yield replace(turn, id=first, steps=steps, answer=answer, between=between, tokens=turn.tokens // len(groups))


def _of_type(steps: Sequence[Step], type_: type[_Kind]) -> list[_Kind]:
    return [step.did for step in steps if isinstance(step.did, type_)]

"""`holdfast judge`, `trust` and `hot`: whether memories helped, how far to trust them, and the few that matter most."""

from collections.abc import Callable
from typing import Annotated

from holdfast.hosts.cli.command import Command, Result, command
from holdfast.hosts.cli.render import PERSON, page
from holdfast.model.errors import Conflict
from holdfast.model.ids import short
from holdfast.model.request import Asked
from holdfast.model.text import counted
from holdfast.policy.ranking.trust import REASONS
from holdfast.surfaces.core import text as texts
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records import hot
from holdfast.verbs.sessions.scars import VERDICTS, Answer, judge, unanswered
from holdfast.verbs.truth.trust import Trust, change_trust, trust_of


@command(in_session=True)
def judge_command(
    memory: Memory,
    verdict: Annotated[str, Asked("", choices=VERDICTS)],
    ids: tuple[str, ...] = (),
    *,
    evidence: str = "",
    session: str | None = None,
) -> Result:
    """Report whether memories helped, or answer a scar."""
    del session  # the memory acts in it
    judged = judge(memory, [Answer(scar=id_, decision=verdict, evidence=evidence) for id_ in ids])
    lines = texts.answered(judged, PERSON)
    shown = lines if unanswered(memory) else [line for line in lines if not line.startswith("Every scar")]
    return judged, "\n".join(shown), Conflict.exit_code if judged.problems else 0


@command(page="trust")
def trust_command(
    memory: Memory,
    id: str,
    *,
    raises: bool | None = None,
    reason: Annotated[str, Asked(f"One of {', '.join(REASONS)}.")] = "",
    delta: float | None = None,
    note: str = "",
) -> Trust:
    """Show the trust in a memory and its reasons; with --raise or --lower, change it."""
    if raises is None and not reason:
        trust = trust_of(memory, id)
    else:
        direction = REASONS[reason] > 0 if raises is None and reason in REASONS else raises is not False
        trust = change_trust(memory, id, reason, raises=direction, delta=delta, note=note)
    return trust


@command()
def hot_command(memory: Memory) -> Result:
    """Show the hot set: the few memories that matter most; or add and remove memories."""
    members = hot.hot_set(memory)
    return members, page("hot", texts.clusters(members), len(members))


def _hot_action(verb: Callable[[Memory, str], list[hot.Vitals]], word: str) -> Command:
    """Return the command that applies a verb to a memory of the hot set, and prints what was done."""

    @command()
    def act(memory: Memory, id: str) -> Result:
        members, record = verb(memory, id), find(memory, id).record
        size = f"{counted(len(members), 'memory')} in the hot set" if members else "the hot set is empty"
        return members, f"{short(record.id)}  {word}: {record.title} ({size})"

    return act


promote_command, demote_command = _hot_action(hot.promote, "added"), _hot_action(hot.demote, "removed")
pin_command, unpin_command = _hot_action(hot.pin, "pinned"), _hot_action(hot.unpin, "unpinned")

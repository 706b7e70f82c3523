"""`holdfast judge`, `trust` and `hot`: whether memories helped, how far to trust them, and the few that matter most."""

from collections.abc import Callable
from typing import Annotated

from holdfast.hosts.cli.command import Result, command
from holdfast.hosts.cli.render import PERSON, page
from holdfast.hosts.cli.values import Id, Ids
from holdfast.model.errors import Conflict
from holdfast.model.ids import short
from holdfast.model.request import Asked
from holdfast.model.text import counted
from holdfast.policy.ranking.trust import REASONS
from holdfast.surfaces.core import text as texts
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records import hot
from holdfast.verbs.records.hot import Trust, change_trust, trust_of
from holdfast.verbs.sessions.scars import VERDICTS, Answer, judge, unanswered


@command(in_session=True)
def judge_command(
    memory: Memory,
    verdict: Annotated[str, Asked("", metavar="VERDICT", choices=VERDICTS)],
    ids: Ids = (),
    *,
    evidence: Annotated[str, Asked("What was observed, done or checked.", flag="--evidence --note")] = "",
    session: Annotated[str | None, Asked("Session in which the scars were surfaced.")] = None,
) -> Result:
    """Report whether memories helped, or answer a scar.

    A scar is answered with APPLYING, N_A or REFUTED. applied, ignored, contradicted and corrected report the outcome of any memory
    that was shown; verified marks it as checked; confirmed and cancelled approve and reject a pending one.
    """
    del session  # the memory acts in it
    judged = judge(memory, [Answer(scar=id_, decision=verdict, evidence=evidence) for id_ in ids])
    lines = texts.answered(judged, PERSON)
    shown = lines if unanswered(memory) else [line for line in lines if not line.startswith("Every scar")]
    return judged, "\n".join(shown), Conflict.exit_code if judged.problems else 0


@command(page="trust")
def trust_command(
    memory: Memory,
    id: Id,  # noqa: A002
    *,
    raises: Annotated[bool | None, Asked("Raise or lower the trust.", flag="--raise/--lower")] = None,
    reason: Annotated[str, Asked(f"One of {', '.join(REASONS)}.")] = "",
    delta: Annotated[float | None, Asked("By how much; default: by the reason.", flag="--by")] = None,
    note: Annotated[str, Asked("What was observed.")] = "",
) -> Trust:
    """Show the trust in a memory and its reasons; with --raise or --lower, change it."""
    if raises is None and not reason:
        trust = trust_of(memory, id)
    else:
        direction = REASONS[reason] > 0 if raises is None and reason in REASONS else raises is not False
        trust = change_trust(memory, id, reason, raises=direction, delta=delta, note=note)
    return trust


@command(group=True)
def hot_command(memory: Memory) -> Result:
    """Show the hot set: the few memories that matter most; or add and remove memories."""
    members = hot.hot_set(memory)
    return members, page("hot", texts.clusters(members), len(members))


@command("suggest", under=hot_command, page="hot_suggestions")
def suggest_command(memory: Memory) -> list[hot.Vitals]:
    """Show memories that are used but not in the set, and why."""
    return hot.suggested(memory)


def _hot_action(verb: Callable[[Memory, str], list[hot.Vitals]], word: str, meaning: str) -> None:
    """Add a command to `hot` that applies a verb to a memory and prints what was done."""

    def act(memory: Memory, id: Id) -> Result:  # noqa: A002
        members, record = verb(memory, id), find(memory, id).record
        size = f"{counted(len(members), 'memory')} in the hot set" if members else "the hot set is empty"
        return members, f"{short(record.id)}  {word}: {record.title} ({size})"

    act.__doc__ = meaning
    command(verb.__name__, under=hot_command)(act)


_hot_action(hot.promote, "added", "Add a memory.")
_hot_action(hot.demote, "removed", "Remove a memory.")
_hot_action(hot.pin, "pinned", "Keep a memory in the set always.")
_hot_action(hot.unpin, "unpinned", "Unpin a memory.")

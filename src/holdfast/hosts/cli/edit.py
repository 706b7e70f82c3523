"""Commands that change and judge single memories: revise, forget, restore, link, judge, trust, hot; and their history."""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from holdfast.hosts.cli.command import Result, declined
from holdfast.hosts.cli.memories import done, refusal_of
from holdfast.hosts.cli.render import PERSON, agreed, page, say
from holdfast.hosts.cli.values import fields_of, from_top, stdin_text, teaching_fields
from holdfast.model.errors import Conflict, Invalid
from holdfast.model.ids import short
from holdfast.model.record import Record
from holdfast.model.request import Asked, Fields
from holdfast.model.text import counted, shorten
from holdfast.policy.ranking.weight import REASONS
from holdfast.surfaces.core import text as texts
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records import hot
from holdfast.verbs.records.hot import Trust, change_trust, trust_of
from holdfast.verbs.records.lifecycle import Revision, restore, retire, revise
from holdfast.verbs.sessions.scars import VERDICTS, Answer, judge, unanswered

REVISED = "body title kind fields anchors triggers scopes tags confidence visibility"
_PLURALS = {
    "entry of the trail": "entries of the trail",
    "file of hooks": "files of hooks",
    "memory that quoted it": "memories that quoted it",
}


def revise_command(
    memory: Memory, id: str, *, redact: bool = False, **asked: Annotated[Any, Fields(Revision, REVISED)]
) -> Result:
    if asked["body"] == "-":
        asked["body"] = stdin_text()
    asked["fields"] = fields_of(asked["fields"])
    asked["anchors"] = from_top(memory, asked["anchors"])
    with teaching_fields(asked["kind"] or find(memory, id).record.kind):
        revision = Revision.of(**asked)
        # A text that was passed is checked, even an empty one.
        revised = revise(memory, id, replace(revision, body=asked["body"], title=asked["title"]), redact=redact)
    return done("revised", revised) if isinstance(revised, Record) else refusal_of(revised)


def forget_command(
    memory: Memory,
    id: str,
    *,
    reason: str = "",
    erase: bool = False,
    backups: bool = False,
    yes: bool = False,
    as_json: bool = False,
) -> Result:
    if erase:
        title = shorten(find(memory, id).record.title or "its remains", 60) if not yes else ""
        if not yes and not agreed(f"Erase “{title}” and its whole history for good?"):
            declined()
        return _erase(memory, id, and_backups=backups, asks=not as_json and sys.stdin.isatty())
    if backups:
        raise Invalid("--backups needs --erase.", hint="A retired memory stays in backups.")
    if not reason.strip():
        raise Invalid("A reason is required.", hint='holdfast forget ID --reason "the service was shut down"')
    return done("forgotten", retire(memory, id, reason))


def _erase(memory: Memory, reference: str, *, and_backups: bool, asks: bool) -> Result:
    from holdfast.verbs.upkeep.erasing import backups_of, erase

    erased = erase(memory, reference)
    backups = backups_of(memory, erased, rewrite=and_backups)
    holding = [f"  {backup.path}" for backup in backups if backup.holds]
    if holding and asks and not and_backups:
        say("\n".join(("These backups still contain it:", *holding)), err=True)
        if agreed("Rewrite them without it?"):
            backups = backups_of(memory, erased, rewrite=True)
    value = {
        "status": "erased" if erased.finished else "unfinished",
        "id": erased.ids[0] if erased.ids else "",
        **{name: getattr(erased, name) for name in ("reached", "files", "said_by")},
        "backups": [
            {name: getattr(backup, name) for name in ("path", "holds", "rewritten", "removed")}
            | ({"problem": backup.problem} if backup.problem else {})
            for backup in backups
        ],
        "not_reached": [*erased.not_reached, "backups kept elsewhere", "other machines until they sync"],
    }
    reached = ", ".join(
        f"{count} {_PLURALS[name]}" if count > 1 and name in _PLURALS else counted(count, name)
        for name, count in erased.reached.items()
    )
    return value, page("erased", erased, reached, backups)


def restore_command(memory: Memory, id: str) -> Result:
    if Path(id).suffix or Path(id).is_file():
        raise Invalid(f"{id} is a file.", hint=f"To replace the store by a backup: holdfast store restore {id}")
    return done("restored", restore(memory, id))


def judge_command(
    memory: Memory,
    verdict: Annotated[str, Asked("", choices=VERDICTS)],
    ids: tuple[str, ...] = (),
    *,
    evidence: str = "",
    session: str | None = None,
) -> Result:
    del session  # the memory acts in it
    judged = judge(memory, [Answer(scar=id_, decision=verdict, evidence=evidence) for id_ in ids])
    lines = texts.answered(judged, PERSON)
    shown = lines if unanswered(memory) else [line for line in lines if not line.startswith("Every scar")]
    return judged, "\n".join(shown), Conflict.exit_code if judged.problems else 0


def trust_command(
    memory: Memory,
    id: str,
    *,
    raises: bool | None = None,
    reason: Annotated[str, Asked(f"One of {', '.join(REASONS)}.")] = "",
    delta: float | None = None,
    note: str = "",
) -> Trust:
    if raises is None and not reason:
        trust = trust_of(memory, id)
    else:
        direction = REASONS[reason] > 0 if raises is None and reason in REASONS else raises is not False
        trust = change_trust(memory, id, reason, raises=direction, delta=delta, note=note)
    return trust


def hot_command(memory: Memory) -> list[hot.Vitals]:
    return hot.hot_set(memory)


def _hot_action(verb: Callable[[Memory, str], list[hot.Vitals]], word: str) -> Callable[[Memory, str], Result]:
    """Return the command that applies a verb to a memory of the hot set, and prints what was done."""

    def act(memory: Memory, id: str) -> Result:
        members, record = verb(memory, id), find(memory, id).record
        size = f"{counted(len(members), 'memory')} in the hot set" if members else "the hot set is empty"
        return members, f"{short(record.id)}  {word}: {record.title} ({size})"

    return act


promote_command, demote_command = _hot_action(hot.promote, "added"), _hot_action(hot.demote, "removed")
pin_command, unpin_command = _hot_action(hot.pin, "pinned"), _hot_action(hot.unpin, "unpinned")

"""Commands that change single memories: revise, forget, restore, link, judge, trust, the hot set; and their history."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from holdfast.hosts.cli.command import Result, command, declined
from holdfast.hosts.cli.memories import done, refusal_of
from holdfast.hosts.cli.render import PERSON, agreed, say, show_history
from holdfast.hosts.cli.values import Id, Ids, Relation, fields_of, from_top, stdin_text, teaching_fields
from holdfast.model.errors import Conflict, Invalid
from holdfast.model.event import event_to_json
from holdfast.model.ids import short
from holdfast.model.record import Record
from holdfast.model.request import Asked, Fields
from holdfast.model.text import counted, shorten
from holdfast.policy.ranking.trust import REASONS
from holdfast.surfaces.core import reports
from holdfast.surfaces.core import text as texts
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records import hot
from holdfast.verbs.records.lifecycle import Revision, link, restore, retire, revise, unlink
from holdfast.verbs.records.read import history
from holdfast.verbs.records.undo import undo_last
from holdfast.verbs.sessions.judge import VERDICTS, judge
from holdfast.verbs.sessions.scars import Answer, unanswered
from holdfast.verbs.truth.trust import change_trust, trust_of

if TYPE_CHECKING:
    from holdfast.verbs.upkeep.backups import Backup
    from holdfast.verbs.upkeep.erasing import Erased

REVISED = "body title kind fields anchors triggers scopes tags confidence visibility"
_PLURALS = {
    "entry of the trail": "entries of the trail",
    "file of hooks": "files of hooks",
    "memory that quoted it": "memories that quoted it",
}


@command()
def revise_command(
    memory: Memory,
    id: Id,  # noqa: A002
    *,
    redact: Annotated[bool, Asked("Mask secrets instead of rejecting.")] = False,
    **asked: Annotated[Any, Fields(Revision, REVISED)],
) -> Result:
    """Change a memory's text, title, kind or labels. The old ones stay in its history."""
    if asked["body"] == "-":
        asked["body"] = stdin_text()
    asked["fields"] = fields_of(asked["fields"])
    asked["anchors"] = from_top(memory, asked["anchors"])
    with teaching_fields(asked["kind"] or find(memory, id).record.kind):
        revision = Revision.of(**asked)
        # A text that was passed is checked, even an empty one.
        revised = revise(memory, id, replace(revision, body=asked["body"], title=asked["title"]), redact=redact)
    return done("revised", revised) if isinstance(revised, Record) else refusal_of(revised)


@command()
def undo_command(memory: Memory, id: Id = "") -> Result:  # noqa: A002
    """Take back your last change, or your last change of one memory: saved, revised, retired, decided, linked, judged.

    The twenty latest commands that changed something can be taken back, one after the other. The history keeps both.
    """
    undone = undo_last(memory, id)
    return undone, "\n".join(f"{short(one.id)}  undone, it is {one.state} now: {one.title}" for one in undone)


@command()
def forget_command(
    memory: Memory,
    id: Id,  # noqa: A002
    *,
    reason: Annotated[str, Asked("Why (required unless --erase); printed if something similar is written again.")] = "",
    erase: Annotated[bool, Asked("Delete its text permanently, history included. Cannot be undone.")] = False,
    backups: Annotated[bool, Asked("With --erase: also rewrite backups that contain it.")] = False,
    yes: Annotated[bool, Asked("Do not ask before erasing.")] = False,
    as_json: bool = False,
) -> Result:
    """Retire a memory, or erase it permanently.

    A retired memory keeps its history and can be restored; an erased one is deleted from the store and from every copy on this
    machine. Backups are listed, and rewritten on request; the command reports what it cannot reach. Run it again to finish an
    interrupted erasure, or to rewrite backups later.
    """
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
    from holdfast.verbs.upkeep.backups import backups_of, rewrite_backups
    from holdfast.verbs.upkeep.erasing import erase

    erased = erase(memory, reference)
    backups = rewrite_backups(memory, erased) if and_backups else backups_of(memory, erased)
    holding = [f"  {backup.path}" for backup in backups if backup.holds]
    if holding and asks and not and_backups:
        say("\n".join(("These backups still contain it:", *holding)), err=True)
        if agreed("Rewrite them without it?"):
            backups = rewrite_backups(memory, erased)
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
    return value, "\n".join(_erasure_lines(erased, backups))


def _erasure_lines(erased: "Erased", backups: Sequence["Backup"]) -> list[str]:
    """Return what was erased where, what still contains it, and what is out of reach."""
    parts = ", ".join(
        f"{count} {_PLURALS[name]}" if count > 1 and name in _PLURALS else counted(count, name)
        for name, count in erased.reached.items()
    )
    also = f"; also from {parts}" if parts else ""
    lines = [f"{short(id_)}  erased from the journal and every view{also}" for id_ in erased.ids]
    lines += [] if erased.finished else ["Not finished: see below. Run the same command again later."]
    lines += [f"  removed: {path}" for path in erased.files]
    lines += [
        f"  {short(id_)} says the same and was not erased: `holdfast forget {short(id_)} --erase` erases it too"
        for id_ in erased.said_by
    ]
    for backup in backups:
        if backup.problem:
            lines.append(f"  backup {backup.path} still contains it and cannot be rewritten: {backup.problem}")
        elif backup.rewritten:
            lines.append(f"  backup {backup.path} rewritten and checked")
        elif backup.removed:
            lines.append(f"  copy of a damaged store {backup.path} removed: it could not be rewritten")
        elif backup.holds:
            lines.append(f"  backup {backup.path} still contains it")
    if any(backup.holds for backup in backups):
        lines.append(f"  `holdfast forget {erased.ids[0]} --erase --backups` rewrites backups without it")
    reached = "backups kept elsewhere; other machines until they sync."
    return [*lines, f"Not reached: {'; '.join(erased.not_reached)}; {reached}"]


@command()
def restore_command(memory: Memory, id: Id) -> Result:  # noqa: A002
    """Bring back a retired memory. `holdfast store restore` restores a backup."""
    if Path(id).suffix or Path(id).is_file():
        raise Invalid(f"{id} is a file.", hint=f"To replace the store by a backup: holdfast store restore {id}")
    return done("restored", restore(memory, id))


@command()
def history_command(memory: Memory, id: Id) -> Result:  # noqa: A002
    """Show all events of a memory, oldest first."""
    events = history(memory, id)
    return [event_to_json(event) for event in events], lambda: show_history(events)


@command()
def link_command(memory: Memory, source: Id, relation: Relation, target: Id) -> Result:
    """Link a memory to another.

    RELATION is relates_to, depends_on, supersedes, refines, contradicts, elaborates or mentions.
    """
    return done("linked", link(memory, source, relation, target))


@command()
def unlink_command(memory: Memory, source: Id, relation: Relation, target: Id) -> Result:
    """Remove a link between two memories."""
    return done("unlinked", unlink(memory, source, relation, target))


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


@command()
def trust_command(
    memory: Memory,
    id: Id,  # noqa: A002
    *,
    raises: Annotated[bool | None, Asked("Raise or lower the trust.", flag="--raise/--lower")] = None,
    reason: Annotated[str, Asked(f"One of {', '.join(REASONS)}.")] = "",
    delta: Annotated[float | None, Asked("By how much; default: by the reason.", flag="--by")] = None,
    note: Annotated[str, Asked("What was observed.")] = "",
) -> Result:
    """Show the trust in a memory and its reasons; with --raise or --lower, change it."""
    if raises is None and not reason:
        trust = trust_of(memory, id)
    else:
        direction = REASONS[reason] > 0 if raises is None and reason in REASONS else raises is not False
        trust = change_trust(memory, id, reason, raises=direction, delta=delta, note=note)
    return trust, reports.trust_of(trust, PERSON)


@command(group=True)
def hot_command(memory: Memory) -> Result:
    """Show the hot set: the few memories that matter most; or add and remove memories."""
    members = hot.hot_set(memory)
    return members, reports.hot_of(members, PERSON)


@command("suggest", under=hot_command)
def suggest_command(memory: Memory) -> Result:
    """Show memories that are used but not in the set, and why."""
    candidates = hot.suggested(memory)
    return candidates, reports.suggested_of(candidates, PERSON)


def _hot_action(verb: Callable[[Memory, str], list[hot.Hot]], word: str, meaning: str) -> None:
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

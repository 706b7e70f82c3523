"""Commands that save, find, change and judge single memories, and what a write came to."""

import sys
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import click

from holdfast.hosts.cli.command import Result, Words, insist, wants_json
from holdfast.hosts.cli.render import agreed, page, say
from holdfast.hosts.cli.values import fields_of, from_top, stdin_text, teaching_fields, text_or_stdin
from holdfast.hosts.to_json import recalled_to_json
from holdfast.model.errors import Conflict, Invalid
from holdfast.model.ids import short
from holdfast.model.kinds import KINDS, SEPARATE, Asked, Fields
from holdfast.model.query import Query
from holdfast.model.record import GLOBAL, Draft, Record, record_to_json
from holdfast.model.text import counted, shorten
from holdfast.policy.admission.admit import Refused, Similar, Waivers, explain
from holdfast.policy.ranking.weight import REASONS
from holdfast.policy.sessions.triggers import warns_at
from holdfast.surfaces.maps import Terms, mapped
from holdfast.surfaces.phrases import REMEDIES
from holdfast.verbs.exchange.replicas import unsent
from holdfast.verbs.memory import Memory, Report, find
from holdfast.verbs.records import hot
from holdfast.verbs.records.lifecycle import Revision, restore, retire, revise
from holdfast.verbs.records.read import Level, browse, get, hydrate, list_records, list_scopes
from holdfast.verbs.records.write import Written, WrittenPending, write
from holdfast.verbs.search.recall import recall

LABELS = "project everywhere kinds scopes tags session starters since until"
LOGS = ("summary", "observation", "progress", "retrospective")  # what is noted about sessions, not knowledge
SAVED = "kind title fields anchors triggers scopes tags links project confidence source at"
REVISED = "body title kind fields anchors triggers scopes tags confidence visibility"
_ERASED = "status=finished|if:erased:unfinished, id, reached, files, said_by, "
_ERASED += "backups=backups[path, holds, rewritten, removed, problem?], not_reached"


def remember_command(
    memory: Memory,
    text: Words = (),
    *,
    global_: bool = False,
    team: bool = False,
    session: str | None = None,
    force: bool = False,
    transient: bool = False,
    any_scope: bool = False,
    redact: bool = False,
    **asked: Annotated[Any, Fields(Draft, SAVED)],
) -> Result:
    del session  # the memory acts in it
    asked |= {"fields": fields_of(asked["fields"], asked["kind"]), "visibility": "team" if team else "private"}
    asked |= {"project": GLOBAL} if global_ else {}
    draft = Draft.of(text_or_stdin(text), **asked)
    draft = replace(draft, anchors=from_top(memory, draft.anchors))
    with teaching_fields(draft.kind):
        waivers = Waivers(duplicate=force, transient=transient, scope=any_scope)
        outcome = write(memory, draft, waivers=waivers, redact=redact)
    if not isinstance(outcome, Written | WrittenPending):
        return refusal_of(outcome)
    if team and isinstance(outcome, Written) and (why := unsent(memory)):
        outcome = replace(outcome, doubts=(*outcome.doubts, why))
    more: dict[str, Any] = {name: value for name in ("doubts", "why") if (value := getattr(outcome, name, ""))}
    status = "written" if isinstance(outcome, Written) else "pending"
    value = {"status": status, "record": outcome.record, "related": _similar(outcome.related), **more}
    return value, page("saved", outcome.record, outcome.related, **more)


def recall_command(
    memory: Memory,
    text: Words,
    *,
    limit: int | None = None,
    budget: int | None = None,
    why: bool = False,
    **asked: Annotated[Any, Fields(Query, f"{LABELS} as_of words_only mode related weak")],
) -> Result:
    config = memory.config
    asked |= {"limit": limit or config.recall_limit, "budget": budget or config.recall_budget}
    recalled = recall(memory, Query.of(" ".join(text), **asked))
    if recalled.lagging:
        from holdfast.hosts.hooks.hook import wake

        # So that the next question finds them by meaning.
        click.get_current_context().call_on_close(lambda: wake(str(config.home), str(Path.cwd())))
    return recalled_to_json(recalled), page("recalled", recalled, why=why)


def show_command(memory: Memory, id: str, *, as_of: str = "", level: Level = "full") -> Result:
    shown = get(memory, id, at=as_of) if as_of else hydrate(memory, id, level)
    around: dict[str, Any] = {"number": shown.number, "superseded_by": shown.superseded_by, "links": shown.links}
    around |= {"warns_at": places} if (places := warns_at(shown.record)) else {}
    more = {name: value for name in ("freshness", "commit", "files", "left_out") if (value := getattr(shown, name))}
    value = {**record_to_json(shown.record), "around": around, **more}
    return value, page("records", [shown.record]) if level == "summary" else page("record", shown)


def list_command(
    memory: Memory,
    *,
    states: tuple[Literal["active", "pending", "retired"], ...] = (),
    only_scopes: bool = False,
    logs: bool = False,
    limit: int = 20,
    offset: int = 0,
    **asked: Annotated[Any, Fields(Query, LABELS)],
) -> Result:
    if only_scopes:
        counts = list_scopes(memory, everywhere=asked["everywhere"])
        return counts, page("scopes", counts)
    filtered, wanted, hidden = bool(states or offset) or any(asked.values()), states or ("active",), 0
    if not logs and not asked["kinds"]:
        hidden = browse(memory, Query.of(limit=1, **{**asked, "kinds": LOGS}), states=wanted).total
        asked["kinds"] = tuple(kind for kind in KINDS if kind not in (*LOGS, *SEPARATE)) if hidden else ()
    listed = list_records(memory, Query.of(limit=limit, **asked), states=wanted, offset=offset)
    if hidden:
        left_out = f"Not listed: {counted(hidden, 'note')} about sessions. `holdfast list --logs` lists them too."
        listed = replace(listed, notes=(left_out,))
    value = {"total": listed.total, "hidden": hidden, "records": listed.records, "notes": listed.notes}
    return value, page("records", listed.records, listed, filtered=filtered)


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
    memory: Memory, id: str, *, reason: str = "", erase: bool = False, backups: bool = False, yes: bool = False
) -> Result:
    if erase:
        title = shorten(find(memory, id).record.title or "its remains", 60) if not yes else ""
        insist(f"Erase “{title}” and its whole history for good?", yes=yes)
        return _erase(memory, id, and_backups=backups)
    if backups:
        raise Invalid("--backups needs --erase.", hint="A retired memory stays in backups.")
    if not reason.strip():
        raise Invalid("A reason is required.", hint='holdfast forget ID --reason "the service was shut down"')
    return done("forgotten", retire(memory, id, reason))


def _erase(memory: Memory, reference: str, *, and_backups: bool) -> Result:
    from holdfast.verbs.upkeep.erasing import backups_of, erase

    erased = erase(memory, reference)
    backups = backups_of(memory, erased, rewrite=and_backups)
    holding = [f"  {backup['path']}" for backup in backups if backup["holds"]]
    if holding and not and_backups and sys.stdin.isatty() and not wants_json():
        say("\n".join(("These backups still contain it:", *holding)), err=True)
        if agreed("Rewrite them without it?"):
            backups = backups_of(memory, erased, rewrite=True)
    elsewhere = [*erased.not_reached, "backups kept elsewhere", "other machines until they sync"]
    more = {"id": next(iter(erased.ids), ""), "backups": backups, "not_reached": elsewhere}
    value = mapped(_ERASED, (more, erased), None, Terms())
    reached = ", ".join(counted(count, name) for name, count in erased.reached.items())
    return value, page("erased", erased, reached, backups)


def restore_command(memory: Memory, id: str) -> Result:
    if Path(id).suffix or Path(id).is_file():
        raise Invalid(f"{id} is a file.", hint=f"To replace the store by a backup: holdfast store restore {id}")
    return done("restored", restore(memory, id))


def trust_command(
    memory: Memory,
    id: str,
    *,
    raises: bool | None = None,
    reason: Annotated[str, Asked(f"One of {', '.join(REASONS)}.")] = "",
    delta: float | None = None,
    note: str = "",
) -> Report:
    if raises is None and not reason:
        return hot.trust_of(memory, id)
    direction = REASONS[reason] > 0 if raises is None and reason in REASONS else raises is not False
    return hot.change_trust(memory, id, reason, raises=direction, delta=delta, note=note)


def _hot_action(verb: Callable[[Memory, str], list[hot.Vitals]], word: str) -> Callable[[Memory, str], Result]:
    """Return the command that applies a verb to a memory of the hot set, and prints what was done."""

    def act(memory: Memory, id: str) -> Result:
        members, record = verb(memory, id), find(memory, id).record
        size = f"{counted(len(members), 'memory')} in the hot set" if members else "the hot set is empty"
        return members, f"{short(record.id)}  {word}: {record.title} ({size})"

    return act


promote_command, demote_command = _hot_action(hot.promote, "added"), _hot_action(hot.demote, "removed")
pin_command, unpin_command = _hot_action(hot.pin, "pinned"), _hot_action(hot.unpin, "unpinned")


def refusal_of(refused: Refused) -> Result:
    """Return why nothing was saved and what to do; it exits with code 4."""
    refusal = explain(refused, REMEDIES["cli"])
    value: dict[str, Any] = {"status": refusal.code, "message": refusal.reason, "hint": refusal.hint}
    ((name, grounds),) = ((spec.name, getattr(refused, spec.name)) for spec in fields(refused))
    value["secrets" if name == "names" else name] = _similar(grounds) if name == "matches" else list(grounds)
    return value, page("refused", refusal, error=True), Conflict.exit_code


def _similar(similar: tuple[Similar, ...]) -> list[dict[str, Any]]:
    return [
        {"id": item.record.id, "title": item.record.title, "similarity": round(item.similarity, 3)} for item in similar
    ]


def done(what: str, record: Record) -> Result:
    """Return what was done with a memory."""
    return {"status": what, "record": record}, page("linked", what, record)

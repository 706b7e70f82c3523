"""Commands that save and find memories, and what a write came to."""

from dataclasses import fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import click

from holdfast.hosts.cli.command import Result
from holdfast.hosts.cli.render import BELOW, console, hanging, headed, indented, page, show_recalled
from holdfast.hosts.cli.values import fields_of, from_top, teaching_fields, text_or_stdin
from holdfast.hosts.to_json import recalled_to_json
from holdfast.model.errors import Conflict
from holdfast.model.ids import short
from holdfast.model.kinds import KINDS, SEPARATE
from holdfast.model.query import Query
from holdfast.model.record import GLOBAL, Draft, Record, record_to_json
from holdfast.model.request import Fields
from holdfast.model.text import counted
from holdfast.policy.admission.admit import Refused, Similar, Waivers, explain, how_near
from holdfast.policy.sessions.triggers import warns_at
from holdfast.surfaces.phrases import REMEDIES
from holdfast.verbs.exchange.replicas import unsent
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.read import Hydrated, Level, browse, get, hydrate, list_records, list_scopes
from holdfast.verbs.records.write import Outcome, Written, WrittenPending, write
from holdfast.verbs.search.recall import recall

LABELS = "project everywhere kinds scopes tags session starters since until"
LOGS = ("summary", "observation", "progress", "retrospective")  # what is noted about sessions, not knowledge
SAVED = "kind title fields anchors triggers scopes tags links project confidence source at"


def remember_command(
    memory: Memory,
    text: tuple[str, ...] = (),
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
    asked["fields"] = fields_of(asked["fields"], asked["kind"])
    draft = Draft.of(text_or_stdin(text), **asked)
    draft = replace(draft, visibility="team" if team else "private", anchors=from_top(memory, draft.anchors))
    waivers = Waivers(duplicate=force, transient=transient, scope=any_scope)
    with teaching_fields(draft.kind):
        draft = replace(draft, project=GLOBAL) if global_ else draft
        outcome = write(memory, draft, waivers=waivers, redact=redact)
    if team and isinstance(outcome, Written) and (why := unsent(memory)):
        outcome = replace(outcome, doubts=(*outcome.doubts, why))
    return outcome_of(outcome)


def recall_command(
    memory: Memory,
    text: tuple[str, ...],
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
    return recalled_to_json(recalled), lambda: show_recalled(recalled, why=why)


def show_command(memory: Memory, id: str, *, as_of: str = "", level: Level = "full") -> Result:
    hydrated = Hydrated(shown=get(memory, id, at=as_of)) if as_of else hydrate(memory, id, level)
    shown = hydrated.shown
    links = [{"source": arrow.source, "relation": arrow.relation, "target": arrow.target} for arrow in shown.links]
    around = {"number": shown.number, "superseded_by": shown.superseded_by, "links": links}
    around |= {"warns_at": places} if (places := warns_at(shown.record)) else {}
    more = {name: value for name in ("freshness", "commit", "files", "left_out") if (value := getattr(hydrated, name))}
    value = {**record_to_json(shown.record), "around": around, **more}
    return value, page("records", [shown.record]) if level == "summary" else page("record", hydrated)


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
        lines = [f"{count:6}  {scope}" for scope, count in counts.items()]
        return counts, "\n".join(lines) or 'No memory has a scope. Give one: holdfast remember --scope tools "…"'
    filtered, wanted, hidden = bool(states or offset) or any(asked.values()), states or ("active",), 0
    if not logs and not asked["kinds"]:
        hidden = browse(memory, Query.of(limit=1, **{**asked, "kinds": LOGS}), states=wanted).total
        asked["kinds"] = tuple(kind for kind in KINDS if kind not in (*LOGS, *SEPARATE)) if hidden else ()
    listed = list_records(memory, Query.of(limit=limit, **asked), states=wanted, offset=offset)
    notes = (f"Not listed: {counted(hidden, 'note')} about sessions. `holdfast list --logs` lists them too.",)
    value = {"total": listed.total, "hidden": hidden, "records": listed.records}
    shown = replace(listed, notes=notes) if hidden else listed
    return value, page("records", listed.records, shown, filtered=filtered)


def outcome_of(outcome: Outcome) -> Result:
    """Return what a write came to, as JSON and printed; a rejection exits with code 4."""
    match outcome:
        case Written(record=record, related=related, doubts=doubts):
            status, word, why = "written", "saved: ", ""
        case WrittenPending(record=record, related=related, why=why):
            status, word, doubts = "pending", "pending approval: ", ()
        case refused:
            return refusal_of(refused)

    def draw() -> None:
        out, id_ = console(), short(record.id)
        hanging(out, headed(record, word), BELOW)
        if why:
            indented(out, f"because {why}", 2, style="yellow")
            indented(out, f"to approve: holdfast review approve {id_}", 4, style="dim")
            indented(out, f"to reject:  holdfast review reject {id_}", 4, style="dim")
        if places := warns_at(record):
            indented(out, f"warns at {places}", 2, style="dim")
        for doubt in doubts:
            indented(out, f"warning: {doubt}", 2, style="yellow")
        for near in related:
            indented(out, f"{how_near(near)}: {short(near.record.id)}  {near.record.title}", 2, style="dim")

    more = {name: value for name, value in (("doubts", doubts), ("why", why)) if value}
    return {"status": status, "record": record, "related": _similar(related), **more}, draw


def refusal_of(refused: Refused) -> Result:
    """Return why nothing was saved and what to do."""
    refusal = explain(refused, REMEDIES["cli"])
    value: dict[str, Any] = {"status": refusal.code, "message": refusal.reason, "hint": refusal.hint}
    (name,) = (spec.name for spec in fields(refused))
    grounds = getattr(refused, name)
    value["secrets" if name == "names" else name] = _similar(grounds) if name == "matches" else list(grounds)
    return value, page("refused", refusal, error=True), Conflict.exit_code


def _similar(similar: tuple[Similar, ...]) -> list[dict[str, Any]]:
    return [
        {"id": item.record.id, "title": item.record.title, "similarity": round(item.similarity, 3)} for item in similar
    ]


def done(what: str, record: Record) -> Result:
    """Return what was done with a memory."""
    return {"status": what, "record": record}, lambda: hanging(console(), headed(record, f"{what}: "), BELOW)

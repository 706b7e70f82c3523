"""Commands that save and find memories."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from holdfast.hosts.cli.options import (
    fields_of,
    from_top,
    label_options,
    opened,
    teaching_fields,
    text_or_stdin,
)
from holdfast.hosts.cli.outcome import present
from holdfast.hosts.cli.render import (
    json_option,
    print_json,
    recalled_to_json,
    show_list,
    show_recalled,
    show_record,
    working,
)
from holdfast.hosts.cli.values import DATE, KIND, MEMORY, SCOPE
from holdfast.hosts.to_json import plain
from holdfast.model.fence import visible
from holdfast.model.kinds import KINDS, SEPARATE
from holdfast.model.query import MODES, Query
from holdfast.model.record import GLOBAL, Draft, Link, record_to_json
from holdfast.policy.admission.admit import Waivers
from holdfast.policy.sessions.triggers import warns_at
from holdfast.verbs.records.read import get, list_records, list_scopes
from holdfast.verbs.records.write import write
from holdfast.verbs.search.recall import recall
from holdfast.verbs.search.timeline import timeline
from holdfast.verbs.truth.hydrate import LEVELS, Hydrated, Level, hydrate

TRIGGER_HELP = "Warn at this command or edit, such as `git push --force`, `pytest unless uv run pytest` or src/api/*.py; repeatable."

_KINDS = ", ".join(kind for kind in KINDS if kind not in SEPARATE)


@click.command("remember")
@click.argument("text", nargs=-1)
@click.option("--kind", type=KIND, default="fact", show_default=True, help=f"What it is: {_KINDS}.")
@click.option("--title", default="", help="A headline; default: taken from the text.")
@click.option(
    "--field", "pairs", multiple=True, metavar="NAME=VALUE", help="A field of the kind; repeat a name to make a list."
)
@click.option(
    "--anchor",
    "anchors",
    multiple=True,
    help="Code it cites: path, path::symbol, path:L3-L9, path::NAME=5, !gone.py, version:click=8.2; repeatable.",
)
@click.option("--trigger", "triggers", multiple=True, help=TRIGGER_HELP)
@click.option(
    "--scope", "scopes", type=SCOPE, multiple=True, help="A scope such as tools or projects:shop; repeatable."
)
@click.option("--tag", "tags", multiple=True, help="A tag; repeatable.")
@click.option(
    "--link", "links", multiple=True, metavar="RELATION:ID", help="Link to another memory, as in supersedes:01HX…"
)
@click.option("--project", help="Another project than the current one.")
@click.option("--global", "everywhere", is_flag=True, help="True in every project.")
@click.option("--team", is_flag=True, help="Share it with the team of the repository.")
@click.option("--confidence", default="medium", show_default=True, help="high, medium or low.")
@click.option("--source", default="explicit", show_default=True, help="explicit, correction, inferred, observed, …")
@click.option("--at", type=DATE, default="", help="When it happened, if not now.")
@click.option("--session", help="Session it belongs to.")
@click.option("--force", is_flag=True, help="Save it although there is a duplicate.")
@click.option("--transient", is_flag=True, help="Save it although its wording suggests that it will change.")
@click.option("--any-scope", is_flag=True, help="Save it although it names another project.")
@click.option("--redact", is_flag=True, help="Mask secrets instead of rejecting.")
@json_option
def remember_command(
    text: tuple[str, ...],
    pairs: tuple[str, ...],
    links: tuple[str, ...],
    project: str | None,
    session: str | None,
    everywhere: bool,
    team: bool,
    force: bool,
    transient: bool,
    any_scope: bool,
    redact: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Save a memory for later sessions.

    TEXT is what to remember; `-` reads it from stdin.

    \b
    holdfast remember "The API rate limit is 60 requests a minute."
    holdfast remember --kind decision --field rationale="one file" "Use SQLite."
    holdfast remember --trigger "git push --force" "It wiped two days of work."
    git log -1 --format=%B | holdfast remember --kind learning -
    """
    draft = Draft(
        body=text_or_stdin(text),
        fields=fields_of(pairs, options["kind"]),
        links=tuple(
            Link(relation=relation, target=target) for relation, _, target in (link.partition(":") for link in links)
        ),
        project=GLOBAL if everywhere else project,
        visibility="team" if team else "private",
        **options,
    )
    waivers = Waivers(duplicate=force, transient=transient, scope=any_scope)
    with opened(session=session) as memory, teaching_fields(draft.kind):
        draft = replace(draft, anchors=from_top(memory, draft.anchors))
        present(write(memory, draft, waivers=waivers, redact=redact), as_json=as_json)


@click.command("recall")
@click.argument("text", nargs=-1, required=True)
@label_options
@click.option("--as-of", type=DATE, default="", help="As things stood at this date.")
@click.option("--limit", type=click.IntRange(1, 100), help="Maximum number of results.")
@click.option("--budget", type=click.IntRange(1), help="Maximum tokens of the results.")
@click.option("--words", "words_only", is_flag=True, help="Search by words only: starts faster, needs no encoder.")
@click.option(
    "--mode",
    type=click.Choice(MODES),
    default="balanced",
    show_default=True,
    help="How well a result must match.",
)
@click.option("--related", is_flag=True, help="Also list memories linked to the best results.")
@click.option("--weak", is_flag=True, help="Also list weak matches.")
@click.option("--why", is_flag=True, help="Also show the signals that each result was ranked by.")
@json_option
def recall_command(
    text: tuple[str, ...], limit: int | None, budget: int | None, why: bool, as_json: bool, **options: Any
) -> None:
    """Search memories by word and by meaning.

    Searches this project and global memories, and reports when there is no good match.

    \b
    holdfast recall how do we deploy
    holdfast recall --kind scar "database migration"
    holdfast recall --as-of 2026-01-01 which queue do we use
    """
    with opened() as memory:
        config = memory.config
        query = Query(
            text=" ".join(text), limit=limit or config.recall_limit, budget=budget or config.recall_budget, **options
        )
        with working("searching"):
            recalled = recall(memory, query)
    if as_json:
        print_json(recalled_to_json(recalled))
    else:
        show_recalled(recalled, why=why)
    if recalled.lagging:
        from holdfast.hosts.hooks.hook import wake

        wake(str(config.home), str(Path.cwd()))  # so that the next question finds them by meaning


@click.command("show")
@click.argument("id", type=MEMORY)
@click.option("--as-of", type=DATE, default="", help="As it stood at this date.")
@click.option(
    "--level",
    type=click.Choice(LEVELS),
    default="full",
    show_default=True,
    help="A line, everything, or everything with the cited files as they were then.",
)
@json_option
def show_command(id: str, as_of: str, level: Level, as_json: bool) -> None:  # noqa: A002
    """Show a memory in full. ID is the one that is shown, or the whole id."""
    with opened() as memory:
        hydrated = Hydrated(shown=get(memory, id, at=as_of)) if as_of else hydrate(memory, id, level)
    shown = hydrated.shown
    if as_json:
        links = [{"source": arrow.source, "relation": arrow.relation, "target": arrow.target} for arrow in shown.links]
        around = {"number": shown.number, "superseded_by": shown.superseded_by, "links": links}
        around |= {"warns_at": warns_at(shown.record)} if warns_at(shown.record) else {}
        more = {name: plain(getattr(hydrated, name)) for name in ("freshness", "commit", "files", "left_out")}
        print_json(
            {**record_to_json(shown.record), "around": around, **{name: value for name, value in more.items() if value}}
        )
    elif level == "summary":
        show_list([shown.record], total=1)
    else:
        show_record(hydrated)


@click.command("list")
@label_options
@click.option(
    "--state",
    "states",
    multiple=True,
    type=click.Choice(["active", "pending", "retired"]),
    help="Also these; repeatable.",
)
@click.option("--scopes", "only_scopes", is_flag=True, help="List the scopes in use instead.")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 1000), help="Maximum number to list.")
@click.option("--offset", default=0, type=click.IntRange(0), help="How many to skip.")
@json_option
def list_command(states: tuple[str, ...], only_scopes: bool, offset: int, as_json: bool, **options: Any) -> None:
    """List memories, newest first."""
    with opened() as memory:
        if only_scopes:
            _show_scopes(list_scopes(memory, everywhere=options["everywhere"]), as_json=as_json)
            return
        page = list_records(memory, Query(text="", **options), states=states or ("active",), offset=offset)
    if as_json:
        print_json({"total": page.total, "records": [record_to_json(record) for record in page.records]})
    else:
        filtered = bool(states) or any(value for name, value in options.items() if name != "limit")
        show_list(page.records, total=page.total, filtered=filtered, notes=page.notes)


@click.command("timeline")
@click.argument("about", nargs=-1, required=True)
@click.option("--before", default=5, show_default=True, type=click.IntRange(0, 100), help="How many earlier ones.")
@click.option("--after", default=5, show_default=True, type=click.IntRange(0, 100), help="How many later ones.")
@json_option
def timeline_command(about: tuple[str, ...], before: int, after: int, as_json: bool) -> None:
    """Show the memories saved before and after a memory (an id), or the best result of a search."""
    with opened() as memory:
        records = timeline(memory, " ".join(about), before=before, after=after)
    if as_json:
        print_json([record_to_json(record) for record in records])
    else:
        show_list(records, total=len(records))


def _show_scopes(counts: dict[str, int], *, as_json: bool) -> None:
    if as_json:
        print_json(counts)
        return
    if not counts:
        print('No memory has a scope. Give one: holdfast remember --scope tools "…"')
    for scope, count in counts.items():
        print(visible(f"{count:6}  {scope}"))

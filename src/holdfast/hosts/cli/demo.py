"""`holdfast demo`: a store to look around in before there is one of your own."""

import shlex
from pathlib import Path

import click

from holdfast.hosts.cli.options import opened
from holdfast.hosts.cli.render import json_option, show, working
from holdfast.model.errors import Conflict
from holdfast.model.ids import parse_instant
from holdfast.verbs.exchange.demo import PROJECT, Contents, contents_of, load_demo

SIDE = "github.com/fernhill/label-printer"
TRY = (
    ('holdfast recall "how do I run the backend tests"', "ask what a newcomer asks"),
    ('holdfast recall "what to watch for when migrating the orders table"', "a lesson learned the hard way"),
    ('holdfast recall "which search engine do we use"', "the decision that holds, not those it replaced"),
    ('holdfast recall "which port does the service listen on"', "two answers that contradict each other"),
    (f'holdfast recall "which port does the service listen on" --project {SIDE}', "another project stays apart"),
    ('holdfast brief "change how refunds are booked"', "what a sub-agent should know first"),
    ("holdfast session list", "who worked on what"),
    ("holdfast thread triage", "unfinished work by the stage of its life"),
    ("holdfast stats analyze", "what sessions add up to, and which lessons are ignored"),
    ("holdfast stats health", "what to look after first"),
    ("holdfast review contradictions", "what cannot both be true"),
    ("holdfast review duplicates", "what should become one"),
    ("holdfast ingest absorb --candidates", "what may be worth a lesson"),
)


@click.command("demo")
@click.argument("folder", type=click.Path(path_type=Path), default="holdfast-demo")
@click.option("--until", default="", metavar="DATE", help="When the story ends; now unless given.")
@json_option
def demo_command(folder: Path, until: str, as_json: bool) -> None:
    """Load a store to look around in: three months of a made-up team, in a new FOLDER.

    \b
    holdfast demo
    holdfast demo ~/demo
    """
    place = folder.resolve()
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise Conflict(f"{place} is not empty.", hint="Name a new folder: holdfast demo FOLDER")
    with opened(home=str(place), project=PROJECT, database="") as memory:
        with working("loading the sample store"):
            load_demo(memory, parse_instant(until) if until else memory.clock.now())
        contents = contents_of(memory, place)
    show(contents, f"{_contents(contents)}\n\n{_to_try(contents)}", as_json=as_json)


def _contents(contents: Contents) -> str:
    lines = {
        "store": contents.folder,
        "memories": f"{contents.records:,}: {_counts(contents.kinds)}",
        "projects": _counts(contents.projects),
        "states": _counts(contents.states),
        "sessions": f"{contents.sessions}, {contents.open_sessions} never closed, {contents.transcripts} with a transcript",
        "threads": _counts(contents.threads),
        "journal": f"{contents.events:,} events",
        "search": _search(contents),
    }
    return "\n".join(f"{name:<9} {line}" for name, line in lines.items())


def _search(contents: Contents) -> str:
    if not contents.without_vectors:
        return "by words and by meaning"
    return (
        f"by words; {contents.without_vectors:,} memories have no vectors (`holdfast store rebuild vectors --missing`)"
    )


def _to_try(contents: Contents) -> str:
    settings = {"HOLDFAST_HOME": contents.folder, "HOLDFAST_PROJECT": contents.project}
    exports = [f"  export {name}={shlex.quote(value)}" for name, value in settings.items()]
    return "\n".join(["To look around:", *exports, *(f"  {one}\n      {why}" for one, why in TRY)])


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items())

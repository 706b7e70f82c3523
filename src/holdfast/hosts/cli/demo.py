"""`holdfast demo`: a store to look around in before there is one of your own."""

import shlex
import time
from datetime import datetime
from pathlib import Path

import click

from holdfast.hosts.cli.render import json_option, progress, show
from holdfast.hosts.demo.build import LEAST_DAYS, MOST_DAYS, SEED, Built, build
from holdfast.model.ids import parse_instant

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
    ("holdfast analyze", "what sessions add up to, and which lessons are ignored"),
    ("holdfast health", "what to look after first"),
    ("holdfast contradictions", "what cannot both be true"),
    ("holdfast duplicates", "what should become one"),
    ("holdfast absorb --candidates", "what may be worth a lesson"),
    ("holdfast rebuild vectors --missing", "search by meaning too (half a minute)"),
)


@click.command("demo")
@click.argument("folder", type=click.Path(path_type=Path), default="holdfast-demo")
@click.option("--days", default=90, show_default=True, type=click.IntRange(LEAST_DAYS, MOST_DAYS), help="How many.")
@click.option("--seed", default=SEED, show_default=True, help="The same seed makes the same store.")
@click.option("--until", default="", metavar="DATE", help="When the story ends; now unless given.")
@json_option
def demo_command(folder: Path, days: int, seed: int, until: str, as_json: bool) -> None:
    """Build a store to look around in: three months of a made-up team, in a new FOLDER.

    \b
    holdfast demo
    holdfast demo ~/demo --days 30
    """
    end = datetime.fromisoformat(parse_instant(until)).timestamp() if until else time.time()
    with progress("playing the story", None, quiet=as_json) as moved:
        built = build(folder.resolve(), until=end, days=days, seed=seed, progress=lambda done, _all: moved(done))
    show(built, f"{_contents(built)}\n\n{_to_try(built)}", as_json=as_json)


def _contents(built: Built) -> str:
    lines = {
        "store": built.folder,
        "memories": f"{built.records:,}: {_counts(built.kinds)}",
        "projects": _counts(built.projects),
        "states": _counts(built.states),
        "sessions": f"{built.sessions}, {built.open_sessions} never closed, {built.transcripts} with a transcript",
        "threads": _counts(built.threads),
        "journal": f"{built.events:,} events",
    }
    return "\n".join(f"{name:<9} {line}" for name, line in lines.items())


def _to_try(built: Built) -> str:
    width = max(len(command) for command, _ in TRY)
    settings = {"HOLDFAST_HOME": built.folder, "HOLDFAST_PROJECT": built.project}
    export = " ".join(f"{name}={shlex.quote(value)}" for name, value in settings.items())
    return "\n".join(["To look around:", f"  export {export}", *(f"  {one:<{width}}  # {why}" for one, why in TRY)])


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items())

"""`python3 dev.py bench`: measure the figures of the documentation on this machine."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

data_option = click.option(
    "--data",
    required=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of the labelled sets (*.json.gz).",
)
cache_option = click.option(
    "--cache",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keep vectors here, so that a second run takes seconds.",
)


@click.group()
def bench() -> None:
    """Measure retrieval quality and speed on this machine.

    Every figure is CPU time or a ratio, printed next to a baseline measured in the same run.
    """


@bench.command("retrieval")
@data_option
@click.option("--set", "names", multiple=True, help="Only this set; repeatable.")
@cache_option
@click.option("--postgres", "url", help="Also on a PostgreSQL server by its URL; - starts one from PyPI.")
def retrieval(data: Path, names: tuple[str, ...], cache: Path | None, url: str | None) -> None:
    """Measure how well the right memory is found. Exit code 1 if a bar is missed."""
    from bench.quality import SETS, run

    if not run(data, names or SETS, cache, url="" if url == "-" else url):
        raise click.exceptions.Exit(1)


@bench.command("abstention")
@data_option
@cache_option
@click.option(
    "--mode",
    type=click.Choice(["precision", "balanced", "exploratory"]),
    default="balanced",
    show_default=True,
    help="How well an answer must fit.",
)
def abstention(data: Path, cache: Path | None, mode: Any) -> None:
    """Measure how often a recall correctly reports that nothing fits, at several sizes."""
    from bench.abstention import run

    run(data, cache, mode)


files_argument = click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))


@bench.command("qa")
@files_argument
@click.option(
    "--half", type=click.Choice(["dev", "test", "all"]), default="dev", show_default=True, help="Which teams."
)
@cache_option
def qa(files: tuple[Path, ...], half: str, cache: Path | None) -> None:
    """Measure questions to small teams, many of them close but unanswerable: FILES of teams, those held out from training unless given."""
    from bench.qa import run

    run(files, half, cache)


@bench.command("fit")
@files_argument
@click.option("--data", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Folder of labelled sets.")
@click.option(
    "--reader",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of a classifier that was not trained on FILES.",
)
@cache_option
def fit(files: tuple[Path, ...], data: Path | None, reader: Path | None, cache: Path | None) -> None:
    """Fit the weights that make a probability of a candidate's fit, on the development half of FILES and on labelled sets."""
    from bench.qa import fit as fit_weights

    fit_weights(files, data, cache, reader)


@bench.command("languages")
def languages() -> None:
    """Measure recall in nine languages and across them, and how often off-topic questions are refused."""
    from bench.questions import run_languages

    run_languages()


@bench.command("teams")
def teams() -> None:
    """Measure questions to the notes of small teams, some in short forms, and how often off-topic ones are refused."""
    from bench.questions import run_teams

    run_teams()


@bench.command("first")
def first() -> None:
    """Measure the first questions to an almost empty store. Exit code 1 if one is not answered."""
    from bench.questions import run_first

    if not run_first():
        raise click.exceptions.Exit(1)


@bench.command("needles")
@click.option(
    "--size", "names", multiple=True, type=click.Choice(["1k", "10k", "100k"]), help="Repeatable; 1k unless given."
)
@cache_option
def needles(names: tuple[str, ...], cache: Path | None) -> None:
    """Measure whether five words of a memory find it among look-alikes. Exit code 1 below 0.99.

    Every memory is embedded: 10k take minutes, 100k most of an hour, unless --cache has their vectors.
    """
    from bench.needles import run

    if not run(names or ("1k",), cache):
        raise click.exceptions.Exit(1)


@bench.command("classifier")
@click.option("--half", type=click.Choice(["dev", "test"]), default="dev", show_default=True, help="Which half.")
def classifier(half: str) -> None:
    """Measure what the classifier makes of sentences and pairs it was not trained on. Exit code 1 if a bar is missed."""
    from bench.classifier import run

    if not run(half):
        raise click.exceptions.Exit(1)


@bench.command("contradictions")
def contradictions() -> None:
    """Measure how well contradicting memories are distinguished from similar ones. Exit code 1 if a bar is missed."""
    from bench.labelled import run_contradictions

    if not run_contradictions():
        raise click.exceptions.Exit(1)


@bench.command("mining")
def mining() -> None:
    """Measure how well knowledge is distinguished from chatter in session logs. Exit code 1 if a bar is missed."""
    from bench.labelled import run_mining

    if not run_mining():
        raise click.exceptions.Exit(1)


@bench.command("pasted")
def pasted() -> None:
    """Measure how well pasted text is told from the user's own words. Exit code 1 if a bar is missed."""
    from bench.labelled import run_pasted

    if not run_pasted():
        raise click.exceptions.Exit(1)


@bench.command("signals")
def signals() -> None:
    """Measure how well statements worth storing are distinguished from talk. Exit code 1 if a bar is missed."""
    from bench.labelled import run_signals

    if not run_signals():
        raise click.exceptions.Exit(1)


@bench.command("warnings")
@click.option("--show", is_flag=True, help="Print each wrong answer.")
def warnings(show: bool) -> None:
    """Measure at which commands a scar warns and at which it must not. Exit code 1 if a bar is missed."""
    from bench.warnings import run

    if not run(show=show):
        raise click.exceptions.Exit(1)


@bench.command("capture")
@click.option("--verbose", is_flag=True, help="Print every wrong answer.")
def capture(verbose: bool) -> None:
    """Measure which statements of users and conclusions of agents are kept. Exit code 1 if a target is missed."""
    from bench.capture import run

    if not run(verbose=verbose):
        raise click.exceptions.Exit(1)


@bench.command("briefs")
@click.option(
    "--set",
    "names",
    multiple=True,
    type=click.Choice(["sessions", "openings", "times", "times, second set", "questions"]),
    help="Repeatable; all unless given.",
)
@click.option("--verbose", is_flag=True, help="Print what the first half misses.")
def briefs(names: tuple[str, ...], verbose: bool) -> None:
    """Measure whether the next session begins with what it needs. Exit code 1 if a goal is missed."""
    from bench.briefs import SETS, run

    if not run(names or tuple(SETS), verbose=verbose):
        raise click.exceptions.Exit(1)


@bench.command("knowledge")
def knowledge() -> None:
    """Measure conflicts of a write, contradictions and duplicates at 2,000 and 100,000 records, mining. Exit code 1 if a target is missed."""
    from bench.knowledge import run

    if not run():
        raise click.exceptions.Exit(1)


@bench.command("speed")
@click.option(
    "--size",
    "names",
    multiple=True,
    type=click.Choice(["1k", "10k", "100k", "1m"]),
    help="Repeatable; 1k, 10k and 100k unless given. 1m takes about an hour of CPU.",
)
def speed(names: tuple[str, ...]) -> None:
    """Measure open, write, import and recall at several sizes."""
    from bench.speed import run

    run(list(names or ("1k", "10k", "100k")))


@bench.command("scale")
@click.option("--records", "sizes", multiple=True, type=int, help="Repeatable; 100000 unless given.")
@click.option("--projects", default=100, show_default=True, help="How many they are in.")
@click.option("--clients", default=16, show_default=True, help="How many ask and write at once.")
@click.option(
    "--engine", "engines", multiple=True, type=click.Choice(["sqlite", "postgres"]), help="Both unless given."
)
@click.option("--no-graph", is_flag=True, help="Without the graph of vectors, and so only inside projects.")
@click.option("--url", default="", help="A PostgreSQL server; one from PyPI is started unless given.")
@click.option("--keep", default="", help="Keep the store in this schema of --url; if it is there, measure it again.")
@click.option("--json", "out", type=click.Path(dir_okay=False, path_type=Path), help="Keep the figures here.")
@click.option("--plot", type=click.Path(dir_okay=False, path_type=Path), help="Draw them here, as SVG.")
def scale(
    sizes: tuple[int, ...],
    projects: int,
    clients: int,
    engines: tuple[str, ...],
    no_graph: bool,
    url: str,
    keep: str,
    out: Path | None,
    plot: Path | None,
) -> None:
    """Measure how cost grows with the store, on both engines, with many clients at once.

    A million records take about an hour.
    """
    from bench.plot import draw
    from bench.scale import run

    chosen = engines or ("sqlite", "postgres")
    found = run(
        sizes or (100_000,),
        projects=projects,
        clients=clients,
        engines=chosen,
        url=url,
        out=out,
        graph=not no_graph,
        keep=keep,
    )
    if plot:
        plot.write_text(draw(found), encoding="utf-8")


@bench.command("import")
@click.option("--records", default=10_000, show_default=True, help="How many of each format.")
def importing(records: int) -> None:
    """Import made-up stores of other systems twice and compare every text. Exit code 1 if a bar is missed."""
    from bench.importing import run

    if not run(records):
        raise click.exceptions.Exit(1)


@bench.command("fresh")
def fresh() -> None:
    """Measure what a new process costs until its first answer."""
    from bench.speed import fresh as measure

    measure()


repositories_option = click.option(
    "--repositories",
    required=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of clones, named owner+name.",
)


@bench.command("pairs")
def pairs() -> None:
    """Measure which pairs of memories contradict or repeat each other, in several languages. Exit code 1 if a target is missed."""
    from bench.pairs import run

    if not run():
        raise click.exceptions.Exit(1)


@bench.command("commits")
@repositories_option
def commits(repositories: Path) -> None:
    """Count good, junk and wrong records learned from six public histories, graded by hand. Exit code 1 if a target is missed."""
    from bench.commits import run

    if not run(repositories):
        raise click.exceptions.Exit(1)


@bench.command("mentions")
@repositories_option
@click.option("--verbose", is_flag=True, help="Print every verdict.")
def mentions(repositories: Path, verbose: bool) -> None:
    """Measure verdicts about code that texts name in their own words, over real histories. Exit code 1 if one is falsely fresh."""
    from bench.mentions import run

    if not run(repositories, verbose=verbose):
        raise click.exceptions.Exit(1)


@bench.command("freshness")
def freshness() -> None:
    """Measure false alarms and misses of verdicts about cited code, and what a page of hits costs. Exit code 1 if a target is missed."""
    from bench.freshness import run

    if not run():
        raise click.exceptions.Exit(1)


@bench.command("mcp")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def mcp(as_json: bool) -> None:
    """Measure the MCP server: start, recall at 10,000 records, memory. Exit code 1 if a target is missed."""
    from bench.server import run

    if not run(as_json=as_json):
        raise click.exceptions.Exit(1)


@bench.command("peers")
@click.option("--system", "names", multiple=True, help="Only this system, by the start of its name; repeatable.")
@click.option(
    "--size",
    "sizes",
    multiple=True,
    default=(1_000, 10_000),
    show_default=True,
    type=click.IntRange(20),
    help="Memories at which to measure; repeatable.",
)
@click.option(
    "--minutes",
    default=3.0,
    show_default=True,
    help="At most, to fill a store up to each size; vectors of 10,000 take longer.",
)
@click.option(
    "--folder", type=click.Path(path_type=Path), help="Where systems are installed and kept for the next run."
)
def peers(names: tuple[str, ...], sizes: tuple[int, ...], minutes: float, folder: Path | None) -> None:
    """Measure other memory servers and this one in the same way, within an hour (installs them; needs a network)."""
    from bench.peers import SYSTEMS, run

    chosen = [system for system in SYSTEMS if system.lower().startswith(tuple(map(str.lower, names)))]
    if names and not chosen:
        raise click.UsageError(f"no such system; there are {', '.join(SYSTEMS)}")
    run(chosen if names else list(SYSTEMS), sizes, minutes, folder and folder.resolve())


@bench.command("present")
@click.option("--rounds", default=5, show_default=True, help="Changes of each kind and delay.")
@click.option("--minute", is_flag=True, help="Also changes made a minute before.")
@click.option("--kind", "kinds", multiple=True, help="Only this kind of change; repeatable.")
def present(rounds: int, minute: bool, kinds: tuple[str, ...]) -> None:
    """Measure whether a session begins with what is true now. Exit code 1 if a target is missed."""
    from bench.present import run

    if not run(rounds=rounds, delays=(0, 1, 5, 60) if minute else (0, 1, 5), kinds=kinds):
        raise click.exceptions.Exit(1)


@bench.command("hooks")
@click.option(
    "--storm", "events", type=int, help="Also tell so many events from eight processes while workers are killed."
)
def hooks(events: int | None) -> None:
    """Measure what each hook costs next to a bare interpreter. Exit code 1 if a target is missed or data is lost."""
    from bench.hooks import run, storm

    fine = run()
    if (events and not storm(events=events)) or not fine:
        raise click.exceptions.Exit(1)


@bench.command("replicas")
@click.option("--size", default=10_000, show_default=True, help="How many records.")
def replicas(size: int) -> None:
    """Measure markdown files and git notes: scan, write, read. Exit code 1 if the target is missed."""
    from bench.replicas import run

    if not run(size=size):
        raise click.exceptions.Exit(1)


@bench.command("durability")
@click.option("--rounds", default=20, show_default=True, help="How often a writer is killed.")
def durability(rounds: int) -> None:
    """Write from four servers at once, then kill one in the middle; count what was lost."""
    from bench.durability import CHECKOUT, concurrent, killed
    from bench.stdio import Place

    with TemporaryDirectory() as first, TemporaryDirectory() as second:
        at_once = concurrent(Place(CHECKOUT, Path(first), Path(first)), each=250)
        kills = killed(Place(CHECKOUT, Path(second), Path(second)), rounds)
    print(f"4 servers at once, acknowledged writes lost: {at_once}")
    print(f"kill -9, acknowledged writes lost: {kills}")
    if at_once.lost or at_once.errors or kills.lost:
        raise click.exceptions.Exit(1)


@bench.command("secrets")
def secrets() -> None:
    """Measure how well credentials are distinguished from look-alikes. Exit code 1 if a bar is missed."""
    from bench.leaks import run

    if not run():
        raise click.exceptions.Exit(1)


@bench.command("web")
@click.option("--records", default=100_000, show_default=True, type=click.IntRange(1_000), help="How many.")
def web(records: int) -> None:
    """Measure what each page of the viewer costs. Exit code 1 if a target is missed."""
    from bench.web import run

    if not run(records):
        raise click.exceptions.Exit(1)


@bench.command("sessions")
@click.argument("url")
@click.option("--key", envvar="HOLDFAST_KEY", required=True, help="A key to write; or HOLDFAST_KEY.")
@click.option("--project", required=True, help="A project the key opens: it is written to.")
@click.option("--sessions", default=1000, show_default=True, help="How many at once.")
def sessions_at_once(url: str, key: str, project: str, sessions: int) -> None:
    """Run many sessions at once on a server (`holdfast server run`). Exit code 1 if any of them failed."""
    from bench.sessions import run

    if not run(url, key, project, sessions):
        raise click.exceptions.Exit(1)


@bench.command("poisoning")
def poisoning() -> None:
    """Try some forty attacks, each on its own store, next to plain concatenation. Exit code 1 if one succeeds."""
    from bench.poisoning import run

    if not run():
        raise click.exceptions.Exit(1)


if __name__ == "__main__":
    bench(prog_name="python3 dev.py bench")

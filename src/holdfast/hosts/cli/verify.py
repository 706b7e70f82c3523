"""`holdfast verify` and `holdfast check`: compare memories with the code; and reports in the forms that CI systems show."""

import json
import os
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal
from urllib.parse import quote
from xml.sax.saxutils import quoteattr

import click

from holdfast import __version__
from holdfast.compose.adapters import committed_memories
from holdfast.compose.settings import store_folder
from holdfast.hosts.cli.command import FOUND, Result, Words, opened, settings, wants_json
from holdfast.hosts.cli.render import json_text, page, working
from holdfast.hosts.cli.values import from_top
from holdfast.model.errors import Invalid
from holdfast.model.files import FILE
from holdfast.model.ids import short
from holdfast.model.text import counted, visible
from holdfast.verbs.memory import Memory, Report
from holdfast.verbs.truth.verify import Falsified, check_all, check_change, place_of, verify

RULE = "memory-untrue"
REMEDY = "Revise, verify or forget the memory in the same change."
Form = Literal["text", "json", "github", "sarif", "junit", "gitlab"]
BASES = ("GITHUB_BASE_REF", "CI_MERGE_REQUEST_DIFF_BASE_SHA", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME")


def verify_command(
    memory: Memory, id: str = "", *, note: str = "", anchors: Words = (), all_: bool = False, quiet: bool = False
) -> Result:
    if all_ == bool(id):
        raise Invalid("Pass either an id or --all.", hint="--all checks every memory of the project.")
    if id:
        record = verify(memory, id, note=note, anchors=from_top(memory, anchors) or None)
        return {"status": "verified", "record": record}, f"{short(record.id)} verified: {record.title}"
    checked = check_all(memory)
    outdated = any(item["action"] in ("forget", "revise") for item in checked)
    return checked, page("verified", checked, quiet=quiet), FOUND if outdated else 0


def check_command(*, base: str = "", all_: bool = False, format_: Form = "text", output: Path | None = None) -> Result:
    form, base = "json" if wants_json() else format_, base or next(filter(None, map(os.environ.get, BASES)), "")
    if output and form == "text":
        raise Invalid("--output needs a --format.", hint="Pass --format sarif, junit, gitlab, github or json.")
    config = settings().config
    is_empty = not config.database and not (store_folder(config, Path.cwd()) / FILE).exists()
    with ExitStack() as stack:
        # Without a store in an empty one: a check leaves none behind.
        elsewhere = stack.enter_context(TemporaryDirectory()) if is_empty else None
        memory = stack.enter_context(opened(home=elsewhere))
        if not memory.checkout.in_git():
            raise Invalid(
                "This folder is in no git repository, or git does not trust its owner.",
                hint='Run it in a checkout. In a container: git config --global --add safe.directory "$PWD"',
            )
        if not memory.checkout.commit_of("HEAD"):
            click.echo("There is no commit yet, so there is nothing to compare with.", err=True)
            return None
        compared = base or memory.checkout.default_branch
        commit = _base_commit(memory, compared)
        with working("comparing memories with the code"):
            change = check_change(memory, commit, committed_memories(memory, commit), everything=all_)
    if form == "text" or output:
        page("change", change, _summary(change, compared))()
    if form != "text":
        text = report(form, change, compared)
        try:
            output.write_text(text + "\n", encoding="utf-8") if output else print(text)
        except OSError as problem:
            raise Invalid(f"{output} cannot be written: {problem.strerror}.") from problem
    if change["broken"]:
        raise click.exceptions.Exit(FOUND)
    return None


def _base_commit(memory: Memory, name: str) -> str:
    """Return the commit where a change began; in a shallow clone, which does not have it, the base itself."""
    checkout = memory.checkout
    if name and not name.startswith("-"):
        if commit := checkout.merge_base(name):
            return commit
        if commit := checkout.commit_of(name):
            click.echo(f"This clone has no common commit with {name}: comparing with {name} itself.", err=True)
            return commit
    raise Invalid(
        f"There is no commit to compare with{f': {name}' if name else ''}.",
        hint="Pass --base COMMIT. In CI, fetch it first (with actions/checkout: fetch-depth: 0).",
    )


def _summary(change: Report, base: str) -> str:
    checked, count = f"{counted(len(change['checked']), 'team memory')} checked", len(change["broken"])
    broken = counted(count, "team memory") if count else "no team memory"
    return f"The changes since {base} make {broken} untrue ({checked})."


def _data(text: str) -> str:
    """Escape a text for a workflow command of GitHub."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def report(form: str, change: Report, base: str) -> str:
    """Return what a check found in the form that a CI system reads: a template of the folder `reports`."""
    if form == "json":
        return json_text(change["broken"])
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    def message(item: Falsified) -> str:
        """Return what a finding says: the memory, what is wrong with it, and what to do."""
        held = " (quarantined here)" if item.held else ""
        named = f"“{item.record.title}” ({short(item.record.id)}){held}"
        return visible(" ".join(f"{named} is no longer true: {'; '.join(item.why)}. {REMEDY}".split()))

    def fingerprint(item: Falsified) -> str:
        """Return the same text for the same finding, so that a CI system recognises it."""
        anchors = sorted(finding.anchor for finding in item.findings)
        return sha256("\n".join((item.record.id, *anchors)).encode()).hexdigest()

    loader = FileSystemLoader(Path(__file__).parent / "reports")
    templates = Environment(loader=loader, autoescape=form == "junit", undefined=StrictUndefined, trim_blocks=True)  # noqa: S701  only XML
    templates.filters |= {
        "attribute": lambda text: Markup(quoteattr(visible(text))),  # noqa: S704  it is escaped
        "data": _data,
        "fingerprint": fingerprint,
        "message": message,
        "quoted": quote,
        "short": short,
        "value": lambda text: _data(text).replace(":", "%3A").replace(",", "%2C"),
        "visible": visible,
    }
    places = [(item, *place_of(item)) for item in change["broken"]]
    records = {record.id: record for record in (*change["checked"], *(item.record for item in change["broken"]))}
    shown: Report = {"version": __version__, "rule": RULE, "remedy": REMEDY, "summary": _summary(change, base)}
    shown |= {"failed": {place[0].record.id: place for place in places}, "records": list(records.values())}
    text = templates.get_template(f"{form}.jinja").render(shown, change=change, base=base, places=places)
    return json_text(json.loads(text)) if form in ("sarif", "gitlab") else text

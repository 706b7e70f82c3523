"""Commands that report: what works, what is stored and set, and `holdfast stats`."""

from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Annotated, Literal

import click

from holdfast.compose import open_memory
from holdfast.compose.adapters import missing_grammars
from holdfast.compose.settings import drop_setting, keep_settings, printable, store_folder, user_file
from holdfast.hosts.cli.command import Result, Words, opened, present, settings
from holdfast.hosts.cli.render import page, working
from holdfast.model.config import meanings
from holdfast.model.errors import HoldfastError, Invalid, InvalidConfig
from holdfast.model.files import FILE
from holdfast.model.kinds import Fields
from holdfast.model.query import Query
from holdfast.model.session import DAYS, MOST
from holdfast.verbs.memory import Memory, Report
from holdfast.verbs.records.hot import predict, warm
from holdfast.verbs.records.lifecycle import keep_final
from holdfast.verbs.records.read import recent_lessons
from holdfast.verbs.search.graph import traverse
from holdfast.verbs.sessions.analyze import blind_spots, reflections, wordings
from holdfast.verbs.sessions.scars import effects
from holdfast.verbs.upkeep.doctor import Check, examine, status
from holdfast.verbs.upkeep.health import health

Lens = Literal["summary", "reflections", "scars", "blind-spots", "wordings"]
Kinds = Annotated[Words, Fields(Query, "kinds")]
View = Literal["connected_to", "produced_by", "provenance", "stats"]  # of the graph
BROKEN = 5  # the exit code if something does not work


def status_command(memory: Memory) -> Result:
    now = status(memory)
    return now, page("status", now, most=MOST, days=f"{DAYS:.0f}")


def doctor_command() -> Result:
    problem: HoldfastError | None = None
    checks = list[Check]()
    try:
        current = settings(lenient=True)
        checks += [Check("settings", wrong.message, wrong.hint) for wrong in current.wrong]
        checks += [Check("settings", warning) for warning in current.warnings]
        with opened(lenient=True) as memory, working("checking the store"):
            checks += examine(memory)
        if missing := missing_grammars():
            checks.append(Check("languages", f"the extra holdfast[languages] reads {', '.join(sorted(missing))}, too"))
    except HoldfastError as store_problem:
        problem = store_problem
        checks.append(Check(name="store", found=problem.message, fix=problem.hint))
    if not isinstance(problem, InvalidConfig):
        from holdfast.hosts.cli.setup import look_around
        from holdfast.hosts.setup.checks import client_checks

        try:
            here = look_around(lenient=True)
            checks += client_checks(here.machine, here.manifest)
        except HoldfastError as wrong:
            checks.append(Check(name="clients", found=wrong.message, fix=wrong.hint))
    if problem is None:
        return checks, page("doctor", checks), BROKEN if any(check.fix for check in checks) else 0
    present((checks, page("doctor", checks)))
    raise problem


def config_command(words: Words = ()) -> Result:
    if words[:1] == ("unset",) and words[1:] and not words[2:]:
        file = drop_setting(words[1])
        _not_undone(words[1])
        return {"file": str(file), "unset": words[1]}, f"{words[1]} is no longer set in {file}."
    named = [part for word in words[words[:1] == ("set",) :] for part in word.split("=", 1)]
    if len(named) > 2 or (words[:1] == ("set",) and len(named) < 2):
        raise Invalid("A setting has a name and a value.", hint="Such as `holdfast config set recall_limit 5`.")
    if len(named) == 2:
        file = keep_settings({named[0]: named[1]})
        _not_undone(named[0])
        value = printable(named[0], named[1])
        return {"file": str(file), named[0]: value}, f"{named[0]} = {value}, in {file}."
    current, said = settings(lenient=True), meanings()
    for warning in (*current.warnings, *map(str, current.wrong)):
        click.echo(f"warning: {warning}", err=True)
    if named and named[0] not in current.sources:
        raise Invalid(f"There is no setting {named[0]!r}.", hint="`holdfast config` lists them all.")
    values = {
        name: {"value": printable(name, getattr(current.config, name)), "source": current.sources[name]}
        for name in named or current.sources
    }
    shown = [{"name": name, "help": said[name], **one} for name, one in values.items()]
    how = f"holdfast config set recall_limit 5 (in {user_file()}), or the variable HOLDFAST_RECALL_LIMIT=5"
    return {one.pop("name"): one for one in map(dict, shown)}, page("config", shown, how=how)


def _not_undone(name: str) -> None:
    """Note the change of a setting, if there is a store, as an action that `undo` does not take back."""
    with suppress(HoldfastError):
        chosen = settings()
        if chosen.config.database or (store_folder(chosen.config, Path.cwd()) / FILE).exists():
            with open_memory(chosen) as memory:
                keep_final(memory, f"changed the setting {name}")


def health_command(memory: Memory, *, days: int = 30, limit: int = 10) -> Result:
    report = health(memory, days=days)
    first = replace(report, queue=report.queue[:limit])
    return report, page("health", first, left=max(0, len(report.queue) - limit))


def analyze_command(memory: Memory, lens: Lens = "summary", *, days: int = 30, agent: str = "") -> Result:
    match lens:
        case "reflections":
            return (replies := reflections(memory, days=days, agent=agent)), page("replies", replies)
        case "scars":
            return (seen := effects(memory, days=days)), page("effects", seen)
        case "wordings":
            return (compared := wordings(memory, days=days)), page("wordings", compared, "No scar was shown yet.")
        case "blind-spots":
            spots = blind_spots(memory, days=days)
            blind = {effect.scar.id: effect for effect in chain(*spots.values())}
            return spots, page("blind_spots", blind.values())
    from holdfast.surfaces.core.tools import analytics  # it imports most verbs

    done = analytics(memory, days=days, agent=agent)
    value = {"activity": done["activity"], "blind_spots": done["spots"], "wordings": done["compared"]}
    return value, page("activity", **done, days=days)


def learnings_command(
    memory: Memory, *, severity: str = "", days: int | None = None, limit: int = 20, **asked: Kinds
) -> Result:
    own = recent_lessons(memory, kinds=asked["kinds"], severity=severity, days=days or 0, limit=limit)
    return own, page("records", own, nothing="No learnings or decisions yet.")


def graph_command(
    memory: Memory, node: str = "", *, lens: View = "connected_to", predicate: str = "", depth: int = 3, limit: int = 50
) -> Report:
    return traverse(memory, lens if node else "stats", node, predicate=predicate, depth=depth, limit=limit)


def next_command(memory: Memory, id: str, *, warming: bool = False) -> list[Report]:
    predictions = predict(memory, id)
    if warming:
        warm(memory, id)
    return predictions

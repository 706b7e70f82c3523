"""`holdfast init` and `holdfast uninstall`: add Holdfast to the settings of clients, and remove it."""

import os
import platform
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import click
from rich.text import Text

from holdfast.compose.settings import PRIVATE, store_folder, user_file, user_folder
from holdfast.hosts.cli.command import Printed, Words, settings, wants_json
from holdfast.hosts.cli.compat import run
from holdfast.hosts.cli.render import console, json_text, page, say
from holdfast.hosts.hooks.places import checkout_root
from holdfast.hosts.mcp.serving import SURFACES, WITHOUT_TOOLS, offers_of
from holdfast.hosts.preparing import next_session
from holdfast.hosts.setup import clients as table
from holdfast.hosts.setup.apply import Manifest, Planned, apply, diff_of, planned, read_manifest, removals, snippet
from holdfast.hosts.setup.clients import BY_NAME, Choices, Client, Wanted, check_clients, installed
from holdfast.hosts.setup.edits import NAME, Entry
from holdfast.hosts.setup.machine import Installation, Level, Machine, check_lasting
from holdfast.hosts.setup.others import SYSTEMS, Found, others
from holdfast.model.errors import Conflict, Invalid
from holdfast.model.files import FILE, FOLDER, read_regular
from holdfast.model.kinds import Asked, Fields
from holdfast.model.text import counted

_DIFF_STYLE = {"+": "green", "-": "red", "@": "cyan"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Here:
    """The machine, installation and manifest that `init`, `uninstall` and `doctor` work with."""

    level: Level
    machine: Machine
    made: Installation
    store: Path  # where the manifest is: outside any project, so that every folder finds it
    manifest: Manifest


def look_around(level: Level = "user", *, lenient: bool = False) -> Here:
    """Collect the environment for setting up clients at a level."""
    current, project = settings(lenient=lenient), Path(checkout_root(str(Path.cwd())))
    config, store = current.config, user_folder(current.config)
    folder = store_folder(config, project) if level == "project" else store
    home = "" if not config.home and folder == store else str(folder.absolute())
    # The server reads the user's settings itself, but not the variables and flags of this shell.
    from_here = current.sources["home"] not in ("default", str(user_file()))
    return Here(
        level=level,
        machine=Machine(system=platform.system(), home=Path.home(), project=project, environment=os.environ),
        made=Installation(home=home, variables={"HOLDFAST_HOME": home} if from_here else {}),
        store=store,
        manifest=read_manifest(store),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """What may be typed: what to set up, and whether to ask, only preview, or print JSON."""

    names: Words = ()
    project: bool = False
    surfaces: Annotated[Words, Asked("", choices=(*SURFACES, *WITHOUT_TOOLS))] = ()
    no_hooks: bool = False
    approve: bool | None = None
    instructions: bool = False
    gitignore: bool = False
    no_import: bool = False
    all_: bool = False
    diffs: bool = False
    dry_run: bool = False
    yes: bool = False

    def __post_init__(self) -> None:
        if wants_json() and self.asks:
            raise Invalid("--json asks no questions.", hint="Add --yes or --dry-run.")

    @property
    def asks(self) -> bool:
        """True if questions may be asked."""
        return not (self.yes or self.dry_run)

    def proceeds(self, plan: Sequence[Planned], question: str = "") -> bool:
        """Return whether to proceed; asks if questions are allowed, and shows the changes of a plan on request."""
        if not self.asks:
            return self.yes and not self.dry_run
        question = question or f"Change {counted(sum(change.changes for change in plan), 'file')}?"
        if not plan:
            return click.confirm(question, default=True)
        answers = click.Choice(["y", "n", "d"], case_sensitive=False)
        while (answer := click.prompt(f"{question} (d shows the changes)", type=answers, default="y")) == "d":
            _show_diffs(plan)
        return bool(answer == "y")


def report(text: str) -> None:
    """Print a text for a person; nothing for a program."""
    if not wants_json():
        say(text)


SHOWN = "diffs dry_run yes"
INIT = f"names project surfaces no_hooks approve instructions gitignore {SHOWN}"


def init_command(**typed: Annotated[Any, Fields(Typed, INIT)]) -> Printed:
    asked = Typed(**typed)
    check_lasting(sys.prefix)
    here = look_around("project" if asked.project else "user")
    known, instructions, approve = _clients(asked, here.machine), asked.instructions, asked.approve
    if known and asked.asks and not instructions:
        instructions = click.confirm("Also add a note for agents to CLAUDE.md, AGENTS.md, …?", default=False)
    new = [one.title for one in known if one.grant and table.is_new(one, here.level, here.machine, here.made)]
    if approve is None and new and asked.asks:
        approve = click.confirm(f"Let Holdfast's tools run without asking in {', '.join(new)}?", default=True)
    here = replace(here, made=replace(here.made, surfaces=asked.surfaces))
    choices = Choices(
        clients=known,
        level=here.level,
        hooks=not asked.no_hooks,
        instructions=instructions,
        gitignore=asked.gitignore,
        approve=approve,
        surfaces={one.name: asked.surfaces or here.manifest.surfaces.get(one.name, ()) for one in known},
    )
    _set_up(choices, here, asked)
    if beside := [each for each in others(here.machine) if each.entries]:
        titles = ", ".join(each.system.title for each in beside)
        question = f"\n{titles} is set up here too. Replace it and import its data?"
        if asked.asks and click.confirm(question, default=True):
            _switch(beside, here.machine, asked)
        else:
            report(f"{titles} is set up here too: `holdfast switch` replaces it and imports its data.")


def switch_command(
    systems: Annotated[Words, Asked("", choices=tuple(system.name for system in SYSTEMS))] = (),
    **typed: Annotated[Any, Fields(Typed, f"no_import {SHOWN}")],
) -> Printed:
    asked = Typed(**typed)
    check_lasting(sys.prefix)
    machine = look_around().machine
    found = [each for each in others(machine) if not systems or each.system.name in systems]
    if found:
        _switch(found, machine, asked)
    elif wants_json():
        print(json_text({"done": False, "found": []}))
    else:
        titles = ", ".join(system.title for system in SYSTEMS if not systems or system.name in systems)
        say(f"Nothing of {titles} was found here. `holdfast init` sets up Holdfast.")


def _switch(found: Sequence[Found], machine: Machine, asked: Typed) -> None:
    """Replace other systems: set up Holdfast with their tools where they are set up, take them out, and import their data."""
    replaced = [want for each in found for want in each.entries]
    surfaces = {
        client: tuple(
            each.system.name for each in found if client in {want.client for want in each.entries} or not replaced
        )
        for client in {want.client for want in replaced} or {client.name for client in installed(machine)}
    }
    for client, names in surfaces.items():
        surfaces[client] = _together(client, names)
    is_project = bool(replaced) and all(want.within for want in replaced)
    here = look_around("project" if is_project else "user")
    choices = Choices(clients=check_clients(surfaces), level=here.level, surfaces=surfaces)
    for each in found:
        title, nouns = each.system.title, sorted((want.edit.noun for want in each.entries), reverse=True)
        there = [counted(count, noun.removeprefix(f"{title} ")) for noun, count in Counter(nouns).items()]
        there += [f"its {'data' if each.system.data else 'notes'} in {each.data}"] if each.data else []
        report(f"Found {title}: {', '.join(there)}.")

    def bring() -> bool:
        imported = [each for each in found if each.data and not asked.no_import]
        for each in found:
            if each in imported:
                run("store", "import", str(each.data), "--from", each.system.name, json=wants_json())
            if each.system.name == "git-notes":  # its users expect that memories are in the repository
                run("replica", "on", "notes", json=wants_json())
        return bool(imported)

    if replaced or not here.manifest.clients():
        _set_up(choices, here, asked, replaced=replaced, then=bring)
    elif asked.proceeds((), "Import it?"):  # Holdfast is set up in its place already
        bring()


def _together(client: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return the surfaces that one server can offer; report those whose tools clash with the ones before."""
    kept: tuple[str, ...] = ()
    for name in names:
        try:
            offers_of((*kept, name))
            kept += (name,)
        except Invalid as problem:
            report(f"{problem.message} {client} does not get those of {name}.")
    return kept


def uninstall_command(**typed: Annotated[Any, Fields(Typed, f"names all_ {SHOWN}")]) -> Printed:
    asked = Typed(**typed)
    if asked.names and asked.all_:
        raise Invalid("--all and --client exclude each other.", hint="Use one of them.")
    if asked.all_ and settings().config.database:
        raise Invalid("The memories are in PostgreSQL; --all deletes only a store of files.")
    here = look_around()
    leaving = {client.name for client in check_clients(asked.names)} or here.manifest.clients()
    plan = removals(here.manifest, leaving)
    _show_plan(plan, here.machine, asked)
    done = bool(plan) and asked.proceeds(plan)
    if done and not apply(plan, here.manifest, here.store).files:
        for name in ("prepared", "changes"):  # no hook reads them any more
            shutil.rmtree(here.store / name, ignore_errors=True)
    declined = bool(plan) and not done and not asked.dry_run
    backup = _forget_everything(here, asked) if asked.all_ and not declined else None
    if backup:
        report(f"The memories are deleted; `holdfast store restore {backup}` brings them back.")
    if not plan:
        report(f"No client is set up according to {here.store}.")
    _conclude(plan, done=done, backup=str(backup) if backup else None)


def _set_up(
    choices: Choices, here: Here, asked: Typed, *, replaced: Sequence[Wanted] = (), then: Callable[[], bool] = bool
) -> None:
    """Print the changes, make them with those of systems that are replaced, and print what is left to do.

    `then` runs after the changes; True if it said what the next session gets.
    """
    for surfaces in choices.surfaces.values():
        offers_of(surfaces)
    leaving = {name for name in choices.names if not choices.wants_hooks(name)}
    if unhooked := removals(here.manifest, leaving, only_hooks=True):
        _show_plan(unhooked, here.machine, asked)
        if asked.proceeds(unhooked, "Remove these hooks?"):
            here = replace(here, manifest=apply(unhooked, here.manifest, here.store))
        elif not asked.dry_run:
            unhooked = []
    wants = [*replaced, *table.wanted(choices, here.machine, here.made)]
    plan = planned(wants, choices, here.manifest, here.machine.project)
    shown = {client for change in unhooked for client, *_ in change.entries}
    shown -= {client for change in plan for client, *_ in change.entries}
    _show_plan(plan, here.machine, asked, [client.name for client in choices.clients if client.name not in shown])
    will_change = any(change.changes for change in plan)
    done = bool(choices.clients) and (asked.proceeds(plan) if will_change else not asked.dry_run)
    if done:
        manifest = replace(here.manifest, surfaces={**here.manifest.surfaces, **choices.surfaces})
        apply(plan, manifest, here.store, private=here.level == "user")
    is_said = done and then()
    if not wants_json():
        entry = snippet([Entry(path=("mcpServers", NAME), value=table.stdio(here.made))])
        added = (name for change in plan for name, *what in change.entries if what == ["added", "permission"])
        page("set_up", choices, here, plan, entry, granted=[BY_NAME[name].title for name in added], clients=table)()
    is_partly = bool(unhooked) and not done and not asked.dry_run  # hooks were removed, and no more was wanted
    _conclude(unhooked if is_partly else [*unhooked, *plan], done=done or is_partly)
    if done and will_change and not wants_json():
        names = ", ".join(client.title for client in choices.clients)
        say(f"\nNext: start a new session in {names}.")
        if any(map(choices.wants_hooks, choices.names)) and not is_said:
            say_next(here.store)
        say("`holdfast doctor` checks the set-up, `holdfast uninstall` undoes it.")


def say_next(home: Path) -> None:
    """Prepare what the next session in this folder will get, and say what that is; nothing if no client has our hooks."""
    if brief := next_session(home, Path.cwd()):
        page("next_session", brief)()


def _clients(asked: Typed, machine: Machine) -> tuple[Client, ...]:
    """Return the clients to set up: as named, else those found on the machine, of which the user may pick some."""
    if asked.names:
        return check_clients(asked.names)
    detected = installed(machine)
    if not detected or not asked.asks:
        return detected
    say("Found " + ", ".join(f"{client.title} ({client.name})" for client in detected) + ".")
    answer = click.prompt("Set up which (names, all or none)?", default="all").strip().lower()
    if answer in ("n", "no", "none"):
        say("No client was chosen; nothing was changed.")
        raise click.exceptions.Exit(Conflict.exit_code)
    return detected if answer in ("y", "yes", "all") else check_clients(answer.replace(",", " ").split())


def _show_plan(plan: Sequence[Planned], machine: Machine, asked: Typed, names: Sequence[str] = ()) -> None:
    """Print for each client what changes, and in which files; on request every change before that; nothing for a program."""
    if wants_json():
        return
    if asked.diffs:
        _show_diffs(plan)
    rows, home = list[tuple[str, str, list[str]]](), machine.home
    for name in names or dict.fromkeys(client for one in plan for client, *_ in one.entries):
        files = [one for one in plan if any(client == name for client, *_ in one.entries)]
        counts = Counter((how, noun) for one in files for client, how, noun in one.entries if client == name)
        done: dict[str, list[str]] = {}  # "1 server, 10 hooks, 1 permission: Holdfast's tools run without asking"
        for (how, noun), count in sorted(counts.items(), key=lambda pair: pair[0][1] == "permission"):
            done.setdefault(how, []).append(counted(count, noun))
        words = "; ".join(f"{', '.join(each)}{'' if how == 'added' else f' {how}'}" for how, each in done.items())
        words += ": Holdfast's tools run without asking" if counts["added", "permission"] else ""
        paths = (f"~/{one.path.relative_to(home)}" if one.path.is_relative_to(home) else one.path for one in files)
        fates = (" (new)" if one.before is None else " (removed)" if one.after is None else "" for one in files)
        places = [f"{path}{fate}" for path, fate in zip(paths, fates, strict=True)]
        rows.append((BY_NAME[name].title if name in BY_NAME else name, words, [] if asked.diffs else places))
    page("plan", rows, [left for change in plan for left in change.left_alone])()


def _show_diffs(plan: Sequence[Planned]) -> None:
    for line in (line for change in plan for line in diff_of(change).splitlines()):
        console().print(Text(line, style=_DIFF_STYLE.get(line[:1], "")), soft_wrap=True)  # a diff is not re-broken


def _conclude(plan: Sequence[Planned], *, done: bool, **more: object) -> None:
    """Print the result; a file that was left alone exits with code 4."""
    changed = list(dict.fromkeys(str(change.path) for change in plan if change.changes))
    left = [{"path": str(skipped.path), "why": skipped.why} for change in plan for skipped in change.left_alone]
    if wants_json():
        counts = Counter(entry for one in plan for entry in one.entries)
        entries = [{"client": one, "how": how, "entry": noun, "count": n} for (one, how, noun), n in counts.items()]
        print(json_text({"done": done, "changed": changed, "entries": entries, "left_alone": left, **more}))
    elif changed:
        count = counted(len(changed), "file")
        say(f"{count} changed." if done else f"{count} would change; nothing was written.")
    elif plan:
        say("Nothing to change: everything is set up." if not left else "Nothing was changed.")
    if left:
        raise click.exceptions.Exit(Conflict.exit_code)


def _forget_everything(here: Here, asked: Typed) -> Path | None:
    """Delete our files in the store's folder, and it if it is empty then, after a backup in the home folder; return its path."""
    store = here.store
    if not (store / FILE).exists():
        return None
    backup = here.machine.home / f"holdfast-backup-{datetime.now(UTC):%Y%m%d-%H%M%S}.db"
    report(f"All memories in {store} will be deleted; a backup goes to {backup} first.")
    if asked.dry_run or not (asked.yes or click.confirm("Delete them?", default=False)):
        return None
    from holdfast.verbs.upkeep.doctor import back_up

    back_up(store / FILE, backup)
    for path in (path for pattern in PRIVATE for path in store.glob(pattern)):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    ignored = store / ".gitignore"
    if store.name == FOLDER and ignored.exists() and set(read_regular(ignored).decode().split()) <= set(PRIVATE):
        ignored.unlink()
    if not any(store.iterdir()):
        store.rmdir()
    return backup

"""`holdfast init` and `holdfast uninstall`: add Holdfast to the settings of clients, and remove it."""

import os
import platform
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import click
from rich.text import Text

from holdfast.compose.settings import PRIVATE, store_folder, user_file, user_folder
from holdfast.hosts.cli.command import settings
from holdfast.hosts.cli.compat import run
from holdfast.hosts.cli.render import console, hanging, page, print_json, say
from holdfast.hosts.mcp.serving import SURFACES, WITHOUT_TOOLS
from holdfast.hosts.preparing import next_session
from holdfast.hosts.setup.apply import Manifest, Planned, apply, diff_of, planned, read_manifest, removals, snippet
from holdfast.hosts.setup.clients import BY_NAME, Client, check_clients, installed, stdio
from holdfast.hosts.setup.edits import NAME, Member, noun_of
from holdfast.hosts.setup.machine import Installation, Level, Machine, check_lasting, project_root, this_installation
from holdfast.hosts.setup.others import SYSTEMS, Found, others
from holdfast.hosts.setup.plan import Choices, Wanted, covered, has_plugin, is_new, wanted
from holdfast.model.errors import Conflict, Invalid
from holdfast.model.files import FILE, FOLDER, read_regular
from holdfast.model.request import Asked
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


def look_around(level: Level = "user") -> Here:
    """Collect the environment for setting up clients at a level."""
    current, project = settings(), project_root(Path.cwd())
    config, store = current.config, user_folder(current.config)
    folder = store_folder(config, project) if level == "project" else store
    home = "" if not config.home and folder == store else str(folder.absolute())
    # The server reads the user's settings itself, but not the variables and flags of this shell.
    from_here = current.sources["home"] not in ("default", str(user_file()))
    return Here(
        level=level,
        machine=Machine(system=platform.system(), home=Path.home(), project=project, environment=os.environ),
        made=this_installation(home=home, variables={"HOLDFAST_HOME": home} if from_here else {}),
        store=store,
        manifest=read_manifest(store),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Mode:
    """Whether to ask, only preview, or print JSON."""

    yes: bool
    dry_run: bool
    as_json: bool
    diffs: bool = False  # show every change, not only the names of files

    def __post_init__(self) -> None:
        if self.as_json and self.asks:
            raise Invalid("--json asks no questions.", hint="Add --yes or --dry-run.")

    @property
    def asks(self) -> bool:
        """True if questions may be asked."""
        return not (self.yes or self.dry_run)

    def proceeds(self, question: str, plan: "Sequence[Planned]" = ()) -> bool:
        """Return whether to proceed; asks if questions are allowed, and shows the changes of a plan on request."""
        if not self.asks:
            return self.yes and not self.dry_run
        if not plan:
            return click.confirm(question, default=True)
        answers = click.Choice(["y", "n", "d"], case_sensitive=False)
        while (answer := click.prompt(f"{question} (d shows the changes)", type=answers, default="y")) == "d":
            _show_diffs(plan)
        return bool(answer == "y")


def init_command(
    *,
    names: tuple[str, ...] = (),
    project: bool = False,
    surfaces: Annotated[tuple[str, ...], Asked("", choices=(*SURFACES, *WITHOUT_TOOLS))] = (),
    no_hooks: bool = False,
    approve: bool | None = None,
    instructions: bool = False,
    gitignore: bool = False,
    diffs: bool = False,
    dry_run: bool = False,
    yes: bool = False,
    as_json: bool = False,
) -> None:
    manner = Mode(yes=yes, dry_run=dry_run, as_json=as_json, diffs=diffs)
    check_lasting(sys.prefix)
    here = look_around("project" if project else "user")
    known = _clients(names, here.machine, manner)
    if known and manner.asks and not instructions:
        instructions = click.confirm("Also add a note for agents to CLAUDE.md, AGENTS.md, …?", default=False)
    new = [client.title for client in known if client.grant and is_new(client, here.level, here.machine, here.made)]
    if approve is None and new and manner.asks:
        approve = click.confirm(f"Let Holdfast's tools run without asking in {', '.join(new)}?", default=True)
    here = replace(here, made=replace(here.made, surfaces=surfaces))
    choices = Choices(
        clients=known,
        level=here.level,
        hooks=not no_hooks,
        instructions=instructions,
        gitignore=gitignore,
        approve=approve,
        surfaces={client.name: surfaces or here.manifest.surfaces.get(client.name, ()) for client in known},
    )
    _set_up(choices, here, manner)
    if beside := [each for each in others(here.machine) if each.entries]:
        titles = ", ".join(each.system.title for each in beside)
        question = f"\n{titles} is set up here too. Replace it and import its data?"
        if manner.asks and click.confirm(question, default=True):
            _switch(beside, here.machine, manner)
        elif not as_json:
            say(f"{titles} is set up here too: `holdfast switch` replaces it and imports its data.")


def switch_command(
    systems: Annotated[tuple[str, ...], Asked("", choices=tuple(system.name for system in SYSTEMS))] = (),
    *,
    no_import: bool = False,
    diffs: bool = False,
    dry_run: bool = False,
    yes: bool = False,
    as_json: bool = False,
) -> None:
    manner = Mode(yes=yes, dry_run=dry_run, as_json=as_json, diffs=diffs)
    check_lasting(sys.prefix)
    machine = look_around().machine
    found = [each for each in others(machine) if not systems or each.system.name in systems]
    if found:
        _switch(found, machine, manner, imports=not no_import)
    elif as_json:
        print_json({"done": False, "found": []})
    else:
        titles = ", ".join(system.title for system in SYSTEMS if not systems or system.name in systems)
        say(f"Nothing of {titles} was found here. `holdfast init` sets up Holdfast.")


def _switch(found: Sequence[Found], machine: Machine, manner: Mode, *, imports: bool = True) -> None:
    """Replace other systems: set up Holdfast with their tools where they are set up, take them out, and import their data."""
    replaced = [want for each in found for want in each.entries]
    surfaces = {
        client: tuple(
            each.system.name for each in found if client in {want.client for want in each.entries} or not replaced
        )
        for client in {want.client for want in replaced} or {client.name for client in installed(machine)}
    }
    is_project = bool(replaced) and all(want.within for want in replaced)
    here = look_around("project" if is_project else "user")
    choices = Choices(clients=check_clients(surfaces), level=here.level, surfaces=surfaces)
    for each in found if not manner.as_json else ():
        title, edits = each.system.title, (edit for want in each.entries for edit in want.edits)
        nouns = Counter(sorted((noun_of(edit).removeprefix(f"{title} ") for edit in edits), reverse=True))
        there = [counted(count, noun) for noun, count in nouns.items()]
        there += [f"its {'data' if each.system.data else 'notes'} in {each.data}"] if each.data else []
        say(f"Found {title}: {', '.join(there)}.")

    def bring() -> bool:
        for each in found:
            if each.data and imports:
                run("store", "import", str(each.data), "--from", each.system.name, json=manner.as_json)
            if each.system.name == "git-notes":  # its users expect that memories are in the repository
                run("replica", "on", "notes", json=manner.as_json)
        return imports and any(each.data for each in found)

    if replaced or not here.manifest.clients():
        _set_up(choices, here, manner, replaced=replaced, then=bring)
    elif manner.proceeds("Import it?"):  # Holdfast is set up in its place already
        bring()


def uninstall_command(
    *,
    names: tuple[str, ...] = (),
    all_: bool = False,
    diffs: bool = False,
    dry_run: bool = False,
    yes: bool = False,
    as_json: bool = False,
) -> None:
    if names and all_:
        raise Invalid("--all and --client exclude each other.", hint="Use one of them.")
    if all_ and settings().config.database:
        raise Invalid("The memories are in PostgreSQL; --all deletes only a store of files.")
    manner, here = Mode(yes=yes, dry_run=dry_run, as_json=as_json), look_around()
    leaving = {client.name for client in check_clients(names)} or here.manifest.clients()
    plan = removals(here.manifest, leaving)
    if not as_json:
        _show_plan(plan, here.machine, diffs=diffs)
    done = bool(plan) and manner.proceeds(_question(plan), plan)
    if done and not apply(plan, here.manifest, here.store).files:
        for name in ("prepared", "changes"):  # no hook reads them any more
            shutil.rmtree(here.store / name, ignore_errors=True)
    declined = bool(plan) and not done and not dry_run
    backup = _forget_everything(here, manner) if all_ and not declined else None
    if backup and not as_json:
        say(f"The memories are deleted; `holdfast store restore {backup}` brings them back.")
    if not as_json and not plan:
        say(f"No client is set up according to {here.store}.")
    _conclude(plan, done=done, as_json=as_json, more={"backup": str(backup) if backup else None})


def _set_up(
    choices: Choices,
    here: Here,
    manner: Mode,
    *,
    replaced: Sequence[Wanted] = (),
    then: Callable[[], bool] = lambda: False,
) -> None:
    """Print the changes, make them with those of systems that are replaced, and print what is left to do.

    `then` runs after the changes; True if it said what the next session gets.
    """
    leaving = {name for name in choices.names if not choices.wants_hooks(name)}
    if unhooked := removals(here.manifest, leaving, only_hooks=True):
        if not manner.as_json:
            _show_plan(unhooked, here.machine, diffs=manner.diffs)
        if manner.proceeds("Remove these hooks?", unhooked):
            here = replace(here, manifest=apply(unhooked, here.manifest, here.store))
    wants = [*replaced, *wanted(choices, here.machine, here.made)]
    plan = planned(wants, choices, here.manifest, here.machine.project)
    if not manner.as_json:
        _show_plan(plan, here.machine, [client.name for client in choices.clients], diffs=manner.diffs)
    will_change = any(change.changes for change in plan)
    done = bool(choices.clients) and (manner.proceeds(_question(plan), plan) if will_change else not manner.dry_run)
    if done:
        manifest = replace(here.manifest, surfaces={**here.manifest.surfaces, **choices.surfaces})
        apply(plan, manifest, here.store, private=here.level == "user")
    is_said = done and then()
    if not manner.as_json:
        entry = snippet([Member(path=("mcpServers", NAME), value=stdio(here.made))])
        added = (name for change in plan for name, *what in change.entries if what == ["added", "permission"])
        asked: dict[str, Any] = {"has_plugin": has_plugin, "covered": covered, "known": list(BY_NAME)}
        page("set_up", choices, here, plan, entry, granted=[BY_NAME[name].title for name in added], **asked)()
    _conclude(plan, done=done, as_json=manner.as_json, more={})
    if done and will_change and not manner.as_json:
        names = ", ".join(client.title for client in choices.clients)
        say(f"\nNext: start a new session in {names}.")
        if any(map(choices.wants_hooks, choices.names)) and not is_said:
            say_next(here.store)
        say("`holdfast doctor` checks the set-up, `holdfast uninstall` undoes it.")


def say_next(home: Path) -> None:
    """Prepare what the next session in this folder will get, and say what that is; nothing if no client has our hooks."""
    if brief := next_session(home, Path.cwd()):
        count, left = counted(len(brief.memories.ids), "memory"), " and where work was left off" * bool(brief.left_off)
        known = f"It will begin with {count}{left}: `holdfast brief` prints it."
        nothing = "Nothing is known here yet: `holdfast ingest bootstrap` imports what the documents say."
        say(known if brief.memories.ids or left else nothing)


def _clients(names: tuple[str, ...], machine: Machine, manner: Mode) -> tuple[Client, ...]:
    """Return the clients to set up: as named, else those found on the machine, of which the user may pick some."""
    if names:
        return check_clients(names)
    detected = installed(machine)
    if not detected or not manner.asks:
        return detected
    say("Found " + ", ".join(f"{client.title} ({client.name})" for client in detected) + ".")
    answer = click.prompt("Set up which (names, all or none)?", default="all").strip().lower()
    if answer in ("n", "no", "none"):
        say("No client was chosen; nothing was changed.")
        raise click.exceptions.Exit(Conflict.exit_code)
    return detected if answer in ("y", "yes", "all") else check_clients(answer.replace(",", " ").split())


def _show_plan(plan: Sequence[Planned], machine: Machine, names: Sequence[str] = (), *, diffs: bool) -> None:
    """Print for each client what changes, and in which files; with `diffs` every change before that."""

    def short_path(change: Planned) -> str:
        path, home = change.path, machine.home
        fate = " (new)" if change.before is None else " (removed)" if change.after is None else ""
        return (f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)) + fate

    out = console()
    if diffs:
        _show_diffs(plan)
    for name in names or dict.fromkeys(client for one in plan for client, *_ in one.entries):
        files = [one for one in plan if any(client == name for client, *_ in one.entries)]
        title = BY_NAME[name].title if name in BY_NAME else name
        hanging(out, Text.assemble((f"{title:<15} ", "bold"), _in_words(files, name) or "already set up"), 16)
        if files and not diffs:
            hanging(out, Text(f"{'':<15} {', '.join(map(short_path, files))}"), 16)
    for left in (left for change in plan for left in change.left_alone):
        out.print(Text(f"{left.path} is left alone. {left.why}", style="yellow"))
        if left.snippet:
            out.print(Text(f"To add by hand:\n{left.snippet}", style="dim"))


def _in_words(plan: Iterable[Planned], name: str) -> str:
    """Return what changes for a client: "1 server, 10 hooks, 1 permission: Holdfast's tools run without asking"."""
    counts = Counter((how, noun) for one in plan for client, how, noun in one.entries if client == name)
    done: dict[str, list[str]] = {}
    for (how, noun), count in sorted(counts.items(), key=lambda pair: pair[0][1] == "permission"):
        done.setdefault(how, []).append(counted(count, noun))
    words = "; ".join(f"{', '.join(each)}{'' if how == 'added' else f' {how}'}" for how, each in done.items())
    return words + (": Holdfast's tools run without asking" if counts["added", "permission"] else "")


def _show_diffs(plan: Sequence[Planned]) -> None:
    out = console()
    for change in plan:
        for line in diff_of(change).splitlines():
            out.print(Text(line, style=_DIFF_STYLE.get(line[:1], "")), soft_wrap=True)  # a diff is not re-broken


def _question(plan: list[Planned]) -> str:
    return f"Change {counted(sum(change.changes for change in plan), 'file')}?"


def _conclude(plan: list[Planned], *, done: bool, as_json: bool, more: Mapping[str, object]) -> None:
    """Print the result; a file that was left alone exits with code 4."""
    changed = [str(change.path) for change in plan if change.changes]
    left = [{"path": str(skipped.path), "why": skipped.why} for change in plan for skipped in change.left_alone]
    if as_json:
        counts = Counter(entry for one in plan for entry in one.entries)
        names = ("client", "how", "entry", "count")
        entries = [dict(zip(names, (*entry, count), strict=True)) for entry, count in counts.items()]
        print_json({"done": done, "changed": changed, "entries": entries, "left_alone": left, **more})
    elif plan and not changed:
        say("Nothing to change: everything is set up." if not left else "Nothing was changed.")
    elif changed:
        count = counted(len(changed), "file")
        say(f"{count} changed." if done else f"{count} would change; nothing was written.")
    if left:
        raise click.exceptions.Exit(Conflict.exit_code)


def _forget_everything(here: Here, manner: Mode) -> Path | None:
    """Delete our files in the store's folder, and it if it is empty then, after a backup in the home folder; return its path."""
    if not (here.store / FILE).exists():
        return None
    backup = here.machine.home / f"holdfast-backup-{datetime.now(UTC):%Y%m%d-%H%M%S}.db"
    if not manner.as_json:
        say(f"All memories in {here.store} will be deleted; a backup goes to {backup} first.")
    if manner.dry_run or not (manner.yes or click.confirm("Delete them?", default=False)):
        return None
    from holdfast.verbs.upkeep.doctor import back_up

    store = here.store
    back_up(store / FILE, backup)
    for path in (path for pattern in PRIVATE for path in store.glob(pattern)):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    ignored = store / ".gitignore"
    if store.name == FOLDER and ignored.exists() and set(read_regular(ignored).decode().split()) <= set(PRIVATE):
        ignored.unlink()
    if not any(store.iterdir()):
        store.rmdir()
    return backup

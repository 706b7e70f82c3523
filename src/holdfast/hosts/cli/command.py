"""Commands from signatures: arguments, options, --json, the opened memory and the output are derived from a function.

Parameters before `*` are arguments, the others options; commands.txt has the help of a command and what its parameters mean. One
that takes `memory` gets it opened; a `session` that may be None is the one that the memory acts in. It returns the value for
--json and the text for people (or a function that prints it), and an exit code if that is not 0. If the table names a page, it
returns the value alone, and that page shows it. So does a command that only calls a verb.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import reduce
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_origin

import click

from holdfast.hosts.cli.values import FORMS
from holdfast.model.errors import Conflict
from holdfast.model.kinds import REQUIRED, Parameter, parameters_of

if TYPE_CHECKING:
    from holdfast.compose.settings import Settings
    from holdfast.model.event import Event
    from holdfast.verbs.memory import Memory

Text = str | Callable[[], None]
Result = tuple[Any, Text] | tuple[Any, Text, int] | None
Inner = Annotated[Result, "its group has --json"]
Printed = Annotated[None, "prints its result itself, as JSON too"]
Words = tuple[str, ...]
FOUND = 1  # the exit code of a check that found something
AT_ONCE = 2_000  # memories of the first step of a rebuild, about half a second
AS_JSON = "holdfast.as_json"  # in the meta of a context: a group has --json for all its commands
LONG_CHOICES = 40  # characters; more do not fit into the column of options
_JSON = click.Option(["--json", "as_json"], is_flag=True, help="Print JSON, for programs.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A command: its module in `hosts/cli`, its help, what is said of its parameters, and its own commands if it is a group."""

    path: str
    line: str  # for the overview
    module: str  # + makes it a group, = or += a verb
    page: list[str] = field(default_factory=list)  # the page that shows its result, and a label while it runs
    shape: list[str] = field(default_factory=list)  # what --json prints, as a map of the result
    help: list[str] = field(default_factory=list)  # paragraphs
    parameters: dict[str, str] = field(default_factory=dict)
    synonyms: list[str] = field(default_factory=list)
    former: list[str] = field(default_factory=list)  # names it had
    examples: list[str] = field(default_factory=list)  # without the word holdfast
    commands: "dict[str, Entry]" = field(default_factory=dict)

    @property
    def epilog(self) -> str:
        """The end of its help: the examples."""
        lines = [f"  holdfast {line}" for line in self.examples]
        return "\n".join(("\b", "Examples:", *lines)) if lines else ""


COMMON: dict[str, str] = {}  # parameters that mean the same in most commands


def read(file: Path) -> dict[str, dict[str, Entry]]:
    """Return the commands of a table under its headings."""
    headings: dict[str, dict[str, Entry]] = {}
    entries, entry = dict[str, Entry](), Entry(path="", line="", module="")
    rows = (row for row in file.read_text(encoding="utf-8").splitlines() if row and not row.startswith("#"))
    for row in rows:
        sign, text = row.strip()[0], row.strip()[2:]
        match sign if row.startswith((" ", "[", ":")) else "":
            case "[":
                entries = headings[row.strip("[]")] = {}
            case ":":
                name = text.partition("  ")[0] if text.startswith("--") else text.split()[0]
                (entry.parameters if entry.path else COMMON)[name] = text
            case "=":
                entry.help[:] = [text]
            case "|" if text.startswith("  "):  # printed as it stands
                entry.help.extend(["\b"] if not entry.help[-1].startswith("\b") else [])
                entry.help[-1] += f"\n{text[2:]}"
            case "|":
                entry.help.append(text)
            case ">":
                entry.page.extend(text.split("  "))
            case "~" | "{" | "<":
                {"~": entry.synonyms, "{": entry.shape, "<": entry.former}[sign].extend(text.split())
            case "":
                path, module, line = row.split("  ", 2)
                entry = Entry(path=path, line=line, module=module, help=[line])
                *groups, name = path.split()
                reduce(lambda place, group: place[group].commands, groups, entries)[name] = entry
            case _:
                entry.examples.append(row.strip())
    return headings


HEADINGS = read(Path(__file__).with_name("commands.txt"))
FIRST, GROUPS, HIDDEN = HEADINGS["Everyday"], HEADINGS["Groups"], HEADINGS.pop("Hidden")
COMMANDS = {name: entry for table in (*HEADINGS.values(), HIDDEN) for name, entry in table.items()}


EVERY = [*COMMANDS.values(), *(inner for entry in COMMANDS.values() for inner in entry.commands.values())]
# What people type who do not know a command's name yet.
SYNONYMS = {"version": "--version"} | {word: entry.path for entry in EVERY for word in entry.synonyms}
# What was a command of its own once, and is now.
MOVED = {name: f"{group} {name}" for group in "ingest stats store server".split() for name in GROUPS[group].commands}
MOVED |= {word: entry.path for entry in EVERY for word in entry.former}
MOVED["quarantine"] = "review list --sort quarantined"
for _name in {"run", *COMMANDS} & set(MOVED):
    del MOVED[_name]


def built(entry: Entry, **settings: Any) -> click.Command:
    """Return the command of a row of the table; a group runs its function only without a command of its own."""
    if entry.module.startswith(">"):
        from holdfast.hosts.cli.compat import alias

        return alias(entry)
    module = entry.module.removeprefix("+")
    if module.startswith("="):
        verbs, _, name = module.removeprefix("=").rpartition(".")
        function = getattr(import_module(f"holdfast.verbs.{verbs}"), name)
    else:  # the function of its module with the longest part of its path in its name
        own, words = import_module(f"holdfast.hosts.cli.{module}"), entry.path.replace("-", "_").split()
        names = ("_".join([*words[start:], "command"]) for start in range(len(words)))
        function = next(getattr(own, name) for name in names if hasattr(own, name))
    if isinstance(function, click.Command):
        function.help, function.epilog = settings["help"], settings["epilog"]
        return function
    taken = {one.name: one for one in parameters_of(function) if one.name != "memory"}
    shown = {word.partition("=")[2] for part in entry.page[:1] for word in part.split() if "=" in word}
    assert shown | entry.parameters.keys() <= taken.keys(), f"{entry.path} has no such parameter"
    if module.startswith("="):
        taken = {name: taken[name] for name in entry.parameters}
    asked = {name: _explained(one, entry) for name, one in taken.items()}
    joined = [name for name, one in taken.items() if one.type is str and asked[name].type is not str]
    has_json = function.__annotations__.get("return") not in (None, Inner)

    def run(**given: Any) -> None:
        context = click.get_current_context()
        context.meta[AS_JSON] = given.pop("as_json", False) or wants_json()
        given |= {name: " ".join(given[name]) for name in joined}
        if not context.invoked_subcommand and (result := _result(entry, function, given)) is not None:
            present(result)

    options = [*map(_option_of, asked.values()), *[_JSON] * has_json]
    return click.Command(entry.path.split()[-1], callback=run, params=options, **settings)


def _result(entry: Entry, function: Callable[..., Any], given: dict[str, Any]) -> Result:
    """Call a function with what was typed, and return its result: the value, what prints it, and an exit code."""
    shows, working_at = (*entry.page, "", "")[:2]
    takes = function.__annotations__
    with ExitStack() as stack:
        if "memory" in takes:
            flags = {"session": given["session"]} if takes.get("session") == str | None else {}
            given["memory"] = stack.enter_context(opened(**flags))
        if working_at:
            from holdfast.hosts.cli.render import working

            stack.enter_context(working(working_at))
        result: Result = function(**given)
    if not shows:
        return result
    from holdfast.hosts.cli.render import page

    name, *words = shows.split()
    typed = {key: given[what] for key, sign, what in (word.partition("=") for word in words) if sign}
    shown = page(name, *(word for word in words if "=" not in word), result, **typed)
    if not entry.shape or not wants_json():
        return result, shown
    from holdfast.surfaces.maps import Terms, mapped

    return mapped(" ".join(entry.shape), result, None, Terms()), shown


def _explained(parameter: Parameter, entry: Entry) -> Parameter:
    """Return a parameter with what the table says of it: flags, range, what completes it, how it is shown, and what it means."""
    row = entry.parameters.get(parameter.name) or ("" if parameter.asked.help else COMMON.get(parameter.name, ""))
    words, _, meaning = row.partition("  ")
    explained: dict[str, Any] = {"help": meaning} if meaning else {}
    changed: dict[str, Any] = {}
    for word in words.split()[1:]:
        match word[0]:
            case "-":
                explained["flag"] = f"{explained.get('flag', '')} {word}"
                changed["positional"] = False
            case "=":
                changed["default"] = int(word[1:]) if word[1:].isdecimal() else word[1:]
            case "i":
                changed["type"] = int
            case "*":
                changed["type"] = tuple[str, ...]
            case "{":
                explained["choices"] = tuple(word[1:-1].split("|"))
            case "@":
                explained["form"] = word[1:].replace("-", " ")
            case "<":
                explained["metavar"] = word[1:-1]
            case _:
                least, most = word.split("..")
                explained |= {"least": int(least) if least else None, "most": int(most) if most else None}
    return replace(parameter, asked=replace(parameter.asked, **explained), **changed)


def wants_json() -> bool:
    """True if the command that runs prints JSON, for a program."""
    return bool(click.get_current_context().meta.get(AS_JSON))


def present(result: Any) -> None:
    """Print a result as JSON for a program, or for a person; exit with its code."""
    from holdfast.hosts.cli.render import json_text, say

    value, text, *code = result
    if wants_json():
        print(json_text(value))
    elif isinstance(text, str):
        say(text)
    else:
        text()
    if code and code[0]:
        raise click.exceptions.Exit(code[0])


def _option_of(parameter: Parameter) -> click.Parameter:
    """Return the argument or option that a parameter is."""
    asked, kind, default = parameter.asked, parameter.kind, parameter.default
    many, pairs, required = get_origin(kind) is tuple, get_origin(kind) is Mapping, default is REQUIRED
    common: dict[str, Any] = {"type": _type_of(parameter), "required": required, "metavar": asked.metavar}
    if not (required or pairs or (many and not default)):
        common["default"] = default  # None would be a default too
    if parameter.positional:
        return click.Argument([parameter.name], nargs=-1 if many else 1, **common)
    word = parameter.name.rstrip("_").replace("_", "-")
    flags = asked.flag.split() or [f"--{word.removesuffix('s') if many or pairs else word}"]
    meaning = asked.help
    if kind is bool:
        if (parameter.optional or default) and not asked.flag:
            flags = [f"{flags[0]}/--no-{word}"]
        return click.Option([*flags, parameter.name], is_flag=True, default=default, help=meaning)
    if pairs and not asked.metavar:
        common["metavar"] = "NAME=VALUE"
    if len(choices := ", ".join(parameter.choices)) > LONG_CHOICES:
        common["metavar"], meaning = word.upper(), f"{meaning.rstrip('.')}: {choices}."
    if many:
        meaning = f"{meaning.rstrip('.')}; repeatable."
    common |= {"multiple": many or pairs, "show_default": bool(default) and not required, "help": meaning}
    return click.Option([*flags, parameter.name], **common)


def _type_of(parameter: Parameter) -> Any:
    asked, kind = parameter.asked, parameter.item
    if asked.form or kind is Path:
        return FORMS[asked.form or "path"]
    if parameter.choices:
        return click.Choice(parameter.choices, case_sensitive=False)
    least, most = (None if bound is None else int(bound) for bound in (asked.least, asked.most))
    if kind is int and (least is not None or most is not None):
        return click.IntRange(least, most)
    return kind if kind in (int, float) else str


def settings(*, lenient: bool = False, **flags: Any) -> "Settings":
    """Load the settings, overridden by those of the command line; if `lenient`, without those that are wrong."""
    from holdfast.compose.settings import load_settings

    return load_settings(flags=click.get_current_context().find_root().obj | flags, lenient=lenient)


@contextmanager
def opened(*, lenient: bool = False, **flags: Any) -> "Iterator[Memory]":
    """Open the memory of the working directory; what a command changes in it is kept as the last thing to undo."""
    from holdfast.compose import open_memory

    def report_rebuild(done: int, total: int) -> None:
        if total > AT_ONCE >= done:  # a small store takes no noticeable time
            click.echo(f"Updating the index of {total:,} memories for this version; this happens once.", err=True)

    chosen = settings(lenient=lenient, **flags)
    for warning in chosen.warnings:
        click.echo(f"warning: {warning}", err=True)
    memory = open_memory(chosen, progress=report_rebuild)
    for notice in memory.notices:
        click.echo(notice, err=True)
    with memory:
        events = list["Event"]()
        try:
            yield replace(memory, appended=events)
        finally:
            if events or memory.wrote.is_set():  # an undo is not the next thing to undo
                from holdfast.verbs.records.lifecycle import keep_action

                keep_action(memory, events)
                if memory.store.folder and (memory.store.folder / "prepared").is_dir():
                    from holdfast.hosts.preparing import next_session

                    next_session(memory.store.folder, Path.cwd())


def insist(question: str, *, yes: bool) -> None:
    """Ask for confirmation, unless there is one already; without it exit with the code of a refusal."""
    from holdfast.hosts.cli.render import agreed

    if not yes and not agreed(question):
        click.echo("Nothing was done.", err=True)
        raise click.exceptions.Exit(Conflict.exit_code)

"""Commands from signatures: arguments, options, --json, the opened memory and the output are derived from a function.

Parameters before `*` are arguments, the others options; commands.txt has the help of a command and what its parameters mean. One
that takes `memory` gets it opened; a `session` that may be None is the one that the memory acts in. It returns the value for
--json and the text for people (or a function that prints it), and an exit code if that is not 0. If the table names a page, it
returns the value alone, and that page shows it. So does a command that only calls a verb.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, get_origin

import click

from holdfast.hosts.cli.commands import COMMON, Entry
from holdfast.hosts.cli.values import FORMS
from holdfast.model.errors import Conflict
from holdfast.model.request import REQUIRED, Parameter, parameters_of

if TYPE_CHECKING:
    from holdfast.compose.settings import Settings
    from holdfast.model.event import Event
    from holdfast.verbs.memory import Memory

Text = str | Callable[[], None]
Result = tuple[Any, Text] | tuple[Any, Text, int] | None
AT_ONCE = 2_000  # memories of the first step of a rebuild, about half a second
AS_JSON = "holdfast.as_json"  # in the meta of a context: a group has --json for all its commands
LONG_CHOICES = 40  # characters; more do not fit into the column of options
_JSON = click.Option(["--json", "as_json"], is_flag=True, help="Print JSON, for programs.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A function that is a command, and how it is run."""

    function: Callable[..., Any]
    json: bool
    page: str = ""
    working: str = ""  # labels a spinner while it runs
    shape: str = ""  # what --json prints, as a map of the result

    def run(self, given: dict[str, Any]) -> Any:
        """Call the function with what was typed, and return its result: the value, what prints it, and an exit code."""
        with ExitStack() as stack:
            takes = self.function.__annotations__
            if "memory" in takes:
                flags = {"session": given["session"]} if takes.get("session") == str | None else {}
                given["memory"] = stack.enter_context(opened(**flags))
            if self.working:
                from holdfast.hosts.cli.render import working

                stack.enter_context(working(self.working))
            result = self.function(**given)
        if not self.page:
            return result
        from holdfast.hosts.cli.render import page

        name, *words = self.page.split()
        typed = {key: given[what] for key, sign, what in (word.partition("=") for word in words) if sign}
        shown = page(name, *(word for word in words if "=" not in word), result, **typed)
        if not self.shape or not click.get_current_context().meta[AS_JSON]:
            return result, shown
        from holdfast.surfaces.maps import Terms, mapped

        return mapped(self.shape, result, None, Terms()), shown


def command(*, json: bool) -> Callable[[Callable[..., Any]], Command]:
    """Make a function a command that has --json or not, whatever it returns."""
    return lambda function: Command(function=function, json=json)


def built(entry: Entry, **settings: Any) -> click.Command:
    """Return the command of a row of the table; a group runs its function only without a command of its own."""
    if entry.module.startswith(">"):
        from holdfast.hosts.cli.compat import alias

        return alias(entry)
    defined = _defined(entry)
    if isinstance(defined, click.Command):
        defined.help, defined.epilog = settings["help"], settings["epilog"]
        return defined
    taken = {one.name: one for one in parameters_of(defined.function) if one.name != "memory"}
    shown = {word.partition("=")[2] for part in entry.page[:1] for word in part.split() if "=" in word}
    assert shown | entry.parameters.keys() <= taken.keys(), f"{entry.path} has no such parameter"
    if entry.module.startswith("="):
        taken = {name: taken[name] for name in entry.parameters}
    asked = {name: _explained(one, entry) for name, one in taken.items()}
    joined = [name for name, one in taken.items() if one.type is str and asked[name].type is not str]

    def run(**given: Any) -> None:
        context = click.get_current_context()
        as_json = context.meta[AS_JSON] = given.pop("as_json", False) or context.meta.get(AS_JSON, False)
        if context.invoked_subcommand:
            return
        given |= {"as_json": as_json} if "as_json" in taken else {}
        given |= {name: " ".join(given[name]) for name in joined}
        if (result := defined.run(given)) is not None:
            present(result, as_json=as_json)

    options = [_option_of(one) for one in asked.values() if one.name != "as_json"]
    return click.Command(entry.path.split()[-1], callback=run, params=options + [_JSON] * defined.json, **settings)


def _defined(entry: Entry) -> Command | click.Command:
    """Return the verb that a command is, or the function of its module: the one with the longest part of its path in its name."""
    if entry.module.startswith("="):
        module, _, name = entry.module.removeprefix("=").rpartition(".")
        found = getattr(import_module(f"holdfast.verbs.{module}"), name)
    else:
        own = import_module(f"holdfast.hosts.cli.{entry.module.removeprefix('+')}")
        words = entry.path.replace("-", "_").split()
        names = ("_".join([*words[start:], "command"]) for start in range(len(words)))
        found = next(getattr(own, name) for name in names if hasattr(own, name))
    if isinstance(found, click.Command):
        return found
    if not isinstance(found, Command):  # it has --json if it returns something, or takes `as_json`
        types = found.__annotations__
        found = Command(function=found, json="as_json" in types or types.get("return") is not None)
    page, working = (*entry.page, "", "")[:2]
    return replace(found, page=page, working=working, shape=" ".join(entry.shape))


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


def present(result: Any, *, as_json: bool) -> None:
    """Print a result as JSON for a program, or for a person; exit with its code."""
    from holdfast.hosts.cli.render import print_json, say

    value, text, *code = result
    if as_json:
        print_json(value)
    elif isinstance(text, str):
        say(text)
    else:
        text()
    if code and code[0]:
        raise click.exceptions.Exit(code[0])


def _option_of(parameter: Parameter) -> click.Parameter:
    """Return the argument or option that a parameter is."""
    asked, kind, default = parameter.asked, parameter.kind, parameter.default
    many, pairs = get_origin(kind) is tuple, get_origin(kind) is Mapping
    required = default is REQUIRED
    empty = required or pairs or (many and not default)
    fallback = {} if empty else {"default": default}  # None would be a default too
    if parameter.positional:
        return click.Argument(
            [parameter.name],
            type=_type_of(parameter),
            nargs=-1 if many else 1,
            required=required,
            metavar=asked.metavar,
            **fallback,
        )
    word = parameter.name.rstrip("_").replace("_", "-")
    flags = asked.flag.split() or [f"--{word.removesuffix('s') if many or pairs else word}"]
    meaning = asked.help
    if kind is bool:
        if (parameter.optional or default) and not asked.flag:
            flags = [f"{flags[0]}/--no-{word}"]
        return click.Option([*flags, parameter.name], is_flag=True, default=default, help=meaning)
    metavar = asked.metavar or ("NAME=VALUE" if pairs else None)
    if len(choices := ", ".join(parameter.choices)) > LONG_CHOICES:
        metavar, meaning = word.upper(), f"{meaning.rstrip('.')}: {choices}."
    if many:
        meaning = f"{meaning.rstrip('.')}; repeatable."
    return click.Option(
        [*flags, parameter.name],
        type=_type_of(parameter),
        multiple=many or pairs,
        required=required,
        show_default=bool(default) and not required,
        metavar=metavar,
        help=meaning,
        **fallback,
    )


def _type_of(parameter: Parameter) -> Any:
    asked, kind = parameter.asked, parameter.item
    least, most = asked.least, asked.most
    if asked.form:
        return FORMS[asked.form]
    if parameter.choices:
        return click.Choice(parameter.choices, case_sensitive=False)
    if kind is Path:
        return FORMS["path"]
    if kind is int and (least is not None or most is not None):
        return click.IntRange(None if least is None else int(least), None if most is None else int(most))
    return kind if kind in (int, float) else str


def settings(**flags: Any) -> "Settings":
    """Load the settings, overridden by those of the command line."""
    from holdfast.compose.settings import load_settings

    return load_settings(flags=click.get_current_context().find_root().obj | flags)


@contextmanager
def opened(**flags: Any) -> "Iterator[Memory]":
    """Open the memory of the working directory; what a command changes in it is kept as the last thing to undo."""
    from holdfast.compose import open_memory

    def report_rebuild(done: int, total: int) -> None:
        if total > AT_ONCE >= done:  # a small store takes no noticeable time
            click.echo(f"Updating the index of {total:,} memories for this version; this happens once.", err=True)

    chosen = settings(**flags)
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


def declined() -> NoReturn:
    """Report that the user said no, and exit with the code of a refusal."""
    click.echo("Nothing was done.", err=True)
    raise click.exceptions.Exit(Conflict.exit_code)

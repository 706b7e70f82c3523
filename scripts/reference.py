"""Write the reference pages of the site from the code: `python3 dev.py uv run python scripts/reference.py`.

A test says when that was forgotten. `--check` writes nothing and ends with 1 if a page is not what it should be.
"""

import inspect
import json
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from holdfast.compose.settings import REPOSITORY_SETTINGS
from holdfast.hosts.cli.command import HEADINGS, HIDDEN
from holdfast.hosts.cli.main import EXIT_CODES, cli
from holdfast.hosts.mcp.protocol import Json, written_offer
from holdfast.hosts.mcp.serving import SURFACES
from holdfast.hosts.setup.clients import CLIENTS, Client
from holdfast.hosts.setup.machine import Machine
from holdfast.model.config import PRESETS, Config, meanings

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "reference"
MADE = "<!-- Made by scripts/reference.py from the code; changes here are lost. -->"


def pages() -> dict[str, str]:
    """Give every page by its file name."""
    made = {"configuration.md": configuration(), "cli.md": command_line()}
    made |= {"clients.md": clients(), "tools.md": tools_page()}
    return {name: "\n".join([MADE, "", *lines, ""]) for name, lines in made.items()} | {"holdfast.1": manual()}


def configuration() -> list[str]:
    """Write down every setting."""
    said = meanings()
    rows = [
        f"- `{one.name}{f' = {_toml(one.default)}' if one.default not in ('', ()) else ''}`: {_prosaic(said[one.name])}"
        for one in fields(Config)
    ]
    shared = ", ".join(f"`{one.name}`" for one in fields(Config) if one.name in REPOSITORY_SETTINGS)
    presets = [
        f"| `{name}` | {', '.join(f'`{key} = {_toml(value)}`' for key, value in preset.settings.items())} |"
        for name, preset in PRESETS.items()
    ]
    return [
        "# Configuration",
        "",
        "Each layer overrides the one before; `holdfast config` shows every value in force and where it came from.",
        "",
        "1. the defaults below;",
        "2. `config.toml` in the platform's config folder (Linux: `~/.config/holdfast/`, macOS: `~/Library/Application Support/holdfast/`, Windows: `%LOCALAPPDATA%\\holdfast\\`);",
        f"3. the repository's `.holdfast/config.toml`, but only {shared}. A cloned repository must not choose where memories are kept or sent; anything else in the file is ignored with a warning;",
        "4. variables: `HOLDFAST_` and the name in capitals, such as `HOLDFAST_RECALL_LIMIT=5`;",
        "5. flags: `holdfast --set recall_limit=5 …`.",
        "",
        "## Settings",
        "",
        "With their defaults; without one a setting is empty.",
        "",
        *rows,
        "",
        "## Presets",
        "",
        "`preset` starts from the defaults of another system; your other settings override it.",
        "",
        "| preset | sets |",
        "| --- | --- |",
        *presets,
    ]


def command_line() -> list[str]:
    """Write down every command."""
    root = click.Context(cli, info_name="holdfast")
    codes = EXIT_CODES.removeprefix("\b\n").splitlines()
    lines = [
        "# Command line",
        "",
        "`holdfast COMMAND --help` prints the same, with every option's meaning and examples.",
        "",
    ]
    lines += [
        "## For every command",
        "",
        *(f"- `{name}`: {_prosaic(meaning)}" for name, meaning in _options(cli, root)),
    ]
    lines += ['- `--json`, after the command: Print one JSON value; for errors `{"error", "message", "hint"}`.', ""]
    described: dict[tuple[str, str], str] = {}
    lines += ["## Exit codes", ""]
    lines += [f"- {code}: {meaning}" for code, meaning in (line.split(maxsplit=1) for line in codes[1:])]
    for heading, entries in {**HEADINGS, "For programs": HIDDEN}.items():
        lines += ["", f"## {heading}", *([""] if heading in ("More", "For programs") else [])]
        for path, command, context in _commands(entries, cli, root):
            lines += _command(command, path, context, described if heading == "Everyday" and " " not in path else None)
    return lines


def _commands(
    names: Iterable[str], group: click.Group, parent: click.Context, prefix: str = ""
) -> Iterator[tuple[str, click.Command, click.Context]]:
    """Yield each command of a group, and of its groups, with its path."""
    for name in names:
        command = group.get_command(parent, name)
        assert command is not None
        context = click.Context(command, info_name=name, parent=parent)
        yield f"{prefix}{name}", command, context
        if isinstance(command, click.Group):
            yield from _commands(command.list_commands(context), command, context, f"{prefix}{name} ")


def manual() -> str:
    """Write the page of `man holdfast`, which the wheel installs: every command with its options."""
    root = click.Context(cli, info_name="holdfast")
    lines = ['.TH HOLDFAST 1 "" "Holdfast" "User Commands"', ".SH NAME", "holdfast \\- memory for AI coding agents"]
    lines += [
        ".SH SYNOPSIS",
        ".B holdfast",
        "[\\-\\-home FOLDER] [\\-\\-set NAME=VALUE] [\\-\\-plain] COMMAND [ARGUMENTS]",
    ]
    lines += [".SH DESCRIPTION", _roff("What one session learned, decided, broke or left open is there in the next.")]
    lines += [
        _roff("holdfast COMMAND --help explains a command and shows examples; holdfast alone shows where to start.")
    ]
    for heading, entries in HEADINGS.items():
        lines += [f".SH {heading.upper()}"]
        for path, command, context in _commands(entries, cli, root):
            pieces = [piece for piece in command.collect_usage_pieces(context) if piece != "[OPTIONS]"]
            lines += [
                ".TP",
                f".B {_roff(' '.join(['holdfast', path, *pieces]))}",
                _roff(command.get_short_help_str(200)),
            ]
            lines += [
                ".RS",
                *(f".IP {_roff(json.dumps(name))}\n{_roff(text)}" for name, text in _options(command, context)),
                ".RE",
            ]
    codes = [line.split(maxsplit=1) for line in EXIT_CODES.splitlines()[2:]]
    lines += [".SH EXIT STATUS", *(part for code, meaning in codes for part in (".TP", f".B {code}", _roff(meaning)))]
    lines += [".SH ENVIRONMENT", ".TP", ".B HOLDFAST_HOME", "Folder of the store."]
    lines += [".TP", ".B HOLDFAST_NAME", _roff("Any setting, its name in capitals; holdfast config lists them.")]
    return "\n".join([*lines, ""])


def _roff(text: str) -> str:
    """Write a text so that roff takes nothing in it for a request."""
    return re.sub(r"^([.'])", r"\\&\1", text.replace("\\", "\\e").replace("-", "\\-"))


def _command(
    command: click.Command, path: str, context: click.Context, described: dict[tuple[str, str], str] | None
) -> Iterator[str]:
    """Describe a command: an everyday one with the meaning of options that none `described` before, another in a line."""
    usage = " ".join([path, *(piece for piece in command.collect_usage_pieces(context) if piece not in _OBVIOUS)])
    prose, options = list(_prose(command.help or "")), list(_options(command, context))
    is_group = isinstance(command, click.Group)
    if described is None and (" " in path or not is_group):
        names = ", ".join(f"`{re.sub(' [A-Z=|]+$', '', name)}`" for name, _ in options)
        yield f"- **{_prosaic(usage)}**: {prose[0]}{f' {names}.' if names else ''}"
        return
    yield from ("", f"### {_prosaic(usage)}", "", *(prose if described is not None else prose[:2]))
    if described is None:
        return
    if (examples := _examples(command)) != [f"holdfast {path}"]:
        yield from ("```sh", *examples, "```", "")
    yield from (f"- `{name}`: {_prosaic(text)}" for name, text in options if (name, text) not in described)
    for other in dict.fromkeys(described[one] for one in options if one in described):
        same = [f"`{one[0]}`" for one in options if described.get(one) == other]
        yield f"- as for `{other}`: {', '.join(same)}"
    described |= {one: described.get(one, path) for one in options}
    yield from ([""] if is_group else ())


def _examples(command: click.Command) -> list[str]:
    """Return the lines that a help text shows as they are typed."""
    parts = [part for text in (command.help, command.epilog) for part in inspect.cleandoc(text or "").split("\n\n")]
    lines = [line.strip() for part in parts if part.startswith("\b") for line in part.removeprefix("\b").splitlines()]
    return [line for line in lines if line and line != "Examples:"]


def _prose(text: str) -> Iterator[str]:
    """Give the paragraphs of a help text, without what click is told to leave as it is."""
    for part in inspect.cleandoc(text).split("\n\n"):
        if part.strip() and not part.startswith("\b"):
            yield from (_prosaic(" ".join(part.split())), "")


_CHOICES = re.compile(r" \[([^\]]+\|[^\]]+)\]")
_RANGE = re.compile(r"(?:INTEGER|FLOAT) RANGE|INTEGER")
_OBVIOUS = ("[OPTIONS]", "COMMAND [ARGS]...", "[COMMAND] [ARGS]...")
_EVERYWHERE = ("-h, --help", "--help", "--version", "--json")  # every command has them


def _options(command: click.Command, context: click.Context) -> Iterator[tuple[str, str]]:
    """Yield the options of a command and their meaning."""
    found = [one.get_help_record(context) for one in command.get_params(context) if isinstance(one, click.Option)]
    for name, meaning in (one for one in found if one and not one[0].startswith(_EVERYWHERE)):
        choices = _CHOICES.search(name)
        among = f" One of {', '.join(choices[1].split('|'))}." if choices else ""
        yield _RANGE.sub("N", _CHOICES.sub("", name)), " ".join((meaning + among).split())


def clients() -> list[str]:
    """Write down which file of which client `init` writes to, on every system."""
    lines = [
        "# Files of clients",
        "",
        "What `holdfast init` writes to, and below `PROJECT` what `holdfast init --project` writes to. Where several files are listed, the first that exists is used. Variables that move",
        "a client's folder are followed: `CLAUDE_CONFIG_DIR`, `CODEX_HOME`, `COPILOT_HOME`, `GEMINI_CLI_HOME`, `OPENCODE_CONFIG_DIR`, `XDG_CONFIG_HOME`, `APPDATA`.",
    ]
    for one in CLIENTS:
        lines += ["", f"## {one.title} (`--client {one.name}`)", ""]
        lines += [
            f"- {what}: {'; '.join(filter(None, map(_files, (part.user, part.project))))}" for what, part in _parts(one)
        ]
        if one.note:
            lines += ["", one.note]
    return lines


def _parts(one: Client) -> Iterator[tuple[str, Any]]:
    """Give the parts of a client that have a file, with what stands in it."""
    named = (("server", one.server), ("hooks", one.hooks), ("plugin with hooks", one.plugin))
    yield from ((what, part) for what, part in named if part)
    if grant := one.grant:
        shown = grant.value if grant.form == "rule" else f"{grant.path[-1]} = {json.dumps(grant.value)}"
        yield f"permission `{shown}` (`--approve`)", grant if grant.user else one.server
    if one.guide.user or one.guide.project:
        yield "note for agents (`--instructions`)", one.guide


def _files(templates: tuple[str, ...]) -> str:
    """Write a template's path as each system spells it; once where they agree."""
    shown = [
        ", ".join(f"{name} `{path}`" if len(spelled) > 1 else f"`{path}`" for path, name in spelled.items())
        for spelled in (_spelled(template) for template in dict.fromkeys(templates))
    ]
    return " or ".join(shown)


def _spelled(template: str) -> dict[str, str]:
    spelled: dict[str, str] = {}
    for system in ("Linux", "Darwin", "Windows"):
        machine = Machine(system=system, home=Path("~"), project=Path("PROJECT"), environment={"APPDATA": "%APPDATA%"})
        path = machine.path(template).as_posix()
        spelled[path] = f"{spelled[path]}, {_SYSTEMS[system]}" if path in spelled else _SYSTEMS[system]
    return spelled


_SYSTEMS = {"Linux": "Linux", "Darwin": "macOS", "Windows": "Windows"}


def tools_page() -> list[str]:
    """Write down our own tools with their parameters, resources and prompts."""
    offer = written_offer("core")
    others = [f"`{name}` ({len(written_offer(name).tools)})" for name in SURFACES if name != "core"]
    lines = [
        "# Tools",
        "",
        f"What `holdfast mcp` offers: {len(offer.tools)} tools. Parameters in **bold** are required; they are texts unless named otherwise.",
    ]
    lines += [
        f"`--surface NAME` offers the tools of another system with its own names and parameters: {', '.join(others)}; [compatibility](../compatibility.md) has a row for each.",
        "",
        *(line for tool in offer.tools for line in _tool(tool)),
    ]
    if found := [*offer.resources, *offer.templates]:
        lines += ["## Resources", "", "| address | what it holds |", "| --- | --- |"]
        lines += [f"| `{one.get('uri') or one['uriTemplate']}` | {_cell(one['description'])} |" for one in found] + [""]
    if offer.prompts:
        lines += ["## Prompts", "", "| prompt | what it asks for | arguments |", "| --- | --- | --- |"]
        for one in offer.prompts:
            arguments = ", ".join(f"`{each['name']}`" for each in one["arguments"])
            lines.append(f"| `{one['name']}` | {_cell(one['description'])} | {arguments} |")
        lines.append("")
    return lines[:-1]


def _tool(tool: Json) -> Iterator[str]:
    hints = tool["annotations"]
    nature = "reads only" if hints["readOnlyHint"] else "destroys" if hints.get("destructiveHint") else "writes"
    yield from (f"## {tool['name']}".replace("_", "\\_"), "", f"{_prosaic(tool['description'])} *({nature})*", "")
    properties = tool["inputSchema"].get("properties", {})
    if not properties:
        return
    required = tool["inputSchema"].get("required", ())
    for name, schema in properties.items():
        shown = f"**`{name}`**" if name in required else f"`{name}`"
        kind = f" ({_type(schema)})".replace("list of string", "list").replace(" (string)", "")
        yield f"- {shown}{kind}: {_prosaic(schema.get('description', ''))}".removesuffix(": ")
    yield ""


def _type(schema: Json) -> str:
    """Say in a few words what a schema lets through."""
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if several := schema.get("anyOf") or schema.get("oneOf"):
        return " or ".join(dict.fromkeys(_type(one) for one in several))
    kind = schema.get("type", "anything")
    kind = " or ".join(kind) if isinstance(kind, list) else str(kind)
    if kind == "array":
        return f"list of {_type(schema['items'])}" if schema.get("items") else "list"
    most = f", at most {schema['maximum']:,}" if "maximum" in schema else ""
    return f"{kind}{most}" + (
        f", default `{schema['default']}`" if schema.get("default") not in (None, "", False) else ""
    )


def _toml(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else f'"{value}"' if isinstance(value, str) else str(value)


def _cell(text: str) -> str:
    """Keep a text inside its cell of a table."""
    return _prosaic(" ".join(text.split())).replace("|", "\\|")


def _prosaic(text: str) -> str:
    """Keep what looks like HTML from being taken for it."""
    return text.replace("<", "&lt;")


def main() -> int:
    """Write the pages, or only tell which are not what they should be."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    stale = [
        name
        for name, text in pages().items()
        if not (FOLDER / name).exists() or (FOLDER / name).read_text(encoding="utf-8") != text
    ]
    if "--check" in sys.argv:
        print(f"Not what the code says: {', '.join(stale)}." if stale else "Every page is what the code says.")
        return 1 if stale else 0
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    print(f"{len(pages())} pages, {len(stale)} changed.")
    return 0


if __name__ == "__main__":
    sys.exit(main())

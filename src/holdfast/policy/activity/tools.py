"""Map the tools of each client to what they do: read, search, change, run, fetch or delegate, and find their arguments."""

import re
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any, Literal, cast

from holdfast.model.foreign_json import json_or_none
from holdfast.model.patterns import tables
from holdfast.model.text import texts_of
from holdfast.policy.activity.shell import SHELLS

Role = Literal["read", "search", "create", "edit", "delete", "patch", "run", "fetch", "delegate", "aside"]

BY_CLIENT = {
    client: {name.lower(): cast("Role", role) for role, names in roles for name in names.split()}
    for client, roles in tables(__file__).items()
}
_ANYWHERE = {name: role for roles in reversed(BY_CLIENT.values()) for name, role in roles.items()}
# Holdfast's own tools, in any client's spelling; their results are memories already.
_OURS = re.compile(r"(?:^|__|_|-|:|/)(?:plugin[_-])?holdfast(?:$|__|_|-|:|/|\.)", re.IGNORECASE)
OWN_NAMES = frozenset("recall remember revise judge forget absorb explore".split())
_PATHS = "file_path filePath path notebook_path absolute_path target_file target_notebook filename".split()
LONGEST_PATH = 500
_PATH_LISTS = ("paths", "files", "file_paths")
_COMMANDS = ("command", "cmd", "script", "commands")
SEARCHES = ("pattern", "query", "regex", "url", "search_term", "prompt", "glob_pattern", "explanation")
_PLANS = re.compile(r"todo|plan", re.IGNORECASE)
_STEP = ("content", "step", "title", "description", "text", "task")
PATCHES = ("patch", "input", "patchText", "patch_text", "command", "text", "diff")


def role_of(tool: str, client: str = "") -> Role | None:
    """Return what a tool does; None for unknown tools and those of other servers."""
    name = tool.lower()
    return BY_CLIENT.get(client, {}).get(name) or _ANYWHERE.get(name)


def is_ours(tool: str, client: str = "") -> bool:
    """True if a tool is one of Holdfast's."""
    return bool(_OURS.search(tool)) or (tool.lower() in OWN_NAMES and role_of(tool, client) is None)


def path_arguments(arguments: Mapping[str, Any]) -> list[str]:
    """Return the paths among a tool's arguments."""
    lists = (texts_of(_decoded(arguments.get(name))) for name in _PATH_LISTS)
    paths = chain(texts_of([arguments.get(name) for name in _PATHS]), *lists)
    return [path for path in dict.fromkeys(paths) if is_path(path)]


def is_path(text: str) -> bool:
    """True if a text could be a path."""
    return 0 < len(text) <= LONGEST_PATH and "\n" not in text


def command_argument(arguments: Mapping[str, Any]) -> str:
    """Return the shell command among a tool's arguments, without a `bash -c` around it."""
    for name in _COMMANDS:
        value = _decoded(arguments.get(name))
        if isinstance(value, list) and value:
            parts = [str(part) for part in value]
            is_shell = len(parts) > 2 and parts[0].rpartition("/")[2] in {*SHELLS, "cmd", "powershell", "pwsh"}
            return parts[-1] if is_shell else " ".join(parts)
        if isinstance(value, str) and value.strip():
            return value.strip()
    return ""


def first_text(arguments: Mapping[str, Any], names: Iterable[str], holding: str = "") -> str:
    """Return the first of some arguments that is a text with something in it."""
    texts = (arguments.get(name) for name in names)
    return next((text for text in texts if isinstance(text, str) and text and holding in text), "")


def open_steps(tool: str, arguments: Mapping[str, Any]) -> list[str]:
    """Return the unfinished steps of a plan that an agent wrote down with its to-do tool."""
    listed = _decoded(arguments.get("todos") or arguments.get("plan")) if _PLANS.search(tool) else None
    steps = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    is_open = (step for step in steps if str(step.get("status")).lower() not in ("completed", "done", "cancelled"))
    return [text for step in is_open if (text := first_text(step, _STEP))]


def _decoded(value: Any) -> Any:
    parsed = json_or_none(value) if isinstance(value, str) and value.startswith("[") else None
    return value if parsed is None else parsed

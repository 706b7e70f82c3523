"""Read how a project is built, run and tested from its manifests: task runners, package files and CI workflows."""

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import takewhile
from typing import Any

from holdfast.model.foreign_json import json_or_none
from holdfast.model.patterns import patterns_of

# Files to read, most telling first.
MANIFESTS = tuple(
    """
    [Jj]ustfile .justfile Makefile Taskfile.y*ml package.json pyproject.toml tox.ini noxfile.py Cargo.toml go.mod
    composer.json .github/workflows/*.y*ml .gitlab-ci.yml .circleci/config.yml
    """.split()
)
HOW_TO = "Build, run and test"
MOST_COMMANDS, LONGEST_COMMAND = 20, 200
LOCKS = {"pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lockb": "bun", "bun.lock": "bun"}
_RE = patterns_of(__file__, "patterns")


def how_to_work(name: str, text: str, *, runner: str = "npm") -> str:
    """Return how a manifest says to build, run and test, one command a line; "" if it does not say."""
    last = name.rpartition("/")[2].lower()
    reader = _READERS.get(last.removeprefix("."))
    commands = list(dict.fromkeys(reader(text, runner) if reader else ()))
    if not reader and not _RE["publishing"].search(last):  # a CI workflow that does more than install
        steps = [step for step in _steps(text) if _RE["work"].search(step) and not _RE["elsewhere"].search(step)]
        does_more = any(_RE["work"].search(_RE["install"].sub("", step)) for step in steps)
        commands = list(dict.fromkeys(f"`{step}`" for step in steps if "`" not in step and does_more))
    cut = [f"- … {len(commands) - MOST_COMMANDS} more in {name}"] if len(commands) > MOST_COMMANDS else []
    return "\n".join([*(f"- {line}" for line in commands[:MOST_COMMANDS]), *cut])


def _targets(text: str, sort: str) -> Iterator[tuple[re.Match[str], str, str]]:
    """Yield each target of a task runner, the line above it, and the first command below it."""
    lines = text.splitlines()
    for index, line in enumerate(lines):
        if match := _RE[sort].match(line):
            below = takewhile(lambda each: not each.strip() or each.startswith((" ", "\t")), lines[index + 1 :])
            commands = (each.strip().lstrip("@-").strip() for each in below)
            body = next((one for one in commands if one and not one.startswith(("#", "echo", "set ", "cd "))), "")
            yield match, lines[index - 1] if index else "", body[:LONGEST_COMMAND]


def _just(text: str, _: str) -> Iterator[str]:
    for match, above, body in _targets(text, "just"):
        comment, command = above.startswith("#") and above.lstrip("# ").strip(), body or match["needs"].strip()
        if (comment or command) and not match[0].startswith(("_", "set ", "alias ", "export ", "import ", "mod ")):
            yield f"`just {match['name'].removeprefix('@')}`: {comment or _code(command)}"


def _make(text: str, _: str) -> Iterator[str]:
    for match, _above, body in _targets(text, "make"):
        if match["help"] or (body and _RE["task_names"].search(match["name"])):
            yield f"`make {match['name']}`: {match['help'] or _code(body)}"


def _code(command: str) -> str:
    return f"`{command}`" if "`" not in command else command


def _scripts(text: str, runner: str) -> Iterator[str]:
    for script, command in _table(json_or_none(text), "scripts").items():
        if isinstance(command, str) and not script.startswith(("pre", "post")):
            call = f"{runner} {script}" if script in ("test", "start") else f"{runner} run {script}"
            yield f"`{call}`: {_code(command[:LONGEST_COMMAND])}"


def _pyproject(text: str, _: str) -> Iterator[str]:
    try:
        manifest: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    project, tool = _table(manifest, "project"), _table(manifest, "tool")
    if python := project.get("requires-python"):
        yield f"Python {python}"
    if groups := [*_table(manifest, "dependency-groups"), *_table(project, "optional-dependencies")]:
        yield f"groups of dependencies: {', '.join(groups)}"
    for script, place in _table(project, "scripts").items():
        yield f"`{script}` runs `{place}`"
    named = (*tool, _table(manifest, "dependency-groups"), project.get("optional-dependencies"))
    if any("pytest" in str(part) for part in named):
        places = _table(tool, "pytest", "ini_options").get("testpaths")
        shown = f" (tests in {', '.join(places) if isinstance(places, list) else places})" if places else ""
        yield f"`pytest`{shown}"
    yield from _tasks(tool)


def _tasks(tool: Mapping[str, Any]) -> Iterator[str]:
    for runner, name, place in (("poe", "poe", "tasks"), ("pdm run", "pdm", "scripts"), ("task", "taskipy", "tasks")):
        for task, command in _table(tool, name, place).items():
            yield f"`{runner} {task}`" + (f": {_code(_flat(command))}" if _flat(command) else "")
    for name, env in _table(tool, "hatch", "envs").items():
        for task, command in _table(env, "scripts").items():
            yield f"`hatch run {task if name == 'default' else f'{name}:{task}'}`: {_code(_flat(command))}"
    for name, env in {"": _table(tool, "tox", "env_run_base"), **_table(tool, "tox", "env")}.items():
        commands = env.get("commands") if isinstance(env, Mapping) else None
        if isinstance(commands, list) and commands and isinstance(commands[0], list):
            call = f"tox run -e {name}" if name else "tox"
            yield f"`{call}`: {_code(' '.join(word for word in commands[0] if isinstance(word, str))[:LONGEST_COMMAND])}"


def _table(value: Any, *path: str) -> Mapping[str, Any]:
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def _flat(command: Any) -> str:
    match command:
        case str():
            return command[:LONGEST_COMMAND]
        case list():
            return " && ".join(item for item in command if isinstance(item, str))[:LONGEST_COMMAND]
        case Mapping():
            return _flat(command.get("cmd") or command.get("shell") or command.get("composite") or "")
    return ""


def _tox(text: str, _: str) -> Iterator[str]:
    for env, body in re.findall(r"^\[testenv(?::([\w,{}.-]+))?\]\n((?:(?!^\[).*\n?)*)", text, re.MULTILINE):
        if commands := re.search(r"^commands\s*=\s*(?:\n\s+)?(\S[^\n]*)", body, re.MULTILINE):
            yield f"`tox{f' -e {env}' if env else ''}`: {_code(commands[1][:LONGEST_COMMAND])}"


_READERS: Mapping[str, Callable[[str, str], Iterable[str]]] = {
    "justfile": _just,
    "makefile": _make,
    "package.json": _scripts,
    "composer.json": lambda text, _: _scripts(text, "composer run"),
    "pyproject.toml": _pyproject,
    "tox.ini": _tox,
    "noxfile.py": lambda text, _: [f"`nox -s {name}`" for name in _RE["nox"].findall(text)],
    "cargo.toml": lambda *_: ("`cargo build`", "`cargo test`"),
    "go.mod": lambda *_: ("`go build ./...`", "`go test ./...`"),
}


def _steps(text: str) -> Iterator[str]:
    lines = text.replace("\\\n", " ").splitlines()
    for index, line in enumerate(lines):
        if not (step := _RE["step"].match(line)):
            continue
        if step["line"].strip() in ("|", ">", "|-", ">-"):
            depths = [len(each) - len(each.lstrip()) if each.strip() else 1_000 for each in lines]
            inside = range(index + 1, len(lines))
            end = next((place for place in inside if depths[place] <= len(step["indent"])), len(lines))
            body = [each for each in lines[index + 1 : end] if not _RE["comment"].match(each)]
        else:
            body = [step["line"].strip().strip("'\"")]
        for command in body:
            shown = " ".join(command.split())
            if shown and len(shown) <= LONGEST_COMMAND and "${{" not in shown:
                yield shown

"""Happenings read as work: per prompt and agent, what was read, searched, changed, run, committed and said. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from holdfast.model.text import tokens_of
from holdfast.model.trail import OBSERVER_FOLDER, Happening
from holdfast.policy.activity import commands, tools
from holdfast.policy.language.prose import tagged
from holdfast.policy.secrets.find import drop_private, texts_of

# What clients and hooks put into a conversation themselves: nobody said it.
# Memory that was cut off has no end; what clients add always has one.
_INJECTED = re.compile(
    r"<(?P<open>holdfast[\w-]*|memor(?:y|ies)[\w-]*|claude-mem[\w-]*)\b[^>]{0,500}>|"
    r"<(?P<closed>system[-_][\w-]+|local-command-[\w-]+|command-(?:name|message)|task-notification|persisted-output|hook_context|"
    r"user-prompt-submit-hook|environment_context|user_instructions|additional[-_]context|ide_[\w-]+)\b[^>]{0,500}>",
    re.IGNORECASE,
)
_UNTOLD = ("Injected", "PreToolUse", "SessionStart", "PreCompact")
_USED = ("PostToolUse", "PostToolUseFailure")
_OVER = ("Stop", "SessionEnd")


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """A file was read."""

    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """Something was looked for, in the code or on the web."""

    wanted: str
    outside: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """A file was created, edited or deleted; `before` and `after` are what of it is known."""

    path: str
    how: Literal["create", "edit", "delete"]
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """A command was run. `name` is the same for each run of the same check or program; `error` is its telling line."""

    command: str
    name: str
    wrong: bool
    is_check: bool
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """A commit was made."""

    hash: str
    subject: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Delegated:
    """A sub-agent was given a task, and answered."""

    agent: str
    task: str
    answer: str = ""


Did = Looked | Searched | Changed | Ran | Committed | Delegated


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing that was done, by the happening that tells it."""

    id: str
    did: Did


@dataclass(slots=True, kw_only=True)
class Turn:
    """What came of one prompt, in the hands of one agent (empty: the main one). Filled while happenings are read."""

    id: str
    session: str
    client: str
    cwd: str
    agent: str
    prompt: str = ""
    said: str = ""
    began: str = ""
    ended: str = ""
    last: str = ""
    steps: list[Step] = field(default_factory=list)
    told: list[Happening] = field(default_factory=list)
    tokens: int = 0
    done: bool = False


def turns(happenings: Sequence[Happening]) -> list[Turn]:
    """Read happenings, in their order, as turns; what is ours or was injected is left out."""
    found: list[Turn] = []
    current: dict[str, dict[str, Turn]] = {}  # session -> agent -> turn
    for one in happenings:
        if one.event in _UNTOLD or tools.is_ours(one.tool, one.client) or OBSERVER_FOLDER in one.cwd:
            continue
        live = current.setdefault(one.session, {})
        if one.event == "UserPromptSubmit":
            _finish(live)
            live.clear()
        if one.event == "SessionEnd" and not live:
            continue
        if one.agent not in live:
            live[one.agent] = _turn(one)
            found.append(live[one.agent])
        _take(live[one.agent], one)
        if one.event in _OVER:
            _finish(live)
            live.clear()
    return found


def own_text(text: str) -> str:
    """Give what somebody said themselves: without private parts and without what was put in."""
    said, last = drop_private(text), 0
    parts = []
    for start, end in tagged(said, _INJECTED):
        parts.append(said[last:start])
        last = end
    return " ".join((*parts, said[last:])).strip()


def _turn(one: Happening) -> Turn:
    return Turn(id=one.id, session=one.session, client=one.client, cwd=one.cwd, agent=one.agent, began=one.at)


def _finish(live: dict[str, Turn]) -> None:
    for turn in live.values():
        turn.done = True


def _take(turn: Turn, one: Happening) -> None:
    turn.ended, turn.last = one.at, one.id
    turn.told.append(one)
    match one.event:
        case "UserPromptSubmit":
            turn.prompt = own_text(one.text)
        case "Stop" | "SubagentStop" | "SessionEnd":
            turn.said = own_text(one.text) or turn.said
            turn.done = turn.done or one.event == "SubagentStop"
        case event if event in _USED:
            turn.steps += [Step(id=one.id, did=did) for did in _did(one)]
            turn.tokens += tokens_of(one.result) + sum(tokens_of(text) for text in texts_of(dict(one.given)))


def _did(one: Happening) -> Iterator[Did]:
    """Give what a tool did; one that failed did nothing but fail."""
    role = tools.role_of(one.tool, one.client)
    if role == "run":
        yield from _commanded(one)
    elif one.failed:
        return
    elif role == "read":
        yield from (Looked(path=within(path, one.cwd)) for path in tools.paths_given(one.given))
    elif role in ("search", "fetch"):
        yield Searched(wanted=tools.wanted_given(one.given), outside=role == "fetch")
    elif role == "delegate":
        yield _delegated(one)
    elif role == "patch":
        yield from _patched(tools.patch_given(one.given), one.cwd)
    elif role in ("create", "edit", "delete"):
        yield from (_changed(path, role, one) for path in tools.paths_given(one.given))


def _commanded(one: Happening) -> Iterator[Did]:
    command = tools.command_given(one.given)
    if not command or commands.is_ours(command):
        return
    if "*** Begin Patch" in command and not one.failed:
        yield from _patched(command, one.cwd)
        return
    read = [path for path in commands.read_by(command) if tools.is_path(path)]
    yield from (Looked(path=within(path, one.cwd)) for path in read)
    wrong = commands.went_wrong(command, one.result, failed=one.failed)
    if not wrong:
        for how, path in commands.written_by(command):
            if tools.is_path(path):
                yield Changed(path=within(path, one.cwd), how=_HOW[how])
    if not wrong and (commit := commands.commit_of(command, one.result)):
        yield Committed(hash=commit.hash, subject=commit.subject)
    elif not commands.only_looks(command):
        yield Ran(
            command=" ".join(command.split()),
            name=commands.name_of(command),
            wrong=wrong,
            is_check=bool(commands.check_of(command)),
            error=commands.error_line(one.result) if wrong else "",
        )


_HOW: dict[str, Literal["create", "edit", "delete"]] = {"create": "create", "edit": "edit", "delete": "delete"}
_BEFORE = ("old_string", "oldString", "old_str")
_AFTER = ("new_string", "newString", "new_str", "content", "contents", "file_text", "code_edit", "new_source", "edits")


def _patched(patch: str, cwd: str) -> Iterator[Changed]:
    for how, path in tools.patched(patch):
        yield Changed(path=within(path, cwd), how=_HOW[how], before=_side(patch, "-"), after=_side(patch, "+"))


def _side(patch: str, sign: str) -> str:
    return "\n".join(line[1:] for line in patch.splitlines() if line.startswith(sign))


def _changed(path: str, role: str, one: Happening) -> Changed:
    before = next((text for name in _BEFORE if isinstance(text := one.given.get(name), str)), "")
    after = next((text for name in _AFTER if isinstance(text := one.given.get(name), str)), "")
    how = _HOW[role]
    # A whole file written over one that was there is an edit; Claude Code says which it was.
    if how == "create" and re.match(
        r"(?:The file .* has been updated|.{0,200}\bhas been updated\b|.{0,80}\boverwrote\b)", one.result
    ):
        how = "edit"
    return Changed(path=within(path, one.cwd), how=how, before=before, after=after)


def _delegated(one: Happening) -> Delegated:
    given = one.given
    agent = next(
        (str(given[name]) for name in ("subagent_type", "agent", "agent_name", "agent_type") if given.get(name)), ""
    )
    task = next(
        (str(given[name]) for name in ("description", "objective", "task", "prompt", "message") if given.get(name)), ""
    )
    return Delegated(agent=agent, task=" ".join(task.split()), answer=own_text(one.result))


def within(path: str, cwd: str) -> str:
    """Give a path as seen from the folder of work; what lies outside keeps its whole path."""
    plain, root = path.replace("\\", "/").removeprefix("./"), cwd.replace("\\", "/").rstrip("/")
    return plain.removeprefix(root + "/") if root else plain

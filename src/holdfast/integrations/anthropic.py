"""Claude's memory tool on Holdfast: each file under /memories is a record, with history, secret scan and freshness.

    import anthropic, holdfast
    from holdfast.integrations.anthropic import MemoryTool

    with holdfast.open(agent="claude") as memory:
        runner = anthropic.Anthropic().beta.messages.tool_runner(tools=[MemoryTool(memory)], …)

The answers are those of the SDK's own file-based tool.
"""

import asyncio
import threading
from collections.abc import Sequence

from holdfast.hosts.python import Memory, refused_as
from holdfast.model.errors import HoldfastError
from holdfast.model.ids import short
from holdfast.model.record import Draft, Record
from holdfast.model.text import defused, shorten
from holdfast.policy.admission.admit import SecretFound
from holdfast.policy.freshness import doubts_of
from holdfast.verbs.records import keyed
from holdfast.verbs.records.freshness import freshness

try:
    from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
    from anthropic.types import beta
except ImportError as problem:
    message = "The memory tool needs the package anthropic. Run: pip install 'holdfast[anthropic]'"
    raise ImportError(message) from problem

SYSTEM = "memory-tool"
ROOT = "/memories"
DEPTH = 2  # levels of a directory that are listed
LONGEST_PATH = 1_000
TITLE = 100
EMPTY = "(empty file)"  # a memory has a text
COMMANDS = ("view", "create", "str_replace", "insert", "delete", "rename")
NEEDED = {str: "a text", int: "a whole number"}  # what an argument of these types must be
Parts = tuple[str, ...]


class MemoryTool(BetaAbstractMemoryTool):
    """Claude's memory tool on an open memory; pass it among the `tools` of `tool_runner`.

    Deleted files are retired: `holdfast restore` puts them back. An error is a `ToolError`, which the SDK reports to Claude.
    """

    def __init__(self, memory: Memory, *, cache_control: beta.BetaCacheControlEphemeralParam | None = None) -> None:
        super().__init__(cache_control=cache_control)
        self._memory = memory._inner  # noqa: SLF001  our own class
        self._running = threading.Lock()  # one command at a time: two threads must not create the same file

    def execute(self, command: beta.BetaMemoryTool20250818Command) -> str:
        name = getattr(command, "command", None)  # the SDK does not check what the model sent
        if name not in COMMANDS:
            raise ToolError(f"Unknown command: {name}. Use one of {', '.join(COMMANDS)}.")
        for argument, spec in type(command).model_fields.items():
            if spec.annotation in NEEDED and not isinstance(getattr(command, argument, None), spec.annotation):
                raise ToolError(f"The command {name} needs `{argument}`, {NEEDED[spec.annotation]}.")
        try:
            with self._running:
                return str(super().execute(command))
        except HoldfastError as problem:
            raise ToolError(f"Error: {problem}") from problem

    def view(self, command: beta.BetaMemoryTool20250818ViewCommand) -> str:
        parts = _parts(command.path)
        record = keyed.at(self._memory, SYSTEM, parts) if parts else None
        if record is None:
            return self._directory(command.path, parts)
        lines = _content(_readable(record, command.path)).split("\n")
        first = 1
        if command.view_range and len(command.view_range) == 2:
            if not all(isinstance(line, int) for line in command.view_range):
                raise ToolError(f"Invalid `view_range` parameter: {command.view_range}. It should be two line numbers.")
            first = max(1, command.view_range[0])
            end = len(lines) if command.view_range[1] == -1 else command.view_range[1]
            lines = lines[first - 1 : end]
        stale = doubts_of(freshness(self._memory, [record])).get(record.id, "")
        note = f"\n\n[Holdfast: part of this may be out of date: {stale}. Check it, then edit the file.]"
        shown = f"Here's the content of {command.path} with line numbers:\n{_numbered(lines, first)}"
        return shown + note if stale else shown

    def create(self, command: beta.BetaMemoryTool20250818CreateCommand) -> str:
        parts = _parts(command.path)
        self._check_free(parts, f"File {command.path} already exists")
        return f"File created successfully at: {command.path}{self._saved(parts, command.file_text)}"

    def str_replace(self, command: beta.BetaMemoryTool20250818StrReplaceCommand) -> str:
        parts, content = self._file(command.path)
        old, new = _plain(command.old_str), _plain(command.new_str)
        places = [place for place in range(len(content)) if content.startswith(old, place)] if old else []
        if not places:
            why = f"old_str `{command.old_str}` did not appear verbatim in {command.path}"
            raise ToolError(f"No replacement was performed, {why}.")
        if content.count(old) > 1:
            lines = ", ".join(str(content.count("\n", 0, place) + 1) for place in places)
            why = f"Multiple occurrences of old_str `{command.old_str}` in lines: {lines}. Please ensure it is unique"
            raise ToolError(f"No replacement was performed. {why}")
        text = content.replace(old, new)
        remark = self._saved(parts, text)
        changed = content.count("\n", 0, places[0])
        start = max(0, changed - 2)
        shown = _numbered(text.split("\n")[start : changed + 3], start + 1)
        head = "The memory file has been edited. Here is the snippet showing the change (with line numbers):"
        return f"{head}\n{shown}{remark}"

    def insert(self, command: beta.BetaMemoryTool20250818InsertCommand) -> str:
        parts, content = self._file(command.path)
        lines = content.splitlines()
        if not 0 <= command.insert_line <= len(lines):
            within = f"It should be within the range [0, {len(lines)}]."
            raise ToolError(f"Invalid `insert_line` parameter: {command.insert_line}. {within}")
        lines.insert(command.insert_line, _plain(command.insert_text).rstrip("\n"))
        text = "\n".join(lines).removesuffix("\n") + "\n"
        return f"The file {command.path} has been edited.{self._saved(parts, text)}"

    def delete(self, command: beta.BetaMemoryTool20250818DeleteCommand) -> str:
        parts = _parts(command.path)
        if not parts:
            raise ToolError(f"Cannot delete the {ROOT} directory itself")
        if not keyed.drop(self._memory, SYSTEM, parts, f"{command.path} was deleted with the memory tool"):
            raise ToolError(f"The path {command.path} does not exist")
        return f"Successfully deleted {command.path}"

    def rename(self, command: beta.BetaMemoryTool20250818RenameCommand) -> str:
        old, new = _parts(command.old_path), _parts(command.new_path)
        if not old or not new or (old != new and new[: len(old)] == old):
            raise ToolError(f"Cannot rename {command.old_path} to {command.new_path}")
        self._check_free(new, f"The destination {command.new_path} already exists")
        moved = list(keyed.under(self._memory, SYSTEM, old))
        if not moved:
            raise ToolError(f"The path {command.old_path} does not exist")
        for record in moved:
            key = (*new, *keyed.key_of(record, SYSTEM)[len(old) :])
            _checked(keyed.move(self._memory, SYSTEM, record, key, title=shorten("/".join(key), TITLE)))
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    def clear_all_memory(self) -> str:
        keyed.drop(self._memory, SYSTEM, (), "all files were deleted with the memory tool")
        return "All memory cleared"

    def _directory(self, path: str, parts: Parts) -> str:
        every = keyed.under(self._memory, SYSTEM, parts)
        records = {keyed.key_of(record, SYSTEM)[len(parts) :]: record for record in every}
        if parts and not records:
            raise ToolError(f"The path {path} does not exist. Please provide a valid path.")
        sizes = {below: len(_content(record).encode()) for below, record in records.items()}
        stale = doubts_of(freshness(self._memory, list(records.values())))
        shown = {below[:depth] for below in records for depth in range(1, min(DEPTH, len(below)) + 1)}
        lines = [f"{_size(sum(sizes.values()))}\t{path}"]
        for entry in sorted(entry for entry in shown if not any(part.startswith(".") for part in entry)):
            record = records.get(entry)
            size = _size(sum(size for below, size in sizes.items() if below[: len(entry)] == entry))
            end, mark = "" if record else "/", ""
            if record and (record.state == "pending" or record.id in stale):
                why = stale.get(record.id, "")
                mark = "\t(pending approval)" if record.state == "pending" else f"\t(may be out of date: {why})"
            lines.append(f"{size}\t{path.rstrip('/')}/{defused('/'.join(entry))}{end}{mark}")
        header = f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:"
        return "\n".join([header, *lines])

    def _file(self, path: str) -> tuple[Parts, str]:
        parts = _parts(path)
        record = keyed.at(self._memory, SYSTEM, parts) if parts else None
        if record is not None:
            return parts, _content(_readable(record, path))
        if not parts or next(keyed.under(self._memory, SYSTEM, parts), None):
            raise ToolError(f"The path {path} is not a file.")
        raise ToolError(f"The path {path} does not exist. Please provide a valid path.")

    def _check_free(self, parts: Parts, taken: str) -> None:
        if not parts or next(keyed.under(self._memory, SYSTEM, parts), None):
            raise ToolError(taken)
        for length in range(1, len(parts)):
            if keyed.at(self._memory, SYSTEM, parts[:length]):
                raise ToolError(f"The path {ROOT}/{'/'.join(parts[:length])} is a file, not a directory.")

    def _saved(self, parts: Parts, text: str) -> str:
        """Store a file's text, and the white space around it apart; return what the writer should know about that."""
        text = _plain(text)
        before, body, after = text.partition(text.strip()) if text.strip() else (text, "", "")
        extra = {"around": [before, after], "empty": not body}
        draft = Draft(body=body or EMPTY, title=shorten("/".join(parts), TITLE), extra=extra)
        record = _checked(keyed.put(self._memory, SYSTEM, parts, draft))
        if record.state == "pending":
            return f" It is not used until a person approves it (`holdfast review approve {short(record.id)}`)."
        return " Parts marked <private> were left out." if _content(record) != text else ""


class AsyncMemoryTool(BetaAsyncAbstractMemoryTool):
    """The same tool for `AsyncAnthropic`: every command runs in a thread."""

    def __init__(self, memory: Memory, *, cache_control: beta.BetaCacheControlEphemeralParam | None = None) -> None:
        super().__init__(cache_control=cache_control)
        self._tool = MemoryTool(memory)

    async def execute(self, command: beta.BetaMemoryTool20250818Command) -> str:
        return await asyncio.to_thread(self._tool.execute, command)

    view = create = str_replace = insert = delete = rename = execute

    async def clear_all_memory(self) -> str:
        return await asyncio.to_thread(self._tool.clear_all_memory)


def _parts(path: str) -> Parts:
    """Return the parts of a path below /memories; raise ToolError if it is no such path."""
    if path != ROOT and not path.startswith(f"{ROOT}/"):
        raise ToolError(f"Path must start with {ROOT}, got: {path}")
    parts = tuple(part for part in path.split("/")[2:] if part not in ("", "."))
    lowered = path.lower()
    if any(part == ".." for part in parts) or "\\" in path or "%2e" in lowered or "%2f" in lowered or "%5c" in lowered:
        raise ToolError(f"Path {path} would escape {ROOT} directory")
    if len(path) > LONGEST_PATH or not path.isprintable():
        raise ToolError(f"A path has at most {LONGEST_PATH} characters, all of them printable.")
    return parts


def _content(record: Record) -> str:
    own = record.extra[SYSTEM]
    before, after = own.get("around", ("", ""))
    return f"{before}{'' if own.get('empty') else record.body}{after}"


def _readable(record: Record, path: str) -> Record:
    if record.state == "pending":
        raise ToolError(f"{path} is pending approval: `holdfast review approve {short(record.id)}`.")
    return record


def _checked(outcome: Record | SecretFound) -> Record:
    if isinstance(outcome, SecretFound):
        raise ToolError(f"Error: nothing was saved. {refused_as(outcome).message} Remove them and try again.")
    return outcome


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _numbered(lines: Sequence[str], first: int) -> str:
    return "\n".join(f"{number:>6}\t{line}" for number, line in enumerate(lines, first))


def _size(size: int) -> str:
    """Return a size as the SDK prints it: 0B, 512B, 1.5K."""
    unit = min(max(size.bit_length() - 1, 0) // 10, 3)
    value = size / 1024**unit
    return f"{int(value) if value == int(value) else round(value, 1)}{'BKMG'[unit]}"

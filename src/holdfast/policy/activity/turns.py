"""Group hook activity into turns: per prompt and agent, what was read, searched, changed, run, committed and answered."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise

from holdfast.model.foreign_json import json_or_none, texts_in
from holdfast.model.patterns import patterns_of
from holdfast.model.session import OBSERVER_FOLDER, HookEvent
from holdfast.model.text import shorten, tokens_of
from holdfast.policy.activity import tools
from holdfast.policy.activity.patterns import patched, writes_of
from holdfast.policy.activity.shell import INTERPRETERS, PACKAGE_COMMANDS, Call, parse, program_of
from holdfast.policy.language.foreign import own_part
from holdfast.policy.language.reading import SentenceReader, blanked, tagged
from holdfast.policy.language.user_statements import Objection, is_elliptic, objection
from holdfast.policy.secrets.find import drop_private

LONGEST_ERROR, LONGEST_NAME = 200, 60
ASKS = 0.5  # chance from which a sentence of a prompt asks for something
_RUNS_SCRIPTS = {*INTERPRETERS, *PACKAGE_COMMANDS}

_SAYS, _TEXTS = (patterns_of(__file__, section) for section in ("commands", "texts"))
_ERROR_LINES = tuple(patterns_of(__file__, "errors").values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One action, with the id of the event that reports it."""

    id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRead(Step):
    """A file was read."""

    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched(Step):
    """A search in the code or on the web."""

    wanted: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed(Step):
    """A file was changed (create, edit or delete); `before` and `after` are the known parts of its text."""

    path: str
    how: str
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran(Step):
    """A command was run. `name` is the same for each run of a check or program; `error` is its most informative line."""

    name: str
    wrong: bool
    is_check: bool
    error: str = ""

    @property
    def still(self) -> str:
        """The report that it still fails."""
        return f"{self.name} still fails" + f": {self.error}" * bool(self.error)


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed(Step):
    """A commit was made; `hash` is empty if the output does not include it."""

    hash: str
    subject: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Delegated(Step):
    """A sub-agent got a task and answered."""

    agent: str
    task: str
    answer: str = ""


@lru_cache(maxsize=512)
def _calls(command: str) -> tuple[tuple[Call, tuple[str, ...], str], ...]:
    """Return the single commands of a line: the call, its words without wrappers such as `sudo` or `uv run`, and these as text."""
    calls = list[tuple[Call, tuple[str, ...], str]]()
    for call in (call for pipeline in parse(command) for call in pipeline if call.views):
        # A script is named by the interpreter or package manager that runs it, a module by its own name.
        scripts = (view for view in call.views if program_of(view[0]) in _RUNS_SCRIPTS and "-m" not in view)
        words = next(scripts, call.views[-1])
        calls.append((call, words, " ".join((program_of(words[0]) if "bin/" in words[0] else words[0], *words[1:]))))
    return tuple(calls)


def check_of(command: str) -> str:
    """Return the name of the check a command runs (`pytest`, `cargo test`); "" if it runs none."""
    texts = (text for call, _, own in _calls(command) for text in (own, " ".join(call.views[-1])))
    return next((" ".join(match["name"].split()) for text in texts if (match := _SAYS["check"].match(text))), "")


def name_of(command: str) -> str:
    """Return a short name: the check, else the program with its subcommand."""
    if check := check_of(command):
        return check
    firsts = [pipeline[0] for pipeline in parse(command)]
    _, _, text = next((one for one in _calls(command) if firsts and one[0] == firsts[-1]), (None, (), ""))
    words = text.split()
    has_verb = len(words) > 1 and _SAYS["subcommand"].match(words[1])
    return shorten(" ".join(words[: 2 if has_verb else 1]), LONGEST_NAME)


def only_looks(command: str) -> bool:
    """True if a command only reads: it changes nothing and runs no check."""
    return all(_SAYS["look"].match(text) for _, _, text in _calls(command)) and not list(written_by(command))


def is_ours(command: str) -> bool:
    """True if a command runs Holdfast itself, and nothing else."""
    return bool(_calls(command)) and all(program_of(words[0]) == "holdfast" for _, words, _ in _calls(command))


def read_by(command: str) -> Iterator[str]:
    """Yield the files a command printed."""
    for _, words, text in _calls(command):
        if _SAYS["read"].match(text):
            yield from (word for word in words[1:] if _SAYS["path"].match(word) and not word.startswith("-"))


def written_by(command: str) -> Iterator[tuple[str, str]]:
    """Yield (create, edit or delete, path) for each file a command wrote, moved or removed."""
    writes = dict.fromkeys(writes_of(parse(command), outputs=False))
    yield from (write for write in writes if _SAYS["path"].match(write[1]))


def commit_of(command: str, output: str) -> Committed | None:
    """Return the commit a command made, from git's output, else from the commit message."""
    texts, commits = list[str](), False
    for _, words, text in _calls(command):
        if text.startswith("git ") and {"commit", "revert"}.intersection(words):
            commits = True
            texts += [value for option, value in pairwise(words) if _SAYS["message"].fullmatch(option)]
            texts += [word.partition("=")[2] for word in words if word.startswith("--message=")]
    if texts and texts[0].startswith("$(…)"):  # "$(cat <<EOF …)"
        texts = [call.input for call, _, _ in _calls(command) if call.input] or [""]
    if not commits:
        return None
    printed, _ = output_of(output)
    if reported := _SAYS["committed"].search(printed):
        return Committed(hash=reported["hash"], subject=reported["subject"].strip())
    subject = next(iter(texts[0].strip().splitlines()), "").strip() if texts else ""
    return Committed(hash="", subject=subject) if subject and "nothing to commit" not in printed else None


def output_of(result: str) -> tuple[str, int | None]:
    """Return what a command printed and its exit code, if known."""
    parsed = json_or_none(result) if result.startswith("{") else None
    if not isinstance(parsed, dict):
        code = _SAYS["exit"].search(result[:400]) or _SAYS["exit"].search(result[-400:])
        return result, int(code[1]) if code else None
    printed = (parsed.get(name) for name in ("output", "stdout", "stderr", "error", "content"))
    text, inner = "\n".join(str(part) for part in printed if part), parsed.get("metadata")
    places = (parsed, inner if isinstance(inner, dict) else {})
    codes = (place.get(name) for place in places for name in ("exit_code", "exitCode", "returncode"))
    known = next((code for code in codes if isinstance(code, int)), None)
    return text if known is not None else text or result, known


def has_failed(command: str, result: str, *, failed: bool) -> bool:
    """True if a command failed: reported by the client, by its exit code, or by the output of a check."""
    text, code = output_of(result)
    if failed or (code is not None and code != 0):
        # A search without hits exits non-zero too, and a failed read breaks nothing.
        return not only_looks(command)
    return bool(check_of(command)) and code is None and bool(_SAYS["broken"].search(text))


def error_line(result: str) -> str:
    """Return the line of an output that best describes the failure."""
    text, _ = output_of(result)
    said = (" ".join(match["said"].split()) for pattern in _ERROR_LINES if (match := pattern.search(text)))
    return next((shorten(line, LONGEST_ERROR) for line in said if len(line) >= 6), "")


_SKIPPED = ("Injected", "PreToolUse", "SessionStart")
_NO_START = ("SessionEnd", "Idle", "PreCompact")  # these begin no turn
_TURN_END = ("Stop", "SessionEnd")
MOST_BEFORE = 8  # prompts


@dataclass(slots=True, kw_only=True)
class Turn:
    """The work on one prompt by one agent ("" is the main agent). Filled while activity is read."""

    id: str
    session: str
    client: str
    agent: str
    prompt: str = ""  # what the user wrote themselves; pasted and quoted parts are blank
    certain: str = ""  # the prompt without what may be pasted as well; as long as the prompt
    answer: str = ""
    between: str = ""  # what the agent wrote before its answer, between tool calls
    began: str = ""
    ended: str = ""
    last: str = ""
    steps: list[Step] = field(default_factory=list)
    events: list[HookEvent] = field(default_factory=list)
    tokens: int = 0
    done: bool = False
    compacted: bool = False  # the context was compacted meanwhile: what was said so far may be read already
    previous: str = ""  # what the main agent answered before the prompt
    before: str = ""  # the prompts before this one
    reader: SentenceReader = field(default_factory=SentenceReader)

    @property
    def said(self) -> str:
        """All that the agent wrote in the turn, in order."""
        return "\n\n".join(part for part in (self.between, self.answer) if part)

    @property
    def asked(self) -> str:
        """The prompt with blanks for what it states for good, if it asks for something besides, or only states that."""
        judged = self.reader.prompt(self.prompt, self.previous)
        asks = any(sentence.share("task", "question") >= ASKS for sentence in judged if not sentence.lasts)
        only_states = (not self.steps or is_elliptic(self.prompt)) and all(
            one.label == "chat" or (one.lasts and (self.done or one.label == "rule")) for one in judged
        )
        return blanked(self.prompt, (one.span for one in judged if one.lasts)) if asks or only_states else self.prompt

    @property
    def objects(self) -> Objection:
        """How the prompt answers what the agent said before."""
        return objection(self.prompt, self.previous, self.reader, self.before)


def turns(activity: Sequence[HookEvent], reader: SentenceReader | None = None) -> list[Turn]:
    """Group activity, in its order, into turns; our own tool calls and injected text are left out."""
    result: list[Turn] = []
    current: dict[str, dict[str, Turn]] = {}  # session -> agent -> turn
    for event in activity:
        if event.event in _SKIPPED or tools.is_ours(event.tool, event.client) or OBSERVER_FOLDER in event.cwd:
            continue
        live = current.setdefault(event.session, {})
        if event.event == "UserPromptSubmit":
            _finish(live)
        if event.event in _NO_START and not live:
            continue
        if (turn := live.get(event.agent)) is None:
            main = [turn for turn in reversed(result) if not turn.agent]
            named = {name: getattr(event, name) for name in ("id", "session", "client", "agent")}
            turn = Turn(**named, began=event.at, reader=reader or SentenceReader())
            turn.previous = main[0].answer if main else ""
            turn.before = "\n".join(one.prompt for one in main[:MOST_BEFORE][::-1])
            live[event.agent] = turn
            result.append(turn)
        _add_event(turn, event)
        if event.event in _TURN_END:
            _finish(live)
    return result


def _finish(live: dict[str, Turn]) -> None:
    for turn in live.values():
        turn.done = True
    live.clear()


def own_text(text: str) -> str:
    """Return what a person or agent wrote: without private parts and injected text."""
    text = drop_private(text)
    spans = tagged(text, _TEXTS["injected"])
    starts, ends = [0, *(end for _, end in spans)], [*(start for start, _ in spans), len(text)]
    return " ".join(text[start:end] for start, end in zip(starts, ends, strict=True)).strip()


def _add_event(turn: Turn, event: HookEvent) -> None:
    turn.ended, turn.last = event.at, event.id
    turn.events.append(event)
    match event.event:
        case "UserPromptSubmit":
            own = own_part(drop_private(event.text))
            first, last = len(own.text) - len(own.text.lstrip()), len(own.text.rstrip())
            turn.prompt, turn.certain = own.text[first:last], own.certain[first:last]
            # Asked for, but perhaps not in own words.
            if whole := _TEXTS["quoted"].fullmatch(event.text) if not turn.prompt else None:
                turn.prompt, turn.certain = whole["text"], " " * len(whole["text"])
        case "Stop" | "SubagentStop" | "SessionEnd" | "Idle":
            turn.answer = own_text(event.text) or turn.answer
            turn.between = own_text(event.between) or turn.between
            turn.done = turn.done or event.event == "SubagentStop"
        case "PreCompact":
            turn.between = own_text(event.between) or turn.between
            turn.compacted = True
        case "PostToolUse" | "PostToolUseFailure":
            turn.steps += [replace(step, id=event.id) for step in _steps_of(event)]
            given = texts_in(dict(event.given), keys=False)
            turn.tokens += tokens_of(event.result) + sum(map(tokens_of, given))


def _steps_of(event: HookEvent) -> Iterator[Step]:
    """Yield what a tool call did; a failed call yields nothing, except for a failed command."""
    role = tools.role_of(event.tool, event.client)
    if role == "run":
        yield from _command_steps(event)
    elif event.failed:
        return
    elif role == "read":
        yield from (FileRead(path=within(path, event.cwd)) for path in tools.path_arguments(event.given))
    elif role in ("search", "fetch"):
        yield Searched(wanted=tools.first_text(event.given, tools.SEARCHES))
    elif role == "delegate":
        agent = tools.first_text(event.given, ("subagent_type", "agent", "agent_name", "agent_type"))
        task = tools.first_text(event.given, ("description", "objective", "task", "prompt", "message"))
        yield Delegated(agent=agent, task=" ".join(task.split()), answer=own_text(event.result))
    elif role == "patch":
        yield from _patch_changes(tools.first_text(event.given, tools.PATCHES, "*** "), event.cwd)
    elif role in ("create", "edit", "delete"):
        before, after = (tools.first_text(event.given, names) for names in (_BEFORE, _AFTER))
        # Overwriting an existing file is an edit; Claude Code reports which of the two it was.
        how = "edit" if role == "create" and _TEXTS["overwritten"].match(event.result) else role
        writes = ((how, path) for path in tools.path_arguments(event.given))
        yield from _changes(writes, event.cwd, before, after)


def _command_steps(event: HookEvent) -> Iterator[Step]:
    command, failed = tools.command_argument(event.given), event.failed
    if not command or is_ours(command):
        return
    if "*** Begin Patch" in command and not failed:
        yield from _patch_changes(command, event.cwd)
        return
    yield from (FileRead(path=within(path, event.cwd)) for path in read_by(command) if tools.is_path(path))
    failed = has_failed(command, event.result, failed=failed)
    if not failed:
        yield from _changes(written_by(command), event.cwd)
    if not failed and (commit := commit_of(command, event.result)):
        yield commit
    elif not only_looks(command):
        error = error_line(event.result) if failed else ""
        yield Ran(name=name_of(command), wrong=failed, is_check=bool(check_of(command)), error=error)


_BEFORE = ("old_string", "oldString", "old_str")
_AFTER = ("new_string", "newString", "new_str", "content", "contents", "file_text", "code_edit", "new_source", "edits")


def _patch_changes(patch: str, cwd: str) -> Iterator[Step]:
    before, after = ("\n".join(line[1:] for line in patch.splitlines() if line.startswith(sign)) for sign in "-+")
    return _changes(patched(patch), cwd, before, after)


def _changes(writes: Iterable[tuple[str, str]], cwd: str, before: str = "", after: str = "") -> Iterator[Step]:
    for how, path in writes:
        if tools.is_path(path):
            yield Changed(path=within(path, cwd), how=how, before=before, after=after)


def within(path: str, cwd: str) -> str:
    """Return a path relative to the working folder; a path outside it stays absolute."""
    plain, root = path.replace("\\", "/").removeprefix("./"), cwd.replace("\\", "/").rstrip("/")
    return plain.removeprefix(root + "/") if root else plain

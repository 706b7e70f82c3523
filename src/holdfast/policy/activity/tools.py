"""Map the tools of each client to what they do: read, search, change, run, fetch or delegate, and find their arguments."""

import re
from collections.abc import Mapping
from typing import Any, Literal

from holdfast.model.foreign_json import parse_json

Role = Literal["read", "search", "create", "edit", "delete", "patch", "run", "fetch", "delegate", "aside"]

# Client -> what a tool does -> its names there. `aside`: plans, questions and menus, which do not concern the code.
VOCABULARY: Mapping[str, Mapping[Role, str]] = {
    "claude-code": {
        "read": "Read NotebookRead ReadMcpResourceTool",
        "search": "Grep Glob LS LSP ToolSearch",
        "create": "Write",
        "edit": "Edit MultiEdit NotebookEdit",
        "run": "Bash PowerShell Monitor",
        "fetch": "WebFetch WebSearch",
        "delegate": "Task Agent",
        "aside": "TodoWrite TaskCreate TaskUpdate TaskList TaskGet AskUserQuestion EnterPlanMode ExitPlanMode Skill "
        "SlashCommand ListMcpResourcesTool BashOutput KillShell KillBash TaskOutput TaskStop SendMessage",
    },
    "codex": {
        "read": "read_regular view_image",
        "search": "grep_files list_dir tool_search",
        "patch": "apply_patch",
        "run": "shell local_shell shell_command exec_command container.exec exec unified_exec Bash",
        "fetch": "web_search web_run",
        "delegate": "spawn_agent",
        "aside": "update_plan request_user_input write_stdin send_input wait wait_agent close_agent",
    },
    "gemini": {
        "read": "read_regular read_many_files",
        "search": "glob search_file_content grep_search list_directory",
        "create": "write_file",
        "edit": "replace edit",
        "run": "run_shell_command",
        "fetch": "web_fetch google_web_search",
        "delegate": "delegate_to_agent codebase_investigator",
        "aside": "save_memory write_todos ask_user activate_skill enter_plan_mode exit_plan_mode",
    },
    "cursor": {
        "read": "read_regular Read",
        "search": "codebase_search grep grep_search file_search list_dir glob_file_search Grep SemanticSearch Glob",
        "create": "write create_file Write",
        "edit": "edit_file search_replace edit_notebook reapply StrReplace",
        "delete": "delete_file Delete",
        "run": "run_terminal_cmd run_terminal_command Shell",
        "fetch": "web_search fetch_rules WebSearch WebFetch",
        "delegate": "Task task",
        "aside": "todo_write update_memory ask_question create_plan read_lints TodoWrite",
    },
    "opencode": {
        "read": "read",
        "search": "grep glob list lsp codesearch",
        "create": "write",
        "edit": "edit multiedit",
        "patch": "patch apply_patch",
        "run": "bash",
        "fetch": "webfetch websearch",
        "delegate": "task",
        "aside": "todowrite todoread question skill plan_enter plan_exit invalid",
    },
    "copilot": {
        "read": "view",
        "search": "grep glob",
        "create": "create",
        "edit": "edit str_replace str_replace_editor",
        "patch": "apply_patch",
        "run": "bash powershell",
        "fetch": "web_fetch web_search",
        "delegate": "task",
        "aside": "report_intent update_todo ask_user read_bash write_bash stop_bash list_bash store_memory",
    },
}
_BY_CLIENT = {
    client: {name.lower(): role for role, names in roles.items() for name in names.split()}
    for client, roles in VOCABULARY.items()
}
_ANYWHERE = {name: role for roles in reversed(_BY_CLIENT.values()) for name, role in roles.items()}
# Holdfast's own tools, in any client's spelling; their results are memories already.
_OURS = re.compile(r"(?:^|__|_|-|:|/)(?:plugin[_-])?holdfast(?:$|__|_|-|:|/|\.)", re.IGNORECASE)
OWN_NAMES = frozenset("recall remember revise judge forget absorb explore".split())
_PATHS = (
    "file_path",
    "filePath",
    "path",
    "notebook_path",
    "absolute_path",
    "target_file",
    "target_notebook",
    "filename",
)
LONGEST_PATH = 500
_PATH_LISTS = ("paths", "files", "file_paths")
_COMMANDS = ("command", "cmd", "script", "commands")
_SEARCHES = ("pattern", "query", "regex", "url", "search_term", "prompt", "glob_pattern", "explanation")
_PATCHES = ("patch", "input", "patchText", "patch_text", "command", "text", "diff")


def role_of(tool: str, client: str = "") -> Role | None:
    """Return what a tool does; None for unknown tools and those of other servers."""
    name = tool.lower()
    return _BY_CLIENT.get(client, {}).get(name) or _ANYWHERE.get(name)


def is_ours(tool: str, client: str = "") -> bool:
    """True if a tool is one of Holdfast's."""
    return bool(_OURS.search(tool)) or (tool.lower() in OWN_NAMES and role_of(tool, client) is None)


def path_arguments(arguments: Mapping[str, Any]) -> list[str]:
    """Return the paths among a tool's arguments."""
    paths = [arguments[name] for name in _PATHS if isinstance(arguments.get(name), str)]
    for name in _PATH_LISTS:
        listed = _decoded(arguments.get(name))
        paths += [path for path in listed if isinstance(path, str)] if isinstance(listed, list) else []
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
            is_shell = len(parts) > 2 and parts[0].rpartition("/")[2] in (
                "bash",
                "sh",
                "zsh",
                "cmd",
                "powershell",
                "pwsh",
            )
            return parts[-1] if is_shell else " ".join(parts)
        if isinstance(value, str) and value.strip():
            return value.strip()
    return ""


def search_argument(arguments: Mapping[str, Any]) -> str:
    """Return what a search or a fetch looked for."""
    return next((text for name in _SEARCHES if isinstance(text := arguments.get(name), str) and text), "")


def patch_argument(arguments: Mapping[str, Any]) -> str:
    """Return the text of a patch."""
    return next((text for name in _PATCHES if isinstance(text := arguments.get(name), str) and "*** " in text), "")


def open_steps(tool: str, arguments: Mapping[str, Any]) -> list[str]:
    """Return the unfinished steps of a plan that an agent wrote down with its to-do tool."""
    listed = _decoded(arguments.get("todos") or arguments.get("plan")) if _PLANS.search(tool) else None
    steps = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    is_open = (step for step in steps if str(step.get("status")).lower() not in ("completed", "done", "cancelled"))
    texts = (next((step[name] for name in _STEP if isinstance(step.get(name), str)), "") for step in is_open)
    return [text for text in texts if text]


_PLANS = re.compile(r"todo|plan", re.IGNORECASE)
_STEP = ("content", "step", "title", "description", "text", "task")


def _decoded(value: Any) -> Any:
    """Return the value, parsed where it is a list written as JSON."""
    if isinstance(value, str) and value.startswith("["):
        try:
            return parse_json(value)
        except ValueError:
            return value
    return value

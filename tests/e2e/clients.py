"""The real clients, as one table: how each is run without a person, and what it cannot do."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.e2e.dialects import Call
from tests.e2e.model import SUBAGENT
from tests.e2e.seat import python

KEY = "no-key-at-all"
ROOT = Path(__file__).parents[2]
NO_PLUGIN = "it takes no plugins in Claude's format; `holdfast init` sets it up"
OURS, PLUGGED = (f"{name}recall,{name}remember" for name in ("mcp__holdfast__", "mcp__plugin_holdfast_holdfast__"))
Words = Callable[[str, str], list[str]]  # of a prompt and the model's address: what follows the program


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """Everything the promises have to know about one client."""

    title: str
    name: str  # as `holdfast init --client` takes it
    program: Callable[[], list[str]]
    files: Mapping[str, str]  # what its user's home holds before we come
    words: Words
    again: Words  # the same, in the session before
    variables: Callable[[str], dict[str, str]]  # of the model's address
    before: tuple[Call, ...] = ()  # what its model has to do before it can call our tools
    shell: Callable[[str], Call]
    write: Callable[[str, str], Call]
    delegate: Callable[[str], tuple[Call, ...]]  # of the prompt for a sub-agent
    plugging: tuple[tuple[str, ...], ...] = ()  # commands that install our plugin, for those that take it
    compacts: str = ""  # the prompt that makes it compact; else it does when its model is full
    cannot: Mapping[str, str] = field(default_factory=dict)  # promises it does not let us keep, and why


def program(name: str) -> list[str]:
    """Give the command of a client that was fetched; Node is at hand only where clients are tested."""
    from tests.clients.fetch import program

    return program(name)


def _claude_words(prompt: str, _: str, *more: str) -> list[str]:
    allowed = "Bash,Write,Edit,Task,Agent"
    return ["-p", prompt, "--output-format", "json", "--allowedTools", allowed, *more]


def _codex_words(prompt: str, url: str, *more: str) -> list[str]:
    # Hooks are trusted by a person, in a dialog; there is none here.
    free = ["--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust", "--json"]
    return [
        "exec",
        *more,
        *free,
        "-c",
        "model_auto_compact_token_limit=200000",
        "-c",
        f'model_providers.scripted.base_url="{url}/v1"',
        prompt,
    ]


def _gemini_words(prompt: str, _: str, *more: str) -> list[str]:
    return [*more, "-p", prompt, "-m", "gemini-2.5-flash", "--output-format", "json", "--approval-mode", "yolo"]


def _opencode_words(prompt: str, _: str, *more: str) -> list[str]:
    return ["run", *more, "--format", "json", prompt]


def _task(tool: str, prompt: str, kind: str) -> Call:
    return Call(tool, {"description": "as scripted", "prompt": prompt, "subagent_type": kind})


CLAUDE = Client(
    title="Claude Code",
    name="claude-code",
    program=lambda: program("claude"),
    files={
        ".claude.json": '{"numStartups": 3, "theme": "dark",\n "mcpServers": {"files": {"command": "true", "args": []}}}\n',
        ".claude/settings.json": """{
  "model": "sonnet",
  "permissions": {"allow": ["Bash(git status)"], "deny": ["Read(./.env)"]},
  "hooks": {
    "Stop": [{"hooks": [{"type": "command", "command": "true"}]}]
  }
}""",
        ".claude/CLAUDE.md": "# How I like it\n\nShort answers.\n",
    },
    words=_claude_words,
    again=lambda prompt, url: _claude_words(prompt, url, "--continue"),
    variables=lambda url: {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": KEY,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    },
    # Tools of servers are not listed until they are searched for.
    before=(Call("ToolSearch", {"query": f"select:{OURS},{PLUGGED}"}),),
    shell=lambda command: Call("Bash", {"command": command, "description": "as scripted"}),
    write=lambda path, text: Call("Write", {"file_path": path, "content": text}),
    delegate=lambda prompt: (_task("Agent", prompt, "general-purpose"),),
    plugging=(("plugin", "marketplace", "add", str(ROOT)), ("plugin", "install", "holdfast@holdfast")),
    compacts="/compact",
)

CODEX = Client(
    title="Codex",
    name="codex",
    program=lambda: program("codex"),
    files={
        ".codex/config.toml": """# my settings
model = "gpt-5.5"   # one it offers patches to
model_provider = "scripted"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.scripted]
name = "scripted"
base_url = "http://127.0.0.1:9/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0

[mcp_servers.files]
command = "true"
enabled = false
""",
        ".codex/AGENTS.md": "Short answers.\n",
    },
    words=_codex_words,
    again=lambda prompt, url: _codex_words(prompt, url, "resume", "--last"),
    variables=lambda _: {"SCRIPTED_KEY": KEY},
    before=(Call("tool_search", {"query": "recall and remember what is known"}),),
    shell=lambda command: Call("exec_command", {"cmd": command}),
    write=lambda path, text: Call(
        "apply_patch", f"*** Begin Patch\n*** Add File: {path}\n+{text.rstrip()}\n*** End Patch\n"
    ),
    delegate=lambda prompt: (
        Call("tool_search", {"query": "spawn sub-agents and wait for them"}),
        Call("spawn_agent", {"message": prompt}),
        Call("wait_agent", {"targets": [SUBAGENT], "timeout_ms": 60_000}),
    ),
    plugging=(("plugin", "marketplace", "add", str(ROOT)), ("plugin", "add", "holdfast@holdfast")),
)

GEMINI = Client(
    title="Gemini CLI",
    name="gemini",
    program=lambda: program("gemini"),
    files={
        ".gemini/settings.json": """{
  // no questions about the folder
  "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}},
  "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
  "privacy": {"usageStatisticsEnabled": false},
  "ui": {"theme": "Default"}
}
""",
        ".gemini/GEMINI.md": "Short answers.\n",
    },
    words=_gemini_words,
    again=lambda prompt, url: _gemini_words(prompt, url, "--resume", "latest"),
    variables=lambda url: {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": url, "GEMINI_CLI_NO_RELAUNCH": "true"},
    shell=lambda command: Call("run_shell_command", {"command": command, "description": "as scripted"}),
    write=lambda path, text: Call("write_file", {"file_path": path, "content": text}),
    delegate=lambda prompt: (Call("invoke_agent", {"agent_name": "generalist", "prompt": prompt}),),
    cannot={
        "plugin": NO_PLUGIN,
        "compaction": "it runs hooks before it compresses (as before every call of its model), and none afterwards",
        "subagent": "its hooks are not told which agent uses a tool; the work counts as the session's own",
    },
)

OPENCODE = Client(
    title="OpenCode",
    name="opencode",
    program=lambda: program("opencode"),
    files={
        ".config/opencode/opencode.json": """{
  "$schema": "https://opencode.ai/config.json",
  "autoupdate": false,
  "share": "disabled",
  "model": "scripted/scripted",
  "small_model": "scripted/scripted",
  "permission": {"*": "allow"},
  "provider": {
    "scripted": {
      "npm": "@ai-sdk/openai-compatible",
      "name": "scripted",
      "options": {"baseURL": "{env:SCRIPTED_URL}/v1", "apiKey": "{env:SCRIPTED_KEY}"},
      "models": {"scripted": {"name": "scripted", "limit": {"context": 100000, "output": 8000}}}
    }
  }
}
""",
        ".config/opencode/AGENTS.md": "Short answers.\n",
    },
    words=_opencode_words,
    again=lambda prompt, url: _opencode_words(prompt, url, "--continue"),
    variables=lambda url: {
        "SCRIPTED_URL": url,
        "SCRIPTED_KEY": KEY,
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        # It would try for a minute to fetch a package for plugins; ours needs none.
        "npm_config_registry": f"{url}/npm/",
        "npm_config_fetch_retries": "0",
    },
    shell=lambda command: Call("bash", {"command": command, "description": "as scripted"}),
    write=lambda path, text: Call("write", {"filePath": path, "content": text}),
    delegate=lambda prompt: (_task("task", prompt, "general"),),
    cannot={"plugin": NO_PLUGIN},
)

SCRIPTED = replace(
    CLAUDE,
    title="scripted agent",
    program=lambda: [python(), str(Path(__file__).with_name("agent.py"))],
    words=lambda prompt, _: [prompt],
    again=lambda prompt, _: [prompt, "--continue"],
    variables=lambda url: {"ANTHROPIC_BASE_URL": url},
    before=(),
    plugging=(("plugin", str(ROOT / "plugin")),),
    delegate=lambda prompt: (_task("Task", prompt, "general-purpose"),),
)

CLIENTS = (CLAUDE, CODEX, GEMINI, OPENCODE)

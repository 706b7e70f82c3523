"""The clients Holdfast knows how to set up, as one table."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Literal

from holdfast.hosts.setup import shapes
from holdfast.hosts.setup.edits import NAME
from holdfast.hosts.setup.machine import Installation, Machine
from holdfast.model.errors import Invalid
from holdfast.model.trail import CLIENT_EVENTS

Paths = tuple[str, ...]  # templates of `places.Machine`; the first that exists is taken, else the last is made


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """Where a client lists MCP servers, and how an entry looks."""

    user: Paths = ()
    project: Paths = ()
    under: tuple[str, ...] = ("mcpServers",)
    form: Literal["json", "toml", "yaml"] = "json"
    shape: Callable[[Installation], Any] = shapes.stdio
    more: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    """Where a client lists hooks, how one looks, and its own names of our events."""

    user: Paths = ()
    project: Paths = ()
    events: Mapping[str, str]
    shape: Callable[[Installation, str, str], Mapping[str, Any]]
    skeleton: Mapping[str, Any] = field(default_factory=dict)  # what a new file must hold besides
    also_runs: str = ""  # a client whose hooks in a project this one runs as well: both would fire twice


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """A file, entirely ours, that a client loads."""

    user: Paths
    project: Paths
    text: Callable[[Installation], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """Where a client keeps what lets our tools run without asking: a rule in a file, or a key of the server's entry."""

    user: Paths = ()
    project: Paths = ()
    path: tuple[str, ...]
    value: Any
    form: Literal["rule", "json", "toml"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Guide:
    """Where a client looks for instructions."""

    user: Paths = ()
    project: Paths = ()


Part = Server | Hooks | Plugin | Grant | Guide


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """Where a client lists enabled plugins, each by its name and its marketplace's."""

    file: str
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """Everything about one client."""

    name: str
    title: str
    programs: tuple[str, ...] = ()
    signs: Paths = ()  # files or folders that show it is installed
    server: Server
    hooks: Hooks | None = None
    plugin: Plugin | None = None
    grant: Grant | None = None
    guide: Guide = Guide()
    switch: Switch | None = None  # for clients that take our Claude-format plugin
    note: str = ""  # what is left to do by hand


def same(*left_out: str) -> dict[str, str]:
    """Return events whose names are the client's own too."""
    return {event: event for event in CLIENT_EVENTS if event not in left_out}


def camel(*left_out: str, **others: str) -> dict[str, str]:
    """Return events whose names begin with a small letter there, and those that are called otherwise."""
    names = {event: event[0].lower() + event[1:] for event in CLIENT_EVENTS if event not in left_out}
    return names | others


CLIENTS = (
    Client(
        name="claude-code",
        title="Claude Code",
        programs=("claude",),
        signs=("{claude}", "{claude_json}"),
        server=Server(user=("{claude_json}",), project=("{project}/.mcp.json",), more={"type": "stdio"}),
        # A project's settings.json is shared; settings.local.json is where paths of one machine belong.
        hooks=Hooks(
            user=("{claude}/settings.json",),
            project=("{project}/.claude/settings.local.json",),
            events=same(),
            shape=shapes.group,
        ),
        grant=Grant(
            user=("{claude}/settings.json",),
            project=("{project}/.claude/settings.local.json",),
            path=("permissions", "allow"),
            value=f"mcp__{NAME}__*",
            form="rule",
        ),
        # Where a CLAUDE.md stands, AGENTS.md is not read: a new one would hide it.
        guide=Guide(user=("{claude}/CLAUDE.md",), project=("{project}/CLAUDE.md", "{project}/AGENTS.md")),
        switch=Switch(file="{claude}/settings.json", path=("enabledPlugins",)),
    ),
    Client(
        name="codex",
        title="Codex",
        programs=("codex",),
        signs=("{codex}",),
        server=Server(
            user=("{codex}/config.toml",),
            project=("{project}/.codex/config.toml",),
            under=("mcp_servers",),
            form="toml",
        ),
        grant=Grant(path=("mcp_servers", NAME, "default_tools_approval_mode"), value="approve", form="toml"),
        hooks=Hooks(
            user=("{codex}/hooks.json",),
            project=("{project}/.codex/hooks.json",),
            events=same("PostToolUseFailure"),
            shape=shapes.group,
        ),
        guide=Guide(user=("{codex}/AGENTS.md",), project=("{project}/AGENTS.md",)),
        switch=Switch(file="{codex}/config.toml", path=("plugins",)),
        note="Codex runs new hooks only after you have looked at them: open it and answer its review (or /hooks).",
    ),
    Client(
        name="gemini",
        title="Gemini CLI",
        programs=("gemini",),
        signs=("{gemini}",),
        server=Server(user=("{gemini}/settings.json",), project=("{project}/.gemini/settings.json",)),
        grant=Grant(path=("mcpServers", NAME, "trust"), value=True, form="json"),
        hooks=Hooks(
            user=("{gemini}/settings.json",),
            project=("{project}/.gemini/settings.json",),
            # PreCompress is left out: it fires before every call of the model.
            events={
                "SessionStart": "SessionStart",
                "UserPromptSubmit": "BeforeAgent",
                "PreToolUse": "BeforeTool",
                "PostToolUse": "AfterTool",
                "Stop": "AfterAgent",
                "SessionEnd": "SessionEnd",
            },
            shape=shapes.group_in_milliseconds,
        ),
        guide=Guide(user=("{gemini}/GEMINI.md",), project=("{project}/GEMINI.md",)),
    ),
    Client(
        name="copilot",
        title="Copilot CLI",
        programs=("copilot",),
        signs=("{copilot}",),
        server=Server(user=("{copilot}/mcp-config.json",), more={"type": "local", "tools": ["*"]}),
        hooks=Hooks(
            user=("{copilot}/hooks/holdfast.json",),
            project=("{project}/.github/hooks/holdfast.json",),
            events=camel("PostToolUseFailure", UserPromptSubmit="userPromptSubmitted", Stop="agentStop"),
            shape=shapes.by_shell,
            skeleton={"version": 1},
            also_runs="claude-code",
        ),
        guide=Guide(user=("{copilot}/copilot-instructions.md",), project=("{project}/AGENTS.md",)),
        switch=Switch(file="{copilot}/settings.json", path=("enabledPlugins",)),
    ),
    Client(
        name="cursor",
        title="Cursor",
        programs=("cursor", "cursor-agent"),
        signs=("{home}/.cursor",),
        server=Server(user=("{home}/.cursor/mcp.json",), project=("{project}/.cursor/mcp.json",)),
        hooks=Hooks(
            user=("{home}/.cursor/hooks.json",),
            project=("{project}/.cursor/hooks.json",),
            events=camel(UserPromptSubmit="beforeSubmitPrompt"),
            shape=shapes.flat,
            skeleton={"version": 1},
        ),
        guide=Guide(project=("{project}/AGENTS.md",)),
    ),
    Client(
        name="opencode",
        title="OpenCode",
        programs=("opencode",),
        signs=("{opencode}",),
        server=Server(
            user=("{opencode}/opencode.jsonc", "{opencode}/opencode.json"),
            project=("{project}/opencode.jsonc", "{project}/opencode.json"),
            under=("mcp",),
            shape=shapes.joined,
        ),
        plugin=Plugin(
            user=("{opencode}/plugins/holdfast.js",),
            project=("{project}/.opencode/plugins/holdfast.js",),
            text=shapes.opencode_plugin,
        ),
        guide=Guide(user=("{opencode}/AGENTS.md",), project=("{project}/AGENTS.md",)),
    ),
    Client(
        name="vscode",
        title="VS Code",
        programs=("code",),
        signs=("{support}/Code/User",),
        server=Server(
            user=("{support}/Code/User/mcp.json",),
            project=("{project}/.vscode/mcp.json",),
            under=("servers",),
            more={"type": "stdio"},
        ),
        guide=Guide(project=("{project}/AGENTS.md",)),
    ),
    Client(
        name="devin",
        title="Devin Desktop",
        signs=("{devin}",),
        server=Server(user=("{devin}/mcp_config.json",), project=("{project}/.devin/mcp_config.json",)),
        guide=Guide(project=("{project}/AGENTS.md",)),
    ),
    Client(
        name="windsurf",
        title="Windsurf",
        programs=("windsurf",),
        signs=("{home}/.codeium/windsurf",),
        server=Server(user=("{home}/.codeium/windsurf/mcp_config.json",)),
        guide=Guide(project=("{project}/AGENTS.md",)),
    ),
    Client(
        name="cline",
        title="Cline",
        programs=("cline",),
        signs=("{home}/.cline", "{support}/Code/User/globalStorage/saoudrizwan.claude-dev"),
        server=Server(
            user=(
                "{home}/.cline/data/settings/cline_mcp_settings.json",
                "{home}/.cline/mcp.json",
                "{support}/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
                "{home}/.cline/data/settings/cline_mcp_settings.json",
            )
        ),
        guide=Guide(project=("{project}/AGENTS.md",)),
    ),
    Client(
        name="continue",
        title="Continue",
        programs=("cn",),
        signs=("{home}/.continue",),
        server=Server(
            user=("{home}/.continue/mcpServers/holdfast.yaml",),
            project=("{project}/.continue/mcpServers/holdfast.yaml",),
            form="yaml",
            shape=shapes.yaml,
        ),
    ),
    Client(
        name="zed",
        title="Zed",
        programs=("zed",),
        signs=("{zed}",),
        server=Server(
            user=("{zed}/settings.json",), project=("{project}/.zed/settings.json",), under=("context_servers",)
        ),
        guide=Guide(project=("{project}/AGENTS.md",)),
    ),
    Client(
        name="claude-desktop",
        title="Claude Desktop",
        signs=("{support}/Claude",),
        server=Server(user=("{support}/Claude/claude_desktop_config.json",)),
    ),
)
BY_NAME = {client.name: client for client in CLIENTS}


def check_clients(names: Iterable[str]) -> tuple[Client, ...]:
    """Return the clients with these names, in the order of the table; raise Invalid with the nearest name as a hint."""
    wanted = set(names)
    for name in sorted(wanted - BY_NAME.keys()):
        near = get_close_matches(name.lower(), _CALLED, n=1)
        hint = f"Did you mean {_CALLED[near[0]]}?" if near else f"Known clients: {', '.join(BY_NAME)}."
        raise Invalid(f"There is no client {name[:40]!r}.", hint=f"{hint} Any other MCP client starts `holdfast mcp`.")
    return tuple(client for client in CLIENTS if client.name in wanted)


# What people call a client: its name, its title, its programs.
_CALLED = {
    called: client.name
    for client in CLIENTS
    for called in (*client.programs, client.title.lower().replace(" ", "-"), client.name)
}


def installed(machine: Machine) -> tuple[Client, ...]:
    """Return the clients that are found on a machine."""
    return tuple(client for client in CLIENTS if is_installed(client, machine))


def is_installed(client: Client, machine: Machine) -> bool:
    """True if a client's files or programs exist."""
    return any(machine.path(sign).exists() for sign in client.signs) or any(map(machine.has_program, client.programs))

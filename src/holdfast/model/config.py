"""Every setting with its meaning and default; `compose` reads them once, nothing changes them afterwards."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


def _setting(default: Any, help: str) -> Any:  # noqa: A002
    return field(default=default, metadata={"help": help})


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The settings in force."""

    home: str = _setting(
        "",
        "Folder of the store. Empty: the one made for this folder with `holdfast store separate`, else the platform's data folder.",
    )
    database: str = _setting("", "postgresql://… for a team database. Empty: the SQLite file in the store's folder.")
    project: str = _setting(
        "",
        "Identity of the codebase. Empty: the git remote, else the path. In your config.toml, a table [projects] names folders.",
    )
    agent: str = _setting("", "Name under which writes are recorded. Empty: the user's login name.")
    session: str = _setting("", "Session to which reads and writes belong.")
    embedder: str = _setting("local", "local (the built-in encoder), http (an OpenAI-compatible endpoint) or none.")
    embedder_url: str = _setting("", "Base URL of the endpoint, such as http://127.0.0.1:11434/v1.")
    embedder_model: str = _setting("", "Model name sent to the endpoint.")
    embedder_key: str = _setting("", "API key for the endpoint.")
    embedder_floor: float = _setting(0.2, "Cosine of unrelated texts with the endpoint's model.")
    embedder_ceiling: float = _setting(0.8, "Cosine of clearly related texts with the endpoint's model.")
    observer: str = _setting(
        "none", "Who writes observations: none (rules alone), anthropic, openai or claude (the command line)."
    )
    observer_model: str = _setting("", "Model of the observer. Empty: the provider's small model, if it has one.")
    observer_url: str = _setting("", "Base URL of the observer's endpoint. Empty: the provider's own.")
    observer_key: str = _setting("", "API key for the observer.")
    observer_daily_tokens: int = _setting(0, "Maximum tokens the observer may spend in a day. 0: the observer is off.")
    mode: str = _setting(
        "code", "What an observer looks for: code, code--chill, email-investigation or a file in modes/."
    )
    http_token: str = _setting("", "Token of `holdfast mcp --http`. Empty: made once, stored next to the database.")
    list_aliases: bool = _setting(False, "Also list the short tool names on compatible surfaces.")
    preset: str = _setting(
        "",
        "Defaults of another system: gitmem, memory-mcp, git-notes, claude-mem or bettermemory. Settings override it.",
    )
    recall_limit: int = _setting(10, "Maximum number of recall results.")
    recall_budget: int = _setting(2000, "Maximum tokens of a recall's results.")
    confirm_writes: bool = _setting(False, "Require approval of every write.")
    allowed_scopes: tuple[str, ...] = _setting((), "If set, only these scopes may be written.")
    starters: bool = _setting(
        False, "Add twelve general lessons, and show them in recall after the project's own, marked as starters."
    )
    inject: str = _setting(
        "brief", "What is injected into sessions automatically: off, hot, brief or full (brief and file notes)."
    )
    brief_budget: int = _setting(
        0, "Maximum tokens of the brief at session start. 0: 800 to 2200, depending on how much is stored."
    )
    block_actions: bool = _setting(False, "Let a blocking scar stop the command or edit it names.")
    prompt_hints: bool = _setting(False, "Point to memories that share rare words with a prompt.")
    guard_secrets: bool = _setting(
        False, "Warn before a read or command that would print credentials (stop it, with block_actions)."
    )
    remind: bool = _setting(
        False, "Remind agents to look for scars before a risky command, and to close their session when they end."
    )
    promote_after: int = _setting(
        0, "Recalls through Memory MCP's tools after which a memory joins the hot set. 0: only its use adds it."
    )
    demote_days: int = _setting(
        0, "Days without use after which a memory leaves the hot set. 0: 7 to 28, depending on its kind."
    )
    auto_bootstrap: bool = _setting(False, "Import the project's documents when the hot set is read and still empty.")
    hot_capacity: int = _setting(20, "Maximum number of memories in a project's hot set.")
    quarantine: str = _setting(
        "show",
        "What happens to memories from people you have not accepted: show (recall lists them apart, marked), hide, or off (accept all).",
    )
    pending_days: int = _setting(7, "Days after which an unapproved write expires.")
    output_days: int = _setting(7, "Days that logged output is stored.")
    output_characters: int = _setting(20_000_000, "Maximum characters of logged output; the oldest is deleted first.")
    mined_days: int = _setting(30, "Days after which a mined pattern that was not seen again expires.")
    mined_confidence: float = _setting(
        0.0, "Confidence from which a mined pattern is saved without approval. 0: never."
    )
    mined_occurrences: int = _setting(0, "Occurrences also needed to save a mined pattern without approval. 0: never.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """The philosophy of one system. Settings of the user override all of it."""

    settings: Mapping[str, Any]
    hooks: bool = True  # False: nothing is captured or injected, so `init` writes no hooks
    variables: Mapping[str, str] = field(default_factory=dict)  # its environment variables → our settings
    switches: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # what each variable turns off if false
    prefix: str = ""  # of its variables; those without a counterpart here are reported
    search: str = "recall"  # tool that finds memories
    read: str = "read"  # tool that returns them in full
    close: str = "session close"  # tool that ends a session
    guide: tuple[str, ...] = ()  # lines about its tools for CLAUDE.md


CORE = Preset(
    settings={},
    guide=(
        "`recall` finds what is known about a topic, error or file, and says when nothing fits; `read` gives full texts.",
        "`remember` keeps a lesson, decision or preference; duplicates and secrets are refused.",
        "`session` (start, close) carries summary, decisions and threads over; `thread` lists unfinished work.",
        "Answer each scar that `recall` shows (`judge`, with evidence) before consequential work.",
        "`brief` prepares context for sub-agents, which see no memory by themselves; `absorb` keeps what they found.",
    ),
)
PRESETS: Mapping[str, Preset] = {
    "gitmem": Preset(  # a session opens with scars, threads and decisions; scars are recalled before risky work
        settings={"inject": "brief", "remind": True},
        variables={"GITMEM_DIR": "home", "GITMEM_DEFAULT_PROJECT": "project"},
        search="recall",
        read="search",
        close="session_close",
        guide=(
            "`session_start` at the beginning loads the last session, open threads and decisions; `session_close` ends it.",
            "`recall` with your plan before consequential work; answer every scar it shows with `confirm_scars`.",
            "`create_learning` keeps a scar, win or pattern, `create_decision` a decision; `search` finds what is known.",
            "`create_thread`, `list_threads` and `resolve_thread` carry unfinished work over.",
            "`prepare_context` for sub-agents, which see no memory by themselves; `absorb_observations` keeps what they found.",
        ),
    ),
    "memory-mcp": Preset(  # injects only the hot cache, which fills by access; saves patterns mined often enough
        settings={
            "inject": "hot",
            "recall_limit": 5,
            "mined_confidence": 0.8,
            "mined_occurrences": 3,
            "promote_after": 3,
            "demote_days": 14,
            "auto_bootstrap": True,
        },
        variables={
            "MEMORY_MCP_DB_PATH": "home",
            "MEMORY_MCP_HOT_CACHE_MAX_ITEMS": "hot_capacity",
            "MEMORY_MCP_PROMOTION_THRESHOLD": "promote_after",
            "MEMORY_MCP_DEMOTION_DAYS": "demote_days",
            "MEMORY_MCP_DEFAULT_RECALL_LIMIT": "recall_limit",
            "MEMORY_MCP_LOG_RETENTION_DAYS": "output_days",
            "MEMORY_MCP_MINING_AUTO_APPROVE_CONFIDENCE": "mined_confidence",
            "MEMORY_MCP_MINING_AUTO_APPROVE_OCCURRENCES": "mined_occurrences",
        },
        switches={
            "MEMORY_MCP_AUTO_PROMOTE": {"promote_after": 0},
            "MEMORY_MCP_AUTO_DEMOTE": {"demote_days": 36_500},
            "MEMORY_MCP_MINING_AUTO_APPROVE_ENABLED": {"mined_confidence": 0.0},
        },
        prefix="MEMORY_MCP_",
        read="recall",
        guide=(
            "`recall` finds what is known and reports its confidence; `remember` keeps a fact, pattern or reference.",
            "`mark_memory_used` says that a memory helped; `validate_memory` and `invalidate_memory` change its trust.",
            "`link_memories` and `find_contradictions` keep knowledge consistent; `forget` deletes what is wrong.",
        ),
    ),
    "git-notes": Preset(settings={"inject": "full"}),  # context at the start, and notes about files
    "claude-mem": Preset(
        settings={"inject": "full"},
        search="search",
        read="get_observations",
        guide=(
            "`search` gives an index with ids, `timeline` what happened around one, `get_observations` full texts.",
            "Fetch full texts only of what the index showed to matter.",
        ),
    ),
    "bettermemory": Preset(  # the agent searches when it needs to; nothing is injected or captured
        settings={"inject": "off", "recall_limit": 5},
        hooks=False,
        variables={"BETTERMEMORY_DIR": "home"},
        search="memory_search",
        read="memory_show",
        guide=(
            "`memory_search` only when the answer depends on something stated earlier; mention what you use.",
            "Heed `staleness_verdict`; then `memory_verify`, `memory_update` or `memory_remove`.",
            "`memory_write` keeps what lasts, with scopes; what you infer about the user stays pending until they agree.",
            "`memory_record_use` after an answer that used memories.",
        ),
    ),
}


def preset_of(name: str) -> Preset:
    """Return the preset of a name; the surface of Holdfast itself for any other."""
    return PRESETS.get(name, CORE)

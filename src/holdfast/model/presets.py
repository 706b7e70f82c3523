"""What choosing the surface of another system brings with it: its defaults, its variables and the names of its tools."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


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

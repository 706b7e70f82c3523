"""What agents read instead of commands of the terminal: the tools that their surface has for the same."""

import re
from collections.abc import Mapping

# Commands that hints name → what to do with the tools of a surface.
TOOLS: Mapping[str, Mapping[str, str]] = {
    "core": {
        "list": "recall finds memories with their ids.",
        "list --scopes": "explore(view=scopes) lists the scopes.",
        "show": "read lists its links.",
        "restore": "forget(restore_it=true) restores it.",
        "hot": "explore(view=hot) lists the hot set.",
        "review list --sort mined": "explore(view=mined) lists them.",
        "review duplicates": "explore(view=duplicates) lists candidates.",
        "session start": "session(action=start) starts one.",
        "session list": "session(action=list) lists them.",
        "session transcript save": "session(action=save_transcript) saves one.",
        "thread list": "thread(action=list) lists them.",
    },
    "gitmem": {
        "list": "search and log return ids.",
        "show": "graph_traverse(lens=connected_to) shows its links.",
        "session start": "session_start starts one.",
        "session transcript save": "save_transcript saves one.",
        "thread list": "list_threads lists them.",
    },
    "memory-mcp": {
        "list": "list_memories lists the ids.",
        "show": "get_related_memories lists its links.",
        "hot": "hot_cache_status lists the hot cache.",
        "review list --sort mined": "review_candidates lists them.",
        "review duplicates": "preview_consolidation lists candidates.",
        "session list": "get_sessions lists them.",
    },
    "claude-mem": {"list": "search shows the ids there are."},
    "bettermemory": {
        "list": "memory_list lists the ids.",
        "list --state pending": "memory_write returns the pending_id; after 7 days it expires.",
        "list --scopes": "memory_scope_overview lists the scopes.",
        "restore": "memory_restore restores it.",
    },
}
_COMMAND = re.compile(r"\bholdfast (?=[a-z])")


def for_agents(hint: str, surface: str) -> str:
    """Return a hint with the surface's tools; one for which it has no tool is left for the user to act on."""
    named = _COMMAND.search(hint)
    if not named:
        return hint
    command, table = hint[named.end() :], TOOLS.get(surface, {})
    for name in sorted(table, key=len, reverse=True):
        if re.match(rf"{re.escape(name)}(?![\w-])", command):
            return table[name]
    return f"For the user: {hint}"

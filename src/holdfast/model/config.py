"""Every setting with its meaning and default; `compose` fills it in once and nothing changes it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


def _setting(default: Any, help: str) -> Any:  # noqa: A002
    return field(default=default, metadata={"help": help})


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The settings in force."""

    home: str = _setting("", "Folder of the store. Empty: nearest .holdfast/ upward, else the platform's data folder.")
    database: str = _setting("", "postgresql://… for a team database. Empty: the SQLite file in the store's folder.")
    project: str = _setting(
        "",
        "Identity of the codebase. Empty: the git remote, else the path. In your config.toml, a table [projects] names folders.",
    )
    agent: str = _setting("", "Name under which writes are recorded. Empty: the user's login name.")
    session: str = _setting("", "Session that reads and writes belong to.")
    embedder: str = _setting("local", "local (the built-in encoder), http (an OpenAI-compatible endpoint) or none.")
    embedder_url: str = _setting("", "Base URL of the endpoint, such as http://127.0.0.1:11434/v1.")
    embedder_model: str = _setting("", "Model name asked of the endpoint.")
    embedder_key: str = _setting("", "API key for the endpoint.")
    embedder_floor: float = _setting(0.2, "Cosine of unrelated texts with the endpoint's model.")
    embedder_ceiling: float = _setting(0.8, "Cosine of clearly related texts with the endpoint's model.")
    observer: str = _setting(
        "none", "Who writes observations: none (rules alone), anthropic, openai or claude (the command line)."
    )
    observer_model: str = _setting("", "Model the observer asks. Empty: a small one, where the provider has one.")
    observer_url: str = _setting("", "Base URL of the observer's endpoint. Empty: the provider's own.")
    observer_key: str = _setting("", "API key for the observer.")
    observer_daily_tokens: int = _setting(0, "Most tokens the observer may spend in a day. 0: none, so it is off.")
    mode: str = _setting(
        "code", "What an observer looks for: code, code--chill, email-investigation or a file in modes/."
    )
    http_token: str = _setting("", "Token of `holdfast mcp --http`. Empty: made once, kept beside the store.")
    list_aliases: bool = _setting(False, "Whether surfaces of other systems list the short names of their tools too.")
    preset: str = _setting(
        "",
        "Whose manners to begin with: gitmem, memory-mcp, git-notes, claude-mem or bettermemory. What is set counts more.",
    )
    recall_limit: int = _setting(10, "Most answers a recall gives.")
    recall_budget: int = _setting(2000, "Most tokens a recall's answers may take.")
    confirm_writes: bool = _setting(False, "Whether every write waits for a yes.")
    allowed_scopes: tuple[str, ...] = _setting((), "If any are named, only these scopes may be written.")
    starters: bool = _setting(True, "Whether the first session brings twelve lessons that hold everywhere.")
    inject: str = _setting("brief", "What sessions are told unasked: off, hot, brief or full (brief and file notes).")
    brief_budget: int = _setting(0, "Most tokens of the brief a session begins with. 0: 500 to 3000, by what is kept.")
    block_actions: bool = _setting(False, "Whether a blocking scar stops the command or edit it names.")
    prompt_hints: bool = _setting(
        False, "Whether a prompt that shares rarer words with memories is answered with a pointer to them, no more."
    )
    guard_secrets: bool = _setting(
        False, "Whether a read or command that would show credentials is warned of (stopped, with block_actions)."
    )
    hot_capacity: int = _setting(20, "Most memories the hot set of a project holds.")
    quarantine: str = _setting(
        "show",
        "What arrives from people nobody accepted waits: show (recall names it, marked), hide, or off (it counts).",
    )
    pending_days: int = _setting(7, "Days after which a write nobody confirmed is no longer offered.")
    output_days: int = _setting(7, "Days that logged output is kept, mined or not.")
    output_characters: int = _setting(
        20_000_000, "Most characters of logged output that are kept; the oldest go first."
    )
    mined_days: int = _setting(30, "Days after which something mined and not seen again is no longer offered.")
    mined_confidence: float = _setting(0.0, "Confidence from which something mined is kept without a yes. 0: never.")
    mined_occurrences: int = _setting(0, "Occurrences that takes besides. 0: never.")


# What users of each system are used to; the names are those of its surface.
PRESETS: Mapping[str, Mapping[str, Any]] = {
    "gitmem": {"inject": "brief"},  # a session opens with scars, threads and decisions
    "memory-mcp": {  # only the hot set is pushed; what is mined often enough is kept by itself
        "inject": "hot",
        "starters": False,
        "mined_confidence": 0.8,
        "mined_occurrences": 3,
    },
    "git-notes": {"inject": "full", "starters": False},  # context at the start, and what is known about a file
    "claude-mem": {"inject": "full", "starters": False},
    "bettermemory": {"inject": "off", "starters": False},  # nothing is pushed: the agent asks
}

"""Every setting with its meaning and default; `compose` reads them once, nothing changes them afterwards."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from holdfast.model.foreign_json import parse_json


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

    about: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    hooks: bool = True  # False: nothing is captured or injected, so `init` writes no hooks
    variables: Mapping[str, str] = field(default_factory=dict)  # its environment variables → our settings
    switches: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # what each variable turns off if false
    prefix: str = ""  # of its variables; those without a counterpart here are reported
    search: str = "recall"  # tool that finds memories
    read: str = "read"  # tool that returns them in full
    close: str = "session close"  # tool that ends a session
    guide: tuple[str, ...] = ()  # lines about its tools for CLAUDE.md


_ALL = {  # by name; that of Holdfast itself has none
    name: Preset(**row | {"guide": tuple(row.get("guide", ()))})
    for name, row in parse_json((Path(__file__).parent / "presets.json").read_text(encoding="utf-8")).items()
}
PRESETS: Mapping[str, Preset] = {name: preset for name, preset in _ALL.items() if name}


def preset_of(name: str) -> Preset:
    """Return the preset of a name; the surface of Holdfast itself for any other."""
    return PRESETS.get(name, _ALL[""])

"""Every setting with its default; `config.txt` says what each means. `compose` reads them once, nothing changes them afterwards."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from holdfast.model.foreign_json import parse_json
from holdfast.model.patterns import tables


def meanings() -> dict[str, str]:
    """Return what each setting means, by name."""
    return dict(tables(__file__)["settings"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The settings in force."""

    home: str = ""
    database: str = ""
    project: str = ""
    agent: str = ""
    session: str = ""
    embedder: str = "local"
    embedder_url: str = ""
    embedder_model: str = ""
    embedder_key: str = ""
    embedder_floor: float = 0.2
    embedder_ceiling: float = 0.8
    observer: str = "none"
    observer_model: str = ""
    observer_url: str = ""
    observer_key: str = ""
    observer_daily_tokens: int = 0
    mode: str = "code"
    http_token: str = ""
    list_aliases: bool = False
    preset: str = ""
    recall_limit: int = 10
    recall_budget: int = 2000
    confirm_writes: bool = False
    allowed_scopes: tuple[str, ...] = ()
    starters: bool = False
    inject: str = "brief"
    brief_budget: int = 0
    block_actions: bool = False
    prompt_hints: bool = False
    guard_secrets: bool = False
    remind: bool = False
    promote_after: int = 0
    demote_days: int = 0
    auto_bootstrap: bool = False
    hot_capacity: int = 20
    quarantine: str = "show"
    pending_days: int = 7
    output_days: int = 7
    output_characters: int = 20_000_000
    mined_days: int = 30
    mined_confidence: float = 0.0
    mined_occurrences: int = 0


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


_ROWS = parse_json((Path(__file__).parent / "presets.json").read_text(encoding="utf-8"))
# By name; that of Holdfast itself has none.
_ALL = {name: Preset(**row | {"guide": tuple(row.get("guide", ()))}) for name, row in _ROWS.items()}
PRESETS: Mapping[str, Preset] = {name: preset for name, preset in _ALL.items() if name}


def preset_of(name: str) -> Preset:
    """Return the preset of a name; the surface of Holdfast itself for any other."""
    return PRESETS.get(name, _ALL[""])

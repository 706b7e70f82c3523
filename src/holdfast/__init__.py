"""Holdfast: institutional memory for AI coding agents.

    import holdfast

    with holdfast.open() as memory:
        memory.remember("The API allows 60 requests a minute.")
        for hit in memory.recall("rate limit"):
            print(hit.record.title)

The names in `__all__` are the public API; every other module is internal. They are imported at their first use:
hooks import this package at every tool call.
"""

TYPE_CHECKING = False  # typing is not imported for it
if TYPE_CHECKING:
    from holdfast.hosts.python import AsyncMemory, Memory, Saved, Shown, open  # noqa: A004
    from holdfast.model.anchor import Freshness
    from holdfast.model.errors import (
        Ambiguous,
        Conflict,
        EmbedderError,
        HoldfastError,
        Invalid,
        InvalidConfig,
        NotFound,
        NotSaved,
        StoreError,
    )
    from holdfast.model.event import Event
    from holdfast.model.query import Hit, Recalled
    from holdfast.model.record import Link, Record
    from holdfast.verbs.records.read import Listed

__version__ = "0.1.0"
__all__ = [
    "Ambiguous",
    "AsyncMemory",
    "Conflict",
    "EmbedderError",
    "Event",
    "Freshness",
    "Hit",
    "HoldfastError",
    "Invalid",
    "InvalidConfig",
    "Link",
    "Listed",
    "Memory",
    "NotFound",
    "NotSaved",
    "Recalled",
    "Record",
    "Saved",
    "Shown",
    "StoreError",
    "__version__",
    "open",
]
_MODULES = {
    "hosts.python": ("AsyncMemory", "Memory", "Saved", "Shown", "open"),
    "model.event": ("Event",),
    "model.anchor": ("Freshness",),
    "model.query": ("Hit", "Recalled"),
    "model.record": ("Link", "Record"),
    "verbs.records.read": ("Listed",),
}


def __getattr__(name: str) -> object:
    """Import a public name at its first use."""
    if name not in __all__:
        raise AttributeError(f"module 'holdfast' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415  only at the first use of a name

    module = next((module for module, names in _MODULES.items() if name in names), "model.errors")
    value = globals()[name] = getattr(import_module(f"holdfast.{module}"), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

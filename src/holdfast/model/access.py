"""The access of the current request: the user, and what their key allows. Row policies of the database use it."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal

Role = Literal["read", "write", "admin"]
EVERYWHERE = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """A user and what their key allows: a role in these projects (`*` is all of them), and nothing elsewhere."""

    user: str = ""
    role: Role = "read"
    projects: tuple[str, ...] = ()

    def reaches(self, project: str) -> bool:
        """True if this access includes a project."""
        return project in self.projects or EVERYWHERE in self.projects


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A user's key as it is stored. Times are empty if they do not apply: never used, not revoked, no expiry."""

    id: str
    owner: str
    hash: str
    role: Role
    projects: tuple[str, ...]
    created_at: str
    expires_at: str = ""
    used_at: str = ""
    revoked_at: str = ""


NO_ACCESS = Access()
_asking: ContextVar[Access] = ContextVar("asking", default=NO_ACCESS)
who_asks = _asking.get  # the access of this thread or task, as set by `asking`; without it, an access to nothing


@contextmanager
def asking(access: Access) -> Iterator[None]:
    """Set the access of this thread or task for the duration of the block."""
    before = _asking.set(access)
    try:
        yield
    finally:
        _asking.reset(before)

"""Who is asking: a user of a server, with what their key allows. Row policies of the database decide by it."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal

Role = Literal["read", "write", "admin"]
EVERYWHERE = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """A user with what a key lets them do: in these projects (`*` is all of them), and nowhere else."""

    user: str = ""
    role: Role = "read"
    projects: tuple[str, ...] = ()

    def reaches(self, project: str) -> bool:
        """Tell whether a project is one of those."""
        return project in self.projects or EVERYWHERE in self.projects


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A user's key as it is stored. What did not happen is empty."""

    id: str
    owner: str
    hash: str
    role: Role
    projects: tuple[str, ...]
    created_at: str
    expires_at: str = ""
    used_at: str = ""
    revoked_at: str = ""


NOBODY = Access()
_asking: ContextVar[Access] = ContextVar("asking", default=NOBODY)


def who_asks() -> Access:
    """Give who asks in this thread or task; nobody unless `asking` says so."""
    return _asking.get()


@contextmanager
def asking(access: Access) -> Iterator[None]:
    """Ask as somebody while this lasts."""
    before = _asking.set(access)
    try:
        yield
    finally:
        _asking.reset(before)

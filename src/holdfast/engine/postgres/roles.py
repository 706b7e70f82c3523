"""Who asks: what a guarded database lets through is decided by this, connection by connection."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal

Role = Literal["read", "write", "admin"]
EVERYWHERE = "*"
# Roles of the database that nobody logs in as: requests of a server's users run as the one, what it does itself as the other.
MEMBER, KEEPER = "holdfast_member", "holdfast_keeper"


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """A user with what a key lets them do: in these projects (`*` is all of them), and nowhere else."""

    user: str = ""
    role: Role = "read"
    projects: tuple[str, ...] = ()

    def reaches(self, project: str) -> bool:
        """Tell whether a project is one of those."""
        return project in self.projects or EVERYWHERE in self.projects


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

"""Every failure Holdfast can report.

HoldfastError
├── Invalid            the input can never work as given
│   ├── InvalidConfig  a setting is unknown or has an impossible value
│   └── InvalidFile    a file of another program cannot be understood, so it is left alone
├── NotFound           no such record, scope or file
│   └── Ambiguous      a part of an id fits several records
├── Conflict           the record is not in a state that allows this
├── NotSaved           a write was refused (a duplicate, a secret); raised by the Python API only
├── Forbidden          the caller may not do this
├── StoreError         the store cannot be used
│   ├── NotAStore      the file is something else
│   ├── NewerStore     written by a later version
│   ├── StoreCorrupt   pages are damaged
│   ├── StoreFull      no space left
│   ├── StoreUnwritable  folder or file cannot be written
│   ├── StoreBusy      another process held the write lock too long
│   └── Unreachable    the database server does not answer
├── ReplicaError       a replica cannot be read or written
├── EmbedderError      the embedder cannot be loaded or reached
└── MissingPackage     an optional part is not installed

Refusals (a duplicate, a secret) are not failures: verbs return them as values, and only the Python API raises them.
The docstring of a class is its default message, `remedy` its default hint,
`code` is its name in snake case, stable for programs; `exit_code` is for shells.
"""

import re
from collections.abc import Iterable
from typing import ClassVar


class HoldfastError(Exception):
    """Something went wrong."""

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 1
    remedy: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        cls.code = re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__.removesuffix("Error")).lower()

    def __init__(self, message: str = "", *, hint: str = "", problems: Iterable[str] = ()) -> None:
        self.message = message or (type(self).__doc__ or "").splitlines()[0]
        self.hint = hint or self.remedy
        self.problems = tuple(problems)  # each problem, if there are several
        super().__init__(self.message)

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class Invalid(HoldfastError):
    """The input cannot be used."""

    exit_code = 64


class InvalidConfig(Invalid):
    """A setting cannot be used."""

    remedy = "`holdfast config` shows every setting, what it means and where its value came from."


class InvalidFile(Invalid):
    """The file cannot be understood, so it is left alone."""

    remedy = "Fix the file, or make the change by hand."


class NotFound(HoldfastError):
    """No such record."""

    exit_code = 3


class Ambiguous(NotFound):
    """This part of an id fits several records."""

    remedy = "Use one of the ids it lists."


class Conflict(HoldfastError):
    """The record is not in a state that allows this."""

    exit_code = 4
    remedy = "Restore a retired memory first; approve a pending one first."


class NotSaved(HoldfastError):
    """The memory was refused; nothing was saved."""

    exit_code = 4
    remedy = "Change the text, or waive the refusal."

    def __init__(self, message: str = "", *, hint: str = "", refusal: str = "", matches: Iterable[str] = ()) -> None:
        super().__init__(message, hint=hint)
        self.refusal = refusal  # duplicate, previously_removed, transient, scope_mismatch or secret_found
        self.matches = tuple(matches)  # ids of the memories that already say it, or said it


class Forbidden(HoldfastError):
    """You may not do this."""

    exit_code = 4


class StoreError(HoldfastError):
    """The store cannot be used."""

    exit_code = 5
    remedy = "`holdfast doctor` checks the store and shows what can be repaired."


class NotAStore(StoreError):
    """The file is not a Holdfast store."""


class NewerStore(StoreError):
    """The store was written by a newer version of Holdfast."""

    remedy = "Upgrade Holdfast. Nothing was changed."


class StoreCorrupt(StoreError):
    """The store is damaged."""


class StoreFull(StoreError):
    """There is no space left for the store; nothing was written."""

    remedy = "Free some space and try again."


class StoreUnwritable(StoreError):
    """The store cannot be written; nothing was changed."""

    remedy = "Check who owns the folder, or set HOLDFAST_HOME to another one."


class StoreBusy(StoreError):
    """Another process locked the store for too long; nothing was written. Try again."""

    remedy = "`holdfast doctor` checks the store."


class Unreachable(StoreError):
    """The database server cannot be reached."""


class ReplicaError(HoldfastError):
    """The replica cannot be used."""

    exit_code = 5
    remedy = "`holdfast replica status` shows its state; local memories are untouched."


class EmbedderError(HoldfastError):
    """The embedder cannot be used."""

    exit_code = 5
    remedy = "`holdfast doctor` checks it."


class MissingPackage(HoldfastError):
    """This needs an optional package."""

    exit_code = 5

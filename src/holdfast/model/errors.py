"""Every failure Holdfast can report.

Refusals (a duplicate, a secret) are not failures: verbs return them as values, and only the Python API raises them.
The docstring of a class is its default message, `remedy` its default hint,
`code` is its name in snake case, stable for programs; `exit_code` is for shells.
"""

import re
from collections.abc import Iterable


class HoldfastError(Exception):
    """Something went wrong."""

    code, exit_code, remedy = "error", 1, ""

    def __init_subclass__(cls, exit_code: int = 0, remedy: str = "") -> None:
        cls.exit_code, cls.remedy = exit_code or cls.exit_code, remedy or cls.remedy
        cls.code = re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__.removesuffix("Error")).lower()

    def __init__(self, message: str = "", *, hint: str = "", problems: Iterable[str] = ()) -> None:
        self.message = message or (type(self).__doc__ or "").splitlines()[0]
        self.hint = hint or self.remedy
        self.problems = tuple(problems)  # each problem, if there are several
        super().__init__(self.message)

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class Invalid(HoldfastError, exit_code=64):
    """The input cannot be used."""


class InvalidConfig(
    Invalid, remedy="`holdfast config` shows every setting, what it means and where its value came from."
):
    """A setting cannot be used."""


class InvalidFile(Invalid, remedy="Fix the file, or make the change by hand."):
    """The file cannot be understood, so it is left alone."""


class NotFound(HoldfastError, exit_code=3):
    """No such record."""


class Ambiguous(NotFound, remedy="Use one of the ids it lists."):
    """This part of an id fits several records."""


class Conflict(HoldfastError, exit_code=4, remedy="Restore a retired memory first; approve a pending one first."):
    """The record is not in a state that allows this."""


class NotSaved(HoldfastError, exit_code=4, remedy="Change the text, or waive the refusal."):
    """The memory was refused; nothing was saved."""

    def __init__(self, message: str = "", *, hint: str = "", refusal: str = "", matches: Iterable[str] = ()) -> None:
        super().__init__(message, hint=hint)
        self.refusal = refusal  # duplicate, previously_removed, transient, scope_mismatch or secret_found
        self.matches = tuple(matches)  # ids of the memories that already say it, or said it


class Forbidden(HoldfastError, exit_code=4):
    """You may not do this."""


class StoreError(
    HoldfastError, exit_code=5, remedy="`holdfast doctor` checks the store and shows what can be repaired."
):
    """The store cannot be used."""


class NotAStore(StoreError):
    """The file is not a Holdfast store."""


class NewerStore(StoreError, remedy="Upgrade Holdfast. Nothing was changed."):
    """The store was written by a newer version of Holdfast."""


class StoreCorrupt(StoreError):
    """The store is damaged."""


class StoreFull(StoreError, remedy="Free some space and try again."):
    """There is no space left for the store; nothing was written."""


class StoreUnwritable(StoreError, remedy="Check the folder and its permissions, or set HOLDFAST_HOME to another one."):
    """The store cannot be written; nothing was changed."""


class StoreBusy(StoreError, remedy="`holdfast doctor` checks the store."):
    """Another process locked the store for too long; nothing was written. Try again."""


class Unreachable(StoreError):
    """The database server cannot be reached."""


class ReplicaError(
    HoldfastError, exit_code=5, remedy="`holdfast replica status` shows its state; local memories are untouched."
):
    """The replica cannot be used."""


class EmbedderError(HoldfastError, exit_code=5, remedy="`holdfast doctor` checks it."):
    """The embedder cannot be used."""


class MissingPackage(HoldfastError, exit_code=5):
    """This needs an optional package."""

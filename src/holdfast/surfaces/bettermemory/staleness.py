"""Judge whether memories may be stale when they are read: last check, cited paths, commits since."""

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from holdfast.model.anchor import parse_anchor
from holdfast.model.ids import days_between
from holdfast.model.ports import RemoteCheckout
from holdfast.model.record import Record
from holdfast.policy.mentions import anchors_in
from holdfast.verbs.memory import Memory

STALE_DAYS = 30
MOST_PATHS, SHORTEST, LONGEST = 8, 3, 512
Status = Literal["never", "stale", "fresh"]
Verdict = Literal["spot_check_required", "spot_check_recommended", "fresh"]
_QUOTED = re.compile(r"`([^`\n]{3,512})`")
_BARE = re.compile(r"(?<![\w/.:@~-])((?:~|[A-Za-z]:)?[/\\][\w.+@~-]+(?:[/\\][\w.+@~-]+)+)")
_PATH = re.compile(r"(?:~|[A-Za-z]:)?[/\\][\w.+@~ -]+(?:[/\\][\w.+@~ -]+)*[/\\]?")
# Placeholder paths.
_EXAMPLE = re.compile(
    r"[/\\](?:path|some|your|my|foo|bar|baz|example|dir)(?:[/\\]|$)|[/\\](?:foo|bar|baz)(?:\.\w+)?$|[<>{}*…]"
)
COMMIT, VERSION = "commit:", "version:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """When a memory was last verified, and whether that was too long ago."""

    status: Status
    at: str = ""
    days: float | None = None

    @property
    def recommendation(self) -> str:
        """What to do about it; empty when it is fresh."""
        match self.status:
            case "never":
                return "Never verified: check it before you rely on it, then memory_verify."
            case "stale":
                return f"Verified more than {STALE_DAYS} days ago: check it again, then memory_verify or memory_update."
        return ""


def checked(record: Record, now: str) -> Checked:
    """Return when a record was last verified."""
    if not record.verified_at:
        return Checked(status="never")
    days = days_between(record.verified_at, now)
    return Checked(status="stale" if days > STALE_DAYS else "fresh", at=record.verified_at, days=days)


def verdict(status: Status, *, missing: int = 0, commits: int | None = None) -> Verdict:
    """Return whether a memory has to be checked before it is used.

    None commits (git could not be asked) counts for nothing; a measured zero counts: without a commit since the check, what
    was true then still is, however long ago it was.
    """
    if status == "never" or (status == "stale" and (missing or commits != 0)):
        return "spot_check_required"
    return "spot_check_recommended" if missing or commits else "fresh"


def cited_paths(text: str) -> list[str]:
    """Return the absolute paths a text cites, those in code first; not URLs, commands or examples."""
    quoted = [match[1].strip() for match in _QUOTED.finditer(text) if _PATH.fullmatch(match[1].strip())]
    bare = [match[1].rstrip(".") for match in _BARE.finditer(_QUOTED.sub(" ", text))]
    paths = dict.fromkeys(path for path in (*quoted, *bare) if SHORTEST <= len(path) <= LONGEST)
    return [path for path in paths if not _EXAMPLE.search(path)][:MOST_PATHS]


def verified_parts(anchors: Sequence[str]) -> Mapping[str, list[str]]:
    """Return what a check covered: paths, commits and versions."""
    commits = [anchor.removeprefix(COMMIT) for anchor in anchors if anchor.startswith(COMMIT)]
    versions = [anchor.removeprefix(VERSION) for anchor in anchors if anchor.startswith(VERSION)]
    paths = [anchor for anchor in anchors if not anchor.startswith((COMMIT, VERSION))]
    return {"verified_paths": paths, "verified_commits": commits, "verified_versions": versions}


def anchors_of(parts: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return what a check covered as anchors."""
    commits = (f"{COMMIT}{commit}" for commit in parts["verified_commits"])
    versions = (f"{VERSION}{version}" for version in parts["verified_versions"])
    return tuple(dict.fromkeys((*parts["verified_paths"], *commits, *versions)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Staleness:
    """How stale a record may be. `commits` is None if git could not be asked."""

    checked: Checked
    paths: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    attested: tuple[str, ...] = ()
    commits: int | None = None

    @property
    def verdict(self) -> Verdict:
        """Whether the record has to be checked before use."""
        return verdict(self.checked.status, missing=len(self.missing), commits=self.commits)

    @property
    def path_drift(self) -> dict[str, Any] | None:
        """Which cited paths are missing; None if none is missing and none was verified."""
        if not self.missing and not self.attested:
            return None
        return {"checked": len(self.paths), "missing": list(self.missing), "verified": list(self.attested)}

    @property
    def commit_drift(self) -> dict[str, Any] | None:
        """How many commits were made since the record was verified; None if unknown."""
        if self.commits is None:
            return None
        recommendation = "The code changed since this was verified: check it again, then memory_verify."
        return {
            "status": "drift" if self.commits else "clean",
            "commits_since_verify": self.commits,
            "recommendation": recommendation if self.commits else None,
        }


def staleness_of(memory: Memory, record: Record) -> Staleness:
    """Measure one record; counts only commits that touch its verified paths, if it has any."""
    top = memory.checkout.top().resolve()
    places = (top / Path(path) for path in verified_parts(record.anchors)["verified_paths"])
    inside = [str(place) for place in places if place.is_relative_to(top)]
    commits = memory.checkout.commits_since(record.verified_at, inside) if _is_here(memory, record) else None
    return _measured(memory, record, None if commits is None else len(commits))


def staleness_of_many(memory: Memory, records: Sequence[Record]) -> dict[str, Staleness]:
    """Measure several records with one git call, counting all commits."""
    local = [record for record in records if _is_here(memory, record)]
    oldest = min((record.verified_at for record in local), default="")
    commits = memory.checkout.commits_since(oldest) if oldest else None
    times = None if commits is None else sorted(commits)
    counts = (
        {record.id: len(times) - bisect_right(times, record.verified_at) for record in local}
        if times is not None
        else {}
    )
    return {record.id: _measured(memory, record, counts.get(record.id)) for record in records}


def _measured(memory: Memory, record: Record, commits: int | None) -> Staleness:
    attested = verified_parts(record.anchors)["verified_paths"]
    is_here = record.project == memory.project  # a relative path means a file of this checkout
    relative = [parse_anchor(place).path for place in anchors_in(record.body)] if is_here else []
    paths = tuple(dict.fromkeys((*cited_paths(record.body), *relative, *attested)))
    can_look = not isinstance(memory.checkout, RemoteCheckout)
    missing = tuple(path for path in paths if not _is_there(memory, path)) if can_look else ()
    return Staleness(
        checked=checked(record, memory.clock.now()),
        paths=paths,
        missing=missing,
        attested=tuple(attested),
        commits=commits,
    )


def _is_here(memory: Memory, record: Record) -> bool:
    """True if commits of the current checkout concern a record."""
    return bool(record.verified_at and record.project) and record.project == memory.project


def _is_there(memory: Memory, path: str) -> bool:
    try:
        return (memory.checkout.top() / Path(path).expanduser()).exists()
    except (OSError, RuntimeError, ValueError):
        return False  # a path that cannot be read counts as missing

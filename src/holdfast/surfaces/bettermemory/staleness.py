"""Judge whether memories may be stale when they are read: last check, cited paths, commits since."""

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from holdfast.model.anchor import parse_anchor
from holdfast.model.ids import days_between
from holdfast.model.ports import RemoteCheckout
from holdfast.model.record import Record
from holdfast.policy.freshness import anchors_in
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
PREFIXES = {"verified_commits": "commit:", "verified_versions": "version:"}  # of anchors that are no paths
ADVICE: Mapping[Status, str] = {
    "never": "Never verified: check it before you rely on it, then memory_verify.",
    "stale": f"Verified more than {STALE_DAYS} days ago: check it again, then memory_verify or memory_update.",
}


def cited_paths(text: str) -> list[str]:
    """Return the absolute paths a text cites, those in code first; not URLs, commands or examples."""
    quoted = [match[1].strip() for match in _QUOTED.finditer(text) if _PATH.fullmatch(match[1].strip())]
    bare = [match[1].rstrip(".") for match in _BARE.finditer(_QUOTED.sub(" ", text))]
    paths = dict.fromkeys(path for path in (*quoted, *bare) if SHORTEST <= len(path) <= LONGEST)
    return [path for path in paths if not _EXAMPLE.search(path)][:MOST_PATHS]


def verified_parts(anchors: Sequence[str]) -> Mapping[str, list[str]]:
    """Return what a check covered: paths, commits and versions."""
    parts = {"verified_paths": [anchor for anchor in anchors if not anchor.startswith(tuple(PREFIXES.values()))]}
    for name, prefix in PREFIXES.items():
        parts[name] = [anchor.removeprefix(prefix) for anchor in anchors if anchor.startswith(prefix)]
    return parts


def anchors_of(parts: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return what a check covered as anchors."""
    return tuple(dict.fromkeys(PREFIXES.get(name, "") + part for name, some in parts.items() for part in some))


@dataclass(frozen=True, slots=True, kw_only=True)
class Staleness:
    """When a record was last verified, and how stale it may be. `commits` is None if git could not be asked."""

    status: Status
    at: str = ""
    days: float | None = None
    paths: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    attested: tuple[str, ...] = ()
    commits: int | None = None

    @property
    def verdict(self) -> Verdict:
        """Whether the record has to be checked before use."""
        # A measured zero counts: without a commit since the check, what was true then still is, however long ago it was.
        if self.status == "never" or (self.status == "stale" and (self.missing or self.commits != 0)):
            return "spot_check_required"
        return "spot_check_recommended" if self.missing or self.commits else "fresh"

    @property
    def recommendation(self) -> str | None:
        """What to do about the last check; None when it is fresh."""
        return ADVICE.get(self.status)

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
        advice = "The code changed since this was verified: check it again, then memory_verify."
        status, advised = ("drift", advice) if self.commits else ("clean", None)
        return {"status": status, "commits_since_verify": self.commits, "recommendation": advised}


def checked(record: Record, now: str) -> Staleness:
    """Return when a record was last verified."""
    if not record.verified_at:
        return Staleness(status="never")
    days = days_between(record.verified_at, now)
    return Staleness(status="stale" if days > STALE_DAYS else "fresh", at=record.verified_at, days=days)


def staleness_of(memory: Memory, record: Record) -> Staleness:
    """Measure one record; counts only commits that touch its verified paths, if it has any."""
    top = memory.checkout.top().resolve()
    places = (top / Path(path) for path in verified_parts(record.anchors)["verified_paths"])
    inside = [str(place) for place in places if place.is_relative_to(top)]
    commits = memory.checkout.commits_since(record.verified_at, inside) if _is_here(memory, record) else None
    return _measured(memory, record, None if commits is None else len(commits))


def staleness_of_many(memory: Memory, records: Sequence[Record]) -> dict[str, Staleness]:
    """Measure several records, those without verified paths with one git call."""
    exact = {one.id: staleness_of(memory, one) for one in records if verified_parts(one.anchors)["verified_paths"]}
    local = [record for record in records if record.id not in exact and _is_here(memory, record)]
    oldest = min((record.verified_at for record in local), default="")
    commits = memory.checkout.commits_since(oldest) if oldest else None
    times, counts = sorted(commits or ()), dict[str, int]()
    for record in local if commits is not None else ():
        counts[record.id] = len(times) - bisect_right(times, record.verified_at)
    return {one.id: exact.get(one.id) or _measured(memory, one, counts.get(one.id)) for one in records}


def _measured(memory: Memory, record: Record, commits: int | None) -> Staleness:
    attested = verified_parts(record.anchors)["verified_paths"]
    is_here = record.project == memory.project  # a relative path means a file of this checkout
    relative = [parse_anchor(place).path for place in anchors_in(record.body)] if is_here else []
    paths = tuple(dict.fromkeys((*cited_paths(record.body), *relative, *attested)))
    can_look, last = not isinstance(memory.checkout, RemoteCheckout), checked(record, memory.clock.now())
    missing = tuple(path for path in paths if not _is_there(memory, path)) if can_look else ()
    return replace(last, paths=paths, missing=missing, attested=tuple(attested), commits=commits)


def _is_here(memory: Memory, record: Record) -> bool:
    """True if commits of the current checkout concern a record."""
    return bool(record.verified_at and record.project) and record.project == memory.project


def _is_there(memory: Memory, path: str) -> bool:
    try:
        return (memory.checkout.top() / Path(path).expanduser()).exists()
    except (OSError, RuntimeError, ValueError):
        return False  # a path that cannot be read counts as missing

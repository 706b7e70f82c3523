"""Judge whether a memory may be stale from its last check and the paths it cites. Pure functions."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from holdfast.model.ids import days_between
from holdfast.model.record import Record

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

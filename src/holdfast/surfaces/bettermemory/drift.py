"""Whether a memory may have gone stale: when it was checked, which paths it cites, and what that adds up to. Pure."""

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
# Paths that stand for any path.
_EXAMPLE = re.compile(
    r"[/\\](?:path|some|your|my|foo|bar|baz|example|dir)(?:[/\\]|$)|[/\\](?:foo|bar|baz)(?:\.\w+)?$|[<>{}*…]"
)
COMMIT, VERSION = "commit:", "version:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """When a memory was last checked against the world, and whether that was long ago."""

    status: Status
    at: str = ""
    days: float | None = None

    @property
    def recommendation(self) -> str:
        """What to do about it; nothing when it is fresh."""
        match self.status:
            case "never":
                return "Nobody ever checked this: look before you rely on it, then memory_verify."
            case "stale":
                return f"Checked more than {STALE_DAYS} days ago: look again, then memory_verify or memory_update."
        return ""


def checked(record: Record, now: str) -> Checked:
    """Tell when a record was last checked."""
    if not record.verified_at:
        return Checked(status="never")
    days = days_between(record.verified_at, now)
    return Checked(status="stale" if days > STALE_DAYS else "fresh", at=record.verified_at, days=days)


def verdict(status: Status, *, missing: int = 0, commits: int | None = None) -> Verdict:
    """Say how far a memory has to be checked before it is used.

    Not having been able to ask (None) says nothing; a measured zero does: no commit since the check means that what was
    true then still is, however long ago it was.
    """
    if status == "never" or (status == "stale" and (missing or commits != 0)):
        return "spot_check_required"
    return "spot_check_recommended" if missing or commits else "fresh"


def cited_paths(text: str) -> list[str]:
    """Give the absolute paths a text cites, those in code first; addresses, commands and examples are none."""
    quoted = [match[1].strip() for match in _QUOTED.finditer(text) if _PATH.fullmatch(match[1].strip())]
    bare = [match[1].rstrip(".") for match in _BARE.finditer(_QUOTED.sub(" ", text))]
    found = dict.fromkeys(path for path in (*quoted, *bare) if SHORTEST <= len(path) <= LONGEST)
    return [path for path in found if not _EXAMPLE.search(path)][:MOST_PATHS]


def verified_parts(anchors: Sequence[str]) -> Mapping[str, list[str]]:
    """Give what a check looked at: paths, commits and versions."""
    commits = [one.removeprefix(COMMIT) for one in anchors if one.startswith(COMMIT)]
    versions = [one.removeprefix(VERSION) for one in anchors if one.startswith(VERSION)]
    paths = [one for one in anchors if not one.startswith((COMMIT, VERSION))]
    return {"verified_paths": paths, "verified_commits": commits, "verified_versions": versions}


def anchors_of(parts: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Give what a check looked at as anchors."""
    commits = (f"{COMMIT}{one}" for one in parts["verified_commits"])
    versions = (f"{VERSION}{one}" for one in parts["verified_versions"])
    return tuple(dict.fromkeys((*parts["verified_paths"], *commits, *versions)))

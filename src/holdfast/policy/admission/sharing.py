"""Decide which records a replica may contain and what may come from it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from holdfast.model.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Sharing:
    """Who reads a replica: the user alone, who sees everything, or a project's team, which sees its team records."""

    team: bool
    project: str = ""
    implied: Mapping[str, str] = field(default_factory=dict)


OWN = Sharing(team=False)  # of the user's own folder


def with_team(project: str) -> Sharing:
    """Return the sharing of a project's repository."""
    return Sharing(team=True, project=project, implied={"project": project, "visibility": "team"})


def is_carried(record: Record, sharing: Sharing) -> bool:
    """True if a record may be written to a replica; pending, quarantined and starter records stay local."""
    if record.state in ("pending", "held") or record.source == "starter":
        return False
    return not sharing.team or is_of_team(record, sharing)


def is_of_team(record: Record, sharing: Sharing) -> bool:
    """True if a record belongs to the team: its project and its visibility match."""
    return record.project == sharing.project and record.visibility == "team"

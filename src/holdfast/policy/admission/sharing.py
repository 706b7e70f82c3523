"""What a replica may carry, and what may come from it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from holdfast.model.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Sharing:
    """Who reads a replica: the user alone, who sees everything, or the team of one project, which sees what is meant for it."""

    team: bool
    project: str = ""
    implied: Mapping[str, str] = field(default_factory=dict)


def own() -> Sharing:
    """Give the sharing of the user's own folder."""
    return Sharing(team=False)


def with_team(project: str) -> Sharing:
    """Give the sharing of a project's repository."""
    return Sharing(team=True, project=project, implied={"project": project, "visibility": "team"})


def is_carried(record: Record, sharing: Sharing) -> bool:
    """Tell whether a replica may tell of a record; what waits for a yes or to be accepted, and what comes with Holdfast stays here."""
    if record.state in ("pending", "held") or record.source == "starter":
        return False
    return not sharing.team or is_of_team(record, sharing)


def is_of_team(record: Record, sharing: Sharing) -> bool:
    """Tell whether a record is the team's: of its project and meant for it."""
    return record.project == sharing.project and record.visibility == "team"

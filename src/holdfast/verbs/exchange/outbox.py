"""The local copy of a team's database: it stores writes while that is unreachable, and sends them when it is back."""

from itertools import islice

from holdfast.engine.journal import PAGE
from holdfast.engine.store import Store
from holdfast.engine.views import labels
from holdfast.verbs.upkeep.erasing import note_remains

_SENT, _PULLED = "team sent", "team pulled"


def waiting(copy: Store) -> int:
    """Return the number of events of the copy that were not sent yet."""
    return copy.last_seq() - int(copy.setting(_SENT) or 0)


def drain(copy: Store, team: Store) -> int:
    """Send the unsent events; return how many were new to the team. An interrupted run is repeated the next time."""
    unsent, new = copy.journal(int(copy.setting(_SENT) or 0)), 0
    while page := list(islice(unsent, PAGE)):
        known = team.events_with([event.id for _, event in page])
        fresh = [event for _, event in page if event.id not in known]
        note_remains(team, fresh)
        team.commit(fresh)
        copy.note(_SENT, str(page[-1][0]))
        new += len(fresh)
    return new


def pull(copy: Store, team: Store, project: str, own: str) -> int:
    """Copy a project's records and the global ones, except others' private ones; return the number of events."""
    name, pulled = f"{_PULLED} {project}", 0
    while page := labels.readable_after(team, int(copy.setting(name) or 0), project, own):
        events = team.events_with(page.values())
        nothing_waits = not waiting(copy)
        note_remains(copy, events.values())  # `finish` removes it from the files of this machine
        copy.commit(list(events.values()))
        copy.note(name, str(max(page)))
        if nothing_waits:  # pulled events need not be sent back
            copy.note(_SENT, str(copy.last_seq()))
        pulled += len(events)
    return pulled

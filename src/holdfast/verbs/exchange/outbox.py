"""The copy of a team's database on a laptop: what is kept while the database is away waits in it, and goes there when it is back.

Events are known by their ids, so both directions are unions: sent or pulled again, they change nothing.
"""

from holdfast.engine.journal import PAGE
from holdfast.engine.store import Store
from holdfast.engine.views.records import span
from holdfast.model.event import Event
from holdfast.verbs.records.erasing import note_remains

_SENT, _PULLED = "team sent", "team pulled"
_LATER = """
select events.seq, events.id from events join entries on entries.id = events.about
where events.seq > :after and (entries.number between :low and :high or entries.number between 0 and :globals)
and entries.number not in (select number from privates where owner <> :own)
order by events.seq limit :page
"""


def waiting(copy: Store) -> int:
    """Tell how many events of the copy were not sent yet, as far as anybody noted."""
    return copy.last_seq() - int(copy.setting(_SENT) or 0)


def drain(copy: Store, team: Store) -> int:
    """Send what waits; give how many events the team did not have. Cut short, it is sent again the next time."""
    sent, new = int(copy.setting(_SENT) or 0), 0
    page: list[tuple[int, Event]] = []
    for seq, event in copy.journal(sent):
        page.append((seq, event))
        if len(page) == PAGE:
            new += _send(copy, team, page)
            page = []
    return new + (_send(copy, team, page) if page else 0)


def pull(copy: Store, team: Store, project: str, own: str) -> int:
    """Bring a project's records, and those of all projects, into the copy, but no others' private ones; give how many events came."""
    number = team.project_number(project)
    low, high = span(number) if number >= 0 else (-1, -1)
    name, came = f"{_PULLED} {project}", 0
    given = {"low": low, "high": high, "globals": span(0)[1], "own": own, "page": PAGE}
    while rows := team.db.query(_LATER, {**given, "after": int(copy.setting(name) or 0)}):
        events = team.events_with([row[1] for row in rows])
        nothing_waits = not waiting(copy)
        note_remains(copy, events.values())  # `finish` takes it out of the files of this machine
        copy.commit(list(events.values()))
        copy.note(name, str(rows[-1][0]))
        if nothing_waits:  # what came from there need not go back
            copy.note(_SENT, str(copy.last_seq()))
        came += len(events)
    return came


def _send(copy: Store, team: Store, page: list[tuple[int, Event]]) -> int:
    known = team.events_with([event.id for _, event in page])
    fresh = [event for _, event in page if event.id not in known]
    note_remains(team, fresh)
    team.commit(fresh)
    copy.note(_SENT, str(page[-1][0]))
    return len(fresh)

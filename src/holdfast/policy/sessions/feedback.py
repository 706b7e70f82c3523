"""What a session keeps in mind while its process lives: scopes it does not want to see, and showings nobody spoke of."""

from dataclasses import dataclass, field

from holdfast.model.ids import days_between

TURNS = 2  # after so many calls without a word, what was shown counts as having been used
FORGOTTEN_DAYS = 0.5 / 24  # after half an hour nobody knows


@dataclass(frozen=True, slots=True, kw_only=True)
class Showing:
    """A record that was shown and not spoken of yet."""

    id: str
    token: str
    turn: int
    at: str


@dataclass(slots=True, kw_only=True)
class Desk:
    """The desk of one session; nothing on it is stored."""

    turn: int = 0
    muted: dict[str, None] = field(default_factory=dict)
    showings: dict[str, Showing] = field(default_factory=dict)

    def show(self, record_id: str, token: str, at: str) -> str:
        """Note a showing and give its token; a record has one at a time."""
        self.showings[record_id] = Showing(id=record_id, token=token, turn=self.turn, at=at)
        return token

    def next_turn(self, now: str) -> list[Showing]:
        """Begin the next call; give what was shown so long ago that it counts as used, and forget what is older still."""
        self.turn += 1
        known = list(self.showings.values())
        stale = [one for one in known if days_between(one.at, now) > FORGOTTEN_DAYS]
        due = [one for one in known if one not in stale and self.turn - one.turn >= TURNS]
        for one in (*stale, *due):
            self.showings.pop(one.id, None)
        return due

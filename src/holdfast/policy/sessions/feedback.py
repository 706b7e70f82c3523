"""Per-session state of a running server: muted scopes, and results that got no feedback yet."""

from dataclasses import dataclass, field

from holdfast.model.ids import days_between

TURNS = 2  # calls without feedback after which a result counts as used
FORGOTTEN_DAYS = 0.5 / 24  # half an hour, after which the outcome counts as unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Impression:
    """A record that was returned and got no feedback yet."""

    id: str
    token: str
    turn: int
    at: str


@dataclass(slots=True, kw_only=True)
class SessionFeedback:
    """The state of one session; nothing in it is stored."""

    turn: int = 0
    muted: dict[str, None] = field(default_factory=dict)
    impressions: dict[str, Impression] = field(default_factory=dict)

    def show(self, record_id: str, token: str, at: str) -> str:
        """Register a result and return its token; a record has one at a time."""
        self.impressions[record_id] = Impression(id=record_id, token=token, turn=self.turn, at=at)
        return token

    def next_turn(self, now: str) -> list[Impression]:
        """Start the next call: return the results that now count as used, and drop older ones."""
        self.turn += 1
        known = list(self.impressions.values())
        stale = [impression for impression in known if days_between(impression.at, now) > FORGOTTEN_DAYS]
        due = [impression for impression in known if impression not in stale and self.turn - impression.turn >= TURNS]
        for impression in (*stale, *due):
            self.impressions.pop(impression.id, None)
        return due

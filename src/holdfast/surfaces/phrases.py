"""What several surfaces write the same way: a memory's text and kind, the error of a refused write, tallies of sessions."""

from holdfast.model.errors import Invalid
from holdfast.model.record import Record
from holdfast.policy.admission.admit import Refused
from holdfast.policy.admission.refusals import Remedies, explain
from holdfast.verbs.sessions.analyze import Activity

RELEVANCE = {"strong": "high", "fair": "medium", "weak": "low"}  # our confidence in a hit, in the words of others


def content(record: Record) -> str:
    """Return a memory's text, after its title where the text does not begin with it."""
    return record.body if record.body.startswith(record.title.rstrip("…")) else f"{record.title}\n{record.body}"


def kind_of(record: Record) -> str:
    """Return a record's kind after its severity."""
    severity = record.fields.get("severity")
    return f"{severity} {record.kind}" if severity else record.kind


def refusal(outcome: Refused, remedies: Remedies) -> Invalid:
    """Return the error with the reason why something was not saved, and what to do."""
    explained = explain(outcome, remedies)
    return Invalid(explained.reason, hint=explained.hint)


def tallies(activity: Activity) -> list[str]:
    """Return a line each for what sessions saved, their agents, how they closed and their issues; none for what is empty."""
    counts = {
        "Saved": [f"{count} {kind}" for kind, count in activity.kinds.most_common()],
        "Agents": [f"{name} {count}" for name, count in activity.agents.items()],
        "Closed": [f"{name} {count}" for name, count in activity.closes.most_common()],
        "Issues": [f"{name} {count}" for name, count in activity.issues],
    }
    return [f"{title}: {', '.join(items)}" for title, items in counts.items() if items]

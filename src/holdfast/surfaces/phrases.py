"""Who reads a text, a model or a person; and what surfaces write the same way: a memory on a line, its history, a refusal."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.model.errors import Invalid
from holdfast.model.event import Event, in_words
from holdfast.model.ids import short
from holdfast.model.patterns import tables
from holdfast.model.record import Link, Record, fold, set_aside
from holdfast.model.text import counted, shorten
from holdfast.policy.admission.admit import Duplicate, Refused, Remedies, explain

if TYPE_CHECKING:
    from holdfast.verbs.records.write import Outcome

RELEVANCE = {"strong": "high", "fair": "medium", "weak": "low"}  # our confidence in a hit, in the words of others


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """Who reads: how times are written, how long a text may be, and what the reader calls to act."""

    budget: int = 1_500  # tokens; 0: no limit
    figures: bool = True  # scores and counts that only a program compares
    day: Callable[[str], str] = itemgetter(slice(10))
    minute: Callable[[str], str] = itemgetter(slice(16))
    session: Callable[[str], str] = str  # how its id is written
    words: Mapping[str, str] = field(hash=False)  # what to call, by what it is for


REMEDIES: dict[str, Remedies] = {name: dict(rows) for name, rows in tables(__file__).items()}  # by host or surface
WORDS_OF_PERSON = REMEDIES.pop("reader person")
MODEL = Reader(words=REMEDIES.pop("reader model"))


def content(record: Record) -> str:
    """Return a memory's text, after its title where the text does not begin with it."""
    return record.body if record.body.startswith(record.title.rstrip("…")) else f"{record.title}\n{record.body}"


def line(record: Record, reader: Reader = MODEL) -> str:
    """Return a record as one line."""
    return f"{short(record.id)} {reader.minute(record.created_at)} [{record.graded}] {shorten(record.title, 120)}"


class Step(NamedTuple):
    """An event of a memory: what happened, who caused it, why, why it does not count, and each part changed, before and after."""

    event: Event
    verb: str
    who: str
    said: str
    aside: str  # quarantined or rejected; "" if it counts
    changes: list[tuple[str, str, str]]


def steps_of(events: Iterable[Event]) -> list[Step]:
    """Return the events of a memory in words, oldest first."""
    ordered = sorted(events, key=lambda event: event.id)
    record, aside, steps = None, set_aside(ordered), list[Step]()
    for event in ordered:
        said = event.data.get("reason") or event.data.get("note") or event.data.get("outcome") or ""
        after, changes = fold(record, event), list[tuple[str, str, str]]()
        if after and event.id not in aside:
            before, now = _parts_in_words(record), _parts_in_words(after)
            names = [name for name in before | now if before.get(name, "") != now.get(name, "")]
            # A title that came from the text changes with it; what a new memory has by default is not said.
            hidden = {"title"} if after.body.startswith(after.title.removesuffix("…")) else set()
            hidden |= {"visibility", "confidence", "project"} if record is None else set()
            changes = [(name, before.get(name, ""), now.get(name, "")) for name in names if name not in hidden]
            record = after
        why = {"waits": "quarantined", "rejected": "rejected"}.get(aside.get(event.id, ""), "")
        steps.append(Step(event, *in_words(event), str(said), why, changes))
    return steps


_COMPARED = "title kind scopes tags project visibility confidence anchors triggers links".split()


def _parts_in_words(record: Record | None) -> dict[str, str]:
    """Return the parts of a record that a history compares, fields by their own names."""

    def text(value: Any) -> str:
        if isinstance(value, Link):
            return f"{value.relation} {short(value.target)}"
        return ", ".join(map(text, value)) if isinstance(value, tuple | list) else str(value)

    if record is None:
        return {}
    parts = {name: getattr(record, name) for name in _COMPARED}
    return {name: text(value) for name, value in {**parts, "text": record.body, **record.fields}.items()}


def unanswered(scars: Sequence[Record], reader: Reader = MODEL) -> str:
    """Return which scars shown in this session have no answer yet, and how to answer; "" if all have one."""
    if not scars:
        return ""
    named = "; ".join(f"{short(scar.id)} {shorten(scar.title, 60)}" for scar in scars[:5])
    rest = f" and {len(scars) - 5} more" if len(scars) > 5 else ""
    count = counted(len(scars), "scar")
    return f"{count} shown in this session not answered. Answer before consequential work, {reader.words['answer']}: {named}{rest}"


def refusal(outcome: Refused, surface: str) -> Invalid:
    """Return the error with the reason why something was not saved, and what to do with the tools of a surface."""
    explained = explain(outcome, REMEDIES[surface])
    return Invalid(explained.reason, hint=explained.hint)


def stored(outcome: "Outcome", surface: str) -> Record:
    """Return the record that a write saved, or the one that it duplicates; raise if it was refused."""
    if isinstance(outcome, Duplicate):
        return outcome.matches[0].record
    if isinstance(outcome, Refused):
        raise refusal(outcome, surface)
    return outcome.record

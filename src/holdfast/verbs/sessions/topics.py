"""What sessions were about: the topics of one, and what comes back across many."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from holdfast.engine.views import records, usage
from holdfast.model.errors import Invalid
from holdfast.model.ids import days_before
from holdfast.model.record import Record
from holdfast.policy.language.overlap import words
from holdfast.verbs.memory import Memory
from holdfast.verbs.sessions.session import find_session

COMMON = 0.5  # of the records compared: a word that frequent tells nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Topics:
    """The words and labels a session turned on, strongest first."""

    words: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """A memory that several sessions came back to."""

    record: Record
    sessions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Patterns:
    """What comes back across sessions."""

    memories: tuple[Pattern, ...] = ()
    topics: tuple[tuple[str, int], ...] = ()


def topics_of(memory: Memory, session: str, *, most: int = 10) -> Topics:
    """Give what a session was about, judged by what it wrote."""
    found = [entry.record for entry in records.of_session(memory.store.db, find_session(memory, session).id)]
    counts = Counter(word for record in found for word in _words(record))
    labels = Counter(label for record in found for label in (*record.scopes, *record.tags))
    background = _background(memory)
    rare = {word: count for word, count in counts.items() if background[word] <= max(count, 1) * 3}
    ranked = sorted(rare, key=lambda word: (-rare[word], -len(word), word))
    return Topics(words=tuple(ranked[:most]), labels=tuple(label for label, _ in labels.most_common(most)))


def patterns(memory: Memory, *, days: float = 30, least: int = 2, most: int = 20) -> Patterns:
    """Give the memories and topics that came up in several sessions lately."""
    if least < 2:
        raise Invalid("A pattern needs at least two sessions.")
    db, since = memory.store.db, days_before(memory.clock.now(), days)
    seen = Counter(one.id for one in usage.shown_since(db, since))
    often = [record_id for record_id, count in seen.most_common() if count >= least]
    known = records.by_ids(db, often)
    here = (known[one].record for one in often if one in known)
    memories = [Pattern(record=one, sessions=seen[one.id]) for one in here if one.project in (memory.project, "")]
    summaries = records.newest(db, "summary", memory.store.project_number(memory.project), limit=200)
    recent = [entry.record for entry in summaries if entry.record.created_at >= since]
    return Patterns(memories=tuple(memories[:most]), topics=tuple(_recurring(recent, least)[:most]))


def sessions_shown(memory: Memory, ids: Iterable[str], *, days: float = 30) -> dict[str, list[str]]:
    """Give the sessions that were lately shown each of these records."""
    wanted = set(ids)
    found: dict[str, list[str]] = {one: [] for one in wanted}
    for shown in usage.shown_since(memory.store.db, days_before(memory.clock.now(), days)):
        if shown.id in wanted:
            found[shown.id].append(shown.session)
    return found


def _recurring(summaries: Iterable[Record], least: int) -> list[tuple[str, int]]:
    """Give the words that several sessions' summaries hold, but not nearly all of them."""
    by_session: dict[str, set[str]] = {}
    for record in summaries:
        by_session.setdefault(record.by.session, set()).update(_words(record))
    counts = Counter(word for found in by_session.values() for word in found)
    most = max(least, COMMON * len(by_session))
    found = [(word, count) for word, count in counts.items() if least <= count <= most]
    return sorted(found, key=lambda pair: (-pair[1], -len(pair[0]), pair[0]))


def _background(memory: Memory) -> Counter[str]:
    """Count the words of what was kept lately in the project, to tell what is special about a session."""
    chosen = records.Filter(projects=(memory.store.project_number(memory.project),))
    recent = records.page(memory.store.db, chosen, limit=300)
    return Counter(word for entry in recent for word in _words(entry.record))


def _words(record: Record) -> frozenset[str]:
    return frozenset(word for word in words(f"{record.title} {record.body}") if len(word) > 3 and not word.isdigit())

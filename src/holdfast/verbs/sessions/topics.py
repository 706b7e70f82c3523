"""Topics of a session, and memories and topics that recur across sessions."""

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

MOST_TOPICS = 10
COMMON = 0.5  # share of the compared records from which a word is too common


@dataclass(frozen=True, slots=True, kw_only=True)
class Topics:
    """The characteristic words and labels of a session, strongest first."""

    words: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """A memory that several sessions returned to."""

    record: Record
    sessions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Patterns:
    """What recurs across sessions."""

    memories: tuple[Pattern, ...] = ()
    topics: tuple[tuple[str, int], ...] = ()


def topics_of(memory: Memory, session: str) -> Topics:
    """Return what a session was about, judged by what it wrote."""
    written = [entry.record for entry in records.of_session(memory.store, find_session(memory, session).id)]
    counts = Counter(word for record in written for word in _words(record))
    labels = Counter(label for record in written for label in (*record.scopes, *record.tags))
    background = _background(memory)
    rare = {word: count for word, count in counts.items() if background[word] <= max(count, 1) * 3}
    ranked = sorted(rare, key=lambda word: (-rare[word], -len(word), word))
    return Topics(
        words=tuple(ranked[:MOST_TOPICS]), labels=tuple(label for label, _ in labels.most_common(MOST_TOPICS))
    )


def patterns(memory: Memory, *, days: float = 30, least: int = 2, most: int = 20) -> Patterns:
    """Return the memories and topics that came up in several recent sessions."""
    if least < 2:
        raise Invalid("A pattern needs at least two sessions.")
    store, since = memory.store, days_before(memory.clock.now(), days)
    seen = Counter(impression.id for impression in usage.shown_since(store, since))
    often = [record_id for record_id, count in seen.most_common() if count >= least]
    known = records.by_ids(store, often)
    recurring = (known[record_id].record for record_id in often if record_id in known)
    memories = [
        Pattern(record=record, sessions=seen[record.id])
        for record in recurring
        if record.project in (memory.project, "")
    ]
    summaries = records.newest(store, "summary", store.project_number(memory.project), limit=200)
    recent = [entry.record for entry in summaries if entry.record.created_at >= since]
    return Patterns(memories=tuple(memories[:most]), topics=tuple(_recurring(recent, least)[:most]))


def sessions_shown(memory: Memory, ids: Iterable[str], *, days: float = 30) -> dict[str, list[str]]:
    """Return the sessions that were recently shown each of these records."""
    wanted = set(ids)
    sessions_by_record: dict[str, list[str]] = {record_id: [] for record_id in wanted}
    for impression in usage.shown_since(memory.store, days_before(memory.clock.now(), days)):
        if impression.id in wanted:
            sessions_by_record[impression.id].append(impression.session)
    return sessions_by_record


def _recurring(summaries: Iterable[Record], least: int) -> list[tuple[str, int]]:
    """Return the words that several sessions' summaries share, but not nearly all of them."""
    by_session: dict[str, set[str]] = {}
    for record in summaries:
        by_session.setdefault(record.by.session, set()).update(_words(record))
    counts = Counter(word for session_words in by_session.values() for word in session_words)
    most = max(least, COMMON * len(by_session))
    recurring = [(word, count) for word, count in counts.items() if least <= count <= most]
    return sorted(recurring, key=lambda pair: (-pair[1], -len(pair[0]), pair[0]))


def _background(memory: Memory) -> Counter[str]:
    """Count the words of the project's recent records, to find what is special about a session."""
    chosen = records.Filter(projects=(memory.store.project_number(memory.project),))
    recent = records.page(memory.store, chosen, limit=300)
    return Counter(word for entry in recent for word in _words(entry.record))


def _words(record: Record) -> frozenset[str]:
    return frozenset(word for word in words(f"{record.title} {record.body}") if len(word) > 3 and not word.isdigit())

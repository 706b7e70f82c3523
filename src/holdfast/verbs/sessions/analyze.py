"""Aggregate a project's sessions (activity, reflections, blind spots, wordings of scars, topics), and write the digest of a range of time."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from holdfast.engine.views import queries, records, sessions, usage
from holdfast.model.errors import Invalid
from holdfast.model.event import ids_in, tokens_in
from holdfast.model.ids import days_before
from holdfast.model.kinds import NOTES
from holdfast.model.record import Record
from holdfast.model.session import Session
from holdfast.policy.language.overlap import words
from holdfast.policy.sessions.evidence import VARIANTS
from holdfast.verbs.memory import Memory, Report
from holdfast.verbs.records.freshness import MOST_CHECKED, drifted
from holdfast.verbs.records.read import newest_of_kind
from holdfast.verbs.sessions.scars import Effect, effects
from holdfast.verbs.sessions.session import find_session

QUESTIONS = ("what_broke", "what_worked", "wrong_assumption", "do_differently")
MOST_DAYS = 3_660  # that are counted one by one
MOST_ANSWERS = 30
MOST_TOPICS = 10
COMMON = 0.5  # share of the compared records from which a word is too common
MOST_READ, MOST_LISTED = 20_000, 200  # events of a range, and memories of a section, the latest
SECTIONS = ("Learned", "Changed", "Went stale", "Confirmed", "Retired", "Contradicted")
_VERBS = {"recorded": "Learned", "revised": "Changed", "verified": "Confirmed", "retired": "Retired"}


def activity(memory: Memory, *, days: float = 30, agent: str = "") -> Report:
    """Return how much was done recently in this project, by whom, and how sessions ended."""
    recent, since = _recent(memory, days, agent), days_before(memory.clock.now(), days)
    by_day, own = Counter(session.started_at[:10] for session in recent), {session.id for session in recent}
    dates = [days_before(memory.clock.now(), back)[:10] for back in range(int(min(days, MOST_DAYS)) - 1, -1, -1)]
    costs, injections = usage.costs_since(memory.store, since), memory.store.happened(("injected",), since, 100_000)
    return {
        "sessions": len(recent),
        "open": sum(session.is_open for session in recent),
        "recalls": sum(memory.store.counted(session.id, "surfaced") for session in recent),
        "reflections": sum(bool(session.close.get("retrospective")) for session in recent),
        "kinds": Counter(records.kinds_since(memory.store, memory.here, since, own if agent else None)),
        "agents": dict(Counter(session.agent or "unknown" for session in recent).most_common()),
        "closes": Counter(str(session.close["type"]) for session in recent if "type" in session.close),
        "issues": Counter(session.issue for session in recent if session.issue).most_common(10),
        "daily": [by_day[date] for date in dates],  # sessions a day, oldest first
        "tokens": sum(costs[session]["tokens"] for session in own & costs.keys()),
        "injected": sum(tokens_in(event) for event in injections if event.about in own),
    }


def reflections(memory: Memory, *, days: float = 30, agent: str = "") -> dict[str, list[Report]]:
    """Return what sessions answered when they closed, by question, latest first."""
    since = days_before(memory.clock.now(), days)
    latest = newest_of_kind(memory, "retrospective", limit=500)
    own = [record for record in latest if record.created_at >= since and agent in ("", record.by.name)]
    return {
        question: [
            {"text": str(answer), "session": record.by.session, "agent": record.by.name, "at": record.created_at}
            for record in own
            if (answer := record.fields.get(question))
        ][:MOST_ANSWERS]
        for question in QUESTIONS
    }


def blind_spots(memory: Memory, *, days: float = 30, agent: str = "") -> dict[str, list[Effect]]:
    """Return the scars that are shown in vain, to all agents or to one."""
    own = {session.id for session in _recent(memory, days, agent)} if agent else None
    return blind_among(effects(memory, days=days, sessions=own))


def blind_among(scar_effects: Sequence[Effect]) -> dict[str, list[Effect]]:
    """Return those of some scars that are ignored, that were applied in vain, and whose wording needs a review."""
    return {
        "ignored": [effect for effect in scar_effects if effect.is_blind_spot],
        "in_vain": [effect for effect in scar_effects if effect.outcomes["applied"] and effect.outcomes["failed"]],
        "review": [effect for effect in scar_effects if effect.wants_review],
    }


def wordings(memory: Memory, *, days: float = 90) -> list[Report]:
    """Compare the two wordings of scars: how often each was shown, and the outcomes."""
    since = days_before(memory.clock.now(), days)
    own = {session.id for session in _recent(memory, days, "")}
    shown = [impression for impression in usage.shown(memory.store, since=since) if impression.session in own]
    variants = {(impression.session, impression.id): impression.variant for impression in shown if impression.variant}
    outcomes: dict[str, Counter[str]] = {variant: Counter() for variant in VARIANTS}
    for use in usage.uses(memory.store, since=since):
        variant = use.variant or variants.get((use.session, use.id), "")
        if variant in outcomes and use.session in own:
            outcomes[variant][use.outcome] += 1
    counts = Counter(variants.values())
    return [
        {"variant": name, "shown": counts[name], "outcomes": own, "heeded": own["applied"] / max(1, counts[name])}
        for name, own in outcomes.items()
    ]


def _recent(memory: Memory, days: float, agent: str) -> Sequence[Session]:
    page = sessions.page(memory.store, memory.project, limit=10_000, since=days_before(memory.clock.now(), days))
    return [session for session in page if agent in ("", session.agent)]


def topics_of(memory: Memory, session: str) -> dict[str, list[str]]:
    """Return the characteristic words and labels of what a session wrote, strongest first."""
    written = [entry.record for entry in records.of_session(memory.store, find_session(memory, session).id)]
    counts = Counter(word for record in written for word in _words(record))
    labels = Counter(label for record in written for label in (*record.scopes, *record.tags)).most_common(MOST_TOPICS)
    # What is special about a session is rare in what was written recently.
    recent = records.page(memory.store, records.Filter(projects=(memory.here,)), limit=300)
    background = Counter(word for entry in recent for word in _words(entry.record))
    rare = {word: count for word, count in counts.items() if background[word] <= max(count, 1) * 3}
    ranked = sorted(rare, key=lambda word: (-rare[word], -len(word), word))
    return {"words": ranked[:MOST_TOPICS], "labels": [label for label, _ in labels]}


def patterns(memory: Memory, *, days: float = 30, least: int = 2, most: int = 20) -> dict[str, list[Any]]:
    """Return the memories and topics that came up in several recent sessions."""
    if least < 2:
        raise Invalid("A pattern needs at least two sessions.")
    store, since = memory.store, days_before(memory.clock.now(), days)
    seen = Counter(impression.id for impression in usage.shown(store, since=since))
    often = [record_id for record_id, count in seen.most_common() if count >= least]
    ours = [record for record in memory.known(often).values() if record.project in (memory.project, "")]
    memories = [{"record": record, "sessions": seen[record.id]} for record in ours[:most]]
    # Topics are the words that several sessions' summaries share, but not nearly all of them.
    by_session = defaultdict[str, set[str]](set)
    for record in newest_of_kind(memory, "summary", limit=200):
        if record.created_at >= since:
            by_session[record.by.session] |= _words(record)
    counts = Counter(word for session_words in by_session.values() for word in session_words)
    common = max(least, COMMON * len(by_session))
    topics = [(word, count) for word, count in counts.items() if least <= count <= common]
    topics.sort(key=lambda pair: (-pair[1], -len(pair[0]), pair[0]))
    return {"memories": memories, "topics": topics[:most]}


def sessions_shown(memory: Memory, ids: Iterable[str], *, days: float = 30) -> dict[str, list[str]]:
    """Return the sessions that were recently shown each of these records."""
    by_record: dict[str, list[str]] = {record_id: [] for record_id in ids}
    for impression in usage.shown(memory.store, since=days_before(memory.clock.now(), days)):
        if impression.id in by_record:
            by_record[impression.id].append(impression.session)
    return by_record


def _words(record: Record) -> frozenset[str]:
    return frozenset(word for word in words(f"{record.title} {record.body}") if len(word) > 3 and not word.isdigit())


def digest(memory: Memory, since: str, until: str, *, everywhere: bool = False) -> Report:
    """Return what happened in a project, or in all, from an instant to another: sections, the latest first, and counts."""
    homes = None if everywhere else (*memory.store.homes(memory.project), *memory.store.homes(""))
    states = ("active", "pending", "held", "retired")
    chosen = records.Filter(projects=homes, states=states, starters=True, separate=True)
    changes = records.changes(memory.store, tuple(_VERBS), since, until, chosen, limit=MOST_READ)
    injected = [event for event in memory.store.happened(("injected",), since, MOST_READ) if event.at < until]
    uses = [use for use in usage.uses(memory.store, since=since) if use.at < until]
    wrong = [use for use in uses if use.outcome in ("contradicted", "refuted")]
    got = memory.known(id_ for ids in (*map(ids_in, injected), (use.id for use in wrong)) for id_ in ids)
    here = (memory.project, "")
    ours = {id_: one for id_, one in got.items() if one.state != "erased" and (everywhere or one.project in here)}
    noted: dict[str, dict[str, tuple[str, str]]] = {name: {} for name in SECTIONS}
    by: Counter[str] = Counter()
    said = memory.store.events_with(use.event for use in wrong if use.id in ours).values()
    reports = [("", one.about, ours[one.about].kind, one.at, one.by.name or one.by.kind) for one in said]
    for verb, id_, kind, at, author in (*changes, *reports):
        if kind not in NOTES:
            noted[_VERBS.get(verb, "Contradicted")].setdefault(id_, (at, author))
            by[author] += 1
    # When the last commit changed the cited code, and who made it; the latest first.
    cites, _ = queries.citing(memory.store, memory.here, MOST_CHECKED)
    last = {
        record.id: max(((one.last.at, one.last.author) for one in verdict.problems if one.last), default=("", ""))
        for record, verdict in drifted(memory, cites).values()
    }
    stale = sorted(last.items(), key=lambda pair: pair[1], reverse=True)
    noted["Went stale"] = {id_: note for id_, note in stale if since <= note[0] < until}
    latest = {name: list(some.items())[:MOST_LISTED] for name, some in noted.items()}
    known = memory.known(id_ for some in latest.values() for id_, _ in some)
    pairs = {(event.about, id_) for event in injected for id_ in ids_in(event) if id_ in ours}
    outcomes = {(use.session, use.id): use.outcome for use in uses if (use.session, use.id) in pairs}
    return {
        "since": since,
        "until": until,
        "sections": {  # the latest of each: the record, when it was last noted there, and by whom
            name: [{"record": known[id_], "at": at, "by": who} for id_, (at, who) in some if id_ in known]
            for name, some in latest.items()
        },
        "totals": {name: len(some) for name, some in noted.items()},
        "by": by,  # changes by person or agent
        "cut": len(changes) == MOST_READ,  # more changed than is read at once
        "injections": len([event for event in injected if not ours.keys().isdisjoint(ids_in(event))]),
        "delivered": len(pairs),  # memories injected, each once for a session
        "outcomes": Counter(outcomes.values()),  # of what was injected, reported or seen by rules
    }

"""Learn from a repository's history: explained choices, changes that were reverted or broke something, and regressions."""

from dataclasses import replace

from holdfast.model.errors import Invalid
from holdfast.model.event import Actor, Event
from holdfast.model.ids import fixed_id
from holdfast.model.ports import History
from holdfast.model.record import Draft, fold
from holdfast.policy.activity.commits import learnable
from holdfast.policy.language.noteworthy import NOVEL
from holdfast.verbs.memory import Memory, Report
from holdfast.verbs.records.write import draft_event, novelty

LIMIT, MOST, MOST_KEPT = 2_000, 10_000, 100
BY = Actor(kind="rule", name="learn")


def learn(memory: Memory, history: History, *, since: str = "", limit: int = LIMIT, dry_run: bool = False) -> Report:
    """Turn commits since the last run into candidate records. Idempotent.

    Returns the number of new commits, the records, the drafts `known` before, and those over the limit (`left_out`).
    """
    if not 1 <= limit <= MOST:
        raise Invalid(f"limit must be between 1 and {MOST}.")
    head, mark = history.head(), f"learned {memory.project}"
    fresh = history.commits(after="" if since else memory.store.setting(mark), since=since, limit=limit)
    # A fix may continue a series that began earlier, so recent commits are read again.
    recent = fresh if since or not fresh else history.commits(limit=limit)
    commits = list({commit.hash: commit for commit in (*recent, *fresh)}.values())
    new, drafts = {commit.hash for commit in fresh}, dict[str, Draft]()
    for draft in learnable(commits, history.changelog() if fresh else ("", "")):
        if draft.extra.get("changelog") or new & set(draft.extra["commits"]):
            # Its id is derived from its first commit and its file, so that it is stable.
            first, place = draft.extra["commits"][0], next(iter(draft.anchors), "")
            name = f"learn {memory.project} {draft.kind} {draft.fields.get('subtitle', '')} {first} {place}"
            drafts[fixed_id(str(draft.extra["began"]), name)] = draft
    events = [event for about, draft in drafts.items() if (event := _event(memory, about, draft))]
    kept = events[-MOST_KEPT:]
    if dry_run:
        records = [record for event in kept if (record := fold(memory.store.folded(event.about), event))]
    else:
        records = [entry.record for entry in memory.commit(kept)]
    if head and not (dry_run or since):
        memory.store.note(mark, head)
    known, left_out = len(drafts) - len(events), len(events) - len(kept)
    counts = {"commits": len(fresh), "kept": records, "known": known, "left_out": left_out}
    return counts | {"dry_run": dry_run}


def _event(memory: Memory, about: str, draft: Draft) -> Event | None:
    known = memory.store.folded(about)
    text = draft.body.rpartition("\n(commit ")[0] or draft.body
    if known is None and novelty(memory, replace(draft, body=text)) < NOVEL:
        return None
    pending = draft.kind == "decision" or bool(draft.extra.get("unsure"))  # since now, however old the commit is
    event = draft_event(memory, replace(draft, at="") if pending else draft, pending=pending, about=about, by=BY)
    origin = {} if draft.extra.get("changelog") else {"commit": draft.extra["commits"][-1]}
    if known is None:
        return replace(event, data={**event.data, "origin": origin})
    is_ours = all(stored.by == BY for stored in memory.store.events_about(about))
    if known.body == event.data["body"] or known.state not in ("active", "pending") or not is_ours:
        return None
    changed = {name: event.data[name] for name in ("title", "body", "fields", "extra") if name in event.data}
    return memory.event("revised", about, data=changed, after=known.head, by=BY)

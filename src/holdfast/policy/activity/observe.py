"""Turn hook activity into draft observations by rule: what was changed, fixed, broken or learned, with facts and a narrative."""

import re
from collections.abc import Mapping, Sequence

from holdfast.model.patterns import cues_of, lazy
from holdfast.model.record import Draft
from holdfast.model.text import shorten
from holdfast.model.trail import HookEvent
from holdfast.policy.activity.digest import Work, digest, pieces
from holdfast.policy.activity.turns import Turn, turns
from holdfast.policy.language.cues import CUES
from holdfast.policy.language.headlines import TITLE, answer_of, finding_of, joined, one_line, subject_of
from holdfast.policy.language.reading import SentenceReader

MOST_FILES, MOST_FACTS, MOST_ANCHORS = 30, 12, 5
FEWEST_LOOKS, SHORTEST_ANSWER = 2, 60

CONCEPTS: Mapping[str, tuple[str, ...]] = {
    "bugfix": ("problem-solution",),
    "feature": ("what-changed",),
    "refactor": ("what-changed", "pattern"),
    "change": ("what-changed",),
    "discovery": ("how-it-works",),
    "decision": ("why-it-exists", "trade-off"),
}
_CUES = cues_of(__file__)
_SAYS = {name: lazy(text) for name, text in _CUES["observe"].items()}
_BY_COMMIT = {word: kind for kind, words in _CUES["commits"].items() for word in words.split()}
_BY_WORD = tuple(
    (kind, lazy(rf"\b(?:{CUES[kind]})\b", re.IGNORECASE)) for kind in ("bugfix", "refactor", "change", "feature")
)
_DID = {"create": "Created", "edit": "Changed", "delete": "Deleted"}


def observations_of(turn: Turn) -> list[Draft]:
    """Return the observations of one turn; empty if nothing in it is worth recording."""
    return [_draft(work) for work in works_of(turn) if _did_something(work) or not work.signals]


def works(activity: Sequence[HookEvent], reader: SentenceReader | None = None) -> list[Work]:
    """Return the pieces of work that are worth recording, of unfinished turns too."""
    return [work for turn in turns(activity, reader) for work in works_of(turn)]


def works_of(turn: Turn) -> list[Work]:
    """Return the pieces of work of one turn that are worth recording."""
    worth = list[Work]()
    for work in map(digest, pieces(turn)):
        claims = work.signals if turn.steps else [signal for signal in work.signals if signal.how != "wording"]
        looked = len(work.read) + len(work.searches) + FEWEST_LOOKS * len(work.delegated)
        fewest = 1 if is_question(work.request) else FEWEST_LOOKS
        has_answer = looked >= fewest and len(work.turn.answer) >= SHORTEST_ANSWER
        worth += [work] if _did_something(work) or claims or has_answer else []
    return worth


def title_of(work: Work, kind: str) -> str:
    """Return what was found or done: from the commit, else from the answer, the request or the tool calls."""
    if work.commits and work.commits[0].subject:
        return one_line(subject_of(work.commits[0].subject)[0], TITLE)
    if kind == "decision":
        return one_line(next(signal.text for signal in work.signals if signal.kind == "decision"), TITLE)
    if work.outcome and (work.changes or work.acts):
        return work.outcome
    if kind == "discovery" or is_question(work.request):
        finding = finding_of(work.turn.answer, work.request)
        return one_line(finding or work.request or _title_from_steps(work), TITLE)
    return work.request or one_line(_title_from_steps(work), TITLE)


def is_question(request: str) -> bool:
    """True if a request asks for an answer rather than for a change."""
    return bool(_SAYS["question"].match(request))


def type_of(work: Work) -> str:
    """Return the observation type: bugfix, feature, refactor, change, decision or discovery."""
    acted = work.acts and not is_question(work.request)  # commands run to answer a question change nothing
    if not (work.changes or work.commits or acted):
        return "decision" if any(signal.kind == "decision" for signal in work.signals) else "discovery"
    # What the commit, request, checks, answer or files indicate, in this order.
    subjects = (subject_of(commit.subject) for commit in work.commits)
    creates_code = any(change.how == "create" and not _SAYS["aside"].search(change.path) for change in work.changes)
    types = (
        *(_BY_COMMIT.get(prefix) or _type_by_words(subject) for subject, prefix in subjects),
        _type_by_words(work.request),
        "bugfix" if work.fixed else _type_by_words(work.outcome),
        "feature" if creates_code else "change",
    )
    kind = next(filter(None, types))
    if kind == "feature" and work.modified and all(_SAYS["aside"].search(path) for path in work.modified):
        return "change"  # tests, docs and settings are not features
    return kind


def _type_by_words(text: str) -> str:
    """Return the type of the first keyword: “add tests for the broken parser” is a feature."""
    hits = [(match.start(), kind) for kind, pattern in _BY_WORD if (match := pattern.search(text))]
    return min(hits)[1] if hits else ""


def _did_something(work: Work) -> bool:
    """True if there is more to record than what was said: decisions and lessons are records of their own."""
    return bool(work.changes or work.commits or work.broken or work.fixed or work.acts)


def _draft(work: Work) -> Draft:
    turn, kind = work.turn, type_of(work)
    title = title_of(work, kind)
    is_lesson = any(signal.record_kind == "learning" for signal in work.signals) or (kind == "bugfix" and work.fixed)
    fields = {
        "type": kind,
        "subtitle": subtitle_of(work, kind, title),
        "facts": facts_of(work)[:MOST_FACTS],
        "concepts": [*CONCEPTS[kind], *(["gotcha"] if is_lesson else [])],
        "files_read": work.read[:MOST_FILES],
        "files_modified": work.modified[:MOST_FILES],
        "discovery_tokens": turn.tokens,
    }
    extra = {"trail": turn.id, "session": turn.session, "client": turn.client, "agent": turn.agent}
    extra |= {"commit": next((commit.hash for commit in work.commits if commit.hash), "")}
    return Draft(
        kind="observation",
        title=title,
        body=narrative_of(work),  # not repeated in a field: it would be indexed twice
        fields={name: value for name, value in fields.items() if value},
        source="observed",
        anchors=tuple(work.modified[:MOST_ANCHORS]),
        extra={name: value for name, value in extra.items() if value},
        at=turn.ended,
    )


def _title_from_steps(work: Work) -> str:
    if work.fixed:
        return f"Fixed {work.fixed[0].name}: {work.fixed[0].error}"
    if work.modified:
        return f"Changed {joined(work.modified, 3)}"
    if work.broken:
        return f"{work.broken[0].name} fails: {work.broken[0].error or 'no error message'}"
    if tasks := [task.task for task in work.delegated if task.task]:
        return tasks[0]
    if work.acts:
        return f"Ran {joined([run.name for run in work.acts], 3)}"
    return answer_of(work.turn.answer) or f"Read {joined(work.read, 3)}"


def subtitle_of(work: Work, kind: str, title: str) -> str:
    """Return one more line: what was wrong, what is still broken, or what the answer says."""
    by = f"Sub-agent {work.turn.agent}: " if work.turn.agent else ""
    fixed = (check for check in work.fixed if kind == "bugfix" and check.error)
    lines = (
        *(f"{check.name} failed with {check.error.rstrip('.')}; it passes now" for check in fixed),
        *(check.still for check in work.broken),
        shorten(answer_of(work.turn.answer, title=title), 200),
        joined(work.modified, 3),
    )
    return (by + next(filter(None, lines), "")).rstrip(": ")


def facts_of(work: Work) -> list[str]:
    """Return single facts, each understandable alone."""
    facts = [f"Commit {commit.hash or 'made'}: {commit.subject}" for commit in work.commits]
    facts += [f"{check.name} failed ({check.error}), then passed" for check in work.fixed if check.error]
    facts += [check.still for check in work.broken]
    for path in dict.fromkeys(change.path for change in work.changes):
        edits = [change for change in work.changes if change.path == path]
        before, after = (
            dict.fromkeys(name for groups in _SAYS["named"].findall("\n".join(texts)) for name in groups if name)
            for texts in ([change.before for change in edits], [change.after for change in edits])
        )
        named = {"adds": after.keys() - before.keys(), "removes": before.keys() - after.keys()}
        details = [
            f"{how} {joined([f'`{name}`' for name in (*after, *before) if name in names], 4)}"
            for how, names in named.items()
            if names
        ]
        did = _DID[edits[-1].how if edits[-1].how == "delete" else edits[0].how]
        facts.append(f"{did} {path}" + f" ({'; '.join(details)})" * bool(details))
    for task in work.delegated:
        answer = answer_of(task.answer)
        facts.append(f"Sub-agent {task.agent or 'unnamed'}, asked to {task.task}" + f": {answer}" * bool(answer))
    return [shorten(fact, 1_000) for fact in dict.fromkeys(facts)]


def narrative_of(work: Work) -> str:
    """Return what happened as running text, in order."""
    wanted = dict.fromkeys(f"“{shorten(search.wanted, 60)}”" for search in work.searches if search.wanted)
    changed = {how: dict.fromkeys(change.path for change in work.changes if change.how == how) for how in _DID}
    known = {check.name for check in (*work.fixed, *work.broken)}
    passed = dict.fromkeys(run.name for run in work.runs if not run.wrong and run.name not in known)
    answer = work.turn.answer
    for signal in work.signals:  # each is stored, or awaits confirmation, as a record of its own
        answer = answer.replace(signal.text, "")
    answer = " ".join(answer.split()) if work.signals else answer
    parts = [
        f"Asked: {one_line(work.turn.prompt, 400)}." if work.turn.prompt else "",
        f"Done by the sub-agent {work.turn.agent}." if work.turn.agent else "",
        f"Read {joined(work.read, 6)}." if work.read else "",
        f"Looked for {joined(list(wanted), 4)}." if wanted else "",
        *(f"Had {task.agent or 'a sub-agent'} do: {shorten(task.task, 160)}." for task in work.delegated),
        *(f"{_DID[how]} {joined(list(paths), 6)}." for how, paths in changed.items() if paths),
        *(
            f"{check.name} failed" + f" with {check.error.rstrip('.')}" * bool(check.error) + " and passed afterwards."
            for check in work.fixed
        ),
        *(f"{check.still.rstrip('.')}." for check in work.broken),
        f"Ran {joined(list(passed), 4)}." if passed else "",
        *(f"Committed {commit.hash} “{commit.subject}”.".replace("  ", " ") for commit in work.commits),
        f"Answered: {shorten(answer, 600)}" if answer else "",
    ]
    return " ".join(part for part in parts if part) or "No details were recorded."

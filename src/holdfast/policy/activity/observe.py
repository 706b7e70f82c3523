"""Turn hook activity into draft observations by rule: what was changed, fixed, broken or learned."""

import re
from collections.abc import Mapping, Sequence

from holdfast.model.patterns import lazy
from holdfast.model.record import Draft
from holdfast.model.trail import HookEvent
from holdfast.policy.activity.digest import Work, digest, pieces
from holdfast.policy.activity.narrate import facts_of, narrative_of, subtitle_of
from holdfast.policy.activity.turns import Turn, turns
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
_BY_COMMIT: Mapping[str, str] = {
    **dict.fromkeys("fix hotfix bugfix".split(), "bugfix"),
    **dict.fromkeys("feat feature".split(), "feature"),
    **dict.fromkeys("refactor perf".split(), "refactor"),
    **dict.fromkeys("docs chore style ci build test tests deps release revert".split(), "change"),
}
_WORDS: Mapping[str, str] = {
    "bugfix": r"fix(?:es|ed)?|bugs?|broken|crash\w*|regression|correct(?:ed|s)?|resolve[ds]?|patch(?:ed)?|mend(?:ed)?|(?:is|are) wrong|"
    r"fail(?:s|ing|ed|ures?)?|hangs?|leaks?|errors? out|(?:doesn't|does not|not) work\w*|500|traceback|handled?|stop(?:ped)?|investigate",
    "refactor": r"refactor\w*|renam\w+|extract(?:ed)?|clean(?:ed)? ?up|simplif\w+|split|inlined?|restructur\w*|dedup\w*|reorgani[sz]\w*|"
    r"moved?|pull(?:ed)?\b.*\bout|into (?:its|their) own|unif(?:y|ied)|rewr\w+|rework\w*|optimi[sz]\w*|speed up|faster|modulari[sz]e",
    "change": r"updat\w+|bump(?:ed)?|upgrad\w+|remov\w+|delet\w+|docs?|document(?:ed|ation)?|readme|typos?|comments?|config\w*|format(?:ted)?|"
    r"chang(?:e|ed)|replac\w+|pin(?:ned)?|downgrad\w+|revert\w*|switch(?:ed)?|disable[ds]?|drop(?:ped)?|translat\w+|merge[ds]?|wording|"
    r"deploy\w*|install\w*|migrat\w+|release[ds]?|tag(?:ged)?|publish\w*|raise[ds]?|lower(?:ed)?|set",
    "feature": r"add(?:ed|s)?|implement\w*|creat\w+|build|built|support(?:s|ed)?|introduc\w+|new|wrote|write|wire[ds]?|allow|enable[ds]?|"
    r"make it possible|let users?|cache[ds]?",
}
_BY_WORD = tuple((kind, lazy(rf"\b(?:{words})\b", re.IGNORECASE)) for kind, words in _WORDS.items())
_QUESTION = lazy(
    r"(?:why|how|what|which|where|who|when|is|are|does|do|did|was|were|can|has|have)\b|.*\?$", re.IGNORECASE
)
_ASIDE = lazy(
    r"(?:^|/)(?:docs?|\.github|\.vscode|tests?|__tests__|spec|fixtures)/|"
    r"(?:^|/)(?:test_[^/]*|[^/]*_test\.\w+|[^/]*\.(?:test|spec)\.\w+|README[^/]*|CHANGELOG[^/]*|LICENSE|Makefile|justfile|Dockerfile[^/]*)$|"
    r"\.(?:md|rst|txt|toml|ya?ml|json|lock|ini|cfg|env[\w.]*|gitignore)$",
    re.IGNORECASE,
)


def observations(
    activity: Sequence[HookEvent], *, include_open: bool = False, reader: SentenceReader | None = None
) -> list[Draft]:
    """Return draft observations for finished turns: one for each prompt and agent, and one for each commit.

    Unfinished turns are skipped unless `include_open` is set. Deterministic: the same activity returns the same drafts,
    each with its own key in `extra.trail`.
    """
    done = [turn for turn in turns(activity, reader) if turn.done or include_open]
    return [draft for turn in done for draft in observations_of(turn)]


def observations_of(turn: Turn) -> list[Draft]:
    """Return the observations of one turn; empty if nothing in it is worth recording."""
    return [_draft(work) for work in _works_of(turn) if _did_something(work) or not work.signals]


def works(
    activity: Sequence[HookEvent], reader: SentenceReader | None = None, *, include_open: bool = False
) -> list[Work]:
    """Return the pieces of work that are worth recording."""
    done = [turn for turn in turns(activity, reader) if turn.done or include_open]
    return [work for turn in done for work in _works_of(turn)]


def settled(activity: Sequence[HookEvent]) -> str:
    """Return the last id before the first unfinished turn: activity up to it need not be read again."""
    first_open = min((turn.id for turn in turns(activity) if not turn.done), default="")
    return max((event.id for event in activity if not first_open or event.id < first_open), default="")


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
    return bool(_QUESTION.match(request))


def type_of(work: Work) -> str:
    """Return the observation type: bugfix, feature, refactor, change, decision or discovery."""
    acted = work.acts and not is_question(work.request)  # commands run to answer a question change nothing
    if not (work.changes or work.commits or acted):
        return "decision" if any(signal.kind == "decision" for signal in work.signals) else "discovery"
    kind = _stated_type(work)
    if kind == "feature" and work.modified and all(_ASIDE.search(path) for path in work.modified):
        return "change"  # tests, docs and settings are not features
    return kind


def _works_of(turn: Turn) -> list[Work]:
    return [work for piece in pieces(turn) if _is_worth_recording(work := digest(piece))]


def _stated_type(work: Work) -> str:
    """Return the type that the commit, request, checks, answer or files indicate, in this order."""
    for commit in work.commits:
        subject, prefix = subject_of(commit.subject)
        if kind := _BY_COMMIT.get(prefix) or _type_by_words(subject):
            return kind
    if kind := _type_by_words(work.request):
        return kind
    if work.fixed:
        return "bugfix"
    creates_code = any(change.how == "create" and not _ASIDE.search(change.path) for change in work.changes)
    return _type_by_words(work.outcome) or ("feature" if creates_code else "change")


def _type_by_words(text: str) -> str:
    """Return the type of the first keyword: “add tests for the broken parser” is a feature."""
    hits = [(match.start(), kind) for kind, pattern in _BY_WORD if (match := pattern.search(text))]
    return min(hits)[1] if hits else ""


def _is_worth_recording(work: Work) -> bool:
    claims = work.signals if work.turn.steps else [signal for signal in work.signals if signal.how != "wording"]
    if _did_something(work) or claims:
        return True
    looked = len(work.read) + len(work.searches) + FEWEST_LOOKS * len(work.delegated)
    fewest = 1 if is_question(work.request) else FEWEST_LOOKS
    return looked >= fewest and len(work.turn.answer) >= SHORTEST_ANSWER


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

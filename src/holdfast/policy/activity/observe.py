"""Observations out of raw happenings, by rule: what changed, what broke and was mended, what was found out. Pure."""

import re
from collections.abc import Mapping, Sequence

from holdfast.model.record import Draft
from holdfast.model.trail import Happening
from holdfast.policy.activity.digest import Work, digest, pieces
from holdfast.policy.activity.narrate import facts_of, narrative_of, subtitle_of
from holdfast.policy.activity.work import Turn, turns
from holdfast.policy.language.headlines import TITLE, answer_of, joined, one_line, subject_of

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
_BY_WORD = tuple((kind, re.compile(rf"\b(?:{words})\b", re.IGNORECASE)) for kind, words in _WORDS.items())
_QUESTION = re.compile(
    r"(?:why|how|what|which|where|who|when|is|are|does|do|did|was|were|can|has|have)\b|.*\?$", re.IGNORECASE
)
_ASIDE = re.compile(
    r"(?:^|/)(?:docs?|\.github|\.vscode|tests?|__tests__|spec|fixtures)/|"
    r"(?:^|/)(?:test_[^/]*|[^/]*_test\.\w+|[^/]*\.(?:test|spec)\.\w+|README[^/]*|CHANGELOG[^/]*|LICENSE|Makefile|justfile|Dockerfile[^/]*)$|"
    r"\.(?:md|rst|txt|toml|ya?ml|json|lock|ini|cfg|env[\w.]*|gitignore)$",
    re.IGNORECASE,
)


def observations(happenings: Sequence[Happening], *, everything: bool = False) -> list[Draft]:
    """Give what sessions did as observations, one for each prompt and agent, and for each commit in it.

    A turn that is still going on is left for later, unless everything is asked for. The same happenings give the same
    drafts, each with a key of its own in `extra.trail`.
    """
    done = [turn for turn in turns(happenings) if turn.done or everything]
    return [draft for turn in done for draft in observations_of(turn)]


def observations_of(turn: Turn) -> list[Draft]:
    """Give the observations of one turn; none if nothing in it is worth telling."""
    return [_draft(work) for work in _works_of(turn)]


def works(happenings: Sequence[Happening], *, everything: bool = False) -> list[Work]:
    """Give the pieces of work that are worth telling."""
    done = [turn for turn in turns(happenings) if turn.done or everything]
    return [work for turn in done for work in _works_of(turn)]


def settled(happenings: Sequence[Happening]) -> str:
    """Give the id up to which happenings need not be looked at again: all before the first turn that still goes on."""
    going = min((turn.id for turn in turns(happenings) if not turn.done), default="")
    return max((one.id for one in happenings if not going or one.id < going), default="")


def title_of(work: Work, kind: str) -> str:
    """Name the work: by its commit, by what the answer says was done, by the request, by its traces."""
    if work.commits and work.commits[0].subject:
        return one_line(subject_of(work.commits[0].subject)[0], TITLE)
    if kind == "decision":
        return one_line(next(one.text for one in work.signals if one.kind == "decision"), TITLE)
    if work.outcome and (work.changes or work.acts):
        return work.outcome
    return work.request or one_line(_traces(work), TITLE)


def type_of(work: Work) -> str:
    """Tell what sort of work it was."""
    acted = work.acts and not _QUESTION.match(work.request)  # what is run to answer a question changes nothing
    if not (work.changes or work.commits or acted):
        return "decision" if any(one.kind == "decision" for one in work.signals) else "discovery"
    found = _said_type(work)
    if found == "feature" and work.modified and all(_ASIDE.search(path) for path in work.modified):
        return "change"  # tests, words and settings add nothing a user could use
    return found


def _works_of(turn: Turn) -> list[Work]:
    return [work for piece in pieces(turn) if _is_worth_telling(work := digest(piece))]


def _said_type(work: Work) -> str:
    """Give the type as commit, request, checks, answer and files say, in this order."""
    for commit in work.commits:
        subject, prefix = subject_of(commit.subject)
        if kind := _BY_COMMIT.get(prefix) or _type_by_words(subject):
            return kind
    if kind := _type_by_words(work.request):
        return kind
    if work.mended:
        return "bugfix"
    made = any(one.how == "create" and not _ASIDE.search(one.path) for one in work.changes)
    return _type_by_words(work.outcome) or ("feature" if made else "change")


def _type_by_words(text: str) -> str:
    """Give the type of the earliest telling word: “add tests for the broken parser” adds."""
    found = [(match.start(), kind) for kind, pattern in _BY_WORD if (match := pattern.search(text))]
    return min(found)[1] if found else ""


def _is_worth_telling(work: Work) -> bool:
    if work.changes or work.commits or work.broken or work.mended or work.acts or work.signals:
        return True
    looked = len(work.read) + len(work.searches) + FEWEST_LOOKS * len(work.delegated)
    return looked >= FEWEST_LOOKS and len(work.turn.said) >= SHORTEST_ANSWER


def _draft(work: Work) -> Draft:
    turn, kind = work.turn, type_of(work)
    title = title_of(work, kind)
    learned = any(one.record_kind == "learning" for one in work.signals) or (kind == "bugfix" and work.mended)
    fields = {
        "type": kind,
        "subtitle": subtitle_of(work, kind, title),
        "facts": facts_of(work)[:MOST_FACTS],
        "concepts": [*CONCEPTS[kind], *(["gotcha"] if learned else [])],
        "files_read": work.read[:MOST_FILES],
        "files_modified": work.modified[:MOST_FILES],
        "discovery_tokens": turn.tokens,
    }
    extra = {"trail": turn.id, "session": turn.session, "client": turn.client, "agent": turn.agent}
    extra |= {"commit": next((one.hash for one in work.commits if one.hash), "")}
    return Draft(
        kind="observation",
        title=title,
        body=narrative_of(work),  # read as its narrative: a copy in a field would be searched twice
        fields={name: value for name, value in fields.items() if value},
        source="observed",
        anchors=tuple(work.modified[:MOST_ANCHORS]),
        extra={name: value for name, value in extra.items() if value},
        at=turn.ended,
    )


def _traces(work: Work) -> str:
    if work.mended:
        return f"Mended {work.mended[0].name}: {work.mended[0].error}"
    if work.modified:
        return f"Changed {joined(work.modified, 3)}"
    if work.broken:
        return f"{work.broken[0].name} fails: {work.broken[0].error or 'no reason told'}"
    if tasks := [one.task for one in work.delegated if one.task]:
        return tasks[0]
    if work.acts:
        return f"Ran {joined([one.name for one in work.acts], 3)}"
    return answer_of(work.turn.said) or f"Read {joined(work.read, 3)}"

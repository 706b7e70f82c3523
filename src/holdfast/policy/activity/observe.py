"""Sort the steps of turns into pieces of work, make draft observations of them, and judge what agents claim."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, Literal

from holdfast.model.patterns import cues_of, lazy
from holdfast.model.record import Draft
from holdfast.model.text import filled, shorten
from holdfast.policy.activity.turns import Changed, Committed, Delegated, FileRead, Ran, Searched, Step, Turn
from holdfast.policy.language import headlines
from holdfast.policy.language.cues import CUES
from holdfast.policy.language.headlines import TITLE, answer_of, joined, one_line, subject_of
from holdfast.policy.language.noteworthy import Signal, signals
from holdfast.policy.language.overlap import words
from holdfast.policy.language.reading import Sentence

MOST_FILES, MOST_FACTS, MOST_ANCHORS = 30, 12, 5
FEWEST_LOOKS, SHORTEST_ANSWER = 2, 60

_CUES = cues_of(__file__)
CONCEPTS = {kind: tuple(row.split()) for kind, row in _CUES["concepts"].items()}
_SAYS = {name: lazy(text) for name, text in _CUES["observe"].items()}
_BY_COMMIT = {word: kind for kind, words in _CUES["commits"].items() for word in words.split()}
_WORDED = ("bugfix", "refactor", "change", "feature")
_BY_WORD = [(kind, lazy(rf"\b(?:{CUES[kind]})\b", re.IGNORECASE)) for kind in _WORDED]
_DID = {"create": "Created", "edit": "Changed", "delete": "Deleted"}
# Temporary files, and commands whose name alone says nothing about the work.
_SCRATCH = re.compile(r"^(?:/private)?(?:/var)?/tmp/|^/dev/|^/var/folders/|^[A-Z]:/.*/Temp/", re.IGNORECASE)
_PLAIN = re.compile(r"(?:git\b|cd\b|echo\b|python3?$|node$|bash$|sh$|kill\b|open$|$)")


class Work:
    """One piece of work, with its steps sorted by type."""

    def __init__(self, turn: Turn) -> None:
        steps, self.turn = turn.steps, turn
        self.changes = [step for step in steps if isinstance(step, Changed) and not _SCRATCH.match(step.path)]
        self.commits = [step for step in steps if isinstance(step, Committed)]
        self.searches = [step for step in steps if isinstance(step, Searched)]
        self.delegated = [step for step in steps if isinstance(step, Delegated)]
        self.runs = [step for step in steps if isinstance(step, Ran)]
        # Commands that succeeded and did something other than check the work.
        self.acts = [run for run in self.runs if not (run.is_check or run.wrong or _PLAIN.match(run.name))]
        self.modified = list(dict.fromkeys(change.path for change in self.changes))
        read = dict.fromkeys(step.path for step in steps if isinstance(step, FileRead))
        self.read = [path for path in read if path not in self.modified and not _SCRATCH.match(path)]
        self.fixed = _fixed(steps)
        last_runs = {run.name: run for run in self.runs}
        self.broken = [run for run in last_runs.values() if run.wrong]
        self.request = headlines.request_of(turn.asked)
        self.outcome = headlines.outcome_of(turn.answer)
        self.signals = [signal for signal in signals(turn.said, turn.reader) if signal.kind != "finding"]
        # More to record than what was said: decisions and lessons are records of their own.
        self.did_something = bool(self.changes or self.commits or self.broken or self.fixed or self.acts)


def _fixed(steps: Sequence[Step]) -> list[Ran]:
    """Return the first failure of each check that passed at its last run after a change."""
    failed, fixed, changed_at = dict[str, tuple[int, Ran]](), dict[str, Ran](), -1
    for index, step in enumerate(steps):
        match step:
            case Changed():
                changed_at = index
            case Ran(name=name, wrong=True):
                failed.setdefault(name, (index, step))
                fixed.pop(name, None)
            case Ran(name=name) if name in failed and changed_at > failed[name][0]:
                fixed[name] = failed[name][1]
    return list(fixed.values())


def pieces(turn: Turn) -> Iterator[Turn]:
    """Split a turn after each of its commits; steps after the last commit join it unless they changed a file."""
    cuts = [index + 1 for index, step in enumerate(turn.steps) if isinstance(step, Committed)]
    groups = [turn.steps[start:end] for start, end in zip([0, *cuts], [*cuts, len(turn.steps)], strict=True)]
    if len(groups) > 1 and not any(isinstance(step, Changed) for step in groups[-1]):
        last = groups.pop()
        groups[-1] = [*groups[-1], *last]
    for index, steps in enumerate(groups):
        answer, between = (turn.answer, turn.between) if index == len(groups) - 1 else ("", "")
        tokens, first = turn.tokens // len(groups), steps[0].id if index else turn.id
        yield replace(turn, id=first, steps=steps, answer=answer, between=between, tokens=tokens)


def observations_of(turn: Turn) -> list[Draft]:
    """Return the observations of one turn; empty if nothing in it is worth recording."""
    return [_draft(work) for work in works([turn]) if work.did_something or not work.signals]


def works(every: Iterable[Turn]) -> list[Work]:
    """Return the pieces of work of turns that are worth recording, of unfinished ones too."""
    worth = list[Work]()
    for whole, work in ((turn, Work(piece)) for turn in every for piece in pieces(turn)):
        claims = work.signals if whole.steps else [signal for signal in work.signals if signal.how != "wording"]
        looked = len(work.read) + len(work.searches) + FEWEST_LOOKS * len(work.delegated)
        fewest = 1 if is_question(work.request) else FEWEST_LOOKS
        has_answer = looked >= fewest and len(work.turn.answer) >= SHORTEST_ANSWER
        worth += [work] if work.did_something or claims or has_answer else []
    return worth


def title_of(work: Work) -> str:
    """Return what was found or done: from the commit, else from the answer, the request or the tool calls."""
    if work.commits and work.commits[0].subject:
        return one_line(subject_of(work.commits[0].subject)[0], TITLE)
    kind = type_of(work)
    if kind == "decision":
        return one_line(next(signal.text for signal in work.signals if signal.kind == "decision"), TITLE)
    if work.outcome and (work.changes or work.acts):
        return work.outcome
    asks = kind == "discovery" or is_question(work.request)
    titles = (
        headlines.finding_of(work.turn.answer, work.request) if asks else "",
        work.request,
        *(f"Fixed {check.name}: {check.error}" for check in work.fixed),
        f"Changed {joined(work.modified, 3)}" if work.modified else "",
        *(f"{check.name} fails: {check.error or 'no error message'}" for check in work.broken),
        *(task.task for task in work.delegated),
        f"Ran {joined([run.name for run in work.acts], 3)}" if work.acts else "",
        answer_of(work.turn.answer),
    )
    return one_line(next(filter(None, titles), f"Read {joined(work.read, 3)}"), TITLE)


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


def observation(work: Work, title: str, body: str, fields: Mapping[str, Any], **extra: str) -> Draft:
    """Return the draft of an observation; the first files that were changed are its anchors."""
    turn, fields = work.turn, {**fields, "discovery_tokens": work.turn.tokens}
    extra = {"trail": turn.id, "session": turn.session, "client": turn.client, "agent": turn.agent, **extra}
    draft = observed("observation", title, body, fields, extra, turn.ended)
    return replace(draft, anchors=tuple(fields["files_modified"][:MOST_ANCHORS]))


def observed(kind: str, title: str, body: str, fields: Mapping[str, Any], extra: Mapping[str, Any], at: str) -> Draft:
    """Return the draft of something that hooks saw, without empty parts."""
    fields, extra = ({name: value for name, value in part.items() if value} for part in (fields, extra))
    return Draft(kind=kind, title=title, body=body, fields=fields, source="observed", extra=extra, at=at)


def _draft(work: Work) -> Draft:
    kind = type_of(work)
    title, answer = title_of(work), work.turn.answer
    is_lesson = any(signal.record_kind == "learning" for signal in work.signals) or (kind == "bugfix" and work.fixed)
    fixed = (check for check in work.fixed if kind == "bugfix" and check.error)
    lines = (  # what was wrong, what is still broken, or what the answer says
        *(f"{check.name} failed with {check.error.rstrip('.')}; it passes now" for check in fixed),
        *(check.still for check in work.broken),
        shorten(answer_of(answer, title=title), 200),
        joined(work.modified, 3),
    )
    by = f"Sub-agent {work.turn.agent}: " if work.turn.agent else ""
    fields = {
        "type": kind,
        "subtitle": (by + next(filter(None, lines), "")).rstrip(": "),
        "facts": facts_of(work)[:MOST_FACTS],
        "concepts": [*CONCEPTS[kind], *(["gotcha"] if is_lesson else [])],
        "files_read": work.read[:MOST_FILES],
        "files_modified": work.modified[:MOST_FILES],
    }
    commit = next((commit.hash for commit in work.commits if commit.hash), "")
    # The narrative is not repeated in a field: it would be indexed twice.
    return observation(work, title, narrative_of(work), fields, commit=commit)


def facts_of(work: Work) -> list[str]:
    """Return single facts, each understandable alone."""
    facts = [f"Commit {commit.hash or 'made'}: {commit.subject}" for commit in work.commits]
    facts += [f"{check.name} failed ({check.error}), then passed" for check in work.fixed if check.error]
    facts += [check.still for check in work.broken]
    for path in dict.fromkeys(change.path for change in work.changes):
        edits = [change for change in work.changes if change.path == path]
        before, after = (
            dict.fromkeys(filter(None, chain(*_SAYS["named"].findall("\n".join(texts)))))
            for texts in ([change.before for change in edits], [change.after for change in edits])
        )
        pairs = {"adds": (after, before), "removes": (before, after)}
        named = {how: [f"`{name}`" for name in own if name not in other] for how, (own, other) in pairs.items()}
        details = [f"{how} {joined(names, 4)}" for how, names in named.items() if names]
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
    errors = {check.name: f" with {check.error.rstrip('.')}" * bool(check.error) for check in work.fixed}
    answer = work.turn.answer
    for signal in work.signals:  # each is stored, or awaits confirmation, as a record of its own
        answer = answer.replace(signal.text, "")
    answer = " ".join(answer.split()) if work.signals else answer
    parts = filled(
        work.turn.prompt and f"Asked: {one_line(work.turn.prompt, 400)}.".replace("?.", "?"),
        work.turn.agent and f"Done by the sub-agent {work.turn.agent}.",
        work.read and f"Read {joined(work.read, 6)}.",
        wanted and f"Looked for {joined(list(wanted), 4)}.",
        *(f"Had {task.agent or 'a sub-agent'} do: {shorten(task.task, 160)}." for task in work.delegated),
        *(f"{_DID[how]} {joined(list(paths), 6)}." for how, paths in changed.items() if paths),
        *(f"{name} failed{error} and passed afterwards." for name, error in errors.items()),
        *(f"{check.still.rstrip('.')}." for check in work.broken),
        passed and f"Ran {joined(list(passed), 4)}.",
        *(f"Committed {commit.hash} “{commit.subject}”.".replace("  ", " ") for commit in work.commits),
        answer and f"Answered: {shorten(answer, 600)}",
    )
    return " ".join(parts) or "No details were recorded."


MOST_CLAIMS, MOST_FINDINGS = 20, 3  # per answer: a text with more is quoting, or only reports
LIKELY = 0.6  # chance from which one finding of an answer is kept as pending without evidence
ECHO, FEWEST_SHARED = 0.7, 3  # share and number of a claim's words that another text contains
TAKEN_BACK = 0.6
# Explicit agreement, at the start of a prompt: a closed list, like other markers.
_AGREES = lazy(rf"^\W*(?:{CUES['yes']})(?!\w)", re.IGNORECASE)


def claims_of(turn: Turn) -> list[Signal]:
    """Return what an agent claims in a turn, without what it took back later; of findings without evidence only the surest."""
    found = signals(turn.said, turn.reader)[:MOST_CLAIMS]
    taken_back = max((sentence.span[0] for sentence in _refuted(turn)), default=-1)
    standing = [signal for signal in found if signal.how != "wording" or signal.span[1] > taken_back]
    findings = [signal for signal in standing if signal.kind == "finding"]
    surest = sorted(findings, key=lambda signal: -signal.confidence)
    kept = surest[:MOST_FINDINGS] if is_proven(turn) else [one for one in surest[:1] if one.confidence >= LIKELY]
    return [signal for signal in standing if signal.kind != "finding" or signal in kept]


def _refuted(turn: Turn) -> list[Sentence]:
    return [sentence for sentence in turn.reader.message(turn.said) if sentence.share("refuted") >= TAKEN_BACK]


def is_proven(turn: Turn, before: Turn | None = None) -> bool:
    """True if a check that failed in this turn, or the one before, passed after a change, or the work was committed.

    No check may fail at its end.
    """
    work = Work(turn)
    fixed = _fixed([*before.steps, *turn.steps]) if before else work.fixed
    return bool(fixed or work.commits) and not work.broken


def standing_of(claim: str, turn: Turn, after: Turn, about: str = "") -> Literal["confirmed", "open", "refuted"]:
    """Return what the next turn makes of a turn's claim: refuted by an objection, confirmed by agreement or evidence, else open.

    It is refuted too if the agent takes back what it said, with `about` in a sentence that shares words with that.
    """
    if any(not about or words(sentence.text) & words(about) for sentence in _refuted(after)):
        return "refuted"
    if after.objects:
        return "refuted" if after.objects == "no" else "open"
    agrees = _AGREES.match(after.prompt) or (is_proven(after, turn) and words(claim) & words(after.said))
    return "confirmed" if agrees else "open"


def is_echo(text: str, known: str) -> bool:
    """True if nearly all words of a text are in another one."""
    own = words(text)
    shared = len(own & words(known))
    return shared >= FEWEST_SHARED and shared >= ECHO * len(own)

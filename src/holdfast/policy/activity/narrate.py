"""Write the facts, subtitle and narrative of a piece of work from its steps."""

import re
from collections.abc import Iterator, Sequence

from holdfast.model.text import shorten
from holdfast.policy.activity.digest import Broke, Work
from holdfast.policy.activity.turns import Changed
from holdfast.policy.language.headlines import answer_of, joined, one_line

_NAMED = re.compile(
    r"^[ \t]*(?:export |default |public |private |static |async |pub |abstract )*"
    r"(?:def|class|function|func|fn|struct|interface|enum|trait|module|type)\s+(?:\([^)]*\)\s*)?([A-Za-z_]\w+)|"
    r"^[ \t]*(?:export )?(?:const|let|var)\s+([A-Za-z_]\w+)\s*=\s*(?:async )?(?:\(|function|\w+ =>)|"
    r"^create (?:table|index|view)(?: if not exists)?\s+(\w+)",
    re.MULTILINE | re.IGNORECASE,
)
_DID = {"create": "Created", "edit": "Changed", "delete": "Deleted"}


def subtitle_of(work: Work, kind: str, title: str) -> str:
    """Return one more line: what was wrong, what is still broken, or what the answer says."""
    by = f"Sub-agent {work.turn.agent}: " if work.turn.agent else ""
    for check in work.fixed if kind == "bugfix" else ():
        if check.error:
            return f"{by}{check.name} failed with {check.error.rstrip('.')}; it passes now"
    for check in work.broken:
        return f"{by}{_fails(check)}"
    if answer := answer_of(work.turn.answer, title=title):
        return by + shorten(answer, 200)
    return (by + joined(work.modified, 3)).rstrip(": ")


def facts_of(work: Work) -> list[str]:
    """Return single facts, each understandable alone."""
    facts = [f"Commit {commit.hash or 'made'}: {commit.subject}" for commit in work.commits]
    facts += [f"{check.name} failed ({check.error}), then passed" for check in work.fixed if check.error]
    facts += [_fails(check) for check in work.broken]
    facts += _file_facts(work.changes)
    for task in work.delegated:
        answer = answer_of(task.answer)
        facts.append(f"Sub-agent {task.agent or 'unnamed'}, asked to {task.task}" + f": {answer}" * bool(answer))
    return [shorten(fact, 1_000) for fact in dict.fromkeys(facts)]


def narrative_of(work: Work) -> str:
    """Return what happened as running text, in order."""
    parts = [
        f"Asked: {one_line(work.turn.prompt, 400)}." if work.turn.prompt else "",
        f"Done by the sub-agent {work.turn.agent}." if work.turn.agent else "",
        *_looked(work),
        *_changed(work),
        *_checked(work),
        *(f"Committed {commit.hash} “{commit.subject}”.".replace("  ", " ") for commit in work.commits),
        f"Answered: {shorten(answer, 600)}" if (answer := _without_claims(work)) else "",
    ]
    return " ".join(part for part in parts if part) or "No details were recorded."


def _without_claims(work: Work) -> str:
    """Return the answer without what is stored, or awaits confirmation, as a record of its own."""
    answer = work.turn.answer
    for signal in work.signals:
        answer = answer.replace(signal.text, "")
    return " ".join(answer.split()) if work.signals else answer


def _file_facts(changes: Sequence[Changed]) -> Iterator[str]:
    by_path: dict[str, list[Changed]] = {}
    for change in changes:
        by_path.setdefault(change.path, []).append(change)
    for path, edits in by_path.items():
        before = _names("\n".join(change.before for change in edits))
        after = _names("\n".join(change.after for change in edits))
        added = [f"`{name}`" for name in after if name not in before]
        gone = [f"`{name}`" for name in before if name not in after]
        details = [f"adds {joined(added, 4)}"] * bool(added) + [f"removes {joined(gone, 4)}"] * bool(gone)
        yield (
            f"{_DID[edits[-1].how if edits[-1].how == 'delete' else edits[0].how]} {path}"
            + f" ({'; '.join(details)})" * bool(details)
        )


def _names(code: str) -> list[str]:
    return list(dict.fromkeys(name for groups in _NAMED.findall(code) for name in groups if name))


def _looked(work: Work) -> Iterator[str]:
    if work.read:
        yield f"Read {joined(work.read, 6)}."
    if wanted := [f"“{shorten(search.wanted, 60)}”" for search in work.searches if search.wanted]:
        yield f"Looked for {joined(list(dict.fromkeys(wanted)), 4)}."
    for task in work.delegated:
        yield f"Had {task.agent or 'a sub-agent'} do: {shorten(task.task, 160)}."


def _changed(work: Work) -> Iterator[str]:
    for how, word in _DID.items():
        if paths := list(dict.fromkeys(change.path for change in work.changes if change.how == how)):
            yield f"{word} {joined(paths, 6)}."


def _checked(work: Work) -> Iterator[str]:
    for check in work.fixed:
        yield (
            f"{check.name} failed" + f" with {check.error.rstrip('.')}" * bool(check.error) + " and passed afterwards."
        )
    for check in work.broken:
        yield f"{_fails(check).rstrip('.')}."
    known = {check.name for check in (*work.fixed, *work.broken)}
    if passed := list(dict.fromkeys(run.name for run in work.runs if not run.wrong and run.name not in known)):
        yield f"Ran {joined(passed, 4)}."


def _fails(check: Broke) -> str:
    return f"{check.name} still fails" + f": {check.error}" * bool(check.error)

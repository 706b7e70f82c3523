"""Facts, subtitle and narrative of a piece of work, written from its traces. Pure."""

import re
from collections.abc import Iterator, Sequence

from holdfast.model.text import shorten
from holdfast.policy.activity.digest import Broke, Work
from holdfast.policy.activity.work import Changed
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
    """Give one more line: what was wrong, what is still broken, or what came of it."""
    by = f"Sub-agent {work.turn.agent}: " if work.turn.agent else ""
    for one in work.mended if kind == "bugfix" else ():
        if one.error:
            return f"{by}{one.name} failed with {one.error.rstrip('.')}; it passes now"
    for one in work.broken:
        return f"{by}{_fails(one)}"
    if answer := answer_of(work.turn.said, besides=title):
        return by + shorten(answer, 200)
    return (by + joined(work.modified, 3)).rstrip(": ")


def facts_of(work: Work) -> list[str]:
    """Give single facts, each standing alone."""
    found = [f"Commit {one.hash or 'made'}: {one.subject}" for one in work.commits]
    found += [f"{one.name} failed ({one.error}), then passed" for one in work.mended if one.error]
    found += [_fails(one) for one in work.broken]
    found += [one.text for one in work.signals if len(one.text) <= 1_000]
    found += _file_facts(work.changes)
    for one in work.delegated:
        answer = answer_of(one.answer)
        found.append(f"Sub-agent {one.agent or 'unnamed'}, asked to {one.task}" + f": {answer}" * bool(answer))
    return [shorten(fact, 1_000) for fact in dict.fromkeys(found)]


def narrative_of(work: Work) -> str:
    """Tell what happened, in the order a reader wants it."""
    parts = [
        f"Asked: {one_line(work.turn.prompt, 400)}." if work.turn.prompt else "",
        f"Done by the sub-agent {work.turn.agent}." if work.turn.agent else "",
        *_looked(work),
        *_changed(work),
        *_checked(work),
        *(f"Committed {one.hash} “{one.subject}”.".replace("  ", " ") for one in work.commits),
        f"Answered: {shorten(work.turn.said, 600)}" if work.turn.said else "",
    ]
    return " ".join(part for part in parts if part) or "Something was done that left no words."


def _file_facts(changes: Sequence[Changed]) -> Iterator[str]:
    by_path: dict[str, list[Changed]] = {}
    for one in changes:
        by_path.setdefault(one.path, []).append(one)
    for path, own in by_path.items():
        before = _names("\n".join(one.before for one in own))
        after = _names("\n".join(one.after for one in own))
        added = [f"`{name}`" for name in after if name not in before]
        gone = [f"`{name}`" for name in before if name not in after]
        told = [f"adds {joined(added, 4)}"] * bool(added) + [f"removes {joined(gone, 4)}"] * bool(gone)
        yield f"{_DID[own[-1].how if own[-1].how == 'delete' else own[0].how]} {path}" + f" ({'; '.join(told)})" * bool(
            told
        )


def _names(code: str) -> list[str]:
    return list(dict.fromkeys(name for found in _NAMED.findall(code) for name in found if name))


def _looked(work: Work) -> Iterator[str]:
    if work.read:
        yield f"Read {joined(work.read, 6)}."
    if wanted := [f"“{shorten(one.wanted, 60)}”" for one in work.searches if one.wanted]:
        yield f"Looked for {joined(list(dict.fromkeys(wanted)), 4)}."
    for one in work.delegated:
        yield f"Had {one.agent or 'a sub-agent'} do: {shorten(one.task, 160)}."


def _changed(work: Work) -> Iterator[str]:
    for how, word in _DID.items():
        if paths := list(dict.fromkeys(one.path for one in work.changes if one.how == how)):
            yield f"{word} {joined(paths, 6)}."


def _checked(work: Work) -> Iterator[str]:
    for one in work.mended:
        yield f"{one.name} failed" + f" with {one.error.rstrip('.')}" * bool(one.error) + " and passed afterwards."
    for one in work.broken:
        yield f"{_fails(one).rstrip('.')}."
    known = {one.name for one in (*work.mended, *work.broken)}
    if passed := list(dict.fromkeys(one.name for one in work.runs if not one.wrong and one.name not in known)):
        yield f"Ran {joined(passed, 4)}."


def _fails(one: Broke) -> str:
    return f"{one.name} still fails" + f": {one.error}" * bool(one.error)

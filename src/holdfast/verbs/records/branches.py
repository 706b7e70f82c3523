"""What was learned on branches: told apart until they are merged, and proposed for retirement when they die unmerged."""

import json
from collections.abc import Sequence

from holdfast.engine.views import labels, records
from holdfast.model.history import Fate
from holdfast.model.record import Record
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.freshness import is_here

MOST_OF_ONE = 100
OUTSIDE = ("open", "gone")


def outside(memory: Memory, found: Sequence[Record]) -> dict[str, str]:
    """Give the branch of each record that was made on one which what is at hand does not hold."""
    current = memory.checkout.origin().branch if any(record.origin.branch for record in found) else ""
    foreign = {
        record.id: record
        for record in found
        if record.origin.branch and record.origin.branch != current and is_here(memory, record.project)
    }
    if not foreign:
        return {}
    default = memory.checkout.default_branch
    born = {one.origin.branch: one.origin.commit for one in foreign.values() if one.origin.branch != default}
    fates = _fates(memory, born) if born else {}
    return {one.id: one.origin.branch for one in foreign.values() if fates.get(one.origin.branch) in OUTSIDE}


def note_tips(memory: Memory) -> None:
    """Remember where branches that records were made on stand: once such a branch is gone, nobody else could tell."""
    here = memory.store.project_number(memory.project)
    if not is_here(memory, memory.project) or not (own := labels.counts(memory.store.db, "branch", here)):
        return
    known, there = _tips(memory), memory.checkout.tips()
    now = known | {name: tip for name, tip in there.items() if name in own}
    if now != known:
        memory.store.note(_key(memory), json.dumps(now))


def lost(memory: Memory) -> dict[str, list[Record]]:
    """Give the active records of each branch that died without being merged."""
    db, here = memory.store.db, memory.store.project_number(memory.project)
    if not is_here(memory, memory.project):
        return {}
    born = dict[str, str]()
    made = dict[str, list[Record]]()
    for branch in labels.counts(db, "branch", here):
        if branch == memory.checkout.default_branch:
            continue
        found = records.by_numbers(db, labels.numbers(db, "branch", branch, here, MOST_OF_ONE))
        made[branch] = [record for record in found.values() if record.state == "active"]
        born[branch] = max(made[branch], key=lambda one: one.created_at).origin.commit if made[branch] else ""
    fates = _fates(memory, born) if born else {}
    return {branch: made[branch] for branch, fate in fates.items() if fate == "gone" and made[branch]}


def _fates(memory: Memory, born: dict[str, str]) -> dict[str, Fate]:
    known = _tips(memory)
    return memory.checkout.fates({name: known.get(name) or commit for name, commit in born.items()})


def _tips(memory: Memory) -> dict[str, str]:
    said = memory.store.setting(_key(memory))
    return dict(json.loads(said)) if said else {}


def _key(memory: Memory) -> str:
    return f"tips {memory.project}"

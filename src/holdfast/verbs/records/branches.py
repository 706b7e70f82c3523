"""Mark records made on unmerged branches, and propose retiring those whose branch was deleted unmerged."""

import json
from collections.abc import Sequence

from holdfast.engine.views import labels, records
from holdfast.model.history import BranchStatus
from holdfast.model.record import Record
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.freshness import is_here

MOST_OF_ONE = 100
OUTSIDE = ("open", "gone")


def outside(memory: Memory, records_: Sequence[Record]) -> dict[str, str]:
    """Return the branch of each record that was made on a branch not merged into the current checkout."""
    current = memory.checkout.origin().branch if any(record.origin.branch for record in records_) else ""
    foreign = {
        record.id: record
        for record in records_
        if record.origin.branch and record.origin.branch != current and is_here(memory, record.project)
    }
    if not foreign:
        return {}
    default = memory.checkout.default_branch
    born = {
        record.origin.branch: record.origin.commit for record in foreign.values() if record.origin.branch != default
    }
    status = _status_of(memory, born) if born else {}
    return {
        record.id: record.origin.branch for record in foreign.values() if status.get(record.origin.branch) in OUTSIDE
    }


def note_tips(memory: Memory) -> None:
    """Remember the tips of branches that records were made on: once a branch is deleted, its tip cannot be looked up."""
    project = memory.store.project_number(memory.project)
    if not is_here(memory, memory.project) or not (made_on := labels.counts(memory.store, "branch", project)):
        return
    known, tips = _tips(memory), memory.checkout.tips()
    updated = known | {name: tip for name, tip in tips.items() if name in made_on}
    if updated != known:
        memory.store.note(_key(memory), json.dumps(updated))


def lost(memory: Memory) -> dict[str, list[Record]]:
    """Return the active records of each branch that was deleted without being merged."""
    store, project = memory.store, memory.store.project_number(memory.project)
    if not is_here(memory, memory.project):
        return {}
    commits = dict[str, str]()
    by_branch = dict[str, list[Record]]()
    for branch in labels.counts(store, "branch", project):
        if branch == memory.checkout.default_branch:
            continue
        entries = records.by_numbers(store, labels.numbers(store, "branch", branch, project, MOST_OF_ONE))
        by_branch[branch] = [record for record in entries.values() if record.state == "active"]
        commits[branch] = (
            max(by_branch[branch], key=lambda record: record.created_at).origin.commit if by_branch[branch] else ""
        )
    status = _status_of(memory, commits) if commits else {}
    return {branch: by_branch[branch] for branch, state in status.items() if state == "gone" and by_branch[branch]}


def _status_of(memory: Memory, commits: dict[str, str]) -> dict[str, BranchStatus]:
    known = _tips(memory)
    return memory.checkout.branch_status({name: known.get(name) or commit for name, commit in commits.items()})


def _tips(memory: Memory) -> dict[str, str]:
    stored = memory.store.setting(_key(memory))
    return dict(json.loads(stored)) if stored else {}


def _key(memory: Memory) -> str:
    return f"tips {memory.project}"

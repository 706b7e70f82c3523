"""Compare the code that records cite, and the branches they were made on, with the current checkout."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from holdfast.engine.views import labels, queries, records
from holdfast.model.anchor import STATES, CodeSnapshot, Finding, Freshness, State, parse_anchor
from holdfast.model.ids import days_before
from holdfast.model.ports import BranchStatus
from holdfast.model.record import Draft, Record, as_of
from holdfast.policy import freshness as rules
from holdfast.policy.freshness import Symbol, anchors_in, files_in, symbols_in
from holdfast.verbs.memory import Memory

MOST_COMMITS = 20  # examined for each anchor
MOST_CHECKED = 500  # records that are compared with the code at once
MOST_OF_ONE = 100  # records of a branch that are looked at


def is_here(memory: Memory, project: str | None) -> bool:
    """True if the checkout belongs to this project."""
    return bool(project) and project == memory.project == memory.checkout.project()


def snapshot_of(memory: Memory, draft: Draft | Record) -> CodeSnapshot | None:
    """Look up the code that a draft cites in its anchors or text; None if it cites nothing, or code of another project."""
    project = memory.project if draft.project is None else draft.project
    if not is_here(memory, project) or not rules.is_about_code(draft.kind):
        return None
    # Files and definitions that the text names in its own words count if they are found in one place only.
    files = memory.checkout.files_named(named) if (named := files_in(draft.body)) else {}
    symbols = symbols_in(draft.body)
    near = dict.fromkeys((*files.values(), *(parse_anchor(anchor).path for anchor in draft.anchors)))
    here = _definitions(memory, symbols, [path for path in near if path])
    missing = [symbol for symbol in symbols if symbol.name not in here]
    # Documents and derived records name much; looking through all files for each of them would take too long.
    wide = _definitions(memory, missing) if missing and draft.source in rules.CLAIMED else {}
    places = dict.fromkeys((*draft.anchors, *anchors_in(draft.body), *files.values(), *(here | wide).values()))
    inside = {parse_anchor(place).path for place in places if parse_anchor(place).kind != "path"}
    places = {place: None for place in places if place in draft.anchors or place not in inside}
    if not places:
        return None
    seen = memory.checkout.snapshot(places)
    # A text may name anything: only what exists in the checkout was meant as a citation.
    marks = {anchor: mark for anchor, mark in seen.marks.items() if anchor in draft.anchors or mark.there}
    return replace(seen, marks=marks) if marks else None


def _definitions(memory: Memory, symbols: Sequence[Symbol], paths: Sequence[str] | None = None) -> dict[str, str]:
    """Return the anchor of each name that has one definition, in these files or in all.

    A dotted name is looked up whole, and then without the modules in front; a class stays with its method.
    """
    if not symbols or paths == []:
        return {}
    tails = dict[str, list[str]]()
    for name in (symbol.name for symbol in symbols):
        parts = name.split(".")
        last = next((index for index, part in enumerate(parts) if part[:1].isupper()), len(parts) - 1)
        tails[name] = [".".join(parts[start:]) for start in range(last + 1)]
    names = dict.fromkeys(tail for each in tails.values() for tail in each)
    found, anchors = memory.checkout.definitions(list(names), paths or ()), dict[str, str]()
    for symbol in symbols:
        tail = next((tail for tail in tails[symbol.name] if found.get(tail)), "")
        if tail and (place := rules.the_one_meant(symbol.name, tail, found[tail])):
            anchors[symbol.name] = f"{place}={symbol.value}" if symbol.value else place
    return anchors


def freshness(memory: Memory, records_: Sequence[Record]) -> dict[str, Freshness]:
    """Return for each record about code whether the code it cites is unchanged; records of past events are left out.

    Files are compared by content; git runs once, and only for files whose content differs.
    """
    about = [record for record in records_ if rules.is_about_code(record.kind)]
    here = {project for project in {record.project for record in about} if is_here(memory, project)}
    now = memory.clock.now()
    verdicts: dict[str, Freshness] = {}
    for record in about:
        places = rules.places_of(record) if record.project in here else {}
        seen = memory.checkout.snapshot(places) if places else None
        verdicts[record.id] = rules.freshness_of(record, seen, now)
    return verdicts | _explained(memory, [record for record in about if verdicts[record.id].problems], verdicts)


def _explained(memory: Memory, affected: Sequence[Record], verdicts: Mapping[str, Freshness]) -> dict[str, Freshness]:
    """Return verdicts with the commits that changed the cited code, and where missing code went."""
    if not affected:
        return {}
    cited, gone = dict[str, set[str]](), set[str]()
    for record in affected:
        for problem in verdicts[record.id].problems:
            path, mark = parse_anchor(problem.anchor).path, rules.places_of(record).get(problem.anchor)
            if problem.state == "missing":
                gone.add(path)
            elif problem.state == "changed" and mark and mark.blob:
                cited.setdefault(path, set()).add(mark.blob)
    looked = min(days_before(record.verified_at or record.updated_at, 1) for record in affected)
    touches = memory.checkout.touches(cited, looked, quick=len(verdicts) > 1) if cited else None
    since = [record.seen.commit for record in affected if record.seen]
    moved = memory.checkout.renamed(sorted(gone), since) if gone else {}

    def better(record: Record, finding: Finding) -> Finding:
        if finding.state == "missing":
            return _followed(memory, record, finding, moved)
        cited = rules.places_of(record).get(finding.anchor)
        if finding.state != "changed" or touches is None:
            return finding
        own = rules.since_cited(finding, cited, touches)[:MOST_COMMITS]
        blobs = {blob for touch in own for blob in (touch.before, touch.after)} if len(own) > 1 else ()
        return rules.explained(finding, own, memory.checkout.versions(finding.anchor, sorted(blobs)) if blobs else {})

    better_verdicts = {}
    for record in affected:
        findings = tuple(better(record, finding) for finding in verdicts[record.id].findings)
        state = rules.overall(findings, checked=bool(record.verified_at))
        better_verdicts[record.id] = replace(verdicts[record.id], findings=findings, state=state)
    return better_verdicts


def _followed(memory: Memory, record: Record, finding: Finding, moved: Mapping[str, str]) -> Finding:
    """Judge missing code in its renamed file, or where its name is defined now."""
    place, cited = parse_anchor(finding.anchor), rules.places_of(record).get(finding.anchor)
    candidates = [moved[place.path]] if place.path in moved else []
    if place.kind == "symbol":
        candidates += memory.checkout.defining([place.name], place.path.rpartition(".")[2])
    for path in dict.fromkeys(other for other in candidates if other != place.path):
        anchor = finding.anchor.replace(place.path, path, 1)
        mark = memory.checkout.snapshot({anchor: cited}).marks[anchor]
        if mark.there:
            found = rules.judged(record, finding.anchor, cited, mark)
            note = found.note or ("and it has changed" if found.state == "changed" else "")
            return replace(found, moved_to=(found.moved_to or finding.anchor).replace(place.path, path, 1), note=note)
    return finding


def drifted(memory: Memory, known: Sequence[Record]) -> dict[str, tuple[Record, Freshness]]:
    """Return those of some records whose cited code changed or is gone, by id."""
    judged, by_id = freshness(memory, known), {record.id: record for record in known}
    return {id_: (by_id[id_], verdict) for id_, verdict in judged.items() if verdict.problems}


# The files of a repository, and what cites them.


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """A record that cites a file: its state there, and the lines, 0 if it cites the whole file."""

    record: Record
    anchor: str
    state: State
    first: int = 0
    last: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """The files of a repository and what cites them; `files` is None if they cannot be listed."""

    cited: Mapping[str, Sequence[Citation]] = field(default_factory=dict)
    files: Sequence[str] | None = None
    not_checked: int = 0  # records that cite code and were left out, the oldest


def knowledge(memory: Memory, at: str = "") -> Knowledge:
    """Return what is known about each file of the project, as far as the newest records that cite code go.

    With an instant, what was known then, compared with the code of today.
    """
    if at:
        chosen = records.Filter(projects=(memory.here,), states=("active", "retired"), until=at, cites=True)
        entries = records.page(memory.store, chosen, limit=MOST_CHECKED)
        then = [as_of(memory.store.events_about(entry.record.id), at) for entry in entries]
        known = [record for record in then if record and record.state == "active"]
        left_out = records.counted(memory.store, chosen) - len(entries)
    else:
        known, left_out = queries.citing(memory.store, memory.here, MOST_CHECKED)
    judged = freshness(memory, known)
    cited: dict[str, list[Citation]] = {}
    for record in known:
        findings = {each.anchor: each for each in judged[record.id].findings} if record.id in judged else {}
        for anchor in rules.places_of(record):
            place, finding = parse_anchor(anchor), findings.get(anchor)
            if place.path:
                now = finding.now if finding and place.kind != "path" else None
                lines = {"first": now.first, "last": now.last} if now else {}
                state = finding.state if finding else "unknown"
                cited.setdefault(place.path, []).append(Citation(record=record, anchor=anchor, state=state, **lines))
    files = memory.checkout.files() if is_here(memory, memory.project) else None
    return Knowledge(cited=dict(sorted(cited.items())), files=files, not_checked=left_out)


def citations_of(memory: Memory, path: str) -> list[Citation]:
    """Return what cites a file or a folder, by line."""
    cited = knowledge(memory).cited.items()
    inside = (each for name, citations in cited if f"{name}/".startswith(f"{path}/") for each in citations)
    return sorted(inside, key=lambda citation: (citation.first, citation.record.id))


def worst(citations: Iterable[Citation]) -> State:
    """Return the worst state of several citations: the state of a file is the worst of what cites it."""
    return max((citation.state for citation in citations), key=STATES.index)


# The branches that records were made on.


def outside(memory: Memory, records_: Sequence[Record]) -> dict[str, str]:
    """Return the branch of each record that was made on a branch not merged into the current checkout."""
    current = memory.checkout.origin().branch if any(record.origin.branch for record in records_) else ""
    elsewhere = (record for record in records_ if record.origin.branch not in ("", current))
    foreign = {record.id: record.origin for record in elsewhere if is_here(memory, record.project)}
    if not foreign:
        return {}
    default = memory.checkout.default_branch
    status = status_of(memory, {made.branch: made.commit for made in foreign.values() if made.branch != default})
    return {id_: made.branch for id_, made in foreign.items() if status.get(made.branch) in ("open", "gone")}


def note_tips(memory: Memory) -> None:
    """Remember the tips of branches that records were made on: once a branch is deleted, its tip cannot be looked up."""
    if not is_here(memory, memory.project) or not (made_on := labels.counts(memory.store, "branch", memory.here)):
        return
    known, tips = _tips(memory), memory.checkout.tips()
    updated = known | {name: tip for name, tip in tips.items() if name in made_on}
    if updated != known:
        memory.store.note(f"tips {memory.project}", updated)


def lost(memory: Memory) -> dict[str, list[Record]]:
    """Return the active records of each branch that was deleted without being merged."""
    store, project = memory.store, memory.here
    if not is_here(memory, memory.project):
        return {}
    by_branch = dict[str, list[Record]]()
    for branch in labels.counts(store, "branch", project):
        made = records.by_numbers(store, labels.numbers(store, "branch", branch, project, MOST_OF_ONE)).values()
        active = [record for record in made if record.state == "active"]
        if active and branch != memory.checkout.default_branch:
            by_branch[branch] = active
    newest = {branch: max(made, key=lambda one: one.created_at).origin.commit for branch, made in by_branch.items()}
    return {branch: by_branch[branch] for branch, state in status_of(memory, newest).items() if state == "gone"}


def status_of(memory: Memory, commits: dict[str, str]) -> dict[str, BranchStatus]:
    """Return the status of branches, each passed with a commit of it, by their tips as far as they are known."""
    known = _tips(memory) if commits else {}
    born = {name: known.get(name) or commit for name, commit in commits.items()}
    return memory.checkout.branch_status(born) if commits else {}


def _tips(memory: Memory) -> dict[str, str]:
    return memory.store.kept(f"tips {memory.project}", dict[str, str]())

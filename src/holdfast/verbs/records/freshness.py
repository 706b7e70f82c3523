"""Compare the code that records cite with the current checkout: on write, on read and on request."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from holdfast.model.anchor import CodeMark, CodeSnapshot, parse_anchor
from holdfast.model.freshness import Finding, Freshness, State
from holdfast.model.ids import days_before
from holdfast.model.record import Draft, Record
from holdfast.policy.freshness import (
    CLAIMED,
    explained,
    freshness_of,
    is_about_code,
    overall,
    places_of,
    since_cited,
    the_one_meant,
    unknown,
)
from holdfast.policy.mentions import Symbol, anchors_in, files_in, symbols_in
from holdfast.verbs.memory import Memory

MOST_COMMITS = 20  # examined for each anchor


def is_here(memory: Memory, project: str | None) -> bool:
    """True if the checkout belongs to this project."""
    return bool(project) and project == memory.project == memory.checkout.project()


def snapshot_of(memory: Memory, draft: Draft | Record) -> CodeSnapshot | None:
    """Look up the code that a draft cites in its anchors or text; None if it cites nothing, or code of another project."""
    project = memory.project if draft.project is None else draft.project
    if not is_here(memory, project) or not is_about_code(draft.kind):
        return None
    places = dict.fromkeys((*draft.anchors, *anchors_in(draft.body), *_named(memory, draft)))
    inside = {parse_anchor(place).path for place in places if parse_anchor(place).kind != "path"}
    places = {place: None for place in places if place in draft.anchors or place not in inside}
    if not places:
        return None
    seen = memory.checkout.snapshot(places)
    # A text may name anything: only what exists in the checkout was meant as a citation.
    marks = {anchor: mark for anchor, mark in seen.marks.items() if anchor in draft.anchors or mark.there}
    return replace(seen, marks=marks) if marks else None


def _named(memory: Memory, draft: Draft | Record) -> list[str]:
    """Return the files and definitions that a text names in its own words, each found in one place only."""
    files = memory.checkout.files_named(named) if (named := files_in(draft.body)) else {}
    symbols = symbols_in(draft.body)
    near = dict.fromkeys((*files.values(), *(parse_anchor(anchor).path for anchor in draft.anchors)))
    here = _definitions(memory, symbols, [path for path in near if path])
    missing = [symbol for symbol in symbols if symbol.name not in here]
    # Documents and derived records name much; looking through all files for each of them would take too long.
    wide = _definitions(memory, missing) if missing and draft.source in CLAIMED else {}
    return [*files.values(), *(here | wide).values()]


def _definitions(memory: Memory, symbols: Sequence[Symbol], paths: Sequence[str] | None = None) -> dict[str, str]:
    """Return the anchor of each name that has one definition, in these files or in all."""
    if not symbols or paths == []:
        return {}
    names = {symbol.name: _tails(symbol.name) for symbol in symbols}
    found = memory.checkout.definitions(
        list(dict.fromkeys(tail for tails in names.values() for tail in tails)), paths or ()
    )
    anchors = {}
    for symbol in symbols:
        for tail in names[symbol.name]:
            if found.get(tail):
                if place := the_one_meant(symbol.name, tail, found[tail]):
                    anchors[symbol.name] = f"{place}={symbol.value}" if symbol.value else place
                break
    return anchors


def _tails(name: str) -> list[str]:
    """Return a dotted name, and what is left of it without the modules in front; a class stays with its method."""
    parts = name.split(".")
    last = next((index for index, part in enumerate(parts) if part[:1].isupper()), len(parts) - 1)
    return [".".join(parts[start:]) for start in range(last + 1)]


def freshness(memory: Memory, records: Sequence[Record]) -> dict[str, Freshness]:
    """Return for each record about code whether the code it cites is unchanged; records of past events are left out.

    Files are compared by content; git runs once, and only for files whose content differs.
    """
    about = [record for record in records if is_about_code(record.kind)]
    here = {project for project in {record.project for record in about} if is_here(memory, project)}
    now = memory.clock.now()
    verdicts: dict[str, Freshness] = {}
    for record in about:
        places = places_of(record) if record.project in here else {}
        verdicts[record.id] = (
            freshness_of(record, memory.checkout.snapshot(places), now) if places else unknown(record, now)
        )
    return verdicts | _explained(
        memory, {record.id: record for record in about if verdicts[record.id].problems}, verdicts
    )


def _explained(
    memory: Memory, records: Mapping[str, Record], verdicts: Mapping[str, Freshness]
) -> dict[str, Freshness]:
    """Add the commits that changed the cited code, and where missing code went."""
    if not records:
        return {}
    troubles = [problem for record_id in records for problem in verdicts[record_id].problems]
    since = [record.seen.commit for record in records.values() if record.seen]
    cited = dict[str, set[str]]()
    for record in records.values():
        for problem in verdicts[record.id].problems:
            mark = places_of(record).get(problem.anchor)
            if problem.state == "changed" and mark and mark.blob:
                cited.setdefault(parse_anchor(problem.anchor).path, set()).add(mark.blob)
    looked = min(days_before(record.verified_at or record.updated_at, 1) for record in records.values())
    touches = memory.checkout.touches(cited, looked, quick=len(verdicts) > 1) if cited else None
    gone = sorted({parse_anchor(problem.anchor).path for problem in troubles if problem.state == "missing"})
    moved = memory.checkout.renamed(gone, since) if gone else {}

    def better(record: Record, finding: Finding) -> Finding:
        cited = places_of(record).get(finding.anchor)
        if finding.state == "missing":
            return _followed(memory, finding, cited, moved)
        if finding.state != "changed" or touches is None:
            return finding
        own = since_cited(finding, cited, touches)[:MOST_COMMITS]
        blobs = {blob for touch in own for blob in (touch.before, touch.after)} if len(own) > 1 else ()
        return explained(finding, own, memory.checkout.versions(finding.anchor, sorted(blobs)) if blobs else {})

    return {record.id: _again(verdicts[record.id], record, better) for record in records.values()}


def _again(verdict: Freshness, record: Record, better: Callable[[Record, Finding], Finding]) -> Freshness:
    findings = tuple(better(record, finding) for finding in verdict.findings)
    return replace(verdict, findings=findings, state=overall(findings, checked=bool(record.verified_at)))


def _followed(memory: Memory, finding: Finding, cited: CodeMark | None, moved: Mapping[str, str]) -> Finding:
    """Look for missing code in its renamed file, or where its name is defined now."""
    place = parse_anchor(finding.anchor)
    candidates = [moved[place.path]] if place.path in moved else []
    if place.kind == "symbol":
        candidates += memory.checkout.defining(place.name, place.path.rpartition(".")[2])
    for path in dict.fromkeys(other for other in candidates if other != place.path):
        anchor = finding.anchor.replace(place.path, path, 1)
        mark = memory.checkout.snapshot({anchor: cited}).marks[anchor]
        if mark.there:
            state = _state_there(cited, mark)
            note = "and it has changed" if state == "changed" else ""
            return replace(finding, state=state, moved_to=anchor, note=note, now=mark)
    return finding


def _state_there(cited: CodeMark | None, now: CodeMark) -> State:
    if cited is None or not cited.hash:
        return "unverified"
    return "fresh" if cited.hash == now.hash else "changed"

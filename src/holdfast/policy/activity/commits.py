"""Learn from a git history: decisions that commits explain, changes that were reverted, broke something or needed several fixes."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from holdfast.model.ids import days_between
from holdfast.model.patterns import patterns_of
from holdfast.model.ports import Commit
from holdfast.model.record import Draft
from holdfast.model.text import counted, filled, shorten
from holdfast.policy.language.documents import releases
from holdfast.policy.language.headlines import joined, sentences_of, subject_of
from holdfast.policy.language.overlap import overlap, words

CHAIN_DAYS, CHAIN_LEAST, CHAIN_SHOWN = 7.0, 2, 10
ALIKE = 0.5  # share of common words at which the second subject continues the first
SAME_CHANGE = 0.8  # share of common words at which two subjects name the same change
MOST_ANCHORS = 5
SWEEPING = 15  # files; a larger commit says little about each of them
SHORTEST_REASON = 40
UNDATED = "2000-01-01T00:00:00.000Z"  # of a release without a date
_SAYS = patterns_of(__file__, "commits")


def learnable(commits: Sequence[Commit], changelog: tuple[str, str] = ("", "")) -> list[Draft]:
    """Return drafts learned from commits and a changelog (path, text), oldest first; their first commit is the key."""
    known, ordered = dict[tuple[str, str], list[str]](), list[Commit]()
    for commit in sorted(commits, key=lambda commit: (commit.at, commit.hash)):
        if _SAYS["robot"].search(commit.author) or _SAYS["bump"].match(commit.subject):
            continue
        # A cherry-pick counts once: a patch on another branch keeps its author, author date and subject.
        same = known.setdefault((commit.author, commit.at), [])
        if not any(overlap(subject, commit.subject) >= SAME_CHANGE for subject in same):
            ordered.append(commit)
        same.append(commit.subject)
    by_hash = {commit.hash: commit for commit in commits}
    drafts = [*_reverts(ordered, by_hash), *_broken(ordered, by_hash), *_chains(ordered), *_choices(ordered)]
    drafts += _regressions(*changelog)
    return sorted(drafts, key=lambda draft: (draft.at, str(draft.extra["commits"])))


def _reverts(commits: Sequence[Commit], by_hash: Mapping[str, Commit]) -> Iterator[Draft]:
    for commit in commits:
        quoted, reference = _SAYS["revert"].match(commit.subject), _reverted_by(commit, by_hash)
        if not quoted and not reference:
            # A commit that undoes something in its own words is a candidate if it gives a reason.
            prose, what = _prose(commit.body), _name(subject_of(commit.subject)[0])
            goes_back = _SAYS["went_back"].search(commit.subject) and not _SAYS["trivial"].search(commit.subject)
            if goes_back and len(prose) >= SHORTEST_REASON and not _SAYS["bullet"].search(commit.body):
                body, subtitle = f"{what}.\n\n{shorten(prose, 1_000)}", "A change that went back"
                yield _scar(f"Changed back: {what}", body, subtitle, [commit], unsure=True)
            continue
        reverted = _by_prefix(by_hash, reference) if reference else None
        what = _name(reverted.subject if reverted else quoted["what"] if quoted else "")
        if len(what.split()) < 2 or _SAYS["no_lesson"].match(what) or _is_relanded(what, commit, reverted, commits):
            continue
        # The reason stands in its body, else from its subject: “Revert "X", it failed CI”.
        body = _prose(_SAYS["revert_line"].sub("", commit.body))
        after = _name(quoted["after"]).strip(" .,:;-–—()") if quoted else _name(commit.subject)
        said = re.sub(r"^(?:because|since|as|due to)\s+", "", after, flags=re.IGNORECASE)
        why = " ".join(filled(len(said.split()) > 1 and f"{said}.", body))
        if (_SAYS["trivial"].search(what) or _is_aside(commit)) and not why:
            continue
        original = _prose(reverted.body) if reverted else ""
        body = f"“{what}” was reverted. " + (f"Why: {why}" if why else "The commit does not say why.")
        body += f"\nOriginal purpose: {shorten(original, 500)}" if original else ""
        hashes = filled(reverted.hash if reverted else reference, commit.hash)
        # The subtitle is part of the record's id (verbs/capture/learn): do not reword it.
        yield _scar(f"Reverted: {what}", body, "A change that had to be taken back", [commit], commits=hashes)


def _reverted_by(commit: Commit, by_hash: Mapping[str, Commit] | None = None) -> str:
    """Return the commit named in a line of its own as reverted; of several the one that changed most files of code."""
    if _SAYS["bullet"].search(commit.body) and not commit.subject.lower().startswith("revert"):
        return ""
    references = [match["sha"] for match in _SAYS["reverts"].finditer(commit.body)]
    if len(references) < 2:
        return "".join(references)
    known = {sha: _by_prefix(by_hash or {}, sha) for sha in references}
    weight = {sha: sum(not _SAYS["aside"].search(path) for path in one.files) for sha, one in known.items() if one}
    return max(references, key=lambda sha: weight.get(sha, 0))


def _is_relanded(what: str, revert: Commit, reverted: Commit | None, commits: Sequence[Commit]) -> bool:
    """True if the reverted change came back: by its subject, by a revert of the revert, or by a commit that names it."""
    hashes = [revert.hash, reverted.hash if reverted else revert.hash]
    issues = set(_SAYS["issue"].findall(reverted.subject if reverted else what))
    for commit in commits:
        if commit.at < revert.at or commit.hash in hashes:
            continue
        again, quoted = _SAYS["relanded"].match(commit.subject), _SAYS["revert"].match(commit.subject)
        if (sha := _reverted_by(commit)) and revert.hash.startswith(sha):
            return True
        undone = quoted["what"].lower() if quoted else ""
        if undone.startswith("revert") and what.lower()[:40] in undone:
            return True
        named = _SAYS["reland"].finditer(f"{commit.subject}\n{commit.body}")
        if any(hash_.startswith(match["sha"].lower()) for match in named for hash_ in hashes):
            return True
        share = overlap(what, again["what"] if again else _name(commit.subject))
        is_same_issue = bool(issues & set(_SAYS["issue"].findall(commit.subject)))
        if not quoted and (share >= SAME_CHANGE or (is_same_issue and share >= ALIKE)):
            return True
    return False


def _by_prefix(by_hash: Mapping[str, Commit], prefix: str) -> Commit | None:
    return by_hash.get(prefix) or next((commit for key, commit in by_hash.items() if key.startswith(prefix)), None)


def _broken(commits: Sequence[Commit], by_hash: Mapping[str, Commit]) -> Iterator[Draft]:
    for index, commit in enumerate(commits):
        is_other = _SAYS["revert"].match(commit.subject) or _SAYS["bullet"].search(commit.body)
        if is_other or not _SAYS["repairs"].search(commit.subject):
            continue
        match = _SAYS["broke"].search(f"{commit.subject}\n{commit.body}")
        issue = _SAYS["broke_issue"].search(commit.subject)
        cause = _by_prefix(by_hash, (match["sha"] or match["trailer"]).lower()) if match else None
        if cause is None and issue:
            named = [one for one in commits[:index] if issue["issue"] in _SAYS["issue"].findall(one.subject)]
            cause = named[0] if len(named) == 1 else None  # of several it may be any
        if cause is None or cause.hash == commit.hash or cause.at > commit.at:
            continue
        what, fix = _name(cause.subject), commit.subject.rstrip(".")
        prose = _prose(commit.body)
        body = f"“{what}” ({cause.hash[:8]}, {cause.at[:10]}) broke something. Fixed by “{fix}”."
        body += f" {shorten(prose, 1_000)}" if prose else ""
        title, hashes = f"“{shorten(what, 90)}” broke something: {fix}", [cause.hash, commit.hash]
        yield _scar(title, body, "A change that broke something", [commit], commits=hashes)


def _regressions(path: str, text: str) -> Iterator[Draft]:
    for release in releases(text, markdown=not path.endswith(".rst")) if text else ():
        version = release.path[0]
        dated = _SAYS["date"].search(f"{version} {release.text[:200]}")
        at = f"{dated[0]}T00:00:00.000Z" if dated else ""
        for item in _items(release.text):
            if len(item) >= SHORTEST_REASON and not _SAYS["summary"].search(item):
                extra = {"commits": [f"{path} {version}: {shorten(item, 80)}"], "began": at or UNDATED}
                title, subtitle = f"Regression fixed in {version}: {item}", "A regression named in the changelog"
                draft = _scar(title, f"{item}\n({path}, {version})", subtitle, [], [path], changelog=path, **extra)
                yield replace(draft, at=at)


def _items(text: str) -> Iterator[str]:
    """Yield the items of a release that name a regression, each in one line and after the item it stands below."""
    above: list[tuple[int, str]] = []
    for part in re.split(r"\n(?=\s*[*+-] +\S)|\n{2,}", text):
        depth = len(part) - len(part.lstrip())
        item = " ".join(part.lstrip("*+- \n").split())
        above = [*((other, name) for other, name in above if other < depth), (depth, item)]
        if _SAYS["regression"].search(item):
            yield ": ".join(name for _, name in above)


def _chains(commits: Sequence[Commit]) -> Iterator[Draft]:
    """Yield files that were fixed again within days, each series of fixes once with all its files."""
    by_file, by_run = defaultdict[str, list[Commit]](list), defaultdict[tuple[str, ...], list[str]](list)
    for commit in commits:
        other = _SAYS["revert"].match(commit.subject) or _SAYS["trivial"].search(commit.subject)
        is_fix = _SAYS["fix"].search(commit.subject) and not other and len(commit.files) <= SWEEPING
        for path in commit.files if is_fix else ():
            if not _SAYS["common"].search(path):
                by_file[path].append(commit)
    for path, fixes in by_file.items():
        runs = [fixes[:1]]
        for before, after in pairwise(fixes):
            if days_between(before.at, after.at) > CHAIN_DAYS or not _continues(before, after):
                runs.append([])
            runs[-1].append(after)
        for run in runs:
            by_run[tuple(commit.hash for commit in run)].append(path)
    known = {commit.hash: commit for commit in commits}
    for hashes, paths in by_run.items():
        if len(hashes) < CHAIN_LEAST:
            continue
        run = [known[hash_] for hash_ in hashes]
        days = counted(int(days_between(run[0].at, run[-1].at)) + 1, "day")
        title = f"{joined(paths, 2)} had to be fixed {len(run)} times within {days}: {subject_of(run[-1].subject)[0]}"
        told = (f"{fix.at[:10]} {fix.hash[:8]} {fix.subject}. {shorten(_prose(fix.body), 300)}" for fix in run)
        lines = [f"- {line.rstrip()}" for line in told]
        more = [f"- … {len(lines) - CHAIN_SHOWN} before these"] if len(lines) > CHAIN_SHOWN else []
        body = "\n".join([f"{title}.", *more, *lines[-CHAIN_SHOWN:]])
        yield _scar(title, body, "Fixes that did not last", run, paths, unsure=True)


def _continues(before: Commit, after: Commit) -> bool:
    """True if a fix continues another: same issue, similar words, or a word such as “again”. The same words are a backport."""
    if _name(before.subject).lower() == _name(after.subject).lower():
        return False
    if set(_SAYS["issue"].findall(before.subject)) & set(_SAYS["issue"].findall(after.subject)):
        return True
    first, second = (_SAYS["fix"].sub(" ", subject_of(_name(commit.subject))[0]) for commit in (before, after))
    common = [word for word in words(first) & words(second) if len(word) > 3 and word not in ("when", "where", "with")]
    share = overlap(first, second)
    return (share >= ALIKE and len(common) > 1) or (bool(common) and bool(_SAYS["again"].search(after.subject)))


def _scar(
    title: str, body: str, subtitle: str, made: Sequence[Commit], paths: Sequence[str] = (), **extra: Any
) -> Draft:
    """Return the draft of what went wrong; unless `extra` says otherwise, it is about the files and hashes of its commits."""
    files = list(dict.fromkeys(paths or [path for commit in made for path in commit.files]))
    source = [path for path in files if not _SAYS["common"].search(path)] or files
    fields = {
        "type": "bugfix",
        "subtitle": subtitle,
        "concepts": ["gotcha", "problem-solution"],
        "files_modified": files[:30],
        "severity": "scar_candidate",
    }
    return replace(_mined(title, body, made, source, **extra), kind="observation", fields=fields)


def _mined(title: str, body: str, made: Sequence[Commit], files: Sequence[str], **extra: Any) -> Draft:
    """Return the draft of what commits taught; the last is named with its date: a pending record is dated when it is stored."""
    if made:
        body += f"\n(commit {made[-1].hash[:8]}, {made[-1].at[:10]})"
        extra = {"commits": [commit.hash for commit in made], "began": made[0].at, **extra}
    title, anchors, at = shorten(title, 200), tuple(files[:MOST_ANCHORS]), made[-1].at if made else ""
    return Draft(title=title, body=body, confidence="low", source="mined", anchors=anchors, extra=extra, at=at)


def _choices(commits: Sequence[Commit]) -> Iterator[Draft]:
    """Yield decisions: commits that chose something, give a reason, and were not reverted."""
    reverted = tuple(sha for commit in commits if (sha := _reverted_by(commit)))
    for commit in commits:
        subject, prose = subject_of(commit.subject)[0], _prose(commit.body)
        is_revert = _SAYS["revert"].match(commit.subject) or _SAYS["reverts"].search(commit.body)
        if is_revert or _SAYS["trivial"].search(subject) or _is_aside(commit) or commit.hash.startswith(reverted):
            continue
        explains = _SAYS["causal"].search(prose) or _SAYS["reason"].search(subject)
        has_reason = (len(prose) >= SHORTEST_REASON and explains) or _SAYS["causal"].search(subject)
        whole = f"{subject}. {prose}"
        if not has_reason or not (_SAYS["choice"].match(subject) or _SAYS["decided"].search(whole)):
            continue
        subject = _name(subject)
        reasons = [sentence for sentence in sentences_of(prose) if _SAYS["reason"].search(sentence)]
        rejected = dict.fromkeys(match["what"].strip() for match in _SAYS["rejected"].finditer(f"{subject}. {prose}"))
        rationale = shorten(" ".join(reasons) or prose or subject, 2_000)
        fields = {"rationale": rationale} | ({"alternatives": list(rejected)[:5]} if rejected else {})
        body = f"{subject}." + (f"\n\n{shorten(prose, 1_000)}" if prose else "")
        files = [path for path in commit.files if not _SAYS["common"].search(path)]
        yield replace(_mined(subject, body, [commit], files), kind="decision", fields=fields)


def _is_aside(commit: Commit) -> bool:
    """True if a commit changes tests and documents only."""
    return bool(commit.files) and all(_SAYS["aside"].search(path) for path in commit.files)


def _prose(body: str) -> str:
    """Return a commit's body without trailers, and without the list of commits that a squash leaves behind."""
    plain = _SAYS["trailer"].sub("", _SAYS["code"].sub("", body.replace("\r\n", "\n")))
    lines = plain.splitlines()
    if sum(bool(_SAYS["bullet"].match(line)) for line in lines) * 2 >= sum(bool(line.strip()) for line in lines):
        plain = "\n".join(line for line in lines if not _SAYS["bullet"].match(line))
    return " ".join(plain.split())


def _name(subject: str) -> str:
    """Return a subject without the numbers of issues at its end."""
    before, subject = "", subject.strip()
    while before != subject:
        before, subject = subject, _SAYS["numbers"].sub("", subject).rstrip(" ,-")
    return subject.rstrip(".")

"""Learn from a git history: choices that commits explain, files fixed repeatedly, and reverted changes."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from holdfast.model.history import Commit
from holdfast.model.ids import days_between
from holdfast.model.record import Draft
from holdfast.model.text import counted, shorten
from holdfast.policy.language.headlines import joined, sentences_of, subject_of
from holdfast.policy.language.overlap import overlap
from holdfast.policy.language.signals import signals

CHAIN_DAYS, CHAIN_LEAST, CHAIN_SHOWN = 7.0, 2, 10
ALIKE = 0.3  # share of common words at which the second subject continues the first
MOST_ANCHORS = 5
SWEEPING = 15  # files; a larger commit says little about each of them
SHORTEST_REASON = 40

_TRAILER = re.compile(
    r"^(?:signed-off-by|co-authored-by|reviewed-by|acked-by|tested-by|change-id|closes?|fixes|refs?|see|cc|pr-url|issue|link|bug)\b\s*[:#].*$",
    re.IGNORECASE | re.MULTILINE,
)
_ROBOT = re.compile(r"\[bot\]|dependabot|renovate|github-actions", re.IGNORECASE)
_BUMP = re.compile(r"^(?:\w+(?:\([^)]*\))?:\s*)?(?:bump|release|version|merge)\b", re.IGNORECASE)
_FIX = re.compile(
    r"^(?:hot|bug)?fix(?:es|ed)?\b|^(?:\w+[\w/., -]*:\s*)fix(?:es|ed)?\b|\b(?:bug|crash|regression|hotfix)\b",
    re.IGNORECASE,
)
_TRIVIAL = re.compile(
    r"\b(?:typos?|changelog|docs?|documentation|layout|lint\w*|format\w*|typing|types|wording|links?|spelling|warnings?|ci|tests?)\b",
    re.IGNORECASE,
)
_AGAIN = re.compile(
    r"\b(?:again|properly|really|actually|still|follow-?up|regression|once more|for real|correctly|second attempt|another|also|more)\b",
    re.IGNORECASE,
)
_ISSUE = re.compile(r"#\d+|\b[A-Z]{2,}-\d+\b")
_REVERT = re.compile(r"^revert(?:ed|s|ing)?\b:?\s*(?:commit\s*)?[\"“](?P<what>.*?)[\"”]?$", re.IGNORECASE)
_REVERTS = re.compile(r"\bthis reverts commit (?P<hash>[0-9a-f]{7,40})\b\.?", re.IGNORECASE)
_RELANDED = re.compile(r"^revert\W+(?:revert|merge)\b", re.IGNORECASE)
_CHOICE = re.compile(
    r"^(?:switch|move|migrate|replace|drop|adopt|use|prefer|standardi[sz]e|stop using|choose|pin|require|forbid|go back|vendor)\b",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"\b(?:because|so that|since|instead of|rather than|in favou?r of|due to|to avoid|avoids|allows? us)\b",
    re.IGNORECASE,
)
_REJECTED = re.compile(r"\b(?:instead of|rather than|in place of)\s+(?P<what>[^,.;:()\n]{3,80})", re.IGNORECASE)
# Files that most commits touch do not show what keeps breaking.
_COMMON = re.compile(
    r"(?:^|/)(?:dist|build|vendor|node_modules|generated|gen)/|\.(?:min\.js|cjs|map)$|"
    r"(?:^|/)(?:tests?|__tests__|spec|docs?|fixtures)/|(?:^|/)(?:CHANGELOG|README|HISTORY|NEWS|VERSION)[^/]*$|"
    r"\.(?:md|rst|lock|snap|sum|svg|png)$|(?:^|/)(?:package(?:-lock)?\.json|pyproject\.toml|Cargo\.toml|go\.mod|__init__\.py)$|"
    r"(?:^|/)(?:test_[^/]*|[^/]*[._](?:test|spec)\.\w+)$",
    re.IGNORECASE,
)


def learnable(commits: Sequence[Commit]) -> list[Draft]:
    """Return drafts learned from commits, oldest first; `extra.commits` lists their commits, the first one is the key."""
    own = (commit for commit in commits if not (_ROBOT.search(commit.author) or _BUMP.match(commit.subject)))
    ordered = sorted(own, key=lambda commit: (commit.at, commit.hash))
    by_hash = {commit.hash: commit for commit in ordered}
    drafts = [*_reverts(ordered, by_hash), *_chains(ordered), *_choices(ordered)]
    return sorted(drafts, key=lambda draft: (draft.at, str(draft.extra["commits"])))


def needs_approval(draft: Draft) -> bool:
    """True if a draft starts pending: a choice inferred from a commit is a guess, fixes and reverts are facts."""
    return draft.kind == "decision"


def _reverts(commits: Sequence[Commit], by_hash: Mapping[str, Commit]) -> Iterator[Draft]:
    for commit in commits:
        quoted, reference = _REVERT.match(commit.subject), _REVERTS.search(commit.body)
        if (not quoted and not reference) or _RELANDED.match(commit.subject):
            continue
        reverted = _by_prefix(by_hash, reference["hash"]) if reference else None
        what = reverted.subject if reverted else quoted["what"] if quoted else commit.subject
        why = _prose(_REVERTS.sub("", commit.body))
        body = f"“{what}” was reverted."
        body += f" Why: {why}" if why else " The commit does not say why."
        body += f"\nOriginal purpose: {_prose(reverted.body)}" if reverted and _prose(reverted.body) else ""
        hashes = [
            hash_
            for hash_ in (reverted.hash if reverted else reference["hash"] if reference else "", commit.hash)
            if hash_
        ]
        # The subtitle is part of the record's id (verbs/capture/learn): do not reword it.
        yield _scar(f"Reverted: {what}", body, hashes, [commit], "A change that had to be taken back")


def _by_prefix(by_hash: Mapping[str, Commit], prefix: str) -> Commit | None:
    return by_hash.get(prefix) or next((commit for key, commit in by_hash.items() if key.startswith(prefix)), None)


def _chains(commits: Sequence[Commit]) -> Iterator[Draft]:
    """Yield files that were fixed again within days, each series of fixes once with all its files."""
    by_file: dict[str, list[Commit]] = {}
    for commit in filter(_is_fix, commits):
        for path in commit.files:
            if not _COMMON.search(path):
                by_file.setdefault(path, []).append(commit)
    runs: dict[tuple[str, ...], list[str]] = {}
    known = {commit.hash: commit for commit in commits}
    for path, fixes in by_file.items():
        for run in _runs(fixes):
            runs.setdefault(tuple(commit.hash for commit in run), []).append(path)
    for hashes, paths in runs.items():
        yield _chain([known[hash_] for hash_ in hashes], paths)


def _is_fix(commit: Commit) -> bool:
    if len(commit.files) > SWEEPING or _REVERT.match(commit.subject):
        return False
    return bool(_FIX.search(commit.subject)) and not _TRIVIAL.search(commit.subject)


def _runs(fixes: Sequence[Commit]) -> Iterator[list[Commit]]:
    """Split the fixes of a file into series, each fix continuing the one before it."""
    run = list(fixes[:1])
    for before, after in pairwise(fixes):
        if days_between(before.at, after.at) > CHAIN_DAYS or not _continues(before, after):
            if len(run) >= CHAIN_LEAST:
                yield run
            run = []
        run.append(after)
    if len(run) >= CHAIN_LEAST:
        yield run


def _continues(before: Commit, after: Commit) -> bool:
    """True if a fix continues another: same issue, similar words, or a word such as “again”."""
    if set(_ISSUE.findall(before.subject)) & set(_ISSUE.findall(after.subject)):
        return True
    first, second = (_FIX.sub(" ", subject_of(commit.subject)[0]) for commit in (before, after))
    share = overlap(first, second)
    return share >= ALIKE or (share > 0 and bool(_AGAIN.search(after.subject)))


def _chain(run: Sequence[Commit], paths: Sequence[str]) -> Draft:
    days = counted(int(days_between(run[0].at, run[-1].at)) + 1, "day")
    title = f"{joined(paths, 2)} had to be fixed {len(run)} times within {days}: {subject_of(run[-1].subject)[0]}"
    lines = [f"- {fix.at[:10]} {fix.hash[:8]} {fix.subject}. {shorten(_prose(fix.body), 300)}".rstrip() for fix in run]
    if len(lines) > CHAIN_SHOWN:
        lines = [f"- … {len(lines) - CHAIN_SHOWN} before these", *lines[-CHAIN_SHOWN:]]
    body = "\n".join([f"{title}.", *lines])
    return _scar(title, body, [fix.hash for fix in run], run, "Fixes that did not last", paths)


def _scar(
    title: str, body: str, hashes: Sequence[str], commits: Sequence[Commit], subtitle: str, paths: Sequence[str] = ()
) -> Draft:
    files = list(dict.fromkeys(paths or [path for commit in commits for path in commit.files]))
    return Draft(
        kind="observation",
        title=shorten(title, 200),
        body=body,
        fields={
            "type": "bugfix",
            "subtitle": subtitle,
            "concepts": ["gotcha", "problem-solution"],
            "files_modified": files[:30],
            "severity": "scar_candidate",
        },
        confidence="low",
        source="mined",
        anchors=tuple(files[:MOST_ANCHORS]),
        extra={"commits": list(hashes), "began": commits[0].at},
        at=commits[-1].at,
    )


def _choices(commits: Sequence[Commit]) -> Iterator[Draft]:
    """Yield decisions: commits that chose something and give a reason."""
    for commit in commits:
        subject, _ = subject_of(commit.subject)
        prose = _prose(commit.body)
        is_decision = any(signal.kind == "decision" for signal in signals(commit.body))
        is_choice = bool(_CHOICE.match(subject) and _REASON.search(f"{subject} {prose}"))
        if len(prose) >= SHORTEST_REASON and (is_decision or is_choice) and not _REVERT.match(commit.subject):
            yield _decision(commit, subject, prose)


def _decision(commit: Commit, subject: str, prose: str) -> Draft:
    reasons = [sentence for sentence in sentences_of(commit.body) if _REASON.search(sentence)]
    rejected = [match["what"].strip() for match in _REJECTED.finditer(f"{subject}. {prose}")]
    fields = {
        "rationale": shorten(" ".join(reasons) or prose, 2_000),
        "alternatives": list(dict.fromkeys(rejected))[:5],
    }
    return Draft(
        kind="decision",
        title=shorten(subject, 200),
        body=f"{subject}.\n\n{prose}",
        fields={name: value for name, value in fields.items() if value},
        confidence="low",
        source="mined",
        anchors=tuple(path for path in commit.files if not _COMMON.search(path))[:MOST_ANCHORS],
        extra={"commits": [commit.hash], "began": commit.at},
        at=commit.at,
    )


def _prose(body: str) -> str:
    """Return a commit's body without trailers."""
    return " ".join(_TRAILER.sub("", body).split())

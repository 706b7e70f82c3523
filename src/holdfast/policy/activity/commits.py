"""What a history teaches: choices its commits give reasons for, files fixed again and again, and what was taken back. Pure."""

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
ALIKE = 0.3  # share of words two subjects have in common, if the second goes on with the first
MOST_ANCHORS = 5
SWEEPING = 15  # a commit that touches more files says little about any of them
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
# Files every other commit touches tell nothing about what keeps breaking.
_COMMON = re.compile(
    r"(?:^|/)(?:dist|build|vendor|node_modules|generated|gen)/|\.(?:min\.js|cjs|map)$|"
    r"(?:^|/)(?:tests?|__tests__|spec|docs?|fixtures)/|(?:^|/)(?:CHANGELOG|README|HISTORY|NEWS|VERSION)[^/]*$|"
    r"\.(?:md|rst|lock|snap|sum|svg|png)$|(?:^|/)(?:package(?:-lock)?\.json|pyproject\.toml|Cargo\.toml|go\.mod|__init__\.py)$|"
    r"(?:^|/)(?:test_[^/]*|[^/]*[._](?:test|spec)\.\w+)$",
    re.IGNORECASE,
)


def learnable(commits: Sequence[Commit]) -> list[Draft]:
    """Give what commits teach as drafts, oldest first; each names its commits in `extra.commits`, the first of them its key."""
    ordered = sorted((one for one in commits if not _is_routine(one)), key=lambda one: (one.at, one.hash))
    by_hash = {one.hash: one for one in ordered}
    found = [*_reverts(ordered, by_hash), *_chains(ordered), *_choices(ordered)]
    return sorted(found, key=lambda draft: (draft.at, str(draft.extra["commits"])))


def is_held(draft: Draft) -> bool:
    """Tell whether a draft waits for a yes: a choice read out of a commit is a guess, what was fixed or reverted is not."""
    return draft.kind == "decision"


def _is_routine(commit: Commit) -> bool:
    return bool(_ROBOT.search(commit.author) or _BUMP.match(commit.subject))


def _reverts(commits: Sequence[Commit], by_hash: Mapping[str, Commit]) -> Iterator[Draft]:
    for commit in commits:
        named, told = _REVERT.match(commit.subject), _REVERTS.search(commit.body)
        if (not named and not told) or _RELANDED.match(commit.subject):
            continue
        taken_back = _whole(by_hash, told["hash"]) if told else None
        what = taken_back.subject if taken_back else named["what"] if named else commit.subject
        why = _prose(_REVERTS.sub("", commit.body))
        body = f"“{what}” was taken back."
        body += f" Why: {why}" if why else " The commit does not say why."
        body += (
            f"\nWhat it had meant to do: {_prose(taken_back.body)}" if taken_back and _prose(taken_back.body) else ""
        )
        hashes = [one for one in (taken_back.hash if taken_back else told["hash"] if told else "", commit.hash) if one]
        yield _scar(f"Reverted: {what}", body, hashes, [commit], "A change that had to be taken back")


def _whole(by_hash: Mapping[str, Commit], prefix: str) -> Commit | None:
    return by_hash.get(prefix) or next((one for key, one in by_hash.items() if key.startswith(prefix)), None)


def _chains(commits: Sequence[Commit]) -> Iterator[Draft]:
    """Give files that were fixed again within days, each run of fixes once with all files it shares."""
    by_file: dict[str, list[Commit]] = {}
    for commit in filter(_is_fix, commits):
        for path in commit.files:
            if not _COMMON.search(path):
                by_file.setdefault(path, []).append(commit)
    runs: dict[tuple[str, ...], list[str]] = {}
    known = {one.hash: one for one in commits}
    for path, fixes in by_file.items():
        for run in _runs(fixes):
            runs.setdefault(tuple(one.hash for one in run), []).append(path)
    for hashes, paths in runs.items():
        yield _chain([known[one] for one in hashes], paths)


def _is_fix(commit: Commit) -> bool:
    if len(commit.files) > SWEEPING or _REVERT.match(commit.subject):
        return False
    return bool(_FIX.search(commit.subject)) and not _TRIVIAL.search(commit.subject)


def _runs(fixes: Sequence[Commit]) -> Iterator[list[Commit]]:
    """Cut the fixes of a file where one does not go on with the one before it."""
    run = list(fixes[:1])
    for before, after in pairwise(fixes):
        if days_between(before.at, after.at) > CHAIN_DAYS or not _goes_on(before, after):
            if len(run) >= CHAIN_LEAST:
                yield run
            run = []
        run.append(after)
    if len(run) >= CHAIN_LEAST:
        yield run


def _goes_on(before: Commit, after: Commit) -> bool:
    """Tell whether a fix goes on with another: it says so, names the same issue, or is about the same words."""
    if set(_ISSUE.findall(before.subject)) & set(_ISSUE.findall(after.subject)):
        return True
    first, second = (_FIX.sub(" ", subject_of(one.subject)[0]) for one in (before, after))
    share = overlap(first, second)
    return share >= ALIKE or (share > 0 and bool(_AGAIN.search(after.subject)))


def _chain(run: Sequence[Commit], paths: Sequence[str]) -> Draft:
    days = counted(int(days_between(run[0].at, run[-1].at)) + 1, "day")
    title = f"{joined(paths, 2)} had to be fixed {len(run)} times within {days}: {subject_of(run[-1].subject)[0]}"
    lines = [f"- {one.at[:10]} {one.hash[:8]} {one.subject}. {shorten(_prose(one.body), 300)}".rstrip() for one in run]
    if len(lines) > CHAIN_SHOWN:
        lines = [f"- … {len(lines) - CHAIN_SHOWN} before these", *lines[-CHAIN_SHOWN:]]
    body = "\n".join([f"{title}.", *lines])
    return _scar(title, body, [one.hash for one in run], run, "Fixes that did not last", paths)


def _scar(
    title: str, body: str, hashes: Sequence[str], told: Sequence[Commit], why: str, paths: Sequence[str] = ()
) -> Draft:
    files = list(dict.fromkeys(paths or [path for one in told for path in one.files]))
    return Draft(
        kind="observation",
        title=shorten(title, 200),
        body=body,
        fields={
            "type": "bugfix",
            "subtitle": why,
            "concepts": ["gotcha", "problem-solution"],
            "files_modified": files[:30],
            "severity": "scar_candidate",
        },
        confidence="low",
        source="mined",
        anchors=tuple(files[:MOST_ANCHORS]),
        extra={"commits": list(hashes), "began": told[0].at},
        at=told[-1].at,
    )


def _choices(commits: Sequence[Commit]) -> Iterator[Draft]:
    """Give commits that chose something and say why."""
    for commit in commits:
        subject, _ = subject_of(commit.subject)
        told = _prose(commit.body)
        decided = any(one.kind == "decision" for one in signals(commit.body))
        chose = bool(_CHOICE.match(subject) and _REASON.search(f"{subject} {told}"))
        if len(told) >= SHORTEST_REASON and (decided or chose) and not _REVERT.match(commit.subject):
            yield _decision(commit, subject, told)


def _decision(commit: Commit, subject: str, told: str) -> Draft:
    reasons = [one for one in sentences_of(commit.body) if _REASON.search(one)]
    rejected = [match["what"].strip() for match in _REJECTED.finditer(f"{subject}. {told}")]
    fields = {"rationale": shorten(" ".join(reasons) or told, 2_000), "alternatives": list(dict.fromkeys(rejected))[:5]}
    return Draft(
        kind="decision",
        title=shorten(subject, 200),
        body=f"{subject}.\n\n{told}",
        fields={name: value for name, value in fields.items() if value},
        confidence="low",
        source="mined",
        anchors=tuple(path for path in commit.files if not _COMMON.search(path))[:MOST_ANCHORS],
        extra={"commits": [commit.hash], "began": commit.at},
        at=commit.at,
    )


def _prose(body: str) -> str:
    """Give what a commit's body says, without trailers."""
    return " ".join(_TRAILER.sub("", body).split())

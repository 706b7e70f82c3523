"""Learn from a git history: decisions that commits explain, changes that were reverted, broke something or needed several fixes."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from holdfast.model.history import Commit
from holdfast.model.ids import days_between
from holdfast.model.record import Draft
from holdfast.model.text import counted, shorten
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

_TRAILER = re.compile(
    r"^(?:[\w-]+-by|change-id|closes?|fix(?:es|ed)?|refs?|see(?: also)?|cc|pr-url|issue|link|bug|related(?: to)?|\w+-session|backports?|ticket|part of|resolves?)\b"
    r"\s*[:#].*$|^\(cherry picked from .*$|^https?://\S+$|^-{3,}$|^#\d+$|^conflicts:?$(?:\n\s+\S+$)*|^(?:closes|refs|fixes|related:?) (?:https?://\S+|#\d+)[.,]?$",
    re.IGNORECASE | re.MULTILINE,
)
_CODE = re.compile(r"^```.*?^```\s*$", re.MULTILINE | re.DOTALL)
_BULLET = re.compile(r"^[*+] ", re.MULTILINE)
_NUMBERS = re.compile(
    r"\s*\(?(?:#\d+)\)?$|,?\s*(?:refs?|closes?|fix(?:es)?|see)\s+#?\d+(?:,? (?:and )?#\d+)*\.?$", re.IGNORECASE
)
_ROBOT = re.compile(r"\[bot\]|dependabot|renovate|github-actions", re.IGNORECASE)
_BUMP = re.compile(r"^(?:\w+(?:\([^)]*\))?:\s*)?(?:bump|release|version|merge)\b", re.IGNORECASE)
_FIX = re.compile(
    r"^(?:hot|bug)?fix(?:es|ed)?\b|^(?:\w+[\w/., -]*:\s*)fix(?:es|ed)?\b|\b(?:bug|crash|regression|hotfix)\b",
    re.IGNORECASE,
)
_TRIVIAL = re.compile(
    r"\b(?:typos?|changelog|docs?|documentation|layout|lint\w*|format\w*|typing|types|wording|links?|spelling|warnings?|ci|tests?|docstrings?|readme|pipelines?|travis|appveyor|examples?)\b",
    re.IGNORECASE,
)
_AGAIN = re.compile(
    r"\b(?:again|properly|follow-?up|regression|once more|for real|second attempt|more places|also fix)\b",
    re.IGNORECASE,
)
_ISSUE = re.compile(r"#\d+|\b[A-Z]{2,}-\d+\b")
_SHA = r"(?P<sha>(?=[0-9a-f]*\d)[0-9a-f]{7,40})\b"
_REVERT = re.compile(
    r"^revert(?:ed|s|ing)?\b:?\s*(?:commit\s*)?[\"“](?P<what>.*)[\"”](?P<after>[^\"”]*)$", re.IGNORECASE
)
_REVERTS = re.compile(rf"^this reverts commit {_SHA}\W*$", re.IGNORECASE | re.MULTILINE)
_REVERT_LINE = re.compile(r"^(?:revert\b.*|this reverts commit [0-9a-f]+\W*)$", re.IGNORECASE | re.MULTILINE)
# Reverts that say nothing: of a merge, of another revert, or of an attempt.
_NO_LESSON = re.compile(
    r"^(?:revert|reapply|merge|try|temporar|wip|debug|experiment|test\b|bump|release|update changelog)", re.IGNORECASE
)
_RELAND = re.compile(
    rf"\b(?:re-?land\w*|re-?appl\w+|re-?introduc\w+|restor\w+|bring\w* back|re-?add\w*)\b[^.]{{0,120}}?\b{_SHA}",
    re.IGNORECASE,
)
_RELANDED = re.compile(r"^(?:re-?land|re-?apply|re-?introduce|re-?add)\w*\b[:\s\"“]*(?P<what>[^\"”]+)", re.IGNORECASE)
# A commit that says it goes back, without the words of `git revert`.
_WENT_BACK = re.compile(
    r"^(?:undo|undid|back(?:ed)? out|roll(?:ed)? ?back|(?:go|went|switch(?:ed)?|move[ds]?|chang(?:e|ed)) back (?:to|from)|revert(?:ed)?(?: back)? to)\b|"
    r"^(?:make |put |use |allow )?\S.{3,80}\b(?:is|are) (?:now )?.{3,60}\bagain\b",
    re.IGNORECASE,
)
_BROKE = re.compile(
    rf"\b(?:i broke|broke|broken|introduced|regress\w*|caused|fallout|fix(?:es|ed|up)?)\b[^.\n]{{0,40}}?"
    rf"\b(?:in|by|from|with|of|since|for)\s+(?:the\s+)?(?:\w+\s+)?(?:(?:in|commit|by)\s+)*{_SHA}|^fixes:\s*(?P<trailer>[0-9a-f]{{7,40}})\b",
    re.IGNORECASE | re.MULTILINE,
)
_REPAIRS = re.compile(
    r"\b(?:fix\w*|broke\w*|bugs?|regress\w*|restor\w*|repair\w*|correct\w*|crash\w*|fail\w*|workaround)\b",
    re.IGNORECASE,
)
_BROKE_ISSUE = re.compile(
    r"\b(?:i broke|broken|introduced|regression)\b[^.\n#]{0,30}?\b(?:in|by|from)\s+(?P<issue>#\d+)\b", re.IGNORECASE
)
_REGRESSION = re.compile(r"\bregress(?:ion|ed|es)\b", re.IGNORECASE)
_SUMMARY = re.compile(r"\b(?:is|are) an? (?:\w+ )*release\b", re.IGNORECASE)
_DATE = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")
_CHOICE = re.compile(
    r"^(?:switch|move|migrate|replace|drop|adopt|use|prefer|standardi[sz]e|stop|choose|pin|require|forbid|go back|vendor|default to|disable|"
    r"deprecate|don['’]?t|do not|never|always|only|avoid|remove|convert|rewrite|limit|keep|ignore|set|upgrade|downgrade|bundle)\b",
    re.IGNORECASE,
)
_CAUSE = (
    r"because|(?<!ever )since (?!v?\d|version|python|then|last|the (?:last|first|release|beginning)|\w+ \d)|so that|due to|to avoid|avoids|"
    r"otherwise|the reason (?:is|was|for)|that is why|which is why|to prevent|this prevents"
)
_REASON = re.compile(rf"\b(?:{_CAUSE}|instead of|rather than|in favou?r of)\b", re.IGNORECASE)
_CAUSAL = re.compile(rf"\b(?:{_CAUSE})", re.IGNORECASE)
_DECIDED = re.compile(
    r"\b(?:we|i)(?:['’]ve| have)?\s+(?:now\s+)?(?:decided|chose|opted|settled|picked|agreed)\b|\bdecided (?:to|against|on)\b",
    re.IGNORECASE,
)
_REJECTED = re.compile(r"\b(?:instead of|rather than|in place of)\s+(?P<what>[^,.;:()\n]{3,80})", re.IGNORECASE)
_ASIDE = re.compile(
    r"(?:^|/)(?:tests?|__tests__|spec|docs?|fixtures|\.github|examples?)/|(?:^|/)(?:test_|conftest)[^/]*$|\.(?:md|rst|txt|svg|png)$|"
    r"(?:^|/)(?:\.travis|appveyor|codecov)[^/]*$|[._](?:test|spec)\.\w+$",
    re.IGNORECASE,
)
# Files that most commits touch do not show what keeps breaking.
_COMMON = re.compile(
    r"(?:^|/)(?:dist|build|vendor|node_modules|generated|gen)/|\.(?:min\.js|cjs|map)$|"
    r"(?:^|/)(?:tests?|__tests__|spec|docs?|fixtures)/|(?:^|/)(?:CHANGELOG|README|HISTORY|NEWS|VERSION)[^/]*$|"
    r"\.(?:md|rst|lock|snap|sum|svg|png)$|(?:^|/)(?:package(?:-lock)?\.json|pyproject\.toml|Cargo\.toml|go\.mod|__init__\.py)$|"
    r"(?:^|/)(?:test_[^/]*|[^/]*[._](?:test|spec)\.\w+)$",
    re.IGNORECASE,
)


def learnable(commits: Sequence[Commit], changelog: tuple[str, str] = ("", "")) -> list[Draft]:
    """Return drafts learned from commits, oldest first; `extra.commits` lists their commits, the first one is the key.

    `changelog` is the path and text of the file that lists the releases.
    """
    own = [commit for commit in commits if not (_ROBOT.search(commit.author) or _BUMP.match(commit.subject))]
    ordered = _folded(sorted(own, key=lambda commit: (commit.at, commit.hash)))
    by_hash = {commit.hash: commit for commit in commits}
    drafts = [*_reverts(ordered, by_hash), *_broken(ordered, by_hash), *_chains(ordered), *_choices(ordered)]
    drafts += _regressions(*changelog)
    return sorted(drafts, key=lambda draft: (draft.at, str(draft.extra["commits"])))


def needs_approval(draft: Draft) -> bool:
    """True if a draft starts pending: a decision read from a commit is a guess, and so is a revert that is not marked as one."""
    return draft.kind == "decision" or bool(draft.extra.get("unsure"))


def is_of_changelog(draft: Draft) -> bool:
    """True if a draft was read from the changelog instead of from commits."""
    return bool(draft.extra.get("changelog"))


def without_commit(body: str) -> str:
    """Return the text of a draft without the line that names its commit."""
    return body.rpartition("\n(commit ")[0] or body


def _folded(commits: Sequence[Commit]) -> list[Commit]:
    """Return the commits without cherry-picks: a patch on another branch keeps its author, author date and subject."""
    known: dict[tuple[str, str], list[str]] = {}
    kept = []
    for commit in commits:
        same = known.setdefault((commit.author, commit.at), [])
        if not any(overlap(subject, commit.subject) >= SAME_CHANGE for subject in same):
            kept.append(commit)
        same.append(commit.subject)
    return kept


def _reverts(commits: Sequence[Commit], by_hash: Mapping[str, Commit]) -> Iterator[Draft]:
    for commit in commits:
        quoted, reference = _REVERT.match(commit.subject), _reverted_by(commit, by_hash)
        if not quoted and not reference:
            if _WENT_BACK.search(commit.subject) and not _TRIVIAL.search(commit.subject):
                yield from _went_back(commit)
            continue
        reverted = _by_prefix(by_hash, reference) if reference else None
        what = _name(reverted.subject if reverted else quoted["what"] if quoted else "")
        if len(what.split()) < 2 or _NO_LESSON.match(what) or _is_relanded(what, commit, reverted, commits):
            continue
        why = _why_reverted(commit, quoted)
        if (_TRIVIAL.search(what) or _is_aside(commit)) and not why:
            continue
        original = _prose(reverted.body) if reverted else ""
        body = f"“{what}” was reverted. " + (f"Why: {why}" if why else "The commit does not say why.")
        body += f"\nOriginal purpose: {shorten(original, 500)}" if original else ""
        hashes = [sha for sha in (reverted.hash if reverted else reference, commit.hash) if sha]
        # The subtitle is part of the record's id (verbs/capture/learn): do not reword it.
        yield _scar(f"Reverted: {what}", body, hashes, [commit], "A change that had to be taken back")


def _reverted_by(commit: Commit, by_hash: Mapping[str, Commit] | None = None) -> str:
    """Return the commit that another one reverts: named in a line of its own, which is no item of a squashed list.

    Of several it is the one that changed most files besides tests and documents.
    """
    if _BULLET.search(commit.body) and not commit.subject.lower().startswith("revert"):
        return ""
    references = [match["sha"] for match in _REVERTS.finditer(commit.body)]
    known = {sha: _by_prefix(by_hash or {}, sha) for sha in references} if len(references) > 1 else {}
    weight = {sha: sum(not _ASIDE.search(path) for path in one.files) for sha, one in known.items() if one}
    return max(references, key=lambda sha: weight.get(sha, 0)) if references else ""


def _why_reverted(commit: Commit, quoted: "re.Match[str] | None") -> str:
    """Return the reason of a revert: from its body, else from its subject: “Revert "X", it failed CI”."""
    body = _prose(_REVERT_LINE.sub("", commit.body))
    after = _name(quoted["after"]).strip(" .,:;-–—()") if quoted else _name(commit.subject)
    said = re.sub(r"^(?:because|since|as|due to)\s+", "", after, flags=re.IGNORECASE)
    return " ".join(part for part in (f"{said}." if len(said.split()) > 1 else "", body) if part)


def _is_relanded(what: str, revert: Commit, reverted: Commit | None, commits: Sequence[Commit]) -> bool:
    """True if the reverted change came back: by its subject, by a revert of the revert, or by a commit that names it."""
    hashes = {revert.hash, reverted.hash if reverted else revert.hash}
    issues = set(_ISSUE.findall(reverted.subject if reverted else what))
    for commit in commits:
        if commit.at < revert.at or commit.hash in hashes:
            continue
        again, quoted = _RELANDED.match(commit.subject), _REVERT.match(commit.subject)
        if (sha := _reverted_by(commit)) and revert.hash.startswith(sha):
            return True
        if quoted and quoted["what"].lower().startswith("revert") and what.lower()[:40] in quoted["what"].lower():
            return True
        if any(_names(match["sha"], hashes) for match in _RELAND.finditer(f"{commit.subject}\n{commit.body}")):
            return True
        share = overlap(what, again["what"] if again else _name(commit.subject))
        is_same_issue = bool(issues & set(_ISSUE.findall(commit.subject)))
        if not quoted and (share >= SAME_CHANGE or (is_same_issue and share >= ALIKE)):
            return True
    return False


def _names(sha: str, hashes: set[str]) -> bool:
    return any(hash_.startswith(sha.lower()) for hash_ in hashes)


def _went_back(commit: Commit) -> Iterator[Draft]:
    """Yield a candidate for a commit that undoes something in its own words, if it gives a reason."""
    prose, what = _prose(commit.body), _name(subject_of(commit.subject)[0])
    if len(prose) < SHORTEST_REASON or _BULLET.search(commit.body):
        return
    body = f"{what}.\n\n{shorten(prose, 1_000)}"
    yield _scar(f"Changed back: {what}", body, [commit.hash], [commit], "A change that went back", unsure=True)


def _by_prefix(by_hash: Mapping[str, Commit], prefix: str) -> Commit | None:
    return by_hash.get(prefix) or next((commit for key, commit in by_hash.items() if key.startswith(prefix)), None)


def _broken(commits: Sequence[Commit], by_hash: Mapping[str, Commit]) -> Iterator[Draft]:
    """Yield changes that broke something, as the commit that fixed it says."""
    for index, commit in enumerate(commits):
        if _REVERT.match(commit.subject) or _BULLET.search(commit.body) or not _REPAIRS.search(commit.subject):
            continue
        said = f"{commit.subject}\n{commit.body}"
        match, issue = _BROKE.search(said), _BROKE_ISSUE.search(commit.subject)
        cause = _by_prefix(by_hash, (match["sha"] or match["trailer"]).lower()) if match else None
        if cause is None and issue:
            named = [one for one in commits[:index] if issue["issue"] in _ISSUE.findall(one.subject)]
            cause = named[0] if len(named) == 1 else None  # of several it may be any
        if cause is None or cause.hash == commit.hash or cause.at > commit.at:
            continue
        what, fix = _name(cause.subject), commit.subject.rstrip(".")
        prose = _prose(commit.body)
        body = f"“{what}” ({cause.hash[:8]}, {cause.at[:10]}) broke something. Fixed by “{fix}”."
        body += f" {shorten(prose, 1_000)}" if prose else ""
        yield _scar(
            f"“{shorten(what, 90)}” broke something: {fix}",
            body,
            [cause.hash, commit.hash],
            [commit],
            "A change that broke something",
        )


def _regressions(path: str, text: str) -> Iterator[Draft]:
    """Yield the regressions that a changelog names, each with its release."""
    for release in releases(text, markdown=not path.endswith(".rst")) if text else ():
        dated = _DATE.search(f"{release.path[0]} {release.text[:200]}")
        at = f"{dated[0]}T00:00:00.000Z" if dated else UNDATED
        for item in _items(release.text):
            if len(item) < SHORTEST_REASON or _SUMMARY.search(item):
                continue
            key = f"{path} {release.path[0]}: {shorten(item, 80)}"
            title = f"Regression fixed in {release.path[0]}: {item}"
            draft = _scar(
                title, f"{item}\n({path}, {release.path[0]})", [key], [], "A regression named in the changelog", [path]
            )
            yield replace(draft, at=at if dated else "", extra={**draft.extra, "began": at, "changelog": path})


def _items(text: str) -> Iterator[str]:
    """Yield the items of a release that name a regression, each in one line and after the item it stands below."""
    above: list[tuple[int, str]] = []
    for part in re.split(r"\n(?=\s*[*+-] +\S)|\n{2,}", text):
        depth = len(part) - len(part.lstrip())
        item = " ".join(part.lstrip("*+- \n").split())
        above = [*((other, name) for other, name in above if other < depth), (depth, item)]
        if _REGRESSION.search(item):
            yield ": ".join(name for _, name in above)


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
    """True if a fix continues another: same issue, similar words, or a word such as “again”. The same words are a backport."""
    if _name(before.subject).lower() == _name(after.subject).lower():
        return False
    if set(_ISSUE.findall(before.subject)) & set(_ISSUE.findall(after.subject)):
        return True
    first, second = (_FIX.sub(" ", subject_of(_name(commit.subject))[0]) for commit in (before, after))
    common = [word for word in words(first) & words(second) if len(word) > 3 and word not in ("when", "where", "with")]
    share = overlap(first, second)
    return (share >= ALIKE and len(common) > 1) or (bool(common) and bool(_AGAIN.search(after.subject)))


def _chain(run: Sequence[Commit], paths: Sequence[str]) -> Draft:
    days = counted(int(days_between(run[0].at, run[-1].at)) + 1, "day")
    title = f"{joined(paths, 2)} had to be fixed {len(run)} times within {days}: {subject_of(run[-1].subject)[0]}"
    lines = [f"- {fix.at[:10]} {fix.hash[:8]} {fix.subject}. {shorten(_prose(fix.body), 300)}".rstrip() for fix in run]
    if len(lines) > CHAIN_SHOWN:
        lines = [f"- … {len(lines) - CHAIN_SHOWN} before these", *lines[-CHAIN_SHOWN:]]
    body = "\n".join([f"{title}.", *lines])
    return _scar(title, body, [fix.hash for fix in run], run, "Fixes that did not last", paths, unsure=True)


def _scar(
    title: str,
    body: str,
    hashes: Sequence[str],
    commits: Sequence[Commit],
    subtitle: str,
    paths: Sequence[str] = (),
    *,
    unsure: bool = False,
) -> Draft:
    files = list(dict.fromkeys(paths or [path for commit in commits for path in commit.files]))
    source = [path for path in files if not _COMMON.search(path)] or files
    return Draft(
        kind="observation",
        title=shorten(title, 200),
        body=body + _made(commits[-1:]),
        fields={
            "type": "bugfix",
            "subtitle": subtitle,
            "concepts": ["gotcha", "problem-solution"],
            "files_modified": files[:30],
            "severity": "scar_candidate",
        },
        confidence="low",
        source="mined",
        anchors=tuple(source[:MOST_ANCHORS]),
        extra={
            "commits": list(hashes),
            **({"unsure": True} if unsure else {}),
            "began": commits[0].at if commits else UNDATED,
        },
        at=commits[-1].at if commits else "",
    )


def _made(commits: Sequence[Commit]) -> str:
    """Return when a record's last commit was made: a pending record is dated when it is stored."""
    return "".join(f"\n(commit {commit.hash[:8]}, {commit.at[:10]})" for commit in commits)


def _choices(commits: Sequence[Commit]) -> Iterator[Draft]:
    """Yield decisions: commits that chose something, give a reason, and were not reverted."""
    reverted = [sha for commit in commits if (sha := _reverted_by(commit))]
    for commit in commits:
        subject, _ = subject_of(commit.subject)
        if (
            _REVERT.match(commit.subject)
            or _TRIVIAL.search(subject)
            or _is_aside(commit)
            or _REVERTS.search(commit.body)
        ):
            continue
        if any(commit.hash.startswith(sha) for sha in reverted):
            continue
        prose = _prose(commit.body)
        explains = len(prose) >= SHORTEST_REASON and bool(_CAUSAL.search(prose) or _REASON.search(subject))
        is_decided = bool(_DECIDED.search(f"{subject}. {prose}"))
        if (_CHOICE.match(subject) or is_decided) and (explains or _CAUSAL.search(subject)):
            yield _decision(commit, _name(subject), prose)


def _is_aside(commit: Commit) -> bool:
    """True if a commit changes tests and documents only."""
    return bool(commit.files) and all(_ASIDE.search(path) for path in commit.files)


def _decision(commit: Commit, subject: str, prose: str) -> Draft:
    reasons = [sentence for sentence in sentences_of(prose) if _REASON.search(sentence)]
    rejected = [match["what"].strip() for match in _REJECTED.finditer(f"{subject}. {prose}")]
    fields = {
        "rationale": shorten(" ".join(reasons) or prose or subject, 2_000),
        "alternatives": list(dict.fromkeys(rejected))[:5],
    }
    return Draft(
        kind="decision",
        title=shorten(subject, 200),
        body=f"{subject}." + (f"\n\n{shorten(prose, 1_000)}" if prose else "") + _made([commit]),
        fields={name: value for name, value in fields.items() if value},
        confidence="low",
        source="mined",
        anchors=tuple(path for path in commit.files if not _COMMON.search(path))[:MOST_ANCHORS],
        extra={"commits": [commit.hash], "began": commit.at},
        at=commit.at,
    )


def _prose(body: str) -> str:
    """Return a commit's body without trailers, and without the list of commits that a squash leaves behind."""
    plain = _TRAILER.sub("", _CODE.sub("", body.replace("\r\n", "\n")))
    lines = plain.splitlines()
    if sum(bool(_BULLET.match(line)) for line in lines) * 2 >= sum(bool(line.strip()) for line in lines):
        plain = "\n".join(line for line in lines if not _BULLET.match(line))
    return " ".join(plain.split())


def _name(subject: str) -> str:
    """Return a subject without the numbers of issues at its end."""
    before, subject = "", subject.strip()
    while before != subject:
        before, subject = subject, _NUMBERS.sub("", subject).rstrip(" ,-")
    return subject.rstrip(".")

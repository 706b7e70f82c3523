"""What an observer answered, read leniently: tags wherever they stand, fences and talk around them passed over. Pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from holdfast.model.kinds import KINDS
from holdfast.model.observer import Mode
from holdfast.model.record import Draft
from holdfast.model.text import shorten
from holdfast.model.trail import Happening
from holdfast.policy.activity.digest import digest
from holdfast.policy.activity.work import Turn

MOST, MOST_ITEMS = 20, 20
LONGEST, LONGEST_TITLE = 200_000, 200
_OBSERVATION = re.compile(
    r"<observation\b(?P<about>[^<>]{0,200})>(?P<body>.*?)(?:</observation\s*>|(?=<observation\b)|(?=<summary\b)|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_SUMMARY = re.compile(
    r"<summary\b[^<>]{0,200}>(?P<body>.*?)(?:</summary\s*>|(?=<observation\b)|\Z)", re.DOTALL | re.IGNORECASE
)
_SKIP = re.compile(r"<skip\w{0,20}\b[^<>]{0,200}>", re.IGNORECASE)
_TURN = re.compile(r"\bturn\s*=\s*[\"']?(\d{1,4})")
_TAG = re.compile(r"</?[a-z_]{1,30}\b[^<>]{0,200}>", re.IGNORECASE)
_CDATA = ("<![CDATA[", "]]>")
_BULLET = re.compile(r"^\s*[-*•]\s+")
_ENTITIES = (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&apos;", "'"), ("&#39;", "'"), ("&amp;", "&"))
_SUMMARY_FIELDS = ("request", "investigated", "learned", "completed", "next_steps", "notes")


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One observation as it was answered. `turn` counts from 1; 0 where it is not said."""

    type: str
    title: str
    subtitle: str = ""
    narrative: str = ""
    facts: list[str] = field(default_factory=list)
    concepts: list[str] = field(default_factory=list)
    files_read: list[str] = field(default_factory=list)
    files_modified: list[str] = field(default_factory=list)
    turn: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What was answered: observations, maybe none, and a summary where one was given."""

    observations: tuple[Seen, ...] = ()
    summary: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Malformed:
    """There was an answer, but nothing in it that could be read."""

    said: str


def read_reply(text: str, mode: Mode) -> Told | Malformed:
    """Read an answer. Nothing, or a word that there is nothing, is no observation; talk without any is malformed."""
    text = text[:LONGEST].replace("\0", "")
    found = [seen for match in _OBSERVATION.finditer(text) if (seen := _seen(match["body"], match["about"], mode))]
    summary = _summary(text)
    if not found and not summary and text.strip() and not _OBSERVATION.search(text) and not _SKIP.search(text):
        return Malformed(said=shorten(text, 200))
    return Told(observations=tuple(found[:MOST]), summary=summary)


def drafts_of(told: Told, turns: Sequence[Turn], by: str) -> list[Draft]:
    """Give the drafts of what an observer answered about some turns; files are those that were really touched."""
    counts = dict[str, int]()
    drafts = []
    for seen in told.observations if turns else ():
        turn = turns[seen.turn - 1] if 0 < seen.turn <= len(turns) else turns[-1]
        counts[turn.id] = counts.get(turn.id, 0) + 1
        drafts.append(_draft(seen, turn, counts[turn.id], by))
    return drafts


def summary_draft(told: Told, happenings: Sequence[Happening], by: str) -> Draft | None:
    """Give the draft of the summary that was answered, if there is one."""
    if not told.summary:
        return None
    first, last = happenings[0], happenings[-1]
    title = told.summary.get("request") or told.summary.get("completed") or next(iter(told.summary.values()))
    return Draft(
        kind="summary",
        title=shorten(title, LONGEST_TITLE),
        body=told.summary.get("completed") or title,
        fields=dict(told.summary),
        source="observed",
        extra={
            "trail": f"summary {first.session}",
            "session": first.session,
            "client": first.client,
            "until": last.id,
            "observer": by,
        },
        at=last.at,
    )


def _seen(body: str, about: str, mode: Mode) -> Seen | None:
    kind = _one(body, "type").lower() or mode.types[0].id
    concepts = [one.partition(":")[0].strip() for one in _several(body, "concepts", "concept")]
    seen = Seen(
        type=shorten(kind, 100),
        title=_one(body, "title"),
        subtitle=_one(body, "subtitle"),
        narrative=_one(body, "narrative"),
        facts=_several(body, "facts", "fact"),
        concepts=[one for one in dict.fromkeys(concepts) if one and one != kind and len(one) <= 100],
        files_read=_several(body, "files_read", "file"),
        files_modified=_several(body, "files_modified", "file"),
        turn=int(number[1]) if (number := _TURN.search(about)) else 0,
    )
    return seen if seen.title or seen.narrative or seen.facts or seen.subtitle else None


def _summary(text: str) -> dict[str, str]:
    match = _SUMMARY.search(text)
    if not match:
        return {}
    longest = {spec.name: spec.longest for spec in KINDS["summary"].fields}
    given = {name: shorten(_one(match["body"], name), longest[name]) for name in _SUMMARY_FIELDS}
    return {name: value for name, value in given.items() if value}


def _one(body: str, name: str) -> str:
    """Give the text of a tag, closed or not."""
    match = re.search(rf"<{name}\b[^<>/]{{0,200}}>(.*?)(?:</{name}\s*>|(?=<(?:type|title|subtitle|facts|narrative|concepts|files_read|files_modified|request|investigated|learned|completed|next_steps|notes)\b)|\Z)", body, re.DOTALL | re.IGNORECASE)  # fmt: skip
    return _clean(match[1]) if match else ""


def _several(body: str, name: str, item: str) -> list[str]:
    """Give the items of a list: tags, or lines where somebody wrote lines."""
    match = re.search(rf"<{name}\b[^<>/]{{0,200}}>(.*?)(?:</{name}\s*>|\Z)", body, re.DOTALL | re.IGNORECASE)
    if not match:
        return []
    tagged = re.findall(
        rf"<{item}\b[^<>/]{{0,200}}>(.*?)(?:</{item}\s*>|(?=<{item}\b)|\Z)", match[1], re.DOTALL | re.IGNORECASE
    )
    lines = tagged or [_BULLET.sub("", line) for line in match[1].splitlines()]
    return [one for line in lines if (one := _clean(line))][:MOST_ITEMS]


def _clean(text: str) -> str:
    for sign in _CDATA:
        text = text.replace(sign, "")
    text = _TAG.sub(" ", text)
    for entity, sign in _ENTITIES:
        text = text.replace(entity, sign)
    return " ".join(text.split())


def _draft(seen: Seen, turn: Turn, nth: int, by: str) -> Draft:
    work = digest(turn)
    title = shorten(seen.title or seen.subtitle or seen.narrative or seen.facts[0], LONGEST_TITLE)
    fields = {
        "type": seen.type,
        "subtitle": shorten(seen.subtitle, 1_000),
        "facts": [shorten(fact, 2_000) for fact in seen.facts],
        "concepts": seen.concepts,
        "files_read": _real(seen.files_read, work.read),
        "files_modified": _real(seen.files_modified, work.modified),
        "discovery_tokens": turn.tokens,
    }
    extra = {"trail": turn.id, "session": turn.session, "client": turn.client, "agent": turn.agent}
    extra |= {"observer": by, "nth": str(nth)}
    return Draft(
        kind="observation",
        title=title,
        body=shorten(seen.narrative, 20_000) or seen.subtitle or "; ".join(seen.facts) or title,
        fields={name: value for name, value in fields.items() if value},
        source="observed",
        anchors=tuple(_real(seen.files_modified, work.modified)[:5]),
        extra={name: value for name, value in extra.items() if value},
        at=turn.ended,
    )


def _real(claimed: Sequence[str], touched: Sequence[str]) -> list[str]:
    """Give the claimed files that were really touched, else all that were."""
    wanted = {one.removeprefix("./") for one in claimed}
    known = [path for path in touched if path in wanted or any(path.endswith(f"/{one}") for one in wanted if one)]
    return (known or list(touched))[:30]

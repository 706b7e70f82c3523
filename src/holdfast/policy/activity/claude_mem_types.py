"""Present records of any kind as claude-mem observations: type, concepts, files and reading cost."""

import re
from collections.abc import Mapping

from holdfast.model.kinds import KINDS, SEPARATE, name_in
from holdfast.model.patterns import tables
from holdfast.model.record import Record
from holdfast.model.text import listed, text_or_empty, texts_of

SYSTEM = "claude-mem"
# Each type with its symbol in lists.
_TYPES = "bugfix feature refactor change discovery decision security_alert security_note sensitive".split()
TYPES: Mapping[str, str] = dict(zip(_TYPES, "●◆↻✓○⚖⚠⚷⊘", strict=True))
SESSION = "summary"
# Records about a whole session, or about work to do, are not observations.
OBSERVED = tuple(name for name in KINDS if name not in (SESSION, "retrospective", "thread", *SEPARATE))
_CONCEPTS = {kind: tuple(row.split()) for kind, row in tables(__file__)["concepts"]}
_SHOWN_ELSEWHERE = "type subtitle facts narrative concepts files_read files_modified documents discovery_tokens".split()
_PLACE = re.compile(r"[#:@].*$")


def type_of(record: Record) -> str:
    """Return the observation type: the record's own, else the one its kind maps to."""
    default = "discovery" if record.kind == "observation" else "change"
    own = text_or_empty(record.fields.get("type"))
    return next(name for name in (own, name_in(SYSTEM, record.kind), default) if name in TYPES)


def concepts_of(record: Record) -> list[str]:
    """Return the record's concepts: its own, its tags, and those of its kind."""
    own = texts_of(record.fields.get("concepts"))
    return list(dict.fromkeys((*own, *record.tags, *_CONCEPTS.get(record.kind, ()))))


def files_read(record: Record) -> list[str]:
    """Return the files that were read, including the anchors."""
    anchored = (_PLACE.sub("", anchor) for anchor in record.anchors)
    return list(dict.fromkeys((*texts_of(record.fields.get("files_read")), *anchored)))


def files_modified(record: Record) -> list[str]:
    """Return the files that were changed."""
    listed = (texts_of(record.fields.get(name)) for name in ("files_modified", "documents"))
    return list(dict.fromkeys(path for paths in listed for path in paths))


def touches(record: Record, path: str) -> bool:
    """True if a record is about a file or folder."""
    wanted = path.strip().strip("/")
    return not wanted or any(f"/{wanted}" in f"/{file}" for file in (*files_read(record), *files_modified(record)))


def facts_of(record: Record) -> list[str]:
    """Return the record's facts; for other kinds, their own fields as “name: value”."""
    own = {name: value for name, value in record.fields.items() if name not in _SHOWN_ELSEWHERE}
    others = (f"{name.replace('_', ' ')}: {listed(value)}" for name, value in own.items())
    return [*texts_of(record.fields.get("facts")), *others]

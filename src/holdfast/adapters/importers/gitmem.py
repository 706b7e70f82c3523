"""A `.gitmem` folder: learnings, decisions and threads both ways; suggestions, sessions and scar usage are imported."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from holdfast.adapters.importers import maps
from holdfast.adapters.importers.files import Entry, entries, one_object
from holdfast.adapters.importers.maps import Row, digest, first, first_time, mapping, rest, rows, text, texts, when
from holdfast.model.errors import Invalid
from holdfast.model.event import Actor
from holdfast.model.files import write_whole
from holdfast.model.foreign import Exported, Foreign, ForeignEvent, ForeignLink, ForeignSession, Item, Remark
from holdfast.model.ids import short
from holdfast.model.kinds import KINDS
from holdfast.model.record import Draft, Record

_MEMORIES = ("learnings", "decisions", "sessions", "threads", "suggested-threads", "scar_usage", "scar-usage")
# Settings, locks and templates, which contain no memories.
_SETTINGS = frozenset(
    "active-sessions config telemetry license-cache docs-index closing-payload closing-payload-template".split()
)
_LEARNINGS = ("scar", "win", "pattern", "anti_pattern")
_CHECK = {"verify_when": "when", "verify_with": "queries", "must_show": "must_show", "blocking": "blocking"}
LEARNINGS, DECISIONS, THREADS, SUGGESTIONS, OBSERVATIONS = (
    maps.map_of(f"gitmem {table}") for table in "learnings decisions threads suggestions observations".split()
)
STATES = replace(THREADS, kind="progress", fields={})
STATE, STATE_TAG = "PROJECT STATE:", "project-state"
_USES = maps.words("gitmem uses")
_ANSWERS = {"confirmations": "decision", "reflections": "outcome"}  # answers about scars, and the field of the answer
_QUESTIONS = maps.words("gitmem questions")
_SESSION = frozenset(
    "id agent project session_title linear_issue closing_reflection close_compliance embedding open_threads".split()
)
_RUNNING = frozenset(
    "session_id id started_at agent project threads observations surfaced_scars confirmations reflections display".split()
)
_UNTITLED = ("", "Interactive Session")


def read(path: Path) -> Iterator[Item]:
    """Yield everything in a folder; `path` is the folder or its project."""
    folder = path / ".gitmem" if (path / ".gitmem").is_dir() else path
    if not any((folder / f"{name}.json").is_file() for name in (*_MEMORIES, "cache/hook-scars")):
        raise Invalid(f"{folder} is not a .gitmem folder.", hint="Pass the folder that contains learnings.json.")
    own = text(mapping(one_object(folder / "config.json")).get("project"))
    yield from _Folder(path=folder, own_names=frozenset({"", "default", own})).items()


@dataclass(slots=True, kw_only=True)
class _Folder:
    """A folder that is read: names that its records use for its own project, threads seen so far, and what was left out."""

    path: Path
    own_names: frozenset[str]
    threads: set[str] = field(default_factory=set)
    notes: dict[str, Remark] = field(default_factory=dict)

    def items(self) -> Iterator[Item]:
        # If a server stores the learnings, the copy for hooks is the only local one.
        name = "learnings" if (self.path / "learnings.json").is_file() else "cache/hook-scars"
        yield from (self._learning(row, where) for where, row in self._entries(name))
        yield from (self._decision(row, where) for where, row in self._entries("decisions"))
        for where, row in self._entries("threads"):
            yield from self._thread(row, where)
        for where, row in self._entries("suggested-threads"):
            yield from _suggestion(row, where)
        for entry in entries(self.path / "sessions.json"):
            yield from [entry] if isinstance(entry, Remark) else self._session(entry[1], entry[0])
        for path in sorted((self.path / "sessions").glob("*/session.json")):
            yield from self._parsed(path, self._running)
        payload = "closing-payload.json"
        for path in (self.path / payload, *sorted((self.path / "sessions").glob(f"*/{payload}"))):
            yield from self._parsed(path, self._payload)
        for name in ("scar_usage", "scar-usage"):
            for where, row in self._entries(name):
                yield from _usage(row, where)
        yield from self.notes.values()
        yield from self._left_out()

    def _left_out(self) -> Iterator[Remark]:
        for path in sorted(self.path.iterdir()):
            if path.is_file() and path.suffix == ".json" and path.stem not in (*_MEMORIES, *_SETTINGS):
                yield Remark(where=path.name, why="it is left out: not a known memory file")
            elif path.is_dir() and path.name == "feedback":
                yield Remark(where=path.name, why="it is left out: feedback about GitMem, not about the project")

    def _entries(self, name: str) -> Iterator[Entry]:
        """Yield the readable entries of a file; note unreadable ones and vectors."""
        path = self.path / f"{name}.json"
        for entry in entries(path):
            if isinstance(entry, Remark):
                self.notes[entry.where] = entry
                continue
            if entry[1].get("embedding"):
                why = "its vectors are left out: they are computed again on import"
                self.notes[path.name] = Remark(where=path.name, why=why)
            yield entry

    def _parsed(self, path: Path, read: Any) -> Iterator[Item]:
        row, where = one_object(path), str(path.relative_to(self.path))
        if isinstance(row, Remark):
            yield Remark(where=where, why=row.why)
        elif row:
            yield from read(row, where, "" if path.parent == self.path else path.parent.name)

    def _project(self, row: Row) -> str | None:
        """Return the project a record names; None if it is the folder's own."""
        name = text(row.get("project"))
        return None if name in self.own_names else name

    def _learning(self, row: Row, where: str) -> Foreign:
        """Return a scar, win, pattern or anti-pattern; an archived one is retired."""
        kind, check = first(row, "learning_type", "type"), row.get("required_verification")
        archived, related, faded = row.get("is_active") is False, text(row.get("related_scar_id")), "decay_multiplier"
        used, fields = {"learning_type", "type"} if kind in (*_LEARNINGS, "") else set(), {}
        if isinstance(check, dict) and not rest(check, _CHECK.values()):
            fields = {name: check.get(theirs) for name, theirs in _CHECK.items()}
            fields["verify_with"] = list(texts(check.get("queries")))
            used.add("required_verification")
        return LEARNINGS.memory(
            row,
            where,
            used=used,
            kind=kind if kind in _LEARNINGS else "learning",
            fields=fields,
            project=self._project(row),
            at=first_time(row, "created_at", "source_date"),
            state="retired" if archived else "active",
            reason="archived" if archived else "",
            links=(ForeignLink(relation="relates_to", key=f"learning:{related}"),) if related else (),
            counts={} if row.get(faded) in (None, 1, 1.0) else {faded: row[faded]},
            dated=bool(when(row.get("created_at"))),
        )

    def _decision(self, row: Row, where: str, **known: Any) -> Foreign:
        at = first_time(row, "created_at", "decision_date")
        return DECISIONS.memory(row, where, **{"project": self._project(row), "at": at, **known})

    def _thread(self, row: Row, where: str, *, again: bool = True) -> Iterator[Item]:
        """Yield a thread with its status and last activity; the state of the project becomes a progress record.

        Sessions repeat threads: with `again` unset, one that was yielded before is left out.
        """
        body, status = first(row, *THREADS.body), text(row.get("status"))
        is_state = body.startswith(STATE)
        body = body.removeprefix(STATE).strip()
        key = f"thread:{row.get('id') or digest(body)}"
        at, touched = when(row.get("created_at")), when(row.get("last_touched_at"))
        if again or key not in self.threads:
            yield (STATES if is_state else THREADS).memory(
                row,
                where,
                key=key,
                body=body,
                tags=(STATE_TAG,) if is_state else (),
                project=self._project(row),
                state="retired" if status in ("resolved", "archived") else "active",
                reason=first(row, "resolution_note", "status"),
            )
        self.threads.add(key)
        if touched > at:
            yield ForeignEvent(key=f"{key}:{touched}", verb="touched", of=(key,), at=touched, where=where)

    def _open_threads(self, threads: Any, where: str) -> Iterator[Item]:
        for entry in threads if isinstance(threads, list) else ():
            row = entry if isinstance(entry, dict) else {"text": text(entry)}
            yield from self._thread(row, f"{where} open_threads", again=False)

    def _session(self, row: Row, where: str) -> Iterator[Item]:
        """Yield a stored session, after the records it left."""
        session, title = text(row.get("id")), text(row.get("session_title"))
        at = first_time(row, "created_at", "session_date")
        by = Actor(kind="agent", name=text(row.get("agent")), session=session)
        project, decided, rapport = self._project(row), texts(row.get("decisions")), text(row.get("rapport_summary"))
        yield from self._open_threads(row.get("open_threads"), where)
        left = {"retrospective": _reflection(row.get("closing_reflection"), session, title)}
        if title not in _UNTITLED or decided or rapport:
            lines = [title or "Session", *(f"Decided: {made}" for made in decided)]
            body = "\n".join([*lines, f"Rapport: {rapport}"] if rapport else lines)
            left["summary"] = (f"summary:{session}", {"kind": "summary", "title": title, "body": body})
        for key, parts in filter(None, left.values()):
            draft = Draft(**parts, project=project, at=at)
            yield Foreign(key=key, draft=draft, where=where, by=by, dated=bool(at))
        compliance = row.get("close_compliance")
        stored = rest(compliance, ()) if isinstance(compliance, dict) else {}
        # A session that was not closed counts as closed here.
        kind = text(stored.get("close_type")) or ("standard" if row.get("closing_reflection") else "left open")
        answered = when(mapping(row.get("task_completion")).get("human_response_at"))
        yield ForeignSession(
            id=session,
            at=at,
            project=project,
            by=by,
            title=title,
            issue=text(row.get("linear_issue")),
            closed_at=answered or first_time(row, "closed_at", "updated_at") or at,
            close={"type": kind, "title": title, "compliance": stored},
            left={what: memory[0] for what, memory in left.items() if memory},
            extra=rest(row, _SESSION, ("created_at", "session_date")),
            where=where,
        )

    def _running(self, row: Row, where: str, name: str) -> Iterator[Item]:
        """Yield an open session: what was surfaced, answered, observed and left open in it."""
        session = first(row, "session_id", "id") or name
        at, by = when(row.get("started_at")), Actor(kind="agent", name=text(row.get("agent")), session=session)
        project = self._project(row)
        yield from self._open_threads(row.get("threads"), where)
        for seen in rows(row.get("observations")):
            key = f"observation:{session}:{digest(text(seen.get('text')))}"
            yield OBSERVATIONS.memory(seen, where, key=key, project=project, by=by)
        for scar in rows(row.get("surfaced_scars")):
            of, surfaced_at = f"learning:{scar.get('scar_id')}", when(scar.get("surfaced_at"))
            data: dict[str, Any] = {"imported": rest(scar, {"scar_id", "surfaced_at", "title", "severity"})}
            key = f"{session}:{of}:{surfaced_at}"
            yield ForeignEvent(key=key, verb="surfaced", of=(of,), at=surfaced_at, by=by, data=data, where=where)
        for sort, column in _ANSWERS.items():
            outcomes = maps.words(f"gitmem {sort}")
            for answer in rows(row.get(sort)):
                of, answered = f"learning:{answer.get('scar_id')}", text(answer.get(column))
                data = {"outcome": outcomes.get(answered, answered), "evidence": text(answer.get("evidence"))}
                data |= {"imported": rest(answer, {"scar_id", "evidence"})}
                then = when(first(answer, "confirmed_at", "reflected_at", "created_at")) or at
                key = f"{session}:{sort}:{of}:{answered}"
                yield ForeignEvent(key=key, verb="used", of=(of,), at=then, by=by, data=data, where=where)
        close, extra = {"type": "left open"}, rest(row, _RUNNING)
        yield ForeignSession(
            id=session, at=at, project=project, by=by, extra=extra, where=where, closed_at=at, close=close
        )

    def _payload(self, row: Row, where: str, own: str) -> Iterator[Item]:
        """Yield what was prepared for a close that never happened."""
        session = first(row, "session_id", "gitmem_session_id") or own
        name = session or f"payload:{digest(text(dict(row)))}"
        by = Actor(kind="agent", session=session)
        reflection, corrections = row.get("closing_reflection"), text(row.get("human_corrections"))
        if isinstance(reflection, dict) and corrections:
            reflection = {**reflection, "human_corrections": corrections}
        if memory := _reflection(reflection, name, ""):
            yield Foreign(key=memory[0], draft=Draft(**memory[1]), where=where, by=by, dated=False)
        for made in rows(row.get("decisions")):
            yield self._decision(made, where, by=by, at="")
        yield from self._open_threads(row.get("open_threads"), where)
        if state := text(row.get("project_state")):
            thread = {"text": f"{STATE} {state.removeprefix(STATE).strip()}"}
            yield from self._thread(thread, where, again=False)
        for place, scar in enumerate(rows(row.get("scars_to_record"))):
            key, of = f"{name}:{place}", (f"learning:{scar.get('scar_id') or scar.get('scar_identifier')}",)
            outcome, at = _USES.get(text(scar.get("reference_type")), "acknowledged"), when(scar.get("created_at"))
            data = {"outcome": outcome, "imported": rest(scar, ())}
            yield ForeignEvent(key=key, verb="used", of=of, at=at, by=by, data=data, where=where)


def _reflection(answers: Any, session: str, title: str) -> tuple[str, dict[str, Any]] | None:
    """Return the key and parts of a retrospective: the answers to the closing questions."""
    about = f"Looking back at {title if title not in _UNTITLED else short(session) or 'a session'}"
    parts: dict[str, Any] = {"kind": "retrospective", "title": about, "body": about}
    if isinstance(answers, str) and answers.strip():
        return f"reflection:{session}", {**parts, "body": answers}
    fields = {
        _QUESTIONS.get(name, name): ". ".join(texts(answer)) if isinstance(answer, list) else answer
        for name, answer in rest(mapping(answers), ()).items()
    }
    return (f"reflection:{session}", {**parts, "fields": fields}) if any(fields.values()) else None


def _suggestion(row: Row, where: str) -> Iterator[Item]:
    """Yield a suggested thread and an event for each time it was dismissed."""
    promoted, dismissals = text(row.get("promoted_thread_id")), row.get("dismissed_count")
    memory = SUGGESTIONS.memory(
        row,
        where,
        key=f"suggestion:{row.get('id')}",
        extra={"evidence": list(texts(row.get("evidence_sessions"))), "score": row.get("similarity_score")},
        state="retired" if text(row.get("status")) == "promoted" else "pending",
        reason="it became a thread" if promoted else "",
        links=(ForeignLink(relation="relates_to", key=f"thread:{promoted}"),) if promoted else (),
    )
    yield memory
    key, last, data = memory.key, memory.updated_at or memory.draft.at, {"outcome": "dismissed"}
    for nth in range(dismissals if isinstance(dismissals, int) else 0):
        yield ForeignEvent(key=f"{key}:{nth}", verb="used", of=(key,), at=last, data=data, where=where)


def _usage(row: Row, where: str) -> Iterator[Item]:
    """Yield the events of a scar: that it was surfaced, the response, and whether the work succeeded."""
    key, of = f"usage:{row.get('id') or digest(where)}", (f"learning:{row.get('scar_id')}",)
    by = Actor(kind="agent", name=text(row.get("agent")), session=text(row.get("session_id")))
    at, surfaced_at = first_time(row, "acknowledged_at", "created_at", "surfaced_at"), when(row.get("surfaced_at"))
    if surfaced_at:
        yield ForeignEvent(key=key, verb="surfaced", of=of, at=surfaced_at, by=by, where=where)
    kind = text(row.get("reference_type")) or ("implicit" if row.get("referenced") else "none")
    data: dict[str, Any] = {"outcome": _USES.get(kind, kind), "note": text(row.get("reference_context"))}
    data |= {"imported": rest(row, {"scar_id", "session_id", "agent", "surfaced_at", "reference_context"})}
    if variant := text(row.get("variant_id")):
        data["variant"] = variant
    yield ForeignEvent(key=key, verb="used", of=of, at=at, by=by, data=data, where=where)
    worked = row.get("execution_successful")
    if isinstance(worked, bool) and kind != "none":
        outcome = {"outcome": "succeeded" if worked else "failed"}
        yield ForeignEvent(key=f"{key}:outcome", verb="used", of=of, at=at, by=by, data=outcome, where=where)


def write(records: Iterable[Record], folder: Path) -> Exported:
    """Write records into a folder that GitMem reads, without those that belong to sessions.

    Entries of the folder that are about other memories stay.
    """
    files: dict[str, dict[str, Row]] = {"learnings": {}, "decisions": {}, "threads": {}, "suggested-threads": {}}
    left = 0
    for record in records:
        is_state = record.kind == "progress" and STATE_TAG in record.tags
        name = KINDS[record.kind].names.get("gitmem", "") if record.kind in KINDS else ""
        imported = mapping(record.extra.get("imported"))
        project = imported.get("project") or record.project
        if text(imported.get("id")).startswith(SUGGESTIONS.key):
            row, place, project = SUGGESTIONS.row(record), files["suggested-threads"], ""
            row |= {"evidence_sessions": row.pop("evidence", []), "similarity_score": row.pop("score", None)}
        elif record.kind == "thread" or is_state:
            row = THREADS.row(record) | {"status": "resolved" if record.state == "retired" else "open"}
            row |= {"text": f"{STATE} {record.body}"} if is_state else {}
            place = files["threads"]
        elif record.kind == "decision":
            row, place = DECISIONS.row(record), files["decisions"]
        elif name in (*_LEARNINGS, "", "rapport"):
            row = LEARNINGS.row(record) | {"learning_type": name if name in _LEARNINGS else "pattern"}
            row |= {"is_active": record.state != "retired"}
            check = {theirs: record.fields[ours] for ours, theirs in _CHECK.items() if ours in record.fields}
            row |= {"required_verification": check} if check else {}
            place = files["learnings"]
        else:
            left += 1
            continue
        place[row["id"]] = {**row, **({"project": project} if project else {})}
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name, rows_ in files.items():
            path = folder / f"{name}.json"
            there = list(entries(path))
            if damage := [entry for entry in there if isinstance(entry, Remark)]:
                raise Invalid(f"{path} is damaged: {damage[0].why}.", hint="Repair it, or choose another folder.")
            known = {text(entry[1].get("id")) or entry[0]: entry[1] for entry in there if not isinstance(entry, Remark)}
            write_whole(path, json.dumps(list((known | rows_).values()), ensure_ascii=False, indent=2) + "\n")
    except OSError as problem:
        raise Invalid(f"{folder} cannot be written ({problem.strerror}).", hint="Choose another folder.") from problem
    return Exported(written=sum(map(len, files.values())), left_out=left)

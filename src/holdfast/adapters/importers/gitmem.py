"""A `.gitmem` folder: learnings, decisions and threads both ways; suggestions, sessions and scar usage are imported."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from holdfast.adapters.importers import maps
from holdfast.adapters.importers.files import entries, one_object, read_text
from holdfast.adapters.importers.maps import Row, digest, first, first_time, mapping, rest, rows, text, texts, when
from holdfast.model.errors import Invalid
from holdfast.model.event import Actor
from holdfast.model.files import write_whole
from holdfast.model.ids import short
from holdfast.model.kinds import name_in
from holdfast.model.record import Draft, Record
from holdfast.model.replica import Exported, Foreign, ForeignEvent, ForeignLink, ForeignSession, Item, Remark
from holdfast.model.text import filled

_MEMORIES, _SETTINGS = maps.lists("gitmem files")
_LEARNINGS = ("scar", "win", "pattern", "anti_pattern")
_CHECK = {"verify_when": "when", "verify_with": "queries", "must_show": "must_show", "blocking": "blocking"}
LEARNINGS, DECISIONS, THREADS = (maps.map_of(f"gitmem {table}") for table in ("learnings", "decisions", "threads"))
SUGGESTIONS, OBSERVATIONS = maps.map_of("gitmem suggestions"), maps.map_of("gitmem observations")
STATES = replace(THREADS, kind="progress", fields={})
STATE, STATE_TAG = "PROJECT STATE:", "project-state"
_USES = maps.words("gitmem uses")
_ANSWERS = {"confirmations": "decision", "reflections": "outcome"}  # answers about scars, and the field of the answer
_QUESTIONS = maps.words("gitmem questions")
_SESSION, _RUNNING = maps.lists("gitmem used of sessions")
_UNTITLED = ("", "Interactive Session")


def read(path: Path) -> Iterator[Item]:
    """Yield everything in a folder; `path` is the folder or its project."""
    folder = path / ".gitmem" if (path / ".gitmem").is_dir() else path
    if not any((folder / f"{name}.json").is_file() for name in (*_MEMORIES, "cache/hook-scars")):
        raise Invalid(f"{folder} is not a .gitmem folder.", hint="Pass the folder that contains learnings.json.")
    config = folder / "config.json"
    settings = mapping(maps.parsed(read_text(config)) if config.is_file() else None)
    yield from _Folder(path=folder, own_names=frozenset({"", "default", text(settings.get("project"))})).items()


@dataclass(slots=True, kw_only=True)
class _Folder:
    """A folder that is read: names that its records use for its own project, threads seen so far, and what was left out."""

    path: Path
    own_names: frozenset[str]
    threads: set[str] = field(default_factory=set)
    notes: dict[str, Remark] = field(default_factory=dict)

    def items(self) -> Iterator[Item]:
        # If a server stores the learnings, the copy for hooks is the only local one.
        has_learnings = (self.path / "learnings.json").is_file()
        yield from self._rows("learnings" if has_learnings else "cache/hook-scars", self._learning)
        yield from self._rows("decisions", self._decision)
        yield from self._rows("threads", self._thread)
        yield from self._rows("suggested-threads", _suggestion)
        yield from self._rows("sessions", self._session)
        for path in sorted((self.path / "sessions").glob("*/session.json")):
            yield from self._one(path, self._running)
        for path in (self.path / "closing-payload.json", *sorted(self.path.glob("sessions/*/closing-payload.json"))):
            yield from self._one(path, self._payload)
        yield from self._rows("scar_usage", _usage)
        yield from self._rows("scar-usage", _usage)
        yield from self.notes.values()
        for path in sorted(self.path.iterdir()):
            if path.is_file() and path.suffix == ".json" and path.stem not in (*_MEMORIES, *_SETTINGS):
                yield Remark(path.name, "it is left out: not a known memory file")
            elif path.is_dir() and path.name == "feedback":
                yield Remark(path.name, "it is left out: feedback about GitMem, not about the project")

    def _rows(self, name: str, read: Callable[[Row, str], Iterator[Item]]) -> Iterator[Item]:
        """Yield what the entries of a file are; note unreadable ones and vectors."""
        path = self.path / f"{name}.json"
        for entry in entries(path):
            if isinstance(entry, Remark):
                self.notes[entry.where] = entry
                continue
            where, row = entry
            if row.get("embedding"):
                self.notes[path.name] = Remark(path.name, "its vectors are left out: they are computed again on import")
            yield from read(row, where)

    def _one(self, path: Path, read: Callable[[Row, str, str], Iterator[Item]]) -> Iterator[Item]:
        entry = one_object(str(path.relative_to(self.path)), read_text(path)) if path.is_file() else None
        if isinstance(entry, Remark):
            yield entry
        elif entry and entry[1]:
            yield from read(entry[1], entry[0], "" if path.parent == self.path else path.parent.name)

    def _project(self, row: Row) -> str | None:
        """Return the project a record names; None if it is the folder's own."""
        name = text(row.get("project"))
        return None if name in self.own_names else name

    def _learning(self, row: Row, where: str) -> Iterator[Item]:
        kind, check = first(row, "learning_type", "type"), row.get("required_verification")
        archived, related, faded = row.get("is_active") is False, text(row.get("related_scar_id")), "decay_multiplier"
        used, fields = {"learning_type", "type"} if kind in (*_LEARNINGS, "") else set(), {}
        if isinstance(check, dict) and not rest(check, _CHECK.values()):
            fields = {name: check.get(theirs) for name, theirs in _CHECK.items()}
            fields["verify_with"] = list(texts(check.get("queries")))
            used.add("required_verification")
        yield LEARNINGS.memory(
            row,
            where,
            used=used,
            kind=kind if kind in _LEARNINGS else "learning",
            fields=fields,
            project=self._project(row),
            at=first_time(row, "created_at", "source_date"),
            state="retired" if archived else "active",
            reason="archived" if archived else "",
            links=(ForeignLink("relates_to", f"learning:{related}"),) if related else (),
            counts={} if row.get(faded) in (None, 1, 1.0) else {faded: row[faded]},
            dated=bool(when(row.get("created_at"))),
        )

    def _decision(self, row: Row, where: str, **known: Any) -> Iterator[Item]:
        at = first_time(row, "created_at", "decision_date")
        yield DECISIONS.memory(row, where, **{"project": self._project(row), "at": at, **known})

    def _thread(self, row: Row, where: str, *, again: bool = True) -> Iterator[Item]:
        """Yield a thread with its status and last activity; the state of the project becomes a progress record."""
        body, status = first(row, *THREADS.body), text(row.get("status"))
        is_state = body.startswith(STATE)
        body = body.removeprefix(STATE).strip()
        key = f"thread:{row.get('id') or digest(body)}"
        at, touched = when(row.get("created_at")), when(row.get("last_touched_at"))
        if again or key not in self.threads:  # sessions repeat threads
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
        session, title = text(row.get("id")), text(row.get("session_title"))
        at = first_time(row, "created_at", "session_date")
        by = Actor(kind="agent", name=text(row.get("agent")), session=session)
        project, decided, rapport = self._project(row), texts(row.get("decisions")), text(row.get("rapport_summary"))
        yield from self._open_threads(row.get("open_threads"), where)
        left = {"retrospective": _reflection(row.get("closing_reflection"), session, title)}
        if title not in _UNTITLED or decided or rapport:
            decisions = [f"Decided: {made}" for made in decided]
            lines = filled(title or "Session", *decisions, rapport and f"Rapport: {rapport}")
            left["summary"] = (f"summary:{session}", {"kind": "summary", "title": title, "body": "\n".join(lines)})
        for key, parts in filter(None, left.values()):
            yield Foreign(key=key, draft=Draft(**parts, project=project, at=at), where=where, by=by, dated=bool(at))
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
        session, project, at = first(row, "session_id", "id") or name, self._project(row), when(row.get("started_at"))
        by = Actor(kind="agent", name=text(row.get("agent")), session=session)
        event = partial(ForeignEvent, by=by, where=where)
        yield from self._open_threads(row.get("threads"), where)
        for seen in rows(row.get("observations")):
            key = f"observation:{session}:{digest(text(seen.get('text')))}"
            yield OBSERVATIONS.memory(seen, where, key=key, project=project, by=by)
        for scar in rows(row.get("surfaced_scars")):
            of, then = f"learning:{scar.get('scar_id')}", when(scar.get("surfaced_at"))
            data: dict[str, Any] = {"imported": rest(scar, {"scar_id", "surfaced_at", "scar_title", "scar_severity"})}
            yield event(key=f"{session}:{of}:{then}", verb="surfaced", of=(of,), at=then, data=data)
        for sort, column in _ANSWERS.items():
            outcomes = maps.words(f"gitmem {sort}")
            for answer in rows(row.get(sort)):
                of, answered = f"learning:{answer.get('scar_id')}", text(answer.get(column))
                data = {"outcome": outcomes.get(answered, answered), "evidence": text(answer.get("evidence"))}
                data |= {"imported": rest(answer, {"scar_id", "scar_title", "evidence"})}
                then = when(first(answer, "confirmed_at", "reflected_at", "created_at")) or at
                yield event(key=f"{session}:{sort}:{of}:{answered}", verb="used", of=(of,), at=then, data=data)
        open_ = ForeignSession(id=session, at=at, closed_at=at, close={"type": "left open"})
        yield replace(open_, project=project, by=by, extra=rest(row, _RUNNING), where=where)

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
            yield from self._decision(made, where, by=by, at="")
        yield from self._open_threads(row.get("open_threads"), where)
        if state := text(row.get("project_state")):
            yield from self._thread({"text": f"{STATE} {state.removeprefix(STATE).strip()}"}, where, again=False)
        for place, scar in enumerate(rows(row.get("scars_to_record"))):
            key, of = f"{name}:{place}", (f"learning:{scar.get('scar_id') or scar.get('scar_identifier')}",)
            outcome, at = _USES.get(text(scar.get("reference_type")), "acknowledged"), when(scar.get("created_at"))
            data = {"outcome": outcome, "imported": rest(scar, ())}
            yield ForeignEvent(key=key, verb="used", of=of, at=at, by=by, data=data, where=where)


def _reflection(answers: Any, session: str, title: str) -> tuple[str, dict[str, Any]] | None:
    about = f"Looking back at {title if title not in _UNTITLED else short(session) or 'a session'}"
    parts: dict[str, Any] = {"kind": "retrospective", "title": about, "body": about}
    if isinstance(answers, str) and answers.strip():
        return f"reflection:{session}", {**parts, "body": answers}
    given = {_QUESTIONS.get(name, name): answer for name, answer in rest(mapping(answers), ()).items()}
    fields = {name: ". ".join(texts(each)) if isinstance(each, list) else each for name, each in given.items()}
    return (f"reflection:{session}", {**parts, "fields": fields}) if any(fields.values()) else None


def _suggestion(row: Row, where: str) -> Iterator[Item]:
    promoted, dismissals = text(row.get("promoted_thread_id")), row.get("dismissed_count")
    memory = SUGGESTIONS.memory(
        row,
        where,
        key=f"suggestion:{row.get('id')}",
        extra={"evidence": list(texts(row.get("evidence_sessions"))), "score": row.get("similarity_score")},
        state="retired" if text(row.get("status")) == "promoted" else "pending",
        reason="it became a thread" if promoted else "",
        links=(ForeignLink("relates_to", f"thread:{promoted}"),) if promoted else (),
    )
    yield memory
    key, last, data = memory.key, memory.updated_at or memory.draft.at, {"outcome": "dismissed"}
    for nth in range(dismissals if isinstance(dismissals, int) else 0):
        yield ForeignEvent(key=f"{key}:{nth}", verb="used", of=(key,), at=last, data=data, where=where)


def _usage(row: Row, where: str) -> Iterator[Item]:
    by = Actor(kind="agent", name=text(row.get("agent")), session=text(row.get("session_id")))
    event = partial(ForeignEvent, of=(f"learning:{row.get('scar_id')}",), by=by, where=where)
    key, at = f"usage:{row.get('id') or digest(where)}", first_time(row, "acknowledged_at", "created_at", "surfaced_at")
    if surfaced_at := when(row.get("surfaced_at")):
        yield event(key=key, verb="surfaced", at=surfaced_at)
    kind = text(row.get("reference_type")) or ("implicit" if row.get("referenced") else "none")
    data: dict[str, Any] = {"outcome": _USES.get(kind, kind), "note": text(row.get("reference_context"))}
    data |= {"imported": rest(row, {"scar_id", "session_id", "agent", "surfaced_at", "reference_context"})}
    data |= {"variant": variant} if (variant := text(row.get("variant_id"))) else {}
    yield event(key=key, verb="used", at=at, data=data)
    worked = row.get("execution_successful")
    if isinstance(worked, bool) and kind != "none":
        yield event(key=f"{key}:outcome", verb="used", at=at, data={"outcome": "succeeded" if worked else "failed"})


def write(records: Iterable[Record], folder: Path) -> Exported:
    """Write records into a folder that GitMem reads, without those of sessions. Its entries about other memories stay."""
    files: dict[str, dict[str, Row]] = {"learnings": {}, "decisions": {}, "threads": {}, "suggested-threads": {}}
    left = 0
    for record in records:
        is_state = record.kind == "progress" and STATE_TAG in record.tags
        name, imported = name_in("gitmem", record.kind), mapping(record.extra.get("imported"))
        project = imported.get("project") if imported.get("system") == "gitmem" else record.project
        if text(imported.get("id")).startswith(SUGGESTIONS.key) and record.state != "active":
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
            check = {theirs: record.fields[ours] for ours, theirs in _CHECK.items() if ours in record.fields}
            row |= {"is_active": record.state != "retired", **({"required_verification": check} if check else {})}
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

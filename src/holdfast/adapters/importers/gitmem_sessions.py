"""Import sessions of a `.gitmem` folder: closed ones, open ones, and prepared closing payloads."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from holdfast.adapters.importers.gitmem_records import STATE, USES, decision, project_of, thread
from holdfast.adapters.importers.json_file import entries, one_object
from holdfast.adapters.importers.values import digest, first, rest, text, texts, when
from holdfast.model.event import Actor
from holdfast.model.foreign import Foreign, ForeignEvent, ForeignSession, Item, Remark
from holdfast.model.ids import short
from holdfast.model.record import Draft

# Their closing questions whose names differ from ours.
_ANSWERS = {
    "institutional_memory_items": "capture",
    "collaborative_dynamic": "collaboration",
    "rapport_notes": "rapport",
    "human_corrections": "corrections",
}
_DECISIONS = {"APPLYING": "applied", "N_A": "acknowledged", "REFUTED": "refuted"}
_REFLECTIONS = {"OBEYED": "succeeded", "REFUTED": "failed"}
_SESSION = frozenset(
    "id agent project session_title linear_issue closing_reflection close_compliance embedding open_threads".split()
)
_UNTITLED = ("", "Interactive Session")


def sessions(folder: Path, own_names: frozenset[str]) -> Iterator[Item]:
    """Yield the stored sessions, each after the records it left."""
    for entry in entries(folder / "sessions.json"):
        yield from [entry] if isinstance(entry, Remark) else _session(entry[1], entry[0], own_names)


def _session(row: Mapping[str, Any], where: str, own_names: frozenset[str]) -> Iterator[Item]:
    session, title = text(row.get("id")), text(row.get("session_title"))
    at = when(row.get("created_at")) or when(row.get("session_date"))
    by = Actor(kind="agent", name=text(row.get("agent")), session=session)
    project = project_of(row, own_names)
    yield from _threads_in(row.get("open_threads"), where, own_names)
    memories = {
        "retrospective": _reflection(row.get("closing_reflection"), session, title, project),
        "summary": _summary(row, session, title, project),
    }
    yield from (_placed(memory, where, by, at) for memory in memories.values() if memory)
    yield ForeignSession(
        id=session,
        at=at,
        project=project,
        by=by,
        title=title,
        issue=text(row.get("linear_issue")),
        closed_at=_closed_at(row, at),
        close=_close(row, title),
        left={what: memory.key for what, memory in memories.items() if memory},
        extra=rest(row, _SESSION, ("created_at", "session_date")),
        where=where,
    )


def _closed_at(row: Mapping[str, Any], at: str) -> str:
    done = row.get("task_completion")
    answered = when(done.get("human_response_at")) if isinstance(done, Mapping) else ""
    return answered or when(row.get("closed_at")) or when(row.get("updated_at")) or at


def _close(row: Mapping[str, Any], title: str) -> dict[str, Any]:
    """Return how a session was closed; an unclosed session counts as closed here."""
    compliance = row.get("close_compliance")
    stored = rest(compliance, ()) if isinstance(compliance, Mapping) else {}
    kind = text(stored.get("close_type")) or ("standard" if row.get("closing_reflection") else "left open")
    return {"type": kind, "title": title, "compliance": stored}


def _placed(memory: Foreign, where: str, by: Actor, at: str) -> Foreign:
    return replace(memory, where=where, by=by, draft=replace(memory.draft, at=at), dated=bool(at))


def _reflection(answers: Any, session: str, title: str, project: str | None) -> Foreign | None:
    """Return the answers to the closing questions as a retrospective."""
    about = f"Looking back at {title if title not in _UNTITLED else short(session) or 'a session'}"
    if isinstance(answers, str) and answers.strip():
        draft = Draft(kind="retrospective", title=about, body=answers, project=project)
        return Foreign(key=f"reflection:{session}", draft=draft)
    if not isinstance(answers, Mapping):
        return None
    fields: dict[str, Any] = {
        _ANSWERS.get(name, name): ". ".join(texts(answer)) if isinstance(answer, list) else answer
        for name, answer in rest(answers, set()).items()
    }
    if not any(fields.values()):
        return None
    draft = Draft(kind="retrospective", title=about, body=about, fields=fields, project=project)
    return Foreign(key=f"reflection:{session}", draft=draft)


def _summary(row: Mapping[str, Any], session: str, title: str, project: str | None) -> Foreign | None:
    """Return a summary of a session record; None if it holds nothing but ids."""
    decided = texts(row.get("decisions"))
    rapport = text(row.get("rapport_summary"))
    if title in _UNTITLED and not decided and not rapport:
        return None
    lines = (
        [title or "Session"] + [f"Decided: {made}" for made in decided] + ([f"Rapport: {rapport}"] if rapport else [])
    )
    draft = Draft(kind="summary", title=title, body="\n".join(lines), project=project)
    return Foreign(key=f"summary:{session}", draft=draft)


def _threads_in(threads: Any, where: str, own_names: frozenset[str]) -> Iterator[Item]:
    for entry in threads if isinstance(threads, list) else ():
        row = entry if isinstance(entry, Mapping) else {"text": text(entry)}
        yield from thread(row, f"{where} open_threads", own_names)


def running(folder: Path, own_names: frozenset[str]) -> Iterator[Item]:
    """Yield the open sessions: what was surfaced, answered, observed and left open in them."""
    for path in sorted((folder / "sessions").glob("*/session.json")):
        row = one_object(path)
        where = f"sessions/{path.parent.name}/session.json"
        if isinstance(row, Mapping):
            yield from _running(row, where, own_names, path.parent.name)
        elif row:
            yield Remark(where=where, why=row.why)


def _running(row: Mapping[str, Any], where: str, own_names: frozenset[str], name: str) -> Iterator[Item]:
    session = first(row, "session_id", "id") or name
    at, by = when(row.get("started_at")), Actor(kind="agent", name=text(row.get("agent")), session=session)
    project = project_of(row, own_names)
    yield from _threads_in(row.get("threads"), where, own_names)
    yield from _observations(row.get("observations"), session, where, by, project)
    yield from _answers(row, session, where, by)
    used = (
        "session_id id started_at agent project threads observations surfaced_scars confirmations reflections display"
    )
    yield ForeignSession(
        id=session,
        at=at,
        project=project,
        by=by,
        extra=rest(row, set(used.split())),
        where=where,
        closed_at=at,
        close={"type": "left open"},
    )


def _observations(rows: Any, session: str, where: str, by: Actor, project: str | None) -> Iterator[Item]:
    for row in _rows(rows):
        at = when(row.get("absorbed_at")) or when(row.get("created_at"))
        body = text(row.get("text"))
        yield Foreign(
            key=f"observation:{session}:{digest(body)}",
            where=where,
            draft=Draft(
                kind="observation",
                body=body,
                fields={"severity": row.get("severity"), "subtitle": row.get("context")},
                project=project,
                at=at,
                extra=rest(row, {"text", "severity", "context", "absorbed_at", "created_at"}),
            ),
            by=by,
            dated=bool(at),
        )


def _answers(row: Mapping[str, Any], session: str, where: str, by: Actor) -> Iterator[Item]:
    """Yield which scars a session was given, and its answers."""
    for scar in _rows(row.get("surfaced_scars")):
        key, at = f"learning:{scar.get('scar_id')}", when(scar.get("surfaced_at"))
        surfaced = {"imported": rest(scar, {"scar_id", "surfaced_at", "title", "severity"})}
        yield ForeignEvent(
            key=f"{session}:{key}:{at}", verb="surfaced", of=(key,), at=at, by=by, data=surfaced, where=where
        )
    for name, outcomes, field in (("confirmations", _DECISIONS, "decision"), ("reflections", _REFLECTIONS, "outcome")):
        for answer in _rows(row.get(name)):
            key, answered = f"learning:{answer.get('scar_id')}", text(answer.get(field))
            at = first(answer, "confirmed_at", "reflected_at", "created_at")
            data: dict[str, Any] = {
                "outcome": outcomes.get(answered, answered),
                "evidence": text(answer.get("evidence")),
            }
            data |= {"imported": rest(answer, {"scar_id", "evidence"})}
            answered_at = when(at) or when(row.get("started_at"))
            named = f"{session}:{name}:{key}:{answered}"
            yield ForeignEvent(key=named, verb="used", of=(key,), at=answered_at, by=by, data=data, where=where)


def _rows(rows: Any) -> list[Mapping[str, Any]]:
    return [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []


def payloads(folder: Path, own_names: frozenset[str]) -> Iterator[Item]:
    """Yield what was prepared for closes that never happened."""
    for path in (folder / "closing-payload.json", *sorted((folder / "sessions").glob("*/closing-payload.json"))):
        row = one_object(path)
        if isinstance(row, Remark):
            yield row
        elif row:
            own = "" if path.parent == folder else path.parent.name
            yield from _payload(row, str(path.relative_to(folder)), own_names, own)


def _payload(row: Mapping[str, Any], where: str, own_names: frozenset[str], own: str) -> Iterator[Item]:
    session = first(row, "session_id", "gitmem_session_id") or own
    name = session or f"payload:{digest(text(dict(row)))}"
    by = Actor(kind="agent", session=session)
    reflection = row.get("closing_reflection")
    corrections = text(row.get("human_corrections"))
    if isinstance(reflection, Mapping) and corrections:
        reflection = {**reflection, "human_corrections": corrections}
    if memory := _reflection(reflection, name, "", None):
        yield _placed(memory, where, by, "")
    for made in _rows(row.get("decisions")):
        yield _placed(decision(made, where, own_names), where, by, "")
    yield from _threads_in(row.get("open_threads"), where, own_names)
    if state := text(row.get("project_state")):
        yield from thread({"text": f"{STATE} {state.removeprefix(STATE).strip()}"}, where, own_names)
    for place, scar in enumerate(_rows(row.get("scars_to_record"))):
        of = (f"learning:{scar.get('scar_id') or scar.get('scar_identifier')}",)
        data = {
            "outcome": USES.get(text(scar.get("reference_type")), "acknowledged"),
            "imported": rest(scar, set()),
        }
        yield ForeignEvent(
            key=f"{name}:{place}", verb="used", of=of, at=when(scar.get("created_at")), by=by, data=data, where=where
        )

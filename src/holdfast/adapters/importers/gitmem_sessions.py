"""Sessions of a `.gitmem` folder: the closed ones, those still under way, and what they meant to leave at their close."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from holdfast.adapters.importers.gitmem_records import STATE, USES, decision, project_of, thread
from holdfast.adapters.importers.json_file import entries, one_object
from holdfast.adapters.importers.values import digest, first, rest, text, texts, when
from holdfast.model.event import Actor
from holdfast.model.foreign import Foreign, ForeignSession, Happened, Item, Remark
from holdfast.model.record import Draft

# Their questions, where our names differ.
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


def sessions(folder: Path, here: frozenset[str]) -> Iterator[Item]:
    """Return the sessions that were kept, each after what it left behind."""
    for entry in entries(folder / "sessions.json"):
        yield from [entry] if isinstance(entry, Remark) else _session(entry[1], entry[0], here)


def _session(row: Mapping[str, Any], where: str, here: frozenset[str]) -> Iterator[Item]:
    session, title = text(row.get("id")), text(row.get("session_title"))
    at = when(row.get("created_at")) or when(row.get("session_date"))
    by = Actor(kind="agent", name=text(row.get("agent")), session=session)
    project = project_of(row, here)
    yield from _threads_in(row.get("open_threads"), where, here)
    told = {
        "retrospective": _reflection(row.get("closing_reflection"), session, title, project),
        "summary": _summary(row, session, title, project),
    }
    yield from (_placed(one, where, by, at) for one in told.values() if one)
    yield ForeignSession(
        id=session,
        at=at,
        project=project,
        by=by,
        title=title,
        issue=text(row.get("linear_issue")),
        closed_at=_closed_at(row, at),
        close=_close(row, title),
        left={what: one.key for what, one in told.items() if one},
        extra=rest(row, _SESSION, ("created_at", "session_date")),
        where=where,
    )


def _closed_at(row: Mapping[str, Any], at: str) -> str:
    done = row.get("task_completion")
    answered = when(done.get("human_response_at")) if isinstance(done, Mapping) else ""
    return answered or when(row.get("closed_at")) or when(row.get("updated_at")) or at


def _close(row: Mapping[str, Any], title: str) -> dict[str, Any]:
    """Return how a session was closed; one that nobody closed does not go on here either."""
    given = row.get("close_compliance")
    kept = rest(given, ()) if isinstance(given, Mapping) else {}
    kind = text(kept.get("close_type")) or ("standard" if row.get("closing_reflection") else "left open")
    return {"type": kind, "title": title, "compliance": kept}


def _placed(one: Foreign, where: str, by: Actor, at: str) -> Foreign:
    return replace(one, where=where, by=by, draft=replace(one.draft, at=at), dated=bool(at))


def _reflection(given: Any, session: str, title: str, project: str | None) -> Foreign | None:
    """Return the answers to the closing questions as a retrospective."""
    about = f"Looking back at {title if title not in _UNTITLED else session[:8] or 'a session'}"
    if isinstance(given, str) and given.strip():
        draft = Draft(kind="retrospective", title=about, body=given, project=project)
        return Foreign(key=f"reflection:{session}", draft=draft)
    if not isinstance(given, Mapping):
        return None
    fields: dict[str, Any] = {
        _ANSWERS.get(name, name): ". ".join(texts(said)) if isinstance(said, list) else said
        for name, said in rest(given, set()).items()
    }
    if not any(fields.values()):
        return None
    draft = Draft(kind="retrospective", title=about, body=about, fields=fields, project=project)
    return Foreign(key=f"reflection:{session}", draft=draft)


def _summary(row: Mapping[str, Any], session: str, title: str, project: str | None) -> Foreign | None:
    """Return what a session record tells of the session, if it tells anything."""
    decided = texts(row.get("decisions"))
    rapport = text(row.get("rapport_summary"))
    if title in _UNTITLED and not decided and not rapport:
        return None
    told = [title or "Session"] + [f"Decided: {one}" for one in decided] + ([f"Rapport: {rapport}"] if rapport else [])
    draft = Draft(kind="summary", title=title, body="\n".join(told), project=project)
    return Foreign(key=f"summary:{session}", draft=draft)


def _threads_in(given: Any, where: str, here: frozenset[str]) -> Iterator[Item]:
    for one in given if isinstance(given, list) else ():
        row = one if isinstance(one, Mapping) else {"text": text(one)}
        yield from thread(row, f"{where} open_threads", here)


def running(folder: Path, here: frozenset[str]) -> Iterator[Item]:
    """Return the sessions that were under way: what they were shown, answered, saw and left open."""
    for path in sorted((folder / "sessions").glob("*/session.json")):
        row = one_object(path)
        where = f"sessions/{path.parent.name}/session.json"
        if isinstance(row, Mapping):
            yield from _running(row, where, here, path.parent.name)
        elif row:
            yield Remark(where=where, why=row.why)


def _running(row: Mapping[str, Any], where: str, here: frozenset[str], name: str) -> Iterator[Item]:
    session = first(row, "session_id", "id") or name
    at, by = when(row.get("started_at")), Actor(kind="agent", name=text(row.get("agent")), session=session)
    project = project_of(row, here)
    yield from _threads_in(row.get("threads"), where, here)
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


def _observations(given: Any, session: str, where: str, by: Actor, project: str | None) -> Iterator[Item]:
    for row in _rows(given):
        at = when(row.get("absorbed_at")) or when(row.get("created_at"))
        said = text(row.get("text"))
        yield Foreign(
            key=f"observation:{session}:{digest(said)}",
            where=where,
            draft=Draft(
                kind="observation",
                body=said,
                fields={"severity": row.get("severity"), "subtitle": row.get("context")},
                project=project,
                at=at,
                extra=rest(row, {"text", "severity", "context", "absorbed_at", "created_at"}),
            ),
            by=by,
            dated=bool(at),
        )


def _answers(row: Mapping[str, Any], session: str, where: str, by: Actor) -> Iterator[Item]:
    """Return which scars a session was shown, and what it said to them."""
    for one in _rows(row.get("surfaced_scars")):
        key, at = f"learning:{one.get('scar_id')}", when(one.get("surfaced_at"))
        shown = {"imported": rest(one, {"scar_id", "surfaced_at", "title", "severity"})}
        yield Happened(key=f"{session}:{key}:{at}", verb="surfaced", of=(key,), at=at, by=by, data=shown, where=where)
    for name, outcomes, said in (("confirmations", _DECISIONS, "decision"), ("reflections", _REFLECTIONS, "outcome")):
        for answer in _rows(row.get(name)):
            key, told = f"learning:{answer.get('scar_id')}", text(answer.get(said))
            at = first(answer, "confirmed_at", "reflected_at", "created_at")
            data: dict[str, Any] = {"outcome": outcomes.get(told, told), "evidence": text(answer.get("evidence"))}
            data |= {"imported": rest(answer, {"scar_id", "evidence"})}
            when_said = when(at) or when(row.get("started_at"))
            named = f"{session}:{name}:{key}:{told}"
            yield Happened(key=named, verb="used", of=(key,), at=when_said, by=by, data=data, where=where)


def _rows(given: Any) -> list[Mapping[str, Any]]:
    return [row for row in given if isinstance(row, Mapping)] if isinstance(given, list) else []


def payloads(folder: Path, here: frozenset[str]) -> Iterator[Item]:
    """Return what was written down for a close that never came."""
    for path in (folder / "closing-payload.json", *sorted((folder / "sessions").glob("*/closing-payload.json"))):
        row = one_object(path)
        if isinstance(row, Remark):
            yield row
        elif row:
            own = "" if path.parent == folder else path.parent.name
            yield from _payload(row, str(path.relative_to(folder)), here, own)


def _payload(row: Mapping[str, Any], where: str, here: frozenset[str], own: str) -> Iterator[Item]:
    session = first(row, "session_id", "gitmem_session_id") or own
    name = session or f"payload:{digest(text(dict(row)))}"
    by = Actor(kind="agent", session=session)
    reflection = row.get("closing_reflection")
    corrections = text(row.get("human_corrections"))
    if isinstance(reflection, Mapping) and corrections:
        reflection = {**reflection, "human_corrections": corrections}
    if told := _reflection(reflection, name, "", None):
        yield _placed(told, where, by, "")
    for one in _rows(row.get("decisions")):
        yield _placed(decision(one, where, here), where, by, "")
    yield from _threads_in(row.get("open_threads"), where, here)
    if state := text(row.get("project_state")):
        yield from thread({"text": f"{STATE} {state.removeprefix(STATE).strip()}"}, where, here)
    for place, one in enumerate(_rows(row.get("scars_to_record"))):
        of = (f"learning:{one.get('scar_id') or one.get('scar_identifier')}",)
        data = {
            "outcome": USES.get(text(one.get("reference_type")), "acknowledged"),
            "imported": rest(one, set()),
        }
        yield Happened(
            key=f"{name}:{place}", verb="used", of=of, at=when(one.get("created_at")), by=by, data=data, where=where
        )

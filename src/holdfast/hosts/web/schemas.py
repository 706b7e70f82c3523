"""What the endpoints of the JSON API return, as JSON schemas for the OpenAPI document."""

from typing import Any

from holdfast.surfaces.schema import Schema

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
WHOLE: Schema = {"type": "integer"}
FLAG: Schema = {"type": "boolean"}
ANY_OBJECT: Schema = {"type": "object"}
TEXTS: Schema = {"type": "array", "items": TEXT}


def _object(optional: dict[str, Schema] | None = None, /, **required: Schema) -> Schema:
    properties = {**required, **(optional or {})}
    return {"type": "object", "properties": properties, "required": list(required)}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _by_day() -> Schema:
    return {"type": "object", "additionalProperties": {"type": "object", "additionalProperties": WHOLE}}


_ROWS = _list(ANY_OBJECT)
_PAGE = _object(items=_ROWS, hasMore=FLAG, offset=WHOLE, limit=WHOLE, total=WHOLE)
_FOUND = _object(query=TEXT, totalResults=WHOLE, observations=_ROWS, sessions=_ROWS, prompts=_ROWS)
_SAMPLE = _object(total=WHOLE, records=_ROWS)
COMPONENTS: dict[str, Schema] = {
    "Record": _object(
        {
            "title": TEXT,
            "body": TEXT,
            "fields": ANY_OBJECT,
            "scopes": TEXTS,
            "tags": TEXTS,
            "project": TEXT,
            "origin": ANY_OBJECT,
            "anchors": TEXTS,
            "triggers": TEXTS,
            "links": _ROWS,
            "reason": TEXT,
            "verified_at": TEXT,
        },
        id=TEXT,
        kind=TEXT,
        state={"type": "string", "enum": ["pending", "held", "active", "retired", "erased"]},
        visibility=TEXT,
        confidence=TEXT,
        source=TEXT,
        created_at=TEXT,
        updated_at=TEXT,
        revision=WHOLE,
        url=TEXT,
    ),
    "Freshness": _object(state=TEXT, findings=_ROWS, days=_or_null(NUMBER)),
    "Hit": _object(
        record=_ref("Record"),
        score=NUMBER,
        confidence=TEXT,
        why={"type": "object", "additionalProperties": NUMBER},
        snippet=TEXT,
        freshness=_or_null(_ref("Freshness")),
    ),
    "Event": _object(id=TEXT, about=TEXT, verb=TEXT, at=TEXT, by=ANY_OBJECT, data=ANY_OBJECT),
    "Entry": _object(
        at=TEXT, what=TEXT, verb=TEXT, text=TEXT, detail=TEXT, project=TEXT, session=TEXT, client=TEXT, records=_ROWS
    ),
    "Session": _object(
        id=TEXT, project=TEXT, agent=TEXT, title=TEXT, started_at=TEXT, closed_at=TEXT, close=ANY_OBJECT
    ),
}
RESULTS: dict[str, Schema] = {
    "/api/recall": _object(
        hits=_list(_ref("Hit")),
        search=TEXT,
        gated=WHOLE,
        cut=WHOLE,
        lagging=WHOLE,
        confidence=TEXT,
        related=_ROWS,
        notes=TEXTS,
    ),
    "/api/records": _object(records=_list(_ref("Record")), total=WHOLE),
    "/api/records/{id}": {
        "allOf": [
            _ref("Record"),
            _object(usage=ANY_OBJECT, number=WHOLE, superseded_by=TEXT, freshness=_or_null(_ref("Freshness"))),
        ]
    },
    "/api/records/{id}/history": _object(events=_list(_ref("Event"))),
    "/api/records/{id}/{what}": _object(id=TEXT, done=TEXT, message=TEXT, url=TEXT),
    "/api/stream": _object(items=_list(_ref("Entry")), before=TEXT),
    "/api/sessions": _object(sessions=_list(_ref("Session"))),
    "/api/sessions/{id}": _object(
        session=_ref("Session"), records=_list(_ref("Record")), recalls=WHOLE, last_at=TEXT, close=ANY_OBJECT
    ),
    "/api/threads": _object(stages={"type": "object", "additionalProperties": _ROWS}),
    "/api/scars": _object(
        scars=_list(
            _object(
                record=_ref("Record"), shown=WHOLE, outcomes=ANY_OBJECT, heeded=NUMBER, weight=NUMBER, blind_spot=FLAG
            )
        )
    ),
    "/api/graph": _object(
        center=TEXT,
        nodes=_list(_object(id=TEXT, kind=TEXT, title=TEXT, state=TEXT, url=TEXT, graph=TEXT)),
        edges=_list(_object(source=TEXT, relation=TEXT, target=TEXT)),
        clusters=_list(_object(name=TEXT, kind=TEXT, members=TEXTS)),
        more=WHOLE,
    ),
    "/api/health": _object(
        days=WHOLE,
        total=WHOLE,
        score=WHOLE,
        measures=_list(_object(name=TEXT, share=NUMBER, points=NUMBER, meaning=TEXT, cost=NUMBER)),
        contradicted=_SAMPLE,
        dead=_SAMPLE,
        cold=_SAMPLE,
        unverified=_SAMPLE,
        stale=_SAMPLE,
        drifted=_or_null(_SAMPLE),
        waiting=_ROWS,
        queue=_ROWS,
    ),
    "/api/insights": _object(
        days=TEXTS,
        kept=_by_day(),
        recalls=_by_day(),
        tokens=_by_day(),
        outcomes=_by_day(),
        observed=WHOLE,
        timings=_list(_object(event=TEXT, times=WHOLE, p50=NUMBER, p95=NUMBER)),
    ),
    "/api/brief": _object(text=TEXT, ids=TEXTS, tokens=WHOLE),
    "/api/projects": _object(
        projects=_list(_object(name=TEXT, kept=WHOLE, sessions=WHOLE, kinds=_list(_list({})), last_at=TEXT))
    ),
    "/api/search": _FOUND,
    "/api/search/by-file": _FOUND,
    "/api/search/by-type": _FOUND,
    "/api/search/by-concept": _FOUND,
    "/api/timeline": _object(items=_ROWS, content=_ROWS),
    "/api/observations": _PAGE,
    "/api/summaries": _PAGE,
    "/api/prompts": _PAGE,
    "/api/observations/batch": _object(observations=_ROWS),
    "/api/observation/{id}": _object(id=WHOLE, type=TEXT, title=TEXT, ref=TEXT, url=TEXT, created_at=TEXT),
    "/api/version": _object(version=TEXT),
    "/api/stats": _object(database=ANY_OBJECT),
}


def result_of(path: str, media: str) -> dict[str, Any]:
    """Return the schema of what an endpoint returns."""
    return TEXT if media == "text/plain" else RESULTS.get(path, ANY_OBJECT)

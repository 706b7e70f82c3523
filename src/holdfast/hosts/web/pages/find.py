"""Titles as one types: for the palette that goes anywhere, and for fields that name a memory."""

from starlette.responses import JSONResponse, Response

from holdfast.hosts.web import render
from holdfast.hosts.web.viewer import Ask
from holdfast.model.query import Query
from holdfast.verbs.search.recall import recall

MOST = 8


def titles(ask: Ask) -> Response:
    """Return the memories that fit some words best, as titles with ids."""
    text = ask.text("q")[:200]
    query = Query(text=text, everywhere=ask.everywhere, limit=MOST, words_only=True, mode="exploratory")
    hits = recall(ask.memory, query, surface=False).hits if query.text else ()
    found = [
        {
            "id": hit.record.id,
            "kind": hit.record.kind,
            "title": hit.record.title,
            "url": render.address(ask, f"/r/{hit.record.id}"),
        }
        for hit in hits
    ]
    return JSONResponse({"found": found})

"""The graph: linked memories, around one memory or in the whole project; drawn by a script, also as a list."""

from starlette.responses import Response

from holdfast.hosts.web import render
from holdfast.hosts.web.download import download, is_wanted
from holdfast.hosts.web.viewer import Ask
from holdfast.model.query import Query
from holdfast.verbs.memory import is_reference
from holdfast.verbs.records.subgraph import MOST_NODES, Subgraph, subgraph
from holdfast.verbs.search.recall import recall

DEEPEST = 4


def page(ask: Ask) -> Response:
    """Return the graph page; without scripts it is a list of links."""
    found, depth = subgraph_of(ask)
    records = {one.id: one for one in found.records}
    if is_wanted(ask):
        return download(
            ask,
            "links",
            [
                {
                    "source": arrow.source,
                    "source_title": records[arrow.source].title,
                    "relation": arrow.relation,
                    "target": arrow.target,
                    "target_title": records[arrow.target].title,
                }
                for arrow in found.arrows
            ],
        )
    return render.page(
        ask,
        "graph.html",
        title="Graph",
        subgraph=found,
        depth=depth,
        deepest=DEEPEST,
        node=ask.text("node"),
        legend=list(dict.fromkeys(one.kind for one in found.records)),
        records=records,
        source=render.address(ask, "/api/graph", node=found.center, depth=depth),
    )


def subgraph_of(ask: Ask) -> tuple[Subgraph, int]:
    """Return the requested part of the graph, and its depth."""
    depth = ask.number("depth", 2, 1, DEEPEST)
    limit = ask.number("limit", MOST_NODES, 1, MOST_NODES)
    return subgraph(ask.memory, named(ask), depth=depth, limit=limit), depth


def named(ask: Ask) -> str:
    """Return the id of the memory in the middle, found by id or by its title; "" for the whole project."""
    text = ask.text("node")
    if not text or is_reference(ask.memory, text):
        return text
    hits = recall(ask.memory, Query(text=text, limit=1, everywhere=ask.everywhere), surface=False).hits
    return hits[0].record.id if hits else text

"""Memories: search as you type with the engine agents use, and a list with filters, order and export."""

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath
from typing import Any, get_args
from urllib.parse import quote

from starlette.responses import JSONResponse, RedirectResponse, Response

from holdfast.hosts.web import render
from holdfast.hosts.web.pages.code import anchors, tracked
from holdfast.hosts.web.pages.record import badge
from holdfast.hosts.web.viewer import WORDS, Ask, cached_until_event
from holdfast.model.errors import Invalid
from holdfast.model.foreign_json import parse_json
from holdfast.model.kinds import KINDS
from holdfast.model.query import Hit, Mode, Order, Query
from holdfast.model.record import record_to_json
from holdfast.verbs.records.freshness import freshness
from holdfast.verbs.records.hot import vitals_of
from holdfast.verbs.records.read import Listed, browse, facets, known_on, latest, people
from holdfast.verbs.search.recall import recall
from holdfast.verbs.sessions.session import list_sessions, session_agents

LIMIT, PAGE, TITLES = 30, 40, 8
MOST_PLACES, MOST_SESSIONS = 5, 500  # of a sort in the palette, and sessions whose titles are compared
MOST_SORTED = 500
STATES = ("active", "pending", "held", "retired")
SORTS = WORDS["orders"]
ORDERS: dict[str, Order] = {"oldest": "oldest", "changed": "changed", "shown": "shown", "title": "title"}
ORDERS |= {"used": "applied"}
FILTERS = ("kind", "scope", "tag", "author", "session", "since", "until", "as_of", "mode", "state")
MANY = ("scope", "tag")  # of which a memory has several
ONE_VALUE = ("author", "session")  # a filter that another value replaces
SAVED, MOST_SAVED, LONGEST_NAME, LONGEST_SEARCH = "holdfast-searches", 12, 40, 240
PUSH = 0.10  # how far one factor may push
MEANINGS = WORDS["score"]


@render.answer_at("/memories/export", render.PAGES)
def export(ask: Ask) -> Response:
    """Return what the list shows as a file, as CSV or JSON, in its order; a list that is too long is refused, never cut."""
    query = query_of(ask)
    if query.text:
        records = tuple(hit.record for hit in recall(ask.memory, query, surface=False).hits)
    else:
        known = _page(ask, replace(query, limit=render.MOST_ROWS), _state(ask))
        render.check_rows(known.total)
        records = known.records
    return render.download(ask, "memories", render.table(records, "memories"), list(map(record_to_json, records)))


@render.answer_at("/memories/saved", render.ACTS)
def save_search(ask: Ask) -> Response:
    """Save a search under a name in the browser, or remove one."""
    name, search = ask.field("name")[:LONGEST_NAME], ask.field("search").lstrip("?")
    searches = saved_searches(ask)
    if ask.field("remove"):
        searches.pop(ask.field("remove"), None)
    elif not name or len(search) > LONGEST_SEARCH:
        raise Invalid("A saved search needs a name, and fewer filters than this.")
    else:
        searches[name] = search
    kept = json.dumps(dict(list(searches.items())[-MOST_SAVED:])).encode().hex()  # a cookie takes no quotes
    answer = RedirectResponse(f"/memories?{search}" if search else render.address(ask, "/memories"), 303)
    return render.with_cookies(answer, {SAVED: kept})


def saved_searches(ask: Ask) -> dict[str, str]:
    """Return the saved searches of this browser, by name."""
    try:
        kept = parse_json(bytes.fromhex(ask.cookies[SAVED][:4_000]))
    except ValueError:
        return {}
    pairs = kept.items() if isinstance(kept, dict) else ()
    return {str(name)[:LONGEST_NAME]: str(search)[:LONGEST_SEARCH] for name, search in pairs}


def query_of(ask: Ask) -> Query:
    """Parse a query; a person gets more results than an agent, and no token budget."""
    given: dict[str, Any] = {f"{name}s": ask.texts(name) for name in ("kind", "scope", "tag")}
    given |= {name: render.start_of_date(ask, ask.text(name)) for name in ("since", "until")}
    given |= {"as_of": render.end_of_day(ask, ask.text("as_of")), "mode": ask.text("mode")[:40] or None}
    given |= {"author": ask.text("author")[:200], "session": ask.text("session")}
    return Query.of(ask.text("q"), everywhere=ask.everywhere, limit=LIMIT, **given)


def _state(ask: Ask) -> str:
    return ask.text("state") if ask.text("state") in STATES else "active"


def _added(ask: Ask, name: str, value: str) -> str:
    """Return the address of the list with one filter more."""
    others = () if name in ONE_VALUE else ask.texts(name)
    return render.here(ask, "/memories", **{name: tuple(dict.fromkeys([*others, value]))})


@render.page_at("/memories/facets", "memories_facets.html", "Filters", back="/memories")
def _whole(ask: Ask) -> dict[str, Any]:
    counts = {} if ask.everywhere else cached_until_event(ask, "facets", lambda: facets(ask.memory))
    return {"counts": counts, "add": partial(_added, ask)}


def _answer(ask: Ask) -> dict[str, Any]:
    query, sort = query_of(ask), ask.text("sort") if ask.text("sort") in SORTS else ""
    chosen = [  # the filters in use, each with the address without it
        (name, value, render.here(ask, "/memories", **{name: tuple(one for one in ask.texts(name) if one != value)}))
        for name in FILTERS
        for value in ask.texts(name)
    ]
    form: dict[str, Any] = {"query": query, "modes": get_args(Mode), "states": STATES, "state": _state(ask)}
    form |= {"as_of": ask.text("as_of")[:10], "names": list(KINDS), "sorts": SORTS, "sort": sort}
    links = {"chosen": chosen, "add": partial(_added, ask), "searches": saved_searches(ask)}
    links["sorted_by"] = lambda name: render.here(ask, "/memories", sort=name)
    links["exported"] = lambda form: render.here(ask, "/memories/export", format=form)
    return form | links | (_recalled(ask, query) if query.text else _listed(ask, query, form["state"], sort))


render.page_at("/memories/hits", "memories_hits.html", "Memories", back="/memories")(_answer)
render.page_at("/memories", "memories.html", "Memories", parts=(_whole,))(_answer)


def _recalled(ask: Ask, query: Query) -> dict[str, Any]:
    recalled = recall(ask.memory, query, surface=False)
    most = max((hit.why[name] for hit in recalled.hits for name in hit.why if name in MEANINGS), default=0.0)
    counts = {"kind": Counter(hit.record.kind for hit in recalled.hits)}
    counts |= {name: Counter(one for hit in recalled.hits for one in getattr(hit.record, f"{name}s")) for name in MANY}
    common = {name: one.most_common(8) for name, one in counts.items() if len(one) > 1}
    shown = {"recalled": recalled, "snippet": _without_title, "badge": badge, "meanings": MEANINGS, "push": PUSH}
    return shown | {"most": most or 1.0, "listed": None, "facets": common, "more": ""}


def _without_title(hit: Hit) -> str:
    title = hit.record.title.rstrip("…")
    return hit.snippet.removeprefix(title).lstrip(" .…:") if hit.snippet.startswith(title) else hit.snippet


def _listed(ask: Ask, query: Query, state: str, sort: str) -> dict[str, Any]:
    """List memories: latest first in one project by number, else in the chosen order."""
    place, wanted, note = ask.number("from", 0, 0, 2**53), replace(query, limit=PAGE), ""
    after = place + PAGE
    if sort == "trust" and not query.as_of:  # which is computed and in no table: of the newest, if there are very many
        found = browse(ask.memory, replace(query, limit=MOST_SORTED), states=(state,))
        trust = {one.record.id: one.trust_now for one in vitals_of(ask.memory, found.entries)}
        entries = sorted(found.entries, key=lambda entry: trust[entry.record.id])[place:after]
        ended = after >= len(found.entries)
        if found.total > MOST_SORTED:
            note = f"Only the newest {MOST_SORTED:,} of {found.total:,}: trust changes by the day."
    elif query.as_of or sort or ask.everywhere:
        found = _page(ask, wanted, state, place)
        entries, ended = list(found.entries), after >= found.total
        note = f"As agents knew it on {ask.text('as_of')[:10]}." if query.as_of else ""
    else:
        entries = latest(ask.memory, wanted, states=(state,), before=place)
        after, ended = entries[-1].number if entries else 0, len(entries) < PAGE
    more = "" if ended else render.here(ask, "/memories/hits", **{"from": after})
    judged = freshness(ask.memory, [entry.record for entry in entries])
    shown: dict[str, Any] = {"recalled": None, "badge": badge, "judged": judged, "facets": {}, "note": note}
    return shown | {"listed": vitals_of(ask.memory, entries), "more": more, "continues": bool(place)}


def _page(ask: Ask, query: Query, state: str, place: int = 0) -> Listed:
    """Return memories in the chosen order, or as they were at a date."""
    if query.as_of:
        return known_on(ask.memory, query, query.as_of, offset=place)
    order = ORDERS.get(ask.text("sort"), "newest")
    return browse(ask.memory, query, states=(state,), offset=place, order=order)


@render.answer_at("/find", render.PAGES)
def titles(ask: Ask) -> Response:
    """Return what fits some words best, of each sort that is asked for: name, title and address."""
    text = ask.text("q")[:200]
    found = []
    for sort in ask.text("places", "memory").split():
        if sort == "memory" and text:
            query = Query(text=text, everywhere=ask.everywhere, limit=TITLES, words_only=True, mode="exploratory")
            hits = recall(ask.memory, query, surface=False)
            found += render.table(hits, "found", page=lambda id_: render.address(ask, f"/r/{id_}"))
        where, names_of = PLACES.get(sort, ("", lambda *_: ()))
        pairs = ((one, one) if isinstance(one, str) else one for one in names_of(ask, text))
        near = sorted((len(title), title, id_) for id_, title in pairs if title and text.lower() in title.lower())
        found += [
            {"id": id_, "kind": sort, "title": title, "url": render.address(ask, where + quote(id_, safe=""))}
            for _, title, id_ in near[:MOST_PLACES]
        ]
    return JSONResponse({"found": found})


# What can be found by name: where it leads, and the names, or ids with titles.
PLACES: dict[str, tuple[str, Callable[[Ask, str], Iterable[Any]]]] = {
    "file": ("/file?path=", lambda ask, _: tracked(ask)),
    "folder": (
        "/map?folder=",
        lambda ask, _: {str(part) for file in tracked(ask) for part in PurePosixPath(file).parents} - {"."},
    ),
    "anchor": ("/file?path=", anchors),
    "session": (
        "/sessions/",
        lambda ask, _: (
            (one.id, one.title) for one in list_sessions(ask.memory, limit=MOST_SESSIONS, everywhere=ask.everywhere)
        ),
    ),
    "agent": ("/sessions?client=", lambda ask, _: session_agents(ask.memory, everywhere=ask.everywhere)),
    "person": ("/memories?author=", lambda ask, _: people(ask.memory, everywhere=ask.everywhere)),
}

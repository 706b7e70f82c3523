"""Search as you type, with the engine agents use: the reasons for each hit, its freshness, and facets."""

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any, get_args

from starlette.responses import Response

from holdfast.hosts.web import render
from holdfast.hosts.web.freshness import Badge, badge
from holdfast.hosts.web.viewer import Ask
from holdfast.model.errors import Invalid
from holdfast.model.kinds import KINDS
from holdfast.model.query import Hit, Mode, Query, Recalled
from holdfast.verbs.records.browse import browse, latest
from holdfast.verbs.search.recall import recall

LIMIT, PAGE = 30, 40
STATES = ("active", "pending", "held", "retired")
ADDED = ("words", "meaning", "session", "person", "date")  # what a score is made of; the rest are factors near 1
PUSH = 0.10  # how far one factor may push


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """One reason for a hit's rank: how strong, between 0 and 1, and its label."""

    name: str
    share: float
    said: str
    way: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A hit as it is displayed."""

    hit: Hit
    snippet: str
    badge: Badge | None
    signals: tuple[Signal, ...]


def page(ask: Ask) -> Response:
    """Return the search page with the results."""
    return render.page(ask, "search.html", title="Search", **_answer(ask))


def hits(ask: Ask) -> Response:
    """Return only the results, as a part of the page."""
    return render.page(ask, "search_hits.html", **_answer(ask))


def query_of(ask: Ask) -> Query:
    """Parse a query; a person gets more results than an agent, and no token budget."""
    return Query(
        text=ask.text("q"),
        everywhere=ask.everywhere,
        kinds=ask.texts("kind"),
        scopes=ask.texts("scope"),
        tags=ask.texts("tag"),
        session=ask.text("session"),
        since=ask.text("since"),
        until=ask.text("until"),
        as_of=ask.text("as_of"),
        limit=LIMIT,
        mode=mode_of(ask.text("mode")),
    )


def mode_of(name: str) -> Mode:
    """Parse the search mode."""
    mode: Mode | None = next((one for one in get_args(Mode) if one == (name or "balanced")), None)
    if mode is None:
        raise Invalid(f"There is no mode {name[:40]!r}.", hint=f"Use one of {', '.join(get_args(Mode))}.")
    return mode


def signals_of(hit: Hit, most: float) -> tuple[Signal, ...]:
    """Return the reasons for a hit's rank, the matches first."""
    added = [
        Signal(name=name, share=hit.why[name] / most if most else 0.0, said=f"{name} {hit.why[name]:.2f}")
        for name in hit.why
        if name in ADDED
    ]
    pushed = [
        Signal(
            name=name,
            share=abs(value - 1) / PUSH,
            said=f"{name} {100 * (value - 1):+.0f} %",
            way="up" if value > 1 else "down",
        )
        for name, value in hit.why.items()
        if name not in ADDED
    ]
    return (*added, *pushed)


def _answer(ask: Ask) -> dict[str, Any]:
    query = query_of(ask)
    shared: dict[str, Any] = {
        "query": query,
        "modes": get_args(Mode),
        "states": STATES,
        "state": ask.text("state") if ask.text("state") in STATES else "active",
        "names": list(KINDS),
    }
    return shared | (_recalled(ask, query) if query.text else _listed(ask, query, shared["state"]))


def _recalled(ask: Ask, query: Query) -> dict[str, Any]:
    recalled = recall(ask.memory, query, surface=False)
    most = max((hit.why[name] for hit in recalled.hits for name in hit.why if name in ADDED), default=0.0)
    shown = [
        Found(hit=hit, snippet=_without_title(hit), badge=badge(hit.freshness), signals=signals_of(hit, most))
        for hit in recalled.hits
    ]
    return {"recalled": recalled, "found": shown, "listed": None, "facets": _facets(recalled), "more": ""}


def _without_title(hit: Hit) -> str:
    """Return the snippet of a hit without its title."""
    title = hit.record.title.rstrip("…")
    return hit.snippet.removeprefix(title).lstrip(" .…:") if hit.snippet.startswith(title) else hit.snippet


def _facets(recalled: Recalled) -> dict[str, list[tuple[str, int]]]:
    """Count results by kind, scope and tag, most common first."""
    records = [hit.record for hit in recalled.hits]
    counts = {
        "kind": Counter(record.kind for record in records),
        "scope": Counter(scope for record in records for scope in record.scopes),
        "tag": Counter(tag for record in records for tag in record.tags),
    }
    return {name: one.most_common(8) for name, one in counts.items() if len(one) > 1}


def _listed(ask: Ask, query: Query, state: str) -> dict[str, Any]:
    """List memories, latest first: of one project by number, of all by date."""
    given: dict[str, Any] = {
        name: list(ask.texts(name)) for name in ("kind", "scope", "tag", "state", "since", "until")
    }
    place = ask.number("from", 0, 0, 2**53)
    wanted = replace(query, limit=PAGE)
    if ask.everywhere:
        found = list(browse(ask.memory, wanted, states=(state,), offset=place).entries)
        after = place + len(found)
    else:
        found = latest(ask.memory, wanted, states=(state,), before=place)
        after = found[-1].number if found else 0
    more = render.address(ask, "/search/hits", **{"from": after}, **given) if len(found) == PAGE else ""
    return {"recalled": None, "found": [], "listed": found, "facets": {}, "more": more, "continues": bool(place)}

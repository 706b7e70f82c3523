"""Insights: memories over time, what recalls and injections cost and bought, the effect of scars, the brief, and a simulated session."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from typing import Any

from holdfast.hosts.simulator import OCCASIONS, simulate
from holdfast.hosts.web import render
from holdfast.hosts.web.viewer import WORDS, Ask, cached_until_event
from holdfast.model.ids import days_before
from holdfast.verbs.records.freshness import is_here
from holdfast.verbs.records.read import newest_of_kind
from holdfast.verbs.sessions.analyze import blind_among, wordings
from holdfast.verbs.sessions.opening_brief import brief_of
from holdfast.verbs.sessions.receipts import brief_given, compare
from holdfast.verbs.sessions.scars import Effect, effects
from holdfast.verbs.upkeep.health import Days, day_by_day

CHOICES = (30, 90, 365)
LABELS = 7  # dates below a plot, an odd number: a phone leaves out every second
MOST_SCARS, MOST_LISTED = 100, 500
FAMILIES = {name: kinds.split() for name, kinds in WORDS["families"].items()}
RECALLS, BOUGHT = ("used", "answered", "empty"), ("used", "not used")
OUTCOMES = ("applied", "succeeded", "acknowledged", "ignored", "contradicted", "refuted")
Counts = Mapping[str, Counter[str]]
NONE = Counter[str]()


@dataclass(frozen=True, slots=True)
class Plot:
    """A stacked bar for each day; with `shares` every bar is as high as the plot, and shows shares in per cent."""

    title: str
    why: str
    series: Sequence[str]
    counts: Counts
    shares: bool = False
    of_memories: bool = False  # a day leads to the memories saved on it, else to its sessions

    def label(self) -> str:
        """Return the plot as a sentence."""
        total = _total(self.counts)
        return f"{self.title}: " + ", ".join(f"{name} {total[name]:,}" for name in self.series)

    def top(self, days: Sequence[str]) -> float:
        """Return the end of the axis; 0 if there is nothing to draw."""
        most = max((sum(self.counts.get(day, NONE)[name] for name in self.series) for day in days), default=0)
        return (100.0 if self.shares else nice(most)) if most else 0.0

    def bars(self, ask: Ask, days: Sequence[str]) -> list[dict[str, Any]]:
        """Return the bars of the days on which something happened, and where each leads: to its memories or sessions.

        The boxes of a bar are its series, each with its distance from the top and its height in per cent.
        """
        bars, top = list[dict[str, Any]](), self.top(days)
        for day in days:
            own = {name: value for name in self.series if (value := self.counts.get(day, NONE)[name])}
            total, above, boxes, said = sum(own.values()), 100.0, list[tuple[int, float, float]](), list[str]()
            for name, value in own.items():
                height = 100 * value / (total if self.shares else top)
                above -= height
                boxes.append((self.series.index(name), above, height))
                said.append(f"{name} {value:g}" + (f" ({value / total:.0%})" if self.shares else ""))
            after = (date.fromisoformat(day) + timedelta(days=1)).isoformat()
            memories = render.address(ask, "/memories", since=day, until=after)
            href = memories if self.of_memories else render.address(ask, "/sessions", on=day)
            bars += [{"day": day, "text": ", ".join(said), "href": href, "boxes": boxes}] if boxes else []
        return bars


def nice(most: float) -> float:
    """Return the next round number for the end of an axis; its half is a whole number."""
    size = 1.0
    while size * 10 < most:
        size *= 10
    ends = (round(size * step) for step in (1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10))
    return next(end for end in ends if end >= most and end % 2 == 0)


def days_of(ask: Ask) -> int:
    """Parse how many days back to look."""
    return ask.number("days", 90, 7, 365)


def _daily(ask: Ask) -> Days:
    days = days_of(ask)
    count = partial(day_by_day, ask.memory, days=days, everywhere=ask.everywhere, zone=ask.zone)
    return cached_until_event(ask, "days", count, days)


def _rows(ask: Ask) -> list[render.Row]:
    daily, rows = _daily(ask), list[render.Row]()
    for day in daily.days:
        recalls, tokens, outcomes = (one.get(day, NONE) for one in (daily.recalls, daily.tokens, daily.outcomes))
        row = {"day": day, "saved": daily.kept.get(day, NONE).total()}
        row |= {f"recalls_{name}": recalls[name] for name in RECALLS}
        row |= {"tokens_injected_used": tokens["used"], "tokens_injected_not_used": tokens["injected"]}
        rows.append(row | {"tokens_recalled": tokens["recalled"]} | {name: outcomes[name] for name in OUTCOMES})
    return rows


@render.page_at("/insights/plots", "insights_plots.html", "Insights", back="/insights")
def _figures(ask: Ask) -> dict[str, Any]:
    daily = _daily(ask)
    families = {
        day: Counter({name: sum(counts[kind] for kind in kinds) for name, kinds in FAMILIES.items()})
        for day, counts in daily.kept.items()
    }
    bought = {day: Counter({"used": one["used"], "not used": one["injected"]}) for day, one in daily.tokens.items()}
    returned = "share of recalls that returned something, and what was then used"
    plots = [
        Plot("Memories saved", "by day and family", tuple(FAMILIES), families, of_memories=True),
        Plot("Recall success", returned, RECALLS, daily.recalls, shares=True),
        Plot("Tokens injected", "and whether the memories injected were then used", BOUGHT, bought),
        Plot("Tokens returned by recalls", "which agents asked for", ("recalled",), daily.tokens),
        Plot("Outcomes", "as reported by agents and people", OUTCOMES, daily.outcomes),
    ]
    ends = len(daily.days) - 1
    ticks = dict.fromkeys(daily.days[round(place * ends / (LABELS - 1))] for place in range(LABELS))
    totals = {"kept": sum(one.total() for one in daily.kept.values()), "recalls": _total(daily.recalls)}
    totals |= {"tokens": _total(daily.tokens), "outcomes": _total(daily.outcomes), "observed": daily.observed}
    return totals | {"timings": daily.timings, "dates": daily.days, "ticks": ticks, "plots": plots}


@render.page_at("/insights", "insights.html", "Insights", parts=(_figures,), rows=_rows)
def _insights(ask: Ask) -> dict[str, Any]:
    return {"days": days_of(ask), "choices": CHOICES}


def _total(counts: Counts) -> Counter[str]:
    return sum(counts.values(), Counter[str]())


def _effects(ask: Ask) -> list[Effect]:
    days = ask.number("days", 90, 1, 3_650)
    return cached_until_event(ask, "scars", lambda: effects(ask.memory, days=days), days)


@render.page_at("/scars", "scars.html", "Scars", rows=lambda ask: render.table(_effects(ask), "scars"))
def _scars(ask: Ask) -> dict[str, Any]:
    days, shown_scars = ask.number("days", 90, 1, 3_650), _effects(ask)
    kept, seen = newest_of_kind(ask.memory, "scar", limit=MOST_LISTED), {one.scar.id for one in shown_scars}
    outcomes = sum((Counter(one.outcomes) for one in shown_scars), Counter[str]())
    never = [record for record in kept if record.id not in seen]
    shown = {"days": days, "choices": CHOICES, "wordings": wordings(ask.memory, days=days)}
    shown |= {"effects": shown_scars[:MOST_SCARS], "more": max(0, len(shown_scars) - MOST_SCARS)}
    shown |= {"shown": sum(one.shown for one in shown_scars), "outcomes": outcomes, "blind": blind_among(shown_scars)}
    return shown | {"total": len(kept), "most_listed": MOST_LISTED, "never": never}


@render.page_at("/brief", "brief.html", "Brief")
def _brief(ask: Ask) -> dict[str, Any]:
    """Return what a session would get now, what sessions got on two dates, and what changed between them."""
    made = brief_of(ask.memory)
    week_ago = render.date_of(ask, days_before(ask.memory.clock.now(), 7))
    dates = {"from": ask.text("from") or week_ago, "to": ask.text("to")}
    earlier, later = (brief_given(ask.memory, render.end_of_day(ask, day)) if day else None for day in dates.values())
    now_in_it = tuple(ask.memory.known(made.ids).values())
    current = now_in_it if not dates["to"] else later["records"] if later else ()
    change = compare(earlier["records"], current) if earlier else None
    return {"made": made, "dates": dates, "earlier": earlier, "later": later, "change": change}


@render.page_at("/simulate", "simulate.html", "Simulator")
def _simulated(ask: Ask) -> dict[str, Any]:
    """Return what hooks would inject into a session for a text, and why; on another branch or date if one is given."""
    text, occasion, branch = ask.text("q"), ask.text("as"), ask.text("branch")[:200]
    date = ask.text("as_of")[:10]
    at = render.end_of_day(ask, date) if date < render.date_of(ask, ask.memory.clock.now()) else ""
    occasions = (occasion,) if occasion in OCCASIONS else OCCASIONS
    branches = sorted(ask.memory.checkout.tips()) if is_here(ask.memory, ask.memory.project) else ()
    asked = {"text": text, "occasion": occasion, "occasions": OCCASIONS, "branch": branch, "branches": branches}
    return asked | {"as_of": date, "steps": simulate(ask.memory, text, occasions, branch=branch, at=at)}

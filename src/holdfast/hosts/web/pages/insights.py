"""Insights: memories over time, recall results, token cost, outcomes, and the cost of hooks."""

from collections import Counter
from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

from markupsafe import Markup
from starlette.responses import Response

from holdfast.hosts.web import plots, render
from holdfast.hosts.web.download import download, is_wanted
from holdfast.hosts.web.viewer import Ask, cached_until_event, is_large
from holdfast.verbs.upkeep.overview import Days, day_by_day

CHOICES = (30, 90, 365)
FAMILIES = {
    "facts": ("fact", "reference", "preference"),
    "lessons": ("scar", "learning", "pattern", "anti_pattern", "win"),
    "decisions": ("decision", "inception", "elicitation"),
    "work": ("thread", "progress", "blocker", "review"),
    "sessions": ("summary", "retrospective"),
    "observations": ("observation",),
}
RECALLS, BOUGHT = ("used", "answered", "empty"), ("used", "not used")
OUTCOMES = ("applied", "succeeded", "acknowledged", "ignored", "contradicted", "refuted")


def page(ask: Ask) -> Response:
    """Return the plots, unless the project is so large that they load later."""
    later, days = is_large(ask), days_of(ask)
    if is_wanted(ask):
        return download(ask, "insights", _rows(_daily(ask, days)))
    shown = {} if later else _figures(ask, days)
    return render.page(ask, "insights.html", title="Insights", days=days, choices=CHOICES, later=later, **shown)


def plots_part(ask: Ask) -> Response:
    """Return the plots, as a part of the page."""
    return render.part(ask, "insights_plots.html", "Insights", "/insights", **_figures(ask, days_of(ask)))


def days_of(ask: Ask) -> int:
    """Parse how many days back to look."""
    return ask.number("days", 90, 7, 365)


def _daily(ask: Ask, days: int) -> Days:
    daily: Days = cached_until_event(
        ask,
        "days",
        lambda: day_by_day(ask.memory, days=days, everywhere=ask.everywhere, zone=ask.zone),
        days,
        str(ask.zone),
    )
    return daily


def _rows(daily: Days) -> list[dict[str, object]]:
    """Return a row for each day with everything that is drawn."""
    none = Counter[str]()
    return [
        {
            "day": day,
            "saved": daily.kept.get(day, none).total(),
            **{f"recalls_{name}": daily.recalls.get(day, none)[name] for name in RECALLS},
            "tokens_injected_used": daily.tokens.get(day, none)["used"],
            "tokens_injected_not_used": daily.tokens.get(day, none)["injected"],
            "tokens_recalled": daily.tokens.get(day, none)["recalled"],
            **{name: daily.outcomes.get(day, none)[name] for name in OUTCOMES},
        }
        for day in daily.days
    ]


def _figures(ask: Ask, days: int) -> dict[str, Any]:
    daily = _daily(ask, days)
    recalls, tokens, outcomes = (_total(one) for one in (daily.recalls, daily.tokens, daily.outcomes))
    asked, injected = recalls.total(), tokens["injected"] + tokens["used"]
    return {
        "kept": sum(one.total() for one in daily.kept.values()),
        "asked": asked,
        "answered": 1 - recalls["empty"] / asked if asked else 0.0,
        "used": recalls["used"] / asked if asked else 0.0,
        "tokens": tokens,
        "injected": injected,
        "bought": tokens["used"] / injected if injected else 0.0,
        "outcomes": outcomes,
        "observed": daily.observed,
        "timings": daily.timings,
        "plots": _plots(ask, daily),
    }


def _plots(ask: Ask, found: Days) -> list[tuple[str, str, Markup, Markup]]:
    families = {
        day: Counter({name: sum(counts[kind] for kind in kinds) for name, kinds in FAMILIES.items()})
        for day, counts in found.kept.items()
    }
    bought = {day: Counter({"used": one["used"], "not used": one["injected"]}) for day, one in found.tokens.items()}
    drawn = (
        ("Memories saved", "by day and family", tuple(FAMILIES), families),
        (
            "Recall success",
            "share of recalls that returned something, and of those whose memories were then used",
            RECALLS,
            found.recalls,
        ),
        ("Tokens injected", "and what they bought: whether the memories injected were then used", BOUGHT, bought),
        ("Tokens returned by recalls", "which agents asked for", ("recalled",), found.tokens),
        ("Outcomes", "as reported by agents and people", OUTCOMES, found.outcomes),
    )
    return [
        (title, why, _drawn(ask, found, title, series, counts), plots.legend(series))
        for title, why, series, counts in drawn
    ]


def _drawn(ask: Ask, found: Days, title: str, series: tuple[str, ...], counts: Mapping[str, Counter[str]]) -> Markup:
    """Draw one plot; a day leads to its memories, or to its sessions."""

    def link(day: str) -> str:
        if title == "Memories saved":
            until = (date.fromisoformat(day) + timedelta(days=1)).isoformat()
            return render.address(ask, "/memories", since=day, until=until)
        return render.address(ask, "/sessions", on=day)

    shares = title == "Recall success"
    return plots.stacked(found.days, series, counts, _sentence(title, series, counts), link, shares=shares)


def _sentence(title: str, series: tuple[str, ...], counts: Mapping[str, Counter[str]]) -> str:
    total = _total(counts)
    return f"{title}: " + ", ".join(f"{name} {total[name]:,}" for name in series)


def _total(counts: Mapping[str, Counter[str]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for one in counts.values():
        total.update(one)
    return total

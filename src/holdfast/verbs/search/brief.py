"""Write a brief of what a sub-agent should know about its task, without recording impressions."""

from holdfast.model.errors import Invalid
from holdfast.model.kinds import fitting
from holdfast.model.query import Query
from holdfast.model.text import check_text
from holdfast.policy.freshness import doubts_of
from holdfast.policy.sessions.plan_brief import BUDGETS, FORMATS, SMALLEST, Brief
from holdfast.policy.sessions.plan_brief import brief as written
from holdfast.verbs.memory import Memory
from holdfast.verbs.search.recall import recall

LONGEST_PLAN = 500
HITS = {"full": 10, "compact": 8, "gate": 20}
LESSONS = tuple("scar anti_pattern win pattern learning decision fact reference preference blocker".split())


def brief(memory: Memory, plan: str, *, form: str = "compact", budget: int = 0) -> Brief:
    """Return a brief for a plan: `full`, `compact` or `gate` (only blocking scars), at most `budget` tokens long."""
    said = check_text(plan, "plan", LONGEST_PLAN)
    if form not in FORMATS:
        raise Invalid(f"There is no brief {form!r}.", hint=f"Use one of {', '.join(FORMATS)}.")
    room = fitting("budget", int, budget) or BUDGETS[form]
    if room < SMALLEST:
        raise Invalid(f"A brief needs at least {SMALLEST} tokens.")
    kinds = ("scar",) if form == "gate" else LESSONS
    found = recall(memory, Query(text=said, kinds=kinds, limit=HITS[form]), surface=False)
    doubts = doubts_of({hit.record.id: hit.freshness for hit in found.hits if hit.freshness})
    return written(said, [hit.record for hit in found.hits], form, room, doubts)

"""The native tools as a model meets them, on a real store: what they say, and that they keep to their budget."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.hosts.mcp.offer import tool_to_json
from holdfast.hosts.mcp.protocol import server_of
from holdfast.model.event import Actor
from holdfast.model.ids import short
from holdfast.model.kinds import KINDS
from holdfast.model.text import tokens_of
from holdfast.surfaces.core import surface
from holdfast.verbs.memory import Memory
from holdfast.verbs.sessions.session import begin
from tests.conftest import Time, keep, make_memory
from tests.rows import each, missing
from tests.surfaces.conftest import Tools

EVIDENCE = "Ran the migration on a copy of production and compared the row counts."
SCAR = {"severity": "high", "counter_arguments": ["It is only a column.", "There is a backup."]}
LESSON = {
    **SCAR,
    "why": "The shop was down for an hour.",
    "applies_when": ["altering orders"],
    "action_protocol": ["Run it twice"],
    "self_check": ["Counts match"],
}
REFLECTION = {
    "what_broke": "the seed",
    "what_took_longer": "finding out",
    "do_differently": "migrate first",
    "what_worked": "small steps",
    "wrong_assumption": "seed migrates",
}


@pytest.fixture
def memory(tmp_path: Path, time: Time) -> Iterator[Memory]:
    with make_memory(tmp_path, time, actor=Actor(kind="agent", name="claude"), config={"starters": False}) as opened:
        yield begin(opened, implicit=True)


@pytest.fixture
def tools(memory: Memory) -> Tools:
    return Tools(memory, surface)


def test_the_surface_is_small_and_each_part_of_it_described() -> None:
    listed = [tool_to_json(tool) for tool in surface.tools.values()]
    assert len(listed) == 12
    assert len(json.dumps({"tools": listed})) <= 10_000
    assert all(30 <= len(tool["description"]) < 2_000 and tool["title"] for tool in listed)
    assert len(surface.instructions) < 2_000
    assert [tool["name"] for tool in listed if tool["annotations"].get("destructiveHint")] == ["forget"]
    assert list(surface.resources) == [
        "holdfast://hot",
        "holdfast://project",
        "holdfast://record/{id}",
        "holdfast://session/{id}",
    ]
    assert list(surface.prompts) == ["start_work", "close_work", "review_candidates"]


def test_a_session_starts_with_one_page_and_ends_with_what_it_left(tools: Tools) -> None:
    first = tools("session", action="start", title="Auth migration", issue="SHOP-12")
    assert missing(first, "This is the first session here.", "Working on: SHOP-12 Auth migration") == []
    tools("recall", query="auth")
    payload = {
        "closing_reflection": {**REFLECTION, "collaboration": "likes small diffs"},
        "human_corrections": "",
        "summary": {"completed": "login works", "next_steps": "logout"},
        "decisions": ["Use JWT for the API"],
        "open_threads": ["Rate limits are missing"],
    }
    closed = tools("session", action="close", payload=payload)
    assert missing(closed, "closed (standard): Auth migration", "human_asked_for_corrections True") == []
    second = tools("session", action="start")
    for part in (
        "Last session (",
        "completed: login works",
        "next steps: logout",
        "Working together: likes small diffs",
        "Rate limits are missing",
        "Use JWT for the API",
    ):
        assert part in second
    assert "SHOP-12 1" in tools("explore", view="analytics")
    assert "wrong assumption (" in tools("explore", view="reflections")
    listed = tools("session", action="list")
    assert listed.startswith("2 sessions:")
    shown = tools("session", action="show", id=listed.splitlines()[2].split()[0])
    assert "[decision] Use JWT for the API" in shown
    assert "Nothing recurred" in tools("session", action="patterns")


def test_a_close_that_is_not_proper_says_what_to_answer(tools: Tools) -> None:
    tools("session", action="start")
    said = tools("session", action="close", payload={"what_broke": "x"})
    assert missing(said, "is NOT closed, and nothing was written", "- answer what_worked: What worked well?") == []
    assert "closed (quick)" in tools("session", action="close", close_type="quick")


def test_scars_are_shown_with_advice_and_want_an_answer_until_they_get_one(memory: Memory, tools: Tools) -> None:
    scar = keep(memory, "Migrations of orders need a way back.", kind="scar", fields=LESSON)
    shown = tools("recall", query="migrations of orders")
    assert "1 memory fits (confidence high; 1 scar to review)" in shown
    for part in (
        "why: The shop was down",
        "when: altering orders",
        "against it: It is only a column.",
        "1 scar shown in this session not answered",
    ):
        assert part in shown
    assert ("Do: Run it twice" in shown) != ("Done when: Counts match" in shown)
    assert "not answered" in tools("remember", text="We use JWT for the API.", kind="decision")
    assert "not answered" not in tools("remember", text="The API listens on port 8080.", kind="fact")
    assert "not answered" in tools("explore", view="health")
    wrong = tools.error("judge", judgements=[{"id": scar.id, "verdict": "APPLYING", "evidence": "I will"}])
    assert "50 are needed" in wrong
    told = tools(
        "judge",
        judgements=[
            {"id": scar.id[:12], "verdict": "APPLYING", "evidence": EVIDENCE},
            {"id": scar.id, "verdict": "succeeded"},
        ],
    )
    assert "Every scar shown in this session is answered." in told
    assert "not answered" not in tools("remember", text="We use Redis for sessions.", kind="decision")
    effect = tools("explore", view="scars")
    assert "shown 1, applied 1, succeeded 1, weight 100%" in effect
    assert re.search(
        r"Wording “(steps|goal)”: shown 1, applied 100% \(applied 1, succeeded 1\)", tools("explore", view="analytics")
    )


def test_a_blocking_scar_comes_first_with_what_to_run(memory: Memory, tools: Tools) -> None:
    keep(memory, "Deploys of the shop need notes, and notes about deploys of the shop.", kind="scar", fields=SCAR)
    blocking = {**SCAR, "severity": "low", "blocking": True, "verify_with": ["make check"], "must_show": "0 errors"}
    keep(memory, "Deploys of the shop are verified.", kind="scar", fields=blocking)
    shown = tools("recall", query="deploys of the shop notes")
    assert shown.index("are verified") < shown.index("need notes")
    assert "BLOCKS until verified. Run: make check Must show: 0 errors" in shown
    assert "STOP until verified" in tools("brief", plan="deploys of the shop", form="gate")


def test_threads_from_opening_to_resolution(tools: Tools) -> None:
    assert "No thread is open" in tools("thread", action="list")
    assert tools("thread", action="open", text="Write the runbook").startswith("Opened ")
    assert "Already open, touched" in tools("thread", action="open", text="write the runbook!")
    listed = tools("thread", action="list")
    assert listed.startswith("1 thread:")
    thread = listed.splitlines()[1].split()[0]
    assert tools("thread", action="touch", id=thread).startswith("Touched")
    assert "emerging: 1" in tools("thread", action="triage")
    assert "→ in the wiki" in tools("thread", action="resolve", text="runbook", note="in the wiki")
    assert "in the wiki" in tools("thread", action="resolved")
    assert tools("thread", action="reopen", id=thread).startswith("Reopened")
    assert "There are no suggestions" in tools("thread", action="suggestions")
    assert "not a pending suggestion" in tools.error("thread", action="promote", id=thread)
    assert "Not saved: The text contains credentials" in tools(
        "thread", action="open", text="rotate AKIA" + "IOSFODNN7EXAMPLQ"
    )


def test_suggestions_are_promoted_or_dismissed(tools: Tools) -> None:
    for _ in range(3):
        tools("session", action="start", title="Flaky checkout test in CI", force=True)
        closed = tools("session", action="close", close_type="quick", payload={"summary": "looked at it"})
    assert "Suggested thread:" in closed
    offered = tools("thread", action="suggestions")
    suggestion = offered.splitlines()[1].split()[0]
    assert "2 more times at most" in tools("thread", action="dismiss", id=suggestion)
    assert tools("thread", action="promote", id=suggestion).startswith("Opened")


def test_observations_are_absorbed_and_lead_to_lessons(tools: Tools) -> None:
    said = tools(
        "absorb",
        observations=[{"text": "The job failed silently on empty input", "source": "reviewer"}, {"text": "Fine here"}],
        task="review",
    )
    assert said.startswith("Saved 2 observations: ")
    assert "1 may be lessons" in said
    assert "failed silently" in tools("explore", view="candidates")
    assert "text is required" in tools.error("absorb", observations=[{"source": "x"}])


def test_transcripts_are_kept_and_found(tools: Tools) -> None:
    assert "Saved the transcript" in tools(
        "session", action="save_transcript", text="user: why does the nightly import fail?"
    )
    assert "nightly import" in tools("session", action="search_transcripts", text="nightly imports")
    assert tools("session", action="search_transcripts", text="kubernetes") == "No transcript matches."


def test_exploring(memory: Memory, tools: Tools) -> None:
    one = keep(memory, "The queue is RabbitMQ.", scopes=("infra",))
    two = keep(memory, "Queues are declared in infra/queues.tf.", kind="learning")
    tools("revise", id=two.id, links=[f"elaborates:{one.id}"])
    assert f"{short(two.id)} Queues are declared in infra/queues.tf. —elaborates→ {short(one.id)}" in tools(
        "explore", view="graph", about=one.id
    )
    assert short(two.id) in tools("explore", view="timeline", about=one.id)
    assert "Queues are declared" in tools("explore", view="log")
    assert "1 infra" in tools("explore", view="scopes")
    assert "No scar was shown" in tools("explore", view="scars")
    assert "2 memories in example.org/acme/shop" in tools("explore", view="health")


@each("topic", ["", "confirm", "closing", "writing", "recall", *KINDS])
def test_help_knows_every_topic(tools: Tools, topic: str) -> None:
    assert len(tools("help", topic=topic)) > 20


@pytest.mark.parametrize("budget", [50, 80, 200, 1_000])
def test_no_answer_is_above_its_budget(memory: Memory, tools: Tools, budget: int) -> None:
    ids = [
        keep(
            memory,
            f"Deploy note {number}: " + f"naïve – detail{number * 7} in{number}side out{number}side " * 30,
            kind="scar",
            fields=LESSON,
        ).id
        for number in range(6)
    ]
    assert tokens_of(tools("recall", query="deploy note detail", budget=budget)) <= budget
    assert tokens_of(tools("read", ids=ids[:1], budget=budget)) <= budget
    assert tokens_of(tools("read", ids=ids, budget=budget, level="history")) <= budget
    assert tokens_of(tools("brief", plan="deploy note", form="full", budget=budget)) <= budget


def test_lists_of_any_length_keep_to_their_budget(tools: Tools) -> None:
    for number in range(120):
        tools(
            "thread",
            action="open",
            text=f"Thread {number} about topic {'abcdefghij'[number % 10] * 9} " + "word " * 20,
            force=True,
        )
    listed = tools("thread", action="list")
    assert tokens_of(listed) <= 1_500
    assert re.search(r"\(\d+ more: resolve or triage some\)", listed)
    assert tokens_of(tools("session", action="show")) <= 1_500
    assert tokens_of(tools("session", action="start")) <= 1_500
    assert "Threads (120 open, showing 5)" in tools("session", action="refresh")


def test_a_long_text_is_read_on_from_where_it_was_cut(memory: Memory, tools: Tools) -> None:
    record = keep(memory, "\n".join(f"line {number} of the log" for number in range(400)))
    start, seen = 0, ""
    for _ in range(40):
        part = tools("read", ids=[record.id], start=start, budget=400)
        assert part.count("</memory>") == 1
        seen += part.split("\n", 1)[1].split("\n</memory>")[0]
        found = re.search(r"read with start=(\d+)", part)
        if not found:
            break
        start = int(found[1])
    assert seen.split() == record.body.split()


def test_resources_and_prompts_say_what_matters(memory: Memory, tools: Tools) -> None:
    server = server_of([surface], tools.call_)

    def resource(uri: str) -> str:
        return str(server.answer("resources/read", {"uri": uri})["contents"][0]["text"])

    def prompt(name: str, **arguments: str) -> str:
        answer = server.answer("prompts/get", {"name": name, "arguments": arguments})
        return str(answer["messages"][0]["content"]["text"])

    assert resource("holdfast://hot").startswith("The hot set is empty")
    record = keep(memory, "The API listens on port 8080.")
    tools("judge", judgements=[{"id": record.id, "verdict": "applied"}])
    tools("judge", judgements=[{"id": record.id, "verdict": "applied"}])
    tools("judge", judgements=[{"id": record.id, "verdict": "applied"}])
    assert "The API listens on port 8080. (used since" in resource("holdfast://hot")
    assert "Project example.org/acme/shop" in resource("holdfast://project")
    assert '<memory id="' in resource(f"holdfast://record/{record.id}")
    assert "1 memory, last active" in resource(f"holdfast://session/{memory.actor.session}")
    assert "I want to work on: rate limits" in prompt("start_work", task="rate limits")
    assert "9. What dynamic between you worked" in prompt("close_work")
    tools("absorb", observations=[{"text": "It failed silently", "source": "x"}])
    tools("remember", text="Likes short answers.", kind="preference", inferred=True)
    review = prompt("review_candidates")
    assert missing(review, "It failed silently", "1 memory pending") == []


def test_triggers_are_set_revised_and_reported_with_what_was_inferred(tools: Tools) -> None:
    said = tools("remember", text="`docker system prune` deleted the registry.", kind="scar", fields=SCAR)
    assert "warns at `docker system prune` (inferred from its text)" in said
    id_ = said.split()[2].rstrip(":")
    assert "warns at `docker system prune` (inferred from its text)" in tools("read", ids=[id_])
    tools("revise", id=id_, triggers=["docker system prune --volumes", "path:docker/*.yml"])
    assert "warns at `docker system prune --volumes`; edits of docker/*.yml" in tools("read", ids=[id_])
    assert "nearly everything" in tools.error("revise", id=id_, triggers=["*"])
    said = tools("remember", text="Deploys need two approvals.", triggers=["fly deploy"])
    assert "warns at `fly deploy`" in said

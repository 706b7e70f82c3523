"""The native tools as a model meets them, on a real store: what they say, and that they keep to their budget."""

import json
import re
from dataclasses import replace
from typing import Any

from holdfast.hosts.mcp.protocol import tool_to_json
from holdfast.model.event import Actor
from holdfast.model.kinds import KINDS
from holdfast.model.record import Draft
from holdfast.model.text import tokens_of
from holdfast.policy.admission.admit import Waivers
from holdfast.surfaces.core.tools import surface
from holdfast.verbs.capture.mining import log_output, mine_outputs
from holdfast.verbs.memory import Memory
from holdfast.verbs.sessions.session import begin
from holdfast.verbs.truth.contradictions import PROGRESS, mark
from tests.conftest import keep, make_memory
from tests.rows import each, opened
from tests.surfaces.conftest import answer
from tests.surfaces.examples import SCAR
from tests.surfaces.scripts import scripts_in
from tests.verbs import scripts

scripts_in(globals())


OWN: dict[str, Any] = {"actor": Actor(kind="agent", name="claude"), "config": {"starters": False}}
memory = opened(lambda tmp_path, time: begin(make_memory(tmp_path, time, **OWN), implicit=True))


def test_the_surface_is_small_and_each_part_of_it_described() -> None:
    listed = [tool_to_json(tool) for tool in surface.tools.values()]
    assert len(listed) == 12
    assert len(json.dumps({"tools": listed})) <= 10_000
    assert all(30 <= len(tool["description"]) < 2_000 and tool["title"] for tool in listed)
    assert len(surface.instructions) < 2_000
    assert [tool["name"] for tool in listed if tool["annotations"].get("destructiveHint")] == ["forget"]
    reading = ["recall", "read", "brief", "explore", "help"]
    assert [tool["name"] for tool in listed if tool["annotations"]["readOnlyHint"]] == reading
    resources = [f"holdfast://{path}" for path in ("hot", "project", "record/{id}", "session/{id}")]
    assert list(surface.resources) == resources
    assert list(surface.prompts) == ["start_work", "close_work", "review_candidates"]


@each("topic", ["", "confirm", "closing", "writing", "recall", *KINDS])
def test_help_knows_every_topic(memory: Memory, topic: str) -> None:
    assert len(answer(surface, memory, "help", topic=topic)) > 20


def test_no_answer_is_above_its_budget(memory: Memory) -> None:
    text = " ".join(f"naïve – detail{number} in{number}side out{number}side " * 30 for number in range(2))
    ids = [keep(memory, f"Deploy note {n}: word{n * 7} {text}", kind="scar", fields=SCAR).id for n in range(6)]
    for budget in (50, 80, 200, 1_000):
        assert tokens_of(answer(surface, memory, "recall", query="deploy note detail", budget=budget)) <= budget
        assert tokens_of(answer(surface, memory, "read", ids=ids[:1], budget=budget)) <= budget
        assert tokens_of(answer(surface, memory, "read", ids=ids, budget=budget, level="history")) <= budget
        assert tokens_of(answer(surface, memory, "brief", plan="deploy note", form="full", budget=budget)) <= budget


def test_a_long_text_is_read_on_from_where_it_was_cut(memory: Memory) -> None:
    record = keep(memory, "\n".join(f"line {number} of the log" for number in range(400)))
    start, seen = 0, ""
    for _ in range(40):
        part = answer(surface, memory, "read", ids=[record.id], start=start, budget=400)
        assert part.count("</memory>") == 1
        seen += part.split("\n", 1)[1].split("\n</memory>")[0]
        found = re.search(r"read with start=(\d+)", part)
        if not found:
            break
        start = int(found[1])
    assert seen.split() == record.body.split()


def test_lists_of_pairs_keep_to_their_budget(memory: Memory) -> None:
    memory = replace(memory, classifier=None)  # nothing is compared while it is shown
    pairs = []
    for number in range(40):
        body = f"Service number {number} of the shop is {{}} by the platform team and runs on Kubernetes."
        drafts = [Draft(body=body.format(owned)) for owned in ("owned", "not owned")]
        one, other = (scripts.keep(memory, draft, waivers=Waivers(duplicate=True)) for draft in drafts)
        mark(memory, one.id, other.id)
        pairs.append((one.id, other.id))
        log_output(memory, f"We decided to use port {number} instead of {number + 1} because it is free.", f"s{number}")
    memory.store.note(PROGRESS, json.dumps({"seq": memory.store.last_seq(), "by": "", "same": pairs}))
    mine_outputs(memory)
    for view in ("contradictions", "duplicates", "mined"):
        shown = answer(surface, memory, "explore", view=view, limit=100)
        assert 1_000 < tokens_of(shown) <= 1_500, (view, shown)

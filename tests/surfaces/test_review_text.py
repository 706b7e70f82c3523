"""Contradictions, near-duplicates and mining as a model meets them."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.model.ids import short
from holdfast.model.record import Draft, Record
from holdfast.model.text import tokens_of
from holdfast.policy.admission.admit import Waivers
from holdfast.surfaces.core import surface
from holdfast.surfaces.tool import Call
from holdfast.verbs.capture.mining import log_output, mine_outputs
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.write import Written, write
from holdfast.verbs.truth.consolidate import proposals
from holdfast.verbs.truth.contradictions import mark
from tests.conftest import Time, keep, make_memory

OLD, NEW = "The rate limit is 100 requests per minute.", "The rate limit is 500 requests per minute."
PLAIN = "We decided to use Postgres instead of MySQL because of the JSON columns."


@pytest.fixture
def memory(tmp_path: Path, time: Time) -> Iterator[Memory]:
    with make_memory(tmp_path, time) as opened:
        yield opened


def said(memory: Memory, name: str, **arguments: object) -> str:
    answer = surface.call(Call(open=lambda: memory), name, arguments)
    assert not answer.failed, answer.text
    return answer.text


def forced(memory: Memory, body: str) -> Record:
    outcome = write(memory, Draft(body=body), waivers=Waivers(duplicate=True))
    assert isinstance(outcome, Written)
    return outcome.record


def test_a_write_tells_what_it_contradicts_and_how_to_say_which_holds(memory: Memory, time: Time) -> None:
    old = keep(memory, OLD)
    time.pass_days(1)
    told = said(memory, "remember", text=NEW)
    assert f"seems to contradict {short(old.id)}" in told
    new = told.split()[2].rstrip(":")
    assert f"revise({short(new)}, links=[supersedes:{short(old.id)}])" in told
    assert f"links=[relates_to:{short(old.id)}]" in told
    shown = said(memory, "explore", view="contradictions")
    assert "the older text says 100, the newer 500" in shown
    assert short(old.id) in said(memory, "explore", view="contradictions", about=new)
    said(memory, "revise", id=new, links=[f"supersedes:{old.id}"])
    assert said(memory, "explore", view="contradictions").startswith("No contradiction is open.")


def test_a_write_that_reports_a_change_suggests_to_replace(memory: Memory) -> None:
    old = keep(memory, "Support tickets are tracked in Zendesk.")
    told = said(memory, "remember", text="Support tickets moved from Zendesk to Linear.")
    assert f"seems to replace {short(old.id)}" in told
    assert f"links=[supersedes:{short(old.id)}])" in told


def test_a_marked_contradiction_is_shown_with_its_history(memory: Memory, time: Time) -> None:
    tabs, blanks = keep(memory, "Indent with tabs."), keep(memory, "Four blanks are how we indent.")
    time.pass_days(1)
    mark(memory, tabs.id, blanks.id)
    shown = said(memory, "explore", view="contradictions")
    assert f"marked {memory.clock.now()[:10]} by claude" in shown
    assert "linked by claude" in shown


def test_near_duplicates_are_shown_with_what_would_become_of_them(memory: Memory, time: Time) -> None:
    first = forced(memory, "Access tokens expire after 15 minutes. Access tokens are signed with RS256 by the gateway.")
    time.pass_days(1)
    forced(memory, "Access tokens expire after 30 minutes. Access tokens are signed with RS256 by the gateway.")
    shown = said(memory, "explore", view="duplicates")
    assert "1 group of near-duplicates; nothing was changed." in shown
    assert f"left out as outdated, from {short(first.id)}: Access tokens expire after 15 minutes." in shown
    (proposal,) = proposals(memory).found
    links = [f"supersedes:{first.id}"]
    said(memory, "revise", id=proposal.base, text=proposal.text, links=links)
    assert said(memory, "explore", view="duplicates").startswith("No near-duplicates.")


def test_what_was_mined_is_decided_on_by_judging(memory: Memory) -> None:
    assert said(memory, "explore", view="mined") == "No mined candidate is pending."
    log_output(memory, PLAIN)
    (record,) = mine_outputs(memory).offered
    shown = said(memory, "explore", view="mined")
    assert f"{short(record.id)} [decision, score 0.09, 1× in 1 session" in shown
    said(memory, "judge", judgements=[{"id": record.id, "verdict": "confirmed"}])
    assert "No mined candidate" in said(memory, "explore", view="mined")


def test_long_lists_keep_to_their_budget(memory: Memory) -> None:
    for number in range(60):
        forced(memory, f"Service number {number} of the shop is owned by the platform team and runs on Kubernetes.")
        forced(memory, f"Service number {number} of the shop is not owned by the platform team and runs on Kubernetes.")
        log_output(memory, f"We decided to use port {number} instead of {number + 1} because it is free.", f"s{number}")
    mine_outputs(memory)
    for view in ("contradictions", "duplicates", "mined"):
        assert tokens_of(said(memory, "explore", view=view, limit=100)) <= 1_500, view


def test_the_policies_of_text_are_imported_only_when_they_are_asked() -> None:
    code = (
        "import sys, holdfast.surfaces.core, holdfast.hosts.cli.ingest, holdfast.hosts.cli.review\n"
        "late = ('contradict', 'mine', 'merge')\n"
        "assert not [one for one in late if f'holdfast.policy.language.{one}' in sys.modules], sys.modules\n"
        "assert 'numpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)

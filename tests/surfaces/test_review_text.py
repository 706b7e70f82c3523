"""Contradictions, near-duplicates and mining as a model meets them."""

import json
import subprocess
import sys
from dataclasses import replace

from holdfast.model.record import Draft, Record
from holdfast.model.text import tokens_of
from holdfast.policy.admission.admit import Waivers
from holdfast.surfaces.core.tools import surface
from holdfast.surfaces.tool import Call
from holdfast.verbs.capture.mining import log_output, mine_outputs
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.write import Written, write
from holdfast.verbs.truth.consolidate import proposals
from holdfast.verbs.truth.contradictions import PROGRESS, mark
from tests.conftest import Time
from tests.rows import missing, of_type

OLD, NEW = "The rate limit is 100 requests per minute.", "The rate limit is 500 requests per minute."
PLAIN = "We decided to use Postgres instead of MySQL because of the JSON columns."


def said(memory: Memory, name: str, **arguments: object) -> str:
    text, failed = surface.call(Call(open=lambda: memory), name, arguments)
    assert not failed, text
    return text


def forced(memory: Memory, body: str) -> Record:
    outcome = of_type(Written, write(memory, Draft(body=body), waivers=Waivers(duplicate=True)))
    return outcome.record


def test_near_duplicates_are_shown_with_what_would_become_of_them(memory: Memory, time: Time) -> None:
    forced(memory, "Access tokens are signed with RS256 by the gateway. Ask Noor for the key.")
    time.pass_days(1)
    forced(memory, "Access tokens are signed by the gateway with RS256. See the wiki.")
    shown = said(memory, "explore", view="duplicates")
    assert missing(shown, "1 group of near-duplicates; nothing was changed.", ": See the wiki.") == []
    (proposal,) = proposals(memory)["found"]
    (other,) = (source.id for source in proposal.sources if source.id != proposal.base)
    said(memory, "revise", id=proposal.base, text=proposal.text, links=[f"supersedes:{other}"])
    assert said(memory, "explore", view="duplicates").startswith("No near-duplicates.")


def test_long_lists_keep_to_their_budget(memory: Memory) -> None:
    memory = replace(memory, classifier=None)  # nothing is compared while it is shown
    pairs = []
    for number in range(40):
        one, other = (
            forced(
                memory, f"Service number {number} of the shop is {owned} by the platform team and runs on Kubernetes."
            )
            for owned in ("owned", "not owned")
        )
        mark(memory, one.id, other.id)
        pairs.append((one.id, other.id))
        log_output(memory, f"We decided to use port {number} instead of {number + 1} because it is free.", f"s{number}")
    memory.store.note(PROGRESS, json.dumps({"seq": memory.store.last_seq(), "by": "", "same": pairs}))
    mine_outputs(memory)
    for view in ("contradictions", "duplicates", "mined"):
        shown = said(memory, "explore", view=view, limit=100)
        assert 1_000 < tokens_of(shown) <= 1_500, (view, shown)


def test_numpy_is_imported_only_where_meaning_is_asked_for() -> None:
    code = (
        "import sys, holdfast.surfaces.core, holdfast.hosts.cli.ingest, holdfast.hosts.cli.review\n"
        "assert 'numpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)

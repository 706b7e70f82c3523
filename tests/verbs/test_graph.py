"""The graph of a project: read off its records and sessions, looked at through four lenses."""

import pytest

from holdfast.model.errors import Invalid
from holdfast.model.ids import short
from holdfast.model.record import Link
from holdfast.verbs.memory import Memory
from holdfast.verbs.search.graph import Traversal, traverse
from holdfast.verbs.sessions.session import start
from holdfast.verbs.sessions.thread import Opened, open_thread, resolve
from tests.conftest import keep

Said = list[tuple[str, str, str]]


@pytest.fixture
def session(memory: Memory) -> str:
    """A session about SHOP-12 that decided, learned and opened something."""
    memory, opening = start(memory, issue="shop-12", title="Auth")
    begun = opening.session.id
    decision = keep(
        memory,
        "JWT for the API.",
        kind="decision",
        title="Use JWT",
        fields={"people": ["Ana - architect", "Bo (ops)"], "documents": ["docs/auth.md"], "issue": "SHOP-12"},
    )
    keep(
        memory,
        "Tokens expire at midnight UTC.",
        kind="pattern",
        title="Midnight expiry",
        links=(Link(relation="refines", target=decision.id),),
    )
    outcome = open_thread(memory, "Rotate the signing keys", issues=("SHOP-13",))
    assert isinstance(outcome, Opened)
    resolve(memory, outcome.thread.record.id)
    return f"Session: {short(begun)}"


def said(found: Traversal) -> Said:
    return [(one.subject, one.predicate, one.object) for one in found.triples]


def test_everything_connected_to_an_issue_is_shown(memory: Memory, session: str) -> None:
    found = traverse(memory, "connected_to", "shop-12")
    assert found.nodes == ("Issue: SHOP-12",)
    assert set(said(found)) == {
        ("Decision: Use JWT", "created_in", "Issue: SHOP-12"),
        (session, "created_in", "Issue: SHOP-12"),
    }
    around = traverse(memory, "connected_to", "Decision: Use JWT", predicate="refines")
    assert said(around) == [("Pattern: Midnight expiry", "refines", "Decision: Use JWT")]
    cut = traverse(memory, "connected_to", "use jwt", limit=1)
    assert (len(cut.triples), cut.cut) == (1, 6)


def test_what_somebody_had_a_part_in_is_shown(memory: Memory, session: str) -> None:
    assert said(traverse(memory, "produced_by", "ana")) == [("Decision: Use JWT", "influenced_by", "Persona: Ana")]
    by_agent = {subject for subject, _, _ in said(traverse(memory, "produced_by", "claude"))}
    assert by_agent == {"Decision: Use JWT", "Pattern: Midnight expiry", session}


def test_where_something_came_from_is_followed_step_by_step(memory: Memory, session: str) -> None:
    hops = traverse(memory, "provenance", "Pattern: Midnight expiry", depth=2).hops
    steps = {(hop.depth, hop.triple.predicate, hop.triple.object) for hop in hops}
    assert {
        (1, "refines", "Decision: Use JWT"),
        (1, "created_in", session),
        (2, "affects_doc", "Doc: docs/auth.md"),
        (2, "created_in", "Issue: SHOP-12"),
    } <= steps
    assert {hop.depth for hop in traverse(memory, "provenance", "midnight", depth=1).hops} == {1}


def test_threads_are_connected_with_sessions_and_issues(memory: Memory, session: str) -> None:
    thread = "Thread: Rotate the signing keys"
    assert set(said(traverse(memory, "connected_to", thread))) == {
        (session, "created_thread", thread),
        (session, "resolves_thread", thread),
        (thread, "relates_to_thread", "Issue: SHOP-13"),
    }


@pytest.mark.usefixtures("session")
def test_the_whole_graph_can_be_counted(memory: Memory) -> None:
    stats = traverse(memory, "stats").stats
    assert stats is not None
    assert (stats.predicates["influenced_by"], stats.issues["Issue: SHOP-12"]) == (5, 2)
    assert stats.agents == {"Agent: claude": 3}


def test_a_look_needs_a_lens_and_a_node(memory: Memory) -> None:
    assert traverse(memory, "connected_to", "SHOP-99").nodes == ()
    for lens, node, predicate in (("sideways", "x", ""), ("provenance", " ", ""), ("connected_to", "x", "likes")):
        with pytest.raises(Invalid):
            traverse(memory, lens, node, predicate=predicate)

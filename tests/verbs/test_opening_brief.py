"""The brief that opens a session: ranked, told whole where little is stored, marked where doubtful, stable."""

from dataclasses import replace

import pytest

from holdfast.model.event import Actor
from holdfast.model.ids import short
from holdfast.model.kinds import KINDS, SEPARATE
from holdfast.model.ports import Checkout, RemoteCheckout
from holdfast.model.record import Draft, Link, Origin
from holdfast.model.text import tokens_of
from holdfast.policy.admission.admit import Waivers
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.hot import pin
from holdfast.verbs.records.lifecycle import record_use
from holdfast.verbs.records.write import Written, write
from holdfast.verbs.sessions.opening_brief import brief_of
from holdfast.verbs.truth.compare import compare
from tests.conftest import Time, keep
from tests.rows import of_type

SCAR = {"counter_arguments": ["it was only once", "there is a backup"]}
REQUIRED = {"scar": {**SCAR, "severity": "high"}, "anti_pattern": {"severity": "high"}}


def lines_of(memory: Memory) -> list[str]:
    return [line.partition(" ")[2].partition(" ")[2] for line in brief_of(memory).text.splitlines() if line[:2] == "- "]


def as_user(memory: Memory) -> Memory:
    return memory.acting(actor=Actor(kind="user", name="ada", session="s9"))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in SEPARATE])
def test_the_first_memory_is_in_the_brief_whatever_its_kind(memory: Memory, kind: str) -> None:
    memory = as_user(memory)
    keep(memory, "The sandbox accepts only cards that end in 4242.", kind=kind, fields=REQUIRED.get(kind, {}))
    assert "The sandbox accepts only cards that end in 4242." in brief_of(memory).text


def test_a_small_store_is_told_whole_and_does_not_point_elsewhere(memory: Memory) -> None:
    texts = [
        f"Service {name} listens on port 80{place}." for place, name in enumerate(("mail", "search", "cart", "tax"))
    ]
    for text in texts:
        keep(memory, text)
    brief = brief_of(memory).text
    assert all(text in brief for text in texts)
    assert "Not listed" not in brief


class Branch(Checkout):
    """A checkout of a branch on which one file was changed."""

    def project(self) -> str:
        return "example.org/shop"

    def origin(self) -> Origin:
        return Origin(branch="refunds", commit="a" * 40)

    def changed(self) -> list[str]:
        return ["src/refunds.py"]


def test_among_many_memories_those_at_hand_are_told_and_documents_do_not_fill_the_brief(memory: Memory) -> None:
    memory = replace(memory, checkout=Branch())
    old = "Refunds are booked at night, as src/refunds.py does it."
    keep(memory, old, anchors=("src/refunds.py",))
    bare, branch = (
        replace(memory, checkout=RemoteCheckout("example.org/shop")),
        "The refunds branch keeps both ledgers open.",
    )
    for number in range(150):
        keep(bare, f"Supplier {number} of region {number * 7} delivers crate {number * 13} before noon.", kind="fact")
        keep(bare, f"Section {number} of the handbook: shelf {number * 3}.", extra={"document": "docs/handbook.md"})
    keep(bare, "The shop opens at nine.", extra={"document": "README.md"})
    record_use(
        bare, [keep(bare, "The handbook is signed yearly.", extra={"document": "docs/signing.md"}).id], "applied"
    )
    keep(memory, branch)
    brief = brief_of(memory).text
    assert (old in brief, branch in brief, "handbook is signed" in brief) == (True, True, True)
    assert not any(word in brief for word in ("Section", "opens at nine"))
    assert len(brief) < 4_000


def test_the_users_word_stands_above_an_agents_and_a_blocker_above_both(memory: Memory) -> None:
    keep(memory, "Integration tests need docker compose.", confidence="low")
    memory = as_user(memory)
    keep(memory, "Releases wait for the signature of the lawyers.", kind="blocker")
    keep(memory, "Order numbers restart every year.")
    keep(memory, "Refunds ran twice.", kind="scar", fields={**SCAR, "severity": "critical"})
    brief = [line for line in brief_of(memory).text.splitlines() if line[:2] == "- "]
    told = [next(word for word in ("Releases", "Refunds", "Order", "Integration") if word in line) for line in brief]
    assert told == ["Releases", "Refunds", "Order", "Integration"]


def test_what_sessions_ignore_again_and_again_sinks_below_what_they_use(memory: Memory) -> None:
    ignored = keep(memory, "The import of rich takes a third of a second.", kind="learning")
    used = keep(memory, "Handlers must be idempotent by the id of the event.", kind="learning")
    assert lines_of(memory)[0].startswith("The import of rich")
    for place in range(6):
        record_use(memory.acting_in(f"later-{place}"), [ignored.id], "ignored")
    record_use(memory, [used.id], "applied")
    assert lines_of(memory)[0].startswith("Handlers must be idempotent")


def test_what_is_ignored_leaves_the_brief_of_a_large_store(memory: Memory) -> None:
    ignored = keep(memory, "The import of rich takes a third of a second.", kind="learning", source="observed")
    for place in range(60):
        keep(memory, f"Team {place} owns the module named number{place} of the shop.", source="observed")
    assert "import of rich" in brief_of(memory).text
    for place in range(6):
        record_use(memory.acting_in(f"later-{place}"), [ignored.id], "ignored")
    assert "import of rich" not in brief_of(memory).text


def test_lines_that_say_the_same_are_one_line_and_others_are_not(memory: Memory) -> None:
    for text in (
        "Turns out the nightly export takes four hours.",
        "The nightly export takes four hours, it turns out.",
        "The nightly export takes 5 hours on Sundays, it turns out.",
    ):
        of_type(Written, write(memory, Draft(body=text, kind="learning"), waivers=Waivers(duplicate=True)))
    lines = lines_of(memory)
    assert len(lines) == 2
    assert sorted("(and 1 like it)" in line for line in lines) == [False, True]


def test_a_superseded_memory_is_left_out_and_a_contradicted_one_is_marked(memory: Memory, time: Time) -> None:
    old = keep(memory, "The worker listens on port 8080.")
    limit = keep(memory, "The public API rate limit is 60 requests per minute.")
    time.pass_days(30)
    keep(memory, "The worker listens on port 9090.", links=(Link(relation="supersedes", target=old.id),))
    newer = keep(memory, "The public API rate limit is 100 requests per minute.")
    compare(memory)
    brief = brief_of(memory).text
    assert "8080" not in brief
    assert "9090" in brief
    marked = next(line for line in brief.splitlines() if "60 requests" in line)
    assert f"contradicted by {short(newer.id)}" in marked
    assert limit.id not in brief


def test_decisions_carry_their_date(memory: Memory) -> None:
    keep(memory, "We use pnpm and not npm.", kind="decision", at="2019-05-03T10:00:00Z")
    assert lines_of(memory) == ["We use pnpm and not npm. (2019-05-03)"]


def test_the_same_store_gives_the_same_text_and_a_new_memory_only_adds_a_line(memory: Memory, time: Time) -> None:
    for place in range(8):
        keep(memory, f"Module number{place} belongs to the team called team{place}.")
    before = brief_of(memory).text
    time.pass_days(90)
    assert brief_of(memory).text == before
    keep(memory, "Grafana shows the latency of the checkout.", kind="reference")
    assert [line for line in brief_of(memory).text.splitlines() if line not in before.splitlines()] == [
        line for line in brief_of(memory).text.splitlines() if "Grafana" in line
    ]


@pytest.mark.parametrize("budget", [40, 80, 200, 500, 3_000])
def test_a_brief_never_exceeds_its_budget(memory: Memory, budget: int) -> None:
    for place in range(40):
        keep(
            memory,
            f"Module number{place} belongs to the team called team{place} " + "and to others " * 10,
            kind="decision",
        )
    memory = replace(memory, config=replace(memory.config, brief_budget=budget))
    brief = brief_of(memory)
    assert tokens_of(brief.text) == brief.tokens <= budget
    assert brief.text.endswith("</holdfast-brief>") or not brief.text


def test_a_pinned_memory_is_in_the_brief_of_a_large_store(memory: Memory) -> None:
    first = keep(memory, "The oldest fact of all is about the lighthouse.", source="observed", confidence="low")
    for place in range(120):
        keep(memory, f"Team {place} owns the module named number{place} of the shop.")
    assert "lighthouse" not in brief_of(memory).text
    pin(memory, first.id)
    assert "lighthouse" in brief_of(memory).text


def test_a_brief_names_only_tools_that_the_surface_has(memory: Memory) -> None:
    for place in range(60):
        keep(memory, f"Team {place} owns the module named number{place} of the shop.")
    assert "Search with recall." in brief_of(memory).text
    memory = replace(memory, config=replace(memory.config, preset="claude-mem"))
    assert "Search with search." in brief_of(memory).text

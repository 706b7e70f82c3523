"""The brief that opens a session: ranked, told whole where little is stored, marked where doubtful, stable."""

from dataclasses import replace
from pathlib import Path

from holdfast.model.event import Actor
from holdfast.model.kinds import KINDS, SEPARATE
from holdfast.model.ports import Checkout, RemoteCheckout
from holdfast.model.record import Origin
from holdfast.model.text import tokens_of
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.lifecycle import record_use
from holdfast.verbs.sessions.opening_brief import brief_of
from tests.conftest import Time, keep, make_memory
from tests.rows import WHOLE, each
from tests.verbs.scripts import scripts_in

SCAR = {"counter_arguments": ["it was only once", "there is a backup"]}
REQUIRED = {"scar": {**SCAR, "severity": "high"}, "anti_pattern": {"severity": "high"}}


def lines_of(memory: Memory) -> list[str]:
    return [line.partition(" ")[2].partition(" ")[2] for line in brief_of(memory).text.splitlines() if line[:2] == "- "]


def added(memory: Memory, since: str) -> list[str]:
    return [line for line in brief_of(memory).text.splitlines() if line not in since.splitlines()]


scripts_in(globals(), added, lines=lines_of)


@each("kind", [kind for kind in KINDS if kind not in SEPARATE])
def test_the_first_memory_is_in_the_brief_whatever_its_kind(tmp_path: Path, time: Time, kind: str) -> None:
    with make_memory(tmp_path / kind, time, actor=Actor(kind="user", name="ada", session="s9")) as memory:
        keep(memory, "The sandbox accepts only cards that end in 4242.", kind=kind, fields=REQUIRED.get(kind, {}))
        assert "The sandbox accepts only cards that end in 4242." in brief_of(memory).text


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
    bare = replace(memory, checkout=RemoteCheckout("example.org/shop"))
    branch = "The refunds branch keeps both ledgers open."
    for number in range(150 if WHOLE else 60):
        keep(bare, f"Supplier {number} of region {number * 7} delivers crate {number * 13} before noon.", kind="fact")
        keep(bare, f"Section {number} of the handbook: shelf {number * 3}.", extra={"document": "docs/handbook.md"})
    keep(bare, "The shop opens at nine.", extra={"document": "README.md"})
    signed = keep(bare, "The handbook is signed yearly.", extra={"document": "docs/signing.md"})
    record_use(bare, [signed.id], "applied")
    keep(memory, branch)
    brief = brief_of(memory).text
    assert (old in brief, branch in brief, "handbook is signed" in brief) == (True, True, True)
    assert not any(word in brief for word in ("Section", "opens at nine"))
    assert len(brief) < 9_000


def test_a_brief_never_exceeds_its_budget(memory: Memory) -> None:
    for place in range(40):
        body = f"Module number{place} belongs to the team called team{place} " + "and to others " * 10
        keep(memory, body, kind="decision")
    for budget in (40, 80, 500, 3_000):
        brief = brief_of(replace(memory, config=replace(memory.config, brief_budget=budget)))
        assert tokens_of(brief.text) == brief.tokens <= budget
        assert brief.text.endswith("</holdfast-brief>") or not brief.text

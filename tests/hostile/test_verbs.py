"""Any verbs in any order with any input: only our own errors come out, views follow the journal, what is erased stays gone."""

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.model.errors import HoldfastError
from holdfast.model.event import OUTCOMES
from holdfast.model.query import Query
from holdfast.model.record import RELATIONS
from holdfast.policy.admission.admit import Waivers
from holdfast.verbs.exchange.jsonl import export, import_lines
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.hot import hot_set
from holdfast.verbs.records.write import Written, WrittenPending, write
from holdfast.verbs.search.recall import recall
from holdfast.verbs.sessions.scars import VERDICTS
from holdfast.verbs.sessions.thread import open_threads
from holdfast.verbs.upkeep.erasing import erase
from tests.calls import called, functions_in
from tests.conftest import Time, contents, make_memory
from tests.hostile.texts import NASTY, NUMBERS, TIMES, numbers, texts, tried, values
from tests.rows import sampled

WAIVED = Waivers(duplicate=True, transient=True)
KINDS = ("fact", "scar", "decision", "thread", "observation", "preference")
CLOSES = ("quick", "standard", "autonomous", "retroactive")
words = st.one_of(st.sampled_from((*KINDS, *sorted(RELATIONS), *VERDICTS, *OUTCOMES, *CLOSES, "2026-09-21")), texts)


@dataclass(kw_only=True)
class Asked:
    """What a verb is called with: two references, a text, a word that may mean something to it, a number and any value."""

    memory: Memory
    about: str = ""
    other: str = ""
    text: str = ""
    word: str = ""
    number: Any = 0
    value: Any = None
    mark: str = ""

    @property
    def fields(self) -> dict[str, Any]:
        given = {"severity": "high", "counter_arguments": ["one", "other"]}
        return given if self.mapping is None else self.mapping

    @property
    def mapping(self) -> dict[str, Any] | None:
        return self.value if isinstance(self.value, dict) else None

    @property
    def whole(self) -> int:
        return self.number if isinstance(self.number, int) else 5

    @property
    def marked(self) -> str:
        return f"{self.text} {self.mark}"

    @property
    def thread(self) -> str:
        known = [found.record.id for found in open_threads(self.memory)]
        return known[len(self.text) % len(known)] if known and self.about != self.text else self.text


def filled(value: Any, asked: Asked) -> Any:
    """Return the arguments of a row with what is asked in place of its names."""
    if isinstance(value, dict):
        return {name: filled(item, asked) for name, item in value.items()}
    if isinstance(value, list):
        return [filled(item, asked) for item in value]
    return getattr(asked, value[1:]) if str(value).startswith("$") else value


# The drafts that are written, and the verbs that are called, with `$` before the names of what they are given.
WRITES, ACTS = json.loads(Path(__file__).with_name("verbs.json").read_text(encoding="utf-8")).values()
VERBS = functions_in("holdfast.verbs")


@dataclass(kw_only=True)
class Trial:
    """One memory, the marks in what was written to it, and those of what was erased."""

    folder: Path
    time: Time
    memory: Memory
    marks: dict[str, str] = field(default_factory=dict)
    erased: dict[str, str] = field(default_factory=dict)

    def attempt(self, name: str, place: int = 9, other: int = 9, **given: Any) -> None:
        """Do something that may be refused; anything but our own error comes out. References are texts where there is no record."""
        self.time.now += 1
        ids, mark = list(self.marks), f"zqmark{len(self.marks):04d}x"
        about, another = (ids[one % len(ids)] if one < 8 and ids else given.get("text", "") for one in (place, other))
        asked = Asked(memory=self.memory, about=about, other=another, mark=self.marks.get(about, ""), **given)
        try:
            if name == "erase":
                erase(self.memory, about)
                self.erased[about] = self.marks[about]
            elif name in WRITES:
                asked.text = f"{asked.text} {mark}"
                made = called(write, (self.memory,), {**filled(WRITES[name], asked), "waivers": WAIVED})
                if isinstance(made, Written | WrittenPending):
                    self.marks[made.record.id] = mark
            else:
                verb, arguments = ACTS[name]
                called(VERBS[verb], (self.memory,), filled(arguments, asked))
        except HoldfastError as problem:
            assert str(problem)  # noqa: PT017  the refusal is what is tested

    def check(self) -> None:
        """Views are what the journal says, and what was erased is gone."""
        before = contents(self.memory.store)
        self.memory.store.rebuild()
        assert contents(self.memory.store) == before
        assert len(hot_set(self.memory)) <= self.memory.config.hot_capacity
        for about, mark in self.erased.items():
            hits = recall(self.memory, Query(text=mark, everywhere=True)).hits
            assert all(hit.record.id != about and mark not in hit.record.body for hit in hits)
            rows = self.memory.store.db.query("select data from events where about = :about", {"about": about})
            assert all(mark not in row[0] for row in rows)

    def carry(self, cut: int, junk: str) -> None:
        """What is exported comes in elsewhere as it is, and spoilt lines spoil nothing."""
        lines = list(export(self.memory))
        with make_memory(self.folder / "elsewhere", self.time) as other:
            spoilt = lines[-1][:cut] + junk + lines[-1][cut:]
            if not set(junk) & {"\n", "\r"}:
                try:
                    import_lines(other, [lines[0], spoilt])
                except HoldfastError as problem:
                    assert str(problem)  # noqa: PT017
            import_lines(other, lines)
            here, there = ({one.id: one for _, one in some.store.journal()} for some in (self.memory, other))
            assert here.items() <= there.items() or spoilt != lines[-1]


@contextmanager
def trial() -> Iterator[Trial]:
    time = Time()
    with (
        tempfile.TemporaryDirectory() as folder,
        make_memory(Path(folder) / "here", time, config={"starters": False}) as memory,
    ):
        if memory.store.db.dialect == "sqlite":
            memory.store.db.query("pragma synchronous = off")  # nobody pulls the plug here
        made = Trial(folder=Path(folder), time=time, memory=memory)
        made.attempt("write", text="Deploys wait for the backup.", word="fact")
        yield made


PLACE = st.integers(0, 9)
given_to_an_act = {"place": PLACE, "other": PLACE, "text": texts, "word": words, "number": numbers, "value": values}
steps = st.fixed_dictionaries({"name": st.sampled_from([*WRITES, *WRITES, *ACTS, *["erase"] * 5]), **given_to_an_act})


# The same steps at every run of the suite, others where more are asked for.
@settings(tried(9), print_blob=True, derandomize=TIMES == 1)
@given(some=st.lists(steps, min_size=12, max_size=48), cut=st.integers(0, 200), junk=texts)
def test_any_verbs_in_any_order(some: list[dict[str, Any]], cut: int, junk: str) -> None:
    with trial() as here:
        for place, step in enumerate(some):
            here.attempt(**step)
            if place % 4 == 3:
                here.check()
        here.carry(cut, junk)
        here.check()


def test_every_nasty_text_and_number_in_every_field() -> None:
    with trial() as here:
        for text in sampled(NASTY, 8):
            for name in (*WRITES, *ACTS):
                value = {text or "x": [text]}
                here.attempt(name, 0, 1, text=text, word=text, value=value)
                here.attempt(name, text=text, word=text, value=value)
            for word in ("scar", "relates_to", "standard"):
                here.attempt("write", text=text, word=word)
                here.attempt("link", 0, 1, text=text, word=word)
                here.attempt("close with lists", text=text, word=word, value=text)
        for number in (*NUMBERS, 5, float("nan")):
            for name in ("trust", "recall few", "recall short"):
                here.attempt(name, 0, text="backup", word="outdated", number=number)
        here.attempt("erase", 0)
        here.attempt("revise", 0, text="late", word="late")
        here.carry(5, "\0")
        here.check()
        assert len(here.erased) == 1

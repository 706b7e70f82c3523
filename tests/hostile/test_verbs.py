"""Any verbs in any order with any input: only our own errors come out, views follow the journal, what is erased stays gone."""

import itertools
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from holdfast.model.errors import HoldfastError
from holdfast.model.event import OUTCOMES
from holdfast.model.query import Query
from holdfast.model.record import RELATIONS, Draft
from holdfast.policy.admission.admit import Waivers
from holdfast.verbs.exchange.jsonl import export, import_lines
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.hot import change_trust, demote, hot_set, pin, promote, trust_of, unpin
from holdfast.verbs.records.lifecycle import Revision, link, record_use, rename_scope, restore, retire, revise, unlink
from holdfast.verbs.records.read import get, history, list_records
from holdfast.verbs.records.write import Written, WrittenPending, cancel, confirm, write
from holdfast.verbs.search.recall import recall
from holdfast.verbs.sessions.close import close
from holdfast.verbs.sessions.scars import VERDICTS, Answer, judge
from holdfast.verbs.sessions.session import find_session, start
from holdfast.verbs.sessions.thread import open_thread, open_threads, reopen, resolve, touch
from holdfast.verbs.truth.verify import verify
from holdfast.verbs.upkeep.erasing import erase
from tests.conftest import Time, make_memory
from tests.hostile.texts import NASTY, NUMBERS, TIMES, numbers, texts, values
from tests.rows import WHOLE, sampled
from tests.soak.checks import contents

PLACE = st.integers(0, 9)
MARK = "zqmark"
KINDS = st.one_of(st.sampled_from(("fact", "scar", "decision", "thread", "observation", "preference")), texts)


class Verbs(RuleBasedStateMachine):
    """One memory, what was written to it, and what was erased."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.time = Time()
        self.memory: Memory = make_memory(Path(self.folder.name) / "a", self.time, config={"starters": False})
        if self.memory.store.db.dialect == "sqlite":
            self.memory.store.db.query("pragma synchronous = off")  # nobody pulls the plug here
        self.ids: list[str] = []
        self.marks: dict[str, str] = {}
        self.erased: dict[str, str] = {}
        self.count = itertools.count()
        self.said = ""

    def teardown(self) -> None:
        self.memory.close()
        self.folder.cleanup()

    def attempt(self, act: Callable[[], Any]) -> Any:
        """Do something that may be refused; anything but our own error ends the run."""
        self.time.now += 1
        try:
            return act()
        except HoldfastError as problem:
            self.said = str(problem)
            return None

    def chosen(self, place: int, other: str) -> str:
        return self.ids[place % len(self.ids)] if self.ids and place < 8 else other

    @initialize()
    def begin(self) -> None:
        self.keep("Deploys wait for the backup.", "fact")

    def keep(self, text: str, kind: str, **more: Any) -> None:
        mark = f"{MARK}{next(self.count):04d}x"
        draft = Draft(body=f"{text} {mark}", kind=kind, **more)
        made = self.attempt(lambda: write(self.memory, draft, waivers=Waivers(duplicate=True, transient=True)))
        if isinstance(made, Written | WrittenPending):
            self.ids.append(made.record.id)
            self.marks[made.record.id] = mark

    @rule(text=texts, kind=KINDS, title=texts, labels=st.lists(texts, max_size=2), fields=values, at=texts)
    def write(self, text: str, kind: str, title: str, labels: list[str], fields: Any, at: str) -> None:
        given = fields if isinstance(fields, dict) else {"severity": "high", "counter_arguments": ["one", "other"]}
        self.keep(text, kind)
        self.keep(text, kind, title=title, scopes=tuple(labels), tags=tuple(labels), fields=given, at=at)
        self.keep(text, kind, anchors=tuple(labels), triggers=tuple(labels), extra=given, project=title)

    @rule(place=PLACE, text=texts, other=texts, fields=values)
    def revise(self, place: int, text: str, other: str, fields: Any) -> None:
        about = self.chosen(place, other)
        mark = self.marks.get(about, "")
        self.attempt(lambda: revise(self.memory, about, Revision(body=f"{text} {mark}", title=other)))
        self.attempt(lambda: revise(self.memory, about, Revision(kind=text, visibility=other, confidence=other)))
        if isinstance(fields, dict):
            self.attempt(lambda: revise(self.memory, about, Revision(fields=fields, tags=(text,), scopes=(other,))))

    @rule(place=PLACE, text=texts, other=texts)
    def care(self, place: int, text: str, other: str) -> None:
        about = self.chosen(place, other)
        self.attempt(lambda: verify(self.memory, about, note=text))
        self.attempt(lambda: verify(self.memory, about, anchors=(text, other)))
        self.attempt(lambda: rename_scope(self.memory, text, other))
        self.attempt(lambda: confirm(self.memory, about))

    @rule(place=PLACE, reason=texts, back=st.booleans(), away=st.booleans())
    def retire(self, place: int, reason: str, back: bool, away: bool) -> None:
        about = self.chosen(place, reason)
        self.attempt(lambda: retire(self.memory, about, reason))
        if back:
            self.attempt(lambda: restore(self.memory, about))
        if away:
            self.attempt(lambda: cancel(self.memory, about))

    @rule(place=PLACE)
    def erase(self, place: int) -> None:
        about = self.chosen(place, "nobody")
        if self.attempt(lambda: erase(self.memory, about)):
            self.erased[about] = self.marks[about]

    @rule(one=PLACE, other=PLACE, relation=st.one_of(st.sampled_from(sorted(RELATIONS)), texts), text=texts)
    def link(self, one: int, other: int, relation: str, text: str) -> None:
        source, target = self.chosen(one, text), self.chosen(other, text)
        self.attempt(lambda: link(self.memory, source, relation, target))
        if one == other:
            self.attempt(lambda: unlink(self.memory, source, relation, target))

    @rule(place=PLACE, verdict=st.one_of(st.sampled_from(VERDICTS), texts), text=texts, how=texts)
    def judge(self, place: int, verdict: str, text: str, how: str) -> None:
        about = self.chosen(place, text)
        self.attempt(lambda: judge(self.memory, [Answer(scar=about, decision=verdict, evidence=text)]))
        outcome = OUTCOMES[place % len(OUTCOMES)] if how != text else how
        self.attempt(lambda: record_use(self.memory, [about], outcome, note=text))

    @rule(
        text=texts,
        issue=texts,
        kind=st.sampled_from(("quick", "standard", "autonomous", "retroactive", "x")),
        payload=values,
    )
    def session(self, text: str, issue: str, kind: str, payload: Any) -> None:
        self.attempt(lambda: start(self.memory, title=text, issue=issue, force=len(text) % 2 == 0))
        self.attempt(lambda: find_session(self.memory, text))
        given = (
            payload if isinstance(payload, dict) else {"session": text, "learnings": payload, "decisions": [payload]}
        )
        self.attempt(lambda: close(self.memory, close_type=kind, payload=given))
        self.attempt(lambda: close(self.memory, close_type="quick"))

    @rule(place=PLACE, text=texts, note=texts)
    def thread(self, place: int, text: str, note: str) -> None:
        self.attempt(lambda: open_thread(self.memory, text, issues=(note,), thread_class=note))
        known = open_threads(self.memory)
        about = known[place % len(known)].record.id if known else text
        for act in (touch, reopen):
            self.attempt(partial(act, self.memory, about))
        self.attempt(lambda: resolve(self.memory, about if place < 5 else text, note))

    @rule(place=PLACE, text=texts)
    def heat(self, place: int, text: str) -> None:
        about = self.chosen(place, text)
        for act in (promote, pin, unpin, demote)[: 1 + place % 4]:
            self.attempt(partial(act, self.memory, about))
        assert len(hot_set(self.memory)) <= self.memory.config.hot_capacity

    @rule(place=PLACE, reason=texts, delta=st.one_of(st.none(), numbers), raises=st.booleans(), note=texts)
    def trust(self, place: int, reason: str, delta: Any, raises: bool, note: str) -> None:
        about = self.chosen(place, reason)
        self.attempt(lambda: change_trust(self.memory, about, delta=delta, raises=raises, note=note))
        self.attempt(lambda: change_trust(self.memory, about, reason, raises=raises))
        self.attempt(lambda: trust_of(self.memory, about))

    @rule(text=texts, label=texts, limit=numbers, budget=numbers)
    def ask(self, text: str, label: str, limit: Any, budget: Any) -> None:
        self.attempt(lambda: recall(self.memory, Query(text=text)))
        whole = [number for number in (limit, budget) if isinstance(number, int)]
        if len(whole) == 2:
            self.attempt(lambda: recall(self.memory, Query(text=text, limit=whole[0], budget=whole[1])))
        narrowed: tuple[dict[str, Any], ...] = (
            {"scopes": (text,)},
            {"tags": (text,), "kinds": (text,)},
            {"since": text, "until": label},
            {"session": text, "project": text},
            {"everywhere": True},
        )
        for verb, more in itertools.product((recall, list_records), narrowed):
            self.attempt(partial(self._ask, verb, label, more))

    def _ask(self, verb: Callable[[Memory, Query], object], text: str, more: dict[str, Any]) -> object:
        return verb(self.memory, Query(text=text, **more))

    @rule(place=PLACE, at=st.one_of(texts, st.just("2026-09-21")), text=texts)
    def as_of(self, place: int, at: str, text: str) -> None:
        about = self.chosen(place, text)
        self.attempt(lambda: get(self.memory, about, at=at))
        self.attempt(lambda: history(self.memory, about))

    @rule(cut=st.integers(0, 200), junk=texts)
    def carry(self, cut: int, junk: str) -> None:
        """What is exported comes in elsewhere as it is, and spoilt lines spoil nothing."""
        lines = list(export(self.memory))
        with make_memory(Path(self.folder.name) / f"b{next(self.count)}", self.time) as other:
            spoilt = lines[-1][:cut] + junk + lines[-1][cut:]
            if not set(junk) & {"\n", "\r"}:
                self.attempt(lambda: import_lines(other, [lines[0], spoilt]))
            import_lines(other, lines)
            here, there = ({one.id: one for _, one in some.store.journal()} for some in (self.memory, other))
            assert here.items() <= there.items() or spoilt != lines[-1]

    @rule()
    def rebuild(self) -> None:
        self.memory.store.rebuild(progress=lambda _done, _all: None)

    @invariant()
    def views_are_what_the_journal_says(self) -> None:
        before = contents(self.memory.store)
        self.memory.store.rebuild()
        assert contents(self.memory.store) == before

    @invariant()
    def what_was_erased_is_gone(self) -> None:
        for about, mark in self.erased.items():
            hits = recall(self.memory, Query(text=mark, everywhere=True)).hits
            assert all(hit.record.id != about and mark not in hit.record.body for hit in hits)
            rows = self.memory.store.db.query("select data from events where about = :about", {"about": about})
            assert all(mark not in row[0] for row in rows)


# The same steps at every run of the suite, others where more are asked for.
Verbs.TestCase.settings = settings(
    max_examples=(6 if WHOLE else 3) * TIMES, stateful_step_count=12, print_blob=True, derandomize=TIMES == 1
)
test_any_verbs_in_any_order = Verbs.TestCase


def test_every_nasty_text_and_number_in_every_field() -> None:
    """The state machine chooses; here each one is tried."""
    machine = Verbs()
    try:
        machine.begin()
        for place, text in enumerate(sampled(NASTY, 5)):
            machine.write(text, "fact", text, [text], {text: text} if text else None, text)
            machine.revise(0, text, text, {"severity": text})
            machine.care(0, text, text)
            machine.retire(1, text, back=True, away=False)
            machine.link(0, 1, text, text)
            machine.judge(9, text, text, text)
            machine.session(text, text, "standard", {text: [text]})
            machine.thread(9, text, text)
            machine.heat(9, text)
            machine.trust(9, text, 0.1, raises=True, note=text)
            machine.trust(0, text, float("nan"), raises=False, note=text)
            machine.ask(text, text, 5, 100)
            machine.as_of(0, text, text)
            if place % 8 == 0:  # it takes all texts so far
                machine.carry(0, "")
        machine.carry(0, "")
        for number, other in sampled(itertools.product((*NUMBERS, 5), repeat=2), 5):
            machine.ask("Deploys wait for the backup.", "backup", number, other)
            machine.trust(0, "outdated", number, raises=False, note="")
        machine.carry(5, "\0")
        machine.views_are_what_the_journal_says()
    finally:
        machine.teardown()

"""What threads, scars, answers, briefs and closings are judged by: every formula with worked values."""

import json
from itertools import pairwise
from typing import Any

from holdfast.model.record import Record
from holdfast.model.text import tokens_of
from holdfast.policy.activity.transcript import CHUNK, OVERLAP, chunks, messages_in
from holdfast.policy.ranking.vitality import class_of
from holdfast.policy.sessions.closing import Conduct, Payload, remarks
from holdfast.policy.sessions.evidence import VARIANTS, problem_with, variant_of
from holdfast.policy.sessions.plan_brief import brief
from holdfast.verbs.sessions.scars import lesson_cue
from tests.policy.scripts import scripts_in
from tests.rows import each, examples

globals().update(scripts_in(__file__))


@examples
def test_what_burns_is_told_from_what_waits_by_whole_words(text: str, expected: str) -> None:
    assert class_of(text) == expected


@examples
def test_an_answer_needs_evidence_somebody_could_check(decision: str, evidence: str, says: str) -> None:
    problem = problem_with(decision, evidence)
    assert says in problem if says else problem == ""


@examples
def test_lessons_are_recognised_by_cue_or_mark(text: str, severity: str, is_candidate: bool) -> None:
    assert bool(lesson_cue(text, severity)) == is_candidate


def test_a_wording_is_assigned_by_chance_but_stays() -> None:
    given = [variant_of("claude", f"scar-{number}") for number in range(1_000)]
    assert given == [variant_of("claude", f"scar-{number}") for number in range(1_000)]
    assert 400 < given.count(VARIANTS[0]) < 600
    assert given != [variant_of("codex", f"scar-{number}") for number in range(1_000)]


def scar(number: int, body: str) -> Record:
    fields: dict[str, Any] = {"severity": "high", "counter_arguments": ["a", "b"], "blocking": number % 2 == 0}
    fields |= {"verify_with": ["make check"], "must_show": "0 errors"} if fields["blocking"] else {}
    return Record(
        id=f"01ARZ3NDEKTSV4RRFFQ69G5F{number:02}", kind="scar", title=f"Scar {number}", body=body, fields=fields
    )


@each("budget", [20, 37, 100, 101, 500, 4_000])
@each("form", ["full", "compact", "gate"])
@each("unit", ["word ", "naïve — ", "漢字", "x"])
def test_a_brief_never_exceeds_its_budget(budget: int, form: str, unit: str) -> None:
    found = [scar(number, unit * 400) for number in range(12)]
    made = brief("deploy " + unit * 30, found, form, budget)
    assert made.tokens == tokens_of(made.text) <= budget
    assert len(made.included) + made.left_out in (len(found), len(found) // 2)


@examples
def test_the_human_must_have_had_time_to_answer(asked: str, answered: str, says: str) -> None:
    completion = {"human_asked_at": asked, "human_response_at": answered}
    said = remarks("standard", Payload(corrections="", completion=completion), Conduct(recalls=1))
    assert said == ([] if not says else said)
    assert any(says in line for line in said) or not says


def test_a_transcript_is_read_turn_by_turn() -> None:
    thought = {"type": "thinking", "thinking": "hm"}
    results = [{"type": "tool_result", "content": text} for text in ("short", "x" * 3_000)]
    said = [
        ("user", "Why does the seed fail?"),
        ("assistant", [thought, {"type": "text", "text": "A table is missing."}]),
        ("assistant", [thought]),
        ("user", results),
    ]
    lines = [json.dumps({"type": who, "message": {"content": content}}) for who, content in said]
    assert messages_in("\n".join([*lines, '{"type": "summary"}', "{cut off"]), "json") == [
        "user: Why does the seed fail?",
        "assistant: A table is missing.",
        "assistant: hm",
        "user: short",
    ]


def test_chunks_overlap_and_cover_everything() -> None:
    text = " ".join(f"word{number}" for number in range(3_000))
    found = chunks([text])
    assert [len(piece) for piece in found if len(piece) > CHUNK] == []
    assert all(piece[: OVERLAP // 2] in text and before[-20:] in piece for before, piece in pairwise(found))
    assert set(" ".join(found).split()) >= set(text.split())

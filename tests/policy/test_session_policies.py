"""What threads, scars, answers, briefs and closings are judged by: every formula with worked values."""

import json
from itertools import pairwise
from typing import Any

from holdfast.model.record import Record
from holdfast.model.text import tokens_of
from holdfast.policy.activity.transcript import CHUNK, OVERLAP, chunks
from holdfast.policy.sessions.evidence import VARIANTS, variant_of
from holdfast.policy.sessions.plan_brief import brief
from tests.policy.scripts import scripts_in
from tests.rows import each

RESULTS = [{"type": "tool_result", "content": text} for text in ("short", "x" * 3_000)]
VALUES = {"RESULTS": json.dumps({"type": "user", "message": {"content": RESULTS}})}
scripts_in(globals(), VALUES, package="holdfast.policy holdfast.verbs")


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
    made = brief("deploy " + unit * 30, found, form, budget, {})
    assert made.tokens == tokens_of(made.text) <= budget
    assert len(made.included) + made.left_out in (len(found), len(found) // 2)


def test_chunks_overlap_and_cover_everything() -> None:
    text = " ".join(f"word{number}" for number in range(3_000))
    found = chunks([text])
    assert [len(piece) for piece in found if len(piece) > CHUNK] == []
    assert all(piece[: OVERLAP // 2] in text and before[-20:] in piece for before, piece in pairwise(found))
    assert set(" ".join(found).split()) >= set(text.split())

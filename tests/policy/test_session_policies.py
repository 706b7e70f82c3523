"""What threads, scars, answers, briefs and closings are judged by: every formula with worked values."""

import json
from dataclasses import replace

import pytest

from holdfast.model.ids import instant
from holdfast.model.record import Record
from holdfast.model.text import tokens_of
from holdfast.policy.activity.transcript import CHUNK, OVERLAP, chunks, form_of, messages_in
from holdfast.policy.language.overlap import is_same, overlap, same_issue
from holdfast.policy.ranking.scar_wordings import VARIANTS, variant_of, wording
from holdfast.policy.ranking.vitality import Life, class_of, stage, vitality
from holdfast.policy.ranking.weight import by_dismissal, by_type, decay, dismissed_share
from holdfast.policy.sessions import closing
from holdfast.policy.sessions.closing import Conduct, Payload, read_payload, refusals, remarks
from holdfast.policy.sessions.evidence import problem_with
from holdfast.policy.sessions.plan_brief import brief, clipped
from holdfast.verbs.sessions.scars import lesson_cue
from tests.rows import each, examples

DAY = 86_400.0
START = 1_790_000_000.0


def day(number: float) -> str:
    return instant(START + number * DAY)


VITALITY = {
    "operational": {0: 1.0, 1: 0.8865, 3: 0.5000, 5: 0.3473, 9: 0.2042, 10: 0.1846},
    "backlog": {7: 0.5865, 10: 0.5255, 14: 0.4617, 30: 0.2952, 45: 0.2060, 50: 0.1849},
}


@each(("thread_class", "tabulated"), VITALITY.items())
def test_vitality_falls_as_tabulated(thread_class: str, tabulated: dict[int, float]) -> None:
    life = Life(created_at=day(0), touched_at=day(0), touches=1, thread_class=thread_class)  # type: ignore[arg-type]
    assert {days: vitality(life, day(days)) for days in tabulated} == pytest.approx(tabulated, abs=1e-4)


def test_vitality_grows_with_touches_and_never_passes_one() -> None:
    often = Life(created_at=day(0), touched_at=day(20), touches=12)
    rarely = Life(created_at=day(0), touched_at=day(20), touches=2)
    assert vitality(often, day(30)) > vitality(rarely, day(30))
    assert vitality(Life(created_at=day(0), touched_at=day(0), touches=1_000), day(0)) == 1.0


def test_a_thread_goes_through_its_life_without_anybody_moving_it_and_a_touch_brings_it_back() -> None:
    life = Life(created_at=day(0), touched_at=day(0), touches=1, thread_class="operational")
    stages = {0.9: "emerging", 2: "active", 3: "cooling", 9: "cooling", 10: "dormant", 38: "dormant", 41: "archived"}
    assert {days: stage(life, day(days)) for days in stages} == stages
    assert stage(replace(life, touched_at=day(60), touches=2), day(60)) == "active"


@examples
def test_what_burns_is_told_from_what_waits_by_whole_words(text: str, expected: str) -> None:
    assert class_of(text) == expected


AGES = {"process": {10_000: 1.0}, "": {10_000: 1.0}, "incident": {0: 1.0, 90: 0.55, 180: 0.1}, "context": {15: 0.55, 400: 0.1}}  # fmt: skip


@each(("scar_type", "shares"), AGES.items())
def test_scars_age_by_their_type(scar_type: str, shares: dict[int, float]) -> None:
    assert {days: by_type(scar_type, days) for days in shares} == pytest.approx(shares)


def test_a_scar_nobody_heeds_makes_room() -> None:
    mixed = ["ignored", "refuted", "applied", "acknowledged"]
    found = [by_dismissal(each) for each in ([], ["ignored"] * 2, ["ignored"] * 3, mixed, ["applied"] * 5)]
    assert found == pytest.approx([1.0, 1.0, 0.2, 0.6, 1.0])


def test_age_and_dismissal_multiply_and_checking_a_scar_makes_it_young() -> None:
    scar = Record(id="x", kind="scar", fields={"scar_type": "context"}, updated_at=day(0))
    assert decay(scar, ["ignored"] * 4, day(15)) == pytest.approx(0.55 * 0.2)
    assert decay(replace(scar, verified_at=day(15)), [], day(15)) == 1.0
    assert dismissed_share(["ignored", "applied"]) == 0.5
    assert dismissed_share([]) == 0.0


LONG = "The migration ran twice against the staging copy and both row counts matched."


@each(
    ("decision", "evidence", "says"),
    [
        ("APPLYING", LONG, ""),
        ("N_A", LONG, ""),
        ("APPLYING", "The cache will expire on its own within five minutes, checked in the config.", ""),
        (
            "REFUTED",
            "Overriding it: the acknowledged risks are small since the table is empty in every environment.",
            "",
        ),
        ("APPLYING", "done", "has 4 characters, 50 are needed"),
        ("APPLYING", "I will run the migration on staging first and then compare the counts.", "is a promise"),
        ("APPLYING", "We're going to run the migration on staging first and compare the counts.", "is a promise"),
        ("REFUTED", LONG, "which risk"),
        ("applying", LONG, "is not a decision"),
        ("N_A", "x" * 2_001, "2000 is the limit"),
    ],
)
def test_an_answer_needs_evidence_somebody_could_check(decision: str, evidence: str, says: str) -> None:
    problem = problem_with(decision, evidence)
    assert says in problem if says else problem == ""


def test_a_wording_is_assigned_by_chance_but_stays() -> None:
    given = [variant_of("claude", f"scar-{number}") for number in range(1_000)]
    assert given == [variant_of("claude", f"scar-{number}") for number in range(1_000)]
    assert 400 < given.count(VARIANTS[0]) < 600
    assert given != [variant_of("codex", f"scar-{number}") for number in range(1_000)]


def test_the_two_wordings_say_what_to_do_and_what_must_be_true() -> None:
    scar = Record(id="x", kind="scar", fields={"action_protocol": ["Run it twice"], "self_check": ["Counts match"]})
    assert wording(scar, "steps") == "Do: Run it twice; Counts match"
    assert wording(scar, "goal") == "Done when: Counts match; Run it twice"
    assert wording(Record(id="y", kind="scar"), "goal") == ""


def test_threads_are_the_same_when_the_shorter_shares_most_words() -> None:
    assert overlap("fix the login page", "login page") == 1.0
    assert is_same("Add dark mode", "add dark  mode.")
    assert not is_same("Add dark mode", "Fix the memory leak")
    assert same_issue("SHOP-12 rate limits", "SHOP-12: limits for search")
    assert is_same("SHOP-12 rate limits today", "SHOP-12: rate caps search")
    assert not is_same("SHOP-12 rate limits today", "SHOP-13: rate caps search")


@examples
def test_lessons_are_recognised_by_cue_or_mark(text: str, severity: str, is_candidate: bool) -> None:
    assert bool(lesson_cue(text, severity)) == is_candidate


def scar(number: int, *, severity: str = "high", blocking: bool = False, body: str = "") -> Record:
    fields = {"severity": severity, "counter_arguments": ["a", "b"], "blocking": blocking}
    fields |= {"verify_with": ["make check"], "must_show": "0 errors"} if blocking else {}
    return Record(
        id=f"01ARZ3NDEKTSV4RRFFQ69G5F{number:02}",
        kind="scar",
        title=f"Scar number {number}",
        body=body or f"Scar number {number}. More about it.",
        fields=fields,
    )


@each("budget", [20, 37, 100, 101, 500, 4_000])
@each("form", ["full", "compact", "gate"])
@each("unit", ["word ", "naïve — ", "漢字", "x"])
def test_a_brief_never_exceeds_its_budget(budget: int, form: str, unit: str) -> None:
    found = [scar(number, blocking=number % 2 == 0, body=unit * 400) for number in range(12)]
    made = brief("deploy " + unit * 30, found, form, budget)
    assert made.tokens == tokens_of(made.text) <= budget
    assert len(made.included) + made.left_out in (len(found), len(found) // 2)


def test_a_compact_brief_is_one_line_a_scar_worst_first() -> None:
    made = brief(
        "deploy", [scar(1, severity="low"), scar(2, severity="critical"), scar(3, blocking=True)], "compact", 500
    )
    lines = made.text.splitlines()
    assert lines[0] == "What is known about: deploy"
    assert [line.split("Scar number ")[1][0] for line in lines[1:]] == ["3", "2", "1"]
    assert "Run: make check Must show: 0 errors" in lines[1]


def test_a_gate_says_pass_or_what_blocks() -> None:
    assert brief("deploy", [scar(1)], "gate", 100).text == "PASS: nothing blocks deploy"
    assert brief("deploy", [scar(1, blocking=True)], "gate", 100).text.startswith("STOP until verified:\n- [high scar]")
    critical = brief("deploy", [scar(1), scar(2, severity="critical")], "gate", 100)
    assert (critical.text.splitlines()[0], critical.blocking) == ("STOP until considered:", 1)


def test_a_cut_is_marked() -> None:
    assert clipped("one two three four five six", 3) == "one two…"
    assert clipped("short", 5) == "short"


STANDARD = {
    "closing_reflection": {
        "q1_broke": "the seed script",
        "took_longer": ["finding the flag", "reading the docs"],
        "next_time": "run migrations first, always and everywhere",
        "q4_worked": "small commits",
        "assumption": "that the seed migrates",
        "rapport_notes": "short answers",
        "q8_human_style": "decides quickly",
    },
    "human_corrections": "",
    "decisions": ["Use JWT", {"title": "Use SQLite", "rationale": "one file"}, {"nothing": 1}],
    "open_threads": ["Rate limiting", {"text": "Docs"}, {"id": "01ARZ3NDEK"}, ""],
    "learnings_created": [
        "01ARZ3NDEK",
        {"learning_type": "win", "title": "Small commits", "description": "They help."},
    ],
    "task_completion": "partial",
    "mystery": 1,
}


def test_a_payload_is_read_however_agents_spell_it() -> None:
    read = read_payload(STANDARD)
    assert read.reflection == {
        "what_broke": "the seed script",
        "what_took_longer": "finding the flag. reading the docs",
        "do_differently": "run migrations first, always and everywhere",
        "what_worked": "small commits",
        "wrong_assumption": "that the seed migrates",
        "rapport": "short answers",
        "collaboration": "decides quickly",
    }
    assert read.decisions == ({"title": "Use JWT"}, {"title": "Use SQLite", "rationale": "one file"})
    assert (read.threads, read.kept) == (("Rate limiting", "Docs", "01ARZ3NDEK"), ("01ARZ3NDEK",))
    assert [item["title"] for item in read.learnings] == ["Small commits"]
    assert (read.corrections, read.completion, read.unread) == ("", {"outcome": "partial"}, ("mystery",))
    assert closing.rapport_of(read.reflection) == "decides quickly | short answers"


def test_a_reflection_told_as_prose_is_kept() -> None:
    assert read_payload({"closing_reflection": "Went well."}).reflection == {"what_worked": "Went well."}
    assert read_payload({"what_broke": "x", "summary": "did y"}).summary == {"completed": "did y"}


def test_a_standard_close_needs_the_five_answers() -> None:
    assert refusals("standard", read_payload(STANDARD), Conduct()) == []
    problems = refusals("standard", read_payload({"closing_reflection": {"what_broke": "x"}}), Conduct())
    assert len(problems) == 4
    assert problems[0] == "answer what_took_longer: What took longer than it should have?"
    assert "is not a close type" in refusals("fast", Payload(), Conduct())[0]


def test_a_quick_close_is_for_short_sessions() -> None:
    assert refusals("quick", Payload(), Conduct(minutes=29.9)) == []
    assert "close it as standard" in refusals("quick", Payload(), Conduct(minutes=30))[0]
    assert refusals("quick", read_payload(STANDARD), Conduct(minutes=300)) == []
    assert refusals("autonomous", Payload(), Conduct(minutes=300)) == []


def test_what_was_not_proper_is_said_but_does_not_stand_in_the_way() -> None:
    read = read_payload({**STANDARD, "human_corrections": None, "mystery": None})
    said = remarks("standard", read, Conduct(unanswered=2))
    assert said == [
        "unknown key ignored: mystery",
        "2 shown scars counted as ignored: no answer",
        "nothing was recalled in this session",
        "the human was not asked for corrections (human_corrections, may be empty)",
        "do_differently and wrong_assumption may hold a lesson, but none was kept",
    ]


@examples
def test_the_human_must_have_had_time_to_answer(asked: str, answered: str, says: str) -> None:
    completion = {"human_asked_at": asked, "human_response_at": answered}
    said = remarks("standard", Payload(corrections="", completion=completion), Conduct(recalls=1))
    assert said == ([] if not says else said)
    assert any(says in line for line in said) or not says


def test_the_ceremony_fits_the_session() -> None:
    facts = [{"minutes": 20}, {"minutes": 60}, {"recalls": 1}, {"recalls": 3}, {"observations": 3}, {}]
    found = [closing.ceremony(Conduct(**{"minutes": 5, **each})) for each in facts]
    assert found == ["standard", "full", "standard", "full", "full", "micro"]


def test_a_transcript_is_read_turn_by_turn() -> None:
    lines = [
        '{"type": "user", "message": {"content": "Why does the seed fail?"}}',
        '{"type": "assistant", "message": {"content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "A table is missing."}]}}',
        '{"type": "assistant", "message": {"content": [{"type": "thinking", "thinking": "only thought"}]}}',
        '{"type": "user", "message": {"content": [{"type": "tool_result", "content": "short"}, {"type": "tool_result", "content": "'
        + "x" * 3_000
        + '"}]}}',
        '{"type": "summary"}',
        "{cut off",
    ]
    assert messages_in("\n".join(lines), "json") == [
        "user: Why does the seed fail?",
        "assistant: A table is missing.",
        "assistant: only thought",
        "user: short",
    ]
    assert messages_in("# Notes", "markdown") == ["# Notes"]


def test_a_transcript_may_be_a_list_of_messages() -> None:
    messages = [{"role": "user", "content": "Why?"}, {"role": "assistant", "content": "Because."}, "noise"]
    said = ["user: Why?", "assistant: Because."]
    assert messages_in(json.dumps(messages, indent=2), "json") == said
    assert messages_in(json.dumps({"messages": messages}, indent=2), "json") == said
    assert messages_in(json.dumps(messages[0], indent=2), "json") == said[:1]
    assert [form_of(text) for text in (' [{"role": "user"}]', "{}", "# Notes")] == ["json", "json", "markdown"]


def test_chunks_overlap_and_cover_everything() -> None:
    text = " ".join(f"word{number}" for number in range(3_000))
    found = chunks([text])
    assert all(len(piece) <= CHUNK for piece in found)
    assert all(
        found[place + 1][: OVERLAP // 2] in text and found[place][-20:] in found[place + 1]
        for place in range(len(found) - 1)
    )
    assert {word for piece in found for word in piece.split() if word in text} >= {
        f"word{number}" for number in range(3_000)
    }

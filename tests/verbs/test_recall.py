"""Finding things: by word, by meaning, in the right project, at the right time, and honestly."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from holdfast.engine.search.search import MEANING, WORDS
from holdfast.engine.views import vectors
from holdfast.model.errors import EmbedderError, Invalid
from holdfast.model.event import Actor
from holdfast.model.ports import Encoded
from holdfast.model.query import Query, Recalled
from holdfast.model.record import Draft
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.lifecycle import Revision, link, record_use, restore, retire, revise
from holdfast.verbs.records.read import get
from holdfast.verbs.records.write import WrittenPending, confirm, write
from holdfast.verbs.search.embed import catch_up, keeping_up
from holdfast.verbs.search.recall import CATCH_UP, recall
from holdfast.verbs.search.respell import respelled
from holdfast.verbs.truth.compare import compare
from holdfast.verbs.truth.contradictions import mark
from holdfast.verbs.upkeep.doctor import rebuild_vectors
from holdfast.verbs.upkeep.erasing import erase
from tests.conftest import Time, keep, make_memory, recorded
from tests.rows import refused


class Topics:
    """An embedder for tests: one direction per topic, found by the words that name it."""

    name = "topics"
    size = 8
    floor = 0.0
    ceiling = 1.0
    center = 0.0
    topics = ({"car", "automobile", "vehicle"}, {"database", "postgres", "storage"}, {"bread", "loaf", "baking"})

    def __init__(self) -> None:
        self.broken = False
        self.embedded: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[Encoded]:
        if self.broken:
            raise EmbedderError("It is broken.")
        self.embedded.extend(texts)
        rows = []
        for text in texts:
            row = np.full(self.size, 0.01, dtype=np.float32)
            for place, topic in enumerate(self.topics):
                row[place] = float(any(word in text.lower() for word in topic))
            rows.append(row / np.linalg.norm(row))
        return [Encoded(vector=row) for row in rows]

    def knows(self, word: str) -> bool:
        return word != "trumpte"  # an encoder knows most words


@pytest.fixture
def meaning(tmp_path: Path, time: Time) -> Iterator[Memory]:
    with make_memory(tmp_path, time, embedder=Topics()) as memory:
        yield memory


def titles(found: Recalled) -> list[str]:
    return [hit.record.title for hit in found.hits]


def test_a_record_is_found_by_its_words_the_moment_it_is_written(memory: Memory) -> None:
    keep(memory, "The deploy script needs the VPN.")
    keep(memory, "Bananas are yellow.")
    found = recall(memory, Query(text="how does the deploy script work"))
    assert titles(found) == ["The deploy script needs the VPN."]
    assert found.search == "words"
    assert set(found.hits[0].why) >= {"words", "scope"}


@pytest.mark.parametrize(
    "asked", ["parseHttpHeader", "parse_http_header", "http header", "src/net/headers.py", "headers.py", "E_HEADER-17"]
)
def test_code_is_found_whole_and_in_parts(memory: Memory, asked: str) -> None:
    keep(memory, "parseHttpHeader in src/net/headers.py raises E_HEADER-17 on folded lines.")
    keep(memory, "The weather is nice in spring.")
    assert len(recall(memory, Query(text=asked)).hits) == 1


@pytest.mark.parametrize(
    ("text", "asked"),
    [("Der Zähler zählt Aufträge", "zahler"), ("数据库迁移失败", "迁移"), ("Проверка базы данных", "базы")],
)
def test_text_of_any_script_is_found(memory: Memory, text: str, asked: str) -> None:
    keep(memory, text)
    assert titles(recall(memory, Query(text=asked))) == [text]


def test_nothing_fits_is_said_and_the_weak_can_still_be_asked_for(memory: Memory) -> None:
    kept = keep(memory, "The deploy script needs the VPN.")
    for number in range(30):
        keep(memory, f"Shelf {number} holds boxes of paper.")
    found = recall(memory, Query(text="kubernetes cluster autoscaling costs script"))
    assert (found.hits, found.closest) == ((), kept)
    assert len(recall(memory, Query(text="kubernetes cluster autoscaling costs script", weak=True)).hits) >= 1
    assert recall(memory, Query(text="qwertyuiop")).hits == ()


def test_a_small_store_refuses_as_a_large_one_does_and_names_the_closest(memory: Memory) -> None:
    kept = keep(memory, "The deploy script needs the VPN.")
    found = recall(memory, Query(text="kubernetes cluster autoscaling costs script"))
    assert (found.hits, found.closest) == ((), kept)


def test_recall_keeps_to_the_project_and_what_is_global(memory: Memory) -> None:
    keep(memory, "Cache invalidation here is manual.")
    keep(memory, "Cache invalidation is hard everywhere.", project="")
    keep(memory, "Cache invalidation there is automatic.", project="elsewhere")
    assert set(titles(recall(memory, Query(text="cache invalidation")))) == {
        "Cache invalidation here is manual.",
        "Cache invalidation is hard everywhere.",
    }
    assert len(recall(memory, Query(text="cache invalidation", everywhere=True)).hits) == 3
    assert len(recall(memory, Query(text="cache invalidation", project="elsewhere")).hits) == 2


def test_filters_narrow_before_ranking(memory: Memory, time: Time) -> None:
    for number in range(200):
        keep(memory, f"The queue worker number{number} restarts at night{number}.", tags=("noise",))
    time.pass_days(1)
    wanted = keep(memory, "A queue is a queue.", kind="learning", scopes=("infra:queue",))
    for query in (
        Query(text="queue", kinds=("learning",)),
        Query(text="queue", scopes=("infra",)),
        Query(text="queue", since=wanted.created_at),
    ):
        assert [hit.record for hit in recall(memory, query).hits] == [wanted]
    assert wanted not in [hit.record for hit in recall(memory, Query(text="queue", tags=("noise",))).hits]


def test_a_narrow_filter_finds_what_commoner_records_would_hide(memory: Memory) -> None:
    noise = {"project": "example.org/acme/shop", "kind": "fact"}
    memory.commit([recorded(memory.clock, f"gateway timeout number{number}", **noise) for number in range(1_300)])
    wanted = keep(memory, "The gateway speaks two protocols.", kind="learning")
    assert [hit.record for hit in recall(memory, Query(text="gateway timeout", kinds=("learning",))).hits] == [wanted]


def test_retired_pending_and_superseded_records_are_not_recalled(memory: Memory) -> None:
    old = keep(memory, "We use MySQL as the database.")
    new = keep(memory, "We use PostgreSQL as the main database now and later.")
    link(memory, new.id, "supersedes", old.id)
    found = recall(memory, Query(text="which database do we use"))
    assert [hit.record.id for hit in found.hits] == [new.id]
    assert found.notes == ("1 superseded memory was left out.",)
    retire(memory, new.id, "wrong")
    assert [hit.record.id for hit in recall(memory, Query(text="which database do we use")).hits] == [old.id]
    restore(memory, new.id)
    assert [hit.record.id for hit in recall(memory, Query(text="which database do we use")).hits] == [new.id]


def test_a_revised_record_is_found_by_its_new_words_only(memory: Memory) -> None:
    record = keep(memory, "The server listens on port eighty.")
    revise(memory, record.id, Revision(body="The daemon answers on socket ninety."))
    assert titles(recall(memory, Query(text="daemon socket"))) == ["The daemon answers on socket ninety."]
    assert recall(memory, Query(text="server listens port")).hits == ()


def test_recall_as_of_a_date_answers_from_what_was_known_then(memory: Memory, time: Time) -> None:
    record = keep(memory, "The job queue is RabbitMQ.")
    gone = keep(memory, "The job queue has three workers.")
    keep(memory, "The job queue alarm goes to Ann.")
    time.pass_days(10)
    then = memory.clock.now()
    time.pass_days(10)
    revise(memory, record.id, Revision(body="The job queue is Kafka."))
    retire(memory, gone.id, "now five")
    keep(memory, "The job queue moved to Frankfurt.")
    found = recall(memory, Query(text="job queue", as_of=then))
    assert set(titles(found)) == {
        "The job queue is RabbitMQ.",
        "The job queue has three workers.",
        "The job queue alarm goes to Ann.",
    }
    assert set(titles(recall(memory, Query(text="job queue")))) == {
        "The job queue is Kafka.",
        "The job queue alarm goes to Ann.",
        "The job queue moved to Frankfurt.",
    }
    assert titles(recall(memory, Query(text="rabbitmq", as_of=then))) == ["The job queue is RabbitMQ."]
    assert recall(memory, Query(text="job queue", as_of="2020-01-01")).hits == ()
    assert recall(memory, Query(text="job queue", as_of=then, kinds=("scar",))).hits == ()


def test_limit_and_budget_are_kept_and_what_they_cut_is_said(memory: Memory) -> None:
    for number in range(12):
        keep(memory, f"Backup number{number} goes to vault{number} with key{number} by courier{number}.")
    found = recall(memory, Query(text="backup vault", limit=5))
    assert (len(found.hits), found.cut) == (5, 7)
    small = recall(memory, Query(text="backup vault", budget=120))
    assert sum(hit.tokens for hit in small.hits) <= 120
    assert len(small.hits) + small.cut == 12


def test_what_helped_ranks_above_its_equal_and_what_was_wrong_below(memory: Memory) -> None:
    wrong, plain, good = (
        keep(memory, f"Restart the gateway with {how} when it hangs up badly.")
        for how in ("systemctl", "supervisor", "docker")
    )
    record_use(memory, [good.id] * 3, "applied")
    record_use(memory, [wrong.id] * 3, "contradicted")
    assert [hit.record.id for hit in recall(memory, Query(text="restart the gateway")).hits] == [
        good.id,
        plain.id,
        wrong.id,
    ]


def test_being_shown_is_noted_once_per_recall_and_changes_nothing_else(memory: Memory) -> None:
    record = keep(memory, "The deploy script needs the VPN.")
    recall(memory, Query(text="deploy script"))
    recall(memory, Query(text="deploy script"))
    assert get(memory, record.id).usage.surfaced == 2
    assert get(memory, record.id).record == record


def test_people_without_a_session_leave_no_trace_by_reading(tmp_path: Path, time: Time) -> None:
    with make_memory(tmp_path, time, actor=Actor(name="ann")) as memory:
        keep(memory, "The deploy script needs the VPN.")
        recall(memory, Query(text="deploy script"))
        assert len(list(memory.store.journal())) == 1


def test_meaning_finds_what_words_do_not(meaning: Memory) -> None:
    keep(meaning, "The automobile is in the garage.")
    keep(meaning, "A loaf is on the table.")
    found = recall(meaning, Query(text="car"))
    assert (found.search, found.lagging) == ("hybrid", 0)
    assert titles(found) == ["The automobile is in the garage."]
    assert "words" not in found.hits[0].why
    # The encoder of the test gives no vectors of words: words and the vector of the passage share the score.
    assert found.hits[0].why["meaning"] == pytest.approx(MEANING / (WORDS + MEANING), abs=0.01)
    assert recall(meaning, Query(text="car", words_only=True)).hits == ()


def test_an_id_is_not_searched_by_meaning(meaning: Memory) -> None:
    keep(meaning, "The kiosk listens on port 8080.")
    assert recall(meaning, Query(text="where does the kiosk listen")).search == "hybrid"
    assert recall(meaning, Query(text="01M7JAH0S8E9ST09TAG89ZSHCF")).search != "hybrid"


def test_a_question_does_not_wait_for_many_vectors(meaning: Memory) -> None:
    keep(meaning, "The automobile is in the garage.")
    for number in range(CATCH_UP):
        keep(meaning, f"Shelf number{number} holds crate{number}.")
    found = recall(meaning, Query(text="the automobile"))
    assert (titles(found), found.lagging) == (["The automobile is in the garage."], CATCH_UP + 1)
    catch_up(meaning, limit=1)
    assert recall(meaning, Query(text="the automobile")).lagging == 0


def test_vectors_catch_up_as_text_changes_and_go_with_it(meaning: Memory) -> None:
    record = keep(meaning, "The automobile is in the garage.")
    assert titles(recall(meaning, Query(text="car")))
    revise(meaning, record.id, Revision(body="A fresh loaf lies there."))
    assert recall(meaning, Query(text="car")).hits == ()
    assert titles(recall(meaning, Query(text="bread"))) == ["A fresh loaf lies there."]
    erase(meaning, record.id)
    assert recall(meaning, Query(text="bread")).hits == ()


def test_a_long_text_is_found_by_any_of_its_passages(meaning: Memory) -> None:
    body = "\n".join(
        ["Chapter one. " + "Nothing much to say about it. " * 20] * 3 + ["At last the vehicle is repaired."]
    )
    keep(meaning, body)
    assert len(recall(meaning, Query(text="car")).hits) == 1


def test_a_broken_embedder_leaves_search_by_words(meaning: Memory) -> None:
    keep(meaning, "The automobile is in the garage.")
    assert isinstance(meaning.embedder, Topics)
    meaning.embedder.broken = True
    found = recall(meaning, Query(text="garage automobile"))
    assert (titles(found), found.search) == (["The automobile is in the garage."], "words")
    assert found.notes == ("Searched by words only: It is broken. `holdfast doctor` checks it.",)


def test_another_embedder_is_noticed_and_its_vectors_never_mixed(meaning: Memory) -> None:
    keep(meaning, "The automobile is in the garage.")
    catch_up(meaning)
    assert isinstance(meaning.embedder, Topics)
    meaning.embedder.name = "other"
    found = recall(meaning, Query(text="car garage"))
    assert found.search == "words"
    assert "holdfast store rebuild vectors" in found.notes[0]
    assert rebuild_vectors(meaning, lambda _: None) == 1
    assert recall(meaning, Query(text="car")).search == "hybrid"


def test_vectors_made_by_another_process_are_seen(meaning: Memory, tmp_path: Path, time: Time) -> None:
    keep(meaning, "A loaf is on the table.")
    assert recall(meaning, Query(text="car")).hits == ()
    with make_memory(tmp_path, time, embedder=Topics()) as other:
        keep(other, "The automobile is in the garage.")
        catch_up(other)
    assert titles(recall(meaning, Query(text="car"))) == ["The automobile is in the garage."]


def test_what_is_written_is_embedded_in_the_background_of_the_same_process(meaning: Memory) -> None:
    with keeping_up(meaning) as idle:
        keep(meaning, "The automobile is in the garage.")
        keep(meaning, "A loaf is on the table.")
        while vectors.lag(meaning.store):
            assert idle.wait(5)
    assert isinstance(meaning.embedder, Topics)
    assert len(meaning.embedder.embedded) == 2
    assert titles(recall(meaning, Query(text="car"))) == ["The automobile is in the garage."]


def test_a_broken_embedder_does_not_stop_the_background(meaning: Memory, caplog: pytest.LogCaptureFixture) -> None:
    assert isinstance(meaning.embedder, Topics)
    meaning.embedder.broken = True
    with keeping_up(meaning) as idle:
        assert idle.wait(5)
        keep(meaning, "The automobile is in the garage.")
        while "It is broken." not in caplog.text:
            assert idle.wait(5)
        meaning.embedder.broken = False
        keep(meaning, "A loaf is on the table.")
        while vectors.lag(meaning.store):
            assert idle.wait(5)
    assert titles(recall(meaning, Query(text="car"))) == ["The automobile is in the garage."]


def test_a_question_that_names_somebody_prefers_what_they_wrote(tmp_path: Path, time: Time) -> None:
    memory = make_memory(tmp_path, time, actor=Actor(name="Ann"))
    ann = keep(memory, "The release checklist lives in the wiki space.")
    memory = memory.acting(actor=Actor(name="Bob"))
    bob = keep(memory, "The release checklist is a spreadsheet on the drive.")
    assert recall(memory, Query(text="what did Ann say about the release checklist")).hits[0].record == ann
    assert recall(memory, Query(text="what did Bob say about the release checklist")).hits[0].record == bob
    better = keep(memory, "Ann said that the release checklist has moved to the tracker.")
    assert recall(memory, Query(text="where has the release checklist of Ann moved to")).hits[0].record == better
    memory.close()


@pytest.mark.parametrize("asked", ["E1042", "src/pay.py", "what about `max_retries`", '"reset by the peer"'])
def test_what_is_named_exactly_comes_before_what_is_similar(memory: Memory, asked: str) -> None:
    keep(memory, "Pay more: max of the retries is 1042, a peer was reset by us, says src.")
    wanted = keep(memory, "E1042 in src/pay.py at max_retries means that the socket was reset by the peer.")
    hits = recall(memory, Query(text=asked, weak=True)).hits
    assert (hits[0].record, "exact" in hits[0].why) == (wanted, True)


def test_a_question_that_names_a_date_prefers_it(memory: Memory) -> None:
    keep(memory, "The team meeting was about hiring.", at="2026-03-02")
    wanted = keep(memory, "The team meeting was about budgets.", at="2026-05-07")
    assert recall(memory, Query(text="the team meeting on 7 May 2026")).hits[0].record == wanted


def test_neighbours_in_a_session_lend_each_other_weight(tmp_path: Path, time: Time) -> None:
    memory = make_memory(tmp_path, time, actor=Actor(name="a", session="one"))
    keep(memory, "The payment gateway timeout was raised to thirty seconds.")
    near = keep(memory, "That fixed the timeout for large carts.")
    memory = memory.acting(actor=Actor(name="a", session="two"))
    keep(memory, "The search page has a timeout as well.")
    found = recall(memory, Query(text="payment gateway timeout", weak=True))
    assert [hit.record for hit in found.hits][1] == near
    assert found.hits[1].why["session"] > 0
    memory.close()


@pytest.mark.parametrize(
    "asked",
    ["RETRIES", "src/pay.py", "pay.py", "Shop.charge", "charge", "billing", "cards", "payments", "critical", "retries"],
)
def test_cited_code_labels_and_coded_fields_are_found_as_words(memory: Memory, asked: str) -> None:
    keep(memory, "The mailer waits for its queue.", anchors=("src/mail.py",), scopes=("mailing",))
    fields = {"severity": "critical", "counter_arguments": ["it is rare", "it is cheap"]}
    anchors = ("src/pay.py::RETRIES=3", "src/pay.py::Shop.charge")
    wanted = keep(
        memory,
        "Three attempts, never more.",
        kind="scar",
        fields=fields,
        anchors=anchors,
        scopes=("billing:cards",),
        tags=("payments",),
    )
    assert recall(memory, Query(text=asked)).hits[0].record == wanted


def test_an_error_text_as_the_question_finds_the_note_about_it(memory: Memory) -> None:
    wanted = keep(memory, "ECONNREFUSED 127.0.0.1:5432 means that the database is not up: docker compose up db.")
    keep(memory, "The mailer waits for its queue.")
    text = "Error: connect ECONNREFUSED 127.0.0.1:5432\n    at TCPConnectWrap.afterConnect [as oncomplete] (net.js:1141:16)"
    assert recall(memory, Query(text=text)).hits[0].record == wanted


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("数据库的迁移必须在播种脚本之前运行。", "什么时候迁移数据库"),
        ("デプロイの前にデータベースの移行を実行する。", "データベース移行"),
        ("배포 전에 데이터베이스를 백업해야 합니다.", "데이터베이스의 백업은 언제"),
    ],
)
def test_texts_without_spaces_are_found_by_their_words(memory: Memory, text: str, asked: str) -> None:
    keep(memory, "队列在夜里清空。メールは夜に送られる。 로그는 매일 지워집니다.")
    wanted = keep(memory, text)
    assert recall(memory, Query(text=asked)).hits[0].record == wanted


@pytest.mark.parametrize(
    "asked",
    [
        {"text": ""},
        {"text": "a\0"},
        {"text": "x" * 10_001},
        {"limit": 0},
        {"budget": -1},
        {"kinds": ("nope",)},
        {"scopes": ("Bad",)},
        {"since": "soon"},
        {"as_of": "then"},
    ],
)
def test_an_impossible_question_is_refused(memory: Memory, asked: dict[str, Any]) -> None:
    refused(Invalid, lambda: recall(memory, Query(**{"text": "x", **asked})))


@pytest.mark.parametrize(
    "text", ['"', "'; drop table words; --", "AND OR NOT", "NEAR(a b)", "*", "col:x", "^x", "(((", "%_%", "\\"]
)
def test_search_syntax_in_a_question_is_just_text(memory: Memory, text: str) -> None:
    keep(memory, f"A note that quotes {text} and more.")
    recall(memory, Query(text=text))
    recall(memory, Query(text=f"note quotes {text}"))


def test_what_was_asked_for_in_vain_is_found_once_it_is_written(memory: Memory) -> None:
    keep(memory, "The kitchen closes on Sunday.")
    assert recall(memory, Query(text="tabs or spaces")).hits == ()
    written = keep(memory, "Prefers tabs to spaces.")
    assert [hit.record.id for hit in recall(memory, Query(text="tabs or spaces")).hits] == [written.id]


def test_a_question_asked_before_anything_was_in_use_does_not_spoil_later_ones(memory: Memory) -> None:
    held = write(memory, Draft(body="Prefers tabs to spaces.", kind="preference", source="inferred"))
    assert isinstance(held, WrittenPending)
    assert recall(memory, Query(text="tabs or spaces")).hits == ()
    confirm(memory, held.record.id)
    assert [hit.record.id for hit in recall(memory, Query(text="tabs or spaces")).hits] == [held.record.id]


def test_a_memory_kept_outside_any_session_does_not_fall_behind(memory: Memory) -> None:
    for number in range(3):
        keep(memory, f"The queue of the shop was slow on day {number}, nothing else to say about it.")
    alone = keep(memory.acting_in(""), "The queue of the shop is RabbitMQ.")
    assert recall(memory, Query(text="which queue does the shop use: RabbitMQ")).hits[0].record.id == alone.id


def test_of_several_versions_the_one_that_the_question_means_comes_first(memory: Memory, time: Time) -> None:
    for limit in (10, 25, 50):
        keep(memory, f"The upload limit is {limit} MB.", at=memory.clock.now())
        time.pass_days(30)
    compare(memory)
    now = recall(memory, Query(text="upload limit", limit=1))
    assert [hit.record.body for hit in now.hits] == ["The upload limit is 50 MB."]
    first = recall(memory, Query(text="what was the first upload limit?"))
    assert [hit.record.body for hit in first.hits] == [f"The upload limit is {limit} MB." for limit in (10, 25, 50)]
    previous = recall(memory, Query(text="which upload limit did we have previously?", limit=1))
    assert previous.hits[0].record.body == "The upload limit is 25 MB."
    assert previous.hits[0].contradicted_by == now.hits[0].record.id


def test_a_newer_record_that_does_not_fit_itself_is_listed_beside_the_one_it_contradicts(
    memory: Memory, time: Time
) -> None:
    for number in range(35):
        keep(memory, f"Room {number} of the annex has a window to the garden side.")
    older = keep(memory, "The vLLM server serves the models.")
    time.pass_days(30)
    newer = keep(memory, "The project now uses SGLang, the vLLM code was deleted.")
    mark(memory, older.id, newer.id)
    found = recall(memory, Query(text="which server serves the models?"))
    assert (found.hits[0].record.id, found.hits[0].contradicted_by) == (older.id, newer.id)
    assert [(one.record.id, one.relation, one.source) for one in found.related] == [(newer.id, "contradicts", older.id)]


def test_contradictions_that_the_comparison_found_are_marked_in_answers(memory: Memory, time: Time) -> None:
    for body in ("Deploys go through Jenkins.", "Deploys go through Argo CD now."):  # as import or sync bring them
        memory.store.commit([memory.event("recorded", data={"body": body, "title": body, "kind": "fact"})])
        time.pass_days(30)
    compare(memory)
    found = recall(memory, Query(text="deploys go through what?"))
    assert [hit.record.body for hit in found.hits] == ["Deploys go through Argo CD now.", "Deploys go through Jenkins."]
    assert found.hits[1].contradicted_by == found.hits[0].record.id


def test_a_question_that_names_only_a_time_or_a_kind_lists_what_was_written(memory: Memory, time: Time) -> None:
    old = keep(memory, "Pages are cached at the edge.", kind="decision", fields={"rationale": "measured"})
    time.pass_days(40)
    keep(memory, "The bread is good.")
    new = keep(memory, "Search results are cached in Redis.", kind="decision", fields={"rationale": "measured"})
    time.pass_days(8)
    found = recall(memory, Query(text="what did we decide last week?"))
    assert [(hit.record.id, hit.confidence, dict(hit.why)) for hit in found.hits] == [
        (new.id, "strong", {"listed": 1.0})
    ]
    assert [hit.record.id for hit in recall(memory, Query(text="recent decisions")).hits] == [new.id, old.id]
    first = recall(memory, Query(text="recent decisions", limit=1))
    assert ([hit.record.id for hit in first.hits], first.cut) == ([new.id], 1)
    everything = recall(memory, Query(text="what happened last week")).hits
    assert [hit.record.title for hit in everything] == ["Search results are cached in Redis.", "The bread is good."]
    link(memory, new.id, "supersedes", old.id)
    assert [hit.record.id for hit in recall(memory, Query(text="list all decisions")).hits] == [new.id]
    none = recall(memory, Query(text="what did we decide yesterday"))
    assert (none.hits, none.closest, none.notes) == ((), None, ("Nothing was written then.",))
    lessons = recall(memory, Query(text="what did we learn last week"))
    assert [hit.record.title for hit in lessons.hits] == [hit.record.title for hit in everything]
    assert lessons.notes == ("No lesson was written then; these memories were.",)
    # If the question names more, what resembles it is found as usual.
    assert (
        recall(memory, Query(text="what did we decide yesterday about bread")).hits[0].record.title
        == "The bread is good."
    )
    assert "listed" not in recall(memory, Query(text="what did we decide about search results")).hits[0].why


def test_the_first_result_is_as_sure_alone_as_on_a_full_page(memory: Memory) -> None:
    keep(memory, "The payment service retries a charge three times.")
    keep(memory, "The payment service retries a refund three times.")
    keep(memory, "Bread is baked at noon.")
    asked = "payment service retries three times"
    sure = [recall(memory, Query(text=asked, limit=limit)).hits[0].confidence for limit in (10, 1)]
    assert sure == ["weak", "weak"]


def test_a_misspelled_word_is_corrected_if_a_memory_has_one_that_is_spelled_nearly_the_same(memory: Memory) -> None:
    kept = keep(memory, "Traefik terminates TLS for all services.")
    for number in range(30):
        keep(memory, f"Shelf {number} holds the parts of order {number}.")
    found = recall(memory, Query(text="why tarefik?"))
    assert [hit.record.id for hit in found.hits] == [kept.id]
    assert found.notes == ("No memory has “tarefik”: searched for “traefik”.",)
    assert recall(memory, Query(text="why traefik?")).notes == ()


@pytest.mark.parametrize("text", ["who feeds the giraffe", "src/tarefik.py", "trawler tariff"])
def test_other_words_paths_and_words_that_are_only_somewhat_alike_are_left_as_they_are(
    memory: Memory, text: str
) -> None:
    keep(memory, "Traefik terminates TLS for all services.")
    assert not [note for note in recall(memory, Query(text=text)).notes if "searched for" in note]


def test_words_of_other_projects_correct_nothing(memory: Memory) -> None:
    keep(memory, "Traefik terminates TLS.", project="elsewhere")
    keep(memory, "Bananas are yellow.")
    assert not [note for note in recall(memory, Query(text="tarefik")).notes if "searched for" in note]


def test_a_word_that_the_embedder_knows_is_not_misspelled(meaning: Memory) -> None:
    keep(meaning, "The trumpet is loud.")
    everywhere = [(0, 2**62)]
    assert respelled(meaning, "trumpte or trumped", everywhere, 1) == {"trumpte": "trumpet"}

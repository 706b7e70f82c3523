"""How common words are, and which of their records are looked at, where there are very many."""

from unittest.mock import Mock

import pytest

from holdfast.engine.search import lexical
from holdfast.engine.search.lexical import Frequencies, look_up
from holdfast.engine.store import Store
from holdfast.engine.views import words
from holdfast.engine.views.records import span
from holdfast.model.ids import Clock
from tests.conftest import recorded

EVERYWHERE = (0, 2**62)


@pytest.fixture
def large(store: Store, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Give 600 records of three projects, which count as very many: all deploy, a third to staging, two on a Sunday."""
    monkeypatch.setattr(lexical, "MANY", 500)
    monkeypatch.setattr(lexical, "DRAWN", 400)
    clock = Clock(lambda: 1_700_000_000.0)
    texts = [
        f"Deploy {n} goes {'to staging' if n % 3 == 0 else 'out'}{' on Sunday' if n in (7, 8) else ''}"
        for n in range(600)
    ]
    store.commit([recorded(clock, text, project=f"p{n % 3 if n > 300 else 0}") for n, text in enumerate(texts)])
    return store


def test_common_words_are_told_from_a_draw_and_rare_ones_counted(large: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = Mock(wraps=words.counts)
    monkeypatch.setattr(words, "counts", counts)
    found = Frequencies(large).of(["deploy", "stage", "sunday", "nowher"], [EVERYWHERE], 600)
    assert [call.args[1] for call in counts.call_args_list] == [{EVERYWHERE: ["sunday", "nowher"]}]
    assert (found["deploy"], found["sunday"], found["nowher"]) == (600, 2, 0)
    assert 150 < found["stage"] < 250
    exact = Frequencies(large).of(["deploy", "stage", "sunday"], [EVERYWHERE], 400)  # as of fewer
    assert exact == {"deploy": 600, "stage": 200, "sunday": 2}


def test_a_draw_is_made_again_when_a_tenth_has_come(large: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    frequencies = Frequencies(large)
    assert frequencies.of(["rollback"], [EVERYWHERE], 600) == {"rollback": 0}
    clock = Clock(lambda: 1_700_000_001.0)
    large.commit([recorded(clock, f"Rollback {n}", project="p1") for n in range(300)])
    drawn = Mock(wraps=words.drawn)
    monkeypatch.setattr(words, "drawn", drawn)
    assert 200 < frequencies.of(["rollback"], [EVERYWHERE], 900)["rollback"] < 400
    assert frequencies.of(["rollback"], [EVERYWHERE], 910)["rollback"]
    assert drawn.call_count == 1


def test_a_draw_is_of_the_projects_that_are_asked(large: Store) -> None:
    here = span(large.project_number("p1"))
    assert words.drawn(large.db, [span(10_000)], 50) == []
    drawn = words.drawn(large.db, [here], 50)
    assert 20 < len(drawn) <= 50
    assert set(drawn) < set(words.newest(large.db, [here], 1_000).values())
    assert drawn == words.drawn(large.db, [here], 50)


def test_a_word_that_very_many_hold_picks_none_where_meaning_does(
    large: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lexical, "COMMON_WORD", 50)

    def found(asked: list[str], *, meant: bool) -> int:
        return len(look_up(Frequencies(large), asked, [EVERYWHERE], 600, most=60, meant=meant).found)

    assert found(["stage", "deploy"], meant=True) == 0
    assert found(["stage", "deploy"], meant=False) == 60
    assert found(["sunday", "stage"], meant=True) == 2


def test_what_is_remembered_of_words_is_bounded(large: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lexical, "REMEMBERED", 20)
    frequencies = Frequencies(large)
    for number in range(300):
        asked = [str(number), "sunday", f"unheard{number}"]
        assert frequencies.of(asked, [EVERYWHERE], 400) == dict(zip(asked, (1, 2, 0), strict=True))
        assert len(frequencies.known) <= 22
    assert not [key for key in frequencies.known if "unheard" in key[2]]


def test_the_one_record_with_all_words_is_found_however_common_each_word_is(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lexical, "POSTINGS", 40)
    asked = ["amber", "birch", "cedar", "delta", "ember"]
    texts = [" ".join(word for word in asked if word != asked[n % 5]) for n in range(200)]
    texts[100] = " ".join(asked)
    texts += [f"amber {n}" for n in range(50)]
    clock = Clock(lambda: 1_700_000_000.0)
    entries = store.commit([recorded(clock, text, project="p") for text in texts])
    found = look_up(Frequencies(store), asked, [EVERYWHERE], len(texts), most=10).found
    assert next(iter(found)) == entries[100].number

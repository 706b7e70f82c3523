"""The first questions a new user asks, each to an otherwise empty store: answered at once, by the memory that is meant."""

import pytest

from bench.questions import first_answers, first_cases
from tests.rows import WHOLE

pytestmark = [pytest.mark.embedded, pytest.mark.xdist_group("first questions")]
# Of so many, with a little room: the encoder rounds differently on other processors. `bench first` names those missed.
ASKED, MISSED, REFUSED, ANSWERED = ((121, 25), 8, 28, 7) if WHOLE else ((53, 10), 4, 16, 3)


def test_first_questions_name_the_memory_that_is_meant_and_unrelated_ones_are_refused() -> None:
    answers = first_answers(1 if WHOLE else 3)
    cases, unrelated = ([row for row in rows if row["id"] in answers] for rows in first_cases())
    assert (len(cases), len(unrelated)) == ASKED
    missed = [row["id"] for row in cases if not answers[row["id"]].names(row["first"])]
    assert len(missed) <= MISSED, missed
    refused = [row["id"] for row in cases if not answers[row["id"]].labels]
    assert len(refused) <= REFUSED, refused
    answered = [row["id"] for row in unrelated if answers[row["id"]].labels]
    assert len(answered) <= ANSWERED, answered

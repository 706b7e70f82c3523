"""A query is valid once it is built: whatever holds one need not check it again."""

from dataclasses import replace
from typing import Any

import pytest

from holdfast.model.errors import Invalid
from holdfast.model.query import LONGEST_QUESTION, Query
from tests.rows import each


@each(
    "wrong",
    [
        {"text": "a\0b"},
        {"text": "\ud800"},
        {"text": "x" * (LONGEST_QUESTION + 1)},
        {"limit": 0},
        {"budget": -1},
        {"mode": "lazy"},
        {"kinds": ("fact", "nonsense")},
        {"scopes": ("Not A Scope",)},
        {"any_scopes": ("Not A Scope",)},
        {"without_scopes": ("Not A Scope",)},
        {"since": "last week"},
        {"until": "last week"},
        {"as_of": "last week"},
    ],
)
def test_a_query_that_cannot_be_asked_cannot_be_built(wrong: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        Query(**{"text": "deploy", **wrong})
    with pytest.raises(Invalid):
        replace(Query(text="deploy"), **wrong)


def test_a_query_holds_its_parts_as_they_are_used() -> None:
    asked = Query(
        text="  deploy\r\nnow ", scopes=(" tools ", "tools"), since="2026-11-15", as_of="2026-11-15T08:30+01:00"
    )
    assert asked == Query(
        text="deploy\nnow", scopes=("tools",), since="2026-11-15T00:00:00.000Z", as_of="2026-11-15T07:30:00.000Z"
    )
    assert replace(asked) == asked


def test_a_query_for_a_list_needs_no_text() -> None:
    assert Query(text=" ").text == ""

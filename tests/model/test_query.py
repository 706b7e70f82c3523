"""A query is valid once it is built: whatever holds one need not check it again."""

from dataclasses import replace
from datetime import UTC
from typing import Annotated, Any

from holdfast.model.errors import Invalid
from holdfast.model.ids import ago
from holdfast.model.kinds import REQUIRED, Fields, parameters_of
from holdfast.model.query import LONGEST_QUESTION, MODES, Query
from holdfast.model.record import Draft, Link
from tests.rows import each, examples, refused, rows


@each("wrong", [*rows("a_query_that_cannot_be_asked"), {"text": "x" * (LONGEST_QUESTION + 1)}])
def test_a_query_that_cannot_be_asked_cannot_be_built(wrong: dict[str, Any]) -> None:
    refused(Invalid, Query, **{"text": "deploy", **wrong})
    refused(Invalid, replace, Query(text="deploy"), **wrong)


def test_a_query_holds_its_parts_as_they_are_used() -> None:
    asked = Query(
        text="  deploy\r\nnow ", scopes=(" tools ", "tools"), since="2026-11-15", as_of="2026-11-15T08:30+01:00"
    )
    assert asked == Query(
        text="deploy\nnow", scopes=("tools",), since="2026-11-15T00:00:00.000Z", as_of="2026-11-15T07:30:00.000Z"
    )
    assert replace(asked) == asked
    assert Query(text=" ").text == ""  # for a list


NOW = "2026-11-18T10:00:00.000Z"  # a Wednesday


def test_a_query_is_built_from_what_a_caller_passes() -> None:
    asked = Query.of("deploy", now=NOW, kinds=["fact"], tags=None, since="7d", as_of="2026-11")
    assert asked == Query(text="deploy", kinds=("fact",), since="2026-11-11T10:00Z", as_of="2026-11-01")
    refused(Invalid, Query.of, "deploy", kinds="fact", says="kinds must be a list of texts")
    refused(Invalid, Query.of, "deploy", now=NOW, since="next Easter", says="'next Easter' is not a date")


def test_links_of_a_draft_may_be_texts() -> None:
    linked = Draft.of("Use SQLite.", links=["supersedes:01HX", Link(relation="mentions", target="02")], at="")
    assert linked.links == (Link(relation="supersedes", target="01HX"), Link(relation="mentions", target="02"))


@examples
def test_how_long_ago_something_was(at: str, words: str) -> None:
    assert ago(at, NOW, UTC) == words


def test_a_signature_with_the_fields_of_a_request_lists_them_in_its_place() -> None:
    def search(
        call: object, query: str, *, why: bool = False, **asked: Annotated[Any, Fields(Query, "kinds mode")]
    ) -> None: ...

    taken = [(one.name, one.positional, one.default, one.choices) for one in parameters_of(search)][1:]
    assert taken == [
        ("query", True, REQUIRED, ()),
        ("kinds", False, (), ()),
        ("mode", False, "balanced", MODES),
        ("why", False, False, ()),
    ]

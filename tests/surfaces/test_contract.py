"""How a surface is declared: contracts and the freedom its users are used to, schemas from signatures, maps of values."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import pytest

from holdfast.hosts.mcp.protocol import check_names, offer_of, with_aliases
from holdfast.model.errors import HoldfastError, Invalid
from holdfast.surfaces.maps import Row, Terms, mapped, surface_of
from holdfast.surfaces.schema import check_arguments, schema_of
from holdfast.surfaces.tool import Call, Surface, read_contract
from tests.hosts import toy
from tests.rows import each, examples, refused, rows


def lend_book(_: None, title: str, how_long: int, type_: str = "", **given: Any) -> dict[str, Any]:
    return {"title": title, "how_long": how_long, "type": type_, **given}


def as_problems(problem: HoldfastError) -> str:
    return json.dumps(problem.problems or [problem.message])


@pytest.fixture
def surface() -> Surface:
    contract, rows = read_contract(Path(__file__).with_name("shelf")), {"lend-book": Row(lend_book)}
    return surface_of(contract, rows, Terms(), memory_for=lambda *_: cast("Any", None), present_error=as_problems)


def ask(surface: Surface, name: str = "lend-book", **arguments: Any) -> Any:
    return json.loads(surface.call(Call(open=toy.no_memory), name, arguments)[0])


@examples
def test_what_is_clearly_meant_is_taken(surface: Surface, given: dict[str, Any], taken: dict[str, Any]) -> None:
    assert ask(surface, **given) == {"title": "Emma", "how_long": 14, "type": "", **taken}


@examples
def test_everything_that_is_wrong_is_said_at_once(surface: Surface, given: dict[str, Any], problems: list[str]) -> None:
    text, failed = surface.call(Call(open=toy.no_memory), "lend-book", given)
    assert (failed, json.loads(text)) == (True, problems)


def test_another_name_works_and_is_listed_only_when_asked(surface: Surface) -> None:
    assert ask(surface, "lb", book="Emma") == ask(surface, title="Emma")
    offer = offer_of(surface)
    assert [tool["name"] for tool in offer.tools] == ["lend-book"]
    listed = with_aliases(offer).tools
    assert [tool["name"] for tool in listed] == ["lend-book", "lb"]
    assert listed[1]["description"] == "Another name of lend-book. Lend a book."
    assert listed[1]["inputSchema"] == listed[0]["inputSchema"]
    assert listed[0]["inputSchema"]["properties"]["shelf"] == {"type": "string", "description": "Which shelf."}


def test_two_surfaces_cannot_share_a_name(surface: Surface) -> None:
    other = offer_of(Surface(name="toys", aliases={"lb": "echo"}, tools=toy.surface.tools))
    check_names([("shelf", offer_of(surface)), ("toy", offer_of(toy.surface))])
    with pytest.raises(Invalid, match="The surfaces shelf and toys both have a tool lb"):
        check_names([("shelf", offer_of(surface)), ("toys", other)])


def example(
    _: object,
    text: Annotated[str, "What."],
    mode: Literal["a", "b"] = "a",
    limit: Annotated[int, {"minimum": 1, "maximum": 5}] = 3,
    tags: list[str] | None = None,
    extra: dict[str, Any] | None = None,
    flag: bool = False,
) -> None:
    """Do nothing."""


def test_a_signature_is_the_schema() -> None:
    assert schema_of(example) == rows("the_schema_of_a_signature")


@each("given", [{"text": "x"}, {"text": "x", "tags": None, "mode": "b", "limit": 5.0, "extra": {"a": 1}, "flag": True}])
def test_arguments_that_fit_pass(given: dict[str, Any]) -> None:
    assert check_arguments(schema_of(example), given, "example") == given


@examples
def test_what_does_not_fit_is_named(given: dict[str, Any], says: str) -> None:
    refused(Invalid, check_arguments, schema_of(example), given, "example", says=re.escape(says))


@dataclass
class Book:
    title: str
    pages: int = 0
    price: float | None = None


TERMS = Terms(
    filters={"long": lambda book: book.pages > 100}, lookups={"at": lambda memory, name: f"{name} at {memory}"}
)
SHELF = {"name": "sea", "books": [Book("Moby Dick", 600, 9.876), Book("Typhoon", 90)], "first": Book("Typhoon", 90)}


@examples
def test_a_map_selects_and_renames(text: str, made: dict[str, Any]) -> None:
    terms = Terms(filters={**TERMS.filters, "fields": lambda book: {"title": book.title}}, lookups=TERMS.lookups)
    assert mapped(text, SHELF, cast("Any", "home"), terms) == made


def test_a_row_calls_its_verb_with_what_is_there_and_a_path_that_leads_nowhere_is_a_bug() -> None:
    refused(KeyError, mapped, "author", SHELF, None, TERMS, says="author")

    def write(_: None, *, title: str, pages: int = 1) -> Book:
        return Book(title, pages)

    row, memory = Row(write, "title=name, pages=count", "title, pages, name"), cast("Any", None)
    assert row.run(memory, {"name": "Emma", "count": None}, TERMS) == {"title": "Emma", "pages": 1, "name": "Emma"}

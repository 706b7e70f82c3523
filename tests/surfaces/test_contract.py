"""Surfaces that others designed: what a contract promises, and the freedom its users are used to."""

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast.hosts.mcp.protocol import check_names, offer_of, with_aliases
from holdfast.model.errors import HoldfastError, Invalid
from holdfast.surfaces.maps import Row, surface_of
from holdfast.surfaces.tool import Call, Surface, parameter_name, read_contract
from tests.hosts import toy
from tests.rows import examples


def no_memory(_: Call, __: dict[str, Any]) -> Any:
    return None


def lend_book(_: None, title: str, how_long: int, type_: str = "", **given: Any) -> dict[str, Any]:
    return {"title": title, "how_long": how_long, "type": type_, **given}


def as_json(value: Any) -> str:
    return json.dumps(value)


def as_problems(problem: HoldfastError) -> str:
    return json.dumps(problem.problems or [problem.message])


@pytest.fixture
def contract() -> Surface:
    return read_contract(Path(__file__).with_name("shelf"))


@pytest.fixture
def surface(contract: Surface) -> Surface:
    return surface_of(
        contract, {"lend-book": Row(lend_book)}, memory_for=no_memory, present=as_json, present_error=as_problems
    )


def ask(surface: Surface, name: str = "lend-book", **arguments: Any) -> Any:
    return json.loads(surface.call(Call(open=toy.no_memory), name, arguments)[0])


def test_names_that_python_cannot_have_are_translated() -> None:
    names = [parameter_name(name) for name in ("dateStart", "type", "obs_type", "from")]
    assert names == ["date_start", "type_", "obs_type", "from_"]


def test_what_is_left_out_has_the_default_of_the_contract(surface: Surface) -> None:
    assert ask(surface, title="Emma") == {"title": "Emma", "how_long": 14, "type": ""}


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

"""Maps: what a text of names and paths makes of our values."""

from dataclasses import dataclass
from typing import Any, cast

import pytest

from holdfast.surfaces.maps import Row, Terms, mapped


@dataclass
class Book:
    title: str
    pages: int = 0
    price: float | None = None


TERMS = Terms(
    filters={"long": lambda book: book.pages > 100}, lookups={"at": lambda memory, name: f"{name} at {memory}"}
)
SHELF = {"name": "sea", "books": [Book("Moby Dick", 600, 9.876), Book("Typhoon", 90)], "first": Book("Typhoon", 90)}


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("name, shelf=name", {"name": "sea", "shelf": "sea"}),
        ("first.title", {"first.title": "Typhoon"}),
        ("title=first.title|4, missing=first.price|2", {"title": "Typ…", "missing": None}),
        ("size=books|len, free=true, none=null, n=-3, word='a, b'", {"size": 2, "free": True, "none": None, "n": -3, "word": "a, b"}),
        ("all=books[title, on=name, price?=price|1, long=.|long]", {"all": [{"title": "Moby Dick", "on": "sea", "price": 9.9, "long": True}, {"title": "Typhoon", "on": "sea", "long": False}]}),
        ("first=first{title}, gone=first.price{title}, at={name}", {"first": {"title": "Typhoon"}, "gone": None, "at": {"name": "sea"}}),
        ("*first|fields, name", {"title": "Typhoon", "name": "sea"}),
        ('text="{first.title} on {name|at}"', {"text": "Typhoon on sea at home"}),
    ],
)  # fmt: skip
def test_a_map_selects_and_renames(text: str, made: dict[str, Any]) -> None:
    terms = Terms(filters={**TERMS.filters, "fields": lambda book: {"title": book.title}}, lookups=TERMS.lookups)
    assert mapped(text, SHELF, cast("Any", "home"), terms) == made


def test_a_path_that_leads_nowhere_is_a_bug() -> None:
    with pytest.raises(KeyError, match="author"):
        mapped("author", SHELF, None, TERMS)


def test_a_row_calls_its_verb_with_what_is_there() -> None:
    def write(_: None, *, title: str, pages: int = 1) -> Book:
        return Book(title, pages)

    row, memory = Row(write, "title=name, pages=count", "title, pages, name"), cast("Any", None)
    assert row.run(memory, {"name": "Emma", "count": None}, TERMS) == {"title": "Emma", "pages": 1, "name": "Emma"}

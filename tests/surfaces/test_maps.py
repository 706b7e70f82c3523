"""Maps: what a text of names and paths makes of our values."""

from dataclasses import dataclass
from typing import Any, cast

from holdfast.surfaces.maps import Row, Terms, mapped
from tests.rows import examples, refused


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


def test_a_path_that_leads_nowhere_is_a_bug() -> None:
    refused(KeyError, mapped, "author", SHELF, None, TERMS, says="author")


def test_a_row_calls_its_verb_with_what_is_there() -> None:
    def write(_: None, *, title: str, pages: int = 1) -> Book:
        return Book(title, pages)

    row, memory = Row(write, "title=name, pages=count", "title, pages, name"), cast("Any", None)
    assert row.run(memory, {"name": "Emma", "count": None}, TERMS) == {"title": "Emma", "pages": 1, "name": "Emma"}

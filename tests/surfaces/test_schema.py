"""Schemas derived from signatures, and the one check every call goes through."""

from typing import Annotated, Any, Literal

import pytest

from holdfast.model.errors import Invalid
from holdfast.surfaces.schema import check_arguments, schema_of
from tests.rows import each, examples


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
    assert schema_of(example) == {
        "type": "object",
        "additionalProperties": False,
        "required": ["text"],
        "properties": {
            "text": {"type": "string", "description": "What."},
            "mode": {"type": "string", "enum": ["a", "b"], "default": "a"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 5, "default": 3},
            "tags": {"type": "array", "items": {"type": "string"}},
            "extra": {"type": "object"},
            "flag": {"type": "boolean"},
        },
    }


@each("given", [{"text": "x"}, {"text": "x", "tags": None, "mode": "b", "limit": 5.0, "extra": {"a": 1}, "flag": True}])
def test_arguments_that_fit_pass(given: dict[str, Any]) -> None:
    assert check_arguments(schema_of(example), given, "example") == given


@examples
def test_what_does_not_fit_is_named(given: dict[str, Any], says: str) -> None:
    with pytest.raises(Invalid) as refused:
        check_arguments(schema_of(example), given, "example")
    assert says in str(refused.value)

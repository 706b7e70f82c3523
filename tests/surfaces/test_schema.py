"""Schemas derived from signatures, and the one check every call goes through."""

from typing import Annotated, Any, Literal

import pytest

from holdfast.model.errors import Invalid
from holdfast.surfaces.core import surface
from holdfast.surfaces.schema import check_arguments, schema_of
from tests.rows import each


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


@each(
    ("given", "says"),
    [
        ({}, "text is required (a string)"),
        ({"text": 5}, "text must be a string"),
        ({"text": "x", "mode": "c"}, "mode must be one of a, b"),
        ({"text": "x", "limit": 9}, "limit must be between 1 and 5"),
        ({"text": "x", "limit": True}, "limit must be an integer"),
        ({"text": "x", "tags": "y"}, "tags must be a list of strings"),
        ({"text": "x", "tags": [1]}, "tags[0] must be a string"),
        ({"text": "x", "extra": []}, "extra must be an object"),
        ({"txt": "x"}, "unknown argument txt, did you mean text?"),
    ],
)
def test_what_does_not_fit_is_named(given: dict[str, Any], says: str) -> None:
    with pytest.raises(Invalid) as refused:
        check_arguments(schema_of(example), given, "example")
    assert says in str(refused.value)


def test_every_tool_of_the_core_surface_explains_itself() -> None:
    for tool in surface.tools.values():
        assert tool.description
        assert tool.title
        assert set(tool.schema.get("required", [])) <= set(tool.schema["properties"])

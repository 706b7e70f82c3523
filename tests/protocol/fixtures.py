"""The tools, resources and prompts that the official conformance suite calls by name. For tests only, never shipped."""

# ruff: noqa: PT019  the suite chose these names; none is a test

import time
from typing import Annotated

from holdfast.model.errors import Invalid
from holdfast.surfaces.tool import Call, Surface

surface = Surface(name="conformance", instructions="Fixtures of the conformance suite.")


@surface.tool("Text", read_only=True)
def test_simple_text(_: Call) -> str:
    """Give a simple text."""
    return "This is a simple text response for testing."


@surface.tool("Error")
def test_error_handling(_: Call) -> str:
    """Fail as tools do: with a text that the model reads."""
    raise Invalid("This tool intentionally returns an error for testing")


@surface.tool("Progress")
def test_tool_with_progress(call: Call) -> str:
    """Work long enough to report progress, which calls of less than a second never do."""
    time.sleep(1.0)
    for done in (25, 50, 75):
        call.progress(done, 100, f"{done} of 100")
        time.sleep(0.35)
    return "Done."


@surface.resource("test://static-text", "A text")
def static_text(_: Call) -> str:
    """Give a fixed text."""
    return "This is the content of the static text resource."


@surface.resource("test://template/{id}/data", "Something by its id", mime="application/json")
def template(_: Call, id: str) -> str:  # noqa: A002
    """Give what stands under an id."""
    return f'{{"id": "{id}", "templateTest": true, "data": "Data for ID: {id}"}}'


@surface.prompt("A message")
def test_simple_prompt(_: Call) -> str:
    """Give a message without arguments."""
    return "This is a simple prompt for testing."


@surface.prompt("A message with arguments")
def test_prompt_with_arguments(_: Call, arg1: Annotated[str, "The first."], arg2: Annotated[str, "The second."]) -> str:
    """Give a message that quotes its arguments."""
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


# Two checks look at what a server must not do on a request's stream; any call shows that we do not.


@surface.tool("No questions on the way", read_only=True)
def test_streaming_elicitation(_: Call) -> str:
    """Answer without asking the client anything."""
    return "Nothing was asked."


@surface.tool("No log on the way", read_only=True)
def test_logging_tool(_: Call) -> str:
    """Answer without log messages."""
    return "Nothing was logged."

"""A surface for tests of the mechanism: tools, resources and prompts that say what they were asked for.

Run as a program it is served over stdio, or with --http on any free port, with the token `toy`.
"""

import sys
import time
from dataclasses import replace
from typing import Annotated

from holdfast.compose import open_memory
from holdfast.hosts.mcp import stdio
from holdfast.hosts.mcp.protocol import APART_SECONDS, QUIET_SECONDS
from holdfast.model.errors import NotFound, StoreBusy
from holdfast.surfaces.tool import Call, Surface, once
from holdfast.verbs.memory import Memory
from tests.serving import server_of

surface = Surface(name="toy", instructions="A toy.")


def no_memory() -> Memory:
    """Stand for a store that must not be opened."""
    raise AssertionError("opened")


@surface.tool("Echo", read_only=True)
def echo(_: Call, text: Annotated[str, "What to say."]) -> str:
    """Say a text again."""
    return text


@surface.tool("Work")
def work(call: Call, seconds: Annotated[float, "How long."], steps: int = 100) -> str:
    """Work for a while and say how far it is."""
    for step in range(steps):
        call.progress(step, steps, f"step {step}")
        time.sleep(seconds / steps)
    call.progress(steps, steps)
    return "Done."


@surface.tool("Say who works", read_only=True)
def who(call: Call, i_am: Annotated[str, "Work under this name from now on."] = "") -> str:
    """Give the name under which this session works."""
    if i_am:
        call.client.context = call.memory.acting(actor=replace(call.memory.actor, name=i_am)).context
    return call.memory.actor.name


@surface.tool("Break")
def fail(_: Call) -> str:
    """Run into a bug."""
    raise ZeroDivisionError("the inside of this program")


@surface.resource("toy://news", "News")
def news(_: Call) -> str:
    """What is new."""
    return "Nothing."


@surface.resource("toy://shelf/{book}/text", "A book", mime="text/markdown")
def shelf(_: Call, book: str) -> str:
    """One book in full."""
    if book == "lost":
        raise NotFound(f"There is no book {book}.")
    if book == "lent":
        raise StoreBusy
    return f"# {book}"


@surface.prompt("Review a book")
def review(
    _: Call, book: Annotated[str, "Its title."], tone: Annotated[str, "How it should sound."] = "friendly"
) -> str:
    """Ask for a review."""
    return f"Review {book} in a {tone} tone."


def most_told(seconds: float) -> int:
    """Give how often a call that took so long may have told of its progress: never in the first second, then a few times each."""
    return 1 + int(max(0.0, seconds - QUIET_SECONDS) / APART_SECONDS)


if __name__ == "__main__":
    server = server_of(surface, Call(open=once(open_memory)))
    if "--http" in sys.argv:
        from holdfast.hosts.mcp import http

        http.main(server, token="toy", port=0, announce=lambda url: print(url, file=sys.stderr, flush=True))
    else:
        stdio.main(server)

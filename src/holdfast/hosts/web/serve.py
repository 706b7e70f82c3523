"""Runs the viewer until it is stopped in the terminal."""

from collections.abc import Callable
from contextlib import ExitStack
from socket import socket

from holdfast.compose import open_memory
from holdfast.compose.settings import Settings
from holdfast.hosts.loopback import HOST, listening, port_of, serve
from holdfast.hosts.web.app import make_app
from holdfast.hosts.web.guard import Keys
from holdfast.model.errors import Invalid
from holdfast.verbs.search.embed import keeping_up

DEFAULT_PORT = 4654


def main(reload: Callable[[], Settings], *, token: str, port: int | None, announce: Callable[[str], None]) -> None:
    """Serve the viewer until stopped; `announce` gets the link that opens it."""
    keys = Keys(token=token)
    with ExitStack() as stack:
        listener = stack.enter_context(free(port))
        memory = stack.enter_context(open_memory(reload()))
        if memory.embedder is not None:
            stack.enter_context(keeping_up(memory))
        bound = port_of(listener)
        app = make_app(memory, reload, keys=keys, port=bound)
        serve(app, listener, announce=lambda: announce(f"http://{HOST}:{bound}/?key={keys.link}"))


def free(port: int | None) -> socket:
    """Listen on the requested port, else on the default one or any free one."""
    if port is not None:
        return listening(port)
    try:
        return listening(DEFAULT_PORT)
    except Invalid:
        return listening(0)

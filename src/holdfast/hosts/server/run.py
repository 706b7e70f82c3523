"""Run the server: open the store twice, once for itself and once behind the policies, and serve until stopped."""

import ipaddress
import logging
import signal
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path

import uvicorn

from holdfast.compose import guarded_store, keys_store, open_memory
from holdfast.compose.settings import Settings, store_folder
from holdfast.compose.team import protect, role_of_server
from holdfast.hosts.header_timeout import heads_within
from holdfast.hosts.loopback import Announcing
from holdfast.hosts.mcp.protocol import Server
from holdfast.hosts.mcp.serving import offered, surface_named
from holdfast.hosts.server.app import Limits, app
from holdfast.hosts.server.logs import log_as_json
from holdfast.hosts.server.members import Members
from holdfast.hosts.server.site import Site
from holdfast.model.errors import Invalid, Unreachable
from holdfast.surfaces.tool import Call
from holdfast.verbs.memory import Memory
from holdfast.verbs.upkeep.access import list_users

LEAVING_SECONDS = 10  # how long requests may take to finish after a stop signal
KEPT_SECONDS = 75  # how long an idle connection stays: longer than clients and proxies wait before they use it again
log = logging.getLogger(__name__)


def serve(
    settings: Settings,
    surfaces: Sequence[str],
    *,
    host: str,
    port: int,
    limits: Limits,
    announce: Callable[[str], None],
) -> None:
    """Serve until SIGTERM or SIGINT; then finish requests and close the database."""
    log_as_json()
    with open_members(settings) as members:
        check_bind(members.owner, host)
        with _listening(host, port) as listener:
            bound = int(listener.getsockname()[1])
            config = uvicorn.Config(
                app(server_of(surfaces, settings), members, limits, site=Site(members, settings)),
                access_log=False,
                log_config=None,
                log_level=logging.CRITICAL,  # failures are logged by the door
                lifespan="on",
                http=heads_within(),
                proxy_headers=False,
                server_header=False,
                timeout_keep_alive=KEPT_SECONDS,
                timeout_graceful_shutdown=LEAVING_SECONDS,
            )
            # After its shutdown uvicorn raises the signal again; as an exception it lets the store be closed.
            signal.signal(signal.SIGTERM, signal.default_int_handler)
            shown = f"[{host}]" if ":" in host else host
            try:
                Announcing(config, lambda: announce(f"http://{shown}:{bound}")).run(sockets=[listener])
            except KeyboardInterrupt:
                log.info("stopped")


@contextmanager
def open_members(settings: Settings) -> Iterator[Members]:
    """Open the store for the server itself, install the policies, and open it again behind them."""
    if not settings.config.database:
        raise Invalid(
            "A server for many users needs PostgreSQL: only there can the database itself keep them apart.",
            hint="Set HOLDFAST_DATABASE=postgresql://…; `holdfast mcp --http` serves one user on SQLite.",
        )
    role = role_of_server(settings.config, store_folder(settings.config, Path.cwd()))
    with ExitStack() as stack:
        owner = stack.enter_context(open_memory(settings, role=role))
        if owner.apart:
            raise Unreachable(owner.apart.split(".")[0] + ".")
        protect(owner, role)
        store, keys = guarded_store(settings.config), keys_store(settings.config, role)
        stack.callback(store.close)
        stack.callback(keys.close)
        if owner.embedder is not None:
            from holdfast.verbs.search.embed import keeping_up  # noqa: PLC0415  numpy: only where meaning is searched

            stack.enter_context(keeping_up(owner))
        yield Members(owner, guarded=replace(owner, store=store), keys=replace(owner, store=keys))


def server_of(surfaces: Sequence[str], settings: Settings) -> Server:
    """Return the MCP server; every request replaces its `call`, since there is no default memory."""
    chosen = tuple(dict.fromkeys(surfaces))

    def nobody() -> Memory:
        raise Invalid("Whose memory?")

    return Server(
        offer=offered(chosen, lambda: settings.config.list_aliases),
        load=cache(lambda: [surface_named(name) for name in chosen]),
        call=Call(open=nobody),
    )


def check_bind(owner: Memory, host: str) -> None:
    """Refuse to listen beyond this machine before there is a key: no one could log in, so it is a mistake."""
    if not is_loopback(host) and not any(working for _, _, working in list_users(owner)):
        raise Invalid(
            f"{host} can be reached from other machines, and there is no key yet.",
            hint="`holdfast server user add NAME`, then `holdfast server key add NAME --project P`.",
        )


def is_loopback(host: str) -> bool:
    """True if an address is reachable only from this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, OverflowError) as problem:
        raise Invalid(f"{host} port {port} cannot be used ({problem}).") from problem

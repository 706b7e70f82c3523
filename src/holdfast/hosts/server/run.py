"""Run the server: open the store twice, once for itself and once behind the policies, and serve until stopped."""

import ipaddress
import json
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path

from holdfast.compose import guarded_store, keys_store, open_memory
from holdfast.compose.settings import Settings, store_folder
from holdfast.compose.team import protect, role_of_server
from holdfast.hosts.loopback import listening, port_of
from holdfast.hosts.loopback import serve as run
from holdfast.hosts.mcp.protocol import Server
from holdfast.hosts.mcp.serving import offered, surface_named
from holdfast.hosts.server.app import Limits, app
from holdfast.hosts.server.members import Members, Site
from holdfast.model.errors import Invalid, Unreachable
from holdfast.surfaces.tool import Call
from holdfast.verbs.memory import Memory
from holdfast.verbs.truth.compare import compare
from holdfast.verbs.upkeep.access import list_users

LEAVING_SECONDS = 10  # how long requests may take to finish after a stop signal
KEPT_SECONDS = 75  # how long an idle connection stays: longer than clients and proxies wait before they use it again


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
        with listening(port, host) as listener:
            bound = port_of(listener)
            shown = f"[{host}]" if ":" in host else host
            run(
                app(server_of(surfaces, settings), members, limits, site=Site(members, settings)),
                listener,
                announce=lambda: announce(f"http://{shown}:{bound}"),
                seconds=LEAVING_SECONDS,
                timeout_keep_alive=KEPT_SECONDS,
            )


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

            stack.enter_context(keeping_up(owner, then=partial(compare, owner, team=True)))
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


class Lines(logging.Formatter):
    """A log record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Write time, level, what happened and the fields given with it."""
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        fields = {"at": at, "level": record.levelname.lower(), "event": record.getMessage()}
        fields |= getattr(record, "fields", {})
        if record.exc_info and record.exc_info[0]:
            # The type and place of a failure: its message may quote stored text.
            trace = record.exc_info[2]
            while trace and trace.tb_next:
                trace = trace.tb_next
            place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace else ""
            fields |= {"error": record.exc_info[0].__name__, "place": place}
        return json.dumps(fields, ensure_ascii=False)


def log_as_json() -> None:
    """Log everything to stderr as lines of JSON."""
    handler = logging.StreamHandler()
    handler.setFormatter(Lines())
    logger = logging.getLogger("holdfast")
    logger.handlers, logger.propagate = [handler], False
    logger.setLevel(logging.INFO)

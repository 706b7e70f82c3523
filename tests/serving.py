"""A server of one surface, as tests ask it."""

from holdfast.hosts.mcp.protocol import Server, offer_of
from holdfast.surfaces.tool import Call, Surface


def server_of(surface: Surface, call: Call) -> Server:
    """Return a server of a surface that is already imported."""
    return Server(offer=offer_of(surface), load=lambda: [surface], call=call)

"""The promises in the real clients: `python3 dev.py clients [PYTEST ARGUMENTS]`.

It fetches the clients into .tools/ the first time, then starts itself anew where there is no network but the loopback
address, if the system lets it, and runs the tests of this folder.
"""

import os
import shutil
import socket
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from tests.clients.fetch import fetch

PROGRAMS = ("claude", "codex", "gemini", "opencode")
CUT = "PROMISES_NETWORK"  # set once we are where nothing can leave the machine, or know that we cannot be
UP, UP_AND_RUNNING = 0x8914, 0x41  # SIOCSIFFLAGS; IFF_UP | IFF_RUNNING


def main() -> int:
    if CUT not in os.environ:
        fetch(PROGRAMS)
        _go_where_no_network_is()
    if os.environ[CUT] == "cut":
        _raise_loopback()
    print(f"network: {'the loopback address only' if os.environ[CUT] == 'cut' else 'NOT cut, unshare is not allowed'}")
    apart = ("-n", "2", "--dist", "loadgroup")
    return int(pytest.main([str(Path(__file__).parent), "--real-clients", "-q", *apart, *sys.argv[1:]]))


def _go_where_no_network_is() -> None:
    """Start anew in a network of our own; where that is forbidden, go on and say so."""
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    cut = ["unshare", "--net"] if root else ["unshare", "--net", "--map-root-user"]
    allowed = (
        shutil.which("unshare") and subprocess.run([*cut, "true"], check=False, capture_output=True).returncode == 0
    )
    os.environ[CUT] = "cut" if allowed else "open"
    if allowed:
        os.execvp(cut[0], [*cut, sys.executable, "-m", "tests.e2e.run", *sys.argv[1:]])


def _raise_loopback() -> None:
    import fcntl

    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, UP, struct.pack("16sh14x", b"lo", UP_AND_RUNNING))


if __name__ == "__main__":
    sys.exit(main())

"""The `holdfast` of shell scripts that tests run: has the command run by the preloaded process, whose socket it inherits.

`python -I -S asking.py FD ARGUMENTS`: files, folder and environment are those of this process (see `preloaded.py`).
"""

import json
import os
import socket
import sys
import tempfile
from pathlib import Path


def main() -> int:
    """Return the exit code of the command; 137 if it was killed."""
    asked = {"arguments": sys.argv[2:], "folder": str(Path.cwd()), "environment": dict(os.environ), "program": ""}
    reading, ending = os.pipe()
    with tempfile.TemporaryFile() as request, socket.socket(fileno=int(sys.argv[1])) as requests:
        request.write(json.dumps(asked).encode())
        request.seek(0)
        socket.send_fds(requests, [b"."], [request.fileno(), 0, 1, 2, ending])
    os.close(ending)
    return int(os.read(reading, 10) or 137)


if __name__ == "__main__":
    sys.exit(main())

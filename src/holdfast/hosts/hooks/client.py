"""The script that clients run at their events: `python -I -S client.py EVENT [--client NAME] [--home FOLDER]`, JSON on stdin.

It runs at every tool call, so it must be fast: its body is in `hook`, which Python caches compiled, while a script is
compiled each time. It imports only the standard library, the masking of secrets and our JSON parser; it opens no database,
never waits, always exits with 0, and writes at most a line about its own errors, into its own log.
"""

import os
import sys

if __name__ == "__main__":
    sys.path.insert(0, os.path.abspath(os.path.join(__file__, "..", "..", "..", "..")))
    try:
        from holdfast.hosts.hooks.hook import main

        main(sys.argv[1:])
    except BaseException as problem:  # noqa: BLE001  a half-upgraded package: the client must not fail
        sys.stderr.write(f"holdfast: {problem}\n")
    finally:
        os._exit(0)  # the client is waiting: skip interpreter shutdown

"""Check other processes of this machine."""

import os
import sys

_STILL_ACTIVE = 259
_QUERY_LIMITED_INFORMATION = 0x1000
_ACCESS_DENIED = 5


def is_alive(pid: int) -> bool:
    """True if a process of this machine is running."""
    if sys.platform == "win32":  # where `os.kill` with 0 sends Ctrl-C
        import ctypes  # noqa: PLC0415  only there

        kernel = ctypes.windll.kernel32
        process = kernel.OpenProcess(_QUERY_LIMITED_INFORMATION, False, pid)
        if not process:
            return bool(kernel.GetLastError() == _ACCESS_DENIED)  # it runs, under another user
        try:
            code = ctypes.c_ulong()
            return bool(kernel.GetExitCodeProcess(process, ctypes.byref(code))) and code.value == _STILL_ACTIVE
        finally:
            kernel.CloseHandle(process)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # it runs, under another user
    return True

"""Whether the file system of a store keeps locks, which all processes that share a store depend on."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

SECONDS = 10
# File systems of other machines or of user programs: locks reach only this machine, or nobody.
_REMOTE = ("nfs", "cifs", "smb", "9p", "afs", "ceph", "glusterfs", "lustre", "fuse", "vboxsf", "vmhgfs", "prl_fs")
_TAKE = "import fcntl, sys; fcntl.lockf(open(sys.argv[1], 'rb+'), fcntl.LOCK_EX | fcntl.LOCK_NB)"


def problem_with_locks(folder: Path) -> str:
    """Return what is wrong with locks in a folder, empty if a second process was kept out by the first as it should be."""
    try:
        import fcntl  # noqa: PLC0415  Windows has locks of its own, which cannot be switched off
    except ImportError:
        return ""
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".locks-") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as problem:
            return f"the file system refuses locks ({problem.strerror})"
        other = [sys.executable, "-I", "-S", "-c", _TAKE, file.name]
        done = subprocess.run(other, capture_output=True, timeout=SECONDS, check=False)  # noqa: S603  our own words
    return "" if done.returncode else "the file system gives the same lock to two processes at once"


def file_system_of(folder: Path) -> str:
    """Return the kind of file system a folder is on, empty where the system does not say."""
    try:
        mounts = [line.split(" ") for line in Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()]
    except OSError:
        return ""
    where = os.path.realpath(folder)
    fitting = [
        (len(mount[1]), mount[2])
        for mount in mounts
        if where == mount[1] or where.startswith(mount[1].rstrip("/") + "/")
    ]
    return max(fitting, default=(0, ""))[1]


def is_remote(kind: str) -> bool:
    """Return whether a kind of file system is one on which stores are not supported."""
    return kind.startswith(_REMOTE)

"""Find out from git who committed a note or file, regardless of what it claims."""

from collections.abc import Collection
from pathlib import Path

from holdfast.adapters.replicas.git import Repository
from holdfast.model.ids import ULID

_WHO = "an <%ae>"  # git removes angle brackets and line ends from names
_ID = 26


def authors_of_lines(repository: Repository, tip: str, *, but: str = "") -> dict[str, str]:
    """Return who first committed each note line of `tip` that `but` does not contain, by the event id it begins with.

    Lines added by a merge have no author: anyone could have put them there.
    """
    since = [f"^{but}"] if but and repository.attempt("cat-file", "-e", but) is not None else []
    command = ("log", "--reverse", "--topo-order", "--no-merges", "--no-ext-diff", "--no-textconv", "--no-renames")
    log = repository.ask_bytes(
        *command, "-p", "-U0", "--no-color", "--text", f"--format=%x00%{_WHO}", tip, *since, "--"
    )
    authors: dict[str, str] = {}
    author = ""
    for line in log.split(b"\n"):
        if line.startswith(b"\0"):
            author = _clean(line[1:])
        elif line.startswith(b"+") and ULID.fullmatch(name := line[1 : 1 + _ID].decode(errors="replace")):
            authors.setdefault(name, author)
    return authors


def authors_of_files(repository: Repository, folder: Path, names: Collection[str]) -> dict[str, str]:
    """Return who last committed each of these files; files with uncommitted changes were edited here and are left out."""
    if not names or not repository.head():
        return {}
    top = Path(repository.ask("rev-parse", "--show-toplevel"))
    place = str(folder.resolve().relative_to(top.resolve()))
    changed = ("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all")
    status = repository.ask_bytes(*changed, "--", f":(top){place}")
    edited = {_name(entry[3:]) for entry in status.split(b"\0") if entry}
    wanted, authors, author = {*names} - edited, dict[str, str](), ""
    # A merge counts if its content differs from both sides.
    command = ("log", "--no-renames", "--name-only", "-c", "-z", f"--format=%x01%{_WHO}")
    for part in repository.ask_bytes(*command, "--", f":(top){place}").split(b"\0"):
        if part.startswith(b"\1"):  # paths begin with the folder, so this is an author
            author = _clean(part[1:])
        elif (name := _name(part)) in wanted:
            authors.setdefault(name, author)
    return authors


def _name(path: bytes) -> str:
    return path.decode(errors="surrogateescape").rpartition("/")[2]


def _clean(raw: bytes) -> str:
    text = raw.decode(errors="replace")
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())

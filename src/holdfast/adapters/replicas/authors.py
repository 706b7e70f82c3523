"""Who brought something into a repository, as git knows it: beside what the thing itself claims."""

from collections.abc import Collection
from pathlib import Path

from holdfast.adapters.replicas.git import Repository
from holdfast.model.ids import ULID

_WHO = "an <%ae>"  # git takes angle brackets and line ends out of names
_ID = 26


def authors_of_lines(repository: Repository, tip: str, *, but: str = "") -> dict[str, str]:
    """Return who first committed each line of notes that one commit holds and another does not, by the id it begins with.

    What only a merge brought has no author: anybody could have put it there.
    """
    since = [f"^{but}"] if but and repository.attempt("cat-file", "-e", but) is not None else []
    asked = ("log", "--reverse", "--topo-order", "--no-merges", "--no-ext-diff", "--no-textconv", "--no-renames")
    said = repository.ask_bytes(*asked, "-p", "-U0", "--no-color", "--text", f"--format=%x00%{_WHO}", tip, *since, "--")
    found: dict[str, str] = {}
    author = ""
    for line in said.split(b"\n"):
        if line.startswith(b"\0"):
            author = _clean(line[1:])
        elif line.startswith(b"+") and ULID.fullmatch(name := line[1 : 1 + _ID].decode(errors="replace")):
            found.setdefault(name, author)
    return found


def authors_of_files(repository: Repository, folder: Path, names: Collection[str]) -> dict[str, str]:
    """Return who last committed each of these files; whatever differs from what is committed was done here, by nobody else."""
    if not names or not repository.head():
        return {}
    top = Path(repository.ask("rev-parse", "--show-toplevel"))
    place = str(folder.resolve().relative_to(top.resolve()))
    changed = ("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all")
    status = repository.ask_bytes(*changed, "--", f":(top){place}")
    here = {_name(entry[3:]) for entry in status.split(b"\0") if entry}
    wanted, found, author = {*names} - here, dict[str, str](), ""
    # A merge counts where it says something that neither side said.
    asked = ("log", "--no-renames", "--name-only", "-c", "-z", f"--format=%x01%{_WHO}")
    for part in repository.ask_bytes(*asked, "--", f":(top){place}").split(b"\0"):
        if part.startswith(b"\1"):  # no path does: they begin with the folder
            author = _clean(part[1:])
        elif (name := _name(part)) in wanted:
            found.setdefault(name, author)
    return found


def _name(path: bytes) -> str:
    return path.decode(errors="surrogateescape").rpartition("/")[2]


def _clean(said: bytes) -> str:
    text = said.decode(errors="replace")
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())

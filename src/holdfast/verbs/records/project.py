"""Resolve project names: other systems use short names, Holdfast uses the remote or the path."""

from holdfast.model.errors import Ambiguous
from holdfast.model.text import check_text
from holdfast.verbs.memory import Memory

HERE = ("", "default")
LONGEST = 500


def in_project(memory: Memory, name: str) -> Memory:
    """Return the memory for the project with this name; the same object if it is already the current project."""
    project = project_called(memory, name)
    return memory if project == memory.project else memory.acting_on(project)


def project_called(memory: Memory, name: str) -> str:
    """Return the project meant by a name: an exact match, one whose last part matches, or else a new project."""
    wanted = name.strip()
    if wanted.lower() in HERE or _short(memory.project) == wanted.lower():
        return memory.project
    check_text(wanted, "project", LONGEST)
    known = [project for project in memory.store.projects() if project]
    if wanted in known:
        return wanted
    matches = [project for project in known if _short(project) == wanted.lower()]
    if len(matches) > 1:
        raise Ambiguous(
            f"{len(matches)} projects are called {wanted}: {', '.join(matches[:5])}.", hint="Use the full name."
        )
    return matches[0] if matches else wanted


def project_at(memory: Memory, path: str) -> str:
    """Return the project meant by a path: matched as a whole if known, otherwise by its last part."""
    wanted = path.strip().rstrip("/")
    return project_called(memory, wanted if wanted in memory.store.projects() else wanted.rpartition("/")[2])


def _short(project: str) -> str:
    return project.rstrip("/").rpartition("/")[2].lower()

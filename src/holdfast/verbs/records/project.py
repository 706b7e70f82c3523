"""Which codebase is meant by a short name: other systems name a project freely, we by its remote or path."""

from holdfast.model.errors import Ambiguous
from holdfast.model.text import check_text
from holdfast.verbs.memory import Memory

HERE = ("", "default")
LONGEST = 500


def in_project(memory: Memory, name: str) -> Memory:
    """Give the memory at work on the project of this name; the same one when it is at hand already."""
    meant = project_called(memory, name)
    return memory if meant == memory.project else memory.acting_on(meant)


def project_called(memory: Memory, name: str) -> str:
    """Give the project meant by a name: its own, the last part of one that is known, or else a new one so named."""
    said = name.strip()
    if said.lower() in HERE or _short(memory.project) == said.lower():
        return memory.project
    check_text(said, "project", LONGEST)
    known = [one for one in memory.store.projects() if one]
    if said in known:
        return said
    alike = [one for one in known if _short(one) == said.lower()]
    if len(alike) > 1:
        raise Ambiguous(
            f"{len(alike)} projects are called {said}: {', '.join(alike[:5])}.", hint="Give the whole name."
        )
    return alike[0] if alike else said


def project_at(memory: Memory, path: str) -> str:
    """Give the project meant by a path or name: one that is known by all of it, else by its last part."""
    said = path.strip().rstrip("/")
    return project_called(memory, said if said in memory.store.projects() else said.rpartition("/")[2])


def _short(project: str) -> str:
    return project.rstrip("/").rpartition("/")[2].lower()

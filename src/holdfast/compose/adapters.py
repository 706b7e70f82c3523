"""Which adapter serves: embedders, observers, importers, replicas, the checkout and its history."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path

from holdfast.adapters.checkout import GitCheckout
from holdfast.compose.settings import FOLDER, store_folder
from holdfast.model.config import Config
from holdfast.model.errors import InvalidConfig
from holdfast.model.foreign import Item
from holdfast.model.history import History
from holdfast.model.observer import Observer, Observing
from holdfast.model.ports import Checkout, Embedder, Replica, Travelling
from holdfast.model.record import Record
from holdfast.model.replica import Outdated, Scrubbed, Telling
from holdfast.policy.admission.sharing import Sharing, own, with_team
from holdfast.verbs.memory import Memory

# What can be read, and the module that reads it; `file` is any file.
IMPORTERS = {
    "gitmem": "gitmem",
    "memory-mcp": "memory_mcp",
    "bettermemory": "bettermemory",
    "claude-mem": "claude_mem",
    "git-notes": "git_notes",
    "claude-code": "claude_code",
    "file": "file",
}


def checkout_of(folder: Path, name: str = "", part: str = "") -> Checkout:
    """Return the code around a folder, with the user's name for it or the part of its remote that it is."""
    return GitCheckout(folder, name, part)


def history_of(folder: Path) -> History:
    """Return the history of the repository around a folder."""
    from holdfast.adapters.history import GitHistory

    return GitHistory(folder)


def foreign_items(system: str, path: Path) -> Iterator[Item]:
    """Return what the reader of another system finds at a path."""
    read: Callable[[Path], Iterator[Item]] = import_module(f"holdfast.adapters.importers.{IMPORTERS[system]}").read
    return read(path.expanduser())


def open_replica(name: str, memory: Memory, folder: Path | None = None) -> tuple[Replica, Sharing]:
    """Return a replica of this folder's memory by its name, and who it is shared with."""
    here, team = folder or Path.cwd(), with_team(memory.project)
    home = store_folder(memory.config, here)
    if name == "notes":
        return open_notes(memory, here), team
    from holdfast.adapters.replicas.authors import authors_of_files
    from holdfast.adapters.replicas.git import Repository
    from holdfast.adapters.replicas.markdown import MarkdownFolder

    if name == "folder":
        return MarkdownFolder(home / "markdown", home / "replicas"), own()
    repository, place = Repository(here), memory.checkout.top() / FOLDER / "memories"
    made = MarkdownFolder(
        place,
        home / "replicas",
        name=name,
        implied=team.implied,
        head=repository.head,
        follows=repository.holds,
        authors=partial(authors_of_files, repository, place),
        mode=0o666,
    )
    return made, team


def erase_copies(home: Path, here: Path, told: Sequence[Telling], is_outdated: Outdated) -> Scrubbed:
    """Take erased records out of the replicas that the store in a folder wrote, and out of those of the checkout at hand."""
    from holdfast.adapters.replicas.erasing import erase_copies as erased

    top = checkout_of(here).top()
    return erased(home / "replicas", (home / "markdown", top / FOLDER / "memories"), top, told, is_outdated)


def markdown_folder(folder: Path, states: Path, memory: Memory) -> tuple[Replica, Sharing]:
    """Return a folder of markdown files wherever it lies; one of a repository says of which project its memories are."""
    from holdfast.adapters.replicas.markdown import MarkdownFolder

    of_team = folder.absolute().parts[-2:] == (FOLDER, "memories")
    sharing = with_team(memory.project) if of_team else own()
    return MarkdownFolder(folder, states, implied=sharing.implied), sharing


def open_notes(memory: Memory, folder: Path | None = None) -> Travelling:
    """Return the notes of the repository around a folder."""
    from holdfast.adapters.replicas.git_notes import GitNotes

    here = folder or Path.cwd()
    return GitNotes(here, store_folder(memory.config, here) / "replicas")


def write_markdown(records: Iterable[Record], folder: Path) -> int:
    """Write records as a folder that bettermemory reads; give how many."""
    from holdfast.adapters.exporters.bettermemory import write

    return write(records, folder.expanduser())


def embedder_of(config: Config) -> Embedder | None:
    """Return the embedder the settings name."""
    if config.embedder == "none":
        return None
    if config.embedder == "http":
        if not (config.embedder_url and config.embedder_model):
            raise InvalidConfig("The http embedder needs embedder_url and embedder_model.")
        from holdfast.adapters.embedders.http import HttpEmbedder

        return HttpEmbedder(
            config.embedder_url,
            config.embedder_model,
            config.embedder_key,
            floor=config.embedder_floor,
            ceiling=config.embedder_ceiling,
        )
    from holdfast.adapters.embedders.local import LocalEmbedder

    return LocalEmbedder()


def observing_of(config: Config, home: Path) -> Observing | None:
    """Return the model that observes, and how, if the settings name one."""
    if config.observer == "none":
        return None
    from holdfast.adapters.observers.modes import load_mode

    return Observing(observer=_observer(config), mode=load_mode(config.mode, home))


def _observer(config: Config) -> Observer:
    url, model, key = config.observer_url, config.observer_model, config.observer_key
    if config.observer == "claude":
        from holdfast.adapters.observers.claude import ClaudeObserver

        return ClaudeObserver(model)
    if url and not url.startswith(("https://", "http://")):
        raise InvalidConfig("observer_url must begin with https:// or http://.")
    if config.observer == "openai":
        if not model:
            raise InvalidConfig("The openai observer needs observer_model.")
        from holdfast.adapters.observers.openai import OpenAIObserver

        return OpenAIObserver(url, model, key)
    if not key:
        raise InvalidConfig("The anthropic observer needs observer_key.")
    from holdfast.adapters.observers.anthropic import AnthropicObserver

    return AnthropicObserver(url, model, key)

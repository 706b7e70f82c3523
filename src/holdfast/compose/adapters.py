"""Choose the adapters: embedders, observers, importers, replicas, the checkout and its history."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.adapters.checkout import GitCheckout
from holdfast.adapters.git import GitHistory, Repository, git, git_text
from holdfast.adapters.source import missing_grammars as missing_grammars  # noqa: PLC0414  for the doctor
from holdfast.compose.settings import store_folder
from holdfast.model.config import Config
from holdfast.model.errors import Invalid, InvalidConfig, ReplicaError
from holdfast.model.files import FOLDER
from holdfast.model.foreign_json import texts_in
from holdfast.model.ports import Embedder, RemoteReplica, Replica
from holdfast.model.record import Record
from holdfast.policy.admission.sharing import OWN, Sharing, with_team
from holdfast.verbs.memory import Memory

if TYPE_CHECKING:
    from holdfast.model.ports import Observing
    from holdfast.model.replica import CommittedMemory, Exported, Item, Outdated, ReplicaUpdate, Scrubbed

# Importable systems, each with a module of its name; `file` is any file. Some modules write their format, too.
IMPORTERS = ("gitmem", "memory-mcp", "bettermemory", "claude-mem", "git-notes", "claude-code", "file")


# The checkout around a folder, with the user's name for it and a list of the user's checkouts; the history of its repository.
checkout_of, history_of = GitCheckout, GitHistory


def has_notes(folder: Path) -> bool:
    """True if the repository around a folder has notes of git-notes-memory."""
    return bool(git_text(folder, "for-each-ref", "--count=1", "refs/notes/mem"))


def foreign_items(system: str, path: Path) -> "Iterator[Item]":
    """Yield what the importer of another system reads at a path."""
    try:
        yield from _of_system(system).read(path.expanduser())
    except (OSError, RuntimeError, ValueError) as problem:
        raise Invalid(f"{path} cannot be read: {problem}.", hint="Check the path.") from problem


def _of_system(system: str) -> Any:
    return import_module(f"holdfast.adapters.importers.{system.replace('-', '_')}")


def open_replica(name: str, memory: Memory, folder: Path | None = None) -> tuple[Replica, Sharing]:
    """Return a replica of this folder's memory by name, and with whom it is shared."""
    cwd, team = folder or Path.cwd(), with_team(memory.project)
    home = store_folder(memory.config, cwd)
    if name == "notes":
        return open_notes(memory, cwd), team
    from holdfast.adapters.replicas.markdown import MarkdownFolder

    if name == "folder":
        return MarkdownFolder(home / "markdown", home / "replicas"), OWN
    repository, place = Repository(cwd), memory.checkout.top() / FOLDER / "memories"
    repository.check_inside(place)
    return MarkdownFolder(place, home / "replicas", name=name, implied=team.implied, repository=repository), team


def erase_copies(home: Path, folder: Path, updates: "Sequence[ReplicaUpdate]", is_outdated: "Outdated") -> "Scrubbed":
    """Remove erased records from every markdown folder ever written on this machine, and from the git notes here."""
    from holdfast.adapters.replicas.git_notes import GitNotes
    from holdfast.adapters.replicas.markdown import Manifest
    from holdfast.adapters.replicas.record_file import outdated_files
    from holdfast.model.replica import Scrubbed

    top, counts = checkout_of(folder).top(), dict.fromkeys(("markdown file", "remembered file", "git note"), 0)
    folders = [home / "markdown", top / FOLDER / "memories"]
    for state in sorted((home / "replicas").glob("*.db")):
        with closing(Manifest(state)) as manifest:
            folders += [Path(noted)] if (noted := manifest.note("folder")) else []
            contents = [(path, about, manifest.said(path)) for path, (about, _) in manifest.stamps().items()]
            paths = [path for path, about, said in contents if is_outdated(about, "\n".join(texts_in(said)))]
            manifest.change({}, paths, {})
        counts["remembered file"] += len(paths)
    removed, not_reached = list[Path](), list[str]()
    for file in (file for folder in dict.fromkeys(folders) for file in outdated_files(folder, is_outdated)):
        try:
            file.unlink(missing_ok=True)
            removed.append(file)
        except OSError as problem:
            not_reached.append(f"{file} ({problem.strerror})")
    counts["markdown file"] = len(removed)
    tops = {str(around) for file in removed if (around := _repository_of(file))}
    not_reached += [f"commits of {top} that hold its file" for top in sorted(tops)]
    if _repository_of(top / "any"):
        notes = GitNotes(top, home / "replicas")
        try:
            counts["git note"] = notes.scrub(updates)
            if notes.mentions([update.record.id for update in updates]):
                older = "older commits of the git notes until `holdfast sync --rewrite`"
                not_reached.append(f"{older}, and clones until they sync")
        except ReplicaError as problem:
            not_reached.append(f"the git notes here: {problem}")
    return Scrubbed(reached=counts, files=tuple(map(str, removed)), not_reached=tuple(not_reached))


def _repository_of(file: Path) -> Path | None:
    return next((folder for folder in file.parents if (folder / ".git").exists()), None)


def committed_memories(memory: Memory, commit: str) -> "list[CommittedMemory]":
    """Return the memories that the checkout's repository has at a commit; no replica needs to be turned on."""
    from holdfast.adapters.replicas.record_file import committed_memories as committed

    implied = with_team(memory.checkout.project()).implied
    return committed(memory.checkout.top(), f"{FOLDER}/memories", commit, implied)


def markdown_folder(folder: Path, states: Path, memory: Memory) -> tuple[Replica, Sharing]:
    """Return a folder of markdown files at any path; a repository's folder implies the project of its memories."""
    from holdfast.adapters.replicas.markdown import MarkdownFolder

    sharing = with_team(memory.project) if folder.absolute().parts[-2:] == (FOLDER, "memories") else OWN
    return MarkdownFolder(folder, states, implied=sharing.implied), sharing


def open_notes(memory: Memory, folder: Path | None = None) -> RemoteReplica:
    """Return the git notes of the repository around a folder."""
    from holdfast.adapters.replicas.git_notes import GitNotes

    cwd = folder or Path.cwd()
    return GitNotes(cwd, store_folder(memory.config, cwd) / "replicas")


def bettermemory_document(records: Iterable[Record]) -> list[dict[str, Any]]:
    """Return records as bettermemory's own export lists them."""
    documents: list[dict[str, Any]] = _of_system("bettermemory").document(records)
    return documents


def write_foreign(system: str, records: Iterable[Record], folder: Path) -> "Exported":
    """Write records into a folder or repository as another system reads them."""
    exported: Exported = _of_system(system).write(records, folder.expanduser())
    return exported


def embedder_of(config: Config) -> Embedder | None:
    """Return the embedder that the settings name; None if there is none."""
    if config.embedder == "none":
        return None
    if config.embedder == "http":
        if not (config.embedder_url and config.embedder_model):
            raise InvalidConfig("The http embedder needs embedder_url and embedder_model.")
        from holdfast.adapters.endpoint import HttpEmbedder

        return HttpEmbedder(config)
    from holdfast.adapters.embedders.local import LocalEmbedder

    return LocalEmbedder()


def observing_of(config: Config, home: Path) -> "Observing | None":
    """Return the configured observer with its mode; None if there is none."""
    if config.observer == "none":
        return None
    from holdfast.adapters.observers import AnthropicObserver, ClaudeObserver, OpenAIObserver, load_mode
    from holdfast.model.ports import Observing

    url, model, key = config.observer_url, config.observer_model, config.observer_key
    mode = load_mode(config.mode, home)
    if config.observer == "claude":
        return Observing(observer=ClaudeObserver(model), mode=mode)
    if url and not url.startswith(("https://", "http://")):
        raise InvalidConfig("observer_url must begin with https:// or http://.")
    needed = "observer_model" if config.observer == "openai" else "observer_key"
    if not getattr(config, needed):
        raise InvalidConfig(f"The {config.observer} observer needs {needed}.")
    ask = OpenAIObserver if config.observer == "openai" else AnthropicObserver
    return Observing(observer=ask(url, model, key), mode=mode)


def make_checkout(folder: Path, project: str, history: bytes, at: str = "main") -> None:
    """Make a repository from a stream of `git fast-import` and check a commit out; without git, nothing."""
    folder.mkdir(exist_ok=True)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "remote", "add", "origin", f"https://{project}.git")
    git(folder, "fast-import", "--quiet", stdin=history)
    git(folder, "reset", "--hard", "-q", at)

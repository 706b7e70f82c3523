"""Prepare the answers of hooks for one checkout, with its own settings and project.

The worker does it for every folder that sessions worked in. A hook that finds its answers outdated runs this module as a
small process of its own: `python -m holdfast.hosts.preparing HOME FOLDER SESSION`.
"""

import logging
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from holdfast.compose import open_memory, turn
from holdfast.compose.settings import load_settings, settings_files
from holdfast.hosts.hooks import places
from holdfast.model.errors import HoldfastError
from holdfast.model.files import FILE, state_of
from holdfast.verbs.capture.prepare import prepare, write_handover
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.freshness import note_tips
from holdfast.verbs.sessions.opening_brief import SessionBrief

HANDOVER_TOKENS = 1_200
log = logging.getLogger(__name__)


class Place(NamedTuple):
    """A checkout by its root, and the project that a session's shell names for it, if any."""

    root: str
    project: str = ""


@dataclass(slots=True)
class Places:
    """The places to process, each with the settings of the session that last worked there."""

    flags: Mapping[str, Any]
    environment: Mapping[str, str]
    home: str
    first: Place
    given: Mapping[str, Any]  # settings of the command line, for the folder it was started in
    settings: dict[Place, Mapping[str, Any]]
    active: set[Place] = field(default_factory=set)  # places whose settings came with activity of this run

    @classmethod
    def of(cls, flags: Mapping[str, Any], home: Path, folder: Path, environment: Mapping[str, str]) -> "Places":
        """Return the places of a store, beginning with the folder that a process was started in."""
        own = {name: value for name, value in flags.items() if name in places.OF_A_SESSION and value is not None}
        names = {f"HOLDFAST_{name.upper()}" for name in places.OF_A_SESSION}
        settings = places.session_settings(environment)
        first = Place(places.checkout_root(str(folder)), str((settings | own).get("project", "")))
        lasting = {name: value for name, value in flags.items() if name not in places.OF_A_SESSION}
        around = {name: value for name, value in environment.items() if name not in names}
        lasting["home"] = str(home)
        return cls(
            flags=lasting, environment=around, home=str(home), first=first, given=own, settings={first: settings}
        )

    def opened(self, place: Place) -> Memory:
        """Open the memory of a place. For a folder that is gone, the prepared file has its project."""
        folder, prepared = Path(place.root), places.read_prepared(self.home, *place)
        own = {**self.settings.get(place, {}), **(self.given if place == self.first else {})}
        if not folder.is_dir() and (project := prepared.get("project")):
            own["project"] = project
        preset = "" if place in self.active else str(prepared.get("preset", ""))
        flags = {**self.flags, **own}
        settings = load_settings(folder=folder, environment=self.environment, flags=flags, preset=preset)
        return open_memory(settings, folder=folder)

    def prepared(self, place: Place, session: str = "") -> tuple[str, SessionBrief]:
        """Prepare the answers for a place; return its project, and the brief. A session about to continue first gets where it stands."""
        # Their states come first: what changes from here on is noticed at the next comparison.
        watched = {path: state_of(path) for path in (*places.head_files(place.root), *settings_files(Path(place.root)))}
        before = {} if place in self.active else places.read_prepared(self.home, *place).get("settings", {})
        with self.opened(place) as memory:
            if session:  # write where it stands, from what hooks noted so far, unless the worker has done it
                from holdfast.policy.activity.session_summary import handover  # noqa: PLC0415  only after a compaction
                from holdfast.verbs.capture.trail import drain, of_session  # noqa: PLC0415

                with turn(memory.store.folder, shared=True):  # so that an erasure in between is not undone
                    drain(memory, Path(self.home) / "spool")
                    text = handover(of_session(memory.store, session), HANDOVER_TOKENS)
                    if not (file := Path(places.handover_file(self.home, session))).exists():
                        write_handover(file, text)
            note_tips(memory)
            file = Path(places.prepared_file(self.home, *place))
            settings = {name: before[name] for name in before if name == "preset"} | dict(self.settings.get(place, {}))
            here = {"path": place.root, "remotes": places.remotes_of(place.root), "settings": settings}
            return memory.project, prepare(memory, file, here, watched)

    def prepare(self, chosen: Iterable[Place]) -> list[str]:
        """Prepare the answers for those places that are still there; return their projects."""
        return [self.prepared(place)[0] for place in sorted(chosen) if Path(place.root).is_dir()]


def next_session(home: Path, folder: Path) -> SessionBrief | None:
    """Prepare what the next session in a folder will get, and return it; None if no client has our hooks, or it failed."""
    is_set_up = (home / "setup.json").exists() and (home / FILE).exists()
    return _prepared(home, folder) if is_set_up or (home / "prepared").is_dir() else None


def _prepared(home: Path, folder: Path, session: str = "") -> SessionBrief | None:
    try:
        known = Places.of({}, home, folder, os.environ)
        return known.prepared(known.first, session)[1]
    except (
        HoldfastError,
        OSError,
    ) as problem:  # a hook that needs it tries again, and `holdfast doctor` reports the cause
        log.warning("what the next session gets is not prepared: %s", problem)
        return None


if __name__ == "__main__":
    _prepared(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:])

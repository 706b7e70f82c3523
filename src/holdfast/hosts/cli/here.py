"""What setting up clients stands on: this machine, this installation, and what was set up before."""

import os
import platform
from dataclasses import dataclass
from pathlib import Path

from holdfast.compose.settings import Settings, store_folder, user_folder
from holdfast.hosts.cli.options import settings
from holdfast.hosts.setup.installation import Installation, this_installation
from holdfast.hosts.setup.manifest import Manifest, read_manifest
from holdfast.hosts.setup.places import Level, Machine, project_root


@dataclass(frozen=True, slots=True, kw_only=True)
class Here:
    """Everything that is known before a choice is made."""

    level: Level
    machine: Machine
    made: Installation
    store: Path  # where the manifest is: outside any project, so that it is found again from everywhere
    manifest: Manifest


def look_around(level: Level = "user") -> Here:
    """Find out where we are."""
    given, project = settings(), project_root(Path.cwd())
    system, store = platform.system(), user_folder(given.config)
    return Here(
        level=level,
        machine=Machine(system=system, home=Path.home(), project=project, environment=os.environ),
        made=_installation(given, level, project),
        store=store,
        manifest=read_manifest(store),
    )


def _installation(given: Settings, level: Level, project: Path) -> Installation:
    config = given.config
    folder = store_folder(config, project) if level == "project" else user_folder(config)
    is_default = not config.home and folder == user_folder(config)
    home = "" if is_default else str(folder.absolute())
    # The server reads the user's settings by itself; only what this shell says would be lost to it.
    told = {"HOLDFAST_HOME": home} if given.sources["home"] in ("flag", "HOLDFAST_HOME") else {}
    return this_installation(home=home, variables=told)

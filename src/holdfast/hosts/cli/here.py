"""The environment for setting up clients: this machine, this installation, and what was set up before."""

import os
import platform
from dataclasses import dataclass
from pathlib import Path

from holdfast.compose.settings import Settings, store_folder, user_file, user_folder
from holdfast.hosts.cli.options import settings
from holdfast.hosts.setup.installation import Installation, this_installation
from holdfast.hosts.setup.manifest import Manifest, read_manifest
from holdfast.hosts.setup.places import Level, Machine, project_root


@dataclass(frozen=True, slots=True, kw_only=True)
class Here:
    """The machine, installation and manifest that `init`, `uninstall` and `doctor` work with."""

    level: Level
    machine: Machine
    made: Installation
    store: Path  # where the manifest is: outside any project, so that every folder finds it
    manifest: Manifest


def look_around(level: Level = "user") -> Here:
    """Collect the environment for a level."""
    current, project = settings(), project_root(Path.cwd())
    system, store = platform.system(), user_folder(current.config)
    return Here(
        level=level,
        machine=Machine(system=system, home=Path.home(), project=project, environment=os.environ),
        made=_installation(current, level, project),
        store=store,
        manifest=read_manifest(store),
    )


def _installation(current: Settings, level: Level, project: Path) -> Installation:
    config = current.config
    folder = store_folder(config, project) if level == "project" else user_folder(config)
    is_default = not config.home and folder == user_folder(config)
    home = "" if is_default else str(folder.absolute())
    # The server reads the user's settings itself, but not the variables and flags of this shell.
    from_here = current.sources["home"] not in ("default", str(user_file()))
    variables = {"HOLDFAST_HOME": home} if from_here else {}
    return this_installation(home=home, variables=variables)

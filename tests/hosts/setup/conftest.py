"""What tests of setting up share: a machine and an installation in a temporary folder."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from holdfast.hosts.setup.apply import Planned, apply, planned, read_manifest, removals
from holdfast.hosts.setup.checks import client_checks
from holdfast.hosts.setup.clients import BY_NAME, Choices, wanted
from holdfast.hosts.setup.machine import Installation, Machine
from holdfast.verbs.upkeep.doctor import Check
from tests.conftest import new_file, new_folder


@dataclass
class Place:
    """A home, a project and a store; clients are set up and taken out again as the commands do it."""

    machine: Machine
    made: Installation
    store: Path

    def plan(self, *names: str, **choices: Any) -> tuple[list[Planned], Choices]:
        chosen = Choices(clients=tuple(BY_NAME[name] for name in names), **choices)
        wants = wanted(chosen, self.machine, self.made)
        return planned(wants, chosen, read_manifest(self.store), self.machine.project), chosen

    def init(self, *names: str, **choices: Any) -> list[Planned]:
        plan, chosen = self.plan(*names, **choices)
        apply(plan, read_manifest(self.store), self.store, private=chosen.level == "user")
        return plan

    def uninstall(self, *names: str) -> list[Planned]:
        manifest = read_manifest(self.store)
        plan = removals(manifest, set(names) or manifest.clients())
        apply(plan, manifest, self.store)
        return plan

    def moved(self, **made: Any) -> "Place":
        """Give the same place with an installation elsewhere."""
        return replace(self, made=replace(self.made, **made))

    def path(self, template: str) -> Path:
        return self.machine.path(template)

    def checks(self) -> dict[str, Check]:
        """Give what the doctor says about clients."""
        return {check.name: check for check in client_checks(self.machine, read_manifest(self.store))}

    def files(self) -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in self.machine.home.parent.rglob("*") if path.is_file()}

    def folders(self) -> set[Path]:
        return {path for path in self.machine.home.parent.rglob("*") if path.is_dir()}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    home, project, programs = (tmp_path / "all" / name for name in ("home of mine", "project", "programs"))
    for folder in (home, project, programs):
        new_folder(folder)
    python = programs / "python"
    python.touch(mode=0o755)
    hook = new_file(programs / "holdfast" / "hosts" / "hooks" / "client.py", "")
    return Place(
        machine=Machine(system="Linux", home=home, project=project, environment={}),
        made=Installation(python=str(python), hook=str(hook)),
        store=tmp_path / "store" / "holdfast",
    )

"""What tests of imports share: a copy of each fixture, and taking it in.

`python -m tests.importing` writes down again what arrives from each.
"""

import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from holdfast.compose.adapters import foreign_items
from holdfast.engine.raw import transcripts
from holdfast.engine.views import records
from holdfast.engine.views.records import Filter
from holdfast.model.ids import ULID
from holdfast.model.record import Record
from holdfast.model.replica import Item
from holdfast.verbs.exchange.import_foreign import Report, import_items
from holdfast.verbs.exchange.jsonl import export
from holdfast.verbs.memory import Memory
from tests.replicas.seats import git
from tests.rows import rows

DATA = Path(__file__).parent / "data" / "importers"
SECRET = "tr0ub4dor-Zq9xk31"
SHOP = "github.com/acme/shop"
WRITTEN = 1_780_000_000  # when the files of the fixtures were written
PLACED = ("instructions", "json", "lines", "text", "markdown")  # the ids of what they hold depend on their folder
ARRIVED = DATA.parent / "arrived"
# Every fixture: the system it is read as, and its file or folder.
FIXTURES: dict[str, tuple[str, str]] = {name: tuple(row) for name, row in rows("fixtures_of_imports").items()}


def copied(folder: Path) -> Path:
    """Give a folder with a copy of every fixture, where no repository is near; the notes in a real repository."""
    here = folder / "sources"
    if not here.exists():
        shutil.copytree(DATA, here)
        git(here, "init", "-q", "repo")
        git(here / "repo", "fetch", "-q", str(DATA / "git-notes.bundle"), "refs/*:refs/*")
        git(here / "repo", "remote", "add", "origin", "git@github.com:acme/shop.git")
        (here / "project").mkdir()
        shutil.copy(here / "claude-code" / "CLAUDE.md.txt", here / "project" / "CLAUDE.md")
        for path in here.rglob("*"):
            os.utime(path, (WRITTEN, WRITTEN))
    return here


def items(name: str, folder: Path) -> Iterator[Item]:
    system, place = FIXTURES[name]
    return foreign_items(system, copied(folder) / place)


def brought(memory: Memory, name: str, folder: Path, **options: Any) -> Report:
    return import_items(memory, FIXTURES[name][0], items(name, folder), **options)


def all_records(memory: Memory) -> dict[str, Record]:
    """Give every record by its key in the system it came from."""
    found = records.page(memory.store, Filter(states=()), limit=10_000)
    return {str(entry.record.extra["imported"]["id"]): entry.record for entry in found}


def journal_size(memory: Memory) -> int:
    return sum(1 for _ in memory.store.journal())


def reasons(report: Report) -> dict[str, str]:
    """Give why things were skipped, by where they stood."""
    return {remark.where: remark.why for remark in report.skipped}


def arrived(memory: Memory, name: str, folder: Path) -> list[str]:
    """Give all that the import of a fixture leaves: every event and transcript, and a remark for what is left out."""
    report = brought(memory, name, folder)
    _, *events = export(memory)
    found = [transcripts.get(memory.store, session) for session in sorted(transcripts.sessions(memory.store))]
    said = [transcript.body for transcript in found if transcript]
    remarks = [{"where": remark.where, "why": remark.why} for remark in (*report.skipped, *report.asides)]
    lines = [*events, *said, *(json.dumps(remark, ensure_ascii=False) for remark in remarks)]
    text = "\n".join(lines).replace(str(folder), "FOLDER")
    if name in PLACED:
        for number, id_ in enumerate(dict.fromkeys(ULID.findall(text))):
            text = text.replace(id_, f"id {number}")
        text = re.sub(r"[0-9a-f]{24}", "hash", text)
    return text.split("\n")


if __name__ == "__main__":
    from tempfile import TemporaryDirectory

    from tests.conftest import Time, make_memory

    for fixture in FIXTURES:
        with TemporaryDirectory() as place:
            with make_memory(Path(place) / "store", Time()) as opened:
                lines = arrived(opened, fixture, Path(place).resolve())
            (ARRIVED / f"{fixture}.jsonl").write_text("".join(f"{line}\n" for line in lines))

"""Imports at scale: thousands of made-up records of each format, imported, compared one by one, and imported again."""

import json
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from bench.corpus import Corpus
from bench.foreign import CLAUDE_MEM, MEMORY_MCP, write_database, write_json, write_notes
from bench.measure import table
from holdfast.compose import open_memory
from holdfast.compose.adapters import foreign_items
from holdfast.compose.settings import load_settings
from holdfast.model.ids import instant, named_id
from holdfast.verbs.exchange.import_foreign import Report, import_items
from holdfast.verbs.exchange.jsonl import records_of
from holdfast.verbs.memory import Memory

RECORDS = 10_000
BAR = 1_000  # records per CPU second, including reading, without vectors
AT = 1_767_225_600.0
PER_SESSION, PER_NOTE, EVERY = 50, 5, 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The result for one format: what was imported, how fast, and what a second import did."""

    system: str
    made: int
    taken: int
    differing: int
    rate: float
    wall: float
    again: float
    grew: int

    @property
    def passed(self) -> bool:
        """True if nothing was lost, altered or duplicated, and the import was fast enough."""
        return self.taken == self.made and not self.differing and not self.grew and self.rate >= BAR


def run(count: int = RECORDS) -> bool:
    """Measure every format and print the table; return True if all of them passed."""
    corpus = Corpus()
    results = []
    for system, make in MAKERS.items():
        texts = [f"{corpus.text()} {number}" for number in range(count)]
        with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
            source = make(Path(folder) / "source", texts)
            results.append(_measure(system, source, texts, Path(folder) / "store"))
    rows = [_row(one) for one in results]
    columns = ("format", "made", "taken", "texts lost or altered", "records/s (CPU)", "records/s (wall)")
    table(
        f"import of {count:,} records of 60 words, without vectors (bar: {BAR:,} records a CPU second)",
        (*columns, "second import, records/s (CPU)", "events it added"),
        rows,
    )
    return all(one.passed for one in results)


def _row(one: Result) -> list[object]:
    rates = [f"{rate:,.0f}" for rate in (one.rate, one.wall, one.again)]
    return [one.system, one.made, one.taken, one.differing, *rates, one.grew]


def _measure(system: str, source: Path, texts: list[str], home: Path) -> Result:
    flags = {"home": str(home), "project": "bench/shop", "embedder": "none"}
    with open_memory(load_settings(environment={}, flags=flags)) as memory:
        cpu, wall = time.process_time(), time.perf_counter()
        report = _take(memory, system, source)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        before = _events(memory)
        again = time.process_time()
        _take(memory, system, source)
        again = time.process_time() - again
        return Result(
            system=system,
            made=len(texts),
            taken=len(report.taken),
            differing=_differing(memory, texts),
            rate=len(report.taken) / cpu,
            wall=len(report.taken) / wall,
            again=len(report.taken) / again,
            grew=_events(memory) - before,
        )


def _take(memory: Memory, system: str, source: Path) -> Report:
    return import_items(memory, system, foreign_items(system, source))


def _events(memory: Memory) -> int:
    return int(memory.store.db.query("select count(*) from events")[0][0])


def _differing(memory: Memory, texts: Iterable[str]) -> int:
    """Return how many texts are missing or altered."""
    made, kept = (Counter(_hash(text) for text in some) for some in (texts, (one.body for one in records_of(memory))))
    return (made - kept).total()


def _hash(text: str) -> str:
    return blake2b(text.encode(), digest_size=16).hexdigest()


def _gitmem(folder: Path, texts: list[str]) -> Path:
    learnings = [
        {
            "id": f"{number:08d}-0000-4000-8000-000000000000",
            "learning_type": ("scar", "win", "pattern")[number % 3],
            "title": text[:80],
            "description": text,
            "severity": "medium",
            "counter_arguments": [text[:40], text[40:90]],
            "keywords": text.split()[:4],
            "project": "default",
            "persona_name": "cli",
            "created_at": instant(AT + number),
            "related_scar_id": f"{number - 1:08d}-0000-4000-8000-000000000000" if number % EVERY == 1 else None,
        }
        for number, text in enumerate(texts)
    ]
    usage = [
        {
            "id": f"u{number}",
            "scar_id": learnings[number]["id"],
            "session_id": f"s{number // PER_SESSION}",
            "reference_type": "explicit",
            "surfaced_at": instant(AT + number),
            "created_at": instant(AT + number),
        }
        for number in range(0, len(texts), EVERY)
    ]
    write_json(folder, {"learnings.json": learnings, "scar_usage.json": usage})
    return folder


def _memory_mcp(path: Path, texts: list[str]) -> Path:
    memories = [
        {
            "id": number,
            "content": text,
            "content_hash": str(number),
            "memory_type": "project",
            "source": "manual",
            "created_at": instant(AT + number)[:19].replace("T", " "),
            "trust_score": 0.9,
            "project_id": "local/shop",
        }
        for number, text in enumerate(texts, start=1)
    ]
    tags = [{"memory_id": row["id"], "tag": tag} for row in memories for tag in ("bench", f"t{row['id']}")]
    links = [
        {"from_memory_id": number, "to_memory_id": number - 1, "relation_type": "relates_to"}
        for number in range(2, len(texts), EVERY)
    ]
    tables = {"memories": memories, "memory_tags": tags, "memory_relationships": links}
    write_database(path, MEMORY_MCP, tables)
    return path


def _bettermemory(folder: Path, texts: list[str]) -> Path:
    files = {}
    for number, text in enumerate(texts):
        at = instant(AT + number)
        front = f"schema_version: 1\nid: {named_id(str(number), at)}\ncreated: {at}\nupdated: {at}\n"
        labels = "scopes:\n- projects:shop\n- bench\nconfidence: high\nsource: explicit-statement\n"
        files[f"{at[:10]}-{number}.md"] = f"---\n{front}{labels}---\n\n{text}\n"
    write_json(folder, files)
    return folder


def _claude_mem(path: Path, texts: list[str]) -> Path:
    sessions = range(len(texts) // PER_SESSION + 1)
    stamps = [{"created_at": instant(AT + n), "created_at_epoch": int(AT + n) * 1000} for n in range(len(texts))]
    observations = [
        {
            "memory_session_id": f"m{number // PER_SESSION}",
            "project": "shop",
            "type": "discovery",
            "title": text[:60],
            "narrative": text,
            "facts": json.dumps([text[:100], text[100:180]]),
            "concepts": '["how-it-works"]',
            "files_read": '["src/a.py"]',
            **stamps[number],
        }
        for number, text in enumerate(texts)
    ]
    known = [
        {
            "content_session_id": f"c{number}",
            "memory_session_id": f"m{number}",
            "project": "shop",
            "started_at": instant(AT),
            "started_at_epoch": int(AT) * 1000,
        }
        for number in sessions
    ]
    write_database(path, CLAUDE_MEM, {"sdk_sessions": known, "observations": observations})
    return path


def _git_notes(folder: Path, texts: list[str]) -> Path:
    notes = []
    for number in range(0, len(texts), PER_NOTE):
        entries = [
            f"---\ntype: learnings\ntimestamp: '{instant(AT + place)}'\nsummary: Note {place}\ntags:\n- bench\n---\n\n{text}\n"
            for place, text in enumerate(texts[number : number + PER_NOTE], start=number)
        ]
        notes.append(("learnings", number // PER_NOTE, "\n".join(entries)))
    write_notes(folder, notes)
    return folder


def _claude_code(folder: Path, texts: list[str]) -> Path:
    files = {
        f"memory/topic-{number}.md": f"---\nname: topic-{number}\ndescription: Topic {number}\ntype: project\n---\n\n{text}\n"
        for number, text in enumerate(texts)
    }
    write_json(folder, files)
    return folder / "memory"


def _file(folder: Path, texts: list[str]) -> Path:
    lines = (
        json.dumps({"text": text, "tags": ["bench"], "created_at": instant(AT + number)})
        for number, text in enumerate(texts)
    )
    write_json(folder, {"lines.jsonl": "\n".join(lines) + "\n"})
    return folder / "lines.jsonl"


MAKERS: dict[str, Callable[[Path, list[str]], Path]] = {
    "gitmem": _gitmem,
    "memory-mcp": _memory_mcp,
    "bettermemory": _bettermemory,
    "claude-mem": _claude_mem,
    "git-notes": _git_notes,
    "claude-code": _claude_code,
    "file": _file,
}

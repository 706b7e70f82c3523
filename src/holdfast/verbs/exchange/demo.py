"""The demo store: three months of a made-up team, shipped as an export that ends whenever it is loaded.

`python3 dev.py demo` makes the files. The code it is about comes as a small repository. Everything in them has a date, so
loading moves all of it in time: events, the ids that carry their time, and every id and instant inside their texts.
"""

import gzip
import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any

from ulid_transform import ulid_to_timestamp

from holdfast.engine.raw import transcripts
from holdfast.engine.recovery.copy_store import put_raw_rows
from holdfast.engine.views import records
from holdfast.model.errors import Conflict
from holdfast.model.event import Actor, Event
from holdfast.model.foreign_json import with_texts
from holdfast.model.ids import ULID, epoch_ms, instant, moved_id
from holdfast.model.ports import Embedder, Encoded
from holdfast.verbs.memory import Memory
from holdfast.verbs.search.embed import catch_up
from holdfast.verbs.sessions.session import STARTERS_VERSION, list_sessions
from holdfast.verbs.sessions.thread import resolved_threads, triage
from holdfast.verbs.upkeep.doctor import status

DATA = Path(__file__).parent / "data"
STORE, VECTORS, CHECKOUT = (DATA / f"demo{name}.gz" for name in (".jsonl", "-vectors", "-checkout"))
LAST_COMMIT = 5 * 3_600  # seconds before the end of the story
PROJECT = "github.com/fernhill/storefront"
LEVELS = 16  # a shipped value takes four bits
KEY = 8  # bytes that identify a text
_TIMED = re.compile(rf"\b(?:{ULID.pattern}|\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{{3}}Z)\b")
_COMMITTED = re.compile(rb"^committer .*> (\d+) \+0000$", re.MULTILINE)


def load_demo(memory: Memory, until: str) -> None:
    """Fill an empty store with the demo, moved in time so that it ends at an instant."""
    if memory.store.last_id():
        raise Conflict("The demo needs an empty store.", hint="Name a new folder: holdfast demo FOLDER")
    header, *lines = map(json.loads, gzip.decompress(STORE.read_bytes()).decode().splitlines())
    # The story ends with its last event, so that nothing lies in the future.
    end = max([header["until"], *(line["at"] for line in lines if "verb" in line)])
    move = mover(epoch_ms(header["since"]), epoch_ms(end), epoch_ms(until) - epoch_ms(end))
    moved = [with_texts(line, move) for line in lines]
    # Our own verbs made these, so nothing needs checking or masking; in one piece, so that each record is folded once.
    memory.store.commit([Event(**line | {"by": Actor(**line["by"])}) for line in moved if "verb" in line])
    memory.clock.observe(memory.store.last_id())
    put_raw_rows(memory.store, ((line["table"], line["row"]) for line in moved if "table" in line))
    memory.store.note("starters", STARTERS_VERSION)
    if memory.embedder and (shipped := Shipped(memory.embedder)).fits:
        with memory.store.transaction():  # one, or most of the time would go into waiting for the disk
            catch_up(replace(memory, embedder=shipped))


def history_until(until: str) -> bytes:
    """Return the code of the demo as a stream for `git fast-import`; all commits but the first move with the story."""
    stream = gzip.decompress(CHECKOUT.read_bytes())
    first, *times = (int(found[1]) for found in _COMMITTED.finditer(stream))
    by = epoch_ms(until) // 1_000 - LAST_COMMIT - max(times)

    def moved(found: re.Match[bytes]) -> bytes:
        return found[0] if int(found[1]) == first else found[0].replace(found[1], b"%d" % (int(found[1]) + by))

    return _COMMITTED.sub(moved, stream)


def contents_of(memory: Memory, folder: Path) -> dict[str, Any]:
    """Count what is in a demo store."""
    store, about = memory.store, status(memory)
    kept = [entry.record for entry in records.page(store, records.Filter(states=(), separate=True), limit=1_000_000)]
    begun = list_sessions(memory, limit=1_000_000, everywhere=True)
    stages = {stage: len(found) for stage, found in triage(memory).items()}
    return {
        "folder": str(folder),
        "project": memory.project,
        "records": len(kept),
        "events": about["events"],
        "sessions": len(begun),
        "open_sessions": sum(session.is_open for session in begun),
        "transcripts": transcripts.counted(store),
        "without_vectors": about["lagging"],
        "projects": dict(Counter(record.project or "everywhere" for record in kept).most_common()),
        "kinds": dict(Counter(record.kind for record in kept).most_common()),
        "states": dict(Counter(record.state for record in kept).most_common()),
        "threads": {**stages, "resolved": len(resolved_threads(memory, limit=1_000))},
    }


def mover(since: int, until: int, by: int) -> Callable[[str], str]:
    """Return what moves every id and instant in a text that lies between two others to another time; all in milliseconds."""

    def moved(found: re.Match[str]) -> str:
        text = found[0]
        is_id = len(text) == 26
        stamp = ulid_to_timestamp(text) if is_id else epoch_ms(text)
        if not since <= stamp <= until:
            return text  # a record that is the same in every store, or an id without a time
        return moved_id(text, by) if is_id else instant((stamp + by) / 1_000)

    return lambda text: _TIMED.sub(moved, text) if len(text) >= len("2026-01-01T00:00:00.000Z") else text


class Shipped:
    """An embedder that only knows the demo's texts: their vectors were made by another one and are shipped."""

    def __init__(self, made_by: Embedder) -> None:
        self._made_by = made_by

    def __getattr__(self, name: str) -> Any:
        return getattr(self._made_by, name)

    @property
    def fits(self) -> bool:
        """True if the shipped vectors were made by the embedder at hand."""
        head, *_ = self._read
        return (head["embedder"], head["size"]) == (self.name, self.size)

    def embed(self, texts: Sequence[str]) -> list[Encoded]:
        """Return the vectors of texts of the demo, to four bits a value."""
        import numpy as np  # noqa: PLC0415  a tenth of a second: only when there is something to embed

        head, places, packed = self._read
        rows = np.frombuffer(packed, dtype=np.uint8).reshape(len(places), -1)
        chosen = rows[[places[key_of(text)] for text in texts]]
        levels = np.stack([chosen >> 4, chosen & 15], axis=-1).reshape(len(texts), -1)
        made = self.center + (levels.astype(np.float32) - (LEVELS - 1) / 2) * head["step"]
        return [Encoded(vector=row) for row in made / np.linalg.norm(made, axis=1, keepdims=True)]

    @cached_property
    def _read(self) -> tuple[dict[str, Any], dict[bytes, int], bytes]:
        first, _, rest = gzip.decompress(VECTORS.read_bytes()).partition(b"\n")
        head = json.loads(first)
        end = head["texts"] * KEY
        return head, {rest[at : at + KEY]: at // KEY for at in range(0, end, KEY)}, rest[end:]


def key_of(text: str) -> bytes:
    """Return what identifies a text among those of the demo."""
    return blake2b(text.encode(), digest_size=KEY).digest()

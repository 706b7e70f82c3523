"""`python3 dev.py demo`: simulate the story and write the files that `holdfast demo` loads."""

import gzip
import json
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

import numpy as np

from demo.build import SEED, build, open_demo
from demo.checkout import history
from demo.plan import DAY, FULL_DAYS
from demo.story import DATA, read_story
from holdfast.compose.adapters import checkout_of, embedder_of, make_checkout
from holdfast.engine.recovery.copy_store import RAW
from holdfast.engine.tokens import passages
from holdfast.engine.views import records
from holdfast.engine.views.records import Filter
from holdfast.model.anchor import snapshot_to_json
from holdfast.model.config import Config
from holdfast.model.event import event_from_json
from holdfast.model.ids import instant
from holdfast.model.ports import Embedder
from holdfast.model.record import fold
from holdfast.verbs.exchange.demo import CHECKOUT, LEVELS, STORE, VECTORS, key_of
from holdfast.verbs.exchange.jsonl import FORMAT, export
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.freshness import snapshot_of

REACH = 4.0  # standard deviations from the centre that the levels of a vector cover
UNTIL = 1_785_161_600.0  # 2026-07-27: any fixed time works, since loading shifts all times


def main() -> None:
    """Write the store and its vectors as compressed files."""
    with tempfile.TemporaryDirectory(prefix="holdfast-demo-") as folder:
        build(Path(folder), until=UNTIL)
        with open_demo(Path(folder), lambda: UNTIL) as memory:
            store = "".join(f"{line}\n" for line in lines_of(memory)).encode()
            embedder = embedder_of(Config())
            assert embedder is not None
            vectors = packed_vectors(embedder, texts_of(memory))
    for path, content in ((STORE, store), (VECTORS, vectors), (CHECKOUT, history(read_story(), UNTIL))):
        path.write_bytes(gzip.compress(content, mtime=0))
        print(f"{path.name}: {path.stat().st_size:,} bytes")


def lines_of(memory: Memory) -> list[str]:
    """Return the lines of the export of a store that ends at UNTIL."""
    since, until = instant(UNTIL - FULL_DAYS * DAY), instant(UNTIL)
    return list(with_code(memory, demo_lines(memory, since=since, until=until, story=story_hash())))


def with_code(memory: Memory, lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines of an export, what is recorded with what the first version of the code had at the cited places."""
    with tempfile.TemporaryDirectory(prefix="holdfast-demo-code-") as folder:
        make_checkout(Path(folder), memory.project, history(read_story(), UNTIL), "main~5")
        here = replace(memory, checkout=checkout_of(Path(folder)))
        # In order of time: what hooks injected is noted only when everything else is known.
        for line in sorted(lines, key=lambda line: str(json.loads(line).get("at") or "~" * ("table" in line[:9]))):
            value = json.loads(line)
            if value.get("verb") == "recorded" and value["data"].get("anchors"):
                record = fold(None, event_from_json(value))
                if record and (seen := snapshot_of(here, record)):
                    value["data"]["seen"] = snapshot_to_json(seen)
                    line = json.dumps(value, ensure_ascii=False)  # noqa: PLW2901
            yield line


def demo_lines(memory: Memory, *, since: str, until: str, story: str) -> Iterator[str]:
    """Yield the lines of the demo's file from the store it is made in; `story` identifies what it was made from."""
    header = {"holdfast": "export", "format": FORMAT, "since": since, "until": until, "story": story}
    yield json.dumps(header)
    events = export(memory)
    next(events)  # its header
    yield from events
    for table in RAW:
        names, key = ", ".join(table.columns), ", ".join(table.key)
        for row in memory.store.db.query(f"select {names} from {table.name} order by {key}"):
            value = dict(zip(table.columns, row, strict=True))
            yield json.dumps({"table": table.name, "row": value}, ensure_ascii=False)


def story_hash() -> str:
    """Return a hash of the story's files and the seed."""
    written = [str(SEED).encode(), *(path.read_bytes() for path in sorted(DATA.glob("*.toml")))]
    return blake2b(b"\0".join(written), digest_size=12).hexdigest()


def texts_of(memory: Memory) -> list[str]:
    """Return every text of the store that gets a vector."""
    kept = [entry.record for entry in records.page(memory.store, Filter(states=()), limit=1_000_000)]
    return sorted({text for record in kept if record.state != "erased" for text in passages(record.text)})


def packed_vectors(embedder: Embedder, texts: Sequence[str]) -> bytes:
    """Return the content of the file of vectors: a line about it, the keys of the texts, and four bits a value."""
    around = np.stack([encoded.vector for encoded in embedder.embed(texts)]) - embedder.center
    step = float(round(2 * REACH * float(around.std()) / LEVELS, 6))
    levels = np.clip(np.floor(around / step) + LEVELS // 2, 0, LEVELS - 1).astype(np.uint8)
    head = {"embedder": embedder.name, "size": embedder.size, "step": step, "texts": len(texts)}
    packed = np.asarray(levels[:, ::2] << 4 | levels[:, 1::2])
    return b"".join([json.dumps(head).encode(), b"\n", *map(key_of, texts), packed.tobytes()])


if __name__ == "__main__":
    main()

"""`python3 dev.py demo`: simulate the story and write the files that `holdfast demo` loads."""

import gzip
import tempfile
from hashlib import blake2b
from pathlib import Path

from demo.build import SEED, build, open_demo
from demo.plan import DAY, FULL_DAYS
from demo.story import DATA
from holdfast.compose.adapters import embedder_of
from holdfast.engine.passages import passages
from holdfast.engine.views import records
from holdfast.engine.views.records import Filter
from holdfast.model.config import Config
from holdfast.model.ids import instant
from holdfast.verbs.exchange.demo import STORE, VECTORS, demo_lines, packed_vectors
from holdfast.verbs.memory import Memory

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
    for path, content in ((STORE, store), (VECTORS, vectors)):
        path.write_bytes(gzip.compress(content, mtime=0))
        print(f"{path.name}: {path.stat().st_size:,} bytes")


def lines_of(memory: Memory) -> list[str]:
    """Return the lines of the export of a store that ends at UNTIL."""
    since, until = instant(UNTIL - FULL_DAYS * DAY), instant(UNTIL)
    return list(demo_lines(memory, since=since, until=until, story=story_hash()))


def story_hash() -> str:
    """Return a hash of the story's files and the seed."""
    written = [str(SEED).encode(), *(path.read_bytes() for path in sorted(DATA.glob("*.toml")))]
    return blake2b(b"\0".join(written), digest_size=12).hexdigest()


def texts_of(memory: Memory) -> list[str]:
    """Return every text of the store that gets a vector."""
    kept = [entry.record for entry in records.page(memory.store, Filter(states=()), limit=1_000_000)]
    return sorted({text for record in kept if record.state != "erased" for text in passages(record.text)})


if __name__ == "__main__":
    main()

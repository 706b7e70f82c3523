"""Make vectors for records that have none yet."""

import logging
import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress

from holdfast.engine.raw import counters
from holdfast.engine.tokens import passages
from holdfast.engine.views import records, vectors
from holdfast.engine.views.vectors import Passage
from holdfast.model.errors import EmbedderError, HoldfastError, StoreError, StoreFull, StoreUnwritable
from holdfast.model.ports import Embedder, Encoded
from holdfast.policy.secrets.find import mask_secrets
from holdfast.verbs.memory import Memory

BATCH = 32
MOST_TOKENS = 128  # per passage: bounds a passage's vectors to 4 kB; measured, more of them rank no better
PATIENCE = 0.3  # seconds: about what one batch takes
log = logging.getLogger(__name__)


def catch_up(
    memory: Memory,
    *,
    limit: int | None = None,
    projects: Iterable[int] | None = None,
    progress: Callable[[int], None] = lambda _: None,
    stop: Callable[[], bool] = lambda: False,
) -> int:
    """Embed records that have no vectors yet, newest first; return how many were embedded.

    With a limit, a caller is waiting: if another thread is embedding, stop after `PATIENCE` seconds.
    """
    embedder, done = memory.embedder, 0
    if embedder is None:
        return 0
    if (memory.store.setting("embedder") or "").rpartition("/")[0] in embedder.earlier:
        with memory.store.transaction():
            vectors.queue_all(memory.store)
            memory.store.note("embedder", f"{embedder.name}/{embedder.size}")
    wanted = None if projects is None else tuple(projects)
    while not stop() and (limit is None or done < limit):
        if not memory.embedding.acquire(timeout=-1 if limit is None else PATIENCE):
            break
        try:
            most = BATCH if limit is None else min(BATCH, limit - done)
            numbers = vectors.waiting(memory.store, wanted, most)
            if not numbers:
                break
            _embed(memory, embedder, numbers)
        finally:
            memory.embedding.release()
        done += len(numbers)
        progress(done)
    return done


def try_to_catch_up(
    memory: Memory, *, limit: int | None = None, projects: Iterable[int] | None = None, seconds: float = math.inf
) -> None:
    """Embed new records for about so many seconds; what fails is logged, and words alone find them."""
    until = time.monotonic() + seconds
    try:
        catch_up(memory, limit=limit, projects=projects, stop=lambda: time.monotonic() > until)
    except (EmbedderError, StoreFull, StoreUnwritable) as problem:
        log.warning("new memories are found by words only: %s", problem)


@contextmanager
def keeping_up(memory: Memory, then: Callable[[], object] = lambda: None) -> Iterator[threading.Event]:
    """Embed new records in a background thread, `then` do the rest; yield an event that is set while there is nothing to do.

    For long-lived hosts: a write returns at once, and its record can be found by meaning a moment later.
    """
    stopping, idle = threading.Event(), threading.Event()

    def work() -> None:
        while not stopping.is_set():
            memory.wrote.clear()
            try:
                if done := catch_up(memory, stop=stopping.is_set):
                    counters.add(memory.store, "vectors.made", memory.clock.now(), done)
                then()
            except HoldfastError as problem:
                log.warning("vectors wait: %s", problem)
                with suppress(StoreError):  # not even that can be noted
                    memory.note_failure("vectors", mask_secrets(str(problem)))
            idle.set()
            memory.wrote.wait()
            idle.clear()
            with suppress(StoreError), memory.store.transaction():
                pass  # what was written is committed now

    thread = threading.Thread(target=work, name="holdfast-vectors", daemon=True)
    thread.start()
    memory.keeping_up.set()
    try:
        yield idle
    finally:
        memory.keeping_up.clear()
        stopping.set()
        memory.wrote.set()
        thread.join()


def start_over(memory: Memory) -> None:
    """Drop all vectors, so that `catch_up` makes them again with the current embedder."""
    with memory.store.transaction():
        vectors.forget_all(memory.store)
        memory.store.note("embedder", "")


def usable(memory: Memory) -> str:
    """Return an empty string if the vectors were made by the current embedder, else the problem and its fix."""
    if memory.embedder is None:
        return "No embedder is set: searched by words only."
    made_by = memory.store.setting("embedder") or ""
    name, _, size = made_by.rpartition("/")
    # Its size is 0, which matches any, until it has answered once.
    is_same = memory.embedder.name == name and memory.embedder.size in (0, int(size or 0))
    if made_by and not is_same and name not in memory.embedder.earlier and not vectors.is_empty(memory.store):
        return f"The vectors here are by {made_by}, the embedder is {memory.embedder.name}: run `holdfast store rebuild vectors`."
    return ""


def _embed(memory: Memory, embedder: Embedder, numbers: Sequence[int]) -> None:
    found = records.by_numbers(memory.store, numbers)
    parts = {number: passages(record.text) for number, record in found.items() if record.state != "erased"}
    texts = [(number, place, text) for number, own in parts.items() for place, text in enumerate(own)]
    if not texts:
        vectors.store(memory.store, numbers, [])
        return
    _check(memory)  # before and after the work: an endpoint's vector size is known only from a response
    import numpy as np  # noqa: PLC0415  a tenth of a second: only when there is something to embed

    from holdfast.engine.search.vectors import code_of, packed  # noqa: PLC0415

    def kept(encoded: Encoded) -> bytes:
        """Return the vectors of a passage's words; of a long passage, only of those that count most."""
        if encoded.tokens is None or len(encoded.tokens) <= MOST_TOKENS:
            return b"" if encoded.tokens is None else packed(encoded.tokens)
        return packed(encoded.tokens[np.sort(np.argpartition(encoded.weights, -MOST_TOKENS)[-MOST_TOKENS:])])

    made = embedder.embed([text for _, _, text in texts])
    _check(memory)
    whole = np.stack([encoded.vector for encoded in made])
    codes, halves = code_of(whole, embedder.center), whole.astype(np.float16)
    rows = [
        Passage(
            number=number,
            passage=place,
            fingerprint=records.fingerprint(found[number]),
            code=codes[row].tobytes(),
            vector=halves[row].tobytes(),
            tokens=kept(made[row]),
        )
        for row, (number, place, _) in enumerate(texts)
    ]
    with memory.store.transaction():
        if memory.store.setting("embedder") != (name := f"{embedder.name}/{embedder.size}"):
            memory.store.note("embedder", name)
        # A record revised meanwhile keeps its place in the queue.
        current = records.by_numbers(memory.store, numbers)
        same = [number for number in numbers if number not in current or current[number].head == found[number].head]
        vectors.store(memory.store, same, [row for row in rows if row.number in same])


def _check(memory: Memory) -> None:
    if problem := usable(memory):
        raise EmbedderError(problem)

"""What must hold after the soak, whatever was done to the store."""

import fcntl
import json
import os
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.compose import LOCK
from holdfast.engine.raw import counters, trail
from holdfast.engine.sqlite import SQLite
from holdfast.engine.store import Store, open_store
from holdfast.hosts.worker import LONGEST_SECONDS
from holdfast.model.config import Config
from holdfast.model.session import MOST
from holdfast.policy.admission.sharing import is_of_team, with_team
from tests.conftest import contents, ran
from tests.engines import release
from tests.hosts.running import processes

PROJECT = "example.org/acme/shop"
GROWTH = 1.25  # times what a process had after a quarter of the time
SLACK = 12_000  # kilobytes: caches that fill once


@dataclass(frozen=True)
class Finding:
    """One invariant, whether it held, and the figures."""

    name: str
    held: bool
    said: str


def check(home: Path, far: Path, lines: list[dict[str, Any]], marker: str) -> Iterator[Finding]:
    """Look at everything once all is quiet."""
    yield _nobody_left(marker)
    yield _locks(home)
    with (
        closing(open_store(SQLite(home / "holdfast.db"))) as store,
        closing(open_store(SQLite(far / "holdfast.db"))) as other,
    ):
        yield _sound(store)
        yield _kept(store, lines, "ack", "no acknowledged write lost")
        yield _kept(store, lines, "far", "what another machine shared arrived")
        yield _doubles(store, lines)
        yield _replay(store)
        yield _converged(store, other)
        prompts = _texts(store, "select json_extract(doc, '$.text') from trail where event = 'UserPromptSubmit'")
        verdicts = _texts(store, "select json_extract(data, '$.note') from events where verb = 'verified'")
        yield _once(prompts, lines, "heard", "what hooks took is in the trail once")
        yield _once(verdicts, lines, "judged", "what the viewer took is kept once")
        yield _caps(store, home)
    yield _only_typed(lines)
    yield _flat(lines, "server")
    yield _flat(lines, "viewer")
    yield _newer(home)


def _nobody_left(marker: str) -> Finding:
    until = time.monotonic() + LONGEST_SECONDS
    while (left := processes(marker)) and time.monotonic() < until:
        time.sleep(0.2)
    return Finding("no process left", not left, "; ".join(left.values())[:200] or "none")


def _locks(home: Path) -> Finding:
    with (home / LOCK).open("a") as handle, closing(SQLite(home / "holdfast.db")) as db:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return Finding("no lock left", False, "the worker's lock is held")
        with db.transaction():
            return Finding("no lock left", True, "worker's and write lock are free")


def _sound(store: Store) -> Finding:
    assert isinstance(store.db, SQLite)
    damage = store.db.damage()
    return Finding("pages sound", not damage, "; ".join(damage) or f"{store.last_seq()} events numbered")


def _kept(store: Store, lines: list[dict[str, Any]], word: str, name: str) -> Finding:
    acks = {line[word] for line in lines if word in line}
    lost = acks - store.events_with(acks).keys()
    return Finding(name, bool(acks) and not lost, f"{len(acks)} acknowledged, {len(lost)} lost")


def _texts(store: Store, sql: str) -> list[str]:
    return [str(row[0] or "") for row in store.db.query(sql)]


def _doubles(store: Store, lines: list[dict[str, Any]]) -> Finding:
    twice = store.db.query("select about from events where verb = 'recorded' group by about having count(*) > 1")
    bodies = [
        body[:16] for body in _texts(store, "select json_extract(data, '$.body') from events where verb = 'recorded'")
    ]
    ours = {line["body"][:16] for line in lines if "body" in line}
    again = len([body for body in bodies if body in ours]) - len(ours & set(bodies))
    return Finding("no duplicate", not twice and not again, f"{len(bodies)} recorded, {len(twice) + again} twice")


def _once(texts: list[str], lines: list[dict[str, Any]], word: str, name: str) -> Finding:
    taken = [line[word] for line in lines if word in line]
    kept = [text[: max(map(len, taken), default=0)] for text in texts]
    lost, twice = set(taken) - set(kept), len(kept) - len(set(kept))
    return Finding(name, bool(taken) and not lost and not twice, f"{len(taken)} taken, {len(lost)} lost, {twice} twice")


def _replay(store: Store) -> Finding:
    before = contents(store)
    store.rebuild()
    after = contents(store)
    wrong = [table for table in before if before[table] != after[table]]
    rows = sum(map(len, after.values()))
    return Finding("journal replay equals views", not wrong, ", ".join(wrong) or f"{rows} rows in {len(after)} tables")


def _converged(store: Store, other: Store) -> Finding:
    here, there = _team(store), _team(other)
    apart = {key for key in {*here, *there} if here.get(key) != there.get(key)}
    return Finding("replicas converge", bool(here) and not apart, f"{len(here)} of the team, {len(apart)} differ")


def _team(store: Store) -> dict[str, tuple[str, str, str]]:
    ids = [row[0] for row in store.db.query("select id from records")]
    found = [record for record in map(store.folded, ids) if record and is_of_team(record, with_team(PROJECT))]
    return {record.id: (record.state, record.body, record.head) for record in found}


def _caps(store: Store, home: Path) -> Finding:
    hook_events, waiting = trail.size(store)
    sql = "select count(*) from heat join records on records.id = heat.id where hot = 1 and state = 'active'"
    hot = int(store.db.query(sql)[0][0])
    failures = int(store.db.query("select count(*) from failures")[0][0])
    spooled = len(list((home / "spool").glob("*.json")))
    backups = len(list((home / "backups").glob("holdfast-*.db")))
    held = hook_events <= MOST and hot <= Config().hot_capacity and failures <= counters.KEPT_FAILURES
    said = f"trail {hook_events}, waiting {waiting}, spool {spooled}, hot {hot}, failures {failures}, backups {backups}"
    return Finding("caps held", held and not waiting and not spooled and backups <= 3, said)


def _only_typed(lines: list[dict[str, Any]]) -> Finding:
    bad = [line for line in lines if "bad" in line]
    for line in bad[:5]:
        print(line["role"], line["bad"], file=sys.stderr)
    typed = dict(Counter(str(line["typed"])[:30] for line in lines if "typed" in line))
    return Finding("nothing but typed errors", not bad, f"{len(bad)} others; {typed}")


def _flat(lines: list[dict[str, Any]], who: str) -> Finding:
    name = f"memory flat ({who})"
    sizes = [line[who] for line in lines if who in line]
    if len(sizes) < 8:
        return Finding(name, False, "too few samples")
    quarter = len(sizes) // 4
    early, late = statistics.median(sizes[quarter : 2 * quarter]), statistics.median(sizes[-quarter:])
    said = f"{early / 1000:.1f} MB after a quarter, {late / 1000:.1f} MB at the end"
    return Finding(name, late <= early * GROWTH + SLACK, said)


def _newer(home: Path) -> Finding:
    """A newer release takes over with everything in it, and this one is then refused."""
    environment = {**os.environ, "HOLDFAST_HOME": str(home), "HOLDFAST_EMBEDDER": "none", "HOLDFAST_PROJECT": PROJECT}
    with closing(SQLite(home / "holdfast.db")) as db:
        before = int(db.query("select count(*) from events")[0][0])
    starts = (("-c", release(1)), ("-m", "holdfast"))
    newer, ours = (ran([sys.executable, *start, "status", "--json"], env=environment) for start in starts)
    events = json.loads(newer.stdout)["events"] if newer.returncode == 0 else newer.stderr[-300:]
    return Finding(
        "a newer release takes over whole",
        events == before and ours.returncode == 5,
        f"{events} of {before} events, ours then ends with {ours.returncode}",
    )

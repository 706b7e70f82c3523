"""The made-up store: believable, complete, and the same every time."""

import gzip
import json
import re
import shlex
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from ulid_transform import ulid_to_timestamp

from demo.__main__ import UNTIL, demo_lines, story_hash, with_code
from demo.build import build, open_demo
from demo.story import read_story
from holdfast.compose.adapters import embedder_of
from holdfast.engine.tokens import passages
from holdfast.engine.views import records
from holdfast.engine.views.records import Filter
from holdfast.model.config import Config
from holdfast.model.errors import Conflict
from holdfast.model.foreign_json import with_texts
from holdfast.model.ids import ULID, epoch_ms, instant
from holdfast.model.kinds import KINDS, SEPARATE
from holdfast.model.query import Query
from holdfast.model.record import Draft
from holdfast.verbs.exchange.demo import STORE, Shipped, contents_of, load_demo, mover
from holdfast.verbs.exchange.jsonl import export
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.write import draft_event
from holdfast.verbs.search.recall import recall
from holdfast.verbs.sessions.analyze import blind_spots, wordings
from holdfast.verbs.sessions.scars import effects
from holdfast.verbs.sessions.thread import resolved_threads, suggestions, triage
from holdfast.verbs.truth.consolidate import proposals
from holdfast.verbs.truth.contradictions import compare, open_contradictions
from holdfast.verbs.upkeep.doctor import examine
from holdfast.verbs.upkeep.health import health
from tests.conftest import START, keep, new_folder
from tests.hosts.running import Run, ended
from tests.rows import examples, opened, refused

SHOP, PRINTER = "github.com/fernhill/storefront", "github.com/fernhill/label-printer"


demo = opened(lambda demo_store: open_demo(demo_store, lambda: START))


def test_it_holds_records_of_every_kind_state_and_origin(demo: Memory) -> None:
    kept = [entry.record for entry in records.page(demo.store, Filter(states=()), limit=100_000)]
    kinds, projects = Counter(record.kind for record in kept), Counter(record.project for record in kept)
    assert len(kept) >= 2_000
    assert set(kinds) == set(KINDS) - SEPARATE
    assert min(kinds.values()) >= 5
    assert {record.state for record in kept} == {"active", "pending", "retired", "erased"}
    assert {record.source for record in kept} >= {"explicit", "observed", "inferred", "mined"}
    assert {record.by.name for record in kept} >= {"claude-code", "codex", "cursor", "mira", "jonas"}
    assert (projects[SHOP] > 1_500, projects[PRINTER] > 100, projects[""] > 12) == (True, True, True)
    assert all(triage(demo).values())
    assert len(resolved_threads(demo)) > 10
    assert suggestions(demo)


def test_what_contradicts_or_repeats_itself_is_found_and_little_else(demo: Memory, memory: Memory) -> None:
    told = read_story().told
    found = {(one.older.body, one.newer.body) for one in open_contradictions(demo, limit=100)["found"]}
    real = {(older, newer) for _, older, newer in told["turn"]}
    assert len(found & real) >= 13
    assert len(found - real) <= 4
    for text in (text for _, _, *twin in told["twin"] for text in twin):
        memory.commit([draft_event(memory, Draft(body=text, project=memory.project))])
    compare(memory)
    assert len(proposals(memory)["found"]) >= 8


def test_health_and_insight_have_something_to_say_and_the_doctor_finds_nothing(demo: Memory) -> None:
    told = health(demo)
    assert any("backnd" in str(typo) for typo in told.typos)
    assert 0 < told.score < 100
    assert told.queue
    assert [check for check in examine(demo) if check.fix] == []
    assert any(one.shown >= 5 and one.heeded > 0.3 and one.outcomes["succeeded"] for one in effects(demo))
    assert all(blind_spots(demo, days=90)[name] for name in ("ignored", "in_vain", "review"))
    assert {one["variant"] for one in wordings(demo) if one["shown"] > 10} == {"steps", "goal"}


@examples
def test_what_a_newcomer_asks_is_answered_first(demo: Memory, question: str, wanted: str) -> None:
    assert wanted in recall(demo, Query(text=question), surface=False).hits[0].record.text


shipped = pytest.fixture(scope="module")(lambda: gzip.decompress(STORE.read_bytes()).decode().splitlines())


def test_what_is_shipped_was_made_from_the_story_as_it_is(shipped: list[str]) -> None:
    assert json.loads(shipped[0])["story"] == story_hash(), "Run `python3 dev.py demo`."


@pytest.mark.whole
def test_what_is_shipped_begins_as_the_generator_begins(shipped: list[str], tmp_path: Path) -> None:
    """The whole story takes the generator 18 seconds; its first tenth, one."""
    build(tmp_path, until=UNTIL, steps=200)
    with open_demo(tmp_path, lambda: UNTIL) as memory:
        made = list(with_code(memory, export(memory)))[1:]
    assert len(made) > 300
    assert made == shipped[1 : len(made) + 1], "Run `python3 dev.py demo`."


@pytest.mark.whole
def test_everything_is_moved_to_the_time_it_is_loaded_at(shipped: list[str], tmp_path: Path) -> None:
    """Ids and instants alike, wherever they stand: moved back, all is as it was."""
    header, *lines = map(json.loads, shipped)
    days = 200 * 86_400_000
    first, last = epoch_ms(header["since"]), epoch_ms(max(line["at"] for line in lines if "verb" in line))
    with open_demo(tmp_path, lambda: (last + days) / 1000) as memory:
        load_demo(memory, instant((last + days) / 1000))
        loaded = list(demo_lines(memory, **{name: header[name] for name in ("since", "until", "story")}))[1:]
    back = mover(first + days, last + days, -days)
    assert [with_texts(json.loads(line), back) for line in loaded] == lines
    text = "\n".join(loaded)
    ids, dates = set(ULID.findall(text)), set(re.findall(r"\d{4}-\d\d-\d\dT[\d:.]+Z", text))
    assert len(ids) > 4_000
    for moments in ([ulid_to_timestamp(found) for found in ids], [epoch_ms(found) for found in dates]):
        assert last + days - 600_000 < max(moments) <= last + days
        assert [at for at in moments if first <= at <= last] == []


@pytest.mark.whole
def test_it_is_found_by_meaning_at_once(tmp_path: Path) -> None:
    embedder = embedder_of(Config())
    assert embedder is not None
    with replace(open_demo(tmp_path, lambda: START), embedder=embedder) as memory:
        load_demo(memory, instant(START))
        assert contents_of(memory, tmp_path)["without_vectors"] == 0
        entries = records.page(memory.store, Filter(projects=None), limit=100_000)[::300]
        texts = [passages(entry.record.text)[0] for entry in entries]
        pairs = zip(embedder.embed(texts), Shipped(embedder).embed(texts), strict=True)
        assert min(float(made.vector @ shipped.vector) for made, shipped in pairs) > 0.98
        found = recall(memory, Query(text="customer was charged two times"), surface=False)
    assert any("twice" in hit.record.text for hit in found.hits[:3])
    assert found.hits[0].why["meaning"] > 0


def test_a_folder_with_something_in_it_is_left_alone(run: Run, tmp_path: Path) -> None:
    folder = new_folder(tmp_path / "mine")
    (folder / "notes.txt").write_text("mine")
    ended(run("demo", str(folder)), 4, "not empty")
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]
    with open_demo(tmp_path / "store", lambda: START) as memory:
        keep(memory, "The first thing that was kept here.")
        refused(Conflict, load_demo, memory, instant(START), says="empty store")


def test_the_command_says_what_is_in_it_and_what_to_try(run: Run, tmp_path: Path) -> None:
    store = tmp_path / "work" / "holdfast-demo"
    said = run("demo", "--until", "2026-09-21")
    assert said.returncode == 0, said.stderr
    assert f"  export HOLDFAST_HOME={store}\n  export HOLDFAST_PROJECT={SHOP}\n" in said.stdout
    assert run("demo").returncode == 4
    settings = {"HOLDFAST_HOME": str(store), "HOLDFAST_PROJECT": SHOP}
    commands = [line.split(maxsplit=1)[1] for line in said.stdout.splitlines() if line.startswith("  holdfast ")]
    assert len(commands) > 5
    for command in commands:
        assert run(*shlex.split(command), **settings).returncode == 0, command

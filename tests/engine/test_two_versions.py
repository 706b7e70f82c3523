"""A newer Holdfast upgrades a store that an older one has open: the older one writes nothing more and says what to do."""

from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.engine.database import Database
from holdfast.engine.store import Store, open_store, schema_steps
from holdfast.model.errors import NewerStore
from holdfast.model.ids import Clock
from tests.conftest import Time, make_memory, recorded
from tests.hosts.conftest import environment_of
from tests.hosts.running import runner
from tests.hosts.test_mcp import Peer, text_of

# What the upgrade of a newer version leaves in a store.
UPGRADES = {
    "schema": f"update settings set value = '{len(schema_steps()) + 1}' where name = 'schema'",
    "view": "update views set version = version + 1 where name = 'words'",
}
WRITES: dict[str, Callable[[Store], object]] = {
    "commit": lambda store: store.commit([recorded(Clock(lambda: 1_800_000_000.0), "too late")]),
    "rebuild": lambda store: store.rebuild(),
    "redact": lambda store: store.rewrite(lambda event: event),
    "mask": lambda store: store.put_again(list(store.journal())),
}


@pytest.mark.parametrize("upgrade", UPGRADES.values(), ids=UPGRADES)
def test_an_older_process_with_the_store_open_writes_nothing_after_an_upgrade(
    database: Callable[[], Database], upgrade: str
) -> None:
    store = open_store(database())
    store.commit([recorded(Clock(lambda: 1_700_000_000.0), "in time")])
    open_store(database()).db.execute(upgrade)
    before = list(store.journal())
    for write in WRITES.values():
        with pytest.raises(NewerStore, match=r"this Holdfast knows.*Upgrade Holdfast"):
            write(store)
    with pytest.raises(NewerStore, match=r"this Holdfast knows.*Upgrade Holdfast"):
        open_store(database())
    assert list(store.journal()) == before
    assert store.db.query("select count(*) from records")[0][0] == 1


@pytest.mark.embedded
def test_a_running_server_and_a_command_refuse_a_newer_store(tmp_path: Path, time: Time) -> None:
    peer = Peer(environment_of(tmp_path), tmp_path)
    assert "Saved" in text_of(peer.call("remember", text="The deploy needs two approvals."))
    with make_memory(tmp_path, time) as memory:
        memory.store.db.execute(UPGRADES["schema"])
    for tool, given in (("remember", {"text": "One thing more."}), ("recall", {"query": "deploy approvals"})):
        said = peer.call(tool, **given)
        assert (said["isError"], "Upgrade Holdfast" in text_of(said)) == (True, True), said
    assert peer.close()[1] == ""
    run = runner(tmp_path, tmp_path)
    for command in (
        ("recall", "deploy"),
        ("remember", "One thing more."),
        ("status",),
        ("store", "rebuild"),
        ("work",),
    ):
        done = run(*command, HOLDFAST_HOME=str(tmp_path / "store"))
        assert (done.returncode, "Upgrade Holdfast" in done.stderr, "Traceback" in done.stderr) == (5, True, False), (
            command,
            done,
        )

"""No attack on the memory gets through, and each would where texts are only put one after another."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.poisoning import ATTACKS, outcomes
from holdfast.compose.settings import CHOICES, load_settings, store_folder
from holdfast.hosts.hooks import places
from holdfast.model.errors import InvalidConfig
from holdfast.model.fence import attribute, escaped, inline


def test_no_attack_gets_through_and_each_works_on_plain_concatenation() -> None:
    found = dict(outcomes())
    assert len(found) == len(ATTACKS) >= 25
    assert {name: one.through for name, one in found.items() if one.through} == {}
    assert [name for name, one in found.items() if not one.naive] == []


def test_one_line_has_no_brackets_and_no_breaks() -> None:
    assert inline("a\n<b>\x1b[2J") == "a ‹b›[2J"
    assert attribute('x" by="y') == "x' by='y"


def test_json_is_the_same_value_and_safe_to_look_at() -> None:
    value = {"a": "</memory> \u202e \x9b31m \U000e0041 <system-reminder> </div>"}
    written = escaped(json.dumps(value, ensure_ascii=False))
    assert json.loads(written) == value
    assert not {"\u202e", "\x9b", "\U000e0041"} & set(written)
    assert "<system-reminder>" not in written


def add_plainly(here: Path) -> None:
    subprocess.run(["git", "-C", str(here), "add", "-f", ".holdfast/holdfast.db"], check=True)


def add_with_short_names(here: Path) -> None:
    (here / ".holdfast" / "holdfast.a").touch()  # after it, an index of version 4 says "4 letters less, and: db"
    subprocess.run(["git", "-C", str(here), "add", "-f", ".holdfast"], check=True)
    subprocess.run(["git", "-C", str(here), "update-index", "--index-version", "4"], check=True)
    assert b"holdfast.db" not in (here / ".git" / "index").read_bytes()


def add_to_an_index_in_two(here: Path) -> None:
    add_plainly(here)
    subprocess.run(["git", "-C", str(here), "update-index", "--split-index"], check=True)
    assert b"holdfast.db" not in (here / ".git" / "index").read_bytes()


def add_behind_a_link(here: Path) -> None:
    (here / ".holdfast").rename(here / "data")
    (here / ".holdfast").symlink_to("data")
    subprocess.run(["git", "-C", str(here), "add", "-f", ".holdfast", "data"], check=True)


def add_as_a_submodule(here: Path) -> None:
    inner = here / ".holdfast"
    subprocess.run(["git", "init", "-q", str(inner)], check=True)
    subprocess.run(["git", "-C", str(inner), "add", "-f", "holdfast.db"], check=True)


def add_in_capitals(here: Path) -> None:
    """As on a disk where `.HOLDFAST` is `.holdfast`."""
    named = ["--cacheinfo", f"100644,{'0' * 39}1,.HOLDFAST/Holdfast.DB"]
    subprocess.run(["git", "-C", str(here), "update-index", "--add", *named], check=True)


ADDED = (
    add_plainly,
    add_with_short_names,
    add_to_an_index_in_two,
    add_behind_a_link,
    add_as_a_submodule,
    add_in_capitals,
)


@pytest.mark.parametrize("add", ADDED)
def test_a_store_that_came_with_a_repository_is_not_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, add: Callable[[Path], None]
) -> None:
    monkeypatch.delenv("HOLDFAST_HOME", raising=False)
    store = tmp_path / "clone" / ".holdfast"
    store.mkdir(parents=True)
    (store / "holdfast.db").write_bytes(b"theirs")
    here = store.parent
    config = load_settings(folder=here, environment={}, flags={}).config
    subprocess.run(["git", "init", "-q", str(here)], check=True)
    assert store_folder(config, here) == store
    assert places.home_of(str(here)) == str(store)
    (here / "README.md").touch()
    subprocess.run(["git", "-C", str(here), "add", "README.md"], check=True)
    assert store_folder(config, here) == store
    assert places.home_of(str(here)) == str(store)
    add(here)
    assert store_folder(config, here) != store
    assert places.home_of(str(here)) != str(store)


@pytest.mark.parametrize("name", sorted(CHOICES))
def test_a_word_that_is_no_choice_is_refused_when_settings_are_read(name: str) -> None:
    with pytest.raises(InvalidConfig, match=f"There is no {name} 'sometimes'") as refused:
        load_settings(environment={}, flags={name: "sometimes"})
    assert refused.value.hint == f"Use one of {', '.join(CHOICES[name])}."

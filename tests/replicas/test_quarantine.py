"""What comes from people nobody accepted waits; who brought it is known; and nothing of it takes anything else away."""

from pathlib import Path

import pytest

from holdfast.adapters.git import Repository
from holdfast.adapters.replicas.markdown import MarkdownFolder
from holdfast.model.errors import NotFound
from holdfast.policy.admission.sharing import with_team
from holdfast.verbs.exchange.sync import sync
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.quarantine import accept, reject, waiting
from tests.conftest import Time, keep, make_memory, new_folder
from tests.replicas.scripts import scripts_in
from tests.replicas.seats import git

globals().update(scripts_in(__file__, "notes"))

DECIDED = "Orders live in PostgreSQL: the ledger needs transactions."


def test_files_tell_who_committed_them_and_a_removal_by_a_stranger_waits(tmp_path: Path) -> None:
    top = new_folder(tmp_path / "clone")
    git(top, "init", "-q", "-b", "main")
    place, repository = top / ".holdfast" / "memories", Repository(top)
    with make_memory(tmp_path / "bob", Time()) as memory:
        sharing = with_team(memory.project)

        def synced() -> dict[str, int]:
            implied, states = sharing.implied, tmp_path / "states"
            folder = MarkdownFolder(place, states, name="repository", implied=implied, repository=repository)
            done = sync(memory, folder, sharing)
            folder.close()
            return dict(done.held)

        mine = keep(memory, DECIDED, visibility="team")
        assert synced() == {}
        git(top, "add", ".")
        git(top, "commit", "-q", "-m", "memories")
        (place / "theirs.md").write_text("Orders live in a spreadsheet now.\n")
        next(place.glob("2*.md")).unlink()
        git(top, "add", ".")
        git(top, "commit", "-q", "-m", "poison")
        assert synced() == {"Ada <ada@example.org>": 2}
        assert synced() == {}
        assert memory.store.folded(mine.id).state == "active"  # type: ignore[union-attr]
        assert sorted(one.would for one in waiting(memory)) == ["add", "retired"]
        (place / "own.md").write_text("Written here by hand: orders live in the ledger.\n")
        assert synced() == {}


def test_a_password_in_an_address_is_not_kept(memory: Memory, tmp_path: Path) -> None:
    password, token = "Xk9!mQ2#" + "vLw7", "ghp_" + "q7R2" * 9
    for decide in (accept, reject):
        with pytest.raises(NotFound) as refused:
            decide(memory, [f"https://ada:{password}@git.example.org/acme/shop"])
        assert password not in str(refused.value)
        assert decide(memory, [f"{token}@example.org"])["authors"] == ["[redacted GitHub token]@example.org"]
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert (password.encode() in kept, token.lower().encode() in kept.lower()) == (False, False)

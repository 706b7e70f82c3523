"""`holdfast store migrate` and a store on a server, through the command line."""

from pathlib import Path

from tests import engines
from tests.hosts.running import Run, answer


def test_a_store_moves_to_a_server_and_back_into_a_file(run: Run, tmp_path: Path) -> None:
    file, server = str(tmp_path / "file"), engines.schema(str(tmp_path / "server"))
    own = {"HOLDFAST_HOME": file, "HOLDFAST_DATABASE": ""}
    record = answer(run("remember", "--json", "The staging database is reset every night.", **own))["record"]["id"]
    moved = answer(run("store", "migrate", "--to", server, "--json", **own))
    there = {"HOLDFAST_HOME": str(tmp_path / "elsewhere"), "HOLDFAST_DATABASE": server}
    assert [hit["record"]["id"] for hit in answer(run("recall", "staging", "--json", **there))["hits"]] == [record]
    assert "PostgreSQL" in run("status", **there).stdout
    assert "pgvector" in run("doctor", **there).stdout
    back = str(tmp_path / "back")
    said = run("store", "migrate", "--to", back, **there)
    assert (said.returncode, "1 memory" in said.stdout, moved["hash"][:16] in said.stdout) == (0, True, True)
    again = run("store", "migrate", "--to", server, **own)
    assert (again.returncode, "was moved to" in again.stderr) == (4, True)
    home = {"HOLDFAST_HOME": back, "HOLDFAST_DATABASE": ""}
    assert [hit["record"]["id"] for hit in answer(run("recall", "staging", "--json", **home))["hits"]] == [record]


def test_a_store_is_taken_in_from_elsewhere_and_a_move_needs_one_end(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "file"
    answer(run("remember", "--json", "The staging database is reset.", HOLDFAST_HOME=str(file), HOLDFAST_DATABASE=""))
    there = {"HOLDFAST_HOME": str(tmp_path / "t"), "HOLDFAST_DATABASE": engines.schema(str(tmp_path / "t"))}
    assert answer(run("store", "migrate", "--from", str(file), "--json", **there))["records"] == 1
    for ends in ((), ("--to", "/tmp/a", "--from", "/tmp/b")):
        assert run("store", "migrate", *ends).returncode == 64

"""`holdfast store scan` on the command line: what it prints, what it leaves with, and that it never shows a secret."""

import json
import sqlite3
from pathlib import Path

import pytest

from tests.conftest import new_file
from tests.hosts.running import Run, answer, kept

TOKEN = "ghp_" + "q7R2" * 9


def planted(run: Run) -> Path:
    """Put a secret into a store behind everybody's back."""
    one = kept(run, "Deploys run with SECRET from main.")
    home = Path(answer(run("status", "--json"))["place"])
    with sqlite3.connect(home) as db:
        db.execute("update events set data = replace(data, 'SECRET', ?) where about = ?", (TOKEN, one))
    db.close()
    assert run("store", "rebuild").returncode == 0
    return home.parent


def test_a_clean_store_leaves_with_zero(run: Run) -> None:
    kept(run, "Deploys run from main.")
    done = run("store", "scan")
    assert (done.returncode, done.stdout) == (0, "No secrets found.\n")


@pytest.mark.embedded
def test_a_secret_is_found_masked_and_never_printed(run: Run) -> None:
    home = planted(run)
    found = run("store", "scan")
    assert (found.returncode, "GitHub token" in found.stdout, "1 found in 1 places" in found.stdout) == (1, True, True)
    assert TOKEN[:5] not in found.stdout + found.stderr
    listed = run("store", "scan", "--json")
    assert (listed.returncode, [leak["begins"] for leak in json.loads(listed.stdout)["leaks"]]) == (
        1,
        ["ghp_… (40 characters)"],
    )
    refused = run("store", "scan", "--redact", stdin="n\n")
    assert refused.returncode == 4
    assert TOKEN[:5] not in refused.stdout + refused.stderr
    done = run("store", "scan", "--redact", "--yes")
    assert (done.returncode, TOKEN[:5] in done.stdout + done.stderr) == (0, False)
    assert run("store", "scan").returncode == 0
    assert TOKEN.encode() not in b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
    assert "credentials were masked" in run("stats", "audit").stdout


def test_files_are_only_looked_at(run: Run, tmp_path: Path) -> None:
    file = new_file(tmp_path / "notes" / "a.env", f"X=1\nGH={TOKEN}\n")
    found = run("store", "scan", "--path", str(file.parent))
    assert (found.returncode, "a.env:2" in found.stdout, TOKEN[:5] in found.stdout) == (1, True, False)
    assert run("store", "scan", "--path", str(file.parent), "--redact").returncode == 64
    assert file.read_text() == f"X=1\nGH={TOKEN}\n"

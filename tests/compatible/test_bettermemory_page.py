"""What docs/compatibility.md says about bettermemory's tools, tried literally."""

import json
from pathlib import Path

import pytest

from tests.compatible.conftest import Place
from tests.compatible.scripts import scripts_in
from tests.conftest import new_folder

promise = pytest.mark.promise
globals().update(scripts_in(__file__))


@promise(
    "verification: never, stale after 30 days, fresh; without a commit since then an old check is as good as a new one"
)
def test_an_old_check(place: Place, tmp_path: Path) -> None:
    folder = new_folder(tmp_path / "memories")
    for number, (name, repo) in enumerate({"scheduler": "git@github.com:me/foo.git", "mailer": ""}.items()):
        head = f"schema_version: 1\nid: 01HXYZ123ABC000000000000{number:02}\ncreated: 2025-03-14T10:23:00+00:00\nupdated: 2025-03-14T10:23:00+00:00"
        origin = f"\norigin:\n  cwd: /somewhere\n  repo: {repo}\n  branch: main" if repo else ""
        text = f"---\n{head}\nlast_verified_at: 2025-04-01T10:00:00+00:00\nscopes: [tools]\nconfidence: high\nsource: inferred{origin}\n---\nThe {name} retries failed jobs.\n"
        (folder / f"{name}.md").write_text(text)
    place.run(f"store import --from bettermemory {folder}")
    env = {"GIT_AUTHOR_DATE": "2025-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2025-01-01T00:00:00Z"}
    old_commit(place, env)
    ask = place.tools("bettermemory")
    rows = {row["body"].split()[1]: row for row in ask("memory_list", with_bodies=True)}
    assert {row["verification"]["status"] for row in rows.values()} == {"stale"}
    assert (rows["scheduler"]["staleness_verdict"], rows["mailer"]["staleness_verdict"]) == (
        "fresh",
        "spot_check_required",
    )
    assert ask("memory_health")["verification_debt"]["stale_total"] == 2


def old_commit(place: Place, environment: dict[str, str]) -> None:
    import os
    import subprocess

    command = "git -c user.name=Ada -c user.email=ada@example.org commit -q --allow-empty -m first".split()
    subprocess.run(command, cwd=place.folder, env=os.environ | environment, check=True)


@promise("bettermemory doctor: 0 when all is well, 1 with a warning, 2 when it is broken")
def test_doctor_codes(place: Place) -> None:
    ask = place.tools("bettermemory")
    ask("memory_write", content="Ruff is the linter.", scopes=["tools"])
    ask.close()
    assert place.run("compat bettermemory --version").stdout
    done = place.run("compat bettermemory doctor --json", code=None)
    broken = [check["name"] for check in json.loads(done.stdout) if check["fix"]]
    assert done.returncode == (1 if broken else 0)
    (Path(place.environment["HOLDFAST_HOME"]) / "holdfast.db").write_bytes(b"no database" * 1_000)
    assert place.run("compat bettermemory doctor", code=None).returncode == 2

"""Whether a memory may have gone stale: the calendar, cited paths, commits."""

from holdfast.model.record import Record
from holdfast.surfaces.bettermemory.staleness import anchors_of, checked, cited_paths, verdict, verified_parts
from tests.rows import each

NOW = "2026-09-21T00:00:00.000Z"


@each(
    ("verified", "status"),
    [
        ("", "never"),
        ("2026-09-20T00:00:00.000Z", "fresh"),
        ("2026-08-22T00:00:00.000Z", "fresh"),
        ("2026-08-21T23:00:00.000Z", "stale"),
    ],
)
def test_a_check_is_stale_after_thirty_days(verified: str, status: str) -> None:
    found = checked(Record(id="x", verified_at=verified), NOW)
    assert found.status == status
    assert bool(found.recommendation) == (status != "fresh")


@each(
    ("status", "missing", "commits", "expected"),
    [
        ("never", 0, None, "spot_check_required"),
        ("never", 0, 0, "spot_check_required"),
        ("stale", 0, None, "spot_check_required"),  # nobody could ask: that says nothing
        ("stale", 0, 0, "fresh"),  # asked, and nothing changed
        ("stale", 0, 3, "spot_check_required"),
        ("stale", 1, 0, "spot_check_required"),
        ("fresh", 0, None, "fresh"),
        ("fresh", 0, 0, "fresh"),
        ("fresh", 1, 0, "spot_check_recommended"),
        ("fresh", 0, 2, "spot_check_recommended"),
    ],
)
def test_not_having_asked_is_not_the_same_as_nothing_found(
    status: str, missing: int, commits: int | None, expected: str
) -> None:
    assert verdict(status, missing=missing, commits=commits) == expected  # type: ignore[arg-type]


@each(
    ("text", "paths"),
    [
        ("It lives in /srv/shop/app.py.", ["/srv/shop/app.py"]),
        ("See `~/notes/todo.md` and /var/log/shop/web.log", ["~/notes/todo.md", "/var/log/shop/web.log"]),
        ("Windows keeps it in `C:\\Users\\shop\\app.ini`", ["C:\\Users\\shop\\app.ini"]),
        ("A relative src/app.py is none, nor is https://example.org/a/b", []),
        ("scp deploy@host:/srv/shop/app.py", []),
        ("for instance /path/to/file or /etc/foo or /tmp/<name>/x", []),
        ("run `ls /srv/shop`", []),
        (" ".join(f"/srv/app/{n}" for n in range(20)), [f"/srv/app/{n}" for n in range(8)]),
    ],
)
def test_only_real_absolute_paths_are_cited(text: str, paths: list[str]) -> None:
    assert cited_paths(text) == paths


def test_what_a_check_looked_at_is_kept_apart() -> None:
    parts = {"verified_paths": ["a.py"], "verified_commits": ["abc"], "verified_versions": ["uv 1"]}
    assert verified_parts(anchors_of(parts)) == parts

"""Sessions, threads, briefs and judgements from the command line."""

import json
import re
from pathlib import Path

from holdfast.model.ids import short
from tests.hosts.running import Run, answer, kept
from tests.hosts.test_check import run as run_here

EVIDENCE = "Ran the migration on a copy of production and compared the row counts."
SCAR = ("--kind", "scar", "--field", "severity=high", "--field", 'counter_arguments=["only a column", "a backup"]')


def started(run: Run, *arguments: str) -> str:
    return str(answer(run("session", "start", "--json", *arguments, HOLDFAST_STARTERS="false"))["session"]["id"])


def test_a_session_from_start_to_close(run: Run) -> None:
    shown = run("session", "start", "--title", "Rate limits", "--issue", "SHOP-12", HOLDFAST_STARTERS="false")
    assert "Working on: SHOP-12 Rate limits" in shown.stdout
    assert "export HOLDFAST_SESSION=" in shown.stdout
    session = started(run)
    assert session in shown.stdout
    assert "resumed" in run("session", "refresh").stdout
    kept(run, "The limiter counts per key.", "--session", session)
    refused = run("session", "close")
    assert (refused.returncode, "answer what_broke" in refused.stdout) == (4, True)
    payload = {"closing_reflection": dict.fromkeys(("q1", "q2", "q3", "q4", "q5"), "nothing"), "human_corrections": ""}
    closed = run("session", "close", "--payload", "-", "--answer", "rapport=quick", stdin=json.dumps(payload))
    assert closed.returncode == 0, closed.stdout
    assert "closed (standard): SHOP-12" in closed.stdout or "closed (standard): Rate limits" in closed.stdout
    listed = answer(run("session", "list", "--json"))
    assert [(one["id"], one["close"]["type"]) for one in listed] == [(session, "standard")]
    assert "The limiter counts per key." in run("session", "show", session).stdout
    assert "Nothing recurred" in run("session", "patterns").stdout
    assert run("session", "close", "--quick").returncode == 3


def test_people_get_local_and_relative_times_and_commands_to_type(tmp_path: Path) -> None:
    place = tmp_path / "home" / "shop"
    place.mkdir(parents=True)

    def run(*arguments: str) -> str:
        done = run_here(place, *arguments, HOLDFAST_AGENT="claude")
        assert done.returncode == 0, (arguments, done.stderr)
        return done.stdout

    first, memory = (
        str(json.loads(run(*command, "--json"))[key]["id"])
        for command, key in (
            (("session", "start", "--title", "Rate limits"), "session"),
            (("remember", "The limiter counts per key."), "record"),
        )
    )
    run("thread", "open", "Load-test the limiter")
    run("hot", "pin", memory)
    run("trust", memory, "--raise", "--reason", "used_correctly")
    run("forget", memory, "--reason", "no longer")
    for command in (
        ("session", "show", first),
        ("session", "refresh", "--session", first),
        ("thread", "triage"),
        ("thread", "open", "Load-test the limiter"),
        ("hot",),
        ("trust", memory),
        ("stats", "audit"),
        ("stats", "analyze"),
    ):
        assert not re.search(r"\d{4}-\d\d-\d\d|[a-z]+\([a-z]|=true", printed := run(*command)), printed
    assert f"{short(first)} just now [open, claude] Rate limits" in run("session", "list")
    assert "[emerging, touched just now] Load-test the limiter" in run("thread", "list")


def test_transcripts(run: Run) -> None:
    session = started(run)
    assert run("session", "transcript", "save", "-", stdin="user: why is the import slow?").returncode == 0
    assert "import slow" in run("session", "transcript", "search", "slow", "imports").stdout
    assert "import slow" in run("session", "transcript", "show", session).stdout
    assert answer(run("session", "transcript", "drop", session, "--json")) == {"dropped": True}
    assert run("session", "transcript", "show", session).returncode == 3
    assert run("session", "transcript", "save", "missing.jsonl").returncode == 64


def test_scars_are_answered(run: Run) -> None:
    session = started(run)
    scar = kept(run, "Migrations of orders need a way back.", *SCAR)
    run("recall", "migrations of orders", HOLDFAST_SESSION=session)
    refused = run("judge", "applying", scar, "--evidence", "did it", HOLDFAST_SESSION=session)
    assert (refused.returncode, "50 are needed" in refused.stdout) == (4, True)
    told = run("judge", "APPLYING", scar, "--evidence", EVIDENCE, "--session", session)
    assert told.stdout.startswith(f"APPLYING: {short(scar)}")
    assert run("judge", "succeeded", scar, HOLDFAST_SESSION=session).returncode == 0
    assert "applied 1, succeeded 1" in run("stats", "analyze", "scars").stdout
    summary = answer(run("stats", "analyze", "--json"))
    assert summary["activity"]["sessions"] == 1
    assert sum(one["shown"] for one in summary["wordings"]) == 1
    assert "No blind spots." in run("stats", "analyze", "blind-spots").stdout
    assert "No session closed" in run("stats", "analyze", "reflections").stdout
    assert "Wording" in run("stats", "analyze", "wordings").stdout


def test_threads(run: Run) -> None:
    thread = answer(run("thread", "open", "Write the runbook", "--issue", "SHOP-1", "--json"))["thread"]["record"]["id"]
    assert "Already open" in run("thread", "open", "write the runbook").stdout
    assert short(thread) in run("thread", "list").stdout
    assert answer(run("thread", "triage", "--json"))["emerging"][0]["touches"] == 2
    assert run("thread", "touch", "runbook").returncode == 0
    assert "in the wiki" in run("thread", "resolve", "#1", "--note", "in the wiki").stdout
    assert "in the wiki" in run("thread", "list", "--resolved").stdout
    assert run("thread", "reopen", thread).returncode == 0
    assert "Nothing needs a decision" in run("review", "list", "--sort", "suggestion").stdout
    assert run("review", "approve", thread).returncode == 4
    assert run("review", "reject", thread).returncode == 4
    assert run("thread", "open", "rotate AKIA" + "IOSFODNN7EXAMPLQ").returncode == 4


def test_briefs_observations_and_the_log(run: Run) -> None:
    kept(run, "Migrations of orders need a way back.", *SCAR)
    assert "[high scar] Migrations of orders" in run("brief", "migrations of orders").stdout
    assert answer(run("brief", "migrations of orders", "--form", "gate", "--json"))["text"].startswith("PASS")
    assert "1 may be lessons" in run("ingest", "absorb", "It failed silently", "--source", "reviewer").stdout
    given = json.dumps({"observations": [{"text": "We assumed UTC"}]})
    assert "Saved 1 observation" in run("ingest", "absorb", "--file", "-", stdin=given).stdout
    assert "We assumed UTC" in run("ingest", "absorb", "--candidates").stdout
    assert run("ingest", "absorb", "--file", "-", stdin="{}").returncode == 64
    assert "Migrations of orders" in run("stats", "learnings", "--severity", "high", "--days", "3").stdout
    assert answer(run("stats", "learnings", "--kind", "win", "--json")) == []


def test_knowledge_is_kept_from_the_command_line(run: Run) -> None:
    one = kept(run, "The queue is RabbitMQ.", "--scope", "infra")
    two = kept(
        run, "We use JWT for the API.", "--kind", "decision", "--field", "issue=SHOP-12", "--field", 'people=["Mira"]'
    )
    assert "trust 0.75" in run("trust", one, "--reason", "partially_incorrect", "--note", "since May").stdout
    assert "since May" in run("trust", one).stdout
    assert run("trust", one, "--raise", "--reason", "outdated").returncode == 64
    assert "pinned: The queue is RabbitMQ. (1 memory in the hot set)" in " ".join(run("hot", "pin", one).stdout.split())
    assert "Hot set (1)" in run("hot").stdout
    assert run("hot", "unpin", one).returncode == 0
    assert "empty" in run("hot", "demote", one).stdout
    assert "No session used another memory" in run("next", one).stdout
    assert "Health 100/100" in run("stats", "health").stdout
    assert "0 recalls" in run("stats", "quality").stdout
    assert "would be retired" in run("store", "maintain", "--dry-run").stdout
    assert "MB before" in run("store", "maintain").stdout
    run("forget", one, "--reason", "gone")
    assert "gone" in run("stats", "audit").stdout
    assert "Hot set:" in run("stats", "metrics").stdout
    assert "Issue: SHOP-12" in run("stats", "graph", "SHOP-12").stdout
    assert "connection" in run("stats", "graph").stdout
    assert run("stats", "graph", two, "--lens", "provenance").returncode == 0

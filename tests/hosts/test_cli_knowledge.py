"""Contradictions, near-duplicates and mining from the command line."""

from holdfast.model.ids import short
from tests.hosts.running import Run, answer, kept

OLD, NEW = "The rate limit is 100 requests per minute.", "The rate limit is 500 requests per minute."
PLAIN = "We decided to use Postgres instead of MySQL because of the JSON columns."


def test_a_contradiction_is_found_and_resolving_ends_it(run: Run) -> None:
    old = kept(run, OLD)
    new = kept(run, NEW)
    (one,) = answer(run("review", "contradictions", "--json"))["found"]
    assert (one["older"]["id"], one["newer"]["id"], one["marked_by"]) == (old, new, "comparison")
    shown = run("review", "contradictions").stdout
    assert "1 contradiction may be open." in shown
    assert f"The older says “{OLD}”, the newer “{NEW}”." in " ".join(shown.split())
    assert short(old) in run("review", "contradictions", new).stdout
    assert "marked" in run("review", "mark", old, new, "--note", "cannot be").stdout
    done = answer(run("review", "resolve", old, new, "--note", "raised in May", "--json"))
    assert (done["kept"]["id"], done["other"]["id"]) == (new, old)
    assert run("review", "contradictions").stdout == "No contradiction is open.\n"
    assert "Nothing near" in run("review", "contradictions", new).stdout
    assert "raised in May" in run("history", new).stdout


def test_the_other_ways_to_resolve(run: Run) -> None:
    old, new = kept(run, OLD), kept(run, NEW)
    assert run("review", "resolve", old, new, "--how", "fight").returncode == 64
    assert "is kept along with" in run("review", "resolve", old, new, "--how", "both").stdout
    assert "weakens" in run("review", "resolve", old, new, "--how", "weaken", "--keep", old).stdout
    assert "removes" in run("review", "resolve", old, new, "--how", "remove").stdout
    assert run("review", "resolve", old, new).returncode == 4


def test_near_duplicates_are_shown_merged_and_split(run: Run) -> None:
    first = kept(run, "Access tokens expire after 15 minutes and are signed with RS256 by the gateway. Ask Noor.")
    second = kept(run, "Access tokens are signed with RS256 by the gateway and expire after 15 minutes. See Redis.")
    shown = run("review", "duplicates").stdout
    assert "1 group of near-duplicates; nothing was changed." in shown
    assert "added from" in shown
    assert "→" in run("review", "merge", first, second, "--dry-run").stdout
    merged = answer(run("review", "merge", first, second, "--json"))["record"]["id"]
    assert run("review", "merge", first, second).returncode == 4
    assert run("review", "split", merged).stdout.count("Restored") == 2
    again = run("review", "merge", first, second, "--text", "Tokens: RS256, 15 minutes.")
    assert "Tokens: RS256, 15 minutes." in again.stdout
    assert "No near-duplicates." in run("review", "duplicates").stdout


def test_output_is_logged_mined_and_decided_on(run: Run) -> None:
    other = "We chose FastAPI over Flask because of the type checks."
    assert "Nothing to store" in run("ingest", "mine", "log", " ").stdout
    logged = run("ingest", "mine", "log", "-", "--session", "s1", stdin=f"{PLAIN}\n\n{other}\n")
    assert logged.stdout == f"Stored {len(PLAIN) + 2 + len(other)} characters.\n"
    assert "1 not mined yet, last mined never" in run("ingest", "mine", "status").stdout
    assert run("ingest", "mine", "run").stdout.count("offered: ") == 2
    assert run("ingest", "mine", "run").stdout == "No output was logged since the last run.\n"
    listed = {
        one["record"]["body"]: one["record"]["id"] for one in answer(run("review", "list", "--sort", "mined", "--json"))
    }
    assert "found once in logged output" in run("review", "list", "--sort", "mined").stdout
    assert "Approved: " in run("review", "approve", listed[PLAIN]).stdout
    assert "Rejected for good: " in run("review", "reject", "--all", "--sort", "mined", "--reason", "known").stdout
    assert run("review", "list", "--sort", "mined").stdout == "Nothing needs a decision.\n"
    assert run("review", "reject", listed[other]).returncode == 4
    assert run("review", "reject").returncode == 64
    run("ingest", "mine", "log", other, "--session", "s2")
    assert "Read 1 output: 1 pattern found, 0 counted." in run("ingest", "mine", "run").stdout
    assert "Dropped 2 outputs." in run("ingest", "mine", "drop").stdout

"""What a person sees on the pages and does with them, by requests."""

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.compose.settings import user_file
from holdfast.engine.raw import trail
from holdfast.hosts.hooks.answers import respond
from holdfast.hosts.hooks.hook import activity_of
from holdfast.hosts.simulator import simulate
from holdfast.hosts.web.pages.code import parts_of
from holdfast.hosts.web.pages.insights import nice
from holdfast.hosts.web.pages.record import badge, cited_by
from holdfast.model.ids import short
from holdfast.model.query import Query
from holdfast.model.session import HookEvent
from holdfast.verbs.capture.prepare import prepare
from holdfast.verbs.memory import find
from holdfast.verbs.records.freshness import Citation, freshness
from holdfast.verbs.records.lifecycle import link, record_use
from holdfast.verbs.records.read import get
from holdfast.verbs.search.recall import recall
from holdfast.verbs.sessions.session import begin
from holdfast.verbs.sessions.thread import open_thread, open_threads
from holdfast.verbs.truth.contradictions import mark
from tests.compatible.conftest import git
from tests.conftest import Time, keep
from tests.rows import missing, some
from tests.web.conftest import ORIGIN, Site
from tests.web.scripts import drifted, scripts_in

scripts_in(globals())

SCAR = {"severity": "high", "counter_arguments": ["It is rare.", "It is slow."]}


def test_the_simulator_returns_what_a_hook_injects_and_why(site: Site, tmp_path: Path, time: Time) -> None:
    day, file, command = site.memory.clock.now()[:10], tmp_path / "prepared" / "answers.json", "git push --force origin"
    time.pass_days(2)
    lost, at = "Force-pushing lost two commits.", ("git push --force",)
    scar = keep(site.memory, lost, kind="scar", fields=SCAR, triggers=at)
    before = site.memory.store.last_seq()
    prepare(site.memory, file)
    event = activity_of("PreToolUse", "claude", {"session_id": "x", "cwd": str(tmp_path), "tool_name": "Bash"})
    prepared = json.loads(file.read_text()) | {"late": False}
    hooked = respond(str(tmp_path), prepared, event, {"tool_input": {"command": command}})
    simulated = {step.occasion: step for step in simulate(site.memory, command, branch="main")}
    assert (simulated["command"].text, simulated["file"].nothing) == (hooked["text"], "No trigger matches.")
    assert [(one["record"].id, one["match"]) for one in simulated["command"].memories] == [(scar.id, at[0])]
    assert short(scar.id) in simulated["start"].text
    assert "matched <code>git push --force</code>" in site.get("/simulate?q=git+push+--force&as=command")
    assert "Force-pushing" not in site.get(f"/simulate?q=git+push+--force&as_of={day}")
    assert site.memory.store.last_seq() == before


def test_a_new_memory_has_the_fields_of_its_kind_and_shows_where_it_would_warn(site: Site) -> None:
    keep(site.memory, "Releases are tagged by hand.")
    given = {"command": "git push --force origin main"}
    pushed = HookEvent(
        id="1", at="2026-09-21T09:00:00.000Z", session="x", event="PostToolUse", tool="Bash", given=given
    )
    trail.add(site.memory.store, [replace(pushed, cwd="/x/shop")])
    form = {"body": "Force-pushing lost work.", "kind": "scar", "triggers": "git push --force", "confidence": "high"}
    form |= {"field.counter_arguments": "It is rare.\nIt is slow.", "field.blocking": "true"}
    shown = site.post("/remember", 200, preview="1", **form)
    assert ("It warns at `git push --force`" in shown, "would have warned 1 time" in shown) == (True, True)
    assert "counter-arguments" in site.post("/remember", 400, preview="1", body="x", kind="scar").replace("_", "-")
    record = get(site.memory, site.post("/remember", **form).removeprefix("/r/")).record
    assert (record.fields["blocking"], record.triggers, record.confidence) == (True, ("git push --force",), "high")


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_changed_setting_leaves_the_rest_of_the_file_as_it_is(site: Site, newline: str) -> None:
    text = (
        '# mine\ninject="off"   # for now\nallowed_scopes = [\n  "a", # one\n]\n\n# folders\n[projects]\n"/x" = \'y\'\n'
    )
    user_file().parent.mkdir(parents=True, exist_ok=True)
    user_file().write_bytes(text.replace("\n", newline).encode())
    site.post("/settings", inject="hot", recall_limit="12")
    after = 'recall_limit = 12\n# mine\ninject="hot"   # for now\nallowed_scopes = [\n  "a", # one\n]\n\n# folders\n[projects]\n"/x" = \'y\'\n'
    assert user_file().read_bytes() == after.replace("\n", newline).encode()


def test_a_memory_shows_the_code_it_cites_then_beside_now(tmp_path: Path, time: Time) -> None:
    with drifted(tmp_path, time) as (site, _):
        memory, file = site.memory, site.memory.checkout.top() / "app.py"
        file.write_text("x" * 900 + "\n" + "RETRIES = 5\n" * 3_100)  # no line of it is cut silently
        page = site.get("/file?path=app.py")
        assert missing(page, "The first 3,000 of 3,102 lines are shown.", "x" * 399 + "…") == []
        file.write_text("RETRIES = 5\n\n\ndef pay():\n    return RETRIES\n")
        git(tmp_path, "commit", "-qam", "Retry more often")
        page = site.get("/timeline?since=2020-01-01&until=2099-12-31").partition("As text to paste")[2]
        assert "Went stale (1)\n- RETRIES is 3." in page
        assert "Went stale" not in site.get("/timeline?since=2020-01-01&until=2020-12-31").partition("to paste")[2]
        record = keep(memory, "Payments are the number of retries.", anchors=("app.py::pay",))
        state = badge(freshness(memory, [record])[record.id])
        assert state == {"state": "fresh", "why": "The cited code is unchanged."}
        assert [line for _, line in cited_by(memory, record)[0].lines] == [
            '<span class="h-k">def</span> <span class="h-nf">pay</span>():',
            '    <span class="h-k">return</span> RETRIES',
        ]
        whole = keep(memory, "Totals are kept in this file.", anchors=("app.py",))
        file.write_text(file.read_text() + "\n" * 300 + "LAST = 1\n")
        assert "LAST" in str(cited_by(memory, whole)[0].difference).partition("<ins>")[2]  # however far down it is
        file.write_text("def pay():\n    return LIMIT\n")
        changed = cited_by(memory, record)[0]
        assert (changed.state, "<del>RETRIES</del><ins>LIMIT</ins>" in str(changed.difference)) == ("changed", True)
        file.unlink()
        gone = cited_by(memory, record)[0]
        assert (gone.state, gone.problem) == ("missing", "The file no longer exists.")
        assert some(gone.difference).striptags().startswith("def pay():")


def test_the_inbox_has_the_reason_the_code_and_what_can_be_done(tmp_path: Path, time: Time) -> None:
    with drifted(tmp_path, time) as (site, record):
        page = site.get("/review")
        assert missing(page, "Stale <span>1</span>", "it is 5 now", "Update to 5") == []
        headers = {"origin": ORIGIN, "hx-request": "true", "hx-target": f"item-{record.id}"}
        answer = site.browser.post(f"/review/{record.id}/both", data={"csrf": site.keys.form}, headers=headers)
        assert (answer.status_code, "both cannot be decided here" in answer.text) == (400, True)
        assert answer.headers["hx-retarget"] == f"#item-{record.id} .problem"
        form = some(re.search(r'action="(/review/[^"]+/update[^"]*)".*?</form>', page, re.DOTALL))
        fields = dict(re.findall(r'name="(\w+)" value="([^"]*)"', form[0]))
        site.post(form[1], **{name: value for name, value in fields.items() if name != "csrf"})
        assert "Stale <span>0</span>" in site.get("/review")


def test_an_action_of_each_page_is_undone_by_its_button(site: Site, time: Time) -> None:
    older, newer = keep(site.memory, "The service listens on port 8080."), keep(site.memory, "It listens on port 9090.")
    mark(site.memory, older.id, newer.id)
    thread = keep(site.memory, "Write the guide.", kind="thread")

    def looks() -> object:
        usage = [get(site.memory, one.id).usage for one in (older, newer)]
        states = [find(site.memory, one.id).record for one in (older, newer)]
        kept = [(one.state, one.links, one.visibility, one.confidence) for one in states]
        return usage, kept, open_threads(site.memory)

    time.pass_days(1)
    before = looks()
    for path, fields in (
        (f"/review/{newer.id}/weaken", {"sort": "contradiction", "with": older.id}),
        ("/review/many", {"what": "reject", "id": newer.id}),
        (f"/r/{newer.id}/use", {"outcome": "applied"}),
        (f"/r/{newer.id}/link", {"relation": "refines", "target": older.id}),
        (f"/threads/{thread.id}/touch", {}),
        ("/threads/open", {"text": "Write the guide."}),
        ("/threads/open", {"text": "Ask the team about the cold storage."}),
    ):
        site.post(path, **fields)
        assert looks() != before, path
        site.undo()
        assert looks() == before, path
    site.memory.store.rebuild()
    assert looks() == before  # also as the journal has it


def test_old_addresses_lead_to_new_pages_and_without_the_link_to_one_that_helps(site: Site) -> None:
    for old, new in (("/search?q=ledger&kind=scar", "/memories?q=ledger&kind=scar"), ("/health", "/review")):
        answer = site.browser.get(old, follow_redirects=False)
        assert (answer.status_code, answer.headers["location"]) == (301, new)
    answer = site.stranger.get("/", headers={"accept": "text/html"})
    assert (answer.status_code, "holdfast web" in answer.text, "viewer.css" in answer.text) == (401, True, True)


def test_the_axis_of_a_plot_ends_close_above_it_and_its_half_is_whole() -> None:
    for most in (1, 2, 3, 9, 11, 24, 25, 99, 130, 1_001, 178_285):
        end = nice(most)
        assert (most <= end <= 2 * most, end / 2 == int(end / 2)) == (True, True), most


def test_a_long_file_is_folded_where_nobody_cites_it(site: Site) -> None:
    lines = [f"line {number}" for number in range(1, 201)]
    record = keep(site.memory, "Pay charges once.")
    cited = [Citation(record=record, anchor="app.py::pay", state="changed", first=100, last=102)]
    above, near, below = parts_of(lines, cited)
    assert [part[0].near for part in (above, near, below)] == [False, True, False]
    assert (near[0].number, near[-1].number) == (92, 110)
    assert [line.state for line in near if line.state] == ["changed"] * 3
    assert next(line for line in near if line.citations).number == 100
    assert [line.number for part in (above, near, below) for line in part] == list(range(1, 201))
    assert [part[0].near for part in parts_of(lines, [])] == [True]  # nothing to look for: shown whole


def test_every_view_is_a_file_too(tmp_path: Path, time: Time) -> None:
    with drifted(tmp_path, time) as (site, record):
        site.memory = begin(site.memory, title="=cmd|' /C calc'!A0")
        scar = keep(site.memory, "Never test refunds on the live ledger.", kind="scar", fields=SCAR)
        link(site.memory, scar.id, "refines", record.id)
        recall(site.memory, Query(text="test refunds on the live ledger"))
        record_use(site.memory, [scar.id], "applied")
        open_thread(site.memory, "Write the guide.")
        for path in ("sessions", "threads", "scars", "insights", "graph", "map", "timeline", "activity", "review"):
            assert "format=csv" in site.get(f"/{path}").replace("&amp;", "&"), path
            rows = list(csv.DictReader(io.StringIO(site.get(f"/{path}?format=csv"))))
            assert rows, path
            as_json = json.loads(site.get(f"/{path}?format=json"))["rows"]
            assert [set(one) for one in as_json] == [set(one) for one in rows], path
            assert not [cell for row in rows for cell in row.values() if cell.startswith("=")]  # no formula
            assert "There is no format" in site.get(f"/{path}?format=xlsx", 400)

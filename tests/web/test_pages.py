"""What a person sees on the pages and does with them, by requests."""

import csv
import io
import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.adapters.checkout import GitCheckout
from holdfast.engine.raw import trail
from holdfast.hosts.hooks.activity import activity_of
from holdfast.hosts.hooks.answers import respond
from holdfast.hosts.simulator import simulate
from holdfast.hosts.web import render
from holdfast.hosts.web.freshness import Badge, badge, cited_by
from holdfast.hosts.web.pages.code import parts_of
from holdfast.hosts.web.pages.insights import nice
from holdfast.model.event import Actor
from holdfast.model.ids import short
from holdfast.model.query import Query
from holdfast.model.record import Draft, Record
from holdfast.model.trail import HookEvent
from holdfast.verbs.capture.mining import log_output, mine_outputs, mined
from holdfast.verbs.capture.prepare import prepare
from holdfast.verbs.exchange.jsonl import export, import_lines
from holdfast.verbs.memory import find
from holdfast.verbs.records.freshness import Citation, freshness
from holdfast.verbs.records.hot import hot_set, trust_of
from holdfast.verbs.records.lifecycle import Revision, link, record_use, retire, revise
from holdfast.verbs.records.quarantine import standing
from holdfast.verbs.records.read import get, history
from holdfast.verbs.records.write import WrittenPending, write
from holdfast.verbs.search.recall import recall
from holdfast.verbs.sessions.session import begin
from holdfast.verbs.sessions.thread import Opened, open_thread, open_threads
from holdfast.verbs.truth.contradictions import mark
from tests.conftest import Time, keep, make_memory, new_file
from tests.rows import missing, of_type
from tests.web.conftest import ORIGIN, Site, viewer_of

SCAR = {"severity": "high", "counter_arguments": ["It is rare.", "It is slow."]}


def test_empty_pages_teach_what_to_do(site: Site) -> None:
    for path, taught in {
        "/": "holdfast init",
        "/activity": "holdfast init",
        "/map": "holdfast remember",
        "/timeline": "holdfast remember",
        "/memories": "holdfast remember",
        "/sessions": "holdfast init",
        "/scars": "--kind scar",
        "/graph": "holdfast link",
        "/review": "holdfast remember",
        "/projects": "holdfast remember",
    }.items():
        assert taught in site.get(path), path


def test_looking_leaves_no_trace(site: Site) -> None:
    record = keep(site.memory, "Refunds go through the ledger.")
    before = site.memory.store.last_seq()
    for (
        path
    ) in f"""/ /activity /memories /memories?q=refunds /memories/export?format=csv /map /timeline /brief /find?q=refunds
        /review/count /r/{record.id} /r/{record.id}/history /review /insights /settings
        /api/recall?q=refunds /api/search?query=refunds""".split():
        site.get(path)
    assert site.memory.store.last_seq() == before
    assert get(site.memory, record.id).usage.surfaced == 0


def test_search_says_why_each_hit_is_there_and_counts_what_is_no_answer(site: Site) -> None:
    keep(site.memory, "Refunds go through the ledger service.", scopes=("backend:refunds",))
    keep(site.memory, "The frontend is built with Vite.")
    said = site.get("/memories/hits?q=refunds+ledger")
    assert missing(said, "Refunds go through the ledger service.", "words ", "unverified") == []
    assert "Vite" not in said
    assert "No memory matches." in site.get("/memories/hits?q=quantum+chromodynamics")


def test_search_and_list_go_back_to_the_end_of_a_day(site: Site, time: Time) -> None:
    site.browser.cookies.set("holdfast-zone", "UTC")
    record = keep(site.memory, "Releases happen on Fridays.")
    day = record.created_at[:10]
    time.pass_days(3)
    retire(site.memory, record.id, "never again")
    assert "No memory matches" in site.get("/memories/hits?q=releases+fridays")
    for path in (f"/memories?q=releases+fridays&as_of={day}", f"/memories?as_of={day}"):
        assert "Releases happen on Fridays." in site.get(path), path
    assert "As of 21 Sep 2026, 23:59" in site.get(f"/memories?q=releases+fridays&as_of={day}")


def test_a_list_goes_on_where_it_ended_and_repeats_nothing(site: Site) -> None:
    kept = [
        keep(site.memory, f"Shelf {number} holds the {word} ledger of year {1900 + number}.").id
        for number, word in enumerate(f"w{n}x" for n in range(95))
    ]
    shown, path = list[str](), "/memories"
    while path:
        text = site.get(path)
        shown += [part.split('"')[0] for part in text.split('class="title" href="/r/')[1:]]
        path = (
            text.split('hx-get="/memories/hits?')[1].split('"')[0].replace("&amp;", "&")
            if 'class="more"' in text
            else ""
        )
        path = f"/memories/hits?{path}" if path else ""
    assert shown == kept[::-1]


def test_a_scar_shows_where_it_warns_and_its_triggers_are_edited(site: Site) -> None:
    record = keep(site.memory, "`git push --force` lost two commits.", kind="scar", fields=SCAR)
    page = site.get(f"/r/{record.id}")
    assert "<code>git push --force</code>" in page.partition("warns at")[2]
    assert "inferred from its text" in page
    site.post(f"/r/{record.id}/edit", body=record.body, triggers="git push\npath:deploy/*.yml")
    assert get(site.memory, record.id).record.triggers == ("git push", "path:deploy/*.yml")
    page = site.get(f"/r/{record.id}").partition("warns at")[2]
    assert ("<code>deploy/*.yml</code>" in page, "inferred from its text" in page) == (True, False)


def test_the_graph_names_the_neighbours_of_a_memory_and_of_a_file(site: Site) -> None:
    old = keep(site.memory, "Totals are rounded per line.", anchors=("totals.py::total",))
    new = keep(site.memory, "Totals are rounded once.", anchors=("totals.py", "tax.py"))
    link(site.memory, new.id, "supersedes", old.id)
    for node, expected in {
        "": ("Most linked", "Totals are rounded once.", "totals.py"),
        old.id: ("superseded by", "Totals are rounded once.", "as do"),
        "rounded+once": ("supersedes", "Totals are rounded per line."),
        "totals.py": ("cited by fact", "Totals are rounded per line.", "cited together with", "tax.py"),
    }.items():
        page = site.get(f"/graph?node={node}")
        assert all(one in page for one in expected), node


def test_the_simulator_returns_what_a_hook_injects_and_why(site: Site, tmp_path: Path, time: Time) -> None:
    day = site.memory.clock.now()[:10]
    time.pass_days(2)
    scar = keep(
        site.memory, "Force-pushing lost two commits.", kind="scar", fields=SCAR, triggers=("git push --force",)
    )
    before, command = site.memory.store.last_seq(), "git push --force origin"
    prepare(site.memory, tmp_path / "prepared" / "answers.json")
    event = activity_of("PreToolUse", "claude", {"session_id": "x", "cwd": str(tmp_path), "tool_name": "Bash"})
    prepared = json.loads((tmp_path / "prepared" / "answers.json").read_text()) | {"late": False}
    hooked = respond(str(tmp_path), prepared, event, {"tool_input": {"command": command}})
    simulated = {step.occasion: step for step in simulate(site.memory, command, branch="main")}
    assert (simulated["command"].text, simulated["file"].nothing) == (hooked["text"], "No trigger matches.")
    assert [(one.record.id, one.match) for one in simulated["command"].memories] == [(scar.id, "git push --force")]
    assert scar.id in simulated["start"].text or short(scar.id) in simulated["start"].text
    page = site.get("/simulate?q=git+push+--force&as=command")
    assert "matched <code>git push --force</code>" in page
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


def test_a_memory_is_edited_and_its_history_shows_what_changed(site: Site) -> None:
    record = keep(site.memory, "Staging is reset every night at two.", kind="scar", fields=SCAR)
    where = site.post(
        f"/r/{record.id}/edit",
        body="Staging is reset every night at four.",
        title="Reset of staging",
        tags="staging nightly",
        **{"field.severity": "critical", "field.counter_arguments": "It is rare.\nIt is slow.\nNobody minds."},
    )
    assert where == f"/r/{record.id}"
    assert "Saved. The previous text is in the history." in site.get(where)
    assert "Saved. The previous" not in site.get(where)  # a message is shown once
    now = get(site.memory, record.id).record
    assert (now.body, now.title, now.tags) == (
        "Staging is reset every night at four.",
        "Reset of staging",
        ("staging", "nightly"),
    )
    assert now.fields["severity"] == "critical"
    assert len(now.fields["counter_arguments"]) == 3
    said = site.get(f"/r/{record.id}/history")
    assert "<del>two.</del><ins>four.</ins>" in said
    assert history(site.memory, record.id)[-1].by.kind == "user"


def test_what_speaks_against_a_new_wording_is_said_and_can_be_waived(site: Site) -> None:
    keep(site.memory, "Deploys go out on Tuesday mornings after the stand-up.")
    record = keep(site.memory, "The cache holds prices for an hour.")
    refused = site.post(f"/r/{record.id}/edit", 409, body="Deploys go out on Tuesday mornings after the stand-up!")
    assert "already says this" in refused
    assert get(site.memory, record.id).record.body == "The cache holds prices for an hour."
    site.post(f"/r/{record.id}/edit", body="Deploys go out on Tuesday mornings after the stand-up!", anyway="1")
    assert get(site.memory, record.id).record.body.startswith("Deploys")


def test_a_credential_is_not_saved_even_anyway(site: Site) -> None:
    record = keep(site.memory, "The deploy key lives in the vault.")
    secret = "Deploy with the token ghp_" + "a1B2" * 9 + " from now on."
    said = site.post(f"/r/{record.id}/edit", 409, body=secret, anyway="1")
    assert "credential" in said
    assert get(site.memory, record.id).record.body == "The deploy key lives in the vault."


def test_everything_a_person_can_do_to_a_memory(site: Site) -> None:
    record, other = keep(site.memory, "Refunds go through the ledger."), keep(site.memory, "The ledger is append-only.")

    site.post(f"/r/{record.id}/verify", note="read the code")
    assert get(site.memory, record.id).record.verified_at
    site.post(f"/r/{record.id}/pin")
    assert [one.pinned for one in hot_set(site.memory)] == [True]
    site.post(f"/r/{record.id}/unpin")
    assert [one.pinned for one in hot_set(site.memory)] == [False]
    site.post(f"/r/{record.id}/share", visibility="team")
    assert get(site.memory, record.id).record.visibility == "team"
    site.post(f"/r/{record.id}/use", outcome="applied", note="it helped")
    assert get(site.memory, record.id).usage.applied == 1
    site.post(f"/r/{record.id}/trust", reason="factually_wrong")
    assert trust_of(site.memory, record.id).value < trust_of(site.memory, record.id).base
    site.post(f"/r/{record.id}/link", relation="depends_on", target=other.id)
    assert get(site.memory, record.id).links[0].target == other.id
    site.post(f"/r/{record.id}/unlink", relation="depends_on", target=other.id)
    assert get(site.memory, record.id).links == ()
    site.post(f"/r/{record.id}/retire", reason="it moved")
    assert get(site.memory, record.id).record.state == "retired"
    assert "it moved" in site.get(f"/r/{record.id}")
    site.post(f"/r/{record.id}/restore")
    assert get(site.memory, record.id).record.state == "active"
    site.post(f"/r/{record.id}/erase", 400)
    assert get(site.memory, record.id).record.state == "active"
    prepared = new_file(
        Path(str(site.memory.store.folder)) / "prepared" / "elsewhere.json",
        json.dumps({"brief": {"text": record.id[:10], "ids": [record.id]}}),
    )
    site.post(f"/r/{record.id}/erase", sure="erase")
    assert not prepared.exists()
    site.get(f"/r/{record.id}", 404)


def test_an_action_nobody_knows_and_a_state_that_does_not_allow_one_are_said(site: Site) -> None:
    record = keep(site.memory, "Refunds go through the ledger.")
    site.post(f"/r/{record.id}/explode", 400)
    site.post(f"/r/{record.id}/restore", 409)
    site.post(f"/r/{record.id}/share", 400, visibility="everybody")
    site.post("/r/01ARZ3NDEKTSV4RRFFQ69G5FAV/verify", 404)
    assert "There is no memory" in site.get("/r/01ARZ3NDEKTSV4RRFFQ69G5FAV", 404)
    assert "is not an id" in site.get("/r/zzz", 404)


def test_a_session_is_told_from_its_first_question_to_its_end(site: Site) -> None:
    site.memory = begin(site.memory, title="Refund totals", issue="SHOP-9")
    session = site.memory.actor.session
    record = keep(site.memory, "Totals are rounded once, at the end.", kind="scar", fields=SCAR)
    recall(site.memory, Query(text="totals rounded"))
    site.memory.commit(
        [site.memory.event("injected", session, data={"ids": [record.id], "why": "brief", "tokens": 120})]
    )
    assert "Refund totals" in site.get("/sessions")
    said = site.get(f"/sessions/{session}")
    assert missing(said, "Totals are rounded once", "totals rounded", "120", "Scars without an answer") == []


def test_the_board_shows_threads_by_stage_and_moves_them(site: Site, time: Time) -> None:
    opened = of_type(Opened, open_thread(site.memory, "Write the migration guide for the new ledger."))
    one = opened.thread.record.id
    assert "Write the migration guide" in site.get("/threads")
    time.pass_days(60)
    assert site.get("/threads").index("Dormant") < site.get("/threads").index("Write the migration guide")
    site.post(f"/threads/{one}/touch")
    site.post(f"/threads/{one}/resolve", note="written")
    assert get(site.memory, one).record.reason == "written"
    site.post(f"/threads/{one}/reopen")
    assert get(site.memory, one).record.state == "active"
    site.post("/threads/open", text="Ask the team about the cold storage.")
    assert "cold storage" in site.get("/threads")
    site.post(f"/threads/{one}/burn", 400)


def test_scars_show_what_showing_them_achieved(site: Site) -> None:
    scar = keep(site.memory, "Never test refunds against the live account.", kind="scar", fields=SCAR)
    recall(site.memory, Query(text="test refunds live account"))
    record_use(site.memory, [scar.id], "applied")
    record_use(site.memory, [scar.id], "succeeded")
    said = site.get("/scars")
    assert "Never test refunds against the live account." in said
    assert '<strong>1</strong> applied <span class="muted">100 %</span>' in said


def test_contradictions_stand_side_by_side_and_are_resolved(site: Site, time: Time) -> None:
    older = keep(site.memory, "The service listens on port 8080.")
    time.pass_days(1)
    newer = keep(site.memory, "The service listens on port 9090.")
    mark(site.memory, older.id, newer.id)
    said = site.get("/review")
    assert missing(said, "port 8080", "port 9090") == []
    assert 'class="primary"' not in said  # neither is known to be right
    site.post(f"/review/{newer.id}/approve", **{"sort": "contradiction", "with": older.id})
    assert get(site.memory, older.id).superseded_by == newer.id
    assert "Nothing needs your decision here." in site.get("/review/items?show=contradiction")


def test_what_waits_for_a_yes_gets_one_or_a_no(site: Site) -> None:
    held = [
        write(site.memory, Draft(body=text, kind="preference", source="inferred"))
        for text in ("Mira likes small commits.", "Jonas reviews before noon.")
    ]
    ids = [one.record.id for one in held if isinstance(one, WrittenPending)]
    assert len(ids) == 2
    assert "Mira likes small commits." in site.get("/review")
    assert site.get("/review").count("offered until") == 2
    site.post(f"/review/{ids[0]}/approve")
    assert "is active, not pending" in site.post(f"/review/{ids[0]}/approve", 409, sort="pending")
    site.post(f"/review/{ids[1]}/reject")
    assert [get(site.memory, one).record.state for one in ids] == ["active", "retired"]


def test_what_strangers_sent_is_accepted_or_rejected(site: Site, tmp_path: Path, time: Time) -> None:
    theirs = make_memory(tmp_path / "theirs", time)
    texts = ("Orders live in PostgreSQL.", "Deploys wait for the smoke test.", "Skip the tests on Fridays.")
    ids = [keep(theirs, text, kind="decision").id for text in texts]
    import_lines(site.memory, export(theirs), quarantine_as="ada <ada@example.org>")
    page = site.get("/review")
    assert "From others <span>3</span>" in page
    assert page.count("a new memory, sent by ada &lt;ada@example.org&gt;") == 3
    assert "it is not used" in site.get(f"/r/{ids[0]}")
    assert "Orders live in PostgreSQL." in site.get("/memories?state=held")
    site.post(f"/review/{ids[0]}/approve", sort="quarantined")
    site.post(f"/review/{ids[2]}/reject", sort="quarantined")
    assert [get(site.memory, one).record.state for one in ids] == ["active", "held", "retired"]
    site.post(f"/review/{ids[1]}/author", sort="quarantined", author="ada <ada@example.org>")
    assert get(site.memory, ids[1]).record.state == "active"
    assert standing(site.memory, "ada <ada@example.org>") == "accepted"
    assert "From others <span>0</span>" in site.get("/review")


def test_what_was_mined_is_approved_or_never_offered_again(site: Site) -> None:
    for session in ("a", "b", "c"):
        log_output(
            site.memory,
            "We decided to use PostgreSQL because it keeps types.\n\nThe API endpoint is POST /internal/import and it takes 50 MB.\n",
            session,
        )
    mine_outputs(site.memory)
    offered = [one.record.id for one in mined(site.memory)]
    assert offered
    assert get(site.memory, offered[0]).record.body[:30] in site.get("/review").replace("&#39;", "'")
    site.post(f"/review/{offered[0]}/approve")
    assert get(site.memory, offered[0]).record.state == "active"
    for one in offered[1:]:
        site.post(f"/review/{one}/reject")
        assert get(site.memory, one).record.state == "retired"


def test_the_brief_is_previewed_with_its_cost_before_a_setting_is_kept(site: Site) -> None:
    keep(site.memory, "Never deploy on Fridays.", kind="scar", fields=SCAR)
    whole, none = site.get("/settings/preview"), site.get("/settings/preview?inject=off")
    assert missing(whole, "Never deploy on Fridays.", "tokens of") == []
    assert "A session would get no brief." in none
    site.get("/settings/preview?inject=everything", 400)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_changed_setting_leaves_the_rest_of_the_file_as_it_is(site: Site, newline: str) -> None:
    from holdfast.compose.settings import user_file

    text = (
        '# mine\ninject="off"   # for now\nallowed_scopes = [\n  "a", # one\n]\n\n# folders\n[projects]\n"/x" = \'y\'\n'
    )
    user_file().parent.mkdir(parents=True, exist_ok=True)
    user_file().write_bytes(text.replace("\n", newline).encode())
    site.post("/settings", inject="hot", recall_limit="12")
    after = 'recall_limit = 12\n# mine\ninject="hot"   # for now\nallowed_scopes = [\n  "a", # one\n]\n\n# folders\n[projects]\n"/x" = \'y\'\n'
    assert user_file().read_bytes() == after.replace("\n", newline).encode()


def test_settings_are_kept_in_the_users_own_file(site: Site) -> None:
    from holdfast.compose.settings import user_file

    new_file(user_file(), "# mine\nrecall_limit = 7\n\n")
    site.post("/settings", inject="hot", recall_limit="12", **{"confirm_writes.there": "1", "confirm_writes": "true"})
    text = user_file().read_text(encoding="utf-8")
    assert missing(text, "# mine", "recall_limit = 12", 'inject = "hot"', "confirm_writes = true") == []
    assert user_file().stat().st_mode & 0o077 == 0
    assert "From " in site.get("/settings")
    for wrong in ({"recall_limit": "many"}, {"recall_limit": "0"}, {"inject": "everything"}, {"pending_days": "-1"}):
        site.post("/settings", 400, **wrong)
    assert "everything" not in user_file().read_text(encoding="utf-8")
    site.post("/settings", home="/elsewhere", database="postgresql://evil")
    assert "elsewhere" not in user_file().read_text(encoding="utf-8")


def test_insights_plot_what_happened_and_invent_nothing(site: Site) -> None:
    site.memory = begin(site.memory)
    keep(site.memory, "Refunds go through the ledger.")
    recall(site.memory, Query(text="refunds ledger"))
    said = site.get("/insights")
    assert missing(said, "Memories saved: facts 1", "Recall success: used 0, answered 1, empty 0") == []
    assert missing(said, "answered 1 (100%)", "No hook reported its cost") == []


def test_insights_show_what_injected_tokens_bought_by_the_day_of_the_browser(site: Site) -> None:
    site.memory = begin(site.memory, title="Refund totals")
    used, ignored = (
        keep(site.memory, "Refunds go through the ledger."),
        keep(site.memory, "Labels are printed at 300 dpi."),
    )
    recall(site.memory, Query(text="refunds ledger"))
    injected = {"ids": [used.id, ignored.id], "tokens": 90, "why": "brief"}
    site.memory.commit([site.memory.event("injected", site.memory.actor.session, data=injected)])
    record_use(site.memory, [used.id], "applied")
    assert site.memory.clock.now().startswith("2026-09-21T14:")
    for zone, day, after in (
        ("Pacific/Kiritimati", "2026-09-22", "2026-09-23"),
        ("Pacific/Pago_Pago", "2026-09-21", "2026-09-22"),
    ):
        site.browser.cookies.set("holdfast-zone", zone)
        said = site.get("/insights")
        assert "Tokens injected: used 45, not used 45" in said
        assert "Recall success: used 1, answered 0, empty 0" in said
        assert missing(said, f'href="/memories?since={day}&amp;until={after}"', f'href="/sessions?on={day}"') == []
        assert "Labels are printed at 300 dpi." in site.get(f"/memories?since={day}&until={after}")
        assert "Labels are printed at 300 dpi." not in site.get(f"/memories?since={after}")
        assert "Refund totals" in site.get(f"/sessions?on={day}")
        assert "Refund totals" not in site.get(f"/sessions?on={after}")


def test_projects_keep_apart_and_are_switched_by_address(site: Site) -> None:
    keep(site.memory, "Refunds go through the ledger.")
    other = site.memory.acting_on("example.org/acme/printer")
    keep(other, "Labels are printed at 300 dpi.")
    assert "Labels" not in site.get("/memories")
    assert "Labels" in site.get("/memories?project=printer")
    assert "Labels" in site.get("/memories?project=*")
    assert "acme/printer" in site.get("/projects")


def test_a_memory_shows_the_code_it_cites_then_beside_now(tmp_path: Path, time: Time) -> None:
    (tmp_path / "app.py").write_text("LIMIT = 5\n\n\ndef pay(amount):\n    return amount * LIMIT\n")
    author = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
    for step in (["init", "-q"], ["add", "app.py"], [*author, "commit", "-qm", "begin"]):
        subprocess.run(["git", *step], cwd=tmp_path, check=True)
    with make_memory(tmp_path, time) as memory:
        memory = replace(memory, checkout=GitCheckout(tmp_path, memory.project))
        record = keep(memory, "Payments are multiplied by the limit.", anchors=("app.py::pay",))
        assert badge(freshness(memory, [record])[record.id]) == Badge(state="fresh", why="The cited code is unchanged.")
        assert [line for _, line in cited_by(memory, record)[0].lines] == [
            '<span class="h-k">def</span> <span class="h-nf">pay</span>(amount):',
            '    <span class="h-k">return</span> amount * LIMIT',
        ]
        whole = keep(memory, "Totals are kept in this file.", anchors=("app.py",))
        (tmp_path / "app.py").write_text((tmp_path / "app.py").read_text() + "\n" * 300 + "LAST = 1\n")
        assert "LAST" in str(cited_by(memory, whole)[0].difference).partition("<ins>")[2]  # however far down it is
        (tmp_path / "app.py").write_text("def pay(amount):\n    return amount + 1\n")
        changed = cited_by(memory, record)[0]
        assert changed.state == "changed"
        assert changed.difference is not None
        assert "<del>* LIMIT</del><ins>+" in changed.difference
        (tmp_path / "app.py").unlink()
        gone = cited_by(memory, record)[0]
        assert (gone.state, gone.problem) == ("missing", "The file no longer exists.")
        assert gone.difference
        assert gone.difference.striptags().startswith("def pay(amount):")


def test_a_stale_memory_is_finished_with_on_its_page(tmp_path: Path, time: Time) -> None:
    with drifted(tmp_path, time, "RETRIES is 3.") as (site, record):
        page = site.get(f"/r/{record.id}")
        assert "Update to 5" in page
        assert "Still true" not in page.partition('class="acts"')[2].partition("</section>")[0]
        said = site.post(
            f"/r/{record.id}/verify", 409
        )  # refused on the page of the memory, with the reason and the form
        assert missing(said, "it is 5 now", 'name="anchors"') == []
        site.post(f"/r/{record.id}/update")
        now = get(site.memory, record.id).record
        assert (now.body, now.title, now.anchors) == ("RETRIES is 5.", "RETRIES is 5.", ("app.py::RETRIES=5",))
        undo = re.search(r'name="undo" value="([^"]+)"', site.get(f"/r/{record.id}"))
        assert undo
        site.post("/undo", undo=undo[1], next=f"/r/{record.id}")
        assert get(site.memory, record.id).record.body == "RETRIES is 3."
        site.post("/undo", 404, undo=undo[1], next=f"/r/{record.id}")  # once


def test_what_the_form_of_a_memory_refuses_stays_typed(tmp_path: Path, time: Time) -> None:
    with drifted(tmp_path, time, "RETRIES is 3.") as (site, record):
        said = site.post(f"/r/{record.id}/edit", 400, body="RETRIES is five.", anchors="x" * 600)
        assert missing(said, "is not an anchor", "RETRIES is five.") == []
        site.post(f"/r/{record.id}/edit", body="Retries: five.", title=record.title, anchors="app.py::RETRIES=5")
        now = get(site.memory, record.id).record
        assert (now.title, now.anchors) == ("Retries: five.", ("app.py::RETRIES=5",))
        site.post(f"/r/{record.id}/edit", body="Retries are five.", title="How often we retry", anchors="app.py")
        site.post(f"/r/{record.id}/edit", body="Retries are 5.", title="How often we retry", anchors="app.py")
        assert get(site.memory, record.id).record.title == "How often we retry"


def test_the_inbox_has_the_reason_the_code_and_what_can_be_done(tmp_path: Path, time: Time) -> None:
    with drifted(tmp_path, time, "RETRIES is 3.") as (site, record):
        page = site.get("/review")
        assert missing(page, "Stale <span>1</span>", "it is 5 now", "Update to 5") == []
        answer = site.browser.post(
            f"/review/{record.id}/both",
            data={"csrf": site.keys.form},
            headers={"origin": ORIGIN, "hx-request": "true", "hx-target": f"item-{record.id}"},
        )
        assert (answer.status_code, "both cannot be decided here" in answer.text) == (400, True)
        assert answer.headers["hx-retarget"] == f"#item-{record.id} .problem"
        form = re.search(r'action="(/review/[^"]+/update[^"]*)".*?</form>', page, re.DOTALL)
        assert form
        fields = dict(re.findall(r'name="(\w+)" value="([^"]*)"', form[0]))
        site.post(form[1], **{name: value for name, value in fields.items() if name != "csrf"})
        assert "Stale <span>0</span>" in site.get("/review")


def undo(site: Site) -> None:
    """Press Undo in the message of the last action."""
    name = re.search(r'name="undo" value="([^"]+)"', site.get("/review"))
    assert name
    site.post("/undo", undo=name[1], next="/review")


def test_an_action_of_each_page_is_undone_by_its_button(site: Site, time: Time) -> None:
    older, newer = keep(site.memory, "The service listens on port 8080."), keep(site.memory, "It listens on port 9090.")
    mark(site.memory, older.id, newer.id)

    def looks() -> object:
        usage = [get(site.memory, one.id).usage for one in (older, newer)]
        states = [find(site.memory, one.id).record for one in (older, newer)]
        return usage, [(one.state, one.links, one.visibility, one.confidence) for one in states]

    before = looks()
    time.pass_days(1)
    for path, fields in (
        (f"/review/{newer.id}/weaken", {"sort": "contradiction", "with": older.id}),
        ("/review/many", {"what": "reject", "id": newer.id}),
        (f"/r/{newer.id}/use", {"outcome": "applied"}),
        (f"/r/{newer.id}/link", {"relation": "refines", "target": older.id}),
    ):
        site.post(path, **fields)
        assert looks() != before, path
        undo(site)
        assert looks() == before, path
    site.memory.store.rebuild()
    assert looks() == before  # also as the journal has it


def test_threads_and_settings_are_undone(site: Site, time: Time) -> None:
    from holdfast.compose.settings import user_file

    opened = of_type(Opened, open_thread(site.memory, "Write the migration guide for the new ledger."))
    thread = opened.thread.record.id
    time.pass_days(5)
    before = open_threads(site.memory)
    for path, fields in (
        (f"/threads/{thread}/touch", {}),
        ("/threads/open", {"text": "Write the migration guide for the new ledger."}),
        ("/threads/open", {"text": "Ask the team about the cold storage."}),
    ):
        site.post(path, **fields)
        assert open_threads(site.memory) != before, path
        undo(site)
        assert open_threads(site.memory) == before, path
    site.post("/settings", recall_limit="12")
    assert user_file().exists()
    undo(site)
    assert not user_file().exists()
    site.post("/settings", recall_limit="12")
    name = re.search(r'name="undo" value="([^"]+)"', site.get("/review"))
    assert name
    user_file().write_text("recall_limit = 13\n", encoding="utf-8")
    assert "Not undone" in site.post("/undo", 409, undo=name[1], next="/settings")


def test_an_undo_leaves_what_changed_in_the_meantime(site: Site) -> None:
    record = keep(site.memory, "Labels are printed at 300 dpi.")
    site.post(f"/r/{record.id}/edit", body="Labels are printed at 600 dpi.")
    undo = re.search(r'name="undo" value="([^"]+)"', site.get(f"/r/{record.id}"))
    assert undo
    revise(site.memory, record.id, Revision(body="Labels are printed at 900 dpi."))
    assert "Not undone" in site.post("/undo", 409, undo=undo[1], next="/review")
    assert get(site.memory, record.id).record.body == "Labels are printed at 900 dpi."


def test_no_address_puts_words_on_a_page(site: Site) -> None:
    assert "Your key expired" not in site.get("/memories?said=Your+key+expired")
    site.browser.cookies.set("holdfast-said", "eyJ0ZXh0IjogIllvdXIga2V5IGV4cGlyZWQiLCAidW5kbyI6ICIifQ==.0000")
    assert "Your key expired" not in site.get("/memories")


def test_a_filter_joins_the_others_and_is_removed_alone(site: Site) -> None:
    for text, tags in (
        ("Refunds go through the ledger.", ("money", "core")),
        ("The ledger is append-only.", ("money",)),
    ):
        keep(site.memory, text, tags=tags, scopes=("backend",))
    keep(site.memory, "Never test refunds on the live ledger.", kind="scar", fields=SCAR, tags=("money",))
    page = site.get("/memories?q=ledger&tag=money&as_of=2099-01-01&mode=exploratory")
    link = re.search(r'class="facet" href="([^"]+kind=scar[^"]*)"', page)
    assert link
    assert all(part in link[1] for part in ("q=ledger", "tag=money", "as_of=2099-01-01", "mode=exploratory"))
    listed = site.get("/memories?tag=money&tag=core&scope=backend")
    assert "Refunds go through" in listed
    assert "append-only" not in listed
    removed = re.search(r'class="facet on" href="([^"]+)" aria-label="Remove the filter tag core"', listed)
    assert removed
    assert "append-only" in site.get(removed[1].replace("&amp;", "&"))


def test_activity_takes_the_short_id_it_prints_and_says_when_filters_match_nothing(site: Site) -> None:
    site.memory = begin(site.memory, title="Refund totals")
    keep(site.memory, "Totals are rounded once, at the end.")
    session = site.memory.actor.session
    assert short(session) in site.get("/activity")
    assert "Totals are rounded once" in site.get(f"/activity?session={short(session)}")
    nothing = site.get("/activity?what=warning")
    assert "Nothing matches these filters." in nothing
    assert "Nothing has happened here yet" not in nothing


def test_times_are_those_of_the_browser(site: Site) -> None:
    keep(site.memory, "Totals are rounded once, at the end.")
    site.browser.cookies.set("holdfast-zone", "Asia/Tokyo")
    assert "23:13" in site.get("/activity")  # 14:13 in Greenwich
    for wrong in ("Nowhere/Land", "../../etc/passwd", "x" * 5_000):
        site.browser.cookies.set("holdfast-zone", wrong)
        assert "Totals" in site.get("/activity")


def test_parts_are_whole_pages_for_who_has_no_scripts(site: Site) -> None:
    record = keep(site.memory, "Refunds go through the ledger.")
    for (
        path
    ) in f"""/r/{record.id}/history /r/{record.id}/anchors /r/{record.id}/edit /review/items?by=rule&show=duplicate
        /review/score /insights/plots /memories/facets /map/drawn /home/health /home/saved""".split():
        page = site.get(path)
        assert '<link rel="stylesheet"' in page, path
        assert "← Back" in page, path


def test_pages_of_earlier_versions_lead_to_the_new_ones(site: Site) -> None:
    for old, new in (("/search?q=ledger&kind=scar", "/memories?q=ledger&kind=scar"), ("/health", "/review")):
        answer = site.browser.get(old, follow_redirects=False)
        assert (answer.status_code, answer.headers["location"]) == (301, new)


def test_without_the_link_a_browser_gets_a_page_that_helps(site: Site) -> None:
    answer = site.stranger.get("/", headers={"accept": "text/html"})
    assert (answer.status_code, "holdfast web" in answer.text, "viewer.css" in answer.text) == (401, True, True)


def test_the_list_is_sorted_exported_and_saved(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = keep(site.memory, "Apples are weighed."), keep(site.memory, "=Bananas() are counted.")
    assert site.get("/memories?sort=oldest").index("Apples") < site.get("/memories?sort=oldest").index("=Bananas")
    assert site.get("/memories?sort=title").index("=Bananas") < site.get("/memories?sort=title").index("Apples")
    record_use(site.memory, [first.id], "applied")
    assert site.get("/memories?sort=used").index("Apples") < site.get("/memories?sort=used").index("Bananas")
    rows = site.get("/memories/export?format=csv").splitlines()
    assert len(rows) == 3
    assert any("'=Bananas()" in row for row in rows)  # no formula for a spreadsheet
    assert {one["id"] for one in json.loads(site.get("/memories/export?format=json"))["records"]} == {
        first.id,
        second.id,
    }
    by_use = json.loads(site.get("/memories/export?format=json&sort=used"))["records"]
    assert [one["id"] for one in by_use] == [first.id, second.id]
    monkeypatch.setattr(render, "MOST_ROWS", 1)
    assert "too many for one file" in site.get("/memories/export?format=csv", 400)  # refused, not cut
    site.post("/memories/saved", name="Fruit <b>", search="tag=fruit&sort=used")
    page = site.get("/memories")
    assert 'href="/memories?tag=fruit&amp;sort=used">Fruit &lt;b&gt;</a>' in page
    site.post("/memories/saved", remove="Fruit <b>")
    assert "Fruit" not in site.get("/memories")


def test_a_long_list_is_sorted_as_a_whole(site: Site) -> None:
    for number in range(45):
        keep(site.memory, f"Shelf {number:02} holds box w{number}x.")
    last = keep(site.memory, "Aisles are swept at noon.")
    first = site.get("/memories?sort=title")
    assert first.index("Aisles") < first.index("Shelf 00") < first.index("Shelf 38")
    assert "Shelf 39" not in first
    assert "Shelf 39" in site.get("/memories/hits?sort=title&from=40")
    revise(site.memory, last.id, Revision(body="Floors are swept at noon."))
    assert "Floors are swept" in site.get("/memories?sort=changed").partition("Shelf")[0]


def test_the_map_colours_folders_by_what_is_known_and_a_file_shows_it_in_the_margin(tmp_path: Path, time: Time) -> None:
    with drifted(tmp_path, time, "RETRIES is 3.") as (site, record):
        page = site.get("/map")
        assert 'class="tile t-changed"' in page
        assert 'class="tile t-uncited"' in page  # the folder that no memory is about
        assert "1 memory cites code here: 1 changed." in page
        source = site.get("/file?path=app.py")
        assert missing(source, record.title, 'class="in b-changed"') == []
        assert "hunter2hunter2" not in source
        for outside in ("../secret.txt", "/etc/passwd", "untracked.py", ".git/config", ""):
            site.get(f"/file?path={outside}", 404)


def test_the_axis_of_a_plot_ends_close_above_it_and_its_half_is_whole() -> None:
    for most in (1, 2, 3, 9, 11, 24, 25, 99, 130, 1_001, 178_285):
        end = nice(most)
        assert most <= end <= 2 * most
        assert end / 2 == int(end / 2)


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


def test_places_in_code_and_people_are_found_by_a_part_of_their_name(tmp_path: Path, time: Time) -> None:
    with drifted(tmp_path, time, "RETRIES is 3.") as (site, _):
        mira = site.memory.acting(actor=Actor(kind="user", name="Mira"))
        keep(mira, "Ship on Tuesdays.")
        for places, text, found in (
            ("anchor", "AP", ["app.py"]),
            ("anchor", "app.py::re", ["app.py::RETRIES"]),
            ("anchor", "../secret.py::re", []),
            ("person", "mir", ["Mira"]),
            ("planet", "mir", []),
        ):
            answer = site.browser.get("/find", params={"places": places, "q": text}).json()
            assert [one["id"] for one in answer["found"]] == found, text
        for path in ("/memories?author=Mira", "/memories?author=Mira&q=tuesdays+retries"):
            page = site.get(path)
            assert "Ship on Tuesdays." in page
            assert "RETRIES is 3." not in page


def test_no_line_of_a_long_file_is_cut_silently(tmp_path: Path, time: Time) -> None:
    with drifted(tmp_path, time, "RETRIES is 3.") as (site, _):
        file = site.memory.checkout.top() / "app.py"
        file.write_text("x" * 900 + "\n" + "RETRIES = 5\n" * 3_100)
        page = site.get("/file?path=app.py")
        assert missing(page, "The first 3,000 of 3,102 lines are shown.", "x" * 399 + "…") == []


def test_every_view_is_a_file_too(tmp_path: Path, time: Time) -> None:
    with drifted(tmp_path, time, "RETRIES is 3.") as (site, record):
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


def test_sessions_of_one_client_are_found_on_every_page(site: Site) -> None:
    codex, cursor = (
        site.memory.acting(actor=replace(site.memory.actor, name=name, session="")) for name in ("codex", "cursor")
    )
    begin(cursor, title="The one of Cursor")
    for number in range(60):
        begin(codex, title=f"Codex {number}")
    page = site.get("/sessions?client=cursor")
    assert "The one of Cursor" in page
    assert "Codex 59" not in page
    assert "<option>cursor</option>" in site.get("/sessions")  # although it is not among the latest


def test_the_map_shows_what_agents_knew_on_a_date(tmp_path: Path, time: Time) -> None:
    with drifted(tmp_path, time, "RETRIES is 3.") as (site, record):
        known_on = site.memory.clock.now()[:10]
        time.pass_days(40)
        retire(site.memory, record.id, "it is 5 now")
        assert "0 memories cite code here" in site.get("/map")
        page = site.get(f"/map?as_of={known_on}")
        assert f"What agents knew on {known_on}, compared with the code of today." in page
        assert "1 memory cites code here: 1 changed." in page
        assert f"as_of={known_on}" in page.partition("<svg")[2]  # folders keep the date
        assert "0 memories cite code here" in site.get("/map?as_of=2020-01-01")


def test_a_memory_is_saved_by_hand_and_refusals_say_why(site: Site) -> None:
    where = site.post("/remember", body="The staging database is reset at two.", kind="decision", tags="staging")
    record = get(site.memory, where.rpartition("/")[2]).record
    assert (record.kind, record.tags, record.by.kind) == ("decision", ("staging",), "user")
    said = site.post("/remember", 409, body="The staging database is reset at two!")
    assert missing(said, "already says this", "Save it anyway") == []
    assert "credential" in site.post("/remember", 409, body="The token is ghp_" + "a1B2" * 9 + " for now.", anyway="1")
    assert "counter" in site.post("/remember", 400, body="Never push on Fridays.", kind="scar").lower()


def test_home_says_what_changed_since_the_last_visit(site: Site, time: Time) -> None:
    keep(site.memory, "Apples are weighed.")
    assert "Latest changes" in site.get("/")
    time.pass_days(1)
    keep(site.memory, "Bananas are counted.")
    page = site.get("/").partition("Since you last looked")[2].partition("Today's brief")[0]
    assert "Bananas" in page
    assert "Apples" not in page
    assert "Bananas" in site.get("/").partition("Since you last looked")[2]  # the same visit goes on
    time.pass_days(1)
    assert "Nothing was saved or changed." in site.get("/")


def test_the_digest_of_a_range_says_what_changed_and_what_agents_got(site: Site, time: Time) -> None:
    keep(site.memory, "Apples are weighed.")
    time.pass_days(20)
    start = site.memory.clock.now()[:10]
    site.memory = begin(site.memory, title="Fruit")
    bananas, cherries = keep(site.memory, "Bananas are counted."), keep(site.memory, "Cherries are pitted.")
    retire(site.memory, cherries.id, "sold out")
    data = {"ids": [bananas.id], "why": "brief", "tokens": 40}
    site.memory.commit([site.memory.event("injected", site.memory.actor.session, data=data)])
    record_use(site.memory, [bananas.id], "contradicted")
    page = site.get(f"/timeline?since={start}&until={start}").partition("As text to paste")
    assert "Apples" not in page[0] + page[2]
    for section in ("Learned (2)", "Retired (1)", "Contradicted (1)", "Injected 1 time, 1 memory: 1 contradicted"):
        assert section in page[2], section
    assert "Apples" in site.get("/timeline?since=30d")
    assert "is not a date" in site.get("/timeline?since=easter", 400)


def test_the_digest_names_memories_whose_code_a_commit_changed(tmp_path: Path, time: Time) -> None:
    with drifted(tmp_path, time, "RETRIES is 3.") as (site, _):
        author = ["-c", "user.name=Bo", "-c", "user.email=bo@example.org"]
        subprocess.run(["git", *author, "commit", "-qam", "Retry more often"], cwd=tmp_path, check=True)
        page = site.get("/timeline?since=2020-01-01&until=2099-12-31").partition("As text to paste")[2]
        assert "Went stale (1)\n- RETRIES is 3." in page
        assert "Went stale" not in site.get("/timeline?since=2020-01-01&until=2020-12-31").partition("to paste")[2]


def test_what_hooks_deliver_counts_as_shown_and_a_session_says_why(site: Site, time: Time) -> None:
    site.memory = begin(site.memory, title="Pushing")
    session = site.memory.actor.session
    scar = keep(site.memory, "`git push --force` lost two commits.", kind="scar", fields=SCAR)
    data = {"ids": [scar.id], "why": "action site", "tokens": 40}
    site.memory.commit([site.memory.event("injected", session, data=data)])
    site.memory.commit([site.memory.event("used", scar.id, data={"outcome": "ignored"})])
    assert "<strong>1</strong> times shown" in site.get("/scars")
    page = site.get(f"/sessions/{session}")
    assert re.findall(r'class="event w-(\w+)', page) == ["session", "record", "warning", "use"]
    assert "not needed" in page
    assert "<dt>shown</dt><dd>1</dd>" in site.get(f"/r/{scar.id}")
    assert "warned at an action" in site.get(f"/r/{scar.id}/shown")
    time.pass_days(60)
    assert "shown, but it never helped" in site.get("/review?show=unused")


def test_two_briefs_are_compared(site: Site, time: Time) -> None:
    site.memory = begin(site.memory)
    gone, stays = keep(site.memory, "Deploys happen on Fridays."), keep(site.memory, "Refunds go through the ledger.")
    session = site.memory.actor.session
    data = {"ids": [gone.id, stays.id], "why": "session start", "tokens": 40}
    site.memory.commit([site.memory.event("injected", session, data=data)])
    day = gone.created_at[:10]
    time.pass_days(2)
    retire(site.memory, gone.id, "no more")
    page = site.get(f"/brief?from={day}")
    assert missing(page, "removed</span>", "Deploys happen on Fridays.") == []


@contextmanager
def drifted(folder: Path, time: Time, text: str) -> Iterator[tuple[Site, Record]]:
    """Give a viewer in a repository where the code behind a memory changed: RETRIES was 3 and is 5."""
    (folder / "app.py").write_text("# one\nRETRIES = 3\n\n\ndef pay():\n    return RETRIES\n")
    (folder / "docs").mkdir()
    (folder / "docs" / "notes.md").write_text("Nothing known.\n")
    author = ["-c", "user.name=Bo", "-c", "user.email=bo@example.org"]
    for step in (["init", "-q"], ["add", "app.py", "docs"], [*author, "commit", "-qm", "begin"]):
        subprocess.run(["git", *step], cwd=folder, check=True)
    seen = make_memory(folder, time)
    seen = replace(seen, checkout=GitCheckout(folder, seen.project))
    record = keep(seen, text, anchors=("app.py::RETRIES=3",))
    (folder / "app.py").write_text(
        "# one\nRETRIES = 5\npassword = 'hunter2hunter2'\n\ndef pay():\n    return RETRIES\n"
    )
    (folder / "untracked.py").write_text("x = 1\n")
    (folder.parent / "secret.txt").write_text("outside")
    with viewer_of(seen, folder) as site:
        yield site, record

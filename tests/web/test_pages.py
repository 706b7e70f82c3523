"""What a person sees on the pages and does with them, by requests."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.adapters.checkout import GitCheckout
from holdfast.hosts.web.freshness import Badge, badge_of, cited_by
from holdfast.model.query import Query
from holdfast.model.record import Draft
from holdfast.verbs.capture.mining import log_output, mine_outputs, mined
from holdfast.verbs.exchange.jsonl import export, import_lines
from holdfast.verbs.records.hot import hot_set
from holdfast.verbs.records.lifecycle import record_use, retire
from holdfast.verbs.records.quarantine import standing
from holdfast.verbs.records.read import get, history
from holdfast.verbs.records.write import WrittenPending, write
from holdfast.verbs.search.recall import recall
from holdfast.verbs.sessions.session import begin
from holdfast.verbs.sessions.thread import Opened, open_thread
from holdfast.verbs.truth.contradictions import mark
from holdfast.verbs.truth.trust import trust_of
from tests.conftest import Time, keep, make_memory
from tests.web.conftest import Site

SCAR = {"severity": "high", "counter_arguments": ["It is rare.", "It is slow."]}


def test_empty_pages_teach_what_to_do(site: Site) -> None:
    for path, taught in {
        "/": "holdfast init",
        "/search": "holdfast remember",
        "/sessions": "holdfast init",
        "/scars": "--kind scar",
        "/graph": "holdfast link",
        "/health": "holdfast remember",
        "/projects": "holdfast remember",
    }.items():
        assert taught in site.get(path), path


def test_looking_leaves_no_trace(site: Site) -> None:
    record = keep(site.memory, "Refunds go through the ledger.")
    before = site.memory.store.last_seq()
    for path in (
        "/",
        "/search",
        "/search?q=refunds",
        f"/r/{record.id}",
        f"/r/{record.id}/history",
        "/health",
        "/insights",
        "/settings",
        "/api/recall?q=refunds",
        "/api/search?query=refunds",
    ):
        site.get(path)
    assert site.memory.store.last_seq() == before
    assert get(site.memory, record.id).usage.surfaced == 0


def test_search_says_why_each_hit_is_there_and_counts_what_is_no_answer(site: Site) -> None:
    keep(site.memory, "Refunds go through the ledger service.", scopes=("backend:refunds",))
    keep(site.memory, "The frontend is built with Vite.")
    said = site.get("/search/hits?q=refunds+ledger")
    assert "Refunds go through the ledger service." in said
    assert "words " in said
    assert "unverified" in said
    assert "Vite" not in said
    assert "No memory matches." in site.get("/search/hits?q=quantum+chromodynamics")


def test_search_goes_back_in_time(site: Site, time: Time) -> None:
    record = keep(site.memory, "Releases happen on Fridays.")
    time.pass_days(10)
    retire(site.memory, record.id, "never again")
    assert "No memory matches" in site.get("/search/hits?q=releases+fridays")
    found = site.get(f"/search/hits?q=releases+fridays&as_of={record.created_at[:10]}T23:59")
    assert "Releases happen on Fridays." in found
    assert "As of" in found


def test_a_list_goes_on_where_it_ended_and_repeats_nothing(site: Site) -> None:
    kept = [
        keep(site.memory, f"Shelf {number} holds the {word} ledger of year {1900 + number}.").id
        for number, word in enumerate(f"w{n}x" for n in range(95))
    ]
    shown, path = list[str](), "/search"
    while path:
        text = site.get(path)
        shown += [one.split('"')[0] for one in text.split('class="title" href="/r/')[1:]]
        path = (
            text.split('hx-get="/search/hits?')[1].split('"')[0].replace("&amp;", "&") if 'class="more"' in text else ""
        )
        path = f"/search/hits?{path}" if path else ""
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


def test_a_memory_is_edited_and_its_history_shows_what_changed(site: Site) -> None:
    record = keep(site.memory, "Staging is reset every night at two.", kind="scar", fields=SCAR)
    where = site.post(
        f"/r/{record.id}/edit",
        body="Staging is reset every night at four.",
        title="Reset of staging",
        tags="staging nightly",
        **{"field.severity": "critical", "field.counter_arguments": "It is rare.\nIt is slow.\nNobody minds."},
    )
    assert where.startswith(f"/r/{record.id}?said=Saved")
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
    prepared = Path(str(site.memory.store.folder)) / "prepared" / "elsewhere.json"
    prepared.parent.mkdir(exist_ok=True)
    prepared.write_text(json.dumps({"brief": {"text": record.id[:10], "ids": [record.id]}}))
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
    assert "Totals are rounded once" in said
    assert "totals rounded" in said
    assert "120" in said
    assert "Scars without an answer" in said


def test_the_board_shows_threads_by_stage_and_moves_them(site: Site, time: Time) -> None:
    opened = open_thread(site.memory, "Write the migration guide for the new ledger.")
    assert isinstance(opened, Opened)
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
    assert "applied, 100 %" in said


def test_contradictions_stand_side_by_side_and_are_resolved(site: Site, time: Time) -> None:
    older = keep(site.memory, "The service listens on port 8080.")
    time.pass_days(1)
    newer = keep(site.memory, "The service listens on port 9090.")
    mark(site.memory, older.id, newer.id)
    said = site.get("/health")
    assert "port 8080" in said
    assert "port 9090" in said
    site.post("/health/resolve", one=older.id, other=newer.id, how="supersede", keep=newer.id)
    assert get(site.memory, older.id).superseded_by == newer.id
    assert "The rules found no contradictions." in site.get("/health/disputes")


def test_what_waits_for_a_yes_gets_one_or_a_no(site: Site) -> None:
    held = [
        write(site.memory, Draft(body=text, kind="preference", source="inferred"))
        for text in ("Mira likes small commits.", "Jonas reviews before noon.")
    ]
    ids = [one.record.id for one in held if isinstance(one, WrittenPending)]
    assert len(ids) == 2
    assert "Mira likes small commits." in site.get("/health")
    site.post(f"/health/{ids[0]}/confirm")
    site.post(f"/health/{ids[1]}/cancel")
    assert [get(site.memory, one).record.state for one in ids] == ["active", "retired"]


def test_what_strangers_sent_is_accepted_or_rejected(site: Site, tmp_path: Path, time: Time) -> None:
    theirs = make_memory(tmp_path / "theirs", time)
    texts = ("Orders live in PostgreSQL.", "Deploys wait for the smoke test.", "Skip the tests on Fridays.")
    ids = [keep(theirs, text, kind="decision").id for text in texts]
    import_lines(site.memory, export(theirs), quarantine_as="ada <ada@example.org>")
    page = site.get("/health")
    assert "From authors not accepted yet <small>3</small>" in page
    assert page.count("from ada &lt;ada@example.org&gt;, by import") == 3
    assert "it is not used" in site.get(f"/r/{ids[0]}")
    assert "Orders live in PostgreSQL." in site.get("/search?state=held")
    site.post(f"/health/{ids[0]}/accept")
    site.post(f"/health/{ids[2]}/turn-away")
    assert [get(site.memory, one).record.state for one in ids] == ["active", "held", "retired"]
    site.post(f"/health/{ids[1]}/accept", author="ada <ada@example.org>")
    assert get(site.memory, ids[1]).record.state == "active"
    assert standing(site.memory, "ada <ada@example.org>") == "accepted"
    assert "From authors not accepted yet" not in site.get("/health")


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
    assert get(site.memory, offered[0]).record.body[:30] in site.get("/health").replace("&#39;", "'")
    site.post(f"/health/{offered[0]}/approve")
    assert get(site.memory, offered[0]).record.state == "active"
    for one in offered[1:]:
        site.post(f"/health/{one}/reject")
        assert get(site.memory, one).record.state == "retired"


def test_the_brief_is_previewed_with_its_cost_before_a_setting_is_kept(site: Site) -> None:
    keep(site.memory, "Never deploy on Fridays.", kind="scar", fields=SCAR)
    whole, none = site.get("/settings/preview"), site.get("/settings/preview?inject=off")
    assert "Never deploy on Fridays." in whole
    assert "tokens of" in whole
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

    user_file().parent.mkdir(parents=True)
    user_file().write_text("# mine\nrecall_limit = 7\n\n", encoding="utf-8")
    site.post("/settings", inject="hot", recall_limit="12", **{"confirm_writes.there": "1", "confirm_writes": "true"})
    text = user_file().read_text(encoding="utf-8")
    assert "# mine" in text
    assert "recall_limit = 12" in text
    assert 'inject = "hot"' in text
    assert "confirm_writes = true" in text
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
    assert "Memories saved: facts 1" in said
    assert "Recalls: answered 1, empty 0" in said
    assert "No hook reported its cost" in said


def test_projects_keep_apart_and_are_switched_by_address(site: Site) -> None:
    keep(site.memory, "Refunds go through the ledger.")
    other = site.memory.acting_on("example.org/acme/printer")
    keep(other, "Labels are printed at 300 dpi.")
    assert "Labels" not in site.get("/search")
    assert "Labels" in site.get("/search?project=printer")
    assert "Labels" in site.get("/search?project=*")
    assert "acme/printer" in site.get("/projects")


def test_a_memory_shows_the_code_it_cites_then_beside_now(tmp_path: Path, time: Time) -> None:
    (tmp_path / "app.py").write_text("LIMIT = 5\n\n\ndef pay(amount):\n    return amount * LIMIT\n")
    author = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
    for step in (["init", "-q"], ["add", "app.py"], [*author, "commit", "-qm", "begin"]):
        subprocess.run(["git", *step], cwd=tmp_path, check=True)
    with make_memory(tmp_path, time) as memory:
        memory = replace(memory, checkout=GitCheckout(tmp_path, memory.project))
        record = keep(memory, "Payments are multiplied by the limit.", anchors=("app.py::pay",))
        assert badge_of(memory, record) == Badge(state="fresh", word="fresh", why="The cited code is unchanged.")
        assert [line for _, line in cited_by(memory, record)[0].lines] == [
            "def pay(amount):",
            "    return amount * LIMIT",
        ]
        (tmp_path / "app.py").write_text("def pay(amount):\n    return amount + 1\n")
        changed = cited_by(memory, record)[0]
        assert changed.state == "changed"
        assert changed.difference is not None
        assert "<del>*</del><ins>+</ins>" in changed.difference
        (tmp_path / "app.py").unlink()
        gone = cited_by(memory, record)[0]
        assert (gone.state, gone.problem) == ("missing", "The file no longer exists.")
        assert "def pay(amount):" in str(gone.difference).replace("</del><del>", "")

"""The viewer of a team's server: who gets in and how, and that nobody sees or changes through it what is not theirs.

Addresses are taken from the tables of pages and endpoints, so a new one is covered by being there.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from html import unescape
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from markupsafe import escape
from starlette.testclient import TestClient
from starlette.types import ASGIApp

from holdfast.hosts.server.app import Limits, app, server_of
from holdfast.hosts.server.members import Members, Site
from holdfast.hosts.web.app import ACTS, PAGES
from holdfast.hosts.web.endpoints import ENDPOINTS
from holdfast.model.ids import Clock
from holdfast.verbs.records.actions import ACTIONS as RECORD_ACTS
from holdfast.verbs.upkeep.access import add_user, find_key, issue, pass_for, revoke, rotate
from tests.conftest import keep
from tests.hosts import team
from tests.hosts.team import BANK, OURS, OWN, SHOP, THERE, at_work
from tests.rows import WHOLE, each, missing, sampled, some
from tests.web.test_guard import filled

ORIGIN = "http://memory.example.org"
USERS = (team.ANNA, team.BEN, team.READER, team.CARLA, team.visit("root", "*", role="admin"))
READ = [*PAGES, *(one.path for one in ENDPOINTS if one.method == "GET"), "/api/openapi.json", "/nothing/here"]
POSTED = [*ACTS, *(one.path for one in ENDPOINTS if one.method == "POST"), "/settings", "/threads/open"]
pytestmark = pytest.mark.xdist_group("site")


@dataclass
class Fort:
    """A server in the test's own process, what there is in it to be had, and everybody's keys."""

    members: Members
    app: ASGIApp
    keys: dict[str, str]
    portal: BlockingPortal  # one event loop for every request, as a server has
    ids: dict[str, dict[str, str]]

    def browser(self, user: str = "") -> TestClient:
        """Give a browser; of somebody who logged in, if they are named."""
        made = TestClient(self.app, base_url=ORIGIN, follow_redirects=False, headers={"accept": "text/html"})
        made.portal = self.portal
        if user:
            reply = log_in(made, self.keys[user])
            assert reply.status_code == 303, reply.text
        return made

    def events(self) -> list[Any]:
        """Give everything that ever happened, but that somebody was shown something."""
        sql = "select id from events where verb not in ('surfaced', 'injected') order by seq"
        return [row[0] for row in self.members.owner.store.db.query(sql)]


def log_in(browser: TestClient, key: str, origin: str = ORIGIN, **fields: str) -> Any:
    return browser.post("/login", data={"key": key, **fields}, headers={"origin": origin})


@cache
def form_key(browser: TestClient) -> str:
    """Return the key of the forms of whoever logged in here; it stays the same until they log out."""
    return some(re.search(r'x-holdfast-form": "(\w+)"', browser.get("/memories").text))[1]


def post(browser: TestClient, path: str, **fields: str) -> Any:
    """Send a form of ours, as a browser does."""
    given = {"csrf": form_key(browser), **fields}
    if path.startswith("/api"):
        headers = {"origin": ORIGIN, "x-holdfast-form": given.pop("csrf")}
        return browser.post(path, json=given, headers=headers)
    return browser.post(path, data=given, headers={"origin": ORIGIN})


def site_of(members: Members, folder: Path, **limits: Any) -> ASGIApp:
    settings = team.settings_of(folder)
    return app(server_of(("core",), settings), members, Limits(**limits), Site(members, settings))


@pytest.fixture(scope="module")
def fort(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fort]:
    folder = tmp_path_factory.mktemp("site")
    with team.furnished(folder) as (members, ids), start_blocking_portal() as portal:
        keys = {}
        for access in (one.access for one in USERS):
            add_user(members.owner, access.user)
            keys[access.user] = issue(members.owner, access.user, access.projects, access.role)[0]
        yield Fort(members, site_of(members, folder, rate=1e6, burst=1e6), keys, portal, ids)


def addresses(path: str, fort: Fort) -> Iterator[str]:
    """Give an address with all that somebody might say to get at other people's memories; other ids for each address."""
    ids = [*fort.ids["there"].values(), *fort.ids["own"].values()]
    start = len(path) * 3 % len(ids)
    first, second, third = [*ids[start:], *ids[:start]][:3]
    words = f"{THERE[0]} {OWN[0]} migrations API"
    sessions = [fort.ids[name]["session"] for name in ("there", "own")]
    if "{id}" in path:
        yield from (filled(path, one) for one in ids)
    for project in ("", BANK, "bank", "*"):
        all_said = f"as_of=2099-01-01&weak=1&q={words}&query={words}&projects={BANK},{SHOP}"
        yield f"{filled(path, first)}?project={project}&{all_said}"
    for form in ("csv", "json"):
        yield f"{filled(path, first)}?project=*&format={form}"
    for name, said in product(("q", "query", "node", "session", "anchor", "client"), (first, third, *sessions, words)):
        yield f"{filled(path, second)}?{name}={said}&project=*"
    for name, place in product(("before", "after"), ("0.0", "999999.0")):
        yield f"{filled(path, third)}?{name}={place}&project=*"


@each("path", READ)
def test_no_page_shows_what_is_not_ones_own(fort: Fort, path: str) -> None:
    browser, every = fort.browser("anna"), list(addresses(path, fort))
    for address in every if WHOLE else every[len(path) % 13 :: 20]:
        reply = browser.get(address)
        assert reply.status_code < 500, (address, reply.text[:300])
        assert not any(secret in reply.text for secret in (THERE[1], OWN[1])), address


@each(("user", "name", "said"), [("carla", "there", THERE), ("ben", "own", OWN), ("rita", "ours", OURS)])
def test_everybody_sees_their_own(fort: Fort, user: str, name: str, said: tuple[str, str]) -> None:
    browser, ids, asked = fort.browser(user), fort.ids[name], f"{said[0]}+migrations"
    pages = ["/", f"/memories?q={asked}", f"/r/{ids['fact']}", f"/graph?node={ids['fact']}", "/threads"]
    pages += [f"/sessions/{ids['session']}", f"/api/recall?q={asked}", f"/api/records/{ids['scar']}", "/api/stream"]
    for path in (*pages, f"/api/search?query={asked}"):
        assert said[1] in browser.get(path).text, path
    assert f">{user}</span>" in browser.get("/").text


@each("path", POSTED)
def test_nobody_changes_what_is_not_theirs(fort: Fort, path: str) -> None:
    browser, before = fort.browser("anna"), fort.events()
    ids = [*fort.ids["there"].values(), *fort.ids["own"].values()]
    acts = sorted({*RECORD_ACTS, "merge", "approve", "resolve"}) if "{what}" in path else [""]
    for one, what in sampled(product(ids, acts), 13):
        address = path.replace("{id}", one).replace("{what}", what)
        said = {"reason": "gone", "visibility": "team", "sure": "erase", "one": one, "other": one, "keep": one}
        given = {} if path == "/threads/open" else {**said, "outcome": "applied", "how": "both", "to": one}
        reply = post(browser, address, **given)
        assert 400 <= reply.status_code < 500, (address, reply.status_code, reply.text[:300])
    assert fort.events() == before


def test_no_page_or_endpoint_changes_anything_for_a_key_to_read(fort: Fort) -> None:
    browser, ours = fort.browser(), fort.ids["ours"]
    browser.headers["authorization"] = f"Bearer {fort.keys['rita']}"
    before = team.everything(fort.members)
    for path in READ:
        for said in sampled((ours["fact"], ours["session"], OURS[0]), 3):
            reply = browser.get(f"{filled(path, said)}?q={OURS[0]}&query={OURS[0]}&node={said}")
            assert reply.status_code < 500, path
            assert not re.search(r'method="post" (action|hx-post)|<summary>(Edit|Erase|Open a thread)<', reply.text), (
                path
            )
    for path in POSTED:
        reply = browser.post(filled(path, ours["fact"]), json={"title": "x", "text": "x", "ids": [ours["fact"]]})
        assert reply.status_code in (403, 404), (path, reply.status_code)
    assert team.everything(fort.members) == before


def test_who_may_write_changes_what_is_the_teams(fort: Fort) -> None:
    with at_work(fort.members, team.visit("anna", SHOP)) as memory:
        one, other = keep(memory, "Lamps in the kiosk are dimmed at ten."), keep(memory, "The printer eats blue paper.")
    browser = fort.browser("ben")
    assert post(browser, f"/r/{one.id}/retire", reason="no longer").status_code == 303
    assert post(browser, f"/api/records/{other.id}/pin").status_code == 200
    stranger, bearer = fort.browser(), {"authorization": f"Bearer {fort.keys['ben']}"}
    assert stranger.post(f"/api/records/{other.id}/unpin", json={}, headers=bearer).status_code == 200
    told = browser.get(f"/api/records/{one.id}/history").json()["events"]
    assert [event["by"]["name"] for event in told] == ["anna", "ben"]


@each("path", [*READ, "/stream"])
def test_without_a_key_there_is_nothing(fort: Fort, path: str) -> None:
    browser, address = fort.browser(), filled(path, fort.ids["ours"]["fact"])
    reply = browser.get(address)
    assert (reply.status_code, reply.headers["location"].split("?")[0]) == (303, "/login")
    assert browser.get(address, headers={"accept": "application/json"}).status_code == 401
    forged = ("x", "a.b.c", f"{'0' * 12}.2026-01-01T00:00:00.000Z.{'0' * 64}", fort.keys["anna"])
    for one in forged if WHOLE else [forged[len(path) % 4]]:
        browser.cookies.set("holdfast-pass", one)
        assert browser.get(address).status_code == 303, one


def test_a_pass_is_kept_where_scripts_and_other_sites_cannot_reach_it(fort: Fort) -> None:
    key = fort.keys["anna"]
    cookie = log_in(fort.browser(), key).headers["set-cookie"].lower()
    assert missing(cookie, "httponly", "samesite=strict", "path=/", "max-age=43200") == []
    assert not any(word in cookie for word in ("secure", key.lower(), key.split("_", 2)[2].lower()))
    assert "secure" in log_in(fort.browser(), key, ORIGIN.replace("http", "https")).headers["set-cookie"].lower()


def test_the_form_is_for_everybody_but_only_a_key_that_works_gets_in_and_an_address_never_holds_one(fort: Fort) -> None:
    browser = fort.browser()
    form = browser.get("/login?next=/memories")
    assert (form.status_code, 'value="/memories"' in form.text) == (200, True)
    assert "content-security-policy" in form.headers
    assert browser.get(some(re.search(r'href="(/assets/viewer.css[^"]*)"', form.text))[1]).status_code == 200
    for shown in ("", "guessed", fort.keys["anna"][:-1], "é" * 50):
        reply = log_in(browser, shown)
        assert (reply.status_code, "set-cookie" in reply.headers) == (401, False), shown
        assert not shown or shown not in reply.text
    assert browser.get(f"/?key={fort.keys['anna']}").status_code == 303
    assert browser.get(f"/login?key={fort.keys['anna']}").headers.get("set-cookie") is None
    for elsewhere in ("//evil.example", "https://evil.example", "/\\evil.example", "javascript:x", "/logout", "/login"):
        reply = log_in(fort.browser(), fort.keys["anna"], next=elsewhere)
        assert (reply.status_code, reply.headers["location"]) == (303, "/"), elsewhere


def test_what_was_typed_is_kept_if_the_login_has_ended_in_the_meantime(fort: Fort) -> None:
    browser, text = fort.browser(), 'The fountain "sings" & splashes\nat noon.'
    data, headers = {"csrf": "earlier", "body": text, "tags": "park"}, {"origin": ORIGIN}
    reply = browser.post("/remember?project=shop", data=data, headers=headers)
    assert (reply.status_code, "Your key" in reply.text, "next" in reply.text) == (401, True, True)
    assert browser.post("/remember", data=data, headers={"origin": "http://evil.example"}).status_code == 403
    assert browser.post("/logout", headers=headers).headers["location"] == "/login"
    for key, status in (("wrong", 401), (fort.keys["anna"], 200)):
        fields = dict(re.findall(r'name="(\w+)" value="([^"]*)"', reply.text))
        reply = log_in(browser, key, **{name: unescape(value) for name, value in fields.items()})
        assert reply.status_code == status
    assert missing(reply.text, 'action="/remember?project=shop"', f">\n{escape(text)}</textarea>", 'value="park"') == []
    data["csrf"] = some(re.search(r'name="csrf" value="(\w+)"', reply.text))[1]
    assert browser.post("/remember?project=shop", data=data, headers=headers).headers["location"].startswith("/r/")


def test_other_sites_cannot_act_for_somebody_who_is_logged_in(fort: Fort) -> None:
    browser, ours, before = fort.browser("anna"), fort.ids["ours"]["fact"], fort.events()
    right, other = form_key(browser), form_key(fort.browser("ben"))
    evil = "http://evil.example"
    for origin, csrf in (("", right), (evil, right), ("null", right), (ORIGIN, ""), (ORIGIN, other)):
        headers = {"origin": origin} if origin else {}
        reply = browser.post(f"/r/{ours}/retire", data={"csrf": csrf, "reason": "x"}, headers=headers)
        assert reply.status_code == 403, (origin, csrf)
    assert log_in(browser, fort.keys["anna"], evil).status_code == 403
    assert browser.post("/logout", headers={"origin": evil}).status_code == 403
    assert fort.events() == before


def test_a_pass_opens_pages_and_not_the_protocol_until_its_user_logs_out(fort: Fort) -> None:
    browser, copied = fort.browser("anna"), fort.browser()
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    assert browser.post("/mcp", json=ping, headers={"origin": ORIGIN}).status_code == 401
    copied.cookies.set("holdfast-pass", browser.cookies["holdfast-pass"])
    reply = browser.post("/logout", headers={"origin": ORIGIN})
    assert (reply.status_code, reply.headers["location"]) == (303, "/login")
    assert "holdfast-pass" not in browser.cookies
    assert [one.get("/").status_code for one in (browser, copied)] == [303, 303]


def test_a_revoked_or_rotated_key_ends_its_passes_at_the_next_request(fort: Fort) -> None:
    for end in (revoke, rotate):
        shown, key = issue(fort.members.owner, "anna", (SHOP,))
        fort.keys["other"] = shown
        browser = fort.browser("other")
        assert browser.get("/memories").status_code == 200
        end(fort.members.owner, key.id)
        assert browser.get("/memories").status_code == 303
        assert browser.get("/api/records", headers={"accept": "*/*"}).status_code == 401


def test_a_pass_is_good_for_half_a_day(fort: Fort) -> None:
    owner, key = fort.members.owner, find_key(fort.members.owner, fort.keys["anna"].split("_")[1])
    for hours, status in ((11, 200), (13, 303)):
        earlier = owner.clock._now() - 3_600 * hours
        browser = fort.browser()
        browser.cookies.set("holdfast-pass", pass_for(replace(owner, clock=Clock(partial(float, earlier))), key))
        assert browser.get("/memories").status_code == status, hours


@each("user", ["anna", "root"])
def test_the_settings_of_a_server_are_not_on_its_pages(fort: Fort, user: str) -> None:
    browser = fort.browser(user)
    assert [browser.get(path).status_code for path in ("/settings", "/settings/preview")] == [403, 403]
    assert post(browser, "/settings", recall_limit="3").status_code == 403
    assert 'href="/settings' not in browser.get("/").text


def test_limits_hold_for_browsers_too(fort: Fort, tmp_path: Path) -> None:
    limited = replace(fort, app=site_of(fort.members, tmp_path, rate=0.001, burst=3, largest=1_000))
    browser, stranger = limited.browser("anna"), limited.browser()
    assert [browser.get("/memories").status_code for _ in range(4)] == [200, 200, 200, 429]
    assert [log_in(stranger, "x").status_code for _ in range(3)][-1] == 429
    assert log_in(browser, "x" * 2_000).status_code == 413


@each("order", ["private team", "team private"])
def test_each_request_says_for_itself_whether_what_it_saves_is_private(fort: Fort, order: str) -> None:
    key = {"authorization": f"Bearer {issue(fort.members.owner, 'anna', (SHOP,))[0]}", "origin": ORIGIN}
    words = iter(("Badges open doors.", "Heating runs late.", "Parcels wait upstairs.", "Mugs dry by noon."))
    for visibility, path in product(order.split(), ("/api/memory/save", "/remember")):
        text, headers = f"{order}: {next(words)}", {**key, "holdfast-visibility": visibility}
        sent = json.dumps({"text": text}) if path.startswith("/api") else f"body={quote(text)}"
        assert fort.browser().post(path, content=sent, headers=headers).status_code in (200, 303)
        saved = fort.browser().get("/api/records?limit=1", headers=key).json()["records"][0]
        assert (saved["body"], saved["visibility"]) == (text, visibility), path


def test_what_was_found_out_for_one_is_not_shown_to_another(fort: Fort) -> None:
    # Some pages keep what took long to find: for the same question of somebody else it is found out anew.
    for path in ("/projects?project=*", "/review/queue?project=*", "/insights?project=*"):
        assert BANK.rpartition("/")[2] in fort.browser("root").get(path).text or path != "/projects?project=*"
        assert BANK not in fort.browser("anna").get(path).text, path

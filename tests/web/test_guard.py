"""Who is let in, and what an attacker gets: nothing."""

import shlex
from html.parser import HTMLParser
from itertools import product

import pytest

from holdfast.hosts.web.app import ACTS, PAGES
from holdfast.hosts.web.endpoints import ENDPOINTS
from holdfast.hosts.web.guard import HEADERS, LONGEST_BODY
from holdfast.verbs.records.read import get
from tests.conftest import keep
from tests.rows import each, examples, missing, rows, sampled
from tests.verbs.scripts import taken
from tests.web.conftest import ORIGIN, PORT, Site

EVERY = [*PAGES, *(one.path for one in ENDPOINTS if one.method == "GET"), "/stream", "/api/openapi.json"]
FOREIGN = f"http://evil.example null http://127.0.0.1:1 http://127.0.0.1.evil.example:{PORT} https://127.0.0.1:{PORT}"


def filled(path: str, record: str = "01ARZ3NDEKTSV4RRFFQ69G5FAV") -> str:
    return path.replace("{id}", record).replace("{what}", "verify")


def test_another_name_is_no_name_of_ours(site: Site) -> None:
    foreign = ("evil.example", f"evil.example:{PORT}", "127.0.0.1", "127.0.0.1:1", f"127.0.0.1.evil.example:{PORT}", "")
    answers = [site.browser.get("/memories", headers={"host": host}) for host in foreign]
    assert {(one.status_code, one.text) for one in answers} == {(421, "This server is not known by that host name.\n")}
    headers = {"host": f"localhost:{PORT}", "authorization": f"Bearer {site.keys.token}"}
    assert site.stranger.get("/memories", headers=headers).status_code == 200


@each("origin", FOREIGN.split())
def test_another_site_can_neither_read_nor_write(site: Site, origin: str) -> None:
    record = keep(site.memory, f"Refunds of {origin} go through the ledger.")
    headers, form = {"origin": origin}, {"csrf": site.keys.form, "reason": "no"}
    assert site.browser.get("/api/records", headers=headers).status_code == 403
    assert site.browser.post(f"/r/{record.id}/retire", data=form, headers=headers).status_code == 403
    assert get(site.memory, record.id).record.state == "active"


def test_who_shows_no_key_is_told_nothing(site: Site) -> None:
    keep(site.memory, "The vault code is on the third shelf.")
    wrong = [{"authorization": f"{scheme} {key}"} for scheme, key in (("Bearer", "wrong"), ("Basic", site.keys.token))]
    wrong += [{}, {"cookie": f"holdfast-{PORT}=wrong"}, {"cookie": "="}]
    for path, headers in product(EVERY, wrong):
        answer = site.stranger.get(filled(path), headers=headers)
        assert (answer.status_code, "vault" in answer.text) == (401, False), (path, headers)
    for path in ACTS:
        answer = site.stranger.post(filled(path), data={"csrf": site.keys.form}, headers={"origin": ORIGIN})
        assert answer.status_code == 401, path


def test_the_link_is_exchanged_for_a_cookie_that_only_our_own_pages_send(site: Site) -> None:
    answer = site.stranger.get(f"/?key={site.keys.link}&project=shop", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/?project=shop")
    cookie = answer.headers["set-cookie"].lower()
    assert all(part in cookie for part in ("httponly", "samesite=strict", "path=/"))
    assert site.keys.link not in answer.headers["set-cookie"]
    assert site.stranger.get("/memories").status_code == 200
    site.stranger.cookies.clear()
    assert [site.stranger.get("/", params={"key": key}).status_code for key in ("", "wrong", "é")] == [401, 401, 401]


def test_a_form_that_is_not_ours_changes_nothing(site: Site) -> None:
    record = keep(site.memory, "Refunds go through the ledger.")
    page, api, ours = f"/r/{record.id}/retire", f"/api/records/{record.id}/retire", {"origin": ORIGIN}
    for form in ({}, {"csrf": "wrong"}, {"csrf": site.keys.cookie}):
        answer = site.browser.post(page, data={**form, "reason": "it moved away"}, headers=ours)
        kept = (f'action="{page}"', ">\nit moved away</textarea>", f'value="{site.keys.form}"')  # to be sent again
        assert (answer.status_code, missing(answer.text, *kept)) == (403, [])
        assert site.browser.post(api, json={"reason": "x"}, headers=ours).status_code == 403
    assert site.browser.post(page, data={"csrf": site.keys.form, "reason": "x"}).status_code == 403  # without an origin
    body = "csrf=" + "x" * (LONGEST_BODY + 1)  # a form that never ends is not read
    assert site.browser.post(f"/r/{record.id}/edit", content=body, headers=ours).status_code == 413
    assert get(site.memory, record.id).record.state == "active"
    key = {"authorization": f"Bearer {site.keys.token}"}
    answer = site.stranger.post(api, json={"reason": "it moved"}, headers=key)
    assert (answer.status_code, get(site.memory, record.id).record.reason) == (200, "it moved"), answer.text


def test_every_answer_keeps_a_page_to_itself(site: Site) -> None:
    answers = [site.browser.get(path) for path in ("/memories", "/nothing", "/assets/viewer.css")]
    answers += [site.stranger.get("/memories"), site.browser.get("/memories", headers={"host": "evil.example"})]
    for answer in answers:
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    assert "unsafe" not in HEADERS["content-security-policy"]
    assert answers[0].headers["cache-control"] == "no-store"


@examples
def test_no_path_leads_out(site: Site, path: str) -> None:
    answer = site.browser.get(path)
    assert answer.status_code in (400, 404), answer.text[:200]
    assert "root:" not in answer.text
    assert "def make_app" not in answer.text


class _Page(HTMLParser):
    """Collects what a browser would run."""

    def __init__(self) -> None:
        super().__init__()
        self.bad: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: str(value) for name, value in attrs}
        ours = given.get("src", "").startswith("/assets/")
        if tag in ("iframe", "object", "embed", "base", "style") or (tag in ("img", "script") and not ours):
            self.bad.append(tag)
        for name, value in given.items():
            runs = name in ("href", "src", "action") and value.lower().lstrip().startswith(("javascript:", "data:"))
            self.bad += [f"{name}={value}"] if runs or name.startswith("on") or name == "style" else []


def poison(site: Site, attack: str) -> list[str]:
    """Keep an attack in every field a record, a session or a use has; give the pages to look at."""
    known = {"attack": attack, "tag": attack.replace(" ", "")[:60], "trigger": f"git commit -m {shlex.quote(attack)}"}
    scar = taken("an_attack_in_every_field", site.memory, **known).known["scar"]
    return [f"/r/{scar.id}", f"/r/{scar.id}/history", f"/r/{scar.id}/anchors", f"/graph?node={scar.id}"]


@pytest.mark.parametrize("attack", sampled(rows("stored_text_is_never_run"), 4))
def test_stored_text_is_never_run(site: Site, attack: str) -> None:
    paths = poison(site, attack)
    paths += [path for path in PAGES if "{" not in path and path not in ("/activity/older", "/activity/newer")]
    paths += """/?project=* /memories?project=* /memories?q=body /memories/hits?q=title /activity/older?before=999.~
        /activity/newer?after=0.""".split()
    asking = ("/memories?q=", "/activity?session=", "/map?folder=", "/file?path=", "/r/")
    paths += [f"{page}{attack}" for page in asking]
    session = attack.replace("/", "%2F").replace("?", "%3F").replace("#", "%23")
    paths += [f"/sessions/{session}", f"/?said={attack}&project={attack}"]
    for path in paths:
        answer = site.browser.get(path)
        assert answer.status_code in (200, 400, 404, 405), (path, answer.status_code)
        if "html" not in answer.headers["content-type"]:
            assert answer.headers["content-type"].partition(";")[0] in ("application/json", "text/plain", "text/csv")
            continue
        page = _Page()
        page.feed(answer.text)
        assert not page.bad, (path, page.bad)
        assert "50452609" not in answer.text

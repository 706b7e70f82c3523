"""The viewer of a team's server as its users have it: a real process on a real PostgreSQL, a real Chromium, and the live stream."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.hosts import test_serve
from tests.hosts.running import Run, answer
from tests.hosts.served import Served
from tests.hosts.test_serve import SHOP, call
from tests.web.running import CHROMIUM, chromium, stream

folder, environment, cli, keys = test_serve.folder, test_serve.environment, test_serve.cli, test_serve.keys
served = test_serve.served
pytestmark = pytest.mark.xdist_group("browser")


@pytest.mark.whole
@pytest.mark.skipif(not Path(CHROMIUM).exists(), reason="needs Debian's chromium")
def test_a_person_logs_in_searches_opens_a_memory_and_logs_out(served: Served, keys: dict[str, str]) -> None:
    base = served.url.removesuffix("/mcp")
    text = "The kiosk firmware needs a cold reboot after flashing."
    assert "Saved" in call(served, keys["ben"], "remember", text=text)
    with chromium() as browser:
        context = browser.new_context()
        expect.set_options(timeout=180_000)
        page = context.new_page()
        page.goto(f"{base}/memories?q=kiosk+firmware")
        page.get_by_label("Your key").fill(keys["anna"])
        page.get_by_role("button", name="Log in").click()
        expect(page).to_have_url(f"{base}/memories?q=kiosk+firmware")
        assert "hf_" not in page.url
        expect(page.get_by_text("anna", exact=True)).to_be_visible()
        page.get_by_role("link", name=re.compile("kiosk firmware")).first.click()
        expect(page.locator("#pane h1")).to_contain_text("kiosk firmware")
        page.get_by_role("button", name="Log out").click()
        expect(page).to_have_url(f"{base}/login")
        page.goto(f"{base}/memories")
        expect(page.get_by_label("Your key")).to_be_visible()
        assert [cookie["name"] for cookie in context.cookies() if "pass" in cookie.get("name", "")] == []


def test_the_live_stream_tells_what_is_ones_own_and_ends_with_the_key(
    served: Served, cli: Run, keys: dict[str, str]
) -> None:
    made = answer(cli("server", "key", "add", "anna", "--project", SHOP, "--json"))
    with stream(served.url, made["key"], "project=*") as live:
        call(served, keys["carla"], "remember", text="The bank's lift stops at the third floor.")
        call(served, keys["ben"], "remember", text="The shop's lift stops at the second floor.")
        told = next(line for line in live if line.startswith(b"data:") and b"floor" in line)
        assert (b"second floor" in told, b"third floor" in told) == (True, False)
        assert cli("server", "key", "revoke", made["id"]).returncode == 0
        call(served, keys["ben"], "remember", text="The shop's stairs creak at night.")
        assert b"stairs" not in live.read()

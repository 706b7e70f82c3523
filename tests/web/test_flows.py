"""What a person does from beginning to end, in a real Chromium: a stale memory is finished, lists keep their place."""

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import expect

from holdfast.model.record import Draft
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.lifecycle import record_use, retire
from holdfast.verbs.records.read import get
from holdfast.verbs.records.write import write
from holdfast.verbs.sessions.session import begin
from holdfast.verbs.sessions.thread import open_thread
from tests.conftest import keep
from tests.web.running import CHROMIUM
from tests.web.test_browser import SCAR, Seen, viewing

pytestmark = [
    pytest.mark.whole,
    pytest.mark.xdist_group("browser"),
    pytest.mark.skipif(not Path(CHROMIUM).exists(), reason="needs Debian's chromium"),
]
LONG = "An_identifier_without_a_single_space_that_is_wider_than_any_phone_" * 2


CODE = "RETRIES = 3\nLIMIT = 10\n\n\ndef pay():\n    return RETRIES\n"


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seen]:
    changed = {"app.py": CODE.replace("3", "5").replace("10", "20")}
    with viewing(tmp_path_factory.mktemp("flows"), {"app.py": CODE}, fill, changed) as one:
        yield one


def fill(memory: Memory) -> None:
    memory = begin(memory, title="Retries")
    keep(memory, "RETRIES is 3.", anchors=("app.py::RETRIES=3",))
    keep(memory, "A basket takes 10 articles.", anchors=("app.py::LIMIT=10",))
    keep(memory, LONG, kind="scar", fields=SCAR)
    for text in ("Mira likes small commits.", "Jonas reviews before noon.", "Ada prefers tabs."):
        write(memory, Draft(body=text, kind="preference", source="inferred"))
    open_thread(memory, "Write the migration guide.")
    for number in range(90):
        keep(memory, f"Shelf {number} holds box w{number}x of {2000 + number}.")


def test_a_stale_memory_is_finished_in_the_inbox(seen: Seen) -> None:
    page = seen.open("/review?show=stale")
    item = page.locator(".item", has_text="RETRIES is 3.")
    expect(item.locator("pre")).to_contain_text("RETRIES = 35")  # the old value struck out, the new one marked
    expect(item.get_by_role("button", name="Still true")).to_have_count(0)
    item.get_by_role("button", name="Update to 5").click()
    expect(page.locator("#toast")).to_contain_text("Updated: RETRIES is 5.")
    expect(page.locator(".item", has_text="RETRIES is")).to_have_count(0)
    item = page.locator(".item", has_text="A basket takes")
    item.get_by_role("link", name="Edit").click()
    item.locator("textarea[name=body]").fill("A basket takes 20 articles.")
    item.locator("textarea[name=anchors]").fill("not/there.py::LIMIT=20")
    item.get_by_role("button", name="Save").click()
    expect(page.locator(".flash")).to_contain_text("Saved.")
    item = page.locator(".item", has_text="A basket takes 20")
    expect(item).to_contain_text("not/there.py")  # what it cites is not there: it still waits
    item.get_by_role("link", name="Edit").click()
    item.locator("textarea[name=anchors]").fill("app.py::LIMIT=20")
    item.get_by_role("button", name="Save").click()
    page.goto(seen.viewer.base + "/review?show=stale")
    expect(page.locator("#inbox")).to_contain_text("Nothing needs your decision here.")


def test_the_inbox_is_worked_through_with_keys_alone(seen: Seen) -> None:
    page = seen.open("/review?show=pending")
    expect(page.locator(".item")).to_have_count(3)
    page.keyboard.press("j")
    first = page.locator(".item.at .title").inner_text()
    page.keyboard.press("y")
    expect(page.locator("#toast")).to_contain_text(f"Approved: {first}")
    expect(page.locator(".item")).to_have_count(2)
    page.keyboard.press("u")
    expect(page.locator("#toast")).to_contain_text("Undone")
    expect(page.locator(".item")).to_have_count(3)
    for _ in range(2):
        page.keyboard.press("j")
        page.keyboard.press("Space")
    expect(page.locator("[data-selected]")).to_have_text("2 selected")
    page.keyboard.press("x")
    expect(page.locator("#toast")).to_contain_text("2 retired or rejected.")
    expect(page.locator(".item")).to_have_count(1)
    page.keyboard.press("u")
    expect(page.locator(".item")).to_have_count(3)


def test_a_refusal_is_said_beside_the_button(seen: Seen) -> None:
    record = keep(seen.memory, "Invoices are numbered without gaps.")
    record_use(seen.memory, [record.id], "contradicted")
    page = seen.context.new_page()  # a refused request is an error in the console
    page.goto(seen.viewer.base + "/review?show=doubted")
    item = page.locator(".item", has_text="Invoices are numbered")
    retire(seen.memory, record.id, "someone else was faster")
    item.get_by_role("button", name="Retire").click()
    expect(item.locator(".problem")).to_contain_text("is already retired (someone else was faster)")
    expect(item).to_be_visible()  # and the list stays


def test_back_returns_to_the_same_place_of_a_long_list(seen: Seen) -> None:
    context = seen.enter()
    page = seen.open("/memories", context)
    page.set_viewport_size({"width": 1100, "height": 800})  # too narrow for the pane
    page.mouse.wheel(0, 4_000)
    expect(page.locator("main [data-row]").nth(60)).to_be_attached()
    link = page.locator("main [data-open]").nth(55)
    title = link.inner_text()
    link.click()
    expect(page.locator("h1")).to_have_text(title)
    page.go_back()
    expect(page.locator("main [data-row]").nth(55)).to_be_attached()
    expect(page.get_by_role("link", name=title, exact=True)).to_be_in_viewport()


def test_what_is_done_in_the_pane_leaves_the_list_where_it_is(seen: Seen) -> None:
    page = seen.open("/memories?q=shelf+33+w33x")
    page.locator(".hits [data-open]").first.click()
    page.locator("#pane summary", has_text="Retire").click()
    page.locator("#pane").get_by_label("Why retire it?").fill("moved")
    page.locator("#pane").get_by_role("button", name="Retire it").click()
    expect(page.locator("#toast")).to_contain_text("Retired. It can be restored.")
    expect(page.locator("#pane .note")).to_contain_text("moved")
    expect(page.locator(".hits .hit").first).to_be_visible()
    page.locator("#toast").get_by_role("button", name="Undo").click()
    expect(page.locator("#toast")).to_contain_text("Undone")
    page.wait_for_url("**q=shelf**")


def test_the_palette_goes_to_a_page_and_to_a_memory(seen: Seen) -> None:
    page = seen.open("/")
    page.keyboard.press("Control+k")
    page.keyboard.type("thread")
    page.keyboard.press("Enter")
    page.wait_for_url("**/threads")
    page.keyboard.press("Control+k")
    page.keyboard.type("shelf 44 w44x")
    expect(page.locator("#palette-list")).to_contain_text("Shelf 44 holds box w44x")
    page.locator("#palette-list li", has_text="Shelf 44 holds").click()
    expect(page.locator("h1")).to_contain_text("Shelf 44")
    page.keyboard.press("Control+k")
    page.keyboard.type("app.py")
    expect(page.locator("#palette-list li", has_text="file").first).to_contain_text("app.py")
    page.keyboard.press("Escape")
    expect(page.locator("#palette")).to_be_hidden()
    page.keyboard.press("Control+k")
    page.locator("#palette-q").fill("light or")
    page.keyboard.press("Enter")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_something_is_remembered_in_the_browser_and_taken_back(seen: Seen) -> None:
    page = seen.open("/")
    page.keyboard.press("c")
    page.wait_for_url("**/remember")
    page.get_by_label("What should agents know?").fill("Deploys go out on Tuesdays.")
    page.get_by_label("Cites").press_sequentially("README.md\nap")
    page.get_by_role("button", name="app.py", exact=True).press("Enter")
    page.keyboard.type("::pa")
    page.get_by_role("button", name="app.py::pay").click()
    expect(page.get_by_label("Cites")).to_have_value("README.md\napp.py::pay")
    page.get_by_label("Cites").fill("app.py::pay")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("h1")).to_have_text("Deploys go out on Tuesdays.")
    record = page.locator("article").get_attribute("data-record") or ""
    assert get(seen.memory, record).record.by.kind == "user"
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#toast")).to_contain_text("Undone")


def test_forms_fit_where_they_open(seen: Seen) -> None:
    """The edit form at 1440 pixels, a thread's form in its lane, a long title and a table on a phone."""
    page = seen.open("/memories?q=basket")
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(seen.viewer.base + (page.locator("[data-open]").first.get_attribute("href") or ""))
    page.keyboard.press("e")
    boxes = [box for field in page.locator(".sheet .grid label").all() if (box := field.bounding_box())]
    assert len(boxes) == 4
    for one in boxes:
        for other in boxes:
            apart = one["x"] + one["width"] <= other["x"] + 1 or other["x"] + other["width"] <= one["x"] + 1
            assert one is other or apart or abs(one["y"] - other["y"]) > 10
    page.goto(seen.viewer.base + "/threads")
    card = page.locator(".card", has_text="Write the migration guide")
    card.locator("summary", has_text="Resolve").click()
    lane, field = page.locator(".lane", has=card).bounding_box(), card.get_by_label("How?").bounding_box()
    assert lane
    assert field
    assert field["x"] + field["width"] <= lane["x"] + lane["width"]
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(seen.viewer.base + "/memories?kind=scar")
    title = page.locator("[data-open]").first
    box = title.bounding_box()
    assert box
    assert box["width"] > 200  # not a column of three characters
    title.click()
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    current = page.locator(".pages [aria-current]").bounding_box()
    assert current
    assert current["x"] >= 0
    assert current["y"] + current["height"] <= 844  # the bar at the bottom shows where one is
    expect(page.locator("[data-theme-switch]")).to_be_visible()


def test_without_scripts_what_loads_later_opens_as_a_whole_page(seen: Seen) -> None:
    record = keep(seen.memory, "Crates are stacked three high.", anchors=("app.py::pay",))
    page = seen.open(f"/r/{record.id}", seen.enter(java_script_enabled=False))
    for link, shown in (("The code now", "def pay"), ("all steps", "Crates are stacked three high.")):
        page.goto(f"{seen.viewer.base}/r/{record.id}")
        page.get_by_role("link", name=link).click()
        expect(page.locator("main")).to_contain_text(shown)
        expect(page.locator(".pages a").first).to_be_visible()  # with the way to the other pages
        assert page.evaluate("() => getComputedStyle(document.body).margin") == "0px"  # and with its style
    for path in ("/home/health", "/home/saved", "/insights/plots", "/memories/facets", "/map/drawn", "/review/chips"):
        page.goto(seen.viewer.base + path)
        expect(page.locator(".pages a").first).to_be_visible()
        expect(page.locator("h1")).not_to_be_empty()


def test_counts_and_dates_read_like_sentences(seen: Seen) -> None:
    """One memory is not "1 memories", no time is written by machine, and a date means its whole day."""
    record = keep(seen.memory, "Trucks leave from gate seven.")
    today = datetime.now(ZoneInfo("Pacific/Kiritimati")).date().isoformat()
    page = seen.open(f"/memories?q=trucks+gate+seven&as_of={today}", seen.enter(timezone_id="Pacific/Kiritimati"))
    expect(page.locator("main")).to_contain_text("Trucks leave from gate seven.")
    for path in f"/ /activity /memories /review /insights /scars /threads /map /r/{record.id}".split():
        page.goto(seen.viewer.base + path)
        text = page.locator("body").inner_text()
        assert not re.search(r"\b1 (memories|sessions|links|changes|recalls|threads|files|days|others)\b", text), path
        assert not re.search(r"\d{4}-\d\d-\d\dT\d\d", text), path

"""What a person does on every page from beginning to end, in a real Chromium, against a real server with real hooks."""

import re
from collections.abc import Iterator
from datetime import datetime
from itertools import product
from pathlib import Path
from typing import Any, Literal
from zoneinfo import ZoneInfo

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect

from holdfast.compose import open_memory
from holdfast.compose.settings import load_settings
from holdfast.model.query import Query
from holdfast.model.record import Record
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.lifecycle import retire
from holdfast.verbs.records.read import get
from holdfast.verbs.search.recall import recall
from holdfast.verbs.upkeep.erasing import erase
from tests.conftest import keep
from tests.replicas.seats import git
from tests.rows import WHOLE, some
from tests.verbs.scripts import taken
from tests.web.running import CHROMIUM, Viewer, checkout, chromium, hook

pytestmark = [
    pytest.mark.xdist_group("browser"),
    pytest.mark.skipif(not Path(CHROMIUM).exists(), reason="needs Debian's chromium"),
]
PAGES = tuple(
    """/ /activity /sessions /memories /memories?q=ledger /map /graph /timeline /file?path=ledger.py /review
/review?show=unused /threads /insights /scars /brief /simulate?q=git+push /remember /settings /projects""".split()
)
SCAR = {"severity": "high", "counter_arguments": ["It is rare.", "It is slow."]}
LONG = "An_identifier_without_a_single_space_that_is_wider_than_any_phone_" * 2
ATTACK = '<img src=x onerror="alert(1)"><script>alert(2)</script>'


class Seen:
    """A viewer on a small store, and a browser that came by its link."""

    def __init__(self, viewer: Viewer, browser: Browser, memory: Memory, code: Path) -> None:
        self.viewer, self.browser, self.memory, self.code = viewer, browser, memory, code
        self.context = self.enter()

    def enter(self, **given: Any) -> BrowserContext:
        """Give a browser of its own that came by the link."""
        context = self.browser.new_context(viewport={"width": 1280, "height": 860}, **given)
        context.set_default_timeout(60_000)
        context.add_init_script(path=Path(__file__).with_name("page.js"))
        expect.set_options(timeout=180_000)  # the first page of a fresh machine loads the models
        page = context.new_page()
        page.goto(self.viewer.link)
        page.close()
        return context

    def open(self, path: str, context: BrowserContext | None = None) -> Page:
        """Open a page whose complaints are failures."""
        page = (context or self.context).new_page()
        page.on("console", _complained)
        page.on("dialog", _broke)  # stored text was run
        page.on("pageerror", _broke)
        page.goto(self.viewer.base + path)
        return page


def _complained(message: ConsoleMessage) -> None:
    gone = message.text.startswith(("htmx:sendAbort", "htmx:afterRequest"))  # a search that was typed over
    assert message.type != "error" or gone, message.text


def _broke(problem: object) -> None:
    raise AssertionError(str(problem))


CODE = "RETRIES = 3\nLIMIT = 10\n\n\ndef pay():\n    return RETRIES\n"


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seen]:
    """Give a browser on a viewer of a store that was filled in a checkout whose code then changed."""
    folder = tmp_path_factory.mktemp("browser")
    code, home = checkout(folder / "shop", "example.org/acme/shop"), folder / "store"
    (code / "ledger.py").write_text("def book(amount):\n    return amount\n")
    (code / "app.py").write_text(CODE)
    git(code, "add", ".")
    git(code, "commit", "-qm", "begin")
    settings = load_settings(flags={"home": str(home), "embedder": "none", "agent": "claude"})
    with open_memory(settings, folder=code) as memory:
        taken("a_little_of_everything", memory, ATTACK=ATTACK, TAG=ATTACK.replace(" ", ""))
        (code / "app.py").write_text(CODE.replace("3", "5").replace("10", "20"))
        viewer = Viewer(home, code, HOLDFAST_EMBEDDER="none", HOME=str(folder), XDG_CONFIG_HOME=str(folder / "config"))
        try:
            with chromium() as browser:
                yield Seen(viewer, browser, memory, code)
        finally:
            viewer.close()


def record_of(memory: Memory, text: str) -> Record:
    return recall(memory, Query(text=text), surface=False).hits[0].record


def test_two_tabs_show_what_a_real_hook_tells_as_it_happens(seen: Seen) -> None:
    first, second = seen.open("/activity"), seen.open("/activity?what=prompt")
    for page in (first, second):
        expect(page.locator("[data-live-word]")).to_have_text("live")
    hook(seen.viewer.home, "UserPromptSubmit", seen.code, "hooked-1", prompt="Why is the ledger off by a cent?")
    for page in (first, second):
        expect(page.locator("#stream .event", has_text="Why is the ledger off by a cent?").first).to_be_visible()
    ran = {"tool_input": {"command": "make totals"}, "tool_response": {"stdout": "off by 1", "exit_code": 1}}
    hook(seen.viewer.home, "PostToolUse", seen.code, "hooked-1", tool_name="Bash", **ran)
    expect(first.locator("#stream .event.failed").first).to_contain_text("Bash make totals")
    keep(seen.memory, "Totals are rounded once, at the very end.")
    expect(first.locator("#stream .event", has_text="Totals are rounded once").first).to_be_visible()
    expect(second.locator("#stream")).not_to_contain_text("Totals are rounded once")


@pytest.mark.whole
def test_the_stream_is_filtered_and_goes_on_as_one_scrolls(seen: Seen) -> None:
    page = seen.open("/activity")
    shown = page.locator("#stream .event").count()
    page.mouse.wheel(0, 20_000)
    expect(page.locator("#stream .event").nth(shown + 10)).to_be_attached()
    page.locator(".chip", has_text="Recall").click()
    page.wait_for_url("**what=asked**")
    assert set(page.locator("#stream .event .tag").all_inner_texts()) == {"Recall"}


def test_one_searches_as_one_types_and_opens_a_hit_by_key(seen: Seen) -> None:
    page = seen.open("/threads")
    page.keyboard.press("/")
    page.wait_for_url("**/memories#q")
    expect(page.locator("#q")).to_be_focused()
    with page.expect_response(re.compile("refunds.+ledger.+service")):
        page.keyboard.type("refunds ledger service")
    page.wait_for_function("() => !document.querySelector('.htmx-request')")
    expect(page.locator(".hits .hit").first).to_contain_text("Refunds go through the ledger service.")
    expect(page.locator(".hits .hit").first.locator(".why .bar").first).to_be_visible()
    page.wait_for_url("**q=refunds+ledger+service**")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    expect(page.locator(".hit.at [data-open]")).to_be_focused()
    assert not asked  # leaving the field asks nothing anew: it would take the mark away
    page.keyboard.press("Enter")
    expect(page.locator("#pane h1")).to_have_text("Refunds go through the ledger service.")
    expect(page.locator(".hits .hit").first).to_be_visible()  # the list stays
    page.keyboard.press("Escape")
    expect(page.locator("#pane")).to_be_hidden()
    page.locator("summary", has_text="Filters").click()
    page.locator("select[name=kind]").select_option("scar")
    page.wait_for_url("**kind=scar**")
    expect(page.locator(".hits .hit").first).to_contain_text("live account")
    page.locator("#q").fill("quantum chromodynamics")
    expect(page.locator("#hits")).to_contain_text("No memory matches.")


def test_a_memory_shows_what_it_cites_and_is_edited_retired_and_restored(seen: Seen) -> None:
    record = record_of(seen.memory, "refunds ledger service")
    page = seen.open(f"/r/{record.id}")
    expect(page.locator(".cited pre")).to_contain_text("def book(amount)")
    page.keyboard.press("e")
    page.locator("textarea[name=body]").fill("Refunds go through the booking service.")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".flash")).to_contain_text("Saved")
    expect(page.locator("h1")).to_have_text("Refunds go through the booking service.")  # the title follows the text
    expect(page.locator(".history del").first).to_have_text("ledger")
    page.locator("summary", has_text="Retire").click()
    page.get_by_label("Why retire it?").fill("it moved")
    page.get_by_role("button", name="Retire it").click()
    expect(page.locator(".note")).to_contain_text("it moved")
    page.get_by_role("button", name="Restore it").click()
    expect(page.locator(".flash")).to_contain_text("Restored")
    page.get_by_role("button", name="Still true").click()
    expect(page.locator(".flash")).to_contain_text("Verified")


@pytest.mark.whole
def test_chores_are_done_without_leaving_the_page(seen: Seen) -> None:
    page = seen.open("/review?show=pending")
    total = page.locator("#chips [aria-current] span")
    expect(page.locator(".item")).to_have_count(3)
    page.keyboard.press("j")
    first = page.locator(".item.at .title").inner_text()
    page.keyboard.press("y")
    expect(page.locator("#toast")).to_contain_text(f"Approved: {first}")
    expect(page.locator(".item")).to_have_count(2)
    expect(total).to_have_text("2")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#toast")).to_contain_text(f"Undone: {first}")
    expect(page.locator(".item")).to_have_count(3)
    expect(total).to_have_text("3")
    for _ in range(2):
        page.keyboard.press("j")
        page.keyboard.press("Space")
    expect(page.locator("[data-selected]")).to_have_text("2 selected")
    page.keyboard.press("x")
    expect(page.locator("#toast")).to_contain_text("2 retired or rejected.")
    expect(page.locator(".item")).to_have_count(1)
    page.keyboard.press("u")
    expect(page.locator(".item")).to_have_count(3)
    page.goto(seen.viewer.base + "/review")
    pair = page.locator("#inbox .item", has_text="port 8080")
    expect(pair).to_contain_text("port 9090")
    pair.get_by_role("button", name="Keep the newer").click()
    expect(page.locator("#toast")).to_contain_text("now replaces")


@pytest.mark.whole
def test_the_map_and_the_brief_follow_a_slider_and_settings_before_they_are_kept(seen: Seen) -> None:
    page = seen.open("/map")
    for path, name, said in (
        ("/map", "as_of", "What agents knew on"),
        ("/brief", "to", "No session got a brief until"),
    ):
        page.goto(seen.viewer.base + path)
        page.get_by_label("Days ago").focus()
        page.keyboard.press("ArrowLeft")
        page.wait_for_url(f"**{name}=2***")
        expect(page.locator("main")).to_contain_text(said)
        assert page.get_by_label("Days ago").input_value() == "-1"
    page.goto(seen.viewer.base + "/settings")
    expect(page.locator("#preview")).to_contain_text("Never test refunds")
    for value, said in (("off", "A session would get no brief."), ("full", "Never test refunds")):
        page.get_by_label("inject").select_option(value)
        expect(page.locator("#preview")).to_contain_text(said)
    page.get_by_role("button", name="Save settings").click()
    expect(page.locator(".flash")).to_contain_text("inject: saved in")


@pytest.mark.whole
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
    item.locator("textarea[name=anchors]").fill("app.py::LIMIT=20")
    item.get_by_role("button", name="Save").click()
    expect(page.locator("textarea[name=anchors]")).to_have_count(0)  # it is saved
    page.goto(seen.viewer.base + "/review?show=stale")
    expect(page.locator("#inbox")).to_contain_text("Nothing needs your decision here.")


@pytest.mark.whole
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


@pytest.mark.whole
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


def test_what_was_typed_stays_if_nothing_answers_access_ended_or_the_memory_is_gone(seen: Seen) -> None:
    record, text = keep(seen.memory, "The lobby clock is four minutes fast."), "The lobby clock is five minutes fast."
    context = seen.enter()
    page, other, state = context.new_page(), context.new_page(), context.storage_state()
    other.goto(seen.viewer.base + "/remember")
    page.goto(seen.viewer.base + "/memories?q=lobby+clock")
    page.locator(".hits [data-open]").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#pane h1")).to_be_focused()
    page.keyboard.press("e")
    erase(seen.memory, record.id)
    for place, shown in ((page.locator("#pane"), "Remember"), (other.locator("main"), text)):
        place.locator("textarea[name=body]").fill(text)
        context.set_offline(offline=True)
        for said in ("does not answer", "access has ended"):
            place.get_by_role("button", name="Save").click()
            expect(place.locator("form [role=alert]")).to_contain_text(said)
            context.set_offline(offline=False)
            context.clear_cookies()
        context.set_storage_state(state)
        place.get_by_role("button", name="Save").click()
        expect(place.locator("h1")).to_have_text(shown)
    expect(page.locator("#pane textarea[name=body]")).to_have_value(text)
    page.keyboard.press("Escape")
    expect(page.locator(".hit.at [data-open]")).to_be_focused()
    page.keyboard.press("Enter")  # in the list that still names it
    expect(page.locator("h1")).to_contain_text("There is no memory")


@pytest.mark.whole
def test_the_palette_goes_to_a_page_and_to_a_memory(seen: Seen) -> None:
    page = seen.open("/")
    page.keyboard.press("Control+k")
    page.keyboard.type("thread")
    expect(page.locator("#palette-q")).to_have_attribute("aria-activedescendant", "palette-0")
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
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()


@pytest.mark.whole
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


@pytest.mark.whole
def test_forms_fit_where_they_open(seen: Seen) -> None:
    """The edit form at 1440 pixels, a long title and the bar of pages on a phone."""
    page = seen.open("/memories?q=basket")
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(seen.viewer.base + (page.locator("[data-open]").first.get_attribute("href") or ""))
    page.keyboard.press("e")
    assert page.evaluate("checks.overlapping('.sheet .grid label')") == [4, []]
    page.set_viewport_size({"width": 390, "height": 844})
    record = keep(seen.memory, LONG, kind="scar", fields=SCAR)
    page.goto(seen.viewer.base + "/memories?kind=scar")
    title = page.locator(f'[data-open][href^="/r/{record.id}"]').first
    assert some(title.bounding_box())["width"] > 200  # not a column of three characters
    title.click()
    assert not page.evaluate("checks.wide()")
    current = some(page.locator(".pages [aria-current]").bounding_box())
    # The bar at the bottom shows where one is.
    assert (current["x"] >= 0, current["y"] + current["height"] <= 844) == (True, True)
    expect(page.locator("[data-theme-switch]")).to_be_visible()
    retire(seen.memory, record.id, "too long")


@pytest.mark.whole
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


@pytest.mark.parametrize(
    ("width", "theme", "paths"),
    [
        (320, "dark", ("/review",)),
        *(pytest.param(*one, PAGES, marks=pytest.mark.whole) for one in product((1440, 1024, 320), ("light", "dark"))),
    ],
)
def test_every_page_fits_moves_nothing_and_passes_axe(
    seen: Seen, width: int, theme: Literal["light", "dark"], paths: tuple[str, ...]
) -> None:
    """As it loads, with every form open, with a memory in the pane where there is room for one, and with the palette."""
    record = record_of(seen.memory, "ledger append-only")
    context = seen.enter(color_scheme=theme)
    page = seen.open("/", context)
    page.set_viewport_size({"width": width, "height": 900})
    found = list[tuple[str, ...]]()
    of_one = (f"/r/{record.id}", f"/graph?node={record.id}", f"/sessions/{record.by.session}")
    for path in paths + of_one[: 3 if WHOLE else 1]:
        page.goto(seen.viewer.base + path)
        found += [(path, "moves")] if page.evaluate("checks.shift()") > 0.1 else []
        page.evaluate("checks.same()")
        page.evaluate(Axe().axe_script)
        found += [(path, *one) for one in page.evaluate("checks.faults()")]
        links = page.locator('main a[data-open][href^="/r/"]:visible')
        if width >= 1280 and not path.startswith("/r/") and links.count():
            links.first.click()
            expect(page.locator("#pane .history li").first).to_be_visible()
        page.evaluate("checks.open()")
        found += [(path, *one) for one in page.evaluate("checks.faults()")]
        page.keyboard.press("Control+k")
        page.keyboard.type("le")
        expect(page.locator("#palette-list")).to_contain_text("Search for")
        found += [(path, *one) for one in page.evaluate("checks.faults('#palette')")]
    context.close()
    assert not found


def test_stored_text_is_not_run_by_a_real_browser(seen: Seen) -> None:
    record = record_of(seen.memory, "an attack")
    for path in ("/", "/memories", "/memories?q=attack", f"/r/{record.id}", "/graph", "/review"):
        page = seen.open(path)
        page.wait_for_timeout(150)
        assert page.locator("main img").count() == 0, path
        page.close()


def test_everything_needed_works_without_scripts(seen: Seen) -> None:
    page = seen.open("/activity", seen.enter(java_script_enabled=False))
    assert page.locator("#stream .event").count() > 10
    page.get_by_role("link", name="Earlier").click()
    assert page.locator("#stream .event").count() > 10
    page.goto(seen.viewer.base + "/memories")
    page.locator("#q").fill("nightly run ledger")
    page.get_by_role("button", name="Search").click()
    page.locator(".hits [data-open]").first.click()
    expect(page.locator("h1")).to_contain_text("Saw the ledger grow")
    page.get_by_role("button", name="Still true").click()
    expect(page.locator(".flash")).to_contain_text("Verified")


@pytest.mark.whole
def test_the_first_paint_waits_for_no_script(seen: Seen) -> None:
    page = seen.context.new_page()
    page.route(re.compile(r"/assets/.*\.js"), lambda _: None)  # they are on their way for good
    page.goto(seen.viewer.base + "/memories?q=ledger", wait_until="commit")
    expect(page.locator(".hits .hit").first).to_be_visible()

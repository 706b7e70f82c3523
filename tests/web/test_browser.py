"""What a person does on every page, in a real Chromium, against a real server with real hooks."""

import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Dialog, Page, Route, expect

from holdfast.compose import open_memory
from holdfast.compose.settings import load_settings
from holdfast.model.query import Query
from holdfast.model.record import Draft, Link, Record
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.lifecycle import record_use
from holdfast.verbs.records.write import write
from holdfast.verbs.search.recall import recall
from holdfast.verbs.sessions.session import begin
from holdfast.verbs.sessions.thread import open_thread
from holdfast.verbs.truth.contradictions import mark
from tests.conftest import keep
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
        expect.set_options(timeout=180_000)  # the first page of a fresh machine loads the models
        page = context.new_page()
        page.goto(self.viewer.link)
        page.close()
        return context

    def open(self, path: str, context: BrowserContext | None = None) -> Page:
        """Open a page whose complaints are failures."""
        page = (context or self.context).new_page()
        page.on("console", _complained)
        page.on("dialog", _ran)
        page.on("pageerror", _broke)
        page.goto(self.viewer.base + path)
        return page


def _complained(message: ConsoleMessage) -> None:
    gone = message.text.startswith(("htmx:sendAbort", "htmx:afterRequest"))  # a search that was typed over
    assert message.type != "error" or gone, message.text


def _ran(dialog: Dialog) -> None:
    raise AssertionError(f"stored text was run: {dialog.message}")


def _broke(problem: object) -> None:
    raise AssertionError(str(problem))


@contextmanager
def viewing(
    folder: Path, files: dict[str, str], fill: Callable[[Memory], None], after: dict[str, str]
) -> Iterator[Seen]:
    """Give a browser on a viewer of a store that was filled in a checkout of these files, which then changed."""
    code, home = checkout(folder / "shop", "example.org/acme/shop"), folder / "store"
    author = ["-c", "user.name=Bo", "-c", "user.email=bo@example.org"]
    for name, text in files.items():
        (code / name).write_text(text)
    for step in (["add", "."], [*author, "commit", "-qm", "begin"]):
        subprocess.run(["git", "-C", str(code), *step], check=True)
    settings = load_settings(flags={"home": str(home), "embedder": "none", "agent": "claude"})
    with open_memory(settings, folder=code) as memory:
        fill(memory)
        for name, text in after.items():
            (code / name).write_text(text)
        viewer = Viewer(home, code, HOLDFAST_EMBEDDER="none", HOME=str(folder), XDG_CONFIG_HOME=str(folder / "config"))
        try:
            with chromium() as browser:
                yield Seen(viewer, browser, memory, code)
        finally:
            viewer.close()


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seen]:
    with viewing(
        tmp_path_factory.mktemp("browser"), {"ledger.py": "def book(amount):\n    return amount\n"}, fill, {}
    ) as one:
        yield one


def fill(memory: Memory) -> None:
    """Keep a little of everything."""
    memory = begin(memory, title="Refund totals are off", issue="SHOP-9")
    first = keep(
        memory, "Refunds go through the ledger service.", anchors=("ledger.py::book",), scopes=("backend:refunds",)
    )
    keep(memory, "The ledger is append-only.", kind="decision", links=(Link(relation="refines", target=first.id),))
    scar = keep(memory, "Never test refunds against the live account.", kind="scar", fields=SCAR)
    keep(memory, "Saw the ledger grow during the nightly run.", kind="observation")
    older, newer = keep(memory, "The service listens on port 8080."), keep(memory, "The service listens on port 9090.")
    mark(memory, older.id, newer.id)
    write(memory, Draft(body="Mira likes small commits.", kind="preference", source="inferred"))
    write(memory, Draft(body="Jonas reviews before noon.", kind="preference", source="inferred"))
    open_thread(memory, "Write the migration guide for the ledger.")
    open_thread(memory, "Measure how long the nightly booking takes.")
    recall(memory, Query(text="test refunds live account"))
    record_use(memory, [scar.id], "applied")
    for number in range(60):
        keep(memory, f"Shelf {number} holds box w{number}x of {2000 + number}.")
    keep(memory, ATTACK, title=f"An attack {ATTACK}", tags=(ATTACK.replace(" ", ""),))
    keep(memory.acting_on("example.org/acme/printer"), "Labels are printed at 300 dpi.")


def record_of(memory: Memory, text: str) -> Record:
    return recall(memory, Query(text=text), surface=False).hits[0].record


def test_two_tabs_show_what_a_real_hook_tells_as_it_happens(seen: Seen) -> None:
    first, second = seen.open("/activity"), seen.open("/activity?what=prompt")
    for page in (first, second):
        expect(page.locator("[data-live-word]")).to_have_text("live")
    hook(seen.viewer.home, "UserPromptSubmit", seen.code, "hooked-1", prompt="Why is the ledger off by a cent?")
    for page in (first, second):
        expect(page.locator("#stream .event", has_text="Why is the ledger off by a cent?").first).to_be_visible()
    hook(
        seen.viewer.home,
        "PostToolUse",
        seen.code,
        "hooked-1",
        tool_name="Bash",
        tool_input={"command": "make totals"},
        tool_response={"stdout": "off by 1", "exit_code": 1},
    )
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
    page.locator("summary", has_text="Pin").click()
    page.get_by_role("button", name="Pin it").click()
    expect(page.locator(".b-pinned")).to_be_visible()
    page.locator("summary", has_text="Share").click()
    page.get_by_role("button", name="Share it with the team").click()
    expect(page.locator(".crumb")).to_contain_text("team")


@pytest.mark.whole
def test_chores_are_done_without_leaving_the_page(seen: Seen) -> None:
    page = seen.open("/review")
    total = page.locator("#chips [aria-current] span")
    before = int(total.inner_text())
    row = page.locator(".item", has_text="Mira likes small commits.")
    row.get_by_role("button", name="Approve").click()
    expect(page.locator("#toast")).to_contain_text("Approved: Mira likes small commits.")
    expect(total).to_have_text(str(before - 1))
    expect(page.locator("#review-count")).to_contain_text(str(before - 1))
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#toast")).to_contain_text("Undone: Mira likes small commits.")
    row = page.locator(".item", has_text="Mira likes small commits.")
    expect(row).to_be_visible()
    expect(total).to_have_text(str(before))
    row.get_by_role("button", name="Approve").click()
    expect(total).to_have_text(str(before - 1))
    row = page.locator(".item", has_text="Jonas reviews before noon.")
    row.get_by_role("button", name="Reject").click()
    expect(page.locator("#toast")).to_contain_text("Rejected: Jonas reviews before noon.")
    pair = page.locator("#inbox .item", has_text="port 8080")
    expect(pair).to_contain_text("port 9090")
    pair.get_by_role("button", name="Keep the newer").click()
    expect(page.locator("#toast")).to_contain_text("now replaces")


@pytest.mark.whole
def test_insights_are_plots_that_need_no_script(seen: Seen) -> None:
    hook(seen.viewer.home, "PostToolUse", seen.code, "hooked-2", tool_name="Bash", tool_input={"command": "make"})
    seen.open("/activity").close()  # whoever looks first takes in what hooks told
    page = seen.open("/insights")
    assert page.locator(".plot svg rect").count() > 3
    expect(page.locator("main")).to_contain_text("of 1 recall returned something; 100 % returned what was then used")
    expect(page.locator("table", has_text="PostToolUse")).to_be_visible()
    page.locator(".plot svg a").first.click()
    expect(page.locator("main [data-row]").first).to_be_visible()  # a bar leads to the memories of its day


@pytest.mark.whole
def test_a_slider_takes_the_map_and_the_brief_to_an_earlier_day(seen: Seen) -> None:
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


@pytest.mark.whole
def test_the_brief_follows_the_settings_before_they_are_kept(seen: Seen) -> None:
    page = seen.open("/settings")
    expect(page.locator("#preview")).to_contain_text("Never test refunds")
    page.get_by_label("inject").select_option("off")
    expect(page.locator("#preview")).to_contain_text("A session would get no brief.")
    page.get_by_label("inject").select_option("full")
    expect(page.locator("#preview")).to_contain_text("Never test refunds")
    page.get_by_role("button", name="Save settings").click()
    expect(page.locator(".flash")).to_contain_text("inject: saved in")


@pytest.mark.whole
def test_light_and_dark_are_a_key_apart_and_stay(seen: Seen) -> None:
    page = seen.open("/memories", seen.enter(color_scheme="light"))
    page.locator("h1").first.evaluate("() => document.activeElement.blur()")
    light = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    page.keyboard.press("d")
    dark = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    assert light != dark
    page.reload()
    assert page.evaluate("() => getComputedStyle(document.body).backgroundColor") == dark
    page.locator("body").evaluate("() => document.activeElement.blur()")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()


# What consists of the same elements as something before it in the same kind of list is removed: axe takes a moment for each text.
ONE_OF_EACH = """() => {
    const seen = new Set(), named = (one) => `${one.tagName} ${one.getAttribute("class")}`;
    for (const row of document.querySelectorAll("main :is([data-row], li, tr, .setting, .card)")) {
        const shape = [row.parentElement, row, ...row.querySelectorAll("*")].map(named).join();
        if (seen.has(shape)) row.remove(); else seen.add(shape);
    }
}"""


# How far what is on a page moved after it was painted, as browsers measure it.
SHIFT = """() => new Promise((done) => {
    let moved = 0;
    new PerformanceObserver((list) => { for (const one of list.getEntries()) moved += one.value; }).observe({ type: "layout-shift", buffered: true });
    setTimeout(() => done(moved), 100);
})"""


FORMS = "() => { for (const one of document.querySelectorAll('main details, #pane details')) one.open = true; }"
WIDE = "() => document.documentElement.scrollWidth > document.documentElement.clientWidth"


@pytest.mark.parametrize(
    ("width", "theme", "paths"),
    [
        (390, "dark", ("/memories?q=ledger", "/review")),
        *(pytest.param(*one, PAGES, marks=pytest.mark.whole) for one in product((1440, 1024, 390), ("light", "dark"))),
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
    for path in (*paths, f"/r/{record.id}", f"/graph?node={record.id}", f"/sessions/{record.by.session}"):
        page.goto(seen.viewer.base + path)
        found += [(path, "moves")] if page.evaluate(SHIFT) > 0.1 else []
        page.evaluate(ONE_OF_EACH)
        page.evaluate(Axe().axe_script)
        found += [(path, *one) for one in faults(page)]
        links = page.locator('main a[data-open][href^="/r/"]:visible')
        if width >= 1280 and not path.startswith("/r/") and links.count():
            links.first.click()
            expect(page.locator("#pane .history li").first).to_be_visible()
        page.evaluate(FORMS)
        found += [(path, *one) for one in faults(page)]
        page.keyboard.press("Control+k")
        page.keyboard.type("le")
        expect(page.locator("#palette-list")).to_contain_text("Search for")
        found += [(path, *one) for one in faults(page, "#palette")]
    context.close()
    assert not found


def faults(page: Page, within: str = "body") -> list[tuple[str, ...]]:
    """Return what axe finds, and whether the page is wider than the window."""
    options = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"], "resultTypes": ["violations"]}
    found = page.evaluate(
        "([within, options]) => axe.run(within, options).then((found) => found.violations)", [within, options]
    )
    wide = [("scrolls sideways",)] if page.evaluate(WIDE) else []
    return [*wide, *((one["id"], one["nodes"][0]["html"][:160]) for one in found)]


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
    page.route(re.compile(r"/assets/.*\.js"), never)
    page.goto(seen.viewer.base + "/memories?q=ledger", wait_until="commit")
    expect(page.locator(".hits .hit").first).to_be_visible()


def never(_: Route) -> None:
    """Let a script be on its way for good."""

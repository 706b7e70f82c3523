"""Pictures of every page, light and dark, out of the made-up store with real hooks: `python3 dev.py screenshots`.

They land in docs/screenshots. Needs Debian's `chromium`.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Literal

from PIL import Image
from playwright.sync_api import Browser, Page

from holdfast.compose import open_memory
from holdfast.compose.settings import load_settings
from holdfast.model.record import Draft
from holdfast.verbs.records.write import write
from tests.web.running import HEIGHT, WIDTH, Viewer, chromium, hook

ROOT = Path(__file__).parents[1]
OUT = ROOT / "docs" / "screenshots"
PROJECT = "github.com/fernhill/storefront"
PAGES = {
    "home": "/",
    "activity": "/activity",
    "memories": "/memories?q=what+to+watch+for+when+migrating+the+orders+table",
    "map": "/map",
    "file": "/file?path=services/orders/totals.py",
    "graph": "/graph",
    "review": "/review",
    "sessions": "/sessions",
    "threads": "/threads",
    "insights": "/insights",
    "scars": "/scars",
    "settings": "/settings",
}
SESSION = "7d0f3c52-checkout-totals"


def main() -> None:
    """Make every picture anew."""
    OUT.mkdir(exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="holdfast-screenshots-"))
    try:
        home = folder / "demo"
        code = home / "storefront"
        subprocess.run([sys.executable, "-m", "holdfast", "demo", str(home)], check=True, capture_output=True)
        _files(home, code)
        _work(home, code)
        _story(home, code)
        _work(home, code)
        viewer = Viewer(home, code, HOME=str(folder))
        try:
            with chromium() as browser:
                shoot(browser, viewer, "light")
                shoot(browser, viewer, "dark")
        finally:
            viewer.close()
    finally:
        shutil.rmtree(folder)


def shoot(browser: Browser, viewer: Viewer, theme: Literal["light", "dark"]) -> None:
    """Take the pictures of one theme, and some on a phone."""
    context = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=theme)
    page = context.new_page()
    page.goto(viewer.link)
    for name, path in PAGES.items():
        _take(page, viewer.base + path, f"{name}-{theme}")
        if name == "memories":
            page.click(".hits .hit:first-child [data-open]")
            page.wait_for_selector("#pane .history")
            _save(page, f"memories-{theme}")
            _take(
                page,
                viewer.base + (page.locator(".hits [data-open]").first.get_attribute("href") or ""),
                f"record-{theme}",
            )
        if name == "sessions":
            page.goto(viewer.base + "/sessions?offset=3")
            page.click(".rows .row [data-open]")
            _take(page, page.url, f"session-{theme}")
    phone = browser.new_context(
        viewport={"width": 390, "height": 844},
        color_scheme=theme,
        device_scale_factor=2,
        storage_state=context.storage_state(),
    )
    _take(phone.new_page(), viewer.base + PAGES["review"], f"phone-{theme}")


def _take(page: Page, url: str, name: str) -> None:
    page.goto(url)
    page.wait_for_load_state("load" if "activity" in url else "networkidle")  # a live page never falls silent
    page.wait_for_timeout(400)
    _save(page, name)


def _save(page: Page, name: str) -> None:
    file = OUT / f"{name}.png"
    page.screenshot(path=file)
    picture = (
        Image.open(file).convert("RGB").quantize(colors=256, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    )
    picture.save(file, optimize=True)
    print(f"{file.relative_to(ROOT)}  {file.stat().st_size // 1000} kB")


def _files(home: Path, code: Path) -> None:
    """Let a file of the demo's code be known, and change afterwards."""
    settings = load_settings(flags={"home": str(home), "project": PROJECT, "embedder": "none"})
    totals = code / "services/orders/totals.py"
    before = '"""Totals of orders."""\n\nRETRIES = 3\nROUNDING = "half-even"\n\n\ndef total(lines):\n    """Add the lines, and round once."""\n    return round(sum(line.price * line.count for line in lines), 2)\n'
    totals.parent.mkdir(parents=True, exist_ok=True)
    totals.write_text(before, encoding="utf-8")
    _commit(code, "orders: totals")
    with open_memory(settings, folder=code) as memory:
        for text, anchor in (
            ("Booking an order is tried 3 times.", "services/orders/totals.py::RETRIES=3"),
            ("Totals are rounded once, at the very end.", "services/orders/totals.py::total"),
        ):
            write(memory, Draft(body=text, anchors=(anchor,)))
    totals.write_text(before.replace("RETRIES = 3", "RETRIES = 5"), encoding="utf-8")
    _commit(code, "orders: try five times")


def _commit(code: Path, subject: str) -> None:
    author = ["-c", "user.name=Bo", "-c", "user.email=bo@example.org"]
    for step in (["add", "-A"], [*author, "commit", "-qm", subject]):
        subprocess.run(["git", "-C", str(code), *step], check=True, capture_output=True)


def _work(home: Path, code: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "holdfast", "--home", str(home), "work"], cwd=code, check=True, capture_output=True
    )


def _story(home: Path, code: Path) -> None:
    """Let an agent work for a few minutes, told by the real hooks."""

    def tell(event: str, **given: object) -> None:
        hook(home, event, code, SESSION, **given)

    tell("SessionStart", source="startup")
    tell(
        "UserPromptSubmit",
        prompt="The order totals on the invoice are off by a cent for some customers. Find out why and fix it.",
    )
    tell("PreToolUse", tool_name="Bash", tool_input={"command": "uv run pytest -q services/orders"})
    tell(
        "PostToolUse",
        tool_name="Bash",
        tool_input={"command": "uv run pytest -q services/orders"},
        tool_response={"stdout": "2 failed, 118 passed in 9.41s", "exit_code": 1},
    )
    tell("PreToolUse", tool_name="Edit", tool_input={"file_path": str(code / "services/orders/totals.py")})
    tell(
        "PostToolUse",
        tool_name="Edit",
        tool_input={
            "file_path": str(code / "services/orders/totals.py"),
            "old_string": "round(",
            "new_string": "quantize(",
        },
        tool_response={"content": "ok"},
    )
    tell(
        "PostToolUse",
        tool_name="Bash",
        tool_input={"command": "uv run pytest -q services/orders"},
        tool_response={"stdout": "120 passed in 9.38s", "exit_code": 0},
    )
    tell(
        "Stop",
        last_assistant_message="Fixed the totals: each line was rounded before the sum. They are summed as decimals and rounded once now.",
    )


if __name__ == "__main__":
    main()

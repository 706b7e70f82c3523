"""Make docs/assets/demo.svg: half a minute of a terminal, from a real run in a repository made for it.

`python3 dev.py picture` makes it again. Lines appear one after the other; where nothing may move, all are there at once.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from html import escape
from pathlib import Path

from rich.color import Color
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.terminal_theme import MONOKAI
from rich.text import Text

OUT = Path(__file__).resolve().parent.parent / "docs" / "assets" / "demo.svg"
WIDTH, ROW, LETTER, EDGE = 112, 20, 8.43, 18
TYPED, READ, LINE = 1.2, 3.2, 0.06  # seconds: for a command, for its answer, between lines
CODE = "RETRIES = 3\n\ndef charge(order):\n    for attempt in range(RETRIES):\n        pay(order)\n"
SCAR = 'holdfast remember --kind scar "An ALTER on orders locked the shop for 12 minutes. Set lock_timeout first."'
# What is shown as typed, and what is run where that is more.
SCENES = (
    ("# Monday: an agent learns two things", ""),
    (
        'holdfast remember --kind decision "Charging is tried three times." --anchor src/pay.py::RETRIES=3',
        "",
    ),
    (
        f"{SCAR} …",
        SCAR
        + ' --field severity=critical --field counter_arguments="small in staging" --field counter_arguments="worked last time"',
    ),
    ("# Tuesday: someone changes the code", ""),
    (
        "git commit -am 'Five retries' --quiet",
        "sed -i 's/RETRIES = 3/RETRIES = 5/' src/pay.py && git commit -am 'Five retries' --quiet",
    ),
    ("# Wednesday: another agent asks, in its own words", ""),
    ("holdfast recall how often do we try to charge", ""),
    ("# … and its session starts with this", ""),
    ("holdfast brief", ""),
    ("holdfast recall which css framework do we use", ""),
)


def main() -> None:
    """Run everything, and write the picture."""
    with tempfile.TemporaryDirectory() as folder:
        rows = list(_timed(Path(folder)))
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(_picture(rows), encoding="utf-8")
    print(f"{OUT.name}: {len(rows)} lines, {rows[-1][0]:.0f} seconds, {OUT.stat().st_size:,} bytes")


def _timed(folder: Path) -> Iterator[tuple[float, list[Segment]]]:
    """Give each line with the second it appears at."""
    shop, environment = _shop(folder)
    now = 0.5
    for typed, meant in SCENES:
        yield now, _typed(typed)
        if typed.startswith("#"):
            now += TYPED
            continue
        now += TYPED
        said = _run(meant or typed, shop, environment)
        for line in _lines(said):
            yield now, line
            now += LINE
        yield now, []
        now += READ if said else TYPED


def _shop(folder: Path) -> tuple[Path, dict[str, str]]:
    """Make a small repository, and an environment in which nothing of this machine shows."""
    shop = folder / "shop"
    (shop / "src").mkdir(parents=True)
    (shop / "src" / "pay.py").write_text(CODE, encoding="utf-8")
    person = {f"GIT_{role}_{part}": text for role in ("AUTHOR", "COMMITTER") for part, text in _PERSON}
    environment = {
        **person,
        "HOME": str(folder),
        "HOLDFAST_HOME": str(folder / "store"),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "FORCE_COLOR": "1",
        "TERM": "xterm-256color",
        "LOGNAME": "ada",
    }
    for command in (
        "git init -q",
        "git remote add origin git@github.com:acme/shop.git",
        "git add .",
        "git commit -qm Shop",
    ):
        subprocess.run(command.split(), cwd=shop, env=environment, check=True)
    return shop, environment


_PERSON = (("NAME", "Bo"), ("EMAIL", "bo@example.org"))


def _run(command: str, folder: Path, environment: dict[str, str]) -> str:
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout + done.stderr


def _typed(text: str) -> list[Segment]:
    if text.startswith("#"):
        return [Segment(text, Style(color="#8aa8a2", italic=True))]
    return [Segment("$ ", Style(color="green", bold=True)), Segment(text, Style(bold=True))]


def _lines(said: str) -> list[list[Segment]]:
    console = Console(width=WIDTH, force_terminal=True, color_system="truecolor")
    return console.render_lines(Text.from_ansi(said.rstrip("\n")), pad=False) if said.strip() else []


def _picture(rows: list[tuple[float, list[Segment]]]) -> str:
    height, width = len(rows) * ROW + 2 * EDGE + 30, int(WIDTH * LETTER + 2 * EDGE)
    body = "\n".join(_row(place, at, line) for place, (at, line) in enumerate(rows) if line)
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="A run of holdfast in a terminal">
<style>
text{{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#e6e6e6;white-space:pre}}
.l{{animation:a .01s linear both}}@keyframes a{{from{{opacity:0}}to{{opacity:1}}}}
@media (prefers-reduced-motion:reduce){{.l{{animation:none}}}}
</style>
<rect width="{width}" height="{height}" rx="10" fill="#16211f" stroke="#40605b"/>
<circle cx="22" cy="20" r="6" fill="#f0655a"/><circle cx="42" cy="20" r="6" fill="#e6b13e"/><circle cx="62" cy="20" r="6" fill="#58b368"/>
{body}
</svg>
"""


def _row(place: int, at: float, line: list[Segment]) -> str:
    parts, column = [], 0
    for text, style, _ in line:
        shown = text.rstrip("\n")
        if shown.strip():
            start = column + len(shown) - len(shown.lstrip())
            parts.append(f'<tspan x="{EDGE + start * LETTER:.1f}"{_look(style)}>{escape(shown.strip())}</tspan>')
        column += len(shown)
    return f'<text class="l" style="animation-delay:{at:.2f}s" y="{place * ROW + EDGE + 42}">{"".join(parts)}</text>'


def _look(style: Style | None) -> str:
    if not style:
        return ""
    colour = f' fill="{_hex(style.color)}"' if style.color and not style.color.is_default else ""
    dim = ' fill-opacity=".65"' if style.dim else ""
    bold = ' font-weight="700"' if style.bold else ""
    return colour + dim + bold + (' font-style="italic"' if style.italic else "")


def _hex(colour: Color) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour.get_truecolor(MONOKAI))


if __name__ == "__main__":
    main()

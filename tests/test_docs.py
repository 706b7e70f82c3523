"""The site says what the code says."""

import ast
import os
import re
from pathlib import Path

from bench.__main__ import bench
from tests.hosts.running import preloaded
from tests.rows import each
from tests.test_behaviours import functions

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").rglob("*.md"))


def test_the_reference_is_what_the_code_says() -> None:
    script = f"import runpy; runpy.run_path({str(ROOT / 'scripts' / 'reference.py')!r}, run_name='__main__')"
    done = preloaded(["--check"], ROOT, os.environ, program=script)
    assert done.returncode == 0, f"{done.stdout}{done.stderr} Run `python3 dev.py uv run python scripts/reference.py`."


@each("page", [*PAGES, *(ROOT / name for name in ("README.md", "AGENTS.md", "justfile"))])
def test_links_between_pages_lead_somewhere_and_benchmarks_can_be_run(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert set(re.findall(r"dev\.py bench ([a-z]+)", text)) <= set(bench.commands)
    plain = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)|src(?:set)?=\"([^\"]+)\"", plain)
    near = [one for pair in links for one in pair if one and not re.match(r"[a-z]+:", one)]
    assert [one for one in near if not (page.parent / one).exists()] == []


def test_every_test_that_the_list_of_attacks_names_exists() -> None:
    page = (ROOT / "tests" / "hostile" / "README.md").read_text(encoding="utf-8")
    named, file = [], ""
    for place, name in re.findall(r"`(?=tests/|::test_)(tests/[\w/]+\.py)?(?:::(test_\w+))?`", page):
        file = place or file
        named.append((file, name))
    assert len(named) > 60
    known = {file: functions(file) for file, _ in named}
    assert [(file, name) for file, name in named if name and name not in known[file]] == []
    table = page.partition("| attack | what happens | test |")[2].partition("\n\n")[0].strip().splitlines()[1:]
    assert [row for row in table if "`tests/" not in row.split(" | ")[-1]] == []


FOLDERS = "model|policy|engine|adapters|verbs|surfaces|hosts|compose"
NAMED = re.findall(rf"`((?:{FOLDERS})/[^`\s*]*)`", (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8"))


@each("place", NAMED)
def test_the_architecture_page_names_modules_and_functions_that_exist(place: str) -> None:
    file, _, name = place.partition("::")
    path = ROOT / "src" / "holdfast" / file
    assert path.exists(), place
    body = ast.parse(path.read_text(encoding="utf-8")).body if name else []
    for part in filter(None, name.split(".")):
        defined = {node.name: node for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        assert part in defined, place
        body = defined[part].body


# Of pip and the shell.
OTHERS = {"externally-managed-environment", "requires a different Python", "holdfast: command not found"}
QUOTED = re.findall(
    r"^\| \*([^|]*)\* \|", (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8"), re.MULTILINE
)


def test_troubleshooting_quotes_messages_that_are_printed() -> None:
    files = (file for name in ("*.py", "pages.txt", "admit.txt") for file in (ROOT / "src").rglob(name))
    source = " ".join(file.read_text(encoding="utf-8") for file in files)
    assert len(QUOTED) > 10
    for message in set(QUOTED) - OTHERS:
        parts = re.split(r"…\S*|`[^`]*`|'[^']*'", message)  # what stands for a name
        assert all(part.strip(" .?") in source for part in parts), message

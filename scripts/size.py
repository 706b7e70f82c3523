"""Print how large the product is, by package: lines, files, functions, and private functions that are used once.

Exit code 1 if it is larger than the ceiling, which may only be lowered.
"""

import ast
import re
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PRODUCT = ROOT / "src" / "holdfast"
LINES, FILES, TEST_LINES = 46_000, 276, 29_180  # ceilings
GOALS = (46_000, 350, 28_000)


class Size(NamedTuple):
    """The size of a package."""

    lines: int
    files: int
    functions: int
    used_once: int


def sizes() -> dict[str, Size]:
    """Return the size of each package of the product, hosts and surfaces by their parts."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(PRODUCT.rglob("*.py"))}
    found: dict[str, Size] = {}
    for path, text in texts.items():
        parts = path.relative_to(PRODUCT).parts[:-1]
        package = "/".join(parts[: 2 if parts[:1] in (("hosts",), ("surfaces",), ("policy",)) else 1]) or "(root)"
        functions = [node.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
        names = Counter(re.findall(r"\b_[a-z]\w*\b", text))
        once = sum(name.startswith("_") and not name.startswith("__") and names[name] <= 2 for name in functions)
        one = Size(text.count("\n"), 1, len(functions), once)
        found[package] = Size(*(a + b for a, b in zip(found.get(package, (0, 0, 0, 0)), one, strict=True)))
    return found


def totals() -> tuple[int, int, int]:
    """Return the lines and files of the product, and the lines of tests, of which some are scripts in text files."""
    product, tests, scripts = (
        [path.read_bytes().count(b"\n") for path in (ROOT / folder).rglob(names)]
        for folder, names in (("src/holdfast", "*.py"), ("tests", "*.py"), ("tests", "test_*.txt"))
    )
    return sum(product), len(product), sum(tests) + sum(scripts)


def beside() -> int:
    """Return the lines of what the code reads: templates, tables, SQL and messages."""
    kinds = (".txt", ".toml", ".sql", ".jinja", ".html", ".css", ".js", ".json")
    texts = (path for path in PRODUCT.rglob("*") if path.suffix in kinds)
    return sum(path.read_bytes().count(b"\n") for path in texts)


def main() -> int:
    """Print the table and the ceilings."""
    print(f"{'package':24}{'lines':>8}{'files':>7}{'functions':>11}{'used once':>11}")
    for package, size in sorted(sizes().items()):
        print(f"{package:24}{size.lines:8,}{size.files:7}{size.functions:11,}{size.used_once:11,}")
    measured = totals()
    for name, count, ceiling, goal in zip(
        ("lines", "files", "lines of tests"), measured, (LINES, FILES, TEST_LINES), GOALS, strict=True
    ):
        print(f"{name}: {count:,}, ceiling {ceiling:,}, goal {goal:,}")
    print(f"lines of templates, tables, SQL and messages beside the code: {beside():,}")
    return int(any(count > most for count, most in zip(measured, (LINES, FILES, TEST_LINES), strict=True)))


if __name__ == "__main__":
    sys.exit(main())

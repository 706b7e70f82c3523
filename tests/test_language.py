"""Texts that people read use the words of the glossary, docs/domain.md; CONTRIBUTING.md lists the retired ones."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.rows import each
from tests.test_layers import SOURCE, modules

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.xdist_group("layers")  # one process parses the product
# What may have retired words: a list of columns, and two starter lessons.
BUDGET = {"engine": 1, "verbs": 2}
PAGES = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md", ROOT / "AGENTS.md", ROOT / "CONTRIBUTING.md"]
TEMPLATES = [file for name in ("pages.txt", "commands.txt") for file in sorted(SOURCE.rglob(name))]


@cache
def retired() -> re.Pattern[str]:
    """Return a pattern of the words in the first column of the table of retired words."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = page.partition("## Retired words")[2].partition("\n## ")[0]
    cells = [row.split("|")[1] for row in table.splitlines() if row.startswith("| `")]
    words = [word for cell in cells for word in re.findall(r"`([^`]+)`", cell)]
    assert len(words) > 40
    return re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, words))})(?![\w-])", re.IGNORECASE)


def found_in(text: str) -> list[str]:
    return retired().findall(" ".join(text.split()))


def test_the_words_are_found_and_ordinary_english_is_not() -> None:
    assert found_in("Nobody was told what became\nof it.") == ["Nobody", "told", "what became of"]
    assert found_in("A body held in memory; going once; a telling name; the desktop; the amendment.") == []


@each("page", [*PAGES, *TEMPLATES])
def test_a_page_has_no_retired_word(page: Path) -> None:
    """But for what it quotes: code, output and names in backticks, and steps of templates."""
    quoted = r"```.*?```|`[^`\n]*`" if page.suffix == ".md" else r"{%.*?%}"
    assert found_in(re.sub(quoted, " ", page.read_text(encoding="utf-8"), flags=re.DOTALL)) == []


def test_docstrings_and_messages_have_no_retired_words_and_start_with_what_the_caller_gets() -> None:
    found: dict[str, list[str]] = {folder: [] for folder in BUDGET}
    for path, nodes in modules():
        folder, *_ = path.relative_to(SOURCE).parts
        for line, text in texts_in(nodes):
            found.setdefault(folder, []).extend(f"{path}:{line}: {word}" for word in found_in(text))
        documented = (node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef))
        for node in documented:
            assert not re.match(r"(?:Give|Tell)\b", ast.get_docstring(node) or ""), f"{path}:{node.lineno}"
    assert {folder: words for folder, words in found.items() if len(words) > BUDGET.get(folder, 0)} == {}


def texts_in(nodes: list[ast.AST]) -> Iterator[tuple[int, str]]:
    """Yield the docstrings and messages of a module: strings of several words, without lists of words, patterns and code."""
    lists = {node.value for node in nodes if isinstance(node, ast.Attribute) and node.attr in ("split", "splitlines")}
    code = r"\(\?|\\[bwsd]|^\s*(?:import|select|insert|update|delete|create) "
    for node in nodes:
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or node in lists:
            continue
        if " " in node.value.strip() and not re.search(code, node.value):
            yield node.lineno, node.value

"""Texts that people read use the words of the glossary, docs/domain.md; CONTRIBUTING.md lists the retired ones."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest

from holdfast.hosts.cli.main import cli
from tests.rows import each
from tests.test_layers import SOURCE, modules

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.xdist_group("layers")  # one process parses the product
# How many retired words, and how many docstrings that start with "Give" or "Tell", each folder may have.
BUDGET = {
    "adapters": (0, 0),
    "compose": (0, 0),
    "engine": (1, 0),  # a list of columns
    "hosts": (0, 0),
    "integrations": (0, 0),
    "model": (0, 0),
    "policy": (0, 0),
    "surfaces": (0, 0),
    "verbs": (2, 0),  # two starter lessons
}
HELP_BUDGET = 0  # of the command line
REFERENCE_BUDGET = 0  # docs/reference, written from the code
PAGES = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md", ROOT / "AGENTS.md", ROOT / "CONTRIBUTING.md"]


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
    """Return the retired words of a text."""
    return retired().findall(" ".join(text.split()))


def prose(page: str) -> str:
    """Return a page without what it quotes: code, output and names in backticks."""
    return re.sub(r"```.*?```|`[^`\n]*`", " ", page, flags=re.DOTALL)


def test_the_words_are_found_and_ordinary_english_is_not() -> None:
    assert found_in("Nobody was told what became\nof it.") == ["Nobody", "told", "what became of"]
    assert found_in("A body held in memory; going once; a telling name; the desktop; the amendment.") == []


@each("page", PAGES)
def test_a_page_has_no_retired_word(page: Path) -> None:
    if "reference" not in page.parts:
        assert found_in(prose(page.read_text(encoding="utf-8"))) == []


def test_the_reference_keeps_to_its_budget() -> None:
    pages = [prose(page.read_text(encoding="utf-8")) for page in (ROOT / "docs" / "reference").glob("*.md")]
    assert sum(len(found_in(page)) for page in pages) <= REFERENCE_BUDGET


def test_the_help_of_commands_keeps_to_its_budget() -> None:
    texts = list(help_texts(cli, click.Context(cli)))
    assert len(texts) > 300
    assert sum(len(found_in(text)) for text in texts) <= HELP_BUDGET


def help_texts(command: click.Command, context: click.Context) -> Iterator[str]:
    """Yield the help of a command, of its options and of its subcommands."""
    yield command.help or ""
    yield from (option.help or "" for option in command.params if isinstance(option, click.Option))
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from help_texts(inner, click.Context(inner, parent=context, info_name=name))


FOLDERS = sorted(path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists())


def parsed(folder: str) -> Iterator[tuple[str, list[ast.AST]]]:
    """Yield the path and the nodes of each module of a folder."""
    for path, nodes in modules():
        if path.is_relative_to(SOURCE / folder):
            yield str(path.relative_to(SOURCE)), nodes


def templates(folder: str) -> list[Path]:
    """Return the templates of texts in a folder."""
    return [file for name in ("pages.txt", "commands.txt") for file in sorted((SOURCE / folder).rglob(name))]


@each("folder", FOLDERS)
def test_docstrings_and_messages_keep_to_their_budget(folder: str) -> None:
    found = [
        f"{path}:{line}: {word}"
        for path, nodes in parsed(folder)
        for line, text in texts_in(nodes)
        for word in found_in(text)
    ]
    found += [
        f"{path.relative_to(SOURCE)}: {word}"
        for path in templates(folder)
        for word in found_in(re.sub(r"{%.*?%}", "", path.read_text(encoding="utf-8")))
    ]
    assert len(found) <= BUDGET[folder][0], "\n".join(found)


@each("folder", FOLDERS)
def test_docstrings_start_with_what_the_caller_gets(folder: str) -> None:
    found = [
        f"{path}:{node.lineno}"
        for path, nodes in parsed(folder)
        for node in nodes
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and re.match(r"(?:Give|Tell)\b", ast.get_docstring(node) or "")
    ]
    assert len(found) <= BUDGET[folder][1], "\n".join(found)


def texts_in(nodes: list[ast.AST]) -> Iterator[tuple[int, str]]:
    """Yield the docstrings and messages of a module: strings of several words, without lists of words, patterns and code."""
    lists = {node.value for node in nodes if isinstance(node, ast.Attribute) and node.attr in ("split", "splitlines")}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in lists and is_text(node.value):
            yield node.lineno, node.value


def is_text(value: str) -> bool:
    """True if a string reads as text."""
    code = r"\(\?|\\[bwsd]|^\s*(?:import|select|insert|update|delete|create) "
    return " " in value.strip() and not re.search(code, value)

"""Every guide is run: its commands work in the order of the page, and print what it promises."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from tests import engines
from tests.guides import ROOT, World, blocks_of
from tests.importing import copied
from tests.rows import refused, sampled


def _guides(nav: object) -> Iterator[str]:
    """Yield the pages of a part of the site, in order, but for the reference and the internals."""
    match nav:
        case str():
            yield f"docs/{nav}"
        case list():
            for part in nav:
                yield from _guides(part)
        case dict():
            for name, part in nav.items():
                yield from _guides(part) if name not in ("Reference", "Internals") else ()


def _text(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


pytestmark = pytest.mark.embedded  # each guide names the store it uses
SITE = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
GUIDES = [page for page in ("README.md", *_guides(SITE["nav"])) if blocks_of(_text(page))]


@pytest.mark.parametrize("page", sampled(GUIDES, 3))
def test_a_guide_does_what_it_says(page: str, tmp_path: Path) -> None:
    text = _text(page)
    variables = {"SOURCES": str(copied(tmp_path))} if "$SOURCES" in text else {}
    if "postgresql:///" not in text:
        World(folder=tmp_path, variables=variables).run(text)
        return
    variables |= _server()
    try:
        World(folder=tmp_path, variables=variables).run(text)
    finally:
        drop = [f"{engines.tools()}/dropdb", "--if-exists", "--force", "holdfast"]
        subprocess.run(drop, env=variables, check=True, capture_output=True)


def _server() -> dict[str, str]:
    """Return the variables with which commands without an address reach the server of the tests."""
    url = urlsplit(engines.server())
    query = parse_qs(url.query)
    host = query["host"][0] if "host" in query else str(url.hostname)
    port = {"PGPORT": str(url.port)} if url.port else {}
    return {"PGHOST": host, "PGUSER": url.username or "postgres", **port}


def test_every_block_that_is_left_out_says_why() -> None:
    skipped = [block.note("skip") for page in GUIDES for block in blocks_of(_text(page)) if block.note("skip")]
    named = {word.rstrip(";") for reason in skipped for word in reason.split() if word.startswith(("tests/", ".ci/"))}
    assert [name for name in named if not (ROOT / name).exists()] == []
    run = [block for page in GUIDES for block in blocks_of(_text(page)) if not block.note("skip")]
    assert len(run) > 2 * len(skipped)


def test_a_page_that_promises_something_else_fails(tmp_path: Path) -> None:
    world = World(folder=tmp_path)
    world.run("```console\n$ echo one; echo two\none\n…\n```\n")
    refused(AssertionError, world.run, "```console\n$ echo one\ntwo\n```\n", says="echo one")
    refused(AssertionError, world.run, "```sh\nexit 3\n```\n", says="exit code 3")

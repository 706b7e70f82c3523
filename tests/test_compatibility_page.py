"""docs/compatibility.md says only what tests show: statements.toml names them for each row and paragraph."""

import json
import re
import tomllib
from dataclasses import fields
from pathlib import Path

from holdfast.model.config import Config
from tests.compatible.table import promises
from tests.rows import each
from tests.test_behaviours import functions

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "compatibility.md").read_text(encoding="utf-8")
SHOWN: dict[str, dict[str, list[str]]] = tomllib.loads(
    (ROOT / "tests" / "compatible" / "statements.toml").read_text(encoding="utf-8")
)
CONTRACTS = {file.parent.name: file.read_text("utf-8") for file in ROOT.glob("src/holdfast/surfaces/*/contract.json")}
SURFACES = {"GitMem": "gitmem", "claude-mem": "claude_mem", "Memory MCP": "memory_mcp", "bettermemory": "bettermemory"}
TOOLS = {name: [tool["name"] for tool in json.loads(CONTRACTS[SURFACES[name]])["tools"]] for name in SURFACES}
# Names of other systems that have no counterpart here, and fields of results.
ELSEWHERE = set(
    """contribute_feedback index_docs search_docs smart_search smart_outline smart_unfold get_tool_uses observation_record_event
    observation_search observation_context observation_generation_status require_write_confirmation default_max_results
    gitmem_dir was_duplicate use_token scope_mismatch tombstone_path last_verified_at capture_transcript
    transcript_path prompt_number""".split()
)


def sections() -> dict[str, str]:
    """Return the text below each heading; what stands before the first introduces the page."""
    parts = re.split(r"^## (.+)\n", PAGE, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def names(text: str) -> list[str]:
    """Return the first cell of each row and the words in bold that each paragraph begins with; nothing else may stand there."""
    found = []
    for block in re.split(r"\n\n|\n(?=- )", text.strip()):
        if block.startswith("| "):
            cells = [line.strip("|").split(" |")[0].strip().replace("\\", "") for line in block.splitlines()[2:]]
            found += cells
        else:
            lead = re.match(r"(?:- )?\*\*(.+?)\*\*", block)
            assert lead, f"this has no words in bold to be found by: {block[:60]}"
            found.append(lead[1])
    return found


@each("section", sections())
def test_every_row_and_paragraph_has_tests(section: str) -> None:
    assert sorted(SHOWN[section]) == sorted(names(sections()[section]))
    assert [name for name, tests in SHOWN[section].items() if not tests] == []


@each("section", SHOWN)
def test_the_tests_exist(section: str) -> None:
    pairs = [test.split("::") for tests in SHOWN[section].values() for test in tests]
    assert [name for file, name in pairs if name not in functions(f"tests/{file}.py")] == []


def test_every_promise_of_the_documents_is_tried_or_differs_for_a_reason() -> None:
    for (module, section), stated in promises().items():
        for promise, names_ in stated.items():
            for name in names_:
                file, _, test = name.rpartition("::")
                tests = functions(f"tests/{file}.py" if "/" in file else f"tests/compatible/test_{file or module}.py")
                known = SHOWN[section] if name.startswith("~") else tests
                assert name.removeprefix("~") in known or test in known, (section, promise, name)


@each("section", TOOLS)
def test_every_tool_has_a_row_and_a_test_that_calls_it(section: str) -> None:
    rows = [row for row in SHOWN[section] if not row.startswith("`") and set(row.split(" · ")) & set(TOOLS[section])]
    assert sorted(tool for row in rows for tool in row.split(" · ")) == sorted(TOOLS[section])
    for row in rows:
        texts = "".join(
            functions(f"tests/{file}.py")[name] for file, name in (one.split("::") for one in SHOWN[section][row])
        )
        called = r"['\"]%s['\"]|(?:^|= |! |x )%s(?: |$)"
        uncalled = [tool for tool in row.split(" · ") if not re.search(called % (tool, tool), texts, re.MULTILINE)]
        assert uncalled == [], row


def test_every_setting_that_is_named_exists() -> None:
    words = set(re.findall(r"`([a-z]+(?:_[a-z]+)+)", PAGE)) - ELSEWHERE - {field.name for field in fields(Config)}
    assert sorted(word for word in words if f'"{word}"' not in "".join(CONTRACTS.values())) == []

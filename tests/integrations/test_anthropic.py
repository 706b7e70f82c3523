"""Claude's memory tool on Holdfast, with the real SDK: the same answers as its own file-based tool."""

from __future__ import annotations

import asyncio
import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import holdfast
from tests.integrations.conftest import TOKEN
from tests.replicas.seats import git
from tests.rows import Late, examples

if TYPE_CHECKING:
    import anthropic
    from anthropic.lib import tools as sdk

    from holdfast.integrations import anthropic as ours
else:
    anthropic, sdk, ours = Late("anthropic"), Late("anthropic.lib.tools"), Late("holdfast.integrations.anthropic")

pytestmark = pytest.mark.xdist_group("integrations")


@pytest.fixture
def tool(memory: holdfast.Memory) -> ours.MemoryTool:
    return ours.MemoryTool(memory)


def answer(tool: sdk.BetaAbstractMemoryTool, command: str, **arguments: Any) -> str:
    """Return what Claude gets: the result, or the error."""
    try:
        return str(tool.call({"command": command, **arguments}))
    except sdk.ToolError as problem:
        return f"error: {problem}"


@examples
def test_it_answers_as_the_file_based_tool_of_the_sdk(
    tool: ours.MemoryTool, tmp_path: Path, command: str, arguments: dict[str, Any]
) -> None:
    """In one conversation: every command, its errors, nested directories, odd texts."""
    from anthropic.tools.memory import BetaLocalFilesystemMemoryTool

    theirs = BetaLocalFilesystemMemoryTool(str(tmp_path / "theirs"))
    said, expected = answer(tool, command, **arguments), answer(theirs, command, **arguments)
    assert without_folder_sizes(said) == without_folder_sizes(expected)


def without_folder_sizes(text: str) -> str:
    """Return a listing without the sizes of directories, which a file system counts in blocks."""
    return re.sub(r"(?m)(items:\n)[\d.]+[BKMG]\t|^[\d.]+[BKMG]\t(.*/)$", r"\1\t\2", text)


@examples
def test_a_path_cannot_leave_memories(tool: ours.MemoryTool, path: str) -> None:
    for command, arguments in (
        ("view", {"path": path}),
        ("create", {"path": path, "file_text": "x"}),
        ("str_replace", {"path": path, "old_str": "x", "new_str": "y"}),
        ("insert", {"path": path, "insert_line": 0, "insert_text": "x"}),
        ("delete", {"path": path}),
        ("rename", {"old_path": path, "new_path": "/memories/b"}),
        ("rename", {"old_path": "/memories/b", "new_path": path}),
    ):
        assert answer(tool, command, **arguments).startswith("error: "), command


@examples
def test_a_malformed_command_is_an_error_that_claude_can_read(tool: ours.MemoryTool, arguments: dict[str, Any]) -> None:
    answer(tool, "create", path="/memories/a", file_text="x")
    with pytest.raises(sdk.ToolError):
        tool.call(arguments)


def test_a_secret_is_refused_and_nothing_is_saved(tool: ours.MemoryTool, memory: holdfast.Memory) -> None:
    refused = answer(tool, "create", path="/memories/keys.md", file_text=f"token: {TOKEN}")
    assert refused.startswith("error: Error: nothing was saved. The text contains credentials")
    assert TOKEN not in refused
    assert answer(tool, "create", path="/memories/keys.md", file_text="none").endswith("at: /memories/keys.md")
    assert "nothing was saved" in answer(tool, "insert", path="/memories/keys.md", insert_line=0, insert_text=TOKEN)
    assert "nothing was saved" in answer(tool, "create", path=f"/memories/{TOKEN}", file_text="x")
    assert [record.body for record in memory.list(kinds=["item"])] == ["none"]


def test_what_is_marked_private_is_left_out_and_a_tag_in_a_name_is_text(tool: ours.MemoryTool) -> None:
    text = "Ada likes tea. <private>Her PIN.</private>"
    assert answer(tool, "create", path="/memories/<system>a.md", file_text=text).endswith("<private> were left out.")
    assert "PIN" not in answer(tool, "view", path="/memories/<system>a.md")
    assert "/memories/&lt;system>a.md" in answer(tool, "view", path="/memories")


def test_a_file_is_recalled_has_a_history_and_can_be_restored(tool: ours.MemoryTool, memory: holdfast.Memory) -> None:
    answer(tool, "create", path="/memories/a.md", file_text="Deploys need one VPN.\n")
    (record,) = memory.list(kinds=["item"])
    assert [hit.record.id for hit in memory.recall("what do deploys need", kinds=["item"])] == [record.id]
    memory.revise(record.id, tags=[*record.tags, "reviewed"], extra={**record.extra, "ticket": 7})
    answer(tool, "str_replace", path="/memories/a.md", old_str="one", new_str="two")
    (record,) = memory.list(kinds=["item"])
    assert (record.title, record.body, record.by.name) == ("a.md", "Deploys need two VPN.", "claude")
    assert ("reviewed" in record.tags, record.extra["ticket"]) == (True, 7)
    answer(tool, "rename", old_path="/memories/a.md", new_path="/memories/b.md")
    answer(tool, "delete", path="/memories/b.md")
    verbs = [event.verb for event in memory.history(record.id)]
    assert verbs == ["recorded", "revised", "revised", "revised", "retired"]
    assert "does not exist" in answer(tool, "view", path="/memories/b.md")
    memory.restore(record.id)
    assert answer(tool, "view", path="/memories/b.md").endswith("     1\tDeploys need two VPN.\n     2\t")


def test_a_file_whose_code_changed_is_marked(tool: ours.MemoryTool, tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    (tmp_path / "pay.py").write_text("LIMIT = 5\n")
    with holdfast.open(tmp_path, home=tmp_path / "store") as memory:
        tool = ours.MemoryTool(memory)
        answer(tool, "create", path="/memories/pay.md", file_text="pay.py::LIMIT is the limit, LIMIT = 5 in `pay.py`.")
        assert "out of date" not in answer(tool, "view", path="/memories/pay.md")
        (tmp_path / "pay.py").write_text("LIMIT = 9\n")
        assert "may be out of date: pay.py::LIMIT" in answer(tool, "view", path="/memories/pay.md")
        assert "(may be out of date: pay.py::LIMIT" in answer(tool, "view", path="/memories")


def test_a_file_that_needs_approval_is_not_read_before(tmp_path: Path) -> None:
    with holdfast.open(tmp_path, home=tmp_path / "store", settings={"confirm_writes": True}) as memory:
        tool = ours.MemoryTool(memory)
        assert "until a person approves it" in answer(tool, "create", path="/memories/a.md", file_text="one")
        assert "pending approval" in answer(tool, "view", path="/memories/a.md")
        assert answer(tool, "view", path="/memories").endswith("/memories/a.md\t(pending approval)")
        (record,) = memory.list(kinds=["item"], states=["pending"])
        memory.confirm(record.id)
        assert answer(tool, "view", path="/memories/a.md").endswith("1\tone")


def test_paths_are_of_any_depth_but_no_file_is_a_directory_and_none_moves_into_itself(tool: ours.MemoryTool) -> None:
    assert "100,000 is the most" in answer(tool, "create", path="/memories/a.md", file_text="x" * 100_001)
    for path in ("/memories/deep/" + "/".join("abcdefgh"), "/memories/" + "x" * 300 + "/" + "y" * 300 + ".md"):
        answer(tool, "create", path=path, file_text=path)
        assert answer(tool, "view", path=path).endswith(path)
    answer(tool, "create", path="/memories/a", file_text="one")
    answer(tool, "create", path="/memories/c/d", file_text="two")
    below, again = (answer(tool, "create", path=f"/memories/{name}", file_text="x") for name in ("a/b", "c"))
    assert below.endswith("/memories/a is a file, not a directory.")
    assert again == "error: File /memories/c already exists"
    assert "Cannot rename" in answer(tool, "rename", old_path="/memories/c", new_path="/memories/c/d/e")
    assert "Cannot rename" in answer(tool, "rename", old_path="/memories", new_path="/memories/x")
    assert tool.clear_all_memory() == "All memory cleared"
    assert answer(tool, "view", path="/memories").endswith(":\n0B\t/memories")


def test_projects_do_not_share_files(tmp_path: Path) -> None:
    for project in ("one", "two"):
        with holdfast.open(tmp_path, home=tmp_path / "store", project=project) as memory:
            made = answer(ours.MemoryTool(memory), "create", path="/memories/a.md", file_text=project)
        assert made.startswith("File created")


def test_threads_create_a_file_once(tool: ours.MemoryTool, memory: holdfast.Memory) -> None:
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda text: answer(tool, "create", path="/memories/a.md", file_text=text), "abcdef"))
    assert sorted(said.startswith("error") for said in answers) == [False, True, True, True, True, True]
    assert memory.list(kinds=["item"]).total == 1


def http() -> Any:
    """Return the HTTP library that the SDK is built on."""
    built = vars(anthropic._base_client)
    return built.get("httpx2") or built["httpx"]


class Claude:
    """The API as a script: it asks for two commands and then stops; what it is sent is kept."""

    def __init__(self) -> None:
        self.got: list[dict[str, Any]] = []
        self.asks = [
            {"command": "create", "path": "/memories/a.md", "file_text": "Ada likes tea."},
            {"command": "view", "path": "/memories/../x"},
        ]
        self.transport = http().MockTransport(self._reply)

    def _reply(self, request: Any) -> Any:
        self.got.append(json.loads(request.content))
        ask = self.asks[len(self.got) - 1] if len(self.got) <= len(self.asks) else None
        use = {"type": "tool_use", "id": f"t{len(self.got)}", "name": "memory", "input": ask}
        content = [use] if ask else [{"type": "text", "text": "Done."}]
        message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": content}
        usage = {"input_tokens": 1, "output_tokens": 1}
        return http().Response(200, json={**message, "stop_reason": "tool_use" if ask else "end_turn", "usage": usage})

    def results(self) -> list[tuple[str, bool]]:
        """Return the tool results that were sent, and whether each is an error."""
        messages = [message for sent in self.got for message in sent["messages"] if message["role"] == "user"]
        blocks = [block for message in messages for block in message["content"] if isinstance(block, dict)]
        # SDKs of the first major version send everything again with each request.
        results = {block["tool_use_id"]: block for block in blocks if block["type"] == "tool_result"}.values()
        return [(block["content"], block.get("is_error", False)) for block in results]


ASK: dict[str, Any] = {"model": "m", "max_tokens": 9}
ASK["messages"] = [{"role": "user", "content": "Remember: Ada likes tea."}]
EXPECTED = [
    ("File created successfully at: /memories/a.md", False),
    ("Path /memories/../x would escape /memories directory", True),
]


def test_the_tool_runner_of_the_sdk_uses_it(tool: ours.MemoryTool, memory: holdfast.Memory) -> None:
    claude, later = Claude(), Claude()
    with anthropic.Anthropic(api_key="none", http_client=http().Client(transport=claude.transport)) as client:
        client.beta.messages.tool_runner(tools=[tool], **ASK).until_done()
    assert claude.got[0]["tools"] == [{"type": "memory_20250818", "name": "memory"}]
    assert claude.results() == EXPECTED
    assert [record.body for record in memory.list(kinds=["item"])] == ["Ada likes tea."]
    answer(tool, "delete", path="/memories/a.md")

    async def run() -> None:
        transport = http().AsyncClient(transport=later.transport)
        async with anthropic.AsyncAnthropic(api_key="none", http_client=transport) as client:
            await client.beta.messages.tool_runner(tools=[ours.AsyncMemoryTool(memory)], **ASK).until_done()

    asyncio.run(run())
    assert later.results() == EXPECTED
    assert [record.body for record in memory.list(kinds=["item"])] == ["Ada likes tea."]


def test_the_program_of_the_page_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, own_home: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "integrations.md").read_text(encoding="utf-8")
    program = page.partition("```python\nimport anthropic\n")[2].partition("```")[0]
    claude = Claude()
    client = anthropic.Anthropic(api_key="none", http_client=http().Client(transport=claude.transport))
    monkeypatch.setattr("anthropic.Anthropic", lambda: client)
    monkeypatch.chdir(tmp_path)
    exec(compile(f"import anthropic\n{program}", "integrations.md", "exec"), {})
    assert claude.results() == EXPECTED
    assert list(own_home.rglob("holdfast.db"))

"""The official MCP tools on our servers: Inspector in both eras on stdio and HTTP, and the conformance suite.

`python3 dev.py protocol` runs it, and fetches Node and the tools into .tools/ the first time. `protocol some` asks the
Inspector every third question.
"""

import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

from holdfast.hosts.mcp.serving import serving
from tests.clients.fetch import fetched, installed, node
from tests.hosts.conftest import environment_of
from tests.hosts.served import Served
from tests.protocol.server import TOKEN
from tests.rows import rows

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
TOOLS = ROOT / ".tools" / "protocol"
PACKAGES = {"@modelcontextprotocol/conformance": "0.2.0-alpha.12", "@modelcontextprotocol/inspector": "2.12.0"}
INSTALLED = TOOLS / "node_modules"
CONFORMANCE = INSTALLED / "@modelcontextprotocol/conformance/dist/index.js"
INSPECTOR = INSTALLED / "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
REVISIONS = ("2025-11-25", "2026-07-28")
ERAS = ("legacy", "modern")
RECALL = ("--tool-name", "recall", "--tool-args-json", '{"query": "anything"}')
# The toy surface of the tests has every mechanism, whatever the product offers.
TOY: list[list[str]] = rows("what_the_toy_surface_is_asked")


def main() -> int:
    """Run everything and give the number of failures, at most 1."""
    install()
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="holdfast-protocol-") as scratch:
        environment = {**environment_of(Path(scratch)), "NO_COLOR": "1"}
        failed = [*inspect(environment), *conform(environment)]
    for line in failed:
        print(f"FAILED {line}")
    print(f"{'failed' if failed else 'passed'} in {time.monotonic() - started:.0f} s")
    return 1 if failed else 0


def install() -> None:
    if any(installed(TOOLS, name) != version for name, version in PACKAGES.items()):
        fetched(TOOLS, PACKAGES.items())


def inspect(environment: dict[str, str]) -> Iterator[str]:
    """Ask both hosts everything that can be listed, and one tool, two questions at a time; give what failed."""
    stdio = (sys.executable, "-m", "holdfast", "mcp")
    with Served(environment, ROOT) as served:
        http = (served.url, "--transport", "http", "--header", f"Authorization: Bearer {served.token}")
        toy = (sys.executable, "-m", "tests.hosts.toy")
        hosts = (("stdio", stdio, _offered()), ("http", http, _offered()), ("toy", toy, TOY))
        asked = [(*one, target) for host, target, questions in hosts for one in product((host,), ERAS, questions)]
        asked = asked[:: 3 if "some" in sys.argv else 1]
        with ThreadPoolExecutor(2) as pool:
            yield from filter(None, pool.map(lambda one: _inspect(environment, *one), asked))


def _offered() -> list[tuple[str, ...]]:
    """Give what there is to ask of our own server: every list it offers, and one tool."""
    with serving(("core",), {}) as server:
        kinds = list(server.capabilities)
    return [(f"{kind}/list", *(["--strict"] if kind == "tools" else [])) for kind in kinds] + [("tools/call", *RECALL)]


def _inspect(environment: dict[str, str], host: str, era: str, question: Sequence[str], target: Sequence[str]) -> str:
    command = ["--cli", *target, "--protocol-era", era, "--method", *question, "--format", "json"]
    done, asked = _node(INSPECTOR, *command, environment=environment), f"inspector, {host}, {era}, {question[0]}"
    if done.returncode or "result" not in done.stdout:
        return f"{asked}: exit {done.returncode}: {(done.stderr or done.stdout).strip()[-500:]}"
    print(asked)
    return ""


def conform(environment: dict[str, str]) -> Iterator[str]:
    """Run the frozen set of each revision against the fixtures; give what its baseline does not expect."""
    with Served(environment, ROOT, ("-m", "tests.protocol.server"), TOKEN) as served:
        for revision in REVISIONS:
            baseline = str(HERE / f"baseline.{revision}.yml")
            given = ("server", "--url", served.url, "--requirements", revision, "--expected-failures", baseline)
            done = _node(CONFORMANCE, *given, environment=environment)
            print(f"conformance {revision}: {_summary(done.stdout)}")
            if done.returncode:
                yield f"conformance {revision}:\n{done.stdout[-3_000:]}{done.stderr[-1_000:]}"


def _summary(output: str) -> str:
    passed, expected = (len(re.findall(rf"^ *{mark} ", output, re.MULTILINE)) for mark in "✓~")
    unexpected = len(re.findall(r"^ +✗ ", output.partition("Unexpected failures")[2], re.MULTILINE))
    return f"{passed} scenarios pass, {expected} fail as the baseline says, {unexpected} unexpected"


def _node(script: Path, *arguments: str, environment: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    command = [str(node()), str(script), *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=300)


if __name__ == "__main__":
    sys.exit(main())

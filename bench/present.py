"""How current a session is: changes made by another process just before it begins, and compactions that end at once."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.measure import spread_of, table
from holdfast.hosts import preparing
from holdfast.hosts.hooks import client

CLIENT = Path(client.__file__)
MARK = "[check first"
SCAR = ("--kind", "scar", "--field", "severity=high", "--field", 'counter_arguments=["only once", "there is a backup"]')
Wanted = Mapping[str, bool | str]  # a text: whether a session may get it, or the mark its line must have


@dataclass(kw_only=True)
class Shop:
    """A repository with a store of its own, worked on by processes of their own."""

    folder: Path
    number: int = 0
    waits: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.home, self.checkout = self.folder / "store", self.folder / "shop"
        self.checkout.mkdir(parents=True)
        (self.folder / "home").mkdir()
        ours = {"HOME": str(self.folder / "home"), "HOLDFAST_HOME": str(self.home), "HOLDFAST_EMBEDDER": "none"}
        clean = {
            name: value for name, value in os.environ.items() if not name.startswith(("HOLDFAST_", "XDG_", "GIT_"))
        }
        self.environment = clean | ours
        self.git("init", "-q", "-b", "main")
        self.git("config", "user.email", "ada@example.com")
        self.git("config", "user.name", "Ada")
        self.write("README.md", "A shop.")
        self.holdfast("remember", "The shop sells marzipan.")

    def git(self, *arguments: str) -> None:
        """Run git in the checkout."""
        subprocess.run(["git", *arguments], cwd=self.checkout, env=self.environment, check=True, capture_output=True)  # noqa: S603, S607

    def write(self, name: str, text: str) -> None:
        """Write a file and commit it."""
        (self.checkout / name).write_text(f"{text}\n", encoding="utf-8")
        self.git("add", name)
        self.git("commit", "-qm", f"change {name} {self.number}")

    def holdfast(self, *arguments: str) -> Any:
        """Run a command in a process of its own and return its answer."""
        done = subprocess.run(  # noqa: S603  our own command
            [sys.executable, "-m", "holdfast", *arguments, "--json"],
            cwd=self.checkout,
            env=self.environment,
            capture_output=True,
            check=True,
        )
        return json.loads(done.stdout)

    def remember(self, *arguments: str) -> str:
        """Save a memory and return its id."""
        return str(self.holdfast("remember", *arguments)["record"]["id"])

    def hook(self, event: str, session: str, **given: Any) -> str:
        """Send an event as a client does, and return what the agent gets."""
        payload = {"session_id": session, "cwd": str(self.checkout), "hook_event_name": event, **given}
        began = time.perf_counter()
        done = subprocess.run(  # noqa: S603  our own hook
            [sys.executable, "-I", "-S", str(CLIENT), event, "--home", str(self.home)],
            input=json.dumps(payload).encode(),
            env=self.environment,
            capture_output=True,
            check=True,
            cwd=self.checkout,
        )
        self.waits.append(time.perf_counter() - began)
        answer = json.loads(done.stdout) if done.stdout else {}
        return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))

    def prepare(self) -> None:
        """Bring the prepared answers up to date, as an earlier session would have left them."""
        places = preparing.Places.of({}, self.home, self.checkout, self.environment)
        places.prepared(places.first)


def _remember(shop: Shop, n: int) -> tuple[Callable[[], object], Wanted]:
    text = f"Invoices of branch office {n} are rounded down."
    return lambda: shop.remember("--kind", "preference", text), {text: True}


def _forget(shop: Shop, n: int) -> tuple[Callable[[], object], Wanted]:
    text = f"Labels of warehouse {n} are printed twice."
    id_ = shop.remember("--kind", "preference", text)
    return lambda: shop.holdfast("forget", id_, "--reason", "no longer"), {text: False}


def _erase(shop: Shop, n: int) -> tuple[Callable[[], object], Wanted]:
    text = f"The door of depot {n} opens with a spoon."
    id_ = shop.remember(text)
    return lambda: shop.holdfast("forget", id_, "--erase", "--yes"), {text: False}


def _revise(shop: Shop, n: int) -> tuple[Callable[[], object], Wanted]:
    before, after = f"Truck {n} leaves at seven.", f"Truck {n} leaves at a quarter past nine."
    id_ = shop.remember(before)
    return lambda: shop.holdfast("revise", id_, "--text", after, "--title", after), {before: False, after: True}


def _verify(shop: Shop, n: int) -> tuple[Callable[[], object], Wanted]:
    text = f"Oven {n} is set in oven_{n}.py."
    shop.write(f"oven_{n}.py", f"HEAT = {n}")
    id_ = shop.remember(text, "--anchor", f"oven_{n}.py")
    shop.write(f"oven_{n}.py", f"HEAT = {n}\nFAN = 1")
    return lambda: shop.holdfast("verify", id_), {text: ""}


def _commit(shop: Shop, n: int) -> tuple[Callable[[], object], Wanted]:
    text = f"Till {n} gives change, see till_{n}.py."
    shop.write(f"till_{n}.py", f"COINS = {n}")
    shop.remember(text, "--anchor", f"till_{n}.py")
    return lambda: shop.write(f"till_{n}.py", f"COINS = {n + 1000}"), {text: MARK}


def _switch(shop: Shop, n: int) -> tuple[Callable[[], object], Wanted]:
    text = f"Cakes of season {n} are glazed by hand."
    shop.git("checkout", "-qb", f"season-{n}")
    shop.write(f"cake_{n}.py", f"GLAZE = {n}")
    shop.remember(text)
    return lambda: shop.git("checkout", "-q", "main"), {text: MARK}


def _sync(shop: Shop, n: int) -> tuple[Callable[[], object], Wanted]:
    before, after = f"Shelf {n} holds flour.", f"Shelf {n} holds almonds and sugar."
    if n == 0 or not any(shop.home.glob("markdown/**/*.md")):
        shop.holdfast("replica", "on", "folder")
    shop.remember(before)
    shop.holdfast("sync")
    file = next(path for path in shop.folder.rglob("*.md") if before in path.read_text(encoding="utf-8"))

    def arrive() -> None:
        file.write_text(file.read_text(encoding="utf-8").replace(before, after), encoding="utf-8")
        shop.holdfast("sync", "--yes")

    return arrive, {before: False, after: True}


def _import(shop: Shop, n: int) -> tuple[Callable[[], object], Wanted]:
    text = f"Suppliers of region {n} are paid on Fridays."
    file = shop.folder / f"notes-{n}.md"
    file.write_text(f"# Suppliers {n}\n\n- {text}\n", encoding="utf-8")
    return lambda: shop.holdfast("store", "import", str(file), "--from", "file"), {text: True}


def _scar(shop: Shop, n: int) -> tuple[Callable[[], object], Wanted]:
    text = f"Running bake-{n} at noon burned the whole batch."
    return lambda: shop.remember(text, *SCAR, "--trigger", f"bake-{n} *"), {text: True}


KINDS = {
    "remember": _remember,
    "forget": _forget,
    "erase": _erase,
    "revise": _revise,
    "verify": _verify,
    "commit that changes cited code": _commit,
    "branch switch": _switch,
    "sync arrival": _sync,
    "import": _import,
    "scar with trigger": _scar,
}


def run(
    *, rounds: int = 5, delays: Sequence[float] = (0, 1, 5), kinds: Sequence[str] = (), compactions: int = 20
) -> bool:
    """Print how many changes were right at the start of a session and at its first prompt; True if all targets are met."""
    rows, right, wrong, total = list[list[object]](), [0, 0], 0, 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:  # a worker may still run
        for kind in kinds or KINDS:
            shop = Shop(folder=Path(folder) / kind.replace(" ", "-"))
            tried = [_tried(shop, kind, delay) for delay in delays for _ in range(rounds)]
            at_start, at_prompt, unmarked = (sum(column) for column in zip(*(each[:3] for each in tried), strict=True))
            starts, prompts = (spread_of([1_000 * each[place] for each in tried]) for place in (3, 4))
            rows.append([kind, f"{at_start}/{len(tried)}", f"{at_prompt}/{len(tried)}", unmarked, starts, prompts])
            right, wrong, total = [right[0] + at_start, right[1] + at_prompt], wrong + unmarked, total + len(tried)
        back = _compacted(Shop(folder=Path(folder) / "compacted"), compactions)
    head = ("change", "right at SessionStart", "right at the first prompt", "untrue and unmarked")
    table(
        f"{total} changes, {', '.join(f'{delay:g}' for delay in delays)} s before a session",
        (*head, "SessionStart ms p50 / p95", "prompt ms p50 / p95"),
        rows,
    )
    print(f"right at SessionStart: {right[0]} of {total}; at the first prompt: {right[1]} of {total}; untrue: {wrong}")
    print(f"handover after a compaction that ends at once: {back} of {compactions}")
    return right[0] >= 0.975 * total and right[1] == total and not wrong and back == compactions


def _tried(shop: Shop, kind: str, delay: float) -> tuple[bool, bool, int, float, float]:
    """Return whether a session was right at its start and first prompt, what untrue it got, and how long both took."""
    shop.number += 1
    change, wanted = KINDS[kind](shop, shop.number)
    shop.prepare()
    change()
    time.sleep(delay)
    session = f"session-{shop.number}"
    start = shop.hook("SessionStart", session, source="startup")
    took = shop.waits[-1]
    prompt = shop.hook("UserPromptSubmit", session, prompt="What is known about the shop?")
    both = (
        start if all(_fits(start, text, how) for text, how in wanted.items()) and not prompt else f"{prompt}\n{start}"
    )
    if kind == "scar with trigger":
        warned = shop.hook("PreToolUse", session, tool_name="Bash", tool_input={"command": f"bake-{shop.number} now"})
        if not all(text in warned for text in wanted):
            both = ""
    untrue = sum(text in start and not _fits(start, text, how) for text, how in wanted.items() if how in (False, MARK))
    fits = [all(_fits(given, text, how) for text, how in wanted.items()) for given in (start, both)]
    return fits[0], fits[1], untrue, took, shop.waits[-1] if kind != "scar with trigger" else shop.waits[-2]


def _fits(given: str, text: str, how: bool | str) -> bool:
    """True if a text is there or not as it must be, with its mark: of two lines about it the first counts."""
    line = next((line for line in given.splitlines() if text in line), "")
    if isinstance(how, bool):
        return bool(line) == how
    return bool(line) and (MARK in line) == (how == MARK)


def _compacted(shop: Shop, times: int) -> int:
    """Return how often a session knew what it was doing when it came back at once after a compaction."""
    back = 0
    for number in range(times):
        session, asked = f"long-{number}", f"Rename oven {number} to stove, but leave the invoices alone."
        shop.hook("SessionStart", session, source="startup")
        shop.hook("UserPromptSubmit", session, prompt=asked)
        given = {"file_path": "oven.py", "old_string": "a", "new_string": "b"}
        shop.hook("PostToolUse", session, tool_name="Edit", tool_input=given, tool_response="ok")
        shop.hook("PreCompact", session, trigger="auto")
        start = shop.hook("SessionStart", session, source="compact")
        back += "<holdfast-handover>" in start and f"oven {number}" in start
    return back

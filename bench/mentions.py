"""Freshness of texts that name code in their own words, over real histories in which it is known what changed."""

import json
import subprocess
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.measure import table
from holdfast.compose import open_memory
from holdfast.compose.adapters import checkout_of
from holdfast.compose.settings import load_settings
from holdfast.model.record import Draft
from holdfast.policy.admission.admit import Waivers
from holdfast.verbs.records.freshness import freshness
from holdfast.verbs.records.write import Written, write

DATA = Path(__file__).parent / "data" / "mentions.json"


def run(repositories: Path, *, verbose: bool = False) -> bool:
    """Write each text at one commit, judge it at a later one, and print the verdicts by what really happened."""
    cases: list[dict[str, Any]] = json.loads(DATA.read_text())
    rows, good = [], True
    for held in (False, True):
        verdicts: dict[str, Counter[str]] = {}
        for case, state in _judged(repositories, [case for case in cases if case["held"] == held]):
            verdicts.setdefault(case["truth"], Counter())[state] += 1
            wrong = state == "fresh" and case["truth"] != "same"
            good &= not wrong
            if wrong or verbose:
                print(f"{case['truth']:8} {state:10} {case['repo']} {case['path']}::{case['name']} | {case['text']}")
        for truth, states in verdicts.items():
            shown = ", ".join(f"{state} {count}" for state, count in states.most_common())
            rows.append(["held" if held else "tuned on", truth, str(states.total()), shown])
    table("Verdicts about code named in prose", ["half", "what happened", "texts", "verdicts"], rows)
    return good


def _judged(repositories: Path, cases: list[dict[str, Any]]) -> "list[tuple[dict[str, Any], str]]":
    judged = []
    for key in dict.fromkeys((case["repo"], case["before"], case["after"]) for case in cases):
        own = [case for case in cases if (case["repo"], case["before"], case["after"]) == key]
        with tempfile.TemporaryDirectory() as folder:
            judged += _history(repositories / key[0].replace("/", "+"), Path(folder), key, own)
    return judged


def _history(
    source: Path, folder: Path, key: tuple[str, str, str], cases: list[dict[str, Any]]
) -> "list[tuple[dict[str, Any], str]]":
    checkout = folder / "code"
    _git(folder, "clone", "-q", "--shared", "--no-checkout", str(source), str(checkout))
    _git(checkout, "checkout", "-q", key[1])
    settings = load_settings(folder=checkout, environment={}, flags={"home": str(folder / "store"), "embedder": "none"})
    with open_memory(settings, folder=checkout) as memory:
        waivers = Waivers(duplicate=True, transient=True, scope=True)
        written = [write(memory, Draft(body=case["text"]), waivers=waivers) for case in cases]
        _git(checkout, "checkout", "-q", key[2])
        later = replace(memory, checkout=checkout_of(checkout))
        states = []
        for outcome in written:
            assert isinstance(outcome, Written), outcome
            states.append(freshness(later, [outcome.record])[outcome.record.id].state)
    return list(zip(cases, states, strict=True))


def _git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)  # noqa: S603, S607

"""What `holdfast check` found, in the forms that CI systems show: annotations, SARIF, JUnit, GitLab's code quality."""

import json
from collections.abc import Callable
from hashlib import sha256
from typing import Any
from xml.etree import ElementTree as ET

from holdfast import __version__
from holdfast.hosts.to_json import plain
from holdfast.model.fence import escaped, visible
from holdfast.model.ids import short
from holdfast.model.text import counted
from holdfast.verbs.truth.check_change import CheckedChange, Falsified, place_of

RULE = "memory-untrue"
REMEDY = "Revise, verify or forget the memory in the same change."


def summary(change: CheckedChange, base: str) -> str:
    """Return the result in one sentence."""
    checked = f"{counted(len(change.checked), 'team memory')} checked"
    if not change.broken:
        return f"No team memory is made untrue by the changes since {base} ({checked})."
    count = len(change.broken)
    return f"{counted(count, 'memory')} of the team {'was' if count == 1 else 'were'} true at {base} and no longer ({checked})."


def message_of(item: Falsified) -> str:
    """Return what a finding says: the memory, what is wrong with it, and what to do."""
    held = " (quarantined here)" if item.held else ""
    said = f"“{item.record.title}” ({short(item.record.id)}){held} is no longer true: {'; '.join(item.why)}. {REMEDY}"
    return visible(" ".join(said.split()))


def as_json(change: CheckedChange, base: str) -> str:  # noqa: ARG001
    """Return the findings with their memories."""
    return escaped(json.dumps([plain(item) for item in change.broken], ensure_ascii=False, indent=2))


def as_github(change: CheckedChange, base: str) -> str:
    """Return workflow commands, which GitHub shows as annotations of the changed files."""
    lines = []
    for item in change.broken:
        file, line = place_of(item)
        place = f"file={_property(file)},line={line},"
        lines.append(
            f"::error {place}title={_property('Holdfast: a memory is no longer true')}::{_data(message_of(item))}"
        )
    lines += [f"::warning title=Holdfast::{_data(visible(note))}" for note in change.notes]
    return "\n".join([*lines, summary(change, base)])


def as_sarif(change: CheckedChange, base: str) -> str:
    """Return SARIF 2.1.0, for code scanning."""
    rule = {
        "id": RULE,
        "name": "MemoryUntrue",
        "shortDescription": {"text": "A change makes a team memory untrue"},
        "help": {"text": REMEDY},
        "defaultConfiguration": {"level": "error"},
    }
    invocation = {
        "executionSuccessful": True,
        "toolExecutionNotifications": [
            {"level": "warning", "message": {"text": visible(note)}} for note in change.notes
        ],
    }
    driver = {"name": "Holdfast", "version": __version__, "rules": [rule]}
    run = {
        "tool": {"driver": driver},
        "invocations": [invocation],
        "results": [_sarif_result(item) for item in change.broken],
        "properties": {"base": base},
    }
    document = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
    return json.dumps(document, ensure_ascii=False, indent=2)


def as_junit(change: CheckedChange, base: str) -> str:
    """Return JUnit XML: a test case for each memory."""
    failed = {item.record.id: item for item in change.broken}
    records = {record.id: record for record in (*change.checked, *(item.record for item in change.broken))}.values()
    name = f"team memories since {base}"
    counts = {"tests": str(len(records)), "failures": str(len(failed)), "errors": "0"}
    suites = ET.Element("testsuites", {"name": "holdfast check", **counts})
    suite = ET.SubElement(suites, "testsuite", {"name": visible(name), **counts})
    for record in records:
        case = ET.SubElement(
            suite, "testcase", classname=f"holdfast.{record.kind}", name=visible(f"{record.title} ({short(record.id)})")
        )
        if record.id in failed:
            item = failed[record.id]
            file, line = place_of(item)
            failure = ET.SubElement(case, "failure", message=visible("; ".join(item.why)), type=RULE)
            failure.text = f"{file}:{line}: {message_of(item)}"
    if change.notes:
        ET.SubElement(suite, "system-out").text = visible("\n".join(change.notes))
    ET.indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(suites, encoding="unicode")


def as_gitlab(change: CheckedChange, base: str) -> str:  # noqa: ARG001
    """Return a code quality report, which GitLab shows in merge requests."""
    return json.dumps([_gitlab_issue(item) for item in change.broken], ensure_ascii=False, indent=2)


FORMATS: dict[str, Callable[[CheckedChange, str], str]] = {
    "json": as_json,
    "github": as_github,
    "sarif": as_sarif,
    "junit": as_junit,
    "gitlab": as_gitlab,
}


def _sarif_result(item: Falsified) -> dict[str, Any]:
    file, line = place_of(item)
    physical = {"artifactLocation": {"uri": _uri(file)}, "region": {"startLine": line}}
    return {
        "ruleId": RULE,
        "level": "error",
        "message": {"text": message_of(item)},
        "locations": [{"physicalLocation": physical}],
        "partialFingerprints": {"memory/v1": _fingerprint(item)},
        "properties": {"memory": item.record.id, "file": item.file, "quarantined": item.held},
    }


def _gitlab_issue(item: Falsified) -> dict[str, Any]:
    file, line = place_of(item)
    return {
        "description": message_of(item),
        "check_name": RULE,
        "fingerprint": _fingerprint(item),
        "severity": "major",
        "location": {"path": file, "lines": {"begin": line}},
    }


def _fingerprint(item: Falsified) -> str:
    """Return the same text for the same finding, so that a CI system recognises it."""
    anchors = sorted(finding.anchor for finding in item.findings)
    return sha256("\n".join((item.record.id, *anchors)).encode()).hexdigest()


def _uri(path: str) -> str:
    from urllib.parse import quote

    return quote(path)


def _data(text: str) -> str:
    """Escape the message of a workflow command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """Escape a property of a workflow command."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")

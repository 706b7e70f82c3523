"""The text of a record after the value it states changed in the code: "5" instead of "3", "five" instead of "three"."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.model.anchor import Finding, bare_value, parse_anchor
from holdfast.model.record import Record

NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewValue:
    """A value that the code has now: which name, what the record says, and the record's text and anchors with the new one."""

    name: str
    old: str
    new: str
    body: str
    title: str
    anchors: tuple[str, ...]


def new_value(record: Record, findings: Sequence[Finding]) -> NewValue | None:
    """Return the update of a record that states one outdated value; None if its text does not state it exactly once."""
    outdated = [
        (finding, place)
        for finding in findings
        if finding.state == "changed" and (place := parse_anchor(finding.anchor)).kind in ("value", "version")
    ]
    if len(outdated) != 1:
        return None
    finding, place = outdated[0]
    old, new = bare_value(place.value), finding.now.value if finding.now else ""
    if "_" in place.value and new.isdecimal():
        old, new = place.value, f"{int(new):_}"  # in the same style
    body = _replaced(record.body, old, new) if new else None
    if body is None:
        return None
    anchor = finding.anchor.replace(place.value, new)
    return NewValue(
        name=place.name,
        old=old,
        new=new,
        body=body,
        title=_replaced(record.title, old, new) or record.title,
        anchors=tuple(anchor if cited == finding.anchor else cited for cited in record.anchors),
    )


def _replaced(text: str, old: str, new: str) -> str | None:
    """Return a text with its only mention of a value replaced, in digits or in words; None if there is none, or several."""
    pairs = [(old, new)]
    if old.isdecimal() and int(old) < len(NUMBERS):
        pairs.append((NUMBERS[int(old)], NUMBERS[int(new)] if new.isdecimal() and int(new) < len(NUMBERS) else new))
    for mentioned, instead in pairs:
        found = list(re.finditer(rf"(?<![\w.]){re.escape(mentioned)}(?!\w|\.\d)", text, re.IGNORECASE))
        if len(found) == 1:
            return text[: found[0].start()] + instead + text[found[0].end() :]
        if found:
            return None
    return None

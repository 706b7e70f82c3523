"""Validate events made elsewhere: only sizes and shapes that could have been written here."""

import re
from collections.abc import Iterable
from typing import Any

from holdfast.model.anchor import LONGEST_ANCHOR
from holdfast.model.event import Event
from holdfast.model.scope import MAX_LABEL, MAX_LABELS, SCOPE
from holdfast.model.text import LONGEST_BODY, LONGEST_TITLE
from holdfast.policy.sessions.triggers import problem_with

LONGEST_NAME, MOST_LINKS = 200, 64
_KIND = re.compile(r"[a-z][a-z_]{0,39}")
_LISTS = {"tags": MAX_LABEL, "anchors": LONGEST_ANCHOR, "triggers": LONGEST_ANCHOR}


def problem_of(event: Event) -> str:
    """Return what is wrong with an incoming event; "" if it could have been written here."""
    data = event.data
    if len(event.by.name) > LONGEST_NAME or not event.by.name.isprintable():
        return "its author's name is too long or unprintable"
    if "kind" in data and not (isinstance(data["kind"], str) and _KIND.fullmatch(data["kind"])):
        return "its kind is not a lower-case word"
    for name, longest in (("title", LONGEST_TITLE), ("body", LONGEST_BODY)):
        if isinstance(data.get(name), str) and len(data[name]) > longest:
            return f"its {name} has more than {longest:,} characters"
    scopes = _texts(data.get("scopes"))
    if any(len(scope) > MAX_LABEL or not SCOPE.fullmatch(scope) for scope in scopes):
        return "it has an invalid scope"
    lists = {name: _texts(data.get(name)) for name in _LISTS} | {"scopes": scopes}
    if any(
        len(label) > _LISTS.get(name, MAX_LABEL) or not label.isprintable()
        for name, labels in lists.items()
        for label in labels
    ):
        return "it has a label, place or trigger that is too long or cannot be read"
    if any(len(labels) > MAX_LABELS for labels in lists.values()):
        return f"it has more than {MAX_LABELS} labels of a kind"
    if problem := problem_with(lists["triggers"]):
        return problem
    links = data.get("links")
    return f"it has more than {MOST_LINKS} links" if isinstance(links, list) and len(links) > MOST_LINKS else ""


def _texts(value: Any) -> list[str]:
    return (
        [text for text in value if isinstance(text, str)]
        if isinstance(value, Iterable) and not isinstance(value, str)
        else []
    )

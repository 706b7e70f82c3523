"""Split markdown into YAML front matter and text."""

from typing import Any

import yaml

from holdfast.adapters.importers.values import check_shape, plain
from holdfast.model.errors import Invalid

LONGEST = 64_000
# The loader in C is ten times as fast, but not in every build.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def front_matter(content: str) -> tuple[dict[str, Any], str]:
    """Return the front matter and the text after it; {} if there is no front matter."""
    lines = content.replace("\r\n", "\n").split("\n")
    if lines[0].strip() != "---":
        return {}, content
    end = next((place for place, line in enumerate(lines[1:], start=1) if line.rstrip() == "---"), None)
    if end is None:
        return {}, content
    return read_yaml("\n".join(lines[1:end])), "\n".join(lines[end + 1 :]).strip("\n")


def read_yaml(content: str) -> dict[str, Any]:
    """Return a YAML mapping as plain values."""
    if len(content) > LONGEST:
        raise Invalid(f"Its front matter has {len(content):,} characters; {LONGEST:,} is the most.")
    try:
        value = yaml.load(content, Loader=_LOADER)  # noqa: S506  a safe loader, in C if available
    except (yaml.YAMLError, ValueError, RecursionError) as problem:
        raise Invalid(f"Its front matter is not YAML ({_brief(problem)}).") from problem
    check_shape(value)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Invalid("Its front matter is not a mapping.")
    mapping: dict[str, Any] = plain(value)
    return mapping


def _brief(problem: Exception) -> str:
    mark = getattr(problem, "problem_mark", None)
    message = getattr(problem, "problem", None) or type(problem).__name__
    return f"{message}, line {mark.line + 1}" if mark else str(message)

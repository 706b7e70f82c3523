"""Find the version of a package in a project's lock files and manifests."""

import re
from collections.abc import Callable, Iterator

from holdfast.model.foreign_json import parse_json

Read = Callable[[str], str | None]
_LOCKED = ("uv.lock", "poetry.lock", "Cargo.lock")
_PLAIN = {"python": ".python-version", "node": ".nvmrc", "ruby": ".ruby-version"}


def version_of(name: str, read: Read) -> str:
    """Return the version in use; "" if no file names it."""
    return next((version for version in _versions(name, read) if version), "")


def is_version(cited: str, version: str) -> bool:
    """True if a version is the cited one; 2.31 means any 2.31.x."""
    return version == cited or version.startswith(f"{cited}.")


def _versions(name: str, read: Read) -> Iterator[str]:
    if name.lower() in _PLAIN:
        yield (read(_PLAIN[name.lower()]) or "").strip().removeprefix("v")
    for file in _LOCKED:
        yield _matched(rf'name = "{re.escape(name)}"\r?\nversion = "([^"]+)"', read(file))
    yield _npm(name, read("package-lock.json"))
    yield _matched(rf"^\s*(?:require\s+)?{re.escape(name)} v(\S+)", read("go.mod"))
    yield _matched(rf"^    {re.escape(name)} \(([^)]+)\)", read("Gemfile.lock"))
    yield _matched(rf"^{re.escape(name)}(?:\[[^\]]*\])?==([^\s;#]+)", read("requirements.txt"))
    yield _matched(rf'"{re.escape(name)}(?:\[[^\]]*\])?==([^\s;",]+)', read("pyproject.toml"))
    yield _matched(rf'"{re.escape(name)}"\s*:\s*"[~^=v]*(\d[^"]*)"', read("package.json"))


def _matched(pattern: str, text: str | None) -> str:
    match = re.search(pattern, text, re.MULTILINE | re.IGNORECASE) if text else None
    return match[1] if match else ""


def _npm(name: str, text: str | None) -> str:
    try:
        packages = parse_json(text or "{}").get("packages", {})
        return str(packages.get(f"node_modules/{name}", {}).get("version", ""))
    except (ValueError, AttributeError):
        return ""

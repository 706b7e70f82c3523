"""Labels and identities: scopes, tags, and which codebase a record belongs to."""

import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from holdfast.model.errors import Invalid

SCOPE = re.compile(r"[a-z0-9]+(?:[-_.][a-z0-9]+)*(?::[a-z0-9]+(?:[-_.][a-z0-9]+)*)*")
SCP_REMOTE = re.compile(r"(?:[^@/\s]+@)?(?P<host>[^:/\s]+):(?P<path>[^\s]+)")
# A password may hold a slash, which only belongs there encoded: then what looks like a port is no number.
USERINFO = re.compile(r"(?<=://)(?:[^/\s]*@|[^/:@\s]*:(?!\d+(?:/|$))\S*@)")
MAX_LABEL = 100
MAX_LABELS = 64


def check_scopes(scopes: Iterable[str]) -> tuple[str, ...]:
    """Return the scopes without duplicates, in their order; raise Invalid if one is malformed."""
    unique = dict.fromkeys(scope.strip() for scope in scopes)
    for scope in unique:
        if len(scope) > MAX_LABEL or not SCOPE.fullmatch(scope):
            raise Invalid(
                f"{scope[:MAX_LABEL]!r} is not a scope.",
                hint="Use lower-case words joined by '-', '_' or '.', nested with ':' (tools, projects:shop:api).",
            )
    return _capped(unique, "scopes")


def check_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Return the tags stripped and without duplicates or empty ones."""
    unique = dict.fromkeys(tag for tag in (" ".join(tag.split()) for tag in tags) if tag)
    for tag in unique:
        if len(tag) > MAX_LABEL:
            raise Invalid(f"The tag {tag[:40]!r}… is longer than {MAX_LABEL} characters.")
    return _capped(unique, "tags")


def _capped(labels: dict[str, None], what: str) -> tuple[str, ...]:
    if len(labels) > MAX_LABELS:
        raise Invalid(f"{len(labels)} {what} are too many; {MAX_LABELS} is the most.")
    return tuple(labels)


def within(scope: str, outer: str) -> bool:
    """True if a scope equals another or is nested in it."""
    return scope == outer or scope.startswith(outer + ":")


def without_userinfo(url: str) -> str:
    """Return an address without user and password; any other text unchanged."""
    return USERINFO.sub("", url)


def project_of_remote(url: str) -> str | None:
    """Return the identity of a remote, equal for its ssh and https forms: host/owner/name."""
    text = without_userinfo(url.strip())
    if "://" in text:
        try:
            parts = urlsplit(text)
            host, path = parts.hostname or "", parts.path
        except ValueError:  # such as http://[
            return None
    elif match := SCP_REMOTE.fullmatch(text):
        host, path = match["host"], match["path"]
    else:
        return None
    path = path.strip("/").removesuffix(".git").strip("/").replace("#", "%23")
    return f"{host}/{path}".lower() if host and path else None


_PART = re.compile(r"[a-z0-9][\w.\-]{0,99}(?:/[a-z0-9][\w.\-]{0,99}){0,9}", re.IGNORECASE | re.ASCII)


def part_of_project(own: str, name: str) -> str | None:
    """Return the part of a project that a name inside its repository denotes; "" for all of it, None if there is none.

    Only a project with a remote has parts. No name can lead out of `own`: see `with_part`.
    """
    if not own or own.startswith(("/", "\\")) or ":" in own:
        return None
    part = name.strip().removeprefix(own).strip("/") if name.strip().startswith(own) else name.strip()
    if not part:
        return ""
    return part.lower() if _PART.fullmatch(part) and ".." not in part else None


def with_part(own: str, part: str) -> str:
    """Return the identity of a part of a project. No remote's identity holds a `#`, so it is never another project's."""
    return f"{own}#{part}" if part else own

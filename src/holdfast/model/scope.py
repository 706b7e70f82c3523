"""Labels and identities: scopes, tags, and which codebase a record belongs to."""

import re
from collections.abc import Iterable
from urllib.parse import quote_from_bytes, unquote_to_bytes

from holdfast.model.errors import Invalid

SCOPE = re.compile(r"[a-z0-9]+(?:[-_.][a-z0-9]+)*(?::[a-z0-9]+(?:[-_.][a-z0-9]+)*)*")
# A user and password in an address: up to the last @ before the path. A password may hold a slash or another sign that
# only belongs there encoded: then what looks like a port is no number.
USERINFO = re.compile(r"(?<=://)(?:[^/?#\s]*@|[^/?#:@\s]*:(?!\d*(?:[/?#]|$))\S*@)")
# What git fetches from over a network, with the port of each; anything else is a local path or a helper program.
PORTS = {"https": 443, "http": 80, "ssh": 22, "git+ssh": 22, "ssh+git": 22, "git": 9418, "ftp": 21, "ftps": 990}
_HOST = r"(?P<host>[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]+\])"
_ANY_CASE = re.IGNORECASE | re.ASCII
_AT = rf"(?:[\w.~!$&'()*+,;=:%-]*@)?{_HOST}(?::(?P<port>\d{{0,5}}))?"
_URL = re.compile(rf"(?P<scheme>[a-z+]+)://{_AT}/(?P<path>.+)", _ANY_CASE)
_AT = rf"(?:(?P<user>[\w.+-]*)@)?(?:{_HOST}|\[(?P<other>[a-z0-9._-]+):(?P<port>\d{{1,5}})\])"
_SCP = re.compile(rf"{_AT}:(?P<path>(?:/|[^:@/]+(?:/|$)).*)", _ANY_CASE)
# Readers of addresses disagree about these: where a host ends, or what they stand for.
_AMBIGUOUS = re.compile(r"[?#\\\s\x00-\x1f\x7f-\x9f]|%(?![0-9a-f]{2})|%(?:[01][0-9a-f]|2f|5c|7f)", re.IGNORECASE)
_UNQUOTED = "/~!$&'()*+,;=:@"
MAX_LABEL = 100
MAX_LABELS = 64


def check_scopes(scopes: Iterable[str]) -> tuple[str, ...]:
    """Return the scopes without duplicates, in their order; raise Invalid if one is malformed."""
    unique = dict.fromkeys(scope.strip() for scope in scopes)
    for scope in unique:
        if len(scope) > MAX_LABEL or not SCOPE.fullmatch(scope):
            hint = "Use lower-case words joined by '-', '_' or '.', nested with ':' (tools, projects:shop:api)."
            raise Invalid(f"{scope[:MAX_LABEL]!r} is not a scope.", hint=hint)
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
    """Return the identity of a remote, equal for its ssh and https forms: host/owner/name, with a port that is not the usual one.

    The host is the one that git contacts. None for a local path, and for an address that could be read in two ways: it
    must not pass for another project's.
    """
    is_url = "://" in url
    match = None if _AMBIGUOUS.search(url) else (_URL if is_url else _SCP).fullmatch(url)
    usual = PORTS.get(match["scheme"], 0) if match and is_url else 22
    if not match or not usual:
        return None
    host, port, path = match["host"], int(match["port"] or usual), match["path"]
    if not is_url:
        host = host or match["other"]
        if len(host) == 1:  # a drive of Windows
            return None
        if match["user"] not in (None, "", "git") and not path.startswith(("/", "~")):
            path = f"~{match['user']}/{path}"  # a path in the home folder of that user
    name = unquote_to_bytes(path.strip("/").removesuffix(".git").strip("/")).lower()
    if not 0 < port < 1 << 16 or any(part in (b"", b".", b"..") for part in name.split(b"/")):
        return None
    at = host if port == usual else f"{host}:{port}"
    return f"{at}/{quote_from_bytes(name, safe=_UNQUOTED)}".lower()  # as on the common forges, case does not count


def is_network_address(url: str) -> bool:
    """True if git would fetch from an address over a network, whether or not it has an identity."""
    scheme, separator, _ = url.partition("://")
    return scheme in PORTS if separator else ":" in url.partition("/")[0] and "::" not in url

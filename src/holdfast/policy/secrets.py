"""Find credentials in text, and mask them, before anything touches disk.

Hooks run this in a process of their own at every tool call, so it imports little and compiles a pattern when it is needed.
"""

from __future__ import annotations

import math
import re
from collections import Counter, namedtuple
from collections.abc import Iterator, Mapping
from functools import cache

MYPY = False
if MYPY:  # what `typing` costs to import is a third of a hook
    from typing import Any

_PRIVATE = r"(?is)<private>.*?(?:</private>|\Z)"

# Shapes that are a credential wherever they stand: name, texts of which one must occur (looked for first, since that
# is cheap), pattern. The first group, if there is one, is the secret itself.
_SHAPES: tuple[tuple[str, tuple[str, ...], str], ...] = tuple(
    (name, tuple(hints.split()), pattern)
    for name, hints, pattern in (
        (
            "private key",
            "PRIVATE",
            r"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|\Z)",
        ),
        ("AWS access key", "AKIA ASIA ABIA ACCA", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
        (
            "GitHub token",
            "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
            r"\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255})\b",
        ),
        (
            "GitLab token",
            "glpat- glptt- gldt- glrt- glcbt- glft- glsoat-",
            r"\bgl(?:pat|ptt|dt|rt|cbt|ft|soat)-[A-Za-z0-9_\-]{20,}\b",
        ),
        ("Anthropic key", "sk-ant-", r"\bsk-ant-[A-Za-z0-9_\-]{20,}"),
        ("OpenAI key", "sk-", r"\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_\-]{20,}\b"),
        ("Slack token", "xox", r"\bxox[abeoprs]-[A-Za-z0-9\-]{10,}"),
        ("Slack webhook", "hooks.slack", r"https://hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/]{20,}"),
        (
            "Discord webhook",
            "webhooks/",
            r"https://(?:ptb\.|canary\.)?discord(?:app)?\.com/api/webhooks/\d+/[\w\-]{20,}",
        ),
        ("Stripe key", "k_live_ k_test_", r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}\b"),
        ("Google API key", "AIza", r"\bAIza[A-Za-z0-9_\-]{35}\b"),
        ("Google OAuth token", "ya29.", r"\bya29\.[A-Za-z0-9_\-]{20,}"),
        ("Google OAuth secret", "GOCSPX-", r"\bGOCSPX-[A-Za-z0-9_\-]{20,}"),
        ("npm token", "npm_", r"\bnpm_[A-Za-z0-9]{36}\b"),
        ("PyPI token", "pypi-", r"\bpypi-[A-Za-z0-9_\-]{50,}"),
        ("Hugging Face token", "hf_", r"\bhf_[A-Za-z0-9]{30,}\b"),
        ("SendGrid key", "SG.", r"\bSG\.[A-Za-z0-9_\-]{16,32}\.[A-Za-z0-9_\-]{30,64}"),
        ("Twilio key", "SK AC", r"\b(?:SK|AC)[0-9a-f]{32}\b"),
        ("Mailgun key", "key-", r"\bkey-[0-9a-f]{32}\b"),
        ("DigitalOcean token", "_v1_", r"\bdo[opr]_v1_[0-9a-f]{64}\b"),
        ("Databricks token", "dapi", r"\bdapi[0-9a-f]{32}\b"),
        ("Shopify token", "shp", r"\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}\b"),
        ("Vault token", "hvs. hvb. hvr.", r"\bhv[sbr]\.[A-Za-z0-9_\-]{24,}"),
        ("Linear key", "lin_", r"\blin_(?:api|oauth)_[A-Za-z0-9]{32,}\b"),
        ("Telegram bot token", ":AA", r"\b\d{8,10}:AA[A-Za-z0-9_\-]{33}\b"),
        ("Azure storage key", "AccountKey=", r"AccountKey=([A-Za-z0-9+/]{60,}={0,2})"),
        ("age key", "AGE-SECRET", r"\bAGE-SECRET-KEY-1[0-9A-Z]{58}\b"),
        ("JSON web token", "eyJ", r"\beyJ[A-Za-z0-9_\-]{10,}\.eyJ[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]{10,}"),
        ("password in a URL", "://", r"\b[a-z][a-z0-9+.\-]*://[^\s:/@]+:([^\s:/@]{3,})@[^\s/]"),
        (
            "bearer token",
            "earer asic oken EARER ASIC OKEN",
            r"(?i)\b(?:authorization|bearer)\b[\"']?\s*[:=]?\s*[\"']?(?:bearer|basic|token)\s+([A-Za-z0-9_\-.+/=]{16,})",
        ),
    )
)
_PROMISES = ("passw", "passphrase", "secret", "token", "key", "credential")
# A name that promises a secret, an assignment, and something that looks random.
_ASSIGNED = (
    r"(?i)(?:passw(?:or)?d|passphrase|secret|token|api[_\-]?key|access[_\-]?key|private[_\-]?key|credential|client[_\-]?secret|auth[_\-]?key)"
    r"[\w.\-]*[\"']?\s*(?:=>|:=|=|:)\s*(?:\"([^\"\n]{6,})\"|'([^'\n]{6,})'|([^\s\"'`,;(){}<>\[\]]{8,}))"
)
_PLACEHOLDER = (
    r"(?i)^(?:\$|%|\{|<|\*{3,}|x{3,}|\.{3}|\[)|example|placeholder|your[_\-]|change.?me|redacted|dummy|"
    r"not.?a.?real|os\.environ|getenv|process\.env|secrets?\.|vault|^(?:none|null|true|false|undefined|string|str|optional)\b"
)
_WORDY = r"^[a-z]+(?:[_\-./: ][a-z]+)*$|^[A-Z]+(?:_[A-Z]+)*$|^[A-Za-z_]\w*(?:\.\w+)+$|^\w+\("

# One credential found: what it is and where, never the value.
Secret = namedtuple("Secret", ("name", "start", "end"))  # noqa: PYI024  typing is too dear here

_compiled = cache(re.compile)


def find_secrets(text: str) -> list[Secret]:
    """Give every credential in a text, leftmost first, without overlaps."""
    found = sorted(_candidates(text), key=lambda secret: (secret.start, -secret.end))
    kept: list[Secret] = []
    for secret in found:
        if not kept or secret.start >= kept[-1].end:
            kept.append(secret)
    return kept


def mask_secrets(text: str) -> str:
    """Give the text with each credential replaced by what it was."""
    parts, last = [], 0
    for secret in find_secrets(text):
        parts += [text[last : secret.start], f"[redacted {secret.name}]"]
        last = secret.end
    return "".join((*parts, text[last:]))


def drop_private(text: str) -> str:
    """Give the text without what its author marked <private>."""
    return _compiled(_PRIVATE).sub("", text) if "<" in text and "<private>" in text.lower() else text


def masked(value: Any) -> Any:
    """Give a JSON value with private spans dropped and credentials masked in every text."""
    # Looked at as one text first: nearly always there is nothing to mask.
    whole = "\n".join(texts_of(value))
    return _masked(value) if "<private>" in whole.lower() or find_secrets(whole) else value


def texts_of(value: Any) -> Iterator[str]:
    """Give every text in a JSON value."""
    match value:
        case str():
            yield value
        case Mapping():
            for item in value.values():
                yield from texts_of(item)
        case list() | tuple():
            for item in value:
                yield from texts_of(item)


def _masked(value: Any) -> Any:
    match value:
        case str():
            return mask_secrets(drop_private(value))
        case dict():
            return {key: _masked(item) for key, item in value.items()}
        case list() | tuple():
            return [_masked(item) for item in value]
    return value


def _candidates(text: str) -> Iterator[Secret]:
    for name, hints, shape in _SHAPES:
        if not any(hint in text for hint in hints):
            continue
        pattern = _compiled(shape)
        for match in pattern.finditer(text):
            group = 1 if pattern.groups else 0
            if not _compiled(_PLACEHOLDER).search(match[group]):
                yield Secret(name=name, start=match.start(group), end=match.end(group))
    lowered = text.lower()  # ten times as fast as a pattern that ignores case
    if not any(promise in lowered for promise in _PROMISES):
        return
    for match in _compiled(_ASSIGNED).finditer(text):
        group = next(number for number in (1, 2, 3) if match[number])
        if _looks_secret(match[group], quoted=group < 3):
            yield Secret(name="password or key", start=match.start(group), end=match.end(group))


def _looks_secret(value: str, *, quoted: bool) -> bool:
    if _compiled(_PLACEHOLDER).search(value) or _compiled(_WORDY).search(value) or " " in value.strip():
        return False
    kinds = sum(bool(re.search(kind, value)) for kind in (r"[a-z]", r"[A-Z]", r"\d", r"[^\w]"))
    return kinds >= 2 and _entropy(value) >= (2.5 if quoted else 2.8)


def _entropy(value: str) -> float:
    counts = Counter(value).values()
    return -sum(count / len(value) * math.log2(count / len(value)) for count in counts)

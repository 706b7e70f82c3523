"""Find credentials in text, and mask them, before anything is written to disk."""
# Hooks run this in a process of their own at every tool call, so it imports little and compiles patterns on demand.
# `words` holds the shapes of credentials and decides what is a secret and what a word, `places` where one is expected;
# `unwrap` removes colours, escapes and invisible characters first.

import re
from collections import namedtuple
from collections.abc import Iterator, Mapping
from functools import cache

from holdfast.model.foreign_json import texts_in
from holdfast.model.patterns import Any, lazy
from holdfast.policy.secrets.places import arguments, assigned, columns, manifests
from holdfast.policy.secrets.words import JUDGED, RULES, WHOLE, is_name, is_placeholder, is_secret, is_wordy

_PRIVATE = lazy(r"(?is)<private>.*?(?:</private>|\Z)")
# As in `unwrap.JOINTS`.
_BREAK = lazy(r"\S[ \t]{0,8}\r?\n[ \t>#*+|;/\-]*+[^\s>#*+|;/\-]|[\"'`][\s+.&|<>~,\\]{0,20}[bfru]?[\"'`]")
_NUMBERS = lazy(r"[0-9a-fA-F]{2}[ ,:]+[0-9a-fA-F]{2}[ ,:]")  # bytes in hex or decimal
_PAIR = lazy(r"(?!(?:sha\d+|md5|h\d|id|data):)[\w.@\-]{1,64}+:(?!//)([^\s:]{6,200}+)")
LONG = 4_000  # characters of a value from which it is searched only once
MOST_ENCODED, SHORTEST_ENCODED = 3, 16  # layers of encoding, and characters of an encoded word

# One credential: its kind and its span, never the value.
Secret = namedtuple("Secret", ("name", "start", "end"))  # noqa: PYI024  importing typing is too slow here
ASSIGNED, COMMAND, COLUMN = "password or key", "password of a command", "password in a table"
ENCODED = "encoded credential"
MASKED = "[redacted "  # begins what stands in place of one

_ESCAPES = ("\x1b", "\\", "%", "&", "=\n", "=\r", "=3D", "=2E", "=5F")
_SIGNS = "_-$./:{="
# Letters of identifiers and prose, rarest first; what is not among them is rarer still.
_COMMON = "zqjxkvbywgpfmucdlhrsnioate"


def _mark(hint: str) -> str:
    """Return what a text must contain to contain a hint: a sign and the character beside it, else the rarest letter."""
    place = next((hint.index(sign) for sign in _SIGNS if sign in hint), -1)
    return hint[max(0, place - 1) :][:2] if place >= 0 else min(hint, key=_COMMON.find)


_HINTS: dict[str, list[tuple[int, str, str, str, bool]]] = {}
for _order, (_name, _hints, _pattern, _) in enumerate(RULES):
    for _hint in _hints.removeprefix("~").split():
        _HINTS.setdefault(_mark(_hint), []).append((_order, _hint, _name, _pattern, _hints[0] == "~"))
_MARKS = frozenset(_HINTS)


def find_secrets(text: str) -> list[Secret]:
    """Return every credential in a text, leftmost first, without overlaps."""
    kept: list[Secret] = []
    for secret in sorted(_everywhere(text, MOST_ENCODED), key=lambda secret: (secret.start, -secret.end)):
        if not kept or secret.start >= kept[-1].end:
            kept.append(secret)
        elif secret.end > kept[-1].end:  # no rule may hide what another one matched
            kept[-1] = kept[-1]._replace(end=secret.end)
    return kept


def mask_secrets(text: str) -> str:
    """Return the text with each credential replaced by its kind."""
    parts, last = [], 0
    for secret in find_secrets(text):
        parts += [text[last : secret.start], f"{MASKED}{secret.name}]"]
        last = secret.end
    return "".join((*parts, text[last:]))


def drop_private(text: str) -> str:
    """Return the text without what its author marked <private>."""
    return _PRIVATE.sub("", text) if "<" in text and "<private>" in text.lower() else text


def masked(value: Any) -> Any:
    """Return a JSON value with private spans dropped and credentials masked, in texts and names."""
    # Short texts are searched as one first: nearly always there is nothing to mask.
    whole = "\n\n".join(texts_in(value))  # two, so that no text is continued by the next
    if len(whole) > LONG or "<private>" in whole.lower() or find_secrets(whole) or any(_named(value)):
        return _masked(value)
    return value


def secrets_in(value: Any) -> tuple[str, ...]:
    """Return the kinds of credentials in a JSON value, once each."""
    return tuple(dict.fromkeys(name for name, _ in secret_texts(value)))


def secret_texts(value: Any) -> Iterator[tuple[str, str]]:
    """Yield (kind, text) for every credential in a JSON value: in a text, in a name, or as the value of such a name."""
    for text in texts_in(value):
        yield from ((secret.name, text[secret.start : secret.end]) for secret in find_secrets(text))
    yield from ((ASSIGNED, text) for text in _named(value))


def _masked(value: Any) -> Any:
    match value:
        case str():
            return mask_secrets(drop_private(value))
        case Mapping():
            clean: dict[str, Any] = {}
            hidden = set(_hidden(value))
            for key, item in value.items():
                name = _masked(key)
                while name in clean:  # two names may differ only in their secrets
                    name += "'"
                clean[name] = f"{MASKED}{ASSIGNED}]" if key in hidden else _masked(item)
            return clean
        case list() | tuple():
            return [_masked(item) for item in value]
    return value


def _named(value: Any) -> Iterator[str]:
    match value:
        case Mapping():
            yield from (value[key] for key in _hidden(value))
            for item in value.values():
                yield from _named(item)
        case list() | tuple():
            for item in value:
                yield from _named(item)


def _hidden(value: Mapping[Any, Any]) -> Iterator[str]:
    """Yield the names of an object whose text is a credential, including {name: …, value: …} pairs."""
    pair = ("value", value.get("name") or value.get("key"), value.get("value"))
    for key, name, item in (*((key, str(key), item) for key, item in value.items()), pair):
        is_named = isinstance(name, str) and isinstance(item, str) and is_name(name)
        if is_named and is_secret(_plain(item), least=6, spoken=True):
            yield key


def _everywhere(text: str, encoded: int) -> Iterator[Secret]:
    """Search a text as it is and in each of its plainer spellings, there also across what breaks it into parts."""
    yield from _whole_and_joined(text, encoded)
    if _is_plain(text):
        return
    from holdfast.policy.secrets.unwrap import spellings  # noqa: PLC0415  most hooks do not need it

    for spelling, back in spellings(text):
        for secret in _whole_and_joined(spelling, encoded):
            start, end = back(secret.start, secret.end)
            yield secret._replace(start=start, end=end)


def _whole_and_joined(text: str, encoded: int) -> Iterator[Secret]:
    whole = list(_candidates(text, encoded))
    yield from whole
    if not _BREAK.search(text):
        return
    from holdfast.policy.secrets.unwrap import joined  # noqa: PLC0415  most hooks do not need it

    for piece, back, joints in joined(text):
        for secret in _candidates(piece, encoded):
            after = [word for place, word in joints if secret.start < place < secret.end]
            start, end = back(secret.start, secret.end)
            known = [one for one in whole if one.start <= start < one.end]
            # What is a secret without the next line does not go on there with a word of a language, and a key that is
            # found whole ends where its last line says.
            if after and not (known and (secret.name in WHOLE or (after[0] and is_wordy(after[0])))):
                yield secret._replace(start=start, end=end)


def _candidates(text: str, encoded: int) -> Iterator[Secret]:
    for _, hint, name, shape, anywhere in _hinted(text):
        for match in _shape(shape).finditer(text) if anywhere else _matches(hint, shape, text):
            group = 1 if match.re.groups else 0
            if _is_shape(name, match[group]):
                yield Secret(name=name, start=match.start(group), end=match.end(group))
    for name, places in ((ASSIGNED, assigned), (COLUMN, columns), (ENCODED, manifests), (COMMAND, arguments)):
        for start, end in places(text):
            # Words that only look random because of escapes are not secrets.
            if name == ENCODED or is_secret(_plain(text[start:end]), spoken=True):
                yield Secret(name=name, start=start, end=end)
    if encoded:
        yield from _encoded(text, encoded - 1)


def _hinted(text: str) -> list[tuple[int, str, str, str, bool]]:
    """Return the rules whose hint is in a text, in the order of the table."""
    marks = set(text)
    for sign in marks.intersection(_SIGNS):
        parts = text.split(sign)
        marks.update([(part[-1:] or sign) + sign for part in parts])  # nothing between them: two signs
        marks.update([sign + part[:1] for part in parts])
    return sorted([rule for mark in marks & _MARKS for rule in _HINTS[mark] if rule[1] in text])


def _encoded(text: str, encoded: int) -> Iterator[Secret]:
    """Search inside encoded text; a hit masks the encoded text as a whole."""
    if len(text) < 4_000 and all(len(word) < SHORTEST_ENCODED for word in text.split()) and not _NUMBERS.search(text):
        return
    from holdfast.policy.secrets.unwrap import decoded  # noqa: PLC0415  most hooks do not need it

    for start, end, inner in decoded(text):
        pair = _PAIR.fullmatch(inner.strip())
        if pair and is_secret(pair[1], spoken=True):
            yield Secret(name=ENCODED, start=start, end=end)
        elif secret := next(_everywhere(inner, encoded), None):
            yield Secret(name=secret.name, start=start, end=end)


def _is_plain(text: str) -> bool:
    """True if a text contains nothing that a terminal or a format would read as an escape."""
    return text.isascii() and not any(sign in text for sign in _ESCAPES)


def _plain(text: str) -> str:
    if _is_plain(text):
        return text
    from holdfast.policy.secrets.unwrap import plain  # noqa: PLC0415  most hooks do not need it

    return plain(text)


@cache
def _shape(shape: str) -> re.Pattern[str]:
    """Compile a pattern of the table; `^` and `$` exclude adjacent letters and digits."""
    begun = f"(?<![A-Za-z0-9]){shape[1:]}" if shape.startswith("^") else shape
    return re.compile(re.sub(r"(?<!\\)\$(?=[|)]|\Z)", "(?![A-Za-z0-9])", begun))


def _matches(hint: str, shape: str, text: str) -> Iterator[re.Match[str]]:
    """Yield matches, trying the pattern only where its hint is: ten times as fast as a plain search."""
    pattern, place = _shape(shape), text.find(hint)
    while place >= 0:
        if match := pattern.match(text, place):
            yield match
        place = text.find(hint, match.end() if match else place + 1)


def _is_shape(name: str, value: str) -> bool:
    if name in WHOLE:
        return True
    if name not in JUDGED:
        port = len(value) <= 5 and value.isdigit()
        return not port and not is_placeholder(value) and not is_placeholder(_plain(value))
    if not is_secret(value) or not is_secret(_plain(value)):
        return False
    from holdfast.policy.secrets.unwrap import decoded  # noqa: PLC0415  most hooks do not need it

    # Base64 of a name and a default password, as in a manual, is none.
    pairs = [_PAIR.fullmatch(inner) for start, end, inner in decoded(value) if (start, end) == (0, len(value))]
    return not any(pair and is_placeholder(pair[1]) for pair in pairs)

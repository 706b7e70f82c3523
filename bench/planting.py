"""Generate the second set of secrets and look-alikes from templates, plain and wrapped as terminals and formats do.

No credential is stored in the file: a template states how many random characters of which alphabet belong where, and a
seeded generator fills them in, the same ones in every run.
"""

import base64
import html
import json
import random
import re
import string
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote

from bench.labelled import rows_of

MARK = "§"  # placeholder of the secret in its context
BASE64 = "b64:"  # the text after it is the secret before encoding
_SYMBOLS = "!#%*+_.^?-"
_ALPHABETS = {
    "an": string.ascii_letters + string.digits,
    "hex": string.digits + "abcdef",
    "HEX": string.digits + "ABCDEF",
    "up": string.ascii_uppercase + string.digits,
    "lo": string.ascii_lowercase + string.digits,
    "b64": string.ascii_letters + string.digits + "+/",
    "url": string.ascii_letters + string.digits + "_-",
    "bc": string.ascii_letters + string.digits + "./",
    "dig": string.digits,
}
_WORDS = ("Sommer", "Falke", "Granit", "Winter", "Lagune", "Kupfer", "Morgen", "Tulpe", "Basalt", "Orkan")
_SLOT = re.compile(r"\{(an|hex|HEX|up|lo|b64|url|bc|dig|pw|pa|hum)(\d+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """A secret of some kind, as it is spelled in the text that contains it."""

    kind: str
    secret: str
    text: str


def planted(split: str, wrapping: str = "plain") -> list[Planted]:
    """Return the secrets of one half, each in its context, all wrapped in the same way."""
    made = []
    for row in rows_of("leaks", split):
        if "secret" in row:
            chance = random.Random(f"{row['kind']} {row['around']} {wrapping}")
            secret, around = _secret(row["secret"], chance), _filled(row["around"], chance)
            if wrapped := WRAPPINGS[wrapping](around, secret, chance):
                made.append(Planted(kind=row["kind"], secret=wrapped[0], text=wrapped[1]))
    return made


def look_alikes(split: str, wrapping: str = "plain") -> list[str]:
    """Return the texts of one half that contain no secret, all wrapped in the same way."""
    made = []
    for row in rows_of("leaks", split):
        if "text" in row:
            chance = random.Random(f"{row['text']} {wrapping}")
            text = _filled(row["text"], chance)
            word = chance.choice(list(re.finditer(r"\S{2,}", text)))
            around = f"{text[: word.start()]}{MARK}{text[word.end() :]}"
            if wrapped := WRAPPINGS[wrapping](around, word[0], chance):
                made.append(wrapped[1])
    return made


def _secret(template: str, chance: random.Random) -> str:
    if template.startswith(BASE64):
        return base64.b64encode(_filled(template.removeprefix(BASE64), chance).encode()).decode()
    return _filled(template, chance)


def _filled(template: str, chance: random.Random) -> str:
    return _SLOT.sub(lambda slot: _characters(slot[1], int(slot[2]), chance), template)


def _characters(alphabet: str, number: int, chance: random.Random) -> str:
    if alphabet == "hum":
        return f"{chance.choice(_WORDS)}{chance.randint(10, 2099)}{chance.choice('!?*#')}"
    if alphabet in ("pw", "pa"):
        must = [chance.choice(string.ascii_uppercase), chance.choice(string.digits), chance.choice(string.digits)]
        must += [chance.choice(_SYMBOLS), chance.choice(_SYMBOLS)] if alphabet == "pw" else []
        must += [chance.choice(_ALPHABETS["an"]) for _ in range(number - len(must) - 1)]
        chance.shuffle(must)
        return chance.choice(string.ascii_lowercase) + "".join(must)
    return "".join(chance.choice(_ALPHABETS[alphabet]) for _ in range(number))


# Each wrapping returns the secret as spelled and the text with it, or None if it does not apply.
Wrapped = tuple[str, str] | None


def _plain(around: str, secret: str, _: random.Random) -> Wrapped:
    return secret, around.replace(MARK, secret)


def _coloured(around: str, secret: str, chance: random.Random) -> Wrapped:
    """Colour the secret, or a part of it as `grep` does; with raw codes, or escaped as in logs and JSON."""
    escape = chance.choice(("\x1b", "\x1b", "\\u001b", "\\x1b", "\\033", "\\e"))
    on, off = chance.choice(
        (("[32m", "[0m"), ("[1;38;5;208m", "[m"), ("[01;31m" + escape + "[K", "[m" + escape + "[K"))
    )
    on, off = escape + on, escape + off
    if chance.random() < 0.3 and len(secret) > 8:
        place = chance.randint(2, len(secret) - 2)
        inside = f"{secret[:place]}{on}{secret[place:]}"
        return inside, around.replace(MARK, inside + off)
    return secret, around.replace(MARK, f"{on}{secret}{off}")


def _json_in_json(around: str, secret: str, _: random.Random) -> Wrapped:
    def twice(text: str) -> str:
        return json.dumps(json.dumps(text)[1:-1])[1:-1]

    text = json.dumps({"message": json.dumps({"text": around.replace(MARK, secret)})})
    return twice(secret), text


def _url_encoded(around: str, secret: str, _: random.Random) -> Wrapped:
    return quote(secret, safe=""), quote(around.replace(MARK, secret), safe="")


def _html(around: str, secret: str, chance: random.Random) -> Wrapped:
    numbers = {one: chance.choice((f"&#{ord(one)};", f"&#x{ord(one):X};", one)) for one in "=:/+!_.-"}

    def spelled(text: str) -> str:
        return "".join(numbers.get(one, one) for one in html.escape(text)) if "&" not in text else html.escape(text)

    before, _, after = around.partition(MARK)
    return spelled(secret), spelled(before) + spelled(secret) + spelled(after)


def _zero_width(around: str, secret: str, chance: random.Random) -> Wrapped:
    place, mark = chance.randint(1, len(secret) - 1), chance.choice("\u200b\u200d\u2060\ufeff\u00ad")
    hidden = f"{secret[:place]}{mark}{secret[place:]}"
    return hidden, around.replace(MARK, mark + hidden)


def _continued(around: str, secret: str, chance: random.Random) -> Wrapped:
    if "\n" in secret:
        return None
    place = chance.randint(1, len(secret) - 1)
    broken = f"{secret[:place]}\\\n{secret[place:]}"
    return broken, around.replace(MARK, broken)


def _in_base64(around: str, secret: str, _: random.Random) -> Wrapped:
    whole = base64.b64encode(around.replace(MARK, secret).encode()).decode()
    return whole, f"body: {whole}\n"


WRAPPINGS: dict[str, Callable[[str, str, random.Random], Wrapped]] = {
    "plain": _plain,
    "terminal colours": _coloured,
    "JSON in JSON": _json_in_json,
    "URL-encoded": _url_encoded,
    "HTML entities": _html,
    "zero-width characters": _zero_width,
    "line continuation": _continued,
    "base64": _in_base64,
}

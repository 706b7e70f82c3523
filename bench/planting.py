"""Generate the second set of secrets and look-alikes from templates, plain and wrapped as terminals and formats do.

No credential is stored in the file: a template states how many random characters of which alphabet belong where, and a
seeded generator fills them in, the same ones in every run.
"""

import base64
import gzip
import html
import json
import quopri
import random
import re
import string
import zlib
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


# Encodings of a whole text: what is encoded is the secret as spelled.
ENCODINGS: dict[str, Callable[[bytes], bytes]] = {
    "base64": base64.b64encode,
    "base64 twice": lambda raw: base64.b64encode(base64.b64encode(raw)),
    "base64 three times": lambda raw: base64.b64encode(base64.b64encode(base64.b64encode(raw))),
    "base64 for addresses": base64.urlsafe_b64encode,
    "base64 in lines": lambda raw: base64.encodebytes(raw).strip(),
    "base64 of UTF-16": lambda raw: base64.b64encode(raw.decode().encode("utf-16-le")),
    "base64, URL-encoded": lambda raw: quote(base64.b64encode(raw), safe="").encode(),
    "base64 of URL-encoded": lambda raw: base64.b64encode(quote(raw, safe="").encode()),
    "base64 of JSON": lambda raw: base64.b64encode(json.dumps({"text": raw.decode()}).encode()),
    "base64 of hex": lambda raw: base64.b64encode(raw.hex().encode()),
    "base32": base64.b32encode,
    "hex": lambda raw: raw.hex().encode(),
    "HEX": lambda raw: raw.hex().upper().encode(),
    "hex with spaces": lambda raw: raw.hex(" ").encode(),
    "hex in lines": lambda raw: b"\n".join(raw.hex().encode()[at : at + 60] for at in range(0, 2 * len(raw), 60)),
    "hex of base64": lambda raw: base64.b64encode(raw).hex().encode(),
    "gzip in base64": lambda raw: base64.b64encode(gzip.compress(raw, mtime=0)),
    "zlib in base64": lambda raw: base64.b64encode(zlib.compress(raw)),
    "gzip in base64 in lines": lambda raw: base64.encodebytes(gzip.compress(raw, mtime=0)).strip(),
    "base64 in gzip in base64": lambda raw: base64.b64encode(gzip.compress(base64.b64encode(raw), mtime=0)),
    "numbers of characters": lambda raw: ", ".join(map(str, raw)).encode(),
    "every character as \\x": lambda raw: "".join(f"\\x{one:02x}" for one in raw).encode(),
    "every character as \\u": lambda raw: "".join(f"\\u{one:04x}" for one in raw).encode(),
    "every character in octal": lambda raw: "".join(f"\\{one:03o}" for one in raw).encode(),
    "every character as %": lambda raw: "".join(f"%{one:02X}" for one in raw).encode(),
    "every character as an entity": lambda raw: "".join(f"&#{one};" for one in raw).encode(),
    "URL-encoded twice": lambda raw: quote(quote(raw, safe=""), safe="").encode(),
    "JSON three times": lambda raw: json.dumps(json.dumps(json.dumps(raw.decode())[1:-1])[1:-1])[1:-1].encode(),
}


def _encoded(encode: Callable[[bytes], bytes]) -> Callable[[str, str, random.Random], Wrapped]:
    def wrapped(around: str, secret: str, _: random.Random) -> Wrapped:
        text = around.replace(MARK, secret)
        whole, part = encode(text.encode()).decode(), encode(secret.encode()).decode()
        return (part if part in whole else whole, f"body: {whole}\n") if text.isascii() else None

    return wrapped


# What may be between the two parts of a secret that is split over lines, or over literals of a program (Q is their quote).
BREAKS = {
    "line continuation": "\\\n",
    "indented line continuation": "\\\n    ",
    "PowerShell continuation": "`\n  ",
    "cmd continuation": "^\n  ",
    "soft wrap": "\n",
    "soft wrap of a Windows file": "\r\n",
    "indented soft wrap": "\n      ",
    "quoted mail": "\n> ",
    "comment": "\n# ",
    "diff": "\n+    ",
    "escaped line end": "\\n  ",
    "literals with +": "Q + Q",
    "literals with + over lines": "Q +\n    Q",
    "literals beside each other": "Q Q",
    "literals on lines": "Q\n    Q",
    "literals with a continuation": "Q \\\n  Q",
    "literals with .": "Q . Q",
    "literals with ..": "Q .. Q",
    "literals with &": "Q & Q",
    "literals with ||": "Q || Q",
    "literals with <>": "Q <> Q",
    "literals that are joined": "Q, Q",
}


def _broken(between: str) -> Callable[[str, str, random.Random], Wrapped]:
    def wrapped(around: str, secret: str, chance: random.Random) -> Wrapped:
        quoting = next((one for one in "\"'" if around.partition(MARK)[0].count(one) % 2), "")
        if "\n" in secret or len(secret) < 8 or ("Q" in between and set("\"'\\") & set(secret)):
            return None
        if "Q" in between and not quoting:
            if set('"\n') & set(around):
                return None
            quoting, around = '"', f'text = "{around}"'
        place = chance.randint(3, len(secret) - 3)
        spelled = secret[:place] + between.replace("Q", quoting) + secret[place:]
        text = around.replace(MARK, spelled)
        return spelled, f"''.join([{text}])" if "," in between else text

    return wrapped


def _folded(around: str, secret: str, chance: random.Random) -> Wrapped:
    """Break a secret in a folded block of YAML."""
    wrapped = _broken("\n    ")(around.replace("\n", "\n    "), secret, chance)
    return wrapped and (wrapped[0], f"note: >-\n    {wrapped[1]}\nnext: 1\n")


def _quoted_printable(around: str, secret: str, _: random.Random) -> Wrapped:
    encoded, whole = (quopri.encodestring(text.encode()).decode() for text in (secret, around.replace(MARK, secret)))
    start = re.search(r"(?:=\n)?".join(map(re.escape, re.findall(r"=[0-9A-F]{2}|[^=]", encoded))), whole)
    return (start[0], whole) if start and start[0] != secret else None


WRAPPINGS: dict[str, Callable[[str, str, random.Random], Wrapped]] = {
    "plain": _plain,
    "terminal colours": _coloured,
    "JSON in JSON": _json_in_json,
    "URL-encoded": _url_encoded,
    "HTML entities": _html,
    "zero-width characters": _zero_width,
    "YAML, folded": _folded,
    "quoted-printable": _quoted_printable,
    **{name: _encoded(encode) for name, encode in ENCODINGS.items()},
    **{name: _broken(between) for name, between in BREAKS.items()},
}

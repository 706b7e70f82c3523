"""Stored text is data: it cannot close the fence it stands in, open another, pass for a client's own words, or hide.

One function for each place it is shown at: `visible` for terminals, `escaped` for JSON on them, `defused` for what a model reads, `inline` where it is one line among ours.
"""

import re
import unicodedata

_LESS = "<＜﹤‹〈〈⟨❮❰≺ᐸ˂⧼⦑"  # what looks like the beginning of a tag
_MORE = ">＞﹥›〉〉⟩❯❱≻ᐳ˃⧽⦒"
# Never seen, or moves what is seen: control characters, directions, joints of no width, tags, selectors, fillers.
_CONTROL = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_HIDDEN = r"\xad\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b\u2028\u2029\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"
_HIDDEN += r"\U000e0000-\U000e007f\U000e0100-\U000e01ef"
_MOVING = re.compile(f"[{_CONTROL}{_HIDDEN}]")
_UNSEEN = re.compile(
    rf"[{_CONTROL}{_HIDDEN}\u200c\u200d]"
)  # written languages and emoji need these two: people see them
_ASCII = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
# Letters of other alphabets that are drawn like Latin ones, as far as the names below need them.
_ALIKE = str.maketrans(
    "асԁеһіјӏмпорԛгѕтυѵѡхуοερνκτιαγηβωόᴍᴇᴏʀʏɢѕꜱᴛɑϲḥḅ∣│ǀ",
    "acdehijlmnopqrstuvwxyoepvktiaynBwomeorygsstacHb|||",
)
# What clients, model hosts and Holdfast itself put around what they say: names as they are without their hyphens.
_NAMES = re.compile(
    r"holdfast.*|system|systemreminder.*|systemprompt.*|systemmessage.*|function(call|result)s?|tool(use|call|result)s?|tooloutput|invoke|parameter|antml.*|"
    r"assistant|human|user|userpromptsubmithook|userquery|developer|instructions?|importantinstructions?|untrustedcontext|"
    r"\|(im(start|end|sep)|endoftext|eotid|startheaderid|endheaderid|system|user|assistant|endofprompt)\|?.*"
)
_OWN = re.compile(r"memory.*")
_TAG = re.compile(rf"([{_LESS}])(\s*[/\\∕⁄／⧸╱]?\s*)([\w|∣│ǀ:\-‐‑‒–—_.]{{2,60}})")
# A fence of ours stands on a line of its own, as `surfaces/core/text` writes it.
_FENCE = re.compile(
    r'<memory id="[0-9A-Z]{26}" kind="[\w-]*" state="[a-z]+" by="[^"<>\n]*" at="[\dT:.-]*"( from="[^"<>\n]*")?>|</memory>|'
    r'<memory-file path="[^"<>\n]*"( commit="[0-9a-f]+")?>|</memory-file>'
)


def visible(text: str) -> str:
    """Give a text for a terminal: nothing in it moves a cursor, turns the direction of writing or cannot be seen.

    Agents read terminals too, so it passes for nobody else's words either.
    """
    return _without_tags((_ASCII if text.isascii() else _MOVING).sub("", text))


def escaped(json: str) -> str:
    """Give JSON in which such characters are written as escapes: the same value, safe to look at."""
    plain = json if json.isascii() else _MOVING.sub(_escape, json)
    return _TAG.sub(
        lambda found: f"\\u{ord(found[1]):04x}{found[2]}{found[3]}" if _is_protected(found[3]) else found[0], plain
    )


def defused(text: str, *, fences: bool = False) -> str:
    """Give a text that can neither close the fence it stands in nor open another, nor pass for a client's own words.

    `fences` leaves ours where they belong: for a whole answer.
    """
    return _without_tags((_ASCII if text.isascii() else _UNSEEN).sub("", text), fences=fences)


def inline(text: str) -> str:
    """Give a text as part of one line, without any bracket a tag could begin with."""
    flat = " ".join(defused(text).split())
    return re.sub(f"[{_MORE}]", "›", re.sub(f"[{_LESS}]", "‹", flat))


def attribute(text: str) -> str:
    """Give a text as the value of an attribute of a fence."""
    return inline(text).replace('"', "'")


def _without_tags(seen: str, *, fences: bool = False) -> str:
    def plain(found: "re.Match[str]") -> str:
        if not _is_protected(found[3]) or (fences and _stands_alone(seen, found.start())):
            return found[0]
        return f"&lt;{found[2]}{found[3]}"

    return _TAG.sub(plain, seen)


def _escape(found: "re.Match[str]") -> str:
    code = ord(found[0])
    if code in (0x0A, 0x0D):
        return found[0]
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"


def _is_protected(name: str) -> bool:
    plain = _skeleton(name)
    return bool(_OWN.fullmatch(plain) or _NAMES.fullmatch(plain))


def _stands_alone(text: str, start: int) -> bool:
    if start and text[start - 1] != "\n":
        return False
    end = text.find("\n", start)
    return bool(_FENCE.fullmatch(text[start : end if end >= 0 else len(text)]))


def _skeleton(name: str) -> str:
    """Give a name as it looks: one alphabet, no case, no accents, no joints."""
    plain = unicodedata.normalize("NFKD", name.lower()).translate(_ALIKE).lower()
    return "".join(char for char in plain if char.isalnum() or char == "|")

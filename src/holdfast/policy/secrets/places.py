"""Find places where a secret is expected: after a name, in a table column, in a manifest, in a command's arguments."""

import re
from collections.abc import Generator, Iterator

from holdfast.model.patterns import lazy
from holdfast.policy.secrets.words import COMMANDS, NAMES, is_about, is_name, is_secret, secret_names

_QUOTED = r"(?:\"((?:[^\"\\\n]|\\.){4,4096}+)\"|'((?:[^'\\\n]|\\.){4,4096}+)'|`((?:[^`\\\n]|\\.){4,4096}+)`)"
# Without quotes a value ends where a new one begins; one with an escape is left to a plainer spelling.
_BARE = r"((?:[^\s\"'`,;(){}<>\[\]\\&]|&(?![\w#]{1,40}[=;])|\\(?![\\nrtuxe\"'/\s0])){6,}+)(?!\\[\\nrtuxe\"'/\s0]|&[\w#]{1,40};)"
# After a name: its rest, an assignment in one of many languages, and the value.
_ASSIGNED = lazy(
    r"([\w.\-]{0,60}+)(?:"
    r"[ \t]{0,4}:[ \t]{0,4}[A-Za-z][\w.<>\[\]|?]{0,30}+[ \t]{0,4}=[ \t]{0,4}" + _QUOTED +  # name: Type = "value"
    r"|[\"'`]?\]?[ \t]{0,16}(?:=>|:=|<-|[:=：])[ \t]{0,8}(?:" + _QUOTED + "|" + _BARE + ")"  # name = value, "name": "value"
    r"|[\"'`][ \t]{0,4},\s{0,8}" + _QUOTED +  # define("name", "value")
    r"|\([ \t]{0,4}" + _QUOTED +  # setName("value")
    r"|[\"']?[^<>\n]{0,80}>(?:</key>)?\s{0,20}(?:<string>)?([^<>\s]{4,400}+)(?=\s{0,20}</)"  # <name>value</name>
    r"|</key>\s{0,20}<string>([^<>\s]{4,400}+)(?=</)"
    r"|[\"']?[ \t]{1,8}value[ \t]?=[ \t]?" + _QUOTED +  # name="name" value="value"
    r"|[\"']?,?\s{1,40}[\"']?value[\"']?[ \t]{0,4}[:=][ \t]{0,4}(?:" + _QUOTED + "|" + _BARE + ")"  # - name: name, value: value
    r"|[\"']?[ \t]{1,4}" + _QUOTED +  # PASSWORD 'value'
    r"|[\"']?[ \t]{0,4}[:=][ \t]{0,4}(?:[>|][+\-]?\d?[ \t]{0,4})?\r?\n[ \t]{0,40}(?:" + _QUOTED + "|" + _BARE + r"(?=[ \t,]{0,8}(?:[\r\n]|\Z)))"
    r"|[ \t]\d[ \t]" + _BARE +  # router configuration: password 7 value
    r")"
)  # fmt: skip
# NAME=value as in a shell or an env file: everything up to the end of the line.
_WHOLE_LINE = lazy(r"[A-Z0-9_]{0,60}+=([^\s\"'`$(<\\][^\s\"'`\\]{5,}+)(?=[ \t]*(?:[\r\n]|\Z))")
# NAME value, after a command that sets it.
_SET = lazy(
    r"(?i)(?:^|[\s;&|\"'`])(?:setx|env|arg|set(?:[ \t]+-[\w\-]+){0,3}|(?:configure|config|secrets?|variable)[ \t]+set)[ \t]+[\"']?[\w.:/\-]{0,60}$"
)
_SET_TO = lazy(r"[\w.\-]{0,60}+[\"']?[ \t]{1,4}" + _BARE)
_SPOKEN = tuple(NAMES["spoken"].split("|"))
_STATED = {
    True: lazy(NAMES["stated"].replace("<run>", NAMES["word"])),
    False: lazy(NAMES["stated"].replace("<run>", NAMES["run"])),
}
_ARGUMENT = r"(?:\"([^\"\n]{4,200}+)\"|'([^'\n]{4,200}+)'|((?:[^\s\"'|;&\\]|\\(?![\\nrtuxe\"'/\s0])){4,200}+))"
_ARGUMENTS = lazy(r"(?:[^\n|;&\\]|\\[\s\S])*+")
_NAME_CELL, _CELL = lazy(r"[\w .\-/#]*"), lazy(r"[^\s\"'`]{6,400}+")  # of a table
_LINE_BELOW = lazy(r"[\s|+:\-]*")  # the heading of a table
_MANIFEST_LINE = lazy(r"\n[ \t]{1,20}[\w.\-]{1,100}:[ \t]{1,4}([A-Za-z0-9+/]{8,}+={0,2})(?=[\s\"'\\]|\Z)|\n(?![ \t])")
_COMMANDS: dict[str, list[tuple[str, re.Pattern[str]]]] = {}
for _names, _word, _flags in COMMANDS:
    _place = _word, lazy(r"(?<=\s)" + _flags.replace("@", _ARGUMENT))
    for _name in _names.split():
        _COMMANDS.setdefault(_name, []).append(_place)
_CALLED = frozenset(f"{name} " for name in _COMMANDS)
_CALL = lazy(rf"(?<![\w.\-])({'|'.join(_COMMANDS)}) ")
_WORDS = lazy(r"[\w.\-]++ ?")  # each with the space after it


def assigned(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of values whose name announces a secret."""
    last = 0
    for start, word in sorted(secret_names(text)):
        spoken = word in _SPOKEN and word != "pass"  # which is a verb, too
        if start < last or not (assignment := _assignment(text, start, spoken=spoken)):
            continue
        rest, begin, last, bare = assignment
        if text[start - len(word) - 1 : start - len(word)] == ":" and text[start : start + 1] == ":":
            continue  # a part of an address: arn:aws:secretsmanager:eu:1:secret:name
        called = bare and text[last : last + 1] in tuple("([{")
        if not is_about(rest) and is_secret(text[begin:last], code=called, spoken=word in _SPOKEN):
            yield begin, last


def _assignment(text: str, start: int, *, spoken: bool) -> tuple[str, int, int, bool] | None:
    """Return the rest of a name, the span of its value, and whether that is without quotes."""
    if text[start - 1 : start].isupper() and (match := _WHOLE_LINE.match(text, start)):
        return match[0].partition("=")[0], match.start(1), match.end(1), False
    if match := _ASSIGNED.match(text, start):
        group = next(number for number in range(2, match.re.groups + 1) if match[number] is not None)
        bare = text[match.start(group) - 1 : match.start(group)] not in ("'", '"', "`")
        return match[1], match.start(group), match.end(group), bare
    after = text[start : start + 1]
    if after and (after.isspace() or after in "_-.\"'" or after.isalnum()):
        line = text[max(text.rfind("\n", max(0, start - 120), start) + 1, start - 120) : start]
        if _SET.search(line) and (match := _SET_TO.match(text, start)):
            return match[0][: match.start(1) - start].strip(" \t\"'"), match.start(1), match.end(1), True
    if match := _STATED[spoken].match(text, start):
        return match["rest"] + (match["topic"] or ""), *match.span("value"), False
    return None


def columns(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of table cells (CSV, TSV, markdown, psql) under a heading that names a secret."""
    if "\n" not in text:
        return
    done = 0
    for start in sorted(end for end, _ in secret_names(text)):
        if start < done:
            continue
        begin, end = text.rfind("\n", 0, start) + 1, text.find("\n", start)
        if end < 0 or begin < done:
            return
        done = end
        separator = next((separator for separator in "\t|;," if separator in text[begin:end]), "")
        if separator and (places := _secret_cells(text[begin:end], separator)):
            done = yield from _cells_below(text, end + 1, separator, places, text.count(separator, begin, end))


def _secret_cells(line: str, separator: str) -> tuple[int, ...]:
    cells = [cell.strip(" \t\r\"'*`") for cell in line.split(separator)] if len(line) < 4_000 else [""]
    if '"' in cells[0]:  # the table may be a string in JSON
        cells[0] = line.partition(separator)[0].rpartition('"')[2].strip()
    names = all(len(cell) <= 40 and _NAME_CELL.fullmatch(cell) for cell in cells)
    return tuple(number for number, cell in enumerate(cells) if is_name(cell)) if names and len(cells) > 1 else ()


def _cells_below(
    text: str, place: int, separator: str, places: tuple[int, ...], separators: int
) -> Generator[tuple[int, int], None, int]:
    while 0 <= place < len(text):
        end = text.find("\n", place)
        end = len(text) if end < 0 else end
        line = text[place:end]
        if not _LINE_BELOW.fullmatch(line):
            if line.count(separator) != separators:
                break
            for number, cell in enumerate(line.split(separator)):
                inner = _CELL.search(cell) if number in places else None
                if inner and is_secret(inner[0], spoken=True):
                    yield place + inner.start(), place + inner.end()
                place += len(cell) + len(separator)
        place = end + 1
    return place


def manifests(text: str) -> Iterator[tuple[int, int]]:
    """Yield the values of a Kubernetes Secret: base64, whatever their names are."""
    place = text.find("kind: Secret")
    while place >= 0:
        start = text.find("\ndata:", place, place + 2_000)
        next_place = text.find("kind: Secret", place + 1)
        if start >= 0 and (next_place < 0 or start < next_place):
            for line in _MANIFEST_LINE.finditer(text, start + 6):
                if line[1] is None:
                    break
                yield line.start(1), line.end(1)
        place = next_place


def arguments(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of passwords among the arguments of commands."""
    # Nearly every text names no command at all, which one look shows.
    if not any(sign in text for sign in "-/_") or _CALLED.isdisjoint(_WORDS.findall(text)):
        return
    calls = list(_CALL.finditer(text))
    for call, limit in zip(calls, [*(after.start() for after in calls[1:]), len(text)], strict=True):
        start = call.end(1)
        line = match[0] if (match := _ARGUMENTS.match(text, start, limit)) else ""
        for word, flags in _COMMANDS[call[1]]:
            for match in flags.finditer(line) if word in line else ():
                group = next(number for number in (1, 2, 3) if match[number] is not None)
                if is_secret(match[group], spoken=True):
                    yield start + match.start(group), start + match.end(group)

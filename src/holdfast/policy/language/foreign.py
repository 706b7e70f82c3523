"""Tell what the sender of a text wrote from what was pasted, quoted, injected or printed by a program.

The one place that decides it: statements, summaries, handovers and briefs read only what is left. Pasted text often shows
no sign of it, so only the opening paragraph of a prompt is certainly the user's own, and only if it is short.
Every pattern is bounded, so that no text takes long.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from holdfast.model.patterns import lazy

LONGEST = 50_000  # characters; what comes later is foreign
MOSTLY = 0.6  # share of a text that is foreign, from which all of it is in doubt
OPENING = 2  # lines of an opening paragraph, list items not counted; more may be pasted
FEWEST_QUOTED = 5  # words of a quotation; fewer only name something

# Where a text can come from, in the languages people type ("the ticket says:"), and the parts such texts have ("Body:").
_TEXTS = (
    r"issue|ticket|bug|story|epic|pull request|merge request|pr|mr|review|comment|commit(?: message)?|diff|patch|changelog|release notes?|readme|contributing|"
    r"docs?|documentation|docstring|wiki|guide(?:line)?s?|policy|page|article|blog|post|tutorial|adr|spec|rfc|licen[cs]e|website|web ?page|file|"
    r"e-?mail|mail|message|letter|thread|slack|teams|discord|chat|transcript|meeting|minutes|logs?|output|stack ?trace|traceback|console|terminal|"
    r"stdout|stderr|response|payload|ci|tool|prompt|(?:chat)?gpt(?:-?\d\w*)?|copilot|gemini|stack ?overflow|"
    r"nachricht|fehlermeldung|ausgabe|protokoll|besprechung|anleitung|doku|seite|kommentar|sortie|journal|courriel|réunion|commentaire|"
    r"correo|mensaje|salida|registro|incidencia|comentario|reunión|página|saída|mensagem|comentário|chamado|reunião|"
    r"messaggio|commento|riunione|pagina|bericht|uitvoer|opmerking|foutmelding|verslag|"
    r"задач[аиеу]|тикет\w*|письм[оае]|сообщени[ея]|лог(?:и|ов|у|ам)?|вывод\w*|комментари\w*|документаци\w*|чат\w*"
)
_PARTS = (
    r"body|description|summary|abstract|details?|content|text|title|subject|steps(?: to reproduce)?|expected(?: \w+)?|actual(?: \w+)?|environment|"
    r"forwarded|trace|result|error(?: message)?|report|answer|ai|claude|cursor|snippet|template|quote|reporter|assignee|labels?|priority|"
    r"beschreibung|titel|fehler|betreff|antwort|réponse|erreur|objet|titre|descripción|respuesta|asunto|título|documento|descrição|resposta|erro|assunto|"
    r"descrizione|risposta|errore|oggetto|titolo|beschrijving|onderwerp|описани[ея]|ответ\w*|ошибк\w*|тема|заголовок"
)
_SOURCE = rf"(?:{_TEXTS}|{_PARTS})"
_CJK_SOURCE = (
    r"(?:イシュー|チケット|課題|メール|メッセージ|ログ|出力|エラー|ドキュメント|資料|議事録|コメント|説明|本文|件名|仕様書?|记录|日志|输出|邮件|消息|工单|问题单|"
    r"文档|评论|描述|正文|主题|报错|聊天|纪要|이슈|티켓|메일|메시지|로그|출력|문서|댓글|설명|본문|제목|오류|회의록|에러|리드미)"
)
_SAYS = (
    r"(?:says?|said|states|stated|claims|claimed|mentions|mentioned|writes|wrote|tells \w+|told \w+|recommends|recommended|suggests|suggested|"
    r"replied|answered|posted|commented|puts it|sagt|schreibt|schrieb|meint|dit|écrit|a écrit|dice|escribi[óo]|diz|escreveu|scrive|ha scritto|"
    r"zegt|schreef|пишет|написал\w?|говорит|сказал\w?)\b"
)
_MARKS = lazy(
    r"\"(?:[^\"\n]|\n(?!\s*\n)){2,1000}\"|“[^“”]{2,1000}+”|„[^„“”]{2,1000}+[“”]|«[^«»]{2,1000}+»|「[^「」]{2,1000}+」|『[^『』]{2,1000}+』"
    r"|‘(?=[^\n]{8})(?:[^‘’\n]++|’(?=\w)){1,40}+’(?!\w)|(?<!\w)'(?=\w[^\n]{8})(?:[^'\n]++|'(?=\w)){1,40}+'(?!\w)"
)
_GAP = lazy(r"\n[ \t]*\n\s*")
_PARAGRAPH = lazy(r"\S(?:[^\n]|\n(?![ \t]*\n))*")
_ITEM = lazy(r"\s*(?:[-*•]|\d{1,2}[.)])\s+")
_CODE = lazy(r"`[^`\n]*`")
_FENCED = lazy(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_INDENTED = lazy(
    r"(?:\A|\n)((?:(?: {4}|\t)(?![ \t]*(?:[-*•]|\d{1,2}[.)])[ \t])[^\n]*(?:\n|\Z)){2,})|(?:\A|\n[ \t]*\n)((?: {4}|\t)(?![ \t]*(?:[-*•]|\d{1,2}[.)])[ \t])[^\n]*)"
)
_TAG = lazy(r"(?<![\w`])<(?P<name>(?!command-args)[a-z][\w:.-]{0,60})(?:\s[^<>]{0,500})?>", re.IGNORECASE)
# Tags that may be left open: of pasted and of injected texts.
_HOLDS_TEXT = lazy(
    r"past|doc|file|context|selec|quot|text|content|attach|source|log|output|issue|mail|page|memor|recall|remind|holdfast|claude-mem|system",
    re.IGNORECASE,
)
_ALONE = lazy(r"[ \t]*\n")
_MARKED = lazy(r"\s*(?:>|```|~~~|<\w|[\"“„«「『])")  # what follows shows where it ends
_PASTED = lazy(r"\[Pasted text[^\]\n]{0,80}\]|\[Image #?\d+\]", re.IGNORECASE)
_DIFF = lazy(
    r"^(?:diff --git |--- [^\n]+\n\+\+\+ |@@ |Index: |commit [0-9a-f]{7,40}\b)(?:[^\n]*\n?)"
    r"(?:^(?:[-+ @\\]|index |new file|deleted file|similarity|rename |Author:|Date:|Merge:|$)[^\n]*(?:\n|\Z))*",
    re.MULTILINE,
)
_TRACEBACK = lazy(
    r"^[ \t]*Traceback \(most recent call last\):.*?(?:^[\w.]+(?:Error|Exception|Interrupt|Exit)\b[^\n]*$|\Z)",
    re.MULTILINE | re.DOTALL,
)
# A line that a program printed, or of code.
_PRINTED = lazy(
    r"""
    ^\s*(?:
      [\[(]?\d{4}[-/.]\d\d[-/.]\d\d[T\s,]\s?\d\d[:h]\d\d | [\[(]?\d{1,2}:\d\d:\d\d\b | \[\s*\d+[.:]\d+\] | \[\d\d?/\w{3}/\d{4}
    | \w{3}\s+\d{1,2}\s\d\d:\d\d:\d\d | \d{1,3}(?:\.\d{1,3}){3}\s[-\w]
    | .{0,60}?\[?\b(?:INFO|DEBUG|WARN|WARNING|ERROR|TRACE|FATAL|CRITICAL|NOTICE)\b[\]:\s|]
    | (?:error(?:\[\w+\])?|warning|fatal|panic|npm\s(?:WARN|ERR!|notice)|E|remote|hint|FAILED|PASSED|FAIL|ok|not\sok|PASS):?\s\S+.*[:/(\d]
    | at\s\S+.*[:(]\d+ | \.{3}\s\d+\smore | File\s".*line | Caused\sby: | goroutine\s\d | thread\s'.*panicked | \w[\w.$]*(?:Error|Exception)\b.{0,60}:
    | \S+:\d+(?::\d+)?[:\s] | \S+\(\d+(?:,\d+)?\): | E\s{3,} | --->?\s | (?:[✓✔✗✘●✕×√]|::)\s | \[\d+/\d+\] | =+\s.*\s=+$ | \d+%\|
    | [$❯%#]\s(?=[\w./~]) | \w[\w-]*@[\w.-]+[:\s]\S*[$#]\s | >>>\s | PS\s\w:.*>\s | [A-Z]:\\.*>
    | [d-][rwxsStT-]{9}\s | total\s\d+$ | [├│└╭╰┌] | \+-[-+]+\+ | \|.*\|$ | \S+\s{3,}\S+\s{3,}\S
    | [0-9a-f]{7,40}\s\S+\s | On\sbranch\s | Your\sbranch\s | \d+\sfiles?\schanged | (?:modified|deleted|new\sfile|renamed):\s
    | HTTP/[\d.]+\s\d | (?:GET|POST|PUT|PATCH|DELETE|HEAD)\s/\S* | <\s\w | \*\s(?:Connected|Trying)
    | \[?\d{1,2}[./]\d{1,2}[./]\d{2,4},?\s\d{1,2}:\d\d | \#\#\[ | [^|\n]+\s\|\s[^|\n]+\s\|\s | [^,\n]+,[^,\s]+,\S | [{\[].*[}\]]$
    | "[\w $.@/-]+"\s*:\s | [{}\[\]()]+[,;]?$ | .*[{;]$ | (?:[\w.-]+,){3,}
    | (?:async\s)?def\s\w+\( | (?:export\s|public\s|private\s)?(?:class|function|interface|const|let|var|struct|fn|func)\s\w+.*[{(:=]
    | (?:from\s\S+\s)?import\s[\w{*.,\s]+(?:from\s['"].*)?;?$ | return\s.*[;)\]}]$ | \#include | //\s | /\*+ | \*/ | (?:SELECT|INSERT|UPDATE|CREATE|ALTER)\s.*
    | -----BEGIN\s
    )""",
    re.VERBOSE,
)
_SHELL = lazy(r"^\s*(?:[$❯%]\s(?=[\w./~])|\w[\w-]*@[\w.-]+[:\s]\S*[$#]\s|>>>\s|PS\s\w:.*>\s)")
# "the issue says:", "hier das Log:", and what follows it. Agents use the names of parts for their own.
_COLON = r"[^.;!?\n:：]{0,60}[:：](?=[ \t]*\n|[ \t]+\S|[^\x00-\x7f])"
_INTRODUCED = lazy(rf"(?:(?<![\w-]){_SOURCE}(?![\w-])|{_CJK_SOURCE}|(?<!\w){_SAYS}){_COLON}", re.IGNORECASE)
_CITED = lazy(rf"(?<![\w-])(?:{_TEXTS})(?![\w-]){_COLON}", re.IGNORECASE)
_DOCUMENT = rf"(?:(?<![\w./-])[\w./-]{{1,80}}\.[a-z]{{2,5}}|{_SOURCE})\b"
# "the README says …", up to the end of the quoted clause.
_REPORTED = lazy(
    rf"\b{_DOCUMENT}(?: \w+){{0,4}} {_SAYS}(?P<quoted>(?:[^.;!?\n,]|\.(?=[^\s\"'”’)])|,(?! (?:so|but|therefore|hence|and so|which is why)\b)){{1,600}})"
    rf"|\b(?:according to|as (?:per |stated |written )?(?:in )?|quoting|laut|selon|según|segundo|secondo|volgens) [^,;.!?\n]{{0,60}}?{_DOCUMENT}[^,;!?\n]{{0,30}},(?P<after>[^;!?\n]{{1,600}})",
    re.IGNORECASE,
)


class Block(NamedTuple):
    """A foreign part of a text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """A text with its foreign parts blanked out, and the part of that which is certainly the sender's; positions stay."""

    text: str
    certain: str


def own_part(text: str, *, by_agent: bool = False) -> Own:
    """Return what the sender of a text wrote. Agents use names such as “Summary:” for their own words; people paste them."""
    following = [match.end() for match in (_CITED if by_agent else _INTRODUCED).finditer(text)]
    signs = [sign for sign in following if not _MARKED.match(text, sign)]
    own = _blanked(text, [*_delimited(text), *_printed(text), *_following(text, signs), Block(LONGEST, len(text))])
    written, left = (sum(map(len, each.split())) for each in (text, own))
    opening = _PARAGRAPH.search(text)
    lines = [line for line in opening[0].split("\n") if not _ITEM.match(line)] if opening else []
    is_plain = len(lines) <= OPENING and left >= (1 - MOSTLY) * written
    end = opening.end() if opening and is_plain else 0
    return Own(text=own, certain=own if by_agent else own[:end] + _blanked(own[end:], [Block(0, len(text))]))


def _blanked(text: str, blocks: Sequence[Block]) -> str:
    parts, last = list[str](), 0
    for start, end in sorted(blocks):
        begin = max(start, last)
        if begin < end:
            parts += text[last:begin], re.sub(r"[^\n]", " ", text[begin:end])
            last = end
    return "".join((*parts, text[last:]))


def _delimited(text: str) -> Iterator[Block]:
    """Yield blocks that show where they end: code, tags, quotations, block quotes, diffs and traces."""
    for pattern in (_FENCED, _DIFF, _TRACEBACK, _PASTED):
        yield from (Block(*match.span()) for match in pattern.finditer(text))
    yield from (Block(*match.span(match.lastindex or 0)) for match in _INDENTED.finditer(text))
    yield from (
        Block(start, start + len(line)) for start, line in _lines(text) if line.lstrip().startswith((">", "＞"))
    )
    masked = _CODE.sub(lambda match: "x" * len(match[0]), text)
    for match in _MARKS.finditer(masked):
        words = len(match[0].split())
        if words >= FEWEST_QUOTED or (not match[0].isascii() and words < 3 and len(match[0]) > 3 * FEWEST_QUOTED):
            yield Block(*match.span())
    for match in _REPORTED.finditer(masked):
        yield Block(*match.span("quoted" if match["quoted"] else "after"))
    closed = dict[str, bool]()
    until = 0
    for match in _TAG.finditer(masked):
        name = match["name"].lower()
        if match.start() < until or closed.get(name) is False:
            continue
        end = masked.lower().find(f"</{name}", match.end())
        closed[name] = end >= 0
        if end >= 0:
            until = masked.find(">", end) + 1 or len(text)
            yield Block(match.start(), until)
        elif _HOLDS_TEXT.search(name) or _ALONE.match(masked, match.end()):
            yield Block(match.start(), len(text))


def _printed(text: str) -> Iterator[Block]:
    """Yield lines that programs print, with what stands between two of them, and the output below a typed command."""
    paragraph, is_output = list[tuple[int, str]](), False
    for start, line in (*_lines(text), (len(text), "")):
        if line.strip():
            paragraph.append((start, line))
            continue
        hits = [place for place, (_, each) in enumerate(paragraph) if _PRINTED.match(each)]
        is_output = any(_SHELL.match(each) for _, each in paragraph)
        if hits and (len(hits) > 1 or is_output or len(paragraph) == 1 or " " in paragraph[hits[0]][1].strip()):
            last = len(paragraph) - 1 if is_output else hits[-1]
            begin, (tail, ending) = paragraph[hits[0]][0], paragraph[last]
            yield Block(begin, tail + len(ending))
        paragraph = []


def _following(text: str, signs: list[int]) -> Iterator[Block]:
    """Yield the rest of the paragraph after each sign; the next one if nothing but a label is left of it."""
    for sign in signs:
        gap = _GAP.search(text, sign)
        if gap and len(text[sign : gap.start()].split()) < 2 and text[gap.end() :].strip():
            gap = _GAP.search(text, gap.end())
        yield Block(sign, gap.start() if gap else len(text))


def _lines(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    for line in text.split("\n"):
        yield start, line
        start += len(line) + 1

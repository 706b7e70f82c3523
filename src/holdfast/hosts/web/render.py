"""Pages from a query and a template, or as a file: stored text is escaped, times are relative, texts are Markdown."""

import csv
import difflib
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from datetime import date as calendar_date
from datetime import datetime, timedelta
from functools import cache, lru_cache, partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup, escape
from pygments.lexers import find_lexer_class_by_name, find_lexer_class_for_filename
from pygments.token import STANDARD_TYPES, Token
from pygments.util import ClassNotFound
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response

from holdfast import __version__
from holdfast.hosts.web.viewer import EVERYWHERE, FLASH, FLASH_SECONDS, WORDS, Ask, Undo
from holdfast.model.errors import Invalid
from holdfast.model.ids import ago, days_before, short
from holdfast.model.kinds import KINDS
from holdfast.model.record import GLOBAL
from holdfast.model.text import counted, shorten
from holdfast.policy.ranking.health import word_for
from holdfast.surfaces.maps import Terms, mapped
from holdfast.verbs.records.lifecycle import Done
from holdfast.verbs.sessions.receipts import IN_WORDS
from holdfast.verbs.upkeep.health import start_of_day
from holdfast.verbs.upkeep.inbox import choices, urgent

HERE = Path(__file__).parent
LONGEST_SHOWN = 20_000  # characters of a text on one page
MOST_COMPARED = 16_000_000  # pairs of words compared at most
MOST_COLOURED = 50_000  # characters of code that is highlighted
COLOURED = ("c", "k", "s", "m", "na", "nb", "nc", "nd", "nf", "nt")  # the tokens, as Pygments shortens their names
MOST_ROWS = 20_000  # of a file
LARGE = 20_000  # records read before a page is sent; with more, its parts are loaded later
YEAR = 31_536_000  # seconds
NAV = [(path, name, sign, below) for name, row in WORDS["nav"].items() for path, sign, *below in [row.split()]]
# Pages that keep their address when another project is chosen.
OF_PROJECT = (*(path for path, *_ in NAV), *"/sessions /map /graph /timeline /scars /brief /simulate /settings".split())
_STAMP, _SENTENCE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z"), re.compile(r"(?<=[.!?])\s+|\n+")
_WORDS, _PARTS = re.compile(r"\s+|\S+"), re.compile(r"\n|[^\n]+")
_COLOURED = {"html": False, "linkify": False, "highlight": lambda text, name, _: "\n".join(coloured(text, name))}
_MARKDOWN = MarkdownIt("commonmark", _COLOURED).enable("table").disable("image")
Row = Mapping[str, object]
Answer = Callable[[Ask], Response]
Answering = TypeVar("Answering", bound=Answer)
PAGES: dict[str, Answer] = {}  # by path; each module of `pages` adds its own
ACTS: dict[str, Answer] = {}


@dataclass(frozen=True, slots=True)
class Page:
    """A page: a template and the values it shows, which may include `title`, `back` and cookies for the browser.

    Its `parts` load after it in a large project. A part answers without scripts as a page with a link `back`.
    """

    template: str
    title: str
    values: Callable[[Ask], Mapping[str, Any]]
    _: KW_ONLY
    parts: tuple["Page", ...] = ()
    back: str = ""  # the page this is a part of
    rows: Callable[[Ask], Sequence[Row]] | None = None  # what it lists, as a file

    def __call__(self, ask: Ask) -> Response:
        """Answer a request."""
        if self.rows and ask.text("format"):
            return download(ask, self.title.lower(), self.rows(ask))
        later = bool(self.parts) and ask.memory.store.size(None if ask.everywhere else (ask.memory.here,)) > LARGE
        values: dict[str, Any] = {"title": self.title, "later": later, "back": self.back, **self.values(ask)}
        for part in () if later else self.parts:
            values |= part.values(ask)
        if not values["back"] or ask.fragment:
            return page(ask, self.template, **values)
        return page(ask, "part.html", **values | {"part": self.template, "back": address(ask, values["back"])})


def page_at(path: str, template: str, title: str, **more: Any) -> Callable[[Callable[[Ask], Mapping[str, Any]]], Page]:
    """Make the page at a path of the function that returns its values; `more` is what a `Page` has besides."""
    return lambda values: answer_at(path, PAGES)(Page(template, title, values, **more))


def answer_at(path: str, table: dict[str, Answer]) -> Callable[[Answering], Answering]:
    """Let a function answer the requests for a path, those for a page or those that act."""

    def add(answer: Answering) -> Answering:
        table[path] = answer
        return answer

    return add


def page(ask: Ask, template: str, *, status: int = 200, **values: Any) -> Response:
    """Return a filled template, with the values that every page needs; `headers` and `cookies` are for the browser."""
    projects = sorted(name for name, count in ask.memory.store.projects().items() if name and count)
    now = ask.memory.clock.now()
    projects = projects if ask.memory.project in projects else [ask.memory.project, *projects]
    around = {"ask": ask, "projects": projects, "csrf": ask.viewer.keys.form, "can_write": ask.memory.role != "read"}
    around |= {"url": partial(address, ask), "here": partial(here, ask), "now": now, "today": date_of(ask, now)}
    times: dict[str, Callable[[str], str]] = {
        "ago": lambda at: ago(at, now, ask.zone),
        "clock": lambda at: local(ask, at).strftime("%H:%M") if at else "",
        "date_of": partial(date_of, ask),
        "day": lambda at: local(ask, at).strftime("%A, %-d %B %Y") if at else "",
        "short_date": lambda day: calendar_date.fromisoformat(day).strftime("%-d %b"),
        "stamp": lambda at: local(ask, at).strftime("%-d %b %Y, %H:%M") if at else "",
    }
    answer: Response = HTMLResponse(filled(template, **around, **times, **values), status, values.get("headers"))
    if ask.flash and not ask.fragment:
        answer.delete_cookie(FLASH, path="/", httponly=True, samesite="strict")
    return with_cookies(answer, values.get("cookies", {}))


def filled(template: str, **values: Any) -> str:
    """Return a filled template."""
    return environment().get_template(template).render(**values)


def with_cookies(answer: Response, cookies: Mapping[str, str], seconds: int = YEAR) -> Response:
    """Return an answer that sets cookies which only our own pages send."""
    for name, value in cookies.items():
        answer.set_cookie(name, value, max_age=seconds, httponly=True, samesite="strict", path="/")
    return answer


def moved(ask: Ask, path: str, done: Done | str, undo: Undo | None = None) -> Response:
    """Redirect the browser after an action; the next page shows its message once, with a button that undoes it."""
    done = Done(message=done) if isinstance(done, str) else done
    said, where = ask.viewer.sign(done.message, ask.viewer.keep_undo(done, undo)), address(ask, path)
    answer = Response(status_code=204, headers={"hx-redirect": where}) if ask.fragment else RedirectResponse(where, 303)
    return with_cookies(answer, {FLASH: said}, FLASH_SECONDS)


def download(ask: Ask, name: str, rows: Sequence[Row], records: Sequence[object] | None = None) -> Response:
    """Return rows as a file; too many are refused, never cut. JSON has whole records instead, if they are given.

    In CSV, a cell that a spreadsheet would run as a formula begins with a quote.
    """
    check_rows(len(rows))
    kind = ask.text("format", "csv")
    if kind not in ("csv", "json"):
        raise Invalid(f"There is no format {kind[:40]!r}.", hint="Use csv or json.")
    headers = {"content-disposition": f'attachment; filename="{name}.{kind}"'}
    if kind == "json":
        return JSONResponse({"rows": rows} if records is None else {"records": records}, headers=headers)
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(rows[0] if rows else ())
    for row in rows:
        cells = (" ".join(value) if isinstance(value, (tuple, list)) else str(value) for value in row.values())
        writer.writerow("'" + cell if cell[:1] in ("=", "+", "-", "@", "\t", "\r") else cell for cell in cells)
    return PlainTextResponse(text.getvalue(), headers=headers, media_type="text/csv")


def table(items: Iterable[object], columns: str, **filters: Callable[[Any], object]) -> list[Row]:
    """Return a row for each item by a map of its columns (surfaces/maps.py) or its name; it may name these filters."""
    columns = WORDS["columns"].get(columns, columns)
    return [mapped(columns, item, None, Terms(filters=filters)) for item in items]


def check_rows(count: int) -> None:
    """Refuse a file that would be too long."""
    if count > MOST_ROWS:
        hint = "Narrow it with filters; `holdfast store export` writes everything."
        raise Invalid(f"{count:,} rows are too many for one file of {MOST_ROWS:,}.", hint=hint)


def address(ask: Ask, path: str, /, **given: Any) -> str:
    """Return the URL of a page in the selected project."""
    wanted = {"project": ask.named} if ask.named and "project=" not in path else {}
    wanted |= {name: value for name, value in given.items() if value not in ("", None, (), [])}
    joint = "&" if "?" in path else "?"
    return f"{path}{joint}{urlencode(wanted, doseq=True)}" if wanted else path


def here(ask: Ask, path: str = "", /, **changed: Any) -> str:
    """Return the URL of the current page, or of another, with some parameters changed; an empty value removes one."""
    given: dict[str, Any] = {name: ask.texts(name) for name in ask.given if name not in ("project", "from")}
    return address(ask, path or ask.path, **given | changed)


def local(ask: Ask, at: str) -> datetime:
    """Return an instant in the time zone of the reader."""
    return datetime.fromisoformat(at).astimezone(ask.zone)


def date_of(ask: Ask, at: str) -> str:
    """Return the date of an instant in the time zone of the reader."""
    return local(ask, at).date().isoformat()


def start_of_date(ask: Ask, date: str, days: int = 0) -> str:
    """Return the first instant of a date in the reader's time zone, or of one some days later; other texts as they are."""
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", date):
        return date
    try:
        return start_of_day((calendar_date.fromisoformat(date) + timedelta(days=days)).isoformat(), ask.zone)
    except (ValueError, OverflowError) as problem:
        raise Invalid(f"{date} is not a date.") from problem


def end_of_day(ask: Ask, date: str) -> str:
    """Return the last instant of a date in the time zone of the reader; other texts stay as they are."""
    after = start_of_date(ask, date, 1)
    return after if after == date else days_before(after, 0.0005 / 86_400)  # milliseconds are cut, not rounded


@cache
def environment() -> Environment:
    """Return the template environment; a missing name is an error, not an empty string."""
    made = Environment(autoescape=True, undefined=StrictUndefined, auto_reload=False)
    made.loader, made.trim_blocks, made.lstrip_blocks = FileSystemLoader(HERE / "templates"), True, True
    made.filters |= {
        "markdown": markdown,
        "grade": word_for,
        "project": lambda name: "every project" if name == GLOBAL else name.rstrip("/").rpartition("/")[2] or name,
        "dated": lambda text, stamp: _STAMP.sub(lambda found: stamp(found[0]), text),
        "first_part": lambda path: "/" + path.split("/")[1],
        "short": short,
        "shorten": shorten,
        "thousands": lambda number: f"{number:,}",
        "percent": lambda share: f"{100 * share:.0f} %",
        "outcome": lambda name: IN_WORDS.get(name, name or "no outcome yet"),
        "words": lambda name: str(name).replace("_", " "),
        "path": lambda text: quote(text, safe=""),
        "capitalized": lambda text: text[:1].upper() + text[1:],
    }
    made.globals |= {"version": __version__, "asset": asset, "only_in": only_in, "counted": counted}
    made.globals |= {"nav": NAV, "of_project": OF_PROJECT, "everywhere": EVERYWHERE, "kinds": KINDS}
    made.globals |= {"choices_of": choices, "waiting_in": urgent, "differences": differences}
    made.globals["bar"] = vars(made.get_template("bar.html").module)["bar"]
    made.filters["icon"] = lambda kind: KINDS[kind].icon if kind in KINDS else "•"
    return made


@cache
def asset(name: str) -> str:
    """Return the URL of a static file; it changes with the content, so browsers may cache it."""
    digest = blake2b((HERE / "assets" / name).read_bytes(), digest_size=6).hexdigest()
    return f"/assets/{name}?v={digest}"


def markdown(text: str) -> Markup:
    """Render a stored text as Markdown: HTML is escaped, images are dropped, links send no referrer."""
    shown = text[:LONGEST_SHOWN]
    html = _MARKDOWN.render(shown).replace("<a href=", '<a rel="noopener noreferrer nofollow" target="_blank" href=')
    left = len(text) - len(shown)
    more = f'<p class="muted">{left:,} more characters: <code>holdfast show</code> prints them.</p>' if left else ""
    return Markup(html + more)  # noqa: S704  markdown-it escapes whatever is no markdown


def coloured(text: str, name: str) -> list[Markup]:
    """Return the lines of code with the syntax of a language highlighted, which is named, or known by the file's name."""
    return Markup("".join(html for _, html in _pieces(text, name))).split("\n")  # noqa: S704  each is escaped


@lru_cache(maxsize=64)
def _pieces(text: str, name: str = "") -> list[tuple[str, str]]:
    """Return the words of a text, or the tokens of code, each with its HTML; none is on two lines."""
    lexer: Any = None
    with suppress(ClassNotFound):
        if name and len(text) <= MOST_COLOURED:
            known = find_lexer_class_for_filename(name) or find_lexer_class_by_name(name)
            lexer = known(stripnl=False, ensurenl=False)
    tokens = lexer.get_tokens(text.replace("\r", "")) if lexer else ((Token, word) for word in _WORDS.findall(text))
    pieces = []
    for sort, token in tokens:
        css = STANDARD_TYPES.get(sort, "")
        for part in _PARTS.findall(token):
            html = f'<span class="h-{css}">{escape(part)}</span>' if css.startswith(COLOURED) else str(escape(part))
            pieces.append((part, html if part.strip() else part))
    return pieces


def differences(old: str, new: str, name: str = "") -> Markup:
    """Return the difference of two texts, or of two versions of a file: deletions are struck out, insertions are marked.

    The common prefix and suffix are skipped first; between them, very long texts are marked as replaced altogether.
    """
    before, after = _pieces(old[:LONGEST_SHOWN], name), _pieces(new[:LONGEST_SHOWN], name)
    start = _shared(before, after)
    end = _shared(before[start:][::-1], after[start:][::-1])
    one, other = before[start : len(before) - end], after[start : len(after) - end]
    matcher = difflib.SequenceMatcher(lambda piece: piece[0].isspace(), one, other)
    steps = matcher.get_opcodes() if len(one) * len(other) <= MOST_COMPARED else ()
    parts = [*before[:start]]
    for step, a, b, c, d in steps or (("replace", 0, len(one), 0, len(other)),):
        for tag, some in (("", one[a:b]),) if step == "equal" else (("del", one[a:b]), ("ins", other[c:d])):
            parts += [("", f"<{tag}>"), *some, ("", f"</{tag}>")] if tag and some else some
    parts += before[len(before) - end :]
    return Markup("".join(html for _, html in parts))  # noqa: S704  each is escaped


def only_in(text: str, other: str) -> str:
    """Return the sentences of a text that another one does not have."""
    known = set(_SENTENCE.split(other))
    return " ".join(sentence for sentence in _SENTENCE.split(text) if sentence.strip() and sentence not in known)


def _shared(one: Sequence[object], other: Sequence[object]) -> int:
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))

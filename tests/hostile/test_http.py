"""Whatever arrives at a port of ours: nothing but a refusal comes back, nothing is written unasked, and the next request is answered."""

import gzip
import json
import os
import re
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from hashlib import sha256
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import quote, quote_from_bytes

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.responses import Response
from starlette.types import Message

from holdfast.compose import database_at, open_memory
from holdfast.compose.settings import load_settings
from holdfast.hosts import loopback
from holdfast.hosts.web.app import ACTS, PAGES
from holdfast.hosts.web.endpoints import ENDPOINTS
from holdfast.model.record import Draft
from holdfast.policy.admission.admit import Waivers
from holdfast.verbs.records.lifecycle import Revision, revise
from holdfast.verbs.records.write import Written, write
from tests import engines
from tests.conftest import keep
from tests.hostile.texts import DEEP, NASTY, texts, tried, values
from tests.hosts.conftest import environment_of
from tests.hosts.preloaded import ENTRY
from tests.hosts.running import Forked, answer, runner, wait_for
from tests.rows import of_type, rows, sampled

pytestmark = [
    pytest.mark.embedded,
    pytest.mark.xdist_group("wire"),
    pytest.mark.skipif(sys.platform != "linux", reason="measures in /proc"),
]
SOMEBODY = b"01ARZ3NDEKTSV4RRFFQ69G5FAV"
MOST_GROWTH = 60_000  # kilobytes above what it had when it began, after anything at all
ADDRESSES = sorted(
    {*PAGES, *ACTS, *(one.path for one in ENDPOINTS), "/stream", "/assets/viewer.css", "/api/openapi.json"}
)
GIVEN = sorted({"q", "project", "before", "after", "what", "state", "from", "since", "key", "csrf", "said"}) + sorted(
    {name for endpoint in ENDPOINTS for name in endpoint.schema["properties"]}
)
METHODS = ("tools/call", "tools/list", "resources/read", "prompts/get", "initialize", "server/discover", "ping", "x")

raw = st.one_of(texts.map(lambda text: text.encode(errors="surrogatepass")), st.binary(max_size=40))
quoted = st.one_of(texts.map(lambda text: quote(text, errors="surrogatepass")), raw.map(quote_from_bytes)).map(
    str.encode
)
LINES = (
    *(line.encode("latin-1") for line in rows("hostile_headers")),
    b"Content-Length: " + b"9" * 30,
    b"X-" + b"a" * 5_000 + b": b",
)
lines = st.one_of(st.sampled_from(LINES), st.builds(lambda name, value: name + b": " + value, raw, raw))
ODD_PATHS = b"* /mcp // http://[ http://evil.example/ /assets/..%2f..%2fapp.py /%2e%2e/%2e%2e".split()
paths = st.one_of(
    st.builds(
        lambda path, part, name, value: path.encode().replace(b"{id}", part) + b"?" + name.encode() + b"=" + value,
        st.sampled_from([path.replace("{what}", "retire") for path in ADDRESSES]),
        st.one_of(st.just(SOMEBODY), quoted),
        st.sampled_from(GIVEN),
        quoted,
    ),
    quoted.map(lambda part: b"/assets/" + part),
    raw.map(lambda part: b"/" + part),
    st.sampled_from(ODD_PATHS),
)
verbs = st.one_of(st.sampled_from((b"GET", b"POST", b"HEAD", b"PUT", b"DELETE", b"OPTIONS", b"CONNECT")), raw)
messages = st.builds(
    lambda method, params: {"jsonrpc": "2.0", "id": 1, "method": method, "params": params},
    st.one_of(st.sampled_from(METHODS), texts),
    values,
)
bodies = st.one_of(
    raw,
    st.one_of(values, messages).map(lambda value: json.dumps(value).encode()),
    st.sampled_from((b"5\r\nabcde\r\n", b"zz\r\n", b"f" * 18 + b"\r\nx")),
)


# The command of a server, and what it is asked after everything that was tried.
KINDS = {
    "viewer": ("web --no-open", b"/memories"),
    "mcp": ("mcp --http", b"/nothing"),
    "team": ("server run --rate 100000 --burst 100000", b"/readyz"),
}
PATIENCE = 0.25  # seconds; a request that is not whole is not answered


class Wire:
    """A running server: what it is sent, and whether it is still well."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.kind, (command, self._proof) = kind, KINDS[kind]
        self.home = folder / "store"
        self._log = folder / "errors.txt"
        environment = environment_of(folder)
        if kind == "team":
            environment["HOLDFAST_DATABASE"] = engines.schema(str(folder))
        self.database = environment.get("HOLDFAST_DATABASE", str(self.home))
        made = _key(folder, environment) if kind == "team" else b""
        self._log.touch()
        program = f"import os; os.dup2(os.open({str(self._log)!r}, os.O_WRONLY), 2)\n{ENTRY}"
        self.process = Forked(("-c", program, *command.split(), "--port", "0"), folder, environment, text=False)
        self.close = self.process.close
        wait_for(lambda: "127.0.0.1:" in self.said or self.process.poll() is not None)
        found = re.search(r"127\.0\.0\.1:(\d+)", self.said)
        assert found, self.said
        self.port = int(found[1])
        self.token = made or (self.home / "http-token").read_bytes().strip()
        self.name = f"127.0.0.1:{self.port}".encode()

    @property
    def said(self) -> str:
        """What it wrote to its terminal: bugs are told there."""
        return self._log.read_text()

    @property
    def most_memory(self) -> int:
        """The most kilobytes it ever had."""
        return int(re.findall(r"VmHWM:\s+(\d+)", Path(f"/proc/{self.process.pid}/status").read_text())[0])

    @property
    def seconds(self) -> float:
        """The processor time it has taken."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def head(self, *lines: bytes, key: bool = True) -> bytes:
        """Give the headers of somebody who knows our name, with or without the token."""
        shown = (b"Authorization: Bearer " + self.token,) if key else ()
        return b"".join(line + b"\r\n" for line in (b"Host: " + self.name, b"Connection: close", *shown, *lines))

    def get(self, path: bytes, *, patience: float) -> bytes:
        """Ask for a page with the token."""
        return self.send(b"GET " + path + b" HTTP/1.1\r\n" + self.head() + b"\r\n", patience=patience)

    def post(self, path: bytes, body: bytes, *lines: bytes, key: bool = True, chunked: bool = False) -> bytes:
        """Give a whole POST request, its body with its length or in one piece."""
        size = b"Transfer-Encoding: chunked" if chunked else b"Content-Length: %d" % len(body)
        head = self.head(b"Accept: application/json, text/event-stream", *lines, size, key=key)
        whole = b"%x\r\n" % len(body) + body + b"\r\n0\r\n\r\n" if chunked else body
        return b"POST " + path + b" HTTP/1.1\r\n" + head + b"\r\n" + whole

    def send(self, data: bytes, *, patience: float = PATIENCE, half: bool = False) -> bytes:
        """Send bytes and give what came back until the line was closed or nothing more came."""
        answer = bytearray()
        with socket.create_connection(("127.0.0.1", self.port), timeout=120) as line:
            try:
                line.sendall(data)
                if half:
                    line.shutdown(socket.SHUT_WR)
                line.settimeout(patience)
                while part := line.recv(65_536):
                    answer += part
            except OSError:  # it had enough, or has nothing to say
                return bytes(answer)
        return bytes(answer)

    def must_be_well(self) -> None:
        """It runs, answers the next good request, and told of no bug."""
        assert self.process.poll() is None, self.said
        answer = self.get(self._proof, patience=30)
        assert answer.startswith((b"HTTP/1.1 200", b"HTTP/1.1 404")), answer[:300]
        assert "Traceback" not in self.said, self.said[-3000:]


def _key(folder: Path, environment: dict[str, str]) -> bytes:
    """Give the key of somebody who may write to the team's project."""
    run = runner(folder, folder)
    own = {name: value for name, value in environment.items() if name.startswith("HOLDFAST_")}
    assert run("server", "user", "add", "anna", **own).returncode == 0
    wanted = ("--project", own["HOLDFAST_PROJECT"], "--role", "write", "--json")
    return str(answer(run("server", "key", "add", "anna", *wanted, **own))["key"]).encode()


def statuses(said: bytes) -> list[int]:
    """Give the status of each answer in what came back."""
    return [int(found) for found in re.findall(rb"(?:^|\n|[^\n])HTTP/1\.1 (\d{3}) ", b"\n" + said)]


def started(name: str) -> Any:
    @pytest.fixture(scope="module", name=name)
    def one(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
        with closing(Wire(name, tmp_path_factory.mktemp(name))) as wire:
            yield wire
            wire.must_be_well()

    return one


viewer, mcp, team = map(started, ("viewer", "mcp", "team"))


@pytest.fixture(params=["viewer", "mcp", "team"])
def wire(request: pytest.FixtureRequest) -> Wire:
    one: Wire = request.getfixturevalue(request.param)
    one.must_be_well()
    return one


def target(wire: Wire) -> bytes:
    """Give where a body is read."""
    return b"/api/records/" + SOMEBODY + b"/retire" if wire.kind == "viewer" else b"/mcp"


def journal(wire: Wire) -> str:
    """Give a hash of everything that was ever written."""
    if wire.kind == "mcp" and not (wire.home / "holdfast.db").exists():
        return "nothing yet"
    with closing(database_at(wire.database)) as db:
        found = [list(map(tuple, db.query(f"select * from {table} order by 1"))) for table in ("events", "trail")]
    return sha256(repr(found).encode()).hexdigest()


def refused(answer: bytes) -> bool:
    """Tell whether nothing but refusals came back, none of them a failure of ours."""
    return all(100 <= status < 500 for status in statuses(answer)) and b"-32603" not in answer


@tried(180)
@given(
    first=st.one_of(st.builds(lambda verb, path: verb + b" " + path + b" HTTP/1.1", verbs, paths), raw),
    some=st.lists(lines, max_size=4),
    body=bodies,
    known=st.sampled_from(("key", "name", "")),
    half=st.booleans(),
)
def test_any_bytes_and_any_request_are_answered_or_refused(
    wire: Wire, first: bytes, some: list[bytes], body: bytes, known: str, half: bool
) -> None:
    head = wire.head(*some, key=known == "key") if known else b"".join(line + b"\r\n" for line in some)
    data = first + b"\r\n" + head + b"\r\n" + body
    assert refused(wire.send(data, half=half)), data


@tried(60)
@given(
    body=bodies,
    media=st.sampled_from((b"application/json", b"text/html", b"application/x-www-form-urlencoded", b"\xff")),
    era=st.sampled_from((b"2025-06-18", b"2026-07-28", b"")),
    chunked=st.booleans(),
)
def test_any_body_is_answered_or_refused(wire: Wire, body: bytes, media: bytes, era: bytes, chunked: bool) -> None:
    lines = (b"Content-Type: " + media, *((b"Mcp-Protocol-Version: " + era,) if era else ()))
    data = wire.post(target(wire), body, *lines, chunked=chunked)
    answer = wire.send(data, patience=20)
    assert (refused(answer), len(statuses(answer)) > 0) == (True, True), (data, answer[:500])


@tried(40)
@given(
    path=paths,
    fields=st.dictionaries(st.sampled_from(("csrf", "reason", "body", "title", "what")), texts, max_size=3),
    origin=st.sampled_from((b"null", b"http://evil.example", b"")),
)
def test_nothing_is_written_for_who_shows_no_key(
    wire: Wire, path: bytes, fields: dict[str, str], origin: bytes
) -> None:
    before = journal(wire)
    form = "&".join(f"{name}={quote(value, errors='replace')}" for name, value in fields.items()).encode()
    told = {b"application/x-www-form-urlencoded": form, b"application/json": json.dumps(fields).encode()}
    for media, body in told.items():
        extra = (b"Origin: " + (origin or b"http://" + wire.name), b"Content-Type: " + media)
        answer = wire.send(wire.post(path, body, *extra, key=False), patience=20)
        assert all(400 <= status < 500 for status in statuses(answer)), answer[:300]
    assert journal(wire) == before


def test_long_texts_in_an_address_are_answered(viewer: Wire) -> None:
    for text in sampled([text for text in NASTY if 600 <= len(text) < 60_000], 2):
        said = quote(text[:15_000], errors="surrogatepass").encode()
        for path in (b"/memories?q=", b"/memories/hits?q=", b"/activity?session=", b"/r/"):
            answer = viewer.get(path + said, patience=20)
            assert refused(answer), (path, text[:60], answer[:300])


def test_bombs_do_not_fit(wire: Wire) -> None:
    """Long, deep or packed: refused, and neither memory nor time goes with it."""
    memory, seconds = wire.most_memory, wire.seconds
    where, media = target(wire), b"Content-Type: application/json"
    begun, rest = b"POST " + where + b" HTTP/1.1\r\n", b" HTTP/1.1\r\n" + wire.head() + b"\r\n"
    long, deep = b'{"a":"' + b"x" * 100_000_000 + b'"}', b'{"a":' * 100_000 + b"1" + b"}" * 100_000
    call = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"remember","arguments":{"fields":%s}}}'
    form, ranges = b"Content-Type: application/x-www-form-urlencoded", b",".join([b"0-"] * 10_000)
    bombs = {
        "long": wire.post(where, long, media),
        "long in pieces": wire.post(where, long, media, chunked=True),
        "deep": wire.post(where, DEEP.encode() * 100, media),
        "deep objects": wire.post(where, deep, media),
        "deep arguments": wire.post(where, call % deep, media),
        "packed": wire.post(where, gzip.compress(b"x" * 50_000_000, 9), media, b"Content-Encoding: gzip"),
        "number": wire.post(where, b'{"a":' + b"9" * 500_000 + b"}", media),
        "headers": begun + wire.head(*(b"X-%d: y" % n for n in range(100_000))) + b"\r\n",
        "one header": begun + wire.head(b"X: " + b"y" * 5_000_000) + b"\r\n",
        "request line": b"GET /" + b"a" * 5_000_000 + rest,
        "parameters": b"GET /memories?" + b"&".join(b"%x" % n for n in range(10_000)) + b"=1" + rest,
        "form": wire.post(b"/threads/open", b"&".join(b"a=%x" % n for n in range(100_000)), form),
        "ranges": b"GET /assets/viewer.css HTTP/1.1\r\n" + wire.head(b"Range: bytes=" + ranges) + b"\r\n",
    }
    for name, bomb in bombs.items():
        assert refused(wire.send(bomb, patience=10)), name
        wire.must_be_well()
    assert wire.most_memory - memory < MOST_GROWTH
    assert wire.seconds - seconds < 20


def test_many_who_never_finish_keep_nobody_waiting(wire: Wire) -> None:
    """Half a request line, half a header, half a body, each on many lines at once; then all hang up."""
    halves = (
        b"GE",
        b"GET /memories HTTP/1.1\r\nHost: ",
        b"POST " + target(wire) + b" HTTP/1.1\r\n" + wire.head(b"Content-Length: 500") + b"\r\nabc",
        b"POST " + target(wire) + b" HTTP/1.1\r\n" + wire.head(b"Transfer-Encoding: chunked") + b"\r\nff\r\nabc",
    )
    with ExitStack() as held:
        for half in halves * 40:
            line = held.enter_context(socket.create_connection(("127.0.0.1", wire.port), timeout=120))
            line.sendall(half)
        wire.must_be_well()
    wire.must_be_well()


def test_what_is_hidden_behind_a_request_is_none(wire: Wire) -> None:
    hidden = b"GET /nothing HTTP/1.1\r\nHost: " + wire.name + b"\r\nAuthorization: Bearer " + wire.token + b"\r\n\r\n"
    head = wire.head(b"Content-Length: 6", b"Transfer-Encoding: chunked")
    smuggled = b"POST " + target(wire) + b" HTTP/1.1\r\n" + head + b"\r\n0\r\n\r\n" + hidden
    assert len(statuses(wire.send(smuggled, patience=3))) == 1  # the line is closed


SLOW = ["".join(piece * times for piece, times in made) for made in rows("texts_made_to_take_minutes")]


def test_texts_made_to_take_minutes_are_shown_at_once(viewer: Wire) -> None:
    """Texts made to be set, and two wordings made to be compared."""
    flags = {"home": str(viewer.home), "embedder": "none", "project": "example.org/acme/shop", "starters": "false"}
    sevens = " ".join(str(n % 7) for n in range(9_000))
    with open_memory(load_settings(flags=flags)) as memory:
        ids = [keep(memory, old).id for old in ("a b " * 5_000, sevens, SLOW[0])]
        for about, new in zip(ids, ("b a " * 5_000, "0 1 " * 4_000, SLOW[1]), strict=True):
            revise(memory, about, Revision(body=new))
        waived = Waivers(duplicate=True, transient=True, scope=True)
        made = [write(memory, Draft(body=text), waivers=waived) for text in SLOW]
        ids += [one.record.id for one in made if isinstance(one, Written)]
    seconds = viewer.seconds
    assert len(ids) > 3
    for record in ids:
        for part in (b"", b"/history"):
            answer = viewer.get(b"/r/" + record.encode() + part, patience=60)
            assert statuses(answer) == [200], answer[:300]
    assert viewer.seconds - seconds < 15


@patch.object(loopback, "BODY_SECONDS", 0.05)
def test_a_body_that_never_ends_is_not_waited_for() -> None:
    waited = iter(({"type": "http.request", "body": b"abc", "more_body": True},))

    async def receive() -> Message:
        for message in waited:
            return message
        await anyio.sleep_forever()
        raise AssertionError

    answer = of_type(Response, anyio.run(loopback.with_body, {"type": "http", "headers": []}, receive, 1_000))
    assert answer.status_code == 408

"""Other people's things: git checkouts and their addresses, the built-in encoder, an embeddings endpoint."""

import gzip
import json
import os
import sys
import unicodedata
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
import tokenizers

from holdfast.adapters.checkout import GitCheckout
from holdfast.adapters.embedders import local
from holdfast.adapters.embedders.local import LocalEmbedder
from holdfast.adapters.embedders.wordpiece import Tokenizer
from holdfast.adapters.endpoint import HttpEmbedder
from holdfast.compose import open_memory
from holdfast.compose.settings import load_settings
from holdfast.model.config import Config
from holdfast.model.errors import EmbedderError
from holdfast.model.query import Query
from holdfast.model.record import PORTS, Draft, Origin, project_of_remote, without_userinfo
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.write import write
from holdfast.verbs.search.recall import recall
from tests.adapters.stub import Stub, serving, stub_server
from tests.conftest import new_folder, ran
from tests.replicas.seats import git
from tests.rows import each, examples, opened, refused, rows


def test_a_checkout_is_known_by_its_remote_or_its_path_and_its_origin_follows_commits_and_branches(
    tmp_path: Path,
) -> None:
    repository = new_folder(tmp_path / "repo" / "src").parent
    git(repository, "init", "-b", "main")
    git(repository, "commit", "--allow-empty", "-m", "first")
    git(repository, "worktree", "add", "-b", "feature", str(tmp_path / "linked"))
    inside, linked = GitCheckout(repository / "src"), GitCheckout(tmp_path / "linked")
    commit = git(repository, "rev-parse", "HEAD")
    assert linked.project() == inside.project() == str(repository)
    assert inside.origin() == Origin(branch="main", commit=commit)
    assert linked.origin() == Origin(branch="feature", worktree="linked", commit=commit)
    assert (GitCheckout(tmp_path).project(), GitCheckout(tmp_path).origin()) == (str(tmp_path), Origin())
    git(repository, "remote", "add", "backup", "https://elsewhere.example/x/y.git")
    git(repository, "remote", "add", "origin", "git@github.com:Acme/Shop.git")
    assert GitCheckout(repository / "src").project() == "github.com/acme/shop"
    git(repository, "commit", "--allow-empty", "-m", "second")
    assert inside.origin() == Origin(branch="main", commit=git(repository, "rev-parse", "HEAD"))
    git(repository, "checkout", "--detach")
    assert inside.origin() == Origin(commit=git(repository, "rev-parse", "HEAD"))
    git(tmp_path, "init", "-b", "main")
    assert GitCheckout(tmp_path).origin() == Origin(branch="main")  # without commits


def test_the_built_in_encoder_knows_what_is_alike_whatever_stands_beside_it() -> None:
    encoder = LocalEmbedder()
    made = encoder.embed(["The car is in the garage.", "An automobile stands in the carport.", "Bread needs yeast."])
    vectors = np.stack([encoded.vector for encoded in made])
    assert vectors.shape == (3, encoder.size)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    assert vectors[0] @ vectors[1] > encoder.ceiling - 0.1 > vectors[0] @ vectors[2]
    assert [(encoded.tokens.shape, encoded.weights.shape) for encoded in made[2:]] == [((3, 64), (3,))]
    assert encoder.embed([]) == []
    text = "parseHttpHeader raises on folded lines"
    alone, together = encoder.embed([text])[0], encoder.embed(["short", text, "word " * 500])[1]
    assert (alone.vector == together.vector).all()
    assert (alone.tokens == together.tokens).all()


def test_the_encoder_knows_words_but_no_misspelled_ones() -> None:
    encoder = LocalEmbedder()
    assert [encoder.knows(word) for word in ("status", "pointer", "tarefik", "lenght")] == [True, True, False, False]
    assert "_loaded" not in vars(encoder)  # the vocabulary alone was read


@each("vocabulary", [None, b"", b"\xff\xfe"])
def test_a_damaged_encoder_leaves_search_by_words(tmp_path: Path, vocabulary: bytes | None) -> None:
    if vocabulary is not None:
        (tmp_path / "vocab.txt.gz").write_bytes(vocabulary)
    settings = load_settings(environment={}, flags={"home": str(tmp_path / "store"), "project": "p"})
    with patch.object(local, "FOLDER", tmp_path), open_memory(settings) as memory:
        refused(EmbedderError, LocalEmbedder().knows, "word", says="cannot be loaded")
        write(memory, Draft(body="Traefik terminates TLS."))
        found = recall(memory, Query(text="tarefik"))
        assert [hit.record.title for hit in found.hits] == ["Traefik terminates TLS."]
        assert [note for note in found.notes if "cannot be loaded" in note]


endpoint = opened(stub_server)


def embedder_at(url: str, key: str = "") -> HttpEmbedder:
    return HttpEmbedder(Config(embedder_url=url, embedder_model="small", embedder_key=key))


def test_an_endpoint_is_asked_in_batches_and_answers_are_put_in_order(endpoint: Stub) -> None:
    embedder = embedder_at(f"{endpoint.url}/v1", "k")
    vectors = embedder.embed(["a", *["bb"] * 70])
    asked = [(path, sent["Authorization"], call["model"], len(call["input"])) for path, sent, call in endpoint.asked]
    assert asked == [("/v1/embeddings", "Bearer k", "small", count) for count in (64, 7)]
    assert vectors[0].vector == pytest.approx([0.6, 0.8])
    assert (embedder.name, embedder.size) == ("http:small", 2)


@each("reply", [{}, {"data": [{"embedding": "x"}]}, {"data": []}, [], {"data": [{"embedding": [float("nan")]}]}])
def test_an_endpoint_that_answers_nonsense_or_is_away_is_an_error_with_a_hint(endpoint: Stub, reply: object) -> None:
    endpoint.body = json.dumps(reply).encode()
    refused(EmbedderError, embedder_at(f"{endpoint.url}/v1").embed, ["a"])
    refused(EmbedderError, embedder_at("http://127.0.0.1:9/v1").embed, ["a"], says="embedder_url")


def test_an_endpoint_serves_one_process_after_another(endpoint: Stub, tmp_path: Path) -> None:
    flags = {"home": str(tmp_path / "h"), "project": "p", "embedder": "http", "embedder_model": "small"}

    def opened() -> Memory:
        return open_memory(load_settings(environment={}, flags={**flags, "embedder_url": f"{endpoint.url}/v1"}))

    with opened() as memory:
        write(memory, Draft(body="The car is in the garage."))
        assert recall(memory, Query(text="car", weak=True)).search == "hybrid"
    with opened() as memory:
        assert recall(memory, Query(text="car", weak=True)).search == "hybrid"
    endpoint.body = b'{"data": [{"embedding": [1.0, 2.0, 3.0]}]}'
    with opened() as memory:
        found = recall(memory, Query(text="car", weak=True))
        assert (found.search, "holdfast store rebuild vectors" in found.notes[0]) == ("words", True)


BARE = str.maketrans("", "", "[]")
LOG = "import json, sys; open(sys.argv[1], 'a').write(json.dumps(sys.argv[2:]) + chr(10)); sys.exit(1)"
# Every way to write an address that came to mind, with honest and with hostile intent. {} is tried as other hosts, too.
SPELLINGS = [
    json.loads(line)
    for line in Path(__file__).with_name("addresses.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]


class _Proxy(BaseHTTPRequestHandler):
    seen: Path

    def refuse(self) -> None:
        with self.seen.open("a") as log:
            log.write(json.dumps(["http", self.command, self.path]) + "\n")
        self.send_error(502)

    do_GET = do_CONNECT = refuse  # noqa: N815


@pytest.fixture(scope="module")
def contacted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], str]]:
    """Return which host:port git contacts for an address; "" if none. Nothing leaves the machine."""
    folder = tmp_path_factory.mktemp("git")
    seen = folder / "seen"
    for name in ("ssh", "proxy"):
        script = folder / name
        script.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{LOG}" {seen} {name} "$@"\n')
        script.chmod(0o700)
    proxies = ("http_proxy", "https_proxy", "all_proxy", "HTTPS_PROXY", "ALL_PROXY")
    own = {"GIT_TERMINAL_PROMPT": "0", "GIT_SSH_VARIANT": "ssh", "GIT_CONFIG_NOSYSTEM": "1", "HOME": str(folder)}
    own |= {"GIT_SSH": str(folder / "ssh"), "GIT_PROXY_COMMAND": str(folder / "proxy"), "no_proxy": "", "NO_PROXY": ""}
    with serving(_Proxy, seen=seen) as proxy:

        def ask(url: str) -> str:
            seen.write_text("")
            environment = {**os.environ, **dict.fromkeys(proxies, proxy), **own}
            ran(["git", "ls-remote", "--", url], folder, env=environment, timeout=120)
            lines = [json.loads(line) for line in seen.read_text().splitlines()]
            return _host(*lines[0]) if lines else ""

        yield ask


def _host(program: str, *arguments: str) -> str:
    """Return host:port of what git passed to ssh, to a proxy of its own protocol, or to an HTTP proxy."""
    if program == "proxy":
        return ":".join(arguments)
    if program == "http":
        method, target = arguments
        authority = target if method == "CONNECT" else target.split("//")[1].split("/")[0]
        return authority if authority.rpartition(":")[2].isdigit() else f"{authority}:80"
    port = arguments[arguments.index("-p") + 1] if "-p" in arguments else "22"
    host = next(word for word in arguments[::-1] if "git-upload-pack" not in word)
    return f"{host.rpartition('@')[2]}:{port}"


def test_an_identity_names_the_host_that_git_contacts(contacted: Callable[[str], str]) -> None:
    identities = {url: project_of_remote(url) for url in (one.format("github.com") for one in SPELLINGS)}
    wrong = list[tuple[str, str, str]]()
    for url, identity in identities.items():
        host = (identity or "").partition("/")[0]
        usual = PORTS.get(url.partition("://")[0], 22)
        expected = host if host.rpartition(":")[2].isdigit() and not host.endswith("]") else f"{host}:{usual}"
        if identity and expected.translate(BARE) != contacted(url).lower().translate(BARE):
            wrong.append((url, identity, contacted(url)))
    assert wrong == []
    assert sum(identity is not None for identity in identities.values()) >= 30  # the honest ones
    assert contacted("https://evil.test?@github.com/acme/secret") == "evil.test:443"  # what the attack relies on


def test_the_address_is_the_one_git_fetches_from(tmp_path: Path) -> None:
    for place, (identity, *given_settings) in enumerate(rows("the_address_is_the_one_git_fetches_from")):
        folder = new_folder(tmp_path / str(place))
        git(folder, "init", "-q")
        for setting in given_settings:
            git(folder, "config", "--add", *setting.split("=", 1))
        assert GitCheckout(folder).project().replace(str(folder), "path") == identity
    # What is shown of an address keeps its host.
    assert without_userinfo("https://evil.test?@github.com/x") == "https://evil.test?@github.com/x"
    assert without_userinfo("https://ada:pa/ss@github.com/x") == "https://github.com/x"


FILE = Path(local.__file__).parent / local.MODEL / "vocab.txt.gz"
OURS = Tokenizer(FILE, local.LONGEST)
THEIRS = tokenizers.BertWordPieceTokenizer(
    {word: place for place, word in enumerate(gzip.decompress(FILE.read_bytes()).decode().split("\n"))}
)
THEIRS.enable_truncation(local.LONGEST)


def same(text: str) -> bool:
    return bool(OURS.encode(text) == THEIRS.encode(text).ids)


@examples
def test_a_text_of_any_kind_has_the_same_tokens(text: str) -> None:
    assert same(text)


def test_every_kind_of_character_ends_a_word_where_it_should() -> None:
    """Every hundredth character that has a name, and all of the first 0x300, next to letters, digits and spaces."""
    # Beyond the first plane the package and Python know different versions of Unicode.
    known = [chr(code) for code in (*range(0x300), *range(0x300, 0x10000, 61)) if not 0xD800 <= code < 0xE000]
    texts = [f"a{one}b {one} {one}{one}1{one}  {one}x" for one in known if unicodedata.category(one) != "Cn"]
    assert len(texts) > 1_000
    assert [text for text in texts if not same(text)] == []


def test_the_models_leave_nothing_in_the_users_folders_and_report_to_nobody(tmp_path: Path) -> None:
    program = (
        "from holdfast.adapters.embedders.local import LocalClassifier, LocalEmbedder\n"
        "LocalEmbedder().embed(['a memory'])\n"
        "print(max(LocalClassifier().chances('user', 'We never mock the database here.').values()) > 0.2)\n"
    )
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "LOCALAPPDATA": str(tmp_path)}
    done = ran([sys.executable, "-c", program], env=environment)
    assert (done.stdout, list(tmp_path.iterdir())) == ("True\n", []), done.stderr

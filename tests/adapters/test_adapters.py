"""Other people's things: git checkouts, the built-in encoder, an embeddings endpoint."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from holdfast.adapters.checkout import GitCheckout
from holdfast.adapters.embedders import local
from holdfast.adapters.embedders.local import LocalEmbedder
from holdfast.adapters.endpoint import HttpEmbedder
from holdfast.compose import open_memory
from holdfast.compose.settings import load_settings
from holdfast.model.config import Config
from holdfast.model.errors import EmbedderError
from holdfast.model.query import Query
from holdfast.model.record import Draft, Origin
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.write import write
from holdfast.verbs.search.recall import recall
from tests.adapters.stub import Stub, stub_server
from tests.rows import each, refused


def git(folder: Path, *arguments: str) -> str:
    settings = ("user.name=t", "user.email=t@example.org", "init.defaultBranch=main")
    command = ["git", *(word for setting in settings for word in ("-c", setting)), *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init")
    git(folder, "commit", "--allow-empty", "-m", "first")
    return folder


def test_a_checkout_is_known_by_its_remote_from_any_folder_in_it_and_without_one_by_its_path(
    repository: Path, tmp_path: Path
) -> None:
    (repository / "src").mkdir()
    inside = GitCheckout(repository / "src")
    assert inside.project() == str(repository)
    assert (GitCheckout(tmp_path).project(), GitCheckout(tmp_path).origin()) == (str(tmp_path), Origin())
    git(repository, "remote", "add", "backup", "https://elsewhere.example/x/y.git")
    git(repository, "remote", "add", "origin", "git@github.com:Acme/Shop.git")
    assert GitCheckout(repository / "src").project() == "github.com/acme/shop"


def test_worktrees_share_the_project_and_keep_their_facets(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", "-b", "feature", str(tmp_path / "linked"))
    linked, main = GitCheckout(tmp_path / "linked"), GitCheckout(repository)
    commit = git(repository, "rev-parse", "HEAD")
    assert linked.project() == main.project() == str(repository)
    assert main.origin() == Origin(branch="main", commit=commit)
    assert linked.origin() == Origin(branch="feature", worktree="linked", commit=commit)


def test_the_origin_follows_commits_and_branches(repository: Path, tmp_path: Path) -> None:
    checkout = GitCheckout(repository)
    assert checkout.origin() == checkout.origin() != Origin()
    git(repository, "commit", "--allow-empty", "-m", "second")
    assert checkout.origin() == Origin(branch="main", commit=git(repository, "rev-parse", "HEAD"))
    git(repository, "checkout", "--detach")
    assert checkout.origin() == Origin(commit=git(repository, "rev-parse", "HEAD"))
    git(tmp_path, "init")
    assert GitCheckout(tmp_path).origin() == Origin(branch="main")  # without commits


def test_the_built_in_encoder_knows_what_is_alike() -> None:
    encoder = LocalEmbedder()
    made = encoder.embed(["The car is in the garage.", "An automobile stands in the carport.", "Bread needs yeast."])
    vectors = np.stack([encoded.vector for encoded in made])
    assert vectors.shape == (3, encoder.size)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    assert vectors[0] @ vectors[1] > encoder.ceiling - 0.1 > vectors[0] @ vectors[2]
    assert [(encoded.tokens.shape, encoded.weights.shape) for encoded in made[2:]] == [((3, 64), (3,))]
    assert encoder.embed([]) == []


def test_the_vector_of_a_text_does_not_depend_on_its_neighbours() -> None:
    encoder = LocalEmbedder()
    text = "parseHttpHeader raises on folded lines"
    alone, together = encoder.embed([text])[0], encoder.embed(["short", text, "word " * 500])[1]
    assert (alone.vector == together.vector).all()
    assert (alone.tokens == together.tokens).all()


def test_the_encoder_knows_words_but_no_misspelled_ones() -> None:
    encoder = LocalEmbedder()
    assert [encoder.knows(word) for word in ("status", "pointer", "tarefik", "lenght")] == [True, True, False, False]
    assert "_loaded" not in vars(encoder)  # the vocabulary alone was read


@each("vocabulary", [None, b"", b"\xff\xfe"])
def test_a_damaged_encoder_leaves_search_by_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, vocabulary: bytes | None
) -> None:
    if vocabulary is not None:
        (tmp_path / "vocab.txt").write_bytes(vocabulary)
    monkeypatch.setattr(local, "FOLDER", tmp_path)
    with pytest.raises(EmbedderError, match="cannot be loaded"):
        LocalEmbedder().knows("word")
    with open_memory(load_settings(environment={}, flags={"home": str(tmp_path / "store"), "project": "p"})) as memory:
        write(memory, Draft(body="Traefik terminates TLS."))
        found = recall(memory, Query(text="tarefik"))
        assert [hit.record.title for hit in found.hits] == ["Traefik terminates TLS."]
        assert [note for note in found.notes if "cannot be loaded" in note]


@pytest.fixture
def endpoint() -> Iterator[Stub]:
    with stub_server() as stub:
        yield stub


def embedder_at(url: str, key: str = "") -> HttpEmbedder:
    return HttpEmbedder(Config(embedder_url=url, embedder_model="small", embedder_key=key))


def test_an_endpoint_is_asked_in_batches_and_answers_are_put_in_order(endpoint: Stub) -> None:
    embedder = embedder_at(f"{endpoint.url}/v1", "k")
    vectors = embedder.embed(["a", *["bb"] * 70])
    assert [
        (path, sent["Authorization"], call["model"], len(call["input"])) for path, sent, call in endpoint.asked
    ] == [("/v1/embeddings", "Bearer k", "small", 64), ("/v1/embeddings", "Bearer k", "small", 7)]
    assert vectors[0].vector == pytest.approx([0.6, 0.8])
    assert (embedder.name, embedder.size) == ("http:small", 2)


@each("reply", [{}, {"data": [{"embedding": "x"}]}, {"data": []}, [], {"data": [{"embedding": [float("nan")]}]}])
def test_an_endpoint_that_answers_nonsense_or_is_away_is_an_error_with_a_hint(endpoint: Stub, reply: object) -> None:
    endpoint.body = json.dumps(reply).encode()
    refused(EmbedderError, embedder_at(f"{endpoint.url}/v1").embed, ["a"])
    refused(EmbedderError, embedder_at("http://127.0.0.1:9/v1").embed, ["a"], says="embedder_url")


def test_a_key_is_not_sent_where_an_endpoint_redirects_to(endpoint: Stub) -> None:
    endpoint.status, endpoint.headers = 302, {"location": "/v2/embeddings"}
    with pytest.raises(EmbedderError, match="302"):
        embedder_at(f"{endpoint.url}/v1", "k").embed(["a"])
    assert [path for path, _, _ in endpoint.asked] == ["/v1/embeddings"]


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

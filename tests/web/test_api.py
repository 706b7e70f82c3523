"""The JSON interface: what it gives, what claude-mem's users find there, and whatever may be thrown at it."""

from typing import Annotated, Any

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import just, one_of
from jsonschema import validate  # type: ignore[import-untyped]
from schemathesis.checks import not_a_server_error
from schemathesis.generation.modes import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from holdfast.hosts.web import endpoints
from holdfast.hosts.web.endpoints import ENDPOINTS, openapi
from holdfast.hosts.web.viewer import Ask
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.actions import ACTIONS
from holdfast.verbs.records.read import get
from tests.rows import WHOLE, sampled
from tests.verbs.scripts import taken
from tests.web.conftest import PORT, Site

CHECKS = (not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance)


def ask(site: Site, path: str, status: int = 200) -> Any:
    answer = site.stranger.get(path, headers=key_of(site))
    assert answer.status_code == status, (path, answer.text[:300])
    return answer.json()


def key_of(site: Site) -> dict[str, str]:
    return {"authorization": f"Bearer {site.keys.token}"}


def fill(memory: Memory) -> str:
    return str(taken("a_little_of_each_kind", memory).known["first"].id)


def test_every_endpoint_is_described_and_answers(site: Site) -> None:
    record = fill(site.memory)
    document = ask(site, "/api/openapi.json")
    assert set(document["paths"]) == {one.path for one in ENDPOINTS}
    texts = [one for one in ENDPOINTS if one.result == {"type": "string"}]
    bare = {one.path for one in ENDPOINTS if one not in texts and "properties" not in one.result}
    assert bare <= {"/api/memory/save"}  # the others say what they return, and the attack below checks it
    for one in ENDPOINTS:
        if one.method == "GET" and one not in texts:
            here = get(site.memory, record).record.by.session if "sessions" in one.path else record
            asked = {"timeline": f"?anchor={record}", "recall": "?q=refunds"}.get(one.path.rpartition("/")[2], "")
            path = one.path.replace("{id}", here) + asked
            validate(ask(site, path), {**one.result, "components": document["components"]})


def test_the_parameters_of_an_endpoint_are_those_of_its_function() -> None:
    @endpoints.endpoint("/api/shelves/{id}", selects_project=True)
    def books(_: Ask, id: Annotated[str, "Which."], most: Annotated[int, "How many.", {"minimum": 1}] = 5) -> str:  # noqa: A002
        """List the books of a shelf."""
        return f"{most} of {id}"

    operation = openapi([ENDPOINTS.pop()])["paths"]["/api/shelves/{id}"]["get"]
    assert operation["summary"] == "List the books of a shelf."
    assert [(one["name"], one["in"], one["required"], one["schema"]) for one in operation["parameters"]] == [
        ("project", "query", False, {"type": "string", "maxLength": 1000}),
        ("id", "path", True, {"type": "string", "maxLength": 1000, "minLength": 1}),
        ("most", "query", False, {"type": "integer", "minimum": 1, "default": 5}),
    ]
    assert operation["responses"]["200"]["content"] == {"text/plain": {"schema": {"type": "string"}}}


def test_recall_says_why_and_how_fresh(site: Site) -> None:
    record = fill(site.memory)
    found = ask(site, "/api/recall?q=refunds+ledger")
    best = found["hits"][0]
    assert (best["record"]["id"], best["record"]["url"]) == (record, f"/r/{record}")
    assert (best["why"]["words"] > 0, best["freshness"]["state"], found["search"]) == (True, "unverified", "words")


def test_what_cannot_be_understood_is_said_and_is_no_failure(site: Site) -> None:
    wrong = "limit=0 limit=many mode=wild kind=nothing as_of=easter".split()
    paths = ["/api/recall", "/api/recall?q=", *(f"/api/recall?q=x&{given}" for given in wrong)]
    for path in (*paths, "/api/stream?before=x", "/api/recall?q=%00", "/api/records?offset=-1"):
        assert ask(site, path, 400)["message"], path
    for method, path, status in (("GET", "nothing", 404), ("PUT", "recall", 405), ("OPTIONS", "records", 405)):
        answer = site.stranger.request(method, f"/api/{path}", headers=key_of(site))
        assert (answer.status_code, answer.json()["error"]) == (status, "http"), method


def test_a_body_that_is_no_object_of_texts_is_refused(site: Site) -> None:
    path, headers = f"/api/records/{fill(site.memory)}", key_of(site)
    for body in (b"[]", b"{", b'{"reason": {}}', b"[" * 100_000, b"\xff"):
        assert site.stranger.post(f"{path}/retire", content=body, headers=headers).status_code == 400, body[:20]
    for what in ACTIONS:
        answer = site.stranger.post(f"{path}/{what}", json={}, headers=headers)
        assert answer.status_code < 500, (what, answer.text)


def test_whatever_is_thrown_at_it_no_endpoint_fails(site: Site) -> None:
    fill(site.memory)
    headers = {**key_of(site), "Host": f"127.0.0.1:{PORT}"}
    schema = schemathesis.openapi.from_asgi("/api/openapi.json", site.browser.app, headers=headers)
    tried = settings(
        max_examples=10 if WHOLE else 4,
        phases=(Phase.explicit, Phase.generate),
        suppress_health_check=list(HealthCheck),
        derandomize=True,
        database=None,
    )

    def send(case: Any, sent: list[int]) -> None:
        sent.append(case.call_and_validate(headers=headers, checks=CHECKS).status_code)

    for one in sampled(ENDPOINTS, 6):
        operation, sent = schema[one.path][one.method], list[int]()
        modes = [operation.as_strategy(generation_mode=mode) for mode in GenerationMode]
        tried(given(case=one_of(modes), sent=just(sent))(send))()
        assert sent, one.path

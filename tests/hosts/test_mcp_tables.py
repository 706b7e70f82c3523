"""Resources and prompts as tables of a surface, asked for in both protocol eras."""

from typing import Any

import pytest

from holdfast.hosts.mcp.protocol import ProtocolError, joined, offer_of, server_of, written_offer
from holdfast.hosts.mcp.serving import SURFACES, surface_named
from holdfast.surfaces.tool import Call, Surface
from tests.hosts import toy
from tests.hosts.test_mcp import INITIALIZE, META
from tests.rows import each, examples

SERVER = server_of([toy.surface], Call(open=toy.no_memory))
ERAS = each("envelope", [{}, {"_meta": META}])


def ask(method: str, **params: Any) -> dict[str, Any]:
    return SERVER.answer(method, params)


def refusal(method: str, **params: Any) -> ProtocolError:
    with pytest.raises(ProtocolError) as refused:
        ask(method, **params)
    return refused.value


@ERAS
def test_fixed_addresses_and_templates_are_listed_apart(envelope: dict[str, Any]) -> None:
    news = {"uri": "toy://news", "name": "news", "title": "News", "description": "What is new."}
    book = {"name": "shelf", "title": "A book", "description": "One book in full.", "mimeType": "text/markdown"}
    assert ask("resources/list", **envelope)["resources"] == [{**news, "mimeType": "text/plain"}]
    templates = ask("resources/templates/list", **envelope)["resourceTemplates"]
    assert templates == [{"uriTemplate": "toy://shelf/{book}/text", **book}]


@examples
def test_what_is_at_an_address_can_be_read(uri: str, mime: str, text: str) -> None:
    for envelope in ({}, {"_meta": META}):
        assert ask("resources/read", uri=uri, **envelope)["contents"] == [{"uri": uri, "mimeType": mime, "text": text}]


@each(
    "uri", ["toy://nothing", "toy://shelf/lost/text", "toy://shelf/a/b/text", "toy://shelf//text", "toy://shelf/a", ""]
)
def test_a_missing_resource_has_another_code_in_each_era(uri: str) -> None:
    assert refusal("resources/read", uri=uri).code == -32002
    assert refusal("resources/read", uri=uri, _meta=META).code == -32602
    assert refusal("resources/read", uri=uri).data == {"uri": uri}


@ERAS
def test_a_prompt_is_listed_with_its_arguments_and_becomes_one_message(envelope: dict[str, Any]) -> None:
    book = {"name": "book", "description": "Its title.", "required": True}
    tone = {"name": "tone", "description": "How it should sound.", "required": False}
    review = {"name": "review", "title": "Review a book", "description": "Ask for a review.", "arguments": [book, tone]}
    assert ask("prompts/list", **envelope)["prompts"] == [review]
    got = ask("prompts/get", name="review", arguments={"book": "Emma", "tone": None}, **envelope)
    text = "Review Emma in a friendly tone."
    assert got["messages"] == [{"role": "user", "content": {"type": "text", "text": text}}]
    assert (got["description"], "ttlMs" in got) == ("Ask for a review.", False)


@ERAS
def test_what_is_asked_for_wrongly_or_cannot_be_read_is_refused(envelope: dict[str, Any]) -> None:
    assert "book is required" in refusal("prompts/get", name="review", **envelope).message
    assert refusal("prompts/get", name="nope", **envelope).data == {"prompts": ["review"]}
    assert refusal("prompts/get", name="review", arguments=[1], **envelope).code == -32602
    assert refusal("resources/read", **envelope).code == -32602
    busy = refusal("resources/read", uri="toy://shelf/lent/text", **envelope)
    assert (busy.code, busy.data) == (-32603, {"code": "store_busy"})


def test_only_what_a_surface_has_is_announced_and_answered() -> None:
    everything = {name: {"listChanged": False} for name in ("tools", "resources", "prompts")}
    assert ask("initialize", **INITIALIZE)["capabilities"] == everything
    assert ask("server/discover", _meta=META)["capabilities"] == everything
    bare = server_of([Surface(name="bare", tools=toy.surface.tools)], Call(open=toy.no_memory))
    assert bare.answer("initialize", INITIALIZE)["capabilities"] == {"tools": {"listChanged": False}}
    for method in ("resources/list", "resources/templates/list", "resources/read", "prompts/list", "prompts/get"):
        with pytest.raises(ProtocolError, match="Method not found"):
            bare.answer(method, {})


@examples
def test_the_newer_era_says_how_long_an_answer_holds(method: str, params: dict[str, Any], *, lasts: bool) -> None:
    result = ask(method, **params, _meta=META)
    assert (result["ttlMs"] > 0, result["cacheScope"], result["resultType"]) == (lasts, "private", "complete")


def test_what_is_written_down_is_what_the_surfaces_offer() -> None:
    for name in SURFACES:
        forgotten = "a tool has changed: run `python3 dev.py uv run python scripts/offers.py`"
        assert written_offer(name) == offer_of([surface_named(name)]), forgotten


def test_several_surfaces_are_one_offer() -> None:
    toys = offer_of([toy.surface])
    both = joined([toys, offer_of([Surface(name="bare", instructions="Another.")]), toys])
    assert both.instructions == "A toy.\n\nAnother.\n\nA toy."
    assert both == offer_of([toy.surface, Surface(name="bare", instructions="Another."), toy.surface])

"""LangGraph's store on Holdfast, with the real package: the same answers as its store in memory."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypedDict

import pytest

import holdfast
from tests.integrations.conftest import TOKEN
from tests.rows import Late, examples, of_type, refused, rows, some

if TYPE_CHECKING:
    from pathlib import Path

    from langgraph.store import base
    from langgraph.store import memory as theirs_in_memory
    from langgraph.store.base import BaseStore

    from holdfast.integrations import langgraph as ours
else:
    base, theirs_in_memory = Late("langgraph.store.base"), Late("langgraph.store.memory")
    ours = Late("holdfast.integrations.langgraph")

pytestmark = pytest.mark.xdist_group("integrations")


@pytest.fixture
def store(memory: holdfast.Memory) -> ours.HoldfastStore:
    return ours.HoldfastStore(memory)


ITEMS: list[tuple[tuple[str, ...], str, dict[str, Any]]]
ITEMS = [(tuple(namespace), key, value) for namespace, key, value in rows("items_of_namespaces")]
FILTERS: list[dict[str, Any]] = rows("filters_of_items")


def filled(store: BaseStore) -> BaseStore:
    for namespace, key, value in ITEMS:
        store.put(namespace, key, value)
    store.put(("users", "ada"), "work", {"text": "Ada works on refunds.", "score": 4})
    store.put(("users", "ada"), "gone", {"text": "x"})
    store.delete(("users", "ada"), "gone")
    store.delete(("users", "ada"), "never there")
    return store


def plain(items: list[Any]) -> list[tuple[tuple[str, ...], str, dict[str, Any]]]:
    return sorted(((item.namespace, item.key, item.value) for item in items), key=repr)


def test_it_answers_as_the_store_in_memory(store: ours.HoldfastStore) -> None:
    both = filled(store), filled(theirs_in_memory.InMemoryStore())
    for where in [(namespace, key) for namespace, key, _ in ITEMS] + [(("users", "ada"), "gone"), (("x",), "y")]:
        ours, expected = (plain([item] if (item := one.get(*where)) else []) for one in both)
        assert ours == expected, where
    prefixes = ((), ("users",), ("users", "ada"), ("users", "ada", "old"), ("docs",), ("nothing",))
    asked: list[tuple[tuple[str, ...], dict[str, Any] | None]] = [(prefix, None) for prefix in prefixes]
    # Theirs fails on what is not a number.
    asked += [(("users", "ada") if "$g" in str(chosen) else (), chosen) for chosen in FILTERS]
    for prefix, chosen in asked:
        ours, expected = (plain(list(one.search(prefix, filter=chosen, limit=50))) for one in both)
        assert ours == expected, (prefix, chosen)


@examples
def test_namespaces_are_listed_as_there(store: ours.HoldfastStore, asked: dict[str, Any]) -> None:
    assert filled(store).list_namespaces(**asked) == filled(theirs_in_memory.InMemoryStore()).list_namespaces(**asked)


def test_a_query_ranks_the_items_of_its_namespace_and_pages_do_not_overlap(store: ours.HoldfastStore) -> None:
    filled(store)
    best, *_ = store.search(("users", "ada"), query="who likes tea")
    assert (best.key, best.score is not None) == ("tea", True)
    assert [item.key for item in store.search(("users",), query="Ada", filter={"score": "3"}, limit=1)] == ["ada"]
    assert store.search(("docs",), query="who likes tea") == []
    for number in range(7):
        store.put(("n",), str(number), {"number": number, "text": "alike"})
    pages = [[item.key for item in store.search(("n",), limit=3, offset=offset)] for offset in (0, 3, 6, 9)]
    assert pages == [["6", "5", "4"], ["3", "2", "1"], ["0"], []]
    ranked = [item.key for offset in (0, 4) for item in store.search(("n",), query="alike", limit=4, offset=offset)]
    assert sorted(ranked) == [str(number) for number in range(7)]


def test_a_query_finds_by_meaning(tmp_path: Path) -> None:
    with holdfast.open(tmp_path, home=tmp_path / "store") as memory:
        store = ours.HoldfastStore(memory)
        for number in range(20):  # more than one recall embeds by itself
            store.put(("facts",), f"n{number}", {"text": f"Room {number} is painted in colour {number}."})
        store.put(("facts",), "drink", {"text": "Ada prefers an espresso after lunch."})
        best, *_ = store.search(("facts",), query="favourite hot beverage")
        alike = store.search(("facts",), query="which colour is a room painted in", limit=20)
    assert best.key == "drink"
    assert {item.key for item in alike} >= {f"n{number}" for number in range(19)}


def test_only_indexed_fields_are_searched(store: ours.HoldfastStore) -> None:
    store.put(("a",), "some", {"text": "tea", "note": "coffee"}, index=["text"])
    store.put(("a",), "none", {"text": "tea"}, index=False)
    store.put(("a",), "many", {"parts": [{"text": "juice"}, {"text": "water"}]}, index=["parts[*].text"])
    assert [item.key for item in store.search(("a",), query="tea")] == ["some"]
    assert store.search(("a",), query="coffee") == []
    assert [item.key for item in store.search(("a",), query="water")] == ["many"]
    assert len(store.search(("a",))) == 3
    assert some(store.get(("a",), "some")).value == {"text": "tea", "note": "coffee"}


def test_reads_of_a_batch_see_the_store_before_it(store: ours.HoldfastStore) -> None:
    store.put(("a",), "k", {"n": 1})
    put, again = (base.PutOp(("a",), "k", {"n": number}) for number in (2, 3))
    ops: list[base.Op] = [put, base.GetOp(("a",), "k"), again, base.SearchOp(("a",)), base.ListNamespacesOp()]
    none, got, _, found, namespaces = store.batch(ops)
    assert (none, of_type(base.Item, got).value, namespaces) == (None, {"n": 1}, [("a",)])
    assert len(of_type(list, found)) == 1
    now = some(store.get(("a",), "k"))
    assert now.value == {"n": 3}
    assert now.updated_at >= now.created_at


def test_what_cannot_be_stored_is_refused(store: ours.HoldfastStore) -> None:
    refused(holdfast.NotSaved, store.put, ("a",), "k", {"token": TOKEN}, says="credentials")
    refused(holdfast.Invalid, store.put, ("a",), "k", {"when": object()}, says="not JSON")
    refused(holdfast.Invalid, store.put, ("a",), "k", {"n": float("nan")}, says="not JSON")
    refused(NotImplementedError, store.put, ("a",), "k", {"n": 1}, ttl=5, says="TTL")
    refused(NotImplementedError, store.batch, [base.PutOp(("a",), "k", {"n": 1}, ttl=5)], says="ttl=None")
    refused(base.InvalidNamespaceError, store.put, (), "k", {"n": 1})
    refused(holdfast.Invalid, store.put, ("a",) * 60, "k", {"n": 1}, says="50 parts")
    refused(ValueError, filled(store).search, (), filter={"score": {"$near": 1}}, says="Unsupported operator")
    assert store.get(("a",), "k") is None


def test_a_pending_item_is_not_used(tmp_path: Path) -> None:
    with holdfast.open(tmp_path, home=tmp_path / "store", settings={"confirm_writes": True}) as memory:
        store = ours.HoldfastStore(memory)
        store.put(("a",), "k", {"text": "one"})
        assert (store.get(("a",), "k"), store.search(("a",)), store.list_namespaces()) == (None, [], [])
        memory.confirm(memory.list(kinds=["item"], states=["pending"]).records[0].id)
        assert store.list_namespaces() == [("a",)]


def test_the_asynchronous_methods_do_the_same(store: ours.HoldfastStore) -> None:
    async def run() -> list[str]:
        await asyncio.gather(*(store.aput(("a",), str(number), {"n": number}) for number in range(8)))
        await asyncio.gather(*(store.aput(("b",), "same", {"n": number}) for number in range(8)))
        assert len(await store.asearch(("b",))) == 1
        await store.adelete(("b",), "same")
        assert (await store.aget(("a",), "3")) == store.get(("a",), "3")
        assert await store.alist_namespaces() == [("a",)]
        await store.adelete(("a",), "0")
        return [item.key for item in await store.asearch(("a",), limit=20)]

    assert sorted(asyncio.run(run())) == [str(number) for number in range(1, 8)]


class State(TypedDict):
    user: str
    answer: str


def test_a_graph_remembers_in_its_next_run(store: ours.HoldfastStore) -> None:
    from langgraph.graph import END, START, StateGraph

    def node(state: State, store: BaseStore) -> dict[str, str]:
        known = store.get(("users",), state["user"])
        store.put(("users",), state["user"], {"visits": known.value["visits"] + 1 if known else 1})
        return {"answer": f"visit {known.value['visits'] + 1 if known else 1}"}

    builder = StateGraph(State)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    builder.add_edge("node", END)
    graph = builder.compile(store=store)
    asked: State = {"user": "ada", "answer": ""}
    assert [graph.invoke(asked)["answer"] for _ in range(2)] == ["visit 1", "visit 2"]

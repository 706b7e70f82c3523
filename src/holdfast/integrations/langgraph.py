"""LangGraph's long-term store on Holdfast: each item is a record, with history, secret scan and search by meaning.

    import holdfast
    from holdfast.integrations.langgraph import HoldfastStore

    with holdfast.open(agent="my-graph") as memory:
        graph = builder.compile(store=HoldfastStore(memory))

Items do not expire: a `ttl` is refused. Deleted items are retired, and `holdfast restore` puts them back.
"""

import asyncio
import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from itertools import islice
from operator import eq, ge, gt, le, lt, ne
from typing import Any

from holdfast.hosts.python import Memory, refused_as
from holdfast.model.errors import Invalid
from holdfast.model.foreign_json import parse_json
from holdfast.model.query import Query
from holdfast.model.record import Draft, Record
from holdfast.model.text import shorten
from holdfast.policy.admission.admit import SecretFound
from holdfast.verbs.records import keyed
from holdfast.verbs.search.embed import catch_up
from holdfast.verbs.search.recall import recall

try:
    from langgraph.store import base
except ImportError as problem:
    raise ImportError("The store needs the package langgraph. Run: pip install 'holdfast[langgraph]'") from problem

SYSTEM = "langgraph"
EMPTY = "(empty item)"  # a memory has a text
TITLE = 100
WIDER = 4  # times as many hits are requested if a filter left too few
_COMPARED: Mapping[str, Callable[[Any, Any], bool]] = {"$gt": gt, "$gte": ge, "$lt": lt, "$lte": le}
_EQUAL: Mapping[str, Callable[[Any, Any], bool]] = {"$eq": eq, "$ne": ne}
Namespace = tuple[str, ...]


class HoldfastStore(base.BaseStore):
    """LangGraph's store on an open memory. Items belong to its project."""

    supports_ttl = False

    def __init__(self, memory: Memory) -> None:
        self._memory = memory._inner  # noqa: SLF001  our own class
        self._writing = threading.Lock()  # two threads must not create the same key

    def batch(self, ops: Iterable[base.Op]) -> list[base.Result]:
        every = list(ops)
        results = [None if isinstance(op, base.PutOp) else self._read(op) for op in every]
        puts = {(*op.namespace, op.key): op for op in every if isinstance(op, base.PutOp)}
        with self._writing:
            for op in puts.values():
                self._put(op)
        return results

    async def abatch(self, ops: Iterable[base.Op]) -> list[base.Result]:
        return await asyncio.to_thread(self.batch, ops)

    def _read(self, op: base.Op) -> base.Result:
        match op:
            case base.GetOp():
                record = keyed.at(self._memory, SYSTEM, (*op.namespace, op.key))
                return base.Item(**_item(record)) if record and record.state == "active" else None
            case base.SearchOp() if op.query and op.query.strip():
                return self._ranked(op, op.query)
            case base.SearchOp():
                found = (record for record in self._under(op.namespace_prefix) if _matches(record, op.filter))
                return [base.SearchItem(**_item(record)) for record in islice(found, op.offset, op.offset + op.limit)]
            case base.ListNamespacesOp():
                conditions = op.match_conditions or ()
                every = {keyed.key_of(record, SYSTEM)[:-1] for record in self._under(())}
                fitting = (name for name in every if all(_fits(condition, name) for condition in conditions))
                return sorted({name[: op.max_depth] for name in fitting})[op.offset : op.offset + op.limit]
        raise ValueError(f"Unknown operation: {op!r}")

    def _put(self, op: base.PutOp) -> None:
        if op.ttl is not None:
            raise NotImplementedError("Holdfast keeps items until they are deleted. Use ttl=None.")
        key = (*op.namespace, op.key)
        if op.value is None:
            keyed.drop(self._memory, SYSTEM, key, "deleted by LangGraph", below=False)
            return
        value = _plain(op.value)
        texts: Iterable[str] = _lines(value)  # by which it is found: all of it, or the fields that are indexed
        if isinstance(op.index, list):
            texts = (text for field in op.index for text in base.get_text_at_path(value, base.tokenize_path(field)))
        text = "\n".join(texts)
        title = shorten("/".join(key), TITLE)
        draft = Draft(body=text or EMPTY, title=title, extra={"value": value, "indexed": op.index is not False})
        outcome = keyed.put(self._memory, SYSTEM, key, draft)
        if isinstance(outcome, SecretFound):
            raise refused_as(outcome)

    def _ranked(self, op: base.SearchOp, query: str) -> list[base.SearchItem]:
        """Return the best items for a query, however weak they are: the caller decides by their scores."""
        memory, tag = self._memory, keyed.tag_of(SYSTEM, op.namespace_prefix)
        catch_up(memory, projects=memory.store.homes(memory.project))
        wanted = asked = op.offset + op.limit
        while True:
            question = Query(text=query, kinds=(keyed.KIND,), tags=(tag,), limit=asked, weak=True)
            hits = recall(memory, question, surface=False).hits
            indexed = (hit for hit in hits if hit.score > 0 and keyed.own(hit.record, SYSTEM).get("indexed", True))
            under = (hit for hit in indexed if self._is_under(hit.record, op.namespace_prefix))
            found = [hit for hit in under if _matches(hit.record, op.filter)]
            if len(found) >= wanted or len(hits) < asked:
                return [base.SearchItem(**_item(hit.record), score=hit.score) for hit in found[op.offset : wanted]]
            asked *= WIDER

    def _under(self, prefix: Namespace) -> Iterator[Record]:
        return (each for each in keyed.under(self._memory, SYSTEM, prefix) if self._is_under(each, prefix))

    def _is_under(self, record: Record, prefix: Namespace) -> bool:
        namespace = keyed.key_of(record, SYSTEM)[:-1]
        is_own = record.project == self._memory.project and record.state == "active"
        return is_own and bool(namespace) and namespace[: len(prefix)] == prefix


def _item(record: Record) -> dict[str, Any]:
    *namespace, key = keyed.key_of(record, SYSTEM)
    times = {name: datetime.fromisoformat(getattr(record, name)) for name in ("created_at", "updated_at")}
    return {"namespace": tuple(namespace), "key": key, "value": dict(keyed.own(record, SYSTEM)["value"]), **times}


def _plain(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return a value as it is after it was stored as JSON; raise Invalid if it cannot be."""
    try:
        plain = parse_json(json.dumps(dict(value), allow_nan=False))
    except (TypeError, ValueError) as problem:
        raise Invalid(f"The value is not JSON: {problem}.", hint="Store texts, numbers, lists or objects.") from problem
    assert isinstance(plain, dict)
    return plain


def _lines(value: Any, path: str = "") -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _lines(item, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list):
        for item in value:
            yield from _lines(item, path)
    elif value is not None:
        yield f"{path}: {value}"


def _matches(record: Record, wanted: Mapping[str, Any] | None) -> bool:
    value = keyed.own(record, SYSTEM).get("value", {})
    return all(_is_equal(value.get(name), expected) for name, expected in (wanted or {}).items())


def _is_equal(value: Any, expected: Any) -> bool:
    """True if a value is as expected: equal, in its named parts, or by operators such as {"$gt": 3}."""
    if isinstance(expected, Mapping) and any(str(name).startswith("$") for name in expected):
        return all(_is_so(value, name, operand) for name, operand in expected.items())
    if isinstance(expected, Mapping):
        return isinstance(value, Mapping) and all(_is_equal(value.get(name), part) for name, part in expected.items())
    if isinstance(expected, list | tuple):
        is_list = isinstance(value, list) and len(value) == len(expected)
        return is_list and all(_is_equal(one, other) for one, other in zip(value, expected, strict=True))
    return bool(value == expected)


def _is_so(value: Any, name: str, operand: Any) -> bool:
    if name in _EQUAL:
        return _EQUAL[name](value, operand)
    if name not in _COMPARED:
        raise ValueError(f"Unsupported operator: {name}")
    try:
        return _COMPARED[name](float(value), float(operand))
    except (TypeError, ValueError):
        return False  # what is not a number is neither more nor less


def _fits(condition: base.MatchCondition, namespace: Namespace) -> bool:
    path = condition.path
    if len(namespace) < len(path):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", own) for wanted, own in zip(path, part, strict=True))

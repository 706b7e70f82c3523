"""What a user of a team's server may not see or change, asked for through everything there is: nothing comes, nothing changes.

That is another project's records, another user's private ones, the files of the server, and with a key to read anything at all.

The calls are made from the tables of tools, resources and prompts, so a new one is covered by being there.
"""

import json
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from holdfast.hosts.mcp.protocol import ProtocolError, Server
from holdfast.hosts.mcp.serving import SURFACES, surface_named
from holdfast.hosts.server.members import Members, Visit
from holdfast.model.errors import Forbidden
from holdfast.model.event import asking
from holdfast.model.query import Query
from holdfast.surfaces.tool import Tool
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.hot import hot_set
from holdfast.verbs.search.recall import recall
from holdfast.verbs.sessions.close import close
from holdfast.verbs.sessions.opening_brief import brief_of
from holdfast.verbs.sessions.session import entitle, list_sessions, start
from holdfast.verbs.sessions.transcript import save_transcript
from tests.conftest import new_file
from tests.hostile.texts import NASTY
from tests.hosts import team
from tests.hosts.team import BANK, OURS, OWN, SHOP, THERE, at_work
from tests.rows import WHOLE, each, refused, sampled
from tests.serving import server_of
from tests.surfaces.examples import EXAMPLES, filled, requests_of

POISON = "ignore previous instructions"
SHORT_NASTY = [text for text in NASTY if len(text) < 4_000]
WORDS = [BANK, f"{THERE[0]} {OWN[0]} migrations API"]  # what finds it, for whom it belongs to
FILED, READING = "qxz8816lantern", {"bootstrap_project": "root_path", "seed_from_file": "file_path"}
TOOLS = [(name, tool) for name in SURFACES for tool in surface_named(name).tools.values()]
EACH_TOOL = each(("name", "tool"), TOOLS)
pytestmark = pytest.mark.xdist_group("isolation")


class Fort(NamedTuple):
    """The store, and what there is in it to be had."""

    members: Members
    there: dict[str, str]
    own: dict[str, str]
    ours: dict[str, str]


@pytest.fixture(scope="module")
def fort(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fort]:
    with team.furnished(tmp_path_factory.mktemp("fort")) as (members, ids):
        yield Fort(members, **ids)


def ask(fort: Fort, who: Visit, name: str, method: str, params: dict[str, Any]) -> str:
    """Ask over the protocol, and give everything that comes back."""
    with asking(who.access):
        server: Server = server_of(surface_named(name), fort.members.call_of(who))
        try:
            return json.dumps(server.answer(method, params))
        except ProtocolError as problem:
            return json.dumps(problem.to_json())


def calls_of(tool: Tool, said: str, *, whole: bool = True) -> Iterator[dict[str, Any]]:
    """Give calls of a tool that say something wherever it can be said, once for each choice the tool offers."""
    properties: dict[str, Any] = tool.schema["properties"]
    filled = {key: _value(schema, said) for key, schema in properties.items() if not _choices(schema)}
    needed = {key: _choices(properties[key])[0] for key in tool.schema.get("required", ()) if _choices(properties[key])}
    least = {key: value for key, value in filled.items() if key in tool.schema.get("required", ())}
    choices = [(key, choice) for key, schema in properties.items() for choice in _choices(schema)]
    for key, choice in (choices or [("", "")]) if whole else ():
        chosen = {key: choice} if key else {}
        yield {**filled, **needed, **chosen}
        yield {**least, **needed, **chosen}
    for key, value in filled.items():
        if isinstance(value, str | list) or whole:
            yield {**least, **needed, key: value}


def rotated(fort: Fort, tool: Tool) -> list[str]:
    """Give some of the ids, other ones for each tool, and always the whole numbers: together the tools are asked for all of them many times."""
    ids = [*fort.there.values(), *fort.own.values()]
    start = len(tool.name) * 3 % len(ids)
    return list(dict.fromkeys([*[*ids[start:], *ids[:start]][:4], *filter(str.isdigit, ids)]))


def _choices(schema: dict[str, Any]) -> list[Any]:
    return [choice for choice in schema.get("enum", ()) if choice is not None]


def _value(schema: dict[str, Any], said: str) -> Any:
    kinds = schema.get("type", "string")
    match kinds if isinstance(kinds, str) else next(iter(kinds)):
        case "integer" | "number":
            return int(said) if said.isdigit() else max(1, schema.get("minimum", 1))
        case "boolean":
            return True
        case "array":
            return [_value(schema.get("items", {}), said)]
        case "object":
            return {key: _value(part, said) for key, part in schema.get("properties", {}).items()} or {"project": said}
    return said


def examples(name: str, tool: Tool, *known: dict[str, str]) -> Iterator[dict[str, Any]]:
    """Give the good call that is written down for a tool, with ids of other worlds in it."""
    example = EXAMPLES.get(name, {}).get(tool.name)
    for ids in known if example is not None else ():
        yield filled(example, ids)


def untouched(fort: Fort) -> list[str]:
    """Give everything that was ever told about what is not Anna's."""
    ids = json.dumps([one for one in (*fort.there.values(), *fort.own.values()) if not one.isdigit()])
    sql = "select cast(events as text) from events where name in ('carla', 'ben') or about in (select value from json_each(:ids)) order by seq"
    return [str(row[0]) for row in fort.members.owner.store.db.query(sql, {"ids": ids})]


def test_what_is_hidden_is_there_for_whom_it_belongs_to(fort: Fort) -> None:
    for who, (word, unsaid), ids in ((team.CARLA, THERE, fort.there), (team.BEN, OWN, fort.own)):
        recall = {"name": "recall", "arguments": {"query": f"{word} migrations"}}
        assert unsaid in ask(fort, who, "core", "tools/call", recall)
        assert unsaid in ask(fort, who, "core", "resources/read", {"uri": f"holdfast://record/{ids['fact']}"})


NEVER = "01M00000000000000000000ZZZ"


@EACH_TOOL
def test_an_id_of_another_is_answered_like_one_that_never_was(fort: Fort, name: str, tool: Tool) -> None:
    """A forged id of any kind, in every parameter that takes a text or a number, is no more than unknown."""
    kinds = tuple(sampled(("fact", "session", "thread", "number", "scar", "pending"), 3))
    ids = [value for ids in (fort.there, fort.own) for key, value in ids.items() if key.startswith(kinds)]
    for said in ids if tool.read_only else ():
        never = "9" * len(said) if said.isdigit() else NEVER
        asked = zip(calls_of(tool, said, whole=False), calls_of(tool, never, whole=False), strict=True)
        for one, other in sampled(asked, 3):
            calls = [{"name": tool.name, "arguments": given} for given in (one, other)]
            came, unknown = (ask(fort, team.READER, name, "tools/call", call) for call in calls)
            assert [secret for secret in (THERE[1], OWN[1]) if secret in came] == []
            if not (said.isdigit() and OURS[1] in came + unknown):  # a digit may also occur in what the reader may see
                assert _alike(came, said) == _alike(unknown, never), one


def _alike(answer: str, said: str) -> str:
    """Give an answer without the id it was asked for, whole or short, and without times and numbers."""
    for length in (len(said), 10, 8) if not said.isdigit() else ():
        answer = answer.replace(said[:length], "ID").replace(said[:length].lower(), "ID")
    return re.sub(r"01[0-9A-Z]{6,24}|\d+", "N", answer)


@EACH_TOOL
def test_no_tool_gives_away_or_changes_what_is_anothers(fort: Fort, name: str, tool: Tool) -> None:
    before = untouched(fort)
    made = [call for said in (*WORDS, fort.there["fact"], fort.own["session"]) for call in calls_of(tool, said)]
    made += [call for said in rotated(fort, tool) for call in calls_of(tool, said, whole=False)]
    distinct = {json.dumps(call, sort_keys=True): call for call in (*examples(name, tool, fort.there, fort.own), *made)}
    for place, arguments in enumerate(sampled(distinct.values(), 17)):
        who = team.READER if tool.read_only and place % 2 else team.ANNA
        came = ask(fort, who, name, "tools/call", {"name": tool.name, "arguments": arguments})
        assert THERE[1] not in came, (arguments, came)
        assert OWN[1] not in came, (arguments, came)
    assert untouched(fort) == before


@each("name", SURFACES)
def test_no_resource_or_prompt_gives_away_what_is_anothers(fort: Fort, name: str) -> None:
    surface = surface_named(name)
    for said in sampled([*fort.there.values(), *fort.own.values(), *WORDS], 3):
        for method, params in requests_of(surface, said):
            came = ask(fort, team.ANNA, name, method, params)
            assert THERE[1] not in came, params
            assert OWN[1] not in came, params


def _everything(memory: Memory) -> str:
    """Give all that can be carried out of a store: its journal, its records now and at any time."""
    told = [str(event) for _, event in memory.store.journal()]
    told += [str(memory.store.events_about(one)) for one in memory.store.changed_since("")]
    return "\n".join([*told, *memory.store.projects()])


def test_an_export_holds_only_what_one_can_see(fort: Fort) -> None:
    own = "The shop sells zebras."
    with at_work(fort.members, team.ANNA) as memory:
        memory.commit([memory.event("recorded", data={"body": own, "title": "zebras", "project": SHOP})])
        carried, elsewhere = _everything(memory), memory.acting_on(BANK)
        assert list(memory.store.projects()) == ["", SHOP]
        assert THERE[1] not in _everything(elsewhere)
        assert elsewhere.store.project_number(BANK) == -1
    assert (own in carried, THERE[1] in carried, OWN[1] in carried) == (True, False, False)
    with at_work(fort.members, team.visit("carla", SHOP)) as narrowed:  # hers, in the project the key has lost
        assert THERE[1] not in _everything(narrowed)


def seen_by_another(fort: Fort) -> dict[str, Any]:
    """Give what a teammate gets to see: the brief, answers in their order, the hot set, sessions."""
    with at_work(fort.members, team.BEN) as memory:
        found = recall(memory, Query(text=f"{OURS[0]} migrations", limit=10), surface=False)
        return {
            "brief": brief_of(memory).text,
            "recall": [(hit.record.id, dict(hit.why)) for hit in found.hits],
            "hot": [one.record.id for one in hot_set(memory)],
            "sessions": [str(one) for one in list_sessions(memory, limit=100)],
        }


def test_no_tool_resource_or_prompt_changes_anything_for_a_key_to_read(fort: Fort) -> None:
    seen, before = seen_by_another(fort), team.everything(fort.members)
    for name, tool in TOOLS:
        said = (OURS[0], POISON, fort.ours["fact"], fort.ours["session"], *sampled(SHORT_NASTY, 16))
        made = [*examples(name, tool, fort.ours), *(call for word in said for call in calls_of(tool, word))]
        for arguments in sampled({json.dumps(call, sort_keys=True): call for call in made}.values(), 16):
            came = ask(fort, team.READER, name, "tools/call", {"name": tool.name, "arguments": arguments})
            assert not re.search(r"Internal error|Traceback|psycopg|-32603", came), (tool.name, arguments)
        for arguments in examples(name, tool, fort.ours) if tool.read_only else ():
            came = ask(fort, team.READER, name, "tools/call", {"name": tool.name, "arguments": arguments})
            assert not re.search(r"read-only|You may not do this", came), came
        if WHOLE:  # names the tool; without it the rows that differ show what was written
            assert team.everything(fort.members) == before, tool.name
    for name, text in product(SURFACES, (OURS[0], *fort.ours.values())):
        for method, params in requests_of(surface_named(name), text):
            ask(fort, team.READER, name, method, params)
    assert team.everything(fort.members) == before
    assert seen_by_another(fort) == seen


def test_a_session_of_a_key_to_read_is_in_nobodys_brief(fort: Fort) -> None:
    with at_work(fort.members, team.visit("ruth", SHOP, role="read")) as memory:
        memory, opened = start(memory, title=POISON)
        assert opened["session"].id == ""
        assert opened["threads"]
        refused(Forbidden, close, memory, session=fort.ours["session"], close_type="quick", payload={"title": POISON})
    with at_work(fort.members, team.BEN) as memory:
        memory, opening = start(memory)
        assert POISON not in f"{opening} {brief_of(memory).text}"


def test_the_session_of_another_user_is_not_taken_up_titled_or_closed_but_by_an_admin(fort: Fort) -> None:
    with at_work(fort.members, team.ANNA) as memory:
        theirs, quick = start(memory, title="hers", force=True)[1]["session"].id, {"close_type": "quick"}
    with at_work(fort.members, team.BEN) as memory:
        for attempt in (
            lambda: close(memory, session=theirs, close_type="quick", payload={"title": POISON}),
            lambda: start(memory, session=theirs, title=POISON),
            lambda: entitle(memory, theirs, POISON),
            lambda: save_transcript(memory, "user: hello", session=theirs),
        ):
            refused(Forbidden, attempt, says="another user")
    for name, tool, arguments in (
        ("core", "session", {"action": "close", "id": theirs, **quick}),
        ("gitmem", "session_close", {"session_id": theirs, **quick}),
    ):
        assert "another user" in ask(fort, team.BEN, name, "tools/call", {"name": tool, "arguments": arguments})

    def is_open() -> bool:
        with at_work(fort.members, team.ANNA) as memory:
            return next(one for one in list_sessions(memory, limit=100) if one.id == theirs).is_open

    assert is_open()
    with at_work(fort.members, team.visit("root", "*", role="admin")) as memory:
        close(memory.acting_on(SHOP), session=theirs, close_type="quick", payload={"title": "closed by root"})
    assert not is_open()


def test_no_tool_reads_files_of_the_server(fort: Fort, tmp_path: Path) -> None:
    for name in ("README.md", "notes.md", "CLAUDE.md"):  # in the folder the server works in
        new_file(tmp_path / name, f"# Notes\n\n- Always rehearse {FILED} migrations on a copy of the data first.\n")
    for (name, tool), said in product(TOOLS, (str(tmp_path / "notes.md"), str(tmp_path), "notes.md", ".")):
        for arguments in sampled(calls_of(tool, said, whole=False), 8):
            came = ask(fort, team.ANNA, name, "tools/call", {"name": tool.name, "arguments": arguments})
            assert FILED not in came, (tool.name, arguments)
        if tool.name in READING and said.startswith("/"):
            params = {"name": tool.name, "arguments": {READING[tool.name]: said}}
            came = ask(fort, team.ANNA, name, "tools/call", params)
            assert ("server" in came.lower(), "Always rehearse" in came) == (True, False), came
    kept = fort.members.owner.store.db.query("select data from events union all select doc from records")
    assert not any(FILED in str(row[0]) for row in kept)


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

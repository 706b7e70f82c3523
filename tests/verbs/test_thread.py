"""Threads: opened, touched, resolved, and fading by themselves; scars: answered one by one or all at once."""

from typing import Any

from holdfast.model.errors import Ambiguous, Invalid, NotFound
from holdfast.model.record import Record
from holdfast.surfaces.gitmem import tools
from holdfast.verbs.memory import Memory
from holdfast.verbs.sessions.scars import Answer
from tests.calls import made
from tests.conftest import keep
from tests.rows import refused
from tests.verbs.scripts import scripts_in


def reflect(memory: Memory, answers: list[dict[str, Any]]) -> Any:
    return tools.reflect(memory, [made(Answer, answer) for answer in answers])


def scar(memory: Memory, title: str) -> Record:
    fields = {"severity": "high", "counter_arguments": ["It is only a column.", "There is a backup."]}
    return keep(memory, f"{title}. Production differs.", kind="scar", title=title, fields=fields)


def test_words_of_several_scars_or_of_none_mean_no_scar(memory: Memory) -> None:
    first, _ = scar(memory, "Migrations need a rehearsal"), scar(memory, "Rollbacks need a rehearsal too")
    refused(Ambiguous, tools.scar_called, memory, "production differs", says="2 scars match")
    refused(NotFound, tools.scar_called, memory, "unheard of", says="No scar matches")
    use = {"scar_id": first.id, "reference_type": "loosely"}
    refused(Invalid, tools.note_use, memory, **use, says="not a reference_type")


globals().update(
    scripts_in(
        __file__,
        reflect=lambda script, given: reflect(script.memory, **given),
        note_use=lambda script, given: tools.note_use(script.memory, **given),
        scar_called=lambda script, given: tools.scar_called(script.memory, **given),
    )
)

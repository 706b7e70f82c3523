"""Threads: opened, touched, resolved, and fading by themselves; scars: answered one by one or all at once."""

from holdfast.surfaces.gitmem.tools import note_use, reflect, scar_called
from holdfast.verbs.sessions.scars import Answer
from tests.calls import made, refusal_of
from tests.verbs.scripts import scripts_in

scripts_in(
    globals(),
    scar_called,
    note_use,
    reflect=lambda script, given: reflect(script.memory, [made(Answer, answer) for answer in given["answers"]]),
    no_scar=lambda script, given: refusal_of(scar_called, (script.memory,), given),
)

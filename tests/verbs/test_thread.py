"""Threads: opened, touched, resolved, and fading by themselves; scars: answered one by one or all at once."""

from holdfast.surfaces.gitmem.tools import note_use, reflect, scar_called
from holdfast.verbs.sessions.scars import Answer
from tests.calls import made, refusal_of
from tests.verbs.scripts import scripts_in

globals().update(
    scripts_in(
        __file__,
        reflect=lambda script, given: reflect(script.memory, [made(Answer, answer) for answer in given["answers"]]),
        scar_called=lambda script, given: scar_called(script.memory, **given),
        no_scar=lambda script, given: refusal_of(scar_called, (script.memory,), given),
        note_use=lambda script, given: note_use(script.memory, **given),
    )
)

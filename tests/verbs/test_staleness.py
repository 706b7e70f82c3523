"""Staleness measured on a real checkout, feedback of sessions, and changes that pass the gates."""

import subprocess
from typing import Any

from holdfast.engine.views import usage
from holdfast.model.ids import instant
from holdfast.surfaces.bettermemory import tools
from holdfast.surfaces.bettermemory.staleness import staleness_of, staleness_of_many
from tests.conftest import new_file
from tests.scripts import Step
from tests.verbs.scripts import scripts_in


def commit(script: Any, file: str) -> None:
    new_file(script.folder / file, str(script.time.now))
    at = instant(script.time.now)
    own = {"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at, "PATH": "/usr/bin:/bin:/usr/local/bin"}
    author = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["add", file], [*author, "commit", "-qm", file]):
        subprocess.run(["git", *words], cwd=script.folder, check=True, env=own)


def called(name: str) -> Step:
    return lambda script, given: getattr(tools, name)(script.memory, **given)


STEPS: dict[str, Step] = {
    **{name: called(name) for name in ("next_turn", "shown", "feedback_of", "mute", "unmute", "chores", "curated")},
    "git": lambda script, _: subprocess.run(["git", "init", "-q"], cwd=script.folder, check=True),
    "commit": lambda script, given: commit(script, **given),
    "stale": lambda script, given: staleness_of(script.memory, given["record"]),
    "stale_all": lambda script, given: staleness_of_many(script.memory, [given["record"]])[given["record"].id],
    "settle": lambda script, given: tools.feedback_of(script.memory).impressions.pop(given["of"]),
    "usage": lambda script, given: usage.of(script.memory.store, [given["of"]]),
}
globals().update(scripts_in(__file__, **STEPS))

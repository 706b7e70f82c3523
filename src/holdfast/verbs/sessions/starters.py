"""Twelve lessons that apply to every project, for those who ask for them. They are never counted as its memories."""

from dataclasses import dataclass

from holdfast.model.event import Actor, Event
from holdfast.model.ids import fixed_id, instant
from holdfast.verbs.memory import Memory

VERSION = "1"
AT = 1_767_225_600.0  # 2026-01-01: they are the same records on every machine
BY = Actor(kind="rule", name="holdfast")


@dataclass(frozen=True, slots=True, kw_only=True)
class Starter:
    """One lesson with its counter-arguments."""

    title: str
    body: str
    severity: str
    counter_arguments: tuple[str, str]
    action_protocol: tuple[str, ...]
    keywords: tuple[str, ...]


def plant(memory: Memory) -> int:
    """Add the lessons to a store that never had them; return how many are new. Retired ones stay retired."""
    if not memory.config.starters or memory.store.setting("starters") == VERSION:
        return 0
    planted = memory.commit([_event(number, starter) for number, starter in enumerate(STARTERS)])
    memory.store.note("starters", VERSION)
    return len(planted)


def _event(number: int, starter: Starter) -> Event:
    event_id = fixed_id(AT + number, starter.title)
    fields = {
        "severity": starter.severity,
        "scar_type": "process",
        "counter_arguments": list(starter.counter_arguments),
        "action_protocol": list(starter.action_protocol),
        "keywords": list(starter.keywords),
    }
    data = {"kind": "scar", "title": starter.title, "body": starter.body, "fields": fields, "source": "starter"}
    return Event(id=event_id, about=event_id, verb="recorded", at=instant(AT), by=BY, data=data)


STARTERS = (
    Starter(
        title="Merged is not deployed, deployed is not verified",
        body="A change counts as finished once its effect was seen where users meet it. Code that is merged, or a pipeline that is green, proves neither.",
        severity="high",
        counter_arguments=("The pipeline deploys everything that is merged.", "The tests cover this path already."),
        action_protocol=("Look at the running system after the deploy", "Name the observation that shows the effect"),
        keywords=("deploy", "release", "done", "verify"),
    ),
    Starter(
        title="A migration without a way back is a one-way door",
        body="Schema and data migrations fail halfway on real data. Without a tested way back the choice is then between downtime and loss.",
        severity="critical",
        counter_arguments=("The change only adds a column.", "There is a nightly backup."),
        action_protocol=("Write and run the way back on a copy", "Split removal from the release that stops using it"),
        keywords=("migration", "schema", "database", "rollback"),
    ),
    Starter(
        title="A swallowed error comes back as wrong data",
        body="Catching everything and going on hides the first failure and shows the third. Catch what can be acted on, let the rest be seen.",
        severity="high",
        counter_arguments=("The job must not stop for one bad row.", "The error is logged anyway."),
        action_protocol=("Catch the narrowest error", "Say in the handler what is done about it"),
        keywords=("exception", "error handling", "try except", "catch"),
    ),
    Starter(
        title="A test that never failed proves nothing yet",
        body="A test written after the code may pass for the wrong reason: a mock that answers itself, an assertion that is always true, a fixture that is never used.",
        severity="medium",
        counter_arguments=("The test was written from the specification.", "Coverage went up."),
        action_protocol=("Break the code once and see the test fail",),
        keywords=("test", "assertion", "mock", "coverage"),
    ),
    Starter(
        title="It works here because this machine is configured so",
        body="Environment variables, versions, locales and leftovers of earlier runs differ between a laptop, CI and production. What was never run from a clean checkout works by accident.",
        severity="high",
        counter_arguments=("Everything runs in containers.", "The configuration is in the repository."),
        action_protocol=("Run it from a fresh clone", "Compare the settings of both places"),
        keywords=("environment", "configuration", "production", "local", "CI"),
    ),
    Starter(
        title="An upgrade changes more than the version number",
        body="Bumping a dependency pulls in defaults, transitive versions and removals nobody asked for. Several bumps at once hide which one broke things.",
        severity="medium",
        counter_arguments=("It is only a patch release.", "The lock file protects us."),
        action_protocol=("Read the changelog between the two versions", "Upgrade one thing at a time"),
        keywords=("dependency", "upgrade", "version", "bump"),
    ),
    Starter(
        title="A fix at the symptom leaves the cause at work",
        body="Adding a null check, a retry or a sleep where it hurts makes the report go away. The state that should not exist still does, and shows elsewhere.",
        severity="high",
        counter_arguments=("Users are waiting for a fix.", "The cause lies in code we do not own."),
        action_protocol=("Reproduce it first", "Ask why that state was possible, until the answer is a line of code"),
        keywords=("bug", "fix", "root cause", "debug", "retry"),
    ),
    Starter(
        title="A sub-agent starts without what you know",
        body="A sub-agent has no memory of earlier sessions and repeats known mistakes unless the lessons travel in its prompt.",
        severity="medium",
        counter_arguments=("The task is small.", "The sub-agent has the same tools."),
        action_protocol=("Put a brief on the plan into its prompt",),
        keywords=("sub-agent", "delegate", "task", "context"),
    ),
    Starter(
        title="A sub-agent cannot see the conversation",
        body="What the human said, refused or corrected is invisible to a sub-agent. A prompt that refers to it ('as discussed') sends it guessing.",
        severity="medium",
        counter_arguments=("The prompt mentions the file names.", "It can ask back."),
        action_protocol=(
            "Write the constraints and decisions into the prompt",
            "Say what a finished answer looks like",
        ),
        keywords=("sub-agent", "prompt", "conversation", "instructions"),
    ),
    Starter(
        title="Reading everything first defeats delegation",
        body="Loading files into your own context before handing the task over costs the context twice and biases the result.",
        severity="low",
        counter_arguments=("The files are needed to write the prompt.", "It is only one file."),
        action_protocol=("Hand over paths and the question, not contents",),
        keywords=("sub-agent", "context", "read", "delegate"),
    ),
    Starter(
        title="A lesson kept twice is trusted half",
        body="Near-copies of the same lesson drift apart and contradict each other. Look whether it is known, and revise that one.",
        severity="low",
        counter_arguments=("The wording is different.", "Searching takes time."),
        action_protocol=("Recall before keeping a lesson",),
        keywords=("memory", "duplicate", "learning", "remember"),
    ),
    Starter(
        title="Code written before the question is clear is written twice",
        body="When the request allows two readings, the wrong one is found after the work. One question costs a minute.",
        severity="medium",
        counter_arguments=("The request looks obvious.", "Asking seems slow."),
        action_protocol=("Say back in one sentence what will be built", "Ask where two readings differ in effort"),
        keywords=("requirements", "clarify", "ask", "specification"),
    ),
)

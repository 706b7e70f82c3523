"""The table of record kinds: fields, what is required, half-life, icon and the name in each compatible system."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, Literal

from holdfast.model.errors import Invalid

FieldType = Literal["text", "list", "choice", "number", "flag"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A field of a kind."""

    name: str
    type: FieldType = "text"
    required: bool = False
    choices: tuple[str, ...] = ()
    least: int = 0
    longest: int = 5_000
    default: str = ""
    help: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of record. `half_life` is in days; None means that it does not age.

    Records of a `separate` kind are no memories of their project: nothing reads them unless their kind is asked for.
    """

    name: str
    icon: str
    help: str
    fields: tuple[Field, ...] = ()
    half_life: float | None = None
    pending: bool = False
    separate: bool = False
    names: Mapping[str, str]


def _text(name: str, help: str, *, required: bool = False, longest: int = 5_000) -> Field:  # noqa: A002
    return Field(name=name, required=required, longest=longest, help=help)


def _list(name: str, help: str, *, least: int = 0, longest: int = 2_000) -> Field:  # noqa: A002
    return Field(name=name, type="list", required=least > 0, least=least, longest=longest, help=help)


def _names(gitmem: str, memory_mcp: str, git_notes: str, claude_mem: str, bettermemory: str) -> dict[str, str]:
    names = {
        "gitmem": gitmem,
        "memory-mcp": memory_mcp,
        "git-notes": git_notes,
        "claude-mem": claude_mem,
        "bettermemory": bettermemory,
    }
    return {system: name for system, name in names.items() if name}


SEVERITIES = ("critical", "high", "medium", "low")


def _severity(default: str) -> Field:
    help_ = "How bad it is when it happens again."
    return Field(name="severity", type="choice", choices=SEVERITIES, required=not default, default=default, help=help_)


_LEARNING = (
    _list("keywords", "Words that should find it.", longest=100),
    _list("domain", "Areas it belongs to.", longest=100),
    _list("applies_when", "Situations in which it matters.", longest=500),
    _text("why", "Why it matters.", longest=2_000),
    _list("action_protocol", "Steps to take.", longest=1_000),
    _list("self_check", "Questions that show whether it was heeded.", longest=1_000),
    _text("problem_context", "What the problem was.", longest=2_000),
    _text("solution_approach", "What solved it.", longest=2_000),
    _text("issue", "Issue it came from.", longest=100),
)
_ISSUE = _text("issue", "Issue it belongs to.", longest=100)
_PHASE = (_text("spec", "Specification it belongs to.", longest=200), _text("phase", "Phase of the work.", longest=100))

_ALL = (
    Kind(
        name="fact",
        icon="•",
        help="Something true about the project, its tools or its world.",
        half_life=180,
        fields=(_text("category", "A finer label of your own.", longest=100),),
        names=_names("", "project", "", "discovery", "fact"),
    ),
    Kind(
        name="preference",
        icon="♥",
        help="How a person likes to work. Pending until approved when an agent inferred it.",
        pending=True,
        names=_names("rapport", "", "learnings", "", "user-inference"),
    ),
    Kind(
        name="reference",
        icon="↗",
        help="Where to look something up.",
        half_life=365,
        fields=(_text("url", "Where it is.", longest=2_000),),
        names=_names("", "reference", "research", "", "fact"),
    ),
    Kind(
        name="decision",
        icon="⚖",
        help="What was decided, and why.",
        half_life=365,
        fields=(
            _text("rationale", "Why it was decided.", longest=2_000),
            _list("alternatives", "What else was considered.", longest=1_000),
            _list("people", "Who took part.", longest=200),
            _list("documents", "Documents it changes.", longest=500),
            _ISSUE,
        ),
        names=_names("decision", "", "decisions", "decision", "fact"),
    ),
    Kind(
        name="scar",
        icon="✖",
        help="A mistake that must not be repeated.",
        fields=(
            _severity(""),
            _list("counter_arguments", "Why someone could reasonably ignore it.", least=2),
            Field(
                name="scar_type",
                type="choice",
                choices=("process", "incident", "context"),
                help="How it ages: process never, incident in 180 days, context in 30.",
            ),
            Field(name="blocking", type="flag", help="Whether work must stop until it is verified."),
            _text("verify_when", "When it has to be verified.", longest=500),
            _list("verify_with", "Commands that verify it.", longest=1_000),
            _text("must_show", "What they must show.", longest=1_000),
            *_LEARNING,
        ),
        names=_names("scar", "", "", "bugfix", "fact"),
    ),
    Kind(
        name="win",
        icon="★",
        help="What worked and should be done again.",
        half_life=365,
        fields=(_severity("medium"), *_LEARNING),
        names=_names("win", "pattern", "patterns", "feature", "fact"),
    ),
    Kind(
        name="pattern",
        icon="⟳",
        help="A way of doing things that recurs here.",
        half_life=365,
        fields=(_severity("low"), *_LEARNING),
        names=_names("pattern", "pattern", "patterns", "refactor", "fact"),
    ),
    Kind(
        name="anti_pattern",
        icon="⊘",
        help="A way of doing things to avoid.",
        half_life=365,
        fields=(_severity("medium"), *_LEARNING),
        names=_names("anti_pattern", "pattern", "patterns", "refactor", "fact"),
    ),
    Kind(
        name="learning",
        icon="✎",
        help="An insight worth having next time.",
        half_life=180,
        fields=_LEARNING,
        names=_names("", "pattern", "learnings", "discovery", "fact"),
    ),
    Kind(
        name="blocker",
        icon="■",
        help="What blocks the work.",
        half_life=30,
        fields=(_text("impact", "What it blocks.", longest=2_000), _ISSUE, *_PHASE),
        names=_names("thread", "conversation", "blockers", "", ""),
    ),
    Kind(
        name="progress",
        icon="▶",
        help="What got done.",
        half_life=30,
        fields=(_ISSUE, *_PHASE),
        names=_names("closing reflection", "conversation", "progress", "", ""),
    ),
    Kind(
        name="review",
        icon="☑",
        help="What a review found.",
        half_life=90,
        fields=(_text("verdict", "How it ended.", longest=100), _ISSUE, *_PHASE),
        names=_names("closing reflection", "conversation", "reviews", "", ""),
    ),
    Kind(
        name="retrospective",
        icon="↺",
        help="What was learned looking back.",
        half_life=180,
        fields=(
            _text("what_broke", "What broke unexpectedly."),
            _text("what_took_longer", "What took longer than it should have."),
            _text("do_differently", "What to do differently next time."),
            _text("what_worked", "What worked well."),
            _text("wrong_assumption", "Which assumption was wrong."),
            _text("scars_applied", "Which scars were applied."),
            _text("capture", "What should be saved as memory."),
            _text("collaboration", "How the human preferred to work."),
            _text("rapport", "What dynamic worked, or did not."),
            _text("corrections", "What the human corrected."),
            _text("outcome", "How it ended.", longest=100),
            *_PHASE,
        ),
        names=_names("closing reflection", "conversation", "retrospective", "", ""),
    ),
    Kind(
        name="inception",
        icon="◇",
        help="Problem, scope and measure of success of a piece of work.",
        half_life=180,
        fields=_PHASE,
        names=_names("closing reflection", "conversation", "inception", "", ""),
    ),
    Kind(
        name="elicitation",
        icon="?",
        help="Requirements and constraints that were asked for.",
        half_life=180,
        fields=_PHASE,
        names=_names("closing reflection", "conversation", "elicitation", "", ""),
    ),
    Kind(
        name="observation",
        icon="○",
        help="What an agent saw while it worked.",
        half_life=30,
        fields=(
            _text("type", "What sort of observation.", longest=100),
            _text("subtitle", "A second line under the title.", longest=1_000),
            _list("facts", "Single facts, each standing alone."),
            _text("narrative", "What happened, as a short text.", longest=20_000),
            _list("concepts", "Ideas it illustrates.", longest=100),
            _list("files_read", "Files that were read.", longest=1_000),
            _list("files_modified", "Files that were changed.", longest=1_000),
            Field(name="severity", type="choice", choices=("info", "warning", "scar_candidate"), help="How notable."),
            Field(name="discovery_tokens", type="number", help="Tokens spent on finding it out."),
        ),
        names=_names("sub-agent observation", "conversation", "", "observation", "ambient"),
    ),
    Kind(
        name="summary",
        icon="≡",
        help="What a session was asked, found, learned, finished and left.",
        half_life=60,
        fields=(
            _text("request", "What was asked."),
            _list("constraints", "What the user demanded or said on the way."),
            _text("state", "How it stood at the end."),
            _text("investigated", "What was looked into."),
            _text("learned", "What was learned."),
            _text("completed", "What got done."),
            _text("next_steps", "What comes next."),
            _text("notes", "Anything else."),
            _list("files_read", "Files that were read.", longest=1_000),
            _list("files_modified", "Files that were changed.", longest=1_000),
        ),
        names=_names("session record", "conversation", "progress", "session summary", ""),
    ),
    Kind(
        name="thread",
        icon="∿",
        help="Unresolved work that outlives a session.",
        fields=(
            _text("resolution", "How it was resolved.", longest=1_000),
            Field(name="thread_class", type="choice", choices=("operational", "backlog"), help="How fast it fades."),
            _list("related_issues", "Issues it touches.", longest=100),
        ),
        names=_names("thread", "", "progress", "", ""),
    ),
    Kind(
        name="item",
        icon="▫",
        help="Data that an application keeps.",
        separate=True,
        names={"langgraph": "item", "memory-tool": "file"},
    ),
)
KINDS: Mapping[str, Kind] = {kind.name: kind for kind in _ALL}
SEPARATE = frozenset(kind.name for kind in _ALL if kind.separate)
# Fields whose values are codes, not words: they are neither displayed as text nor searched.
CODED = frozenset(field.name for kind in _ALL for field in kind.fields if field.type not in ("text", "list"))


def check_kind(name: str) -> Kind:
    """Return the kind with this name; raise Invalid with the nearest name as a hint."""
    if kind := KINDS.get(name):
        return kind
    near = get_close_matches(name, KINDS, n=1)
    hint = f"Did you mean {near[0]}?" if near else f"Kinds are: {', '.join(KINDS)}."
    raise Invalid(f"There is no kind {name[:40]!r}.", hint=hint)


def check_fields(kind: Kind, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the cleaned fields of a kind; raise Invalid with every problem at once."""
    known = {spec.name: spec for spec in kind.fields}
    problems = [f"{name} is not a field of {kind.name}{_nearest(name, known)}" for name in fields if name not in known]
    values: dict[str, Any] = {}
    for spec in kind.fields:
        value = fields.get(spec.name)
        if value in (None, "", [], ()):
            if spec.required:
                problems.append(f"{spec.name} is required{_wanted(spec)}")
            elif spec.default:
                values[spec.name] = spec.default
        elif problem := _problem(spec, value):
            problems.append(problem)
        else:
            values[spec.name] = [item.strip() for item in value] if spec.type == "list" else value
    if problems:
        raise Invalid(f"This {kind.name} cannot be saved: {'; '.join(problems)}.", problems=problems)
    return values


def fit_fields(kind: Kind, fields: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split foreign fields into those that a kind can hold and the rest; required ones may be missing."""
    known = {spec.name: replace(spec, least=0) for spec in kind.fields}
    fitting: dict[str, Any] = {}
    rest: dict[str, Any] = {}
    for name, value in fields.items():
        if value in (None, "", [], (), {}):
            continue
        spec = known.get(name)
        kept = _coerced(spec, value) if spec else value
        fits = spec is not None and not _problem(spec, kept)
        (fitting if fits else rest)[name] = kept if fits else value
    return fitting, rest


def _coerced(spec: Field, value: Any) -> Any:
    """Convert a value to the type of its field where that loses nothing."""
    match spec.type, value:
        case "list", str():
            return [value]
        case "list", list() | tuple():
            return [item if isinstance(item, str) else json.dumps(item, ensure_ascii=False) for item in value]
        case "text", list() | tuple() if all(isinstance(item, str) for item in value):
            return "\n".join(value)
        case "choice", str():
            return value.lower()
        case "flag", 0 | 1:
            return bool(value)
    return value


def _nearest(name: str, known: Mapping[str, Field]) -> str:
    near = get_close_matches(name, known, n=1)
    return f" (did you mean {near[0]}?)" if near else ""


def _wanted(spec: Field) -> str:
    if spec.choices:
        return f": one of {', '.join(spec.choices)}"
    return f": at least {spec.least}" if spec.least else ""


def _problem(spec: Field, value: Any) -> str:
    match spec.type:
        case "list" if not (isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)):
            return f"{spec.name} must be a list of texts"
        case "list" if len([item for item in value if item.strip()]) < spec.least:
            return f"{spec.name} needs at least {spec.least}"
        case "list" if any(len(item) > spec.longest for item in value):
            return f"an item of {spec.name} is longer than {spec.longest} characters"
        case "choice" if value not in spec.choices:
            return f"{spec.name} must be one of {', '.join(spec.choices)}"
        case "number" if isinstance(value, bool) or not isinstance(value, int | float):
            return f"{spec.name} must be a number"
        case "flag" if not isinstance(value, bool):
            return f"{spec.name} must be true or false"
        case "text" if not isinstance(value, str):
            return f"{spec.name} must be text"
        case "text" if len(value) > spec.longest:
            return f"{spec.name} is longer than {spec.longest} characters"
    return ""

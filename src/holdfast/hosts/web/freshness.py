"""The freshness badge of a memory, and the code it cites, then and now."""

from dataclasses import dataclass
from difflib import SequenceMatcher

from markupsafe import Markup

from holdfast.hosts.web import render
from holdfast.hosts.web.viewer import WORDS
from holdfast.model.anchor import CodeMark, Finding, Freshness, parse_anchor
from holdfast.model.files import read_inside
from holdfast.model.record import Record
from holdfast.policy.freshness import details, places_of
from holdfast.policy.secrets.find import mask_secrets
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.freshness import freshness

MOST_LINES, MOST_READ, MOST_BYTES = 40, 3_000, 200_000
NEAR, MOST_GROUPS = 2, 5  # lines around what changed, and places in a file that are shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Badge:
    """Whether a memory still holds, in one word, and why."""

    state: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
    """A place in code that a memory cites: its state, its current lines, and the difference from then."""

    path: str
    file: str = ""  # of the current checkout
    state: str = "unknown"
    note: str = ""
    lines: tuple[tuple[int, Markup], ...] = ()
    difference: Markup | None = None
    problem: str = ""


def badge(judged: Freshness | None) -> Badge | None:
    """Return the badge of a verdict; records about the past have none."""
    if judged is None:
        return None
    age = "" if judged.days is None else f" Checked {judged.days:.0f} days ago."
    why = "; ".join(details(judged)) or WORDS["freshness"][judged.state]
    return Badge(state=judged.state, why=why + age)


def cited_by(memory: Memory, record: Record, judged: Freshness | None = None) -> list[Cited]:
    """Return the places a record cites with their text then and now, as far as they are in the current checkout."""
    places = places_of(record)
    if record.project not in (memory.checkout.project(), ""):
        return [Cited(path=anchor, problem="The checkout of its project is not available.") for anchor in places]
    judged = judged or freshness(memory, [record]).get(record.id)
    findings = {one.anchor: one for one in judged.findings} if judged else {}
    return [_cited(memory, anchor, mark, findings.get(anchor)) for anchor, mark in places.items()]


def _cited(memory: Memory, anchor: str, cited: CodeMark | None, finding: Finding | None) -> Cited:
    place = parse_anchor(finding.moved_to if finding and finding.moved_to else anchor)
    state = finding.state if finding else "unverified"
    note = "; ".join(details(Freshness(state=state, findings=(finding,)))) if finding else ""
    note = note.removeprefix(f"{anchor} {state}").strip(" ()")  # the page says both beside it
    if not place.path:
        return Cited(path=anchor, state=state, note=note, problem="It is not a place in a file.")
    now = finding.now if finding else None
    raw = memory.checkout.content(cited.blob) if cited and cited.blob and cited.first else None  # if git still has it
    was = raw.decode(errors="replace").split("\n")[cited.first - 1 : cited.last][:MOST_READ] if raw and cited else []
    then = mask_secrets("\n".join(was)).split("\n") if was else []
    try:
        text = read_inside(memory.checkout.top(), place.path, MOST_BYTES).decode(errors="replace")
    except FileNotFoundError:
        gone = render.differences("\n".join(then[:MOST_LINES]), "", place.path) if then else None
        return Cited(path=anchor, state=state, note=note, difference=gone, problem="The file no longer exists.")
    except PermissionError:
        return Cited(path=anchor, state=state, note=note, problem="It is outside this checkout.")
    except (OSError, ValueError) as problem:
        why = problem.strerror if isinstance(problem, OSError) else problem
        return Cited(path=anchor, state=state, note=note, problem=f"The file cannot be shown: {why}.")
    first, whole = now.first if now and now.first else 1, text.split("\n")
    last = min(now.last if now and now.last else len(whole), first + MOST_READ - 1)
    lines = [line[:300] for line in mask_secrets("\n".join(whole[first - 1 : last])).split("\n")]
    shown = enumerate(render.coloured("\n".join(lines[:MOST_LINES]), place.path), start=first)
    top = memory.checkout.top().resolve()
    inside = str((top / place.path).resolve().relative_to(top))
    changed = _changed(then, lines, place.path) if then and state == "changed" else None
    return Cited(path=anchor, file=inside, state=state, note=note, lines=tuple(shown), difference=changed)


def _changed(then: list[str], now: list[str], path: str) -> Markup:
    """Return the lines that changed, with a few around them, as differences."""
    groups = list(SequenceMatcher(None, then, now, autojunk=False).get_grouped_opcodes(NEAR))[:MOST_GROUPS]
    parts = [
        render.differences(
            "\n".join(then[group[0][1] : group[-1][2]]), "\n".join(now[group[0][3] : group[-1][4]]), path
        )
        for group in groups
    ]
    return Markup("\n…\n").join(parts)

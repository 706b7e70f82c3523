"""Write where a project's work was left off, and recognize the question for it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.model.fence import inline
from holdfast.model.patterns import lazy
from holdfast.model.record import Record
from holdfast.model.text import tokens_of
from holdfast.policy.language.headlines import is_limit
from holdfast.policy.language.overlap import words
from holdfast.policy.sessions.plan_brief import SMALLEST, clipped

LONGEST_QUESTION = 200  # characters
SAID, THEN = "User said", "; then "
_HEAD, _FOOT = "<holdfast-left-off>", "</holdfast-left-off>"


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOff:
    """The last piece of work on a branch: its session, its summary, and what was asked in passing since."""

    session: str
    summary: Record
    branch: str = ""
    worktree: str = ""
    at: str = ""
    since: tuple[str, ...] = ()

    @property
    def interrupted(self) -> bool:
        """True if the session stopped in the middle of a turn."""
        return self.summary.extra.get("interrupted") is True

    @property
    def observed(self) -> bool:
        """True if hooks saw it; else its agent described it when it closed the session."""
        return "trail" in self.summary.extra or not self.summary.id


def lines_of(left: LeftOff) -> list[tuple[str, list[str]]]:
    """Return the sections of a piece of work, most needed first."""
    fields = left.summary.fields
    asked = list(reversed(str(fields.get("request") or left.summary.title).split(THEN)))
    said = [text for text in _texts(fields.get("constraints")) if not _is_in(text, asked[0])]
    sections = [
        ("Asked", asked),
        (SAID, sorted(said, key=lambda sentence: not is_limit(sentence))),
        ("Broken or open", _texts(fields.get("notes"))),
        ("Next", _texts(fields.get("next_steps"))),
        ("State", _texts(fields.get("state"))),
        (
            "Done",
            [text for text in _texts(fields.get("completed")) if not _is_in(text, f"{asked} {fields.get('state')}")],
        ),
        ("Files changed", [", ".join(_texts(fields.get("files_modified"))[:8])]),
        ("Asked since, in passing", list(left.since)),
    ]
    return [(name, lines) for name, texts in sections if (lines := [inline(text) for text in texts if text])]


def head_of(left: LeftOff) -> str:
    """Return the line above: when, on which branch, and whether the work was interrupted."""
    parts = [left.at[:10], f"branch {left.branch}" if left.branch else ""]
    parts += [f"worktree {left.worktree}" if left.worktree else "", "interrupted" if left.interrupted else ""]
    return f"Where we left off ({inline(', '.join(part for part in parts if part))}):"


def plain(left: LeftOff, budget: int) -> str:
    """Return where work was left off, within a token budget."""
    return packed(head_of(left), lines_of(left), budget)


def fenced(left: LeftOff, budget: int) -> str:
    """Return where work was left off, fenced as notes, within a token budget."""
    room = budget - (len(_HEAD) + len(_FOOT) + 2 + 3) // 4
    return f"{_HEAD}\n{plain(left, room)}\n{_FOOT}"


def _texts(value: object) -> list[str]:
    if isinstance(value, list):
        return [text for text in value if isinstance(text, str)]
    return value.splitlines() if isinstance(value, str) else []


def _is_in(sentence: str, request: str) -> bool:
    return sentence.lower().rstrip(".!") in request.lower()


def packed(head: str, sections: Sequence[tuple[str, list[str]]], budget: int) -> str:
    """Return sections within a token budget, one line of each in turn, so that a long one does not crowd out the others.

    Of what the user said every limit comes before the second line of another section.
    """
    whole = _written(head, dict(sections))
    if tokens_of(whole) <= budget:
        return whole
    kept: dict[str, list[str]] = {name: [] for name, _ in sections}
    for name, line in _in_turn(sections):
        room = budget - tokens_of(_written(head, kept)) - tokens_of(f"\n{name}: ") - 1
        fitted = line if tokens_of(line) <= room or room < SMALLEST else clipped(line, room)
        more = {**kept, name: [*kept[name], fitted]}
        if tokens_of(_written(head, more)) <= budget:
            kept = more
    return clipped(_written(head, kept), budget)


def _in_turn(sections: Sequence[tuple[str, list[str]]]) -> list[tuple[str, str]]:
    places = {
        (name, index): 0 if name == SAID and is_limit(line) else index
        for name, lines in sections
        for index, line in enumerate(lines)
    }
    order = {name: place for place, (name, _) in enumerate(sections)}
    ranked = sorted(places, key=lambda key: (places[key], order[key[0]], key[1]))
    lines_of = dict(sections)
    return [(name, lines_of[name][index]) for name, index in ranked]


def _written(head: str, kept: dict[str, list[str]]) -> str:
    parts = [head]
    for name, lines in kept.items():
        if len(lines) == 1:
            parts.append(f"{name}: {lines[0]}")
        elif lines:
            parts += [f"{name}:", *(f"- {line}" for line in lines)]
    return "\n".join(parts)


# The question where work was left off, in the languages people type. Each alternative names us, the last time or the work itself:
# "why did we stop using Celery?" and "how do I continue a rebase?" ask something else.
_WE = r"(?:we|i|you|things|the work)"
_LAST = r"(?:last time|last session|previous session|yesterday|before|earlier|the other day|last week|the crash)"
_ASKED = lazy(
    rf"\bwhere (?:did|had|have) {_WE} (?:\w+ )?(?:leave|left|stop|stopped|end up|get to|got to|be)\b(?!.*\b(?:menu|using|file|put)\b)"
    rf"|\bwhere (?:were|was|are) {_WE}\s*(?:at|up to|standing)?\s*(?:\?|$|,|{_LAST}|with\b|in\b|on\b)"
    rf"|\bwhere (?:{_WE} )?(?:left|stopped|broke) (?:it )?off\b|\bwhere (?:{_WE}) (?:left|stopped|were)\b"
    rf"|\bwhat (?:was|were|am|are|did|have|had) {_WE} (?:been )?(?:just )?(?:doing|do|done|working on|work on|up to|in the middle of)\b(?=\W*$|.*\b{_LAST}\b|\W+(?:when|with)\b)"
    rf"|\bwhat (?:happened|was done|got done|is left|['’]s left|remains)\b.*\b{_LAST}\b"
    r"|\bwhat(?:['’]s| is) (?:the )?(?:(?:current )?(?:state|status) of (?:the |our |my )?(?:work|things|play|task)|(?:left|remaining)(?: to do)?|(?:our|my|the) next steps?)\s*\??$"
    r"|\bwhat(?:['’]s| is) (?:left|still open|unfinished|next)\s*(?:to do)?\s*(?:\?|$|from\b)"
    r"|\b(?:pick|carry|continue|resume|go on|start)\b.{0,30}\b(?:where (?:we|i|you)|(?:last|previous) (?:session|time|work)|the (?:interrupted|unfinished) work)\b"
    r"|\b(?:catch me up|bring me up to (?:speed|date)|recap (?:of )?(?:the )?(?:last|previous) (?:session|time)|(?:unfinished|interrupted|open) work\b)"
    r"|\b(?:remind me|summari[sz]e|recap)\b.{0,30}\b(?:we|i) (?:were|was|did|have been)\b"
    # German
    r"|\bwo (?:waren|sind|standen|stehen|war) (?:wir|ich)(?:\s+(?:stehen ?geblieben|gerade|dran|zuletzt|gestern))*\s*(?:\?|$)"
    r"|\bwo (?:haben|hatten|habe|hatte|hab) (?:wir|ich)\b.{0,30}\b(?:aufgehört|unterbrochen|gestoppt)|\bwo (?:wir|ich)\b.{0,30}\b(?:aufgehört|stehen ?geblieben|waren)\b"
    r"|\b(?:was|woran) (?:haben|hatten|habe|hatte) (?:wir|ich)\b.{0,20}\b(?:zuletzt|gestern|letztes mal|beim letzten mal|vorhin|vorher)\b"
    r"|\bwie ist der (?:aktuelle )?stand(?: der (?:arbeit|dinge))?\s*\??$|\bwas (?:steht (?:noch )?(?:an|aus)|ist (?:noch )?offen|fehlt noch|kommt als nächstes)\s*\??$"
    # Spanish, Portuguese, Italian
    r"|\b(?:d[oó]nde|en qu[eé]|por d[oó]nde) (?:lo |nos |la )?(?:dejamos|quedamos|estábamos|estabamos|íbamos|ibamos|paramos|dejé|quedé)\b"
    r"|\b(?:donde|dónde) lo dejamos\b|\bqué (?:hicimos|estábamos haciendo|hacíamos|queda por hacer)\b(?:.*\b(?:ayer|última vez|última sesión)\b|\W*$)"
    r"|\b(?:onde|em que ponto|em que) (?:nós )?(?:paramos|ficamos|estávamos|parámos)\b|\bo que (?:fizemos|estávamos fazendo)\b(?:.*\b(?:ontem|última)\b|\W*$)"
    r"|\bdove (?:eravamo|ci eravamo|siamo) (?:rimasti|arrivati)\b|\b(?:última sesión|última sessão|ultima sessione)\b"
    # French
    r"|\boù (?:en )?(?:étions-nous|étais-je|en étions|en est-on|est-ce qu['’]on (?:en était|s['’]était arrêté)|on (?:en était|s['’]était arrêté))"
    r"|\bon (?:en était|s['’]était arrêtés?) où\b|\bsur quoi (?:travaill\w+|on travaillait|étions)|\bqu['’](?:avons|avions)-nous fait\b|\bla dernière fois\b.*\b(?:où|arrêt)"
    # Chinese, Japanese
    r"|上次.{0,8}(?:做到|进行到|停在|到哪|做了什么|干到)|(?:做到|进行到|停)哪(?:里|儿|了)|继续上次|接着上次|(?:之前|刚才|昨天)(?:我们)?(?:在)?(?:做|干)(?:什么|到哪)"
    r"|前回.{0,6}(?:どこまで|続き|何を|の作業)|どこまで(?:やり|進|終わ|でき)|(?:続き|途中)から|昨日(?:は)?(?:何を|どこまで)",
    re.IGNORECASE,
)


def asks_for_it(question: str) -> bool:
    """True if a question asks where work was left off."""
    return len(question) <= LONGEST_QUESTION and bool(_ASKED.search(question))


def named_in(question: str, works: Sequence[LeftOff]) -> LeftOff:
    """Return the work that the rest of such a question names, else the first."""
    topic = words(_ASKED.sub(" ", question))
    return max(works, key=lambda work: len(topic & words(work.summary.text)))

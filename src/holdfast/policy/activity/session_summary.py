"""Summarize a session: the summary record, and the handover text after a compaction."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, pairwise, takewhile, zip_longest
from typing import Any

from holdfast.model.record import Draft
from holdfast.model.session import HookEvent
from holdfast.model.text import shorten
from holdfast.policy.activity import observe
from holdfast.policy.activity.observe import MOST_FILES, Work, title_of, type_of
from holdfast.policy.activity.tools import open_steps
from holdfast.policy.activity.turns import Searched, Turn, turns
from holdfast.policy.language import headlines
from holdfast.policy.language.foreign import own_part
from holdfast.policy.language.noteworthy import Signal, marked
from holdfast.policy.language.overlap import SAME_ISSUE, overlap
from holdfast.policy.language.reading import SentenceReader
from holdfast.policy.sessions.left_off import AHEAD, LABELS, SAID, THEN, packed

MOST_LINES, LINE = 12, 300
STATE = 600  # characters of the last answers: their beginning and their end
_LASTING = ("decision", "learning", "finding", "pattern", "preference", "explicit")
_ITEM = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+(?:\[ \]\s*)?(?P<text>\S.*)$")
_BLANKED = re.compile(r"(?<=\S)[ \t]{6,}(?=\S)")  # a quotation that was left out
# Chances from which a sentence names something left to do, reports something done, asks for something, or replaces an earlier one.
LEFT, DONE, ASKED, OUTDATED = 0.5, 0.55, 0.4, 0.8


def summary(
    activity: Sequence[HookEvent], reader: SentenceReader | None = None, *, begun: bool = False
) -> Draft | None:
    """Return the summary of a session so far; None if it did nothing worth recording and none was `begun`."""
    every = turns(activity, reader)
    pieces, main = observe.works(every), _at_work(every)
    # A tool ran for a request that is no question, or a request was left without an answer.
    clear = (turn for turn in main if turn.steps or not _talk(turn))
    worked = any(not turn.done or (turn.steps and not turn.prompt.endswith(("?", "？"))) for turn in clear)
    if not (pieces or worked or begun):
        return None
    recap = _recap(every, pieces)
    first, last, completed = activity[0], activity[-1], recap["completed"]
    lists = {name: recap[name] for name in ("investigated", "learned", "completed", "next_steps")}
    lists["notes"] = [*recap["broken"], *recap["questions"]]
    fields: dict[str, str | list[str]] = {
        "request": THEN.join(recap["asked"][:MOST_LINES]),
        "constraints": recap["conditions"],
        "state": "".join(recap["state"]),
        **{name: "\n".join(lines[:MOST_LINES]) for name, lines in lists.items()},
        "files_read": recap["read"][:MOST_FILES],
        "files_modified": recap["modified"][:MOST_FILES],
    }
    worked_on = [title_of(work) for work in pieces[:1]]
    title, *_ = (*recap["asked"][:1], *completed, *recap["investigated"], *worked_on, "Work without a request")
    done = f"Done: {'; '.join(completed[:5])}." if completed else "Nothing was finished."
    body = f"{title}{'' if title.endswith(('?', '？')) else '.'} {done}"
    extra: dict[str, Any] = {"trail": f"summary {first.session}", "session": first.session, "client": first.client}
    extra |= {"until": last.id, "at": last.at, "interrupted": bool(main) and not main[-1].done}
    extra |= {"branch": next((event.branch for event in reversed(activity) if event.branch), "")}
    return observe.observed("summary", headlines.one_line(title, 120), body, fields, extra, last.at)


def handover(activity: Sequence[HookEvent], budget: int, reader: SentenceReader | None = None) -> str:
    """Return where a session stands, within a token budget; "" if it did nothing yet."""
    every = turns(activity, reader)
    recap = _recap(every, observe.works(every))
    known = " ".join(recap["asked"]).lower()
    # What is no request of its own, limits first.
    both = (recap["conditions"], recap["pasted"])
    apart = ([line for line in lines if line.lower().rstrip(".!") not in known] for lines in both)
    conditions, pasted = (sorted(lines, key=lambda line: not headlines.is_limit(line)) for lines in apart)
    files = {name: [headlines.joined(recap[name], 12)] * bool(recap[name]) for name in ("modified", "read")}
    sections = (
        ("Asked", recap["asked"][::-1]),
        (SAID, conditions),
        ("Still broken", recap["broken"]),
        ("State", recap["state"]),
        ("Next", recap["next_steps"]),
        ("Open questions", recap["questions"]),
        ("Done", recap["completed"][::-1]),
        ("Learned", recap["learned"]),
        ("In prompts, perhaps pasted", pasted),
        ("Files in play", files["modified"]),
        ("Files read", files["read"]),
        ("Looked into", recap["investigated"]),
    )
    shown = [section for section in sections if section[1]]
    return packed("Where this session stands:", shown, budget) if shown else ""


def ahead_in(answer: str, reader: SentenceReader) -> list[str]:
    """Return the next steps that an answer names: the list under such a heading, else sentences about what is left."""
    for heading in AHEAD.values():
        below = answer[match.end() :].splitlines() if (match := heading.search(answer)) else []
        listed = takewhile(lambda line: not line.strip() or _ITEM.match(line), below)
        if items := [shorten(item["text"].strip("* "), LINE) for line in listed if (item := _ITEM.match(line))]:
            return items[:MOST_LINES]
    left = (one.text for one in reader.message(answer) if one.share("open") >= LEFT or LABELS["Next"].match(one.text))
    return [shorten(text, LINE) for text in left if not text.endswith("?")]


def _recap(every: Sequence[Turn], pieces: Sequence[Work]) -> dict[str, list[str]]:
    """Return what a session was asked, did, learned and left open; `pasted` are sentences that may not be the user's."""
    main = _at_work(every)
    answered = [turn for turn in main if turn.answer]
    # The last one that did more than answer a question or agree, and those since.
    news = (place for place, turn in enumerate(answered[::-1], 1) if _is_news(turn) and not _talk(turn))
    last = answered[-next(news, 1) :]
    found_signals = list(_statements(every))
    # The start of each turn that the next one objects to, and that one.
    refused = {turn.began: after for turn, after in pairwise(main) if after.objects == "no"}
    changed = {path: work.turn.began for work in pieces if not work.broken for path in work.modified}
    objections = [  # without those that the next turn answered, or a later one with a change in the same files
        f"The user objected to “{title_of(work)}”: {headlines.one_line(after.prompt, 160)}"
        for work in pieces
        if (after := refused.get(work.turn.began)) and (work.changes or work.commits or work.acts)
        if not (_is_news(after) or any(changed.get(path, "") > after.began for path in work.modified))
    ]
    fixes = (check for work in pieces if type_of(work) == "bugfix" for check in work.fixed if check.error)
    read = dict.fromkeys(path for work in pieces for path in work.read)
    modified = list(dict.fromkeys(path for work in reversed(pieces) for path in work.modified))
    lasting = [signal.text.split("\n\n", 1)[0] for signal in found_signals if signal.kind in _LASTING]
    learned = _distinct([*lasting, *(f"{check.name} failed with {check.error}; fixed" for check in fixes)])
    # The open steps of the last plan, else what answers name.
    events = (event for turn in every if not turn.agent for event in turn.events)
    plans = [steps for event in events if (steps := open_steps(event.tool, event.given))]
    ahead = plans[-1][:MOST_LINES] if plans else _ahead(main)
    if main and not (main[-1].said or main[-1].steps):  # what was asked is not done
        asked_last = main[-1].reader.prompt(main[-1].prompt, main[-1].previous)
        ahead += [shorten(sentence.text, LINE) for sentence in asked_last if sentence.share("task") >= ASKED]
    asks = [line for turn in last for line in headlines.sentences_of(turn.answer) if line.endswith("?")]
    questions = _distinct([*asks, *(signal.text for signal in found_signals if signal.kind == "blocker")])
    completed = _distinct(line for turn in main if turn.began not in refused for line in _finished(turn, pieces))
    said = headlines.conditions([(turn.certain, turn.asked) for turn in main])
    everything = headlines.conditions([(turn.prompt, turn.asked) for turn in main])
    # Small talk and guesses limit nothing, and of two statements that conflict the later one counts.
    judged = (sentence for turn in main for sentence in turn.reader.prompt(turn.prompt, turn.previous))
    idle = {sentence.text for sentence in judged if sentence.label in ("chat", "guess")}
    pairs = combinations(said[-MOST_LINES:], 2)
    idle |= {old for old, new in pairs if main[0].reader.relation(old, new).get("conflict", 0.0) >= OUTDATED}
    last_runs = {run.name: (run.error or "no error message") * run.wrong for work in pieces for run in work.runs}
    return {
        "asked": _distinct(headlines.requests(turn.asked for turn in main)),
        "conditions": [line for line in said if line not in idle],
        "pasted": [line for line in everything if line not in idle.union(said)],
        "state": _state(last, [*learned, *ahead, *questions, *completed]),
        "investigated": _distinct(_investigated(pieces)),
        "learned": learned,
        "completed": completed,
        "next_steps": ahead,
        "broken": [*(f"{name} fails: {error}" for name, error in last_runs.items() if error), *objections],
        "questions": questions,
        "read": [path for path in read if path not in modified],
        "modified": modified,
    }


def _statements(all_turns: Sequence[Turn]) -> Iterator[Signal]:
    """Yield what the user marked and what the agents claimed, without claims that were refuted or are not confirmed yet."""
    for turn, after in zip_longest(all_turns, all_turns[1:]):
        yield from marked(turn.certain)
        for claim in observe.claims_of(turn):
            standing = observe.standing_of(claim.text, turn, after) if after and after.prompt else "open"
            if standing == "confirmed" or (standing == "open" and (claim.how != "wording" or observe.is_proven(turn))):
                yield claim


def _at_work(every: Sequence[Turn]) -> list[Turn]:
    """Return the main agent's turns without small talk and, if other work was done, without questions that needed no step."""
    main = [turn for turn in every if not turn.agent and _talk(turn) != "chat"]
    return [turn for turn in main if not _talk(turn) or {*map(type, turn.steps)} - {Searched}] or main


def _talk(turn: Turn) -> str:
    """Return whether a prompt for which nothing was done is "chat" or a "question"; else ""."""
    labels = {sentence.label for sentence in turn.reader.prompt(turn.prompt, turn.previous)}
    is_vague = headlines.is_vague(turn.events[0].text) and not turn.steps
    labels = {"task" if _is_news(turn) else "chat"} if is_vague else labels or {"task"}
    is_talk = labels <= {"chat", "question"} and not Work(turn).did_something
    return ("question" if turn.steps or "question" in labels else "chat") * is_talk


def _is_news(turn: Turn) -> bool:
    """True if something was done in a turn, or its answer says more than that it was understood."""
    return bool(turn.steps) or any(sentence.label != "noise" for sentence in turn.reader.message(turn.said))


def _ahead(main: Sequence[Turn]) -> list[str]:
    """Return the next steps that were named last; named as such they outlast other work, unless it was about them."""
    ahead, since = list[str](), list[str]()
    for turn in reversed(main):
        own, is_list = ahead_in(turn.said, turn.reader), any(one.search(turn.said) for one in AHEAD.values())
        lasting = [one for one in own if not since or is_list or LABELS["Next"].match(one)]
        ahead = [*(one for one in lasting if all(overlap(one, text) < SAME_ISSUE for text in since)), *ahead]
        if (own and not _talk(turn)) or len(since) >= MOST_LINES:
            break
        since += [turn.prompt, turn.said] if _is_news(turn) and not _talk(turn) else []
    return ahead


def _state(last: Sequence[Turn], reported: Sequence[str]) -> list[str]:
    """Return what the last answers say besides what is reported elsewhere, shortened in their middle."""
    known, half = "\n".join(reported), STATE // 2
    texts = (own_part(turn.answer, by_agent=True).text for turn in last)
    said = [line for text in texts for line in headlines.said_in(_BLANKED.sub(" … ", text))]
    new = [line for line in said if line.rstrip(".") not in known and line[-1] != ":"]
    text = " ".join(line if line[-1] in ".!?。！？…" else f"{line};" for line in new).rstrip(";")
    return [text if len(text) <= STATE else f"{shorten(text, half)} …{text[-half:].partition(' ')[2]}"] * bool(text)


def _finished(turn: Turn, pieces: Sequence[Work]) -> Iterator[str]:
    """Yield what was finished in a turn: its work, if it changed something, else what the agent reports as done.

    Nothing is done while a check fails, or before the turn has ended, except what was committed. Commands alone finish
    something only if the agent reports it, where that can be judged.
    """
    works_here = [work for work in pieces if work.turn.began == turn.began]
    judged = turn.reader.message(turn.said)
    done = [sentence.text for sentence in judged if sentence.label == "done" and sentence.share("done") >= DONE]
    titles = [
        title_of(work) + "".join(f" ({commit.hash})" for commit in work.commits[:1] if commit.hash)
        for work in works_here
        if work.commits or (turn.done and (work.changes or (work.acts and (done or not judged))) and not work.broken)
    ]
    found_only = any(work.broken or type_of(work) == "discovery" for work in works_here)
    is_report = not found_only and not observe.is_question(headlines.request_of(turn.asked))
    yield from titles or ([text.rstrip(".") for text in done] if is_report else [])


def _investigated(pieces: Sequence[Work]) -> Iterator[str]:
    for work in pieces:
        if type_of(work) == "discovery" and not work.signals:  # what it claims is listed if it was confirmed
            yield title_of(work)
        yield from (f"Looked for “{shorten(search.wanted, 80)}”" for search in work.searches if search.wanted)
        yield from (f"{task.agent or 'Sub-agent'}: {task.task}" for task in work.delegated if task.task)


def _distinct(lines: Iterable[str]) -> list[str]:
    distinct = [shorten(line, LINE) for line in dict.fromkeys(line for line in lines if line)]
    return distinct if len(distinct) <= MOST_LINES else [distinct[0], *distinct[1 - MOST_LINES :]]

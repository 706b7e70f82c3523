"""Transcripts of simulated sessions, in the formats of two clients: JSON lines or Markdown."""

import json
from typing import Any

from demo.seat import Seat
from holdfast.verbs.capture.mining import log_output, mine_outputs
from holdfast.verbs.sessions.transcript import save_transcript

TOLD = 3  # sentences of a transcript that are worth storing


def save_talk(seat: Seat) -> None:
    """Store a transcript of the session so far, and mine the output of the agent and its tools."""
    turns = [(role, seat.fill(seat.chance.choice(wordings))) for role, wordings in seat.simulation.story.talk["turns"]]
    for text in seat.chance.sample(seat.simulation.story.talk["told"][seat.visit.area.side], TOLD):
        turns.insert(seat.chance.randrange(2, len(turns)), ("assistant", text))
    if seat.visit.agent == "claude-code":
        text, form = "\n".join(json.dumps(_line(role, said)) for role, said in turns), "json"
    else:
        text, form = "\n\n".join(f"**{role}**: {said}" for role, said in turns), "markdown"
    save_transcript(seat.memory, text, session=seat.memory.actor.session, form=form)
    log_output(seat.memory, "\n\n".join(said for role, said in turns if role != "user"))
    mine_outputs(seat.memory)


def _line(role: str, said: str) -> dict[str, Any]:
    if role == "tool":
        return {"type": "user", "message": {"content": [{"type": "tool_result", "content": said}]}}
    return {"type": role, "message": {"role": role, "content": [{"type": "text", "text": said}]}}

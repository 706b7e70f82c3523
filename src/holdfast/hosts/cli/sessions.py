"""Commands for sessions and transcripts."""

from pathlib import Path
from typing import Any

import click

from holdfast.hosts.cli.options import opened, stdin_text
from holdfast.hosts.cli.person import PERSON
from holdfast.hosts.cli.render import json_option, show
from holdfast.model.errors import Conflict, Invalid
from holdfast.model.files import read_file
from holdfast.model.foreign_json import parse_json
from holdfast.model.ids import short
from holdfast.surfaces.core import session_text
from holdfast.surfaces.core.text import waiting_for
from holdfast.verbs.sessions.close import LONGEST_PAYLOAD, NotClosed, close, payload_file
from holdfast.verbs.sessions.scars import unanswered
from holdfast.verbs.sessions.session import contents_of, find_session, list_sessions, only_open, refresh, start
from holdfast.verbs.sessions.topics import patterns, topics_of
from holdfast.verbs.sessions.transcript import (
    LONGEST,
    drop_transcript,
    get_transcript,
    save_transcript,
    search_transcripts,
)

this_session = click.option("--session", help="The session; default: the active one.")


@click.group("session")
def session_command() -> None:
    """Start, list and close sessions: bounded pieces of work.

    \b
    holdfast session start --title "Rate limits" --issue SHOP-12
    holdfast session close --quick
    """


@session_command.command("start")
@click.option("--title", default="", help="What it is about.")
@click.option("--issue", default="", help="The issue it works on.")
@click.option("--session", default="", help="Resume this session.")
@click.option("--force", is_flag=True, help="Start a new one although one is active.")
@json_option
def start_command(title: str, issue: str, session: str, force: bool, as_json: bool) -> None:
    """Start a session, or resume the one a restart interrupted; shows what the last one left."""
    with opened() as memory:
        started, opening = start(memory, session=session, title=title, issue=issue, force=force)
        file = payload_file(started, opening.session.id)
        text = session_text.opening_of(opening, PERSON, payload_file=str(file or ""))
    show(opening, f"{text}\n\nexport HOLDFAST_SESSION={opening.session.id}", as_json=as_json)


@session_command.command("refresh")
@this_session
@json_option
def refresh_command(session: str | None, as_json: bool) -> None:
    """Show the opening of the session again."""
    with opened(session=session) as memory:
        opening = refresh(memory if memory.actor.session else memory.acting_in(only_open(memory).id))
        show(opening, session_text.opening_of(opening, PERSON), as_json=as_json)


@session_command.command("close")
@this_session
@click.option("--quick", "close_type", flag_value="quick", help="Without reflection: for less than half an hour.")
@click.option("--autonomous", "close_type", flag_value="autonomous", help="No human took part.")
@click.option("--retroactive", "close_type", flag_value="retroactive", help="For work that had no session.")
@click.option("--payload", type=click.Path(path_type=Path), help="JSON file with the closing payload; - reads stdin.")
@click.option(
    "--answer", "answers", multiple=True, metavar="QUESTION=TEXT", help="what_broke=…, what_worked=…; repeatable."
)
@json_option
def close_command(
    session: str | None, close_type: str | None, payload: Path | None, answers: tuple[str, ...], as_json: bool
) -> None:
    """Close a session with what it learned, decided and left open (default: a standard close)."""
    content = {**_payload(payload), **_answers(answers)}
    with opened(session=session) as memory:
        session_id = find_session(memory, session).id if session else ""
        banner = waiting_for(unanswered(memory, session_id), PERSON)
        outcome = close(memory, session=session_id, close_type=close_type or "standard", payload=content)
    show(outcome, "\n".join([*banner, session_text.closing_of(outcome, PERSON)]), as_json=as_json)
    if isinstance(outcome, NotClosed):
        raise click.exceptions.Exit(Conflict.exit_code)


@session_command.command("list")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 1000), help="Maximum number to show.")
@click.option("--everywhere", is_flag=True, help="All projects.")
@json_option
def list_command(limit: int, everywhere: bool, as_json: bool) -> None:
    """List sessions, latest first."""
    with opened() as memory:
        sessions = list_sessions(memory, limit=limit, everywhere=everywhere)
    lines = [session_text.session_line(session, PERSON) for session in sessions]
    show(
        sessions,
        "\n".join(lines) or "No sessions yet: agents start them, or `holdfast session start`.",
        as_json=as_json,
    )


@session_command.command("show")
@click.argument("id", required=False)
@json_option
def show_command(id: str | None, as_json: bool) -> None:  # noqa: A002
    """Show a session with its memories and topics."""
    with opened() as memory:
        session_id = id or only_open(memory).id
        left, topics = contents_of(memory, session_id), topics_of(memory, session_id)
    show({"left": left, "topics": topics}, session_text.left_of(left, topics, PERSON), as_json=as_json)


@session_command.command("patterns")
@click.option("--days", default=30, show_default=True, type=click.IntRange(1), help="How many days back to look.")
@click.option("--least", default=2, show_default=True, help="Minimum number of sessions.")
@json_option
def patterns_command(days: int, least: int, as_json: bool) -> None:
    """Show memories and topics that recur across sessions."""
    with opened() as memory:
        recurring = patterns(memory, days=days, least=least)
    show(recurring, session_text.patterns_of(recurring, PERSON), as_json=as_json)


@session_command.group("transcript")
def transcript_group() -> None:
    """Save, read, search and delete transcripts of sessions."""


@transcript_group.command("save")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@this_session
@click.option("--format", "form", type=click.Choice(["json", "markdown"]), help="Default: by the file's extension.")
@json_option
def save_command(file: Path, session: str | None, form: str | None, as_json: bool) -> None:
    """Save a transcript (JSON lines as clients write them, or text); credentials are masked."""
    text = stdin_text() if str(file) == "-" else _read(file, LONGEST)
    chosen_form = form or ("json" if file.suffix in (".json", ".jsonl") else "markdown")
    with opened(session=session) as memory:
        saved = save_transcript(memory, text, session=session or "", form=chosen_form)
    message = f"Saved the transcript of {short(saved.session)}: {saved.tokens:,} tokens."
    show({"session": saved.session, "tokens": saved.tokens, "format": saved.format}, message, as_json=as_json)


@transcript_group.command("show")
@click.argument("id")
@json_option
def transcript_command(id: str, as_json: bool) -> None:  # noqa: A002
    """Print the transcript of a session."""
    with opened() as memory:
        transcript = get_transcript(memory, id)
    show(transcript, transcript.body, as_json=as_json)


@transcript_group.command("search")
@click.argument("text", nargs=-1, required=True)
@click.option("--limit", default=10, show_default=True, type=click.IntRange(1, 50), help="Maximum number to show.")
@click.option("--everywhere", is_flag=True, help="All projects.")
@json_option
def search_command(text: tuple[str, ...], limit: int, everywhere: bool, as_json: bool) -> None:
    """Search transcripts."""
    with opened() as memory:
        pieces = search_transcripts(memory, " ".join(text), limit=limit, everywhere=everywhere)
    show(pieces, session_text.pieces_of(pieces, PERSON), as_json=as_json)


@transcript_group.command("drop")
@click.argument("id")
@json_option
def drop_command(id: str, as_json: bool) -> None:  # noqa: A002
    """Delete the transcript of a session permanently."""
    with opened() as memory:
        dropped = drop_transcript(memory, id)
    show({"dropped": dropped}, "Deleted." if dropped else "There is no such transcript.", as_json=as_json)


def _payload(file: Path | None) -> dict[str, Any]:
    if file is None:
        return {}
    try:
        payload = parse_json(stdin_text() if str(file) == "-" else _read(file, LONGEST_PAYLOAD), LONGEST_PAYLOAD)
    except ValueError as problem:
        raise Invalid(
            f"{file} cannot be read as JSON: {problem}.", hint="Fix it and close again; nothing was written."
        ) from problem
    if not isinstance(payload, dict):
        raise Invalid(f"{file} must contain a JSON object.")
    return payload


def _answers(pairs: tuple[str, ...]) -> dict[str, str]:
    for pair in pairs:
        if "=" not in pair:
            raise Invalid(
                f"{pair!r} is not QUESTION=TEXT.", hint="`holdfast session close --help` names the questions."
            )
    return {name: text for name, _, text in (pair.partition("=") for pair in pairs)}


def _read(file: Path, longest: int) -> str:
    try:
        return read_file(file, longest).decode()
    except OSError as problem:
        raise Invalid(f"{file} cannot be read ({problem.strerror}).") from problem
    except UnicodeDecodeError as problem:
        raise Invalid(f"{file} cannot be read: {problem}.") from problem

"""Store, read and search the transcripts of sessions, with credentials masked."""

from holdfast.engine.raw import transcripts
from holdfast.engine.raw.transcripts import Piece, Transcript
from holdfast.model.errors import Invalid, NotFound
from holdfast.model.text import check_text, tokens_of
from holdfast.policy.activity.transcript import chunks, messages_in
from holdfast.policy.secrets.find import masked
from holdfast.verbs.memory import Memory, check_choice
from holdfast.verbs.sessions.session import check_own, find_session, only_open

FORMATS = ("json", "markdown")
LONGEST = 20_000_000
LONGEST_QUESTION = 1_000


def save_transcript(memory: Memory, text: str, *, session: str = "", form: str = "markdown") -> Transcript:
    """Store the transcript of a session, replacing an earlier one."""
    check_choice(form, FORMATS, "a transcript format")
    target = find_session(memory, session) if session else only_open(memory)
    check_own(memory, target)
    body = check_text(masked(text), "transcript", LONGEST)
    messages = messages_in(body, form)
    if not messages:
        raise Invalid("The transcript contains no messages.", hint="For JSON, use one message per line.")
    with memory.store.transaction():
        project, now = memory.store.project_number(target.project, make=True), memory.clock.now()
        size = tokens_of(body)
        transcript = Transcript(session=target.id, project=project, format=form, saved_at=now, tokens=size, body=body)
        transcripts.save(memory.store, transcript, chunks(messages))
    return transcript


def get_transcript(memory: Memory, session: str) -> Transcript:
    """Return the transcript of a session."""
    target = find_session(memory, session)
    transcript = transcripts.get(memory.store, target.id)
    if transcript is None:
        raise NotFound(f"There is no transcript of {target.id}.", hint="Save one: holdfast session transcript save")
    return transcript


def drop_transcript(memory: Memory, session: str) -> bool:
    """Delete the transcript of a session for good; return whether there was one."""
    return transcripts.drop(memory.store, find_session(memory, session).id)


def search_transcripts(
    memory: Memory, question: str, *, limit: int = 10, everywhere: bool = False, least: float = 0.0
) -> list[Piece]:
    """Search this project's transcripts; `least` is the share of the question's words that must match."""
    checked = check_text(question, "question", LONGEST_QUESTION)
    project = None if everywhere else memory.store.project_number(memory.project)
    return [piece for piece in transcripts.search(memory.store, checked, project, limit) if piece.share >= least]

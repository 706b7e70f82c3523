"""Keep what was said in a session, give it back, and find passages in it. Credentials are masked before it is kept."""

from holdfast.engine.raw import transcripts
from holdfast.engine.raw.transcripts import Piece, Transcript
from holdfast.model.errors import Invalid, NotFound
from holdfast.model.text import check_text, tokens_of
from holdfast.policy.activity.transcript import chunks, said_in
from holdfast.policy.secrets.find import masked
from holdfast.verbs.memory import Memory
from holdfast.verbs.sessions.session import check_own, find_session, only_open

FORMATS = ("json", "markdown")
LONGEST = 20_000_000
LONGEST_QUESTION = 1_000


def save_transcript(memory: Memory, text: str, *, session: str = "", form: str = "markdown") -> Transcript:
    """Keep what was said in a session, in place of an earlier transcript of it."""
    if form not in FORMATS:
        raise Invalid(f"{form!r} is no format of a transcript.", hint=f"Use one of {', '.join(FORMATS)}.")
    meant = find_session(memory, session) if session else only_open(memory)
    check_own(memory, meant)
    body = check_text(masked(text), "transcript", LONGEST)
    turns = said_in(body, form)
    if not turns:
        raise Invalid("Nothing was said in this transcript.", hint="For JSON, one message a line is expected.")
    with memory.store.transaction():
        kept = Transcript(
            session=meant.id,
            project=memory.store.project_number(meant.project, make=True),
            format=form,
            saved_at=memory.clock.now(),
            tokens=tokens_of(body),
            body=body,
        )
        transcripts.save(memory.store.db, kept, chunks(turns))
    return kept


def get_transcript(memory: Memory, session: str) -> Transcript:
    """Give the transcript of a session."""
    meant = find_session(memory, session)
    found = transcripts.get(memory.store.db, meant.id)
    if found is None:
        raise NotFound(
            f"There is no transcript of {meant.id}.", hint="`holdfast session transcript save FILE` keeps one."
        )
    return found


def drop_transcript(memory: Memory, session: str) -> bool:
    """Remove the transcript of a session for good."""
    return transcripts.drop(memory.store.db, find_session(memory, session).id)


def search_transcripts(
    memory: Memory, question: str, *, limit: int = 10, everywhere: bool = False, least: float = 0.0
) -> list[Piece]:
    """Find where in this project's transcripts something was said; `least` is the share of its words that must be there."""
    said = check_text(question, "question", LONGEST_QUESTION)
    here = None if everywhere else memory.store.project_number(memory.project)
    return [piece for piece in transcripts.search(memory.store.db, said, here, limit) if piece.share >= least]

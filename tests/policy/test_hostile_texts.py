"""No text takes long to read, whatever it is made of: each reader gets long texts of one piece."""

from collections.abc import Callable

from holdfast.adapters.observers import load_mode
from holdfast.model.trail import HookEvent
from holdfast.policy.activity.observer_reply import read_reply
from holdfast.policy.language.documents import pieces, sections
from holdfast.policy.language.foreign import own_part
from holdfast.policy.language.mine import mine
from holdfast.policy.language.noteworthy import signals
from holdfast.policy.language.reading import SentenceReader
from holdfast.policy.language.user_statements import stated
from tests.policy.trails import events_of, observations
from tests.rows import WHOLE, examples, is_linear, sampled

CODE = load_mode("code", None)
LONG = 4 if WHOLE else 1
# How a text is read, its characters, and one in how many pieces is tried.
READERS: dict[str, tuple[Callable[[str], object], int, int]] = {
    "mine": (mine, 40_000, 1),
    "signals": (lambda text: signals(text, SentenceReader()), 20_000, 3),
    "stated": (lambda text: stated(text, "", SentenceReader()), 20_000, 1),
    "read_reply": (lambda text: read_reply(text, CODE), 30_000, 1),
    "own_part": (own_part, 30_000, 3),
    "sections": (lambda text: (sections(f"# A\n\n{text}"), pieces(text)), 30_000, 1),
    "observations": (lambda text: observations(worked_on(text)), 20_000, 3),
}


def worked_on(text: str) -> list[HookEvent]:
    edit = {"tool": "Edit", "file_path": "/repo/a", "old_string": text, "new_string": text}
    return events_of([text, {"tool": "Bash", "result": text, "command": text}, edit, text])


@examples
def test_no_text_takes_long_whatever_it_is_made_of(reader: str, made_of: list[str]) -> None:
    read, characters, one_in = READERS[reader]
    for piece in sampled(made_of, one_in):
        assert is_linear(read, piece * (LONG * characters // len(piece))), piece

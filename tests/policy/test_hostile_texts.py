"""Any text can be read, and none takes long: what is made of markers at random, and long texts of one piece."""

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from holdfast.adapters.observers import load_mode
from holdfast.model.kinds import KINDS, check_fields
from holdfast.model.session import HookEvent
from holdfast.model.text import defused
from holdfast.policy.activity.observer_reply import ParsedReply, drafts_of, read_reply
from holdfast.policy.activity.turns import turns
from holdfast.policy.language.comparing import merge
from holdfast.policy.language.documents import pieces, sections
from holdfast.policy.language.foreign import own_part
from holdfast.policy.language.mine import mine
from holdfast.policy.language.noteworthy import signals
from holdfast.policy.language.reading import SentenceReader, passages
from holdfast.policy.language.user_statements import stated
from holdfast.policy.ranking.hot_set import importance
from holdfast.policy.secrets.find import find_secrets, masked
from tests.policy.trails import events_of, observations, session
from tests.rows import WHOLE, examples, is_linear, sampled

CODE = load_mode("code", None)
PLAIN = SentenceReader()
MARKERS = "a|b | .|`|\n|<|>|/|$|-|+|@|:|[|]|{|}|?|\\|;|&|!|\0|'|\"|▶|─|U|memory|user|decision|observation|title|type|fact".split(
    "|"
)
LONG = 4 if WHOLE else 1
OPENINGS = sampled(("<", "\n", "[", "<a", "x<a "), 2)
# How a text is read, its characters, and one in how many pieces is tried.
READERS: dict[str, tuple[Callable[[str], object], int, int]] = {
    "mine": (mine, 30_000, 3),
    "signals": (lambda text: signals(text, PLAIN), 10_000, 3),
    "stated": (lambda text: stated(text, "", PLAIN), 10_000, 3),
    "read_reply": (lambda text: read_reply(text, CODE), 30_000, 3),
    "own_part": (own_part, 10_000, 3),
    "sections": (lambda text: (sections(f"# A\n\n{text}"), pieces(text)), 30_000, 1),
    "importance, merge, masked": (lambda text: compared(f"x{text}x"), 30_000, 1),
    "find_secrets": (find_secrets, 25_000, 1),
    "defused": (defused, 24_000, 3),
    "defused behind an opening": (lambda text: [defused(start + text) for start in OPENINGS], 240_000, 1),
    "observations": (lambda text: observations(worked_on(text)), 10_000, 3),
}


def compared(text: str) -> list[object]:
    return [importance(text), merge([("a", text), ("b", text)]), masked({"text": text})]


def worked_on(text: str) -> list[HookEvent]:
    edit = {"tool": "Edit", "file_path": "/repo/a", "old_string": text, "new_string": text}
    return events_of([text, {"tool": "Bash", "result": text, "command": text}, edit, text])


@examples
def test_no_text_takes_long_whatever_it_is_made_of(reader: str, made_of: list[str]) -> None:
    read, characters, one_in = READERS[reader]
    for piece in sampled(made_of, one_in):
        assert is_linear(read, piece * (LONG * characters // len(piece))), piece


@given(st.lists(st.sampled_from(MARKERS), max_size=150).map("".join))
def test_any_text_can_be_read_and_what_is_found_lies_inside_it(text: str) -> None:
    spans = [(one.start, one.end) for one in passages(text)] + [one.span for one in signals(text, PLAIN)]
    assert [(start, end) for start, end in spans if not 0 <= start <= end <= len(text)] == []
    mine(text)
    assert all(said.text for said in stated(text, "", PLAIN, certain=text))
    reply = read_reply(f"<observation>{text}</observation><observation><title>{text}</title>", CODE)
    assert isinstance(reply, ParsedReply)
    work = events_of(
        [
            text,
            {"tool": "Bash", "result": text, "command": text},
            {"tool": "apply_patch", "input": text},
            {"tool": text, "failed": True, "file_path": text, "description": None},
            {"event": "SubagentStop", "agent": "x", "text": text},
            text,
        ]
    )
    for draft in (*drafts_of(reply, turns(session("bugfix-tests")), "x"), *observations(work, include_open=True)):
        check_fields(KINDS["observation"], draft.fields)

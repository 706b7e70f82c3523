"""Whoever quotes a decision has not made it."""

from bench.labelled import MOST_TAKEN, READER, judge_pasted
from holdfast.policy.language.foreign import own_part
from holdfast.policy.language.noteworthy import signals
from tests.rows import each

SAID = "we decided to always use --no-verify when committing to main"
LONG = "We decided to always use --no-verify when committing to main, because hooks are slow."
QUOTED = (
    f'The README says "{SAID}".',
    f"The README says: {SAID}.",
    f"The README in the root says that {SAID}.",
    f"CONTRIBUTING.md states that {SAID}.",
    f"According to the docs, {SAID}.",
    f"As the README puts it, {SAID}.",
    f"> {LONG}",
    f">{LONG}",
    f"The text:\n\n> Some words before.\n> {LONG}",
    f"```\n{LONG}\n```",
    f"~~~text\n{LONG}\n~~~",
    f"```bash\n# {LONG}\n```",
    f"It has this:\n\n    {LONG}",
    f"In the file it reads:\n\n{LONG}",
    f"The commit message was '{SAID} because it's faster'.",
    f"I found this in the issue: “{LONG[:40]}\n{LONG[40:]}”",
    f"The comment says “{LONG} {LONG.replace('--no-verify', 'force pushes')}”",
    f'The wiki says "{LONG} {LONG.replace("--no-verify", "force pushes")}"',
    f"Output:\n{LONG}",
    f"The tool output was: {LONG}",
    f"«{LONG}» is what the wiki has.",
    f"The issue says: [decision] {SAID}",
)
OWN = (
    "We decided to keep prices in cents because floats round.",
    'We decided to use the "strict" mode of the parser because lenient mode hides errors.',
    "The README was wrong, so we decided to rewrite the setup section from scratch.",
    "The docs say it is slow; we decided to drop the cache on every deploy.",
    "The log says the cache is stale, so we decided to drop the cache on every deploy.",
    "I read the docs and we decided to use exponential backoff for retries.",
    "In pricing.py, we decided to keep prices in cents because floats round.",
    "It's settled: we decided to keep the ledger's prices in cents, not in floats.",
    "> The old plan was floats.\n\nWe decided to keep prices in cents because floats round.",
    "[decision] Prices are kept in cents.",
    '[decision] "Strict" is the mode the parser runs in.',
)


@each("text", QUOTED)
def test_a_quoted_decision_is_nobody_s(text: str) -> None:
    assert signals(text, READER) == []


@each("text", OWN)
def test_a_decision_beside_a_quotation_is_kept(text: str) -> None:
    assert "rices" in (own := own_part(text, by_agent=True).text) or "ecided to" in own or "trict" in own


@each("split", ["dev", "held"])
def test_hardly_any_pasted_sentence_counts_as_the_user_s_own(split: str) -> None:
    judged = judge_pasted(split)
    assert (judged.taken <= MOST_TAKEN * judged.foreign, judged.lost <= 0.15 * judged.own) == (True, True), judged


def test_line_breaks_and_length_stay() -> None:
    for text in (*QUOTED, *OWN):
        for by_agent in (True, False):
            own = own_part(text, by_agent=by_agent).text
            assert (len(own), [at for at, char in enumerate(own) if char == "\n"]) == (
                len(text),
                [at for at, char in enumerate(text) if char == "\n"],
            )

"""Our tokenizer gives what the `tokenizers` package gives, for any text."""

import os
import subprocess
import sys
import unicodedata
from pathlib import Path

import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as some

from holdfast.adapters.embedders import local
from holdfast.adapters.embedders.wordpiece import Tokenizer
from tests.rows import examples

FILE = Path(local.__file__).parent / local.MODEL / "vocab.txt"
DOCS = Path(__file__).parents[2] / "docs"
OURS = Tokenizer(FILE, local.LONGEST)
THEIRS = tokenizers.BertWordPieceTokenizer(str(FILE))
THEIRS.enable_truncation(local.LONGEST)


# The package and Python know different versions of Unicode: what changed since this one may differ between them.
KNOWN_TO_ALL = unicodedata.ucd_3_2_0


def same(text: str) -> bool:
    return bool(OURS.encode(text) == THEIRS.encode(text).ids)


@examples
def test_a_text_of_any_kind_has_the_same_tokens(text: str) -> None:
    assert same(text)


def test_the_documentation_has_the_same_tokens() -> None:
    texts = [page.read_text(encoding="utf-8") for page in DOCS.rglob("*.md")]
    pieces = [text[at : at + 800] for text in texts for at in range(0, len(text), 800)]
    assert len(pieces) > 250
    assert [piece for piece in pieces if not same(piece)] == []


def test_every_kind_of_character_ends_a_word_where_it_should() -> None:
    """Every hundredth character that has a name, and all of the first 0x300, next to letters, digits and spaces."""
    known = [chr(code) for code in (*range(0x300), *range(0x300, 0x10000, 61)) if not 0xD800 <= code < 0xE000]
    # Beyond the first plane the package and Python know different versions of Unicode.
    known = [one for one in known if ord(one) < 0x10000]
    texts = [f"a{one}b {one} {one}{one}1{one}  {one}x" for one in known if unicodedata.category(one) != "Cn"]
    assert len(texts) > 1_000
    assert [text for text in texts if not same(text)] == []


@settings(deadline=None)
@given(
    some.text(
        some.characters(max_codepoint=0xFFFF, exclude_categories=("Cs", "Cn")).filter(
            lambda one: KNOWN_TO_ALL.category(one) == unicodedata.category(one)
        ),
        max_size=60,
    )
)
def test_whatever_is_written_has_the_same_tokens(text: str) -> None:
    assert same(text)


def test_the_models_leave_nothing_in_the_users_folders_and_report_to_nobody(tmp_path: Path) -> None:
    program = (
        "from holdfast.adapters.embedders.local import LocalClassifier\n"
        "from holdfast.adapters.embedders.local import LocalEmbedder\n"
        "LocalEmbedder().embed(['a memory'])\n"
        "print(max(LocalClassifier().chances('user', 'We never mock the database here.').values()) > 0.2)\n"
    )
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "LOCALAPPDATA": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert (done.stdout, list(tmp_path.iterdir())) == ("True\n", []), done.stderr

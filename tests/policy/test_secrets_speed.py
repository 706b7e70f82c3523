"""The time to look for secrets grows with the text alone, whatever it is made of."""

from collections.abc import Callable

from holdfast.policy.secrets.find import drop_private, find_secrets
from holdfast.policy.secrets.words import COMMANDS, RULES
from tests.rows import cpu_seconds, sampled

SIZE = 20_000  # characters
MOST = 60  # times what prose of the same length takes
PROSE = "The quick brown fox jumps over the lazy dog, and nobody knows why it did so on Monday. "
HINTS = sorted({hint for _, hints, _, _ in RULES for hint in hints.removeprefix("~").split()})
NAMES = sorted({name for names, _, _ in COMMANDS for name in names.split()})
SEEDS = (
    "token", "a.", "-eyJ", "eyJaaaaaaaaaaa.eyJ", "sk-", "a://", "a://b:", "password=", "password='\"", "Authorization: ",
    "bearer ", "curl -u ", "curl x ", "mysql -", "docker ", "--token", "-----BEGIN PRIVATE KEY-----", "-----BEGIN RSA PRIVATE",
    "cookie session=", "sess", "cookie a.b-", "password is", "password a ", "machine a login b ", "Private-Lines: 1\nA", "xoxb-", "AAAA",
    "LS0tLS1CRUdJTiAA", "1//0", "fm2_,", "M.", '"auth":', "api_key-", "\\", 'password\\\\"', "?sig=", "<private>", "a:b@",
    "\x1b[32m", "\x1b]", "\x1b[0", "\\u001b[", "%41", "%25", "%", "&amp;", "&#x", "&", "\u200b", "\\\n", "\\\\n", "kind: Secret\n",
    "kind: Secret\ndata:\n a: QUJDRGFi\n", "password,token\n", "|password|\n", "password|a\n1|b\n", "<password>", "<password a",
    'name="password" ', '"password",\n', "ENV PASSWORD ", "set password ", "setx a_password", "docker login -p ", "htpasswd -b a ",
    "net use \\\\a ", "aGVsbG8gd29ybGQg", "echo a|", "password: |\n", "pass", "pw ", "api_keyapi_key", "passwordpassword",
)  # fmt: skip


def seconds(look: Callable[[str], object], seed: str, times: int = 1) -> float:
    return cpu_seconds(look, (seed * (SIZE // len(seed) + 1))[:SIZE], times=times)


def test_no_text_takes_long() -> None:
    usual = seconds(find_secrets, PROSE, 5)
    texts = sampled([seed + filling for seed in (*SEEDS, *NAMES, *HINTS) for filling in ("", " ", "\n")], 47)
    slow = [text for text in texts if seconds(find_secrets, text) > MOST * usual]
    # Measured again before it counts: the machine may have been busy with something else.
    assert [text for text in slow if seconds(find_secrets, text, 3) > MOST * usual] == []
    private = ("<private>", "<private", "</private>", "<private></private>", "<PRIVATE>x", "<")
    assert [text for text in private if seconds(drop_private, text, 3) > MOST * usual] == []

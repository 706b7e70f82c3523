"""How well credentials are distinguished from look-alikes: planted secrets in context, and texts without one."""

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench import planting
from bench.labelled import SPLITS, rows_of
from bench.measure import cpu_seconds, table
from holdfast.policy.secrets.find import find_secrets

LEAST_RECALL, MOST_FALSE = 0.97, 0.01
MARK = "§"  # placeholder of the secret in its context
RANDOM = r"[A-Za-z0-9+/=_\-]{16,}"  # the strings that the entropy rule checks
LEAST_ENTROPY = 3.5  # bits a character

# A judge returns the substrings of a text that it takes for credentials.
Judge = Callable[[str], list[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaks:
    """How many planted secrets a judge found, and how many look-alikes it reported."""

    planted: int
    found: int
    alike: int
    false: int
    milliseconds: float

    @property
    def recall(self) -> float:
        """The share of planted secrets that were found."""
        return self.found / self.planted

    @property
    def alarms(self) -> float:
        """The share of look-alikes that were reported as a secret."""
        return self.false / self.alike


def run() -> bool:
    """Print recall and false alarms of all judges; return True if ours reaches the bar on the held-out part."""
    judges: dict[str, Judge] = {f"entropy ≥ {LEAST_ENTROPY}": random_words}
    if library := detect_secrets():
        judges["detect-secrets, all its rules"] = library
    judges["holdfast"] = ours
    scores = {(split, name): score(judge, split) for split in SPLITS for name, judge in judges.items()}
    table("secrets: planted in commands, settings, code, logs and prose; and what only looks like one",
        ("split", "judge", "recall", "found", "false alarms", "of", "share", "ms a text"), [
        (split, judge, one.recall, f"{one.found}/{one.planted}", one.false, one.alike, one.alarms, one.milliseconds)
        for (split, judge), one in scores.items()
    ])  # fmt: skip
    wrapped = _wrapped({name: judge for name, judge in judges.items() if judge is not random_words})
    if not library:
        print("detect-secrets is not installed: `pip install detect-secrets` adds its line.")
    held = scores["held", "holdfast"]
    found, planted = sum(one.found for one in wrapped), sum(one.planted for one in wrapped)
    false, alike = sum(one.false for one in wrapped), sum(one.alike for one in wrapped)
    print(f"all wrappings, held-out half: {found}/{planted} found, {false}/{alike} false alarms")
    is_reached = found >= LEAST_RECALL * planted and false <= MOST_FALSE * alike
    return held.recall >= LEAST_RECALL and held.alarms <= MOST_FALSE and is_reached


def _wrapped(judges: Mapping[str, Judge]) -> list[Leaks]:
    """Print the scores of judges on the second set, plain and in each wrapping; return ours on the held-out half."""
    scores = {
        (wrapping, split, name): score_wrapped(judge, split, wrapping)
        for wrapping in planting.WRAPPINGS for split in SPLITS for name, judge in judges.items()
        if judge is ours or split == "held"  # the library is slow, and was tuned on neither half
    }  # fmt: skip
    table("secrets, second set: each masked whole where holdfast looks, found in part where the library does",
        ("wrapped in", "split", "judge", "recall", "found", "false alarms", "share", "ms a text"), [
        (*key, one.recall, f"{one.found}/{one.planted}", f"{one.false}/{one.alike}", one.alarms, one.milliseconds)
        for key, one in scores.items()
    ])  # fmt: skip
    return [one for (_, split, name), one in scores.items() if (split, name) == ("held", "holdfast")]


def score_wrapped(judge: Judge, split: str, wrapping: str) -> Leaks:
    """Score a judge on one half of the second set; ours must find the whole secret."""
    secrets = [(one.secret, one.text) for one in planting.planted(split, wrapping)]
    return _scored(judge, secrets, planting.look_alikes(split, wrapping), covers if judge is ours else hit)


def score(judge: Judge, split: str) -> Leaks:
    """Score a judge on one part of the first set."""
    return _scored(judge, [(secret, text) for _, secret, text in planted(split)], look_alikes(split), hit)


def _scored(
    judge: Judge,
    secrets: Sequence[tuple[str, str]],
    others: Sequence[str],
    is_right: Callable[[list[str], str], bool],
) -> Leaks:
    tally: Counter[str] = Counter()

    def look() -> None:
        tally["found"] = sum(is_right(judge(text), secret) for secret, text in secrets)
        tally["false"] = sum(bool(judge(text)) for text in others)

    seconds = cpu_seconds(look)
    return Leaks(
        planted=len(secrets),
        found=tally["found"],
        alike=len(others),
        false=tally["false"],
        milliseconds=1000 * seconds / (len(secrets) + len(others)),
    )


def covers(found: list[str], secret: str) -> bool:
    """True if a find contains the whole secret, as it is spelled in the text."""
    return any(secret.strip() in one for one in found)


def planted(split: str) -> list[tuple[str, str, str]]:
    """Return the planted secrets of one part: kind, secret, and the text that contains it."""
    rows = [row for row in rows_of("secrets", split) if "parts" in row]
    return [(row["kind"], secret_of(row), row["around"].replace(MARK, secret_of(row))) for row in rows]


def secret_of(row: Mapping[str, Any]) -> str:
    """Join the parts of a secret; the file stores it in parts, so that no scanner reports the file as a leak."""
    return "".join(row["parts"])


def look_alikes(split: str) -> list[str]:
    """Return the texts of one part that contain no secret."""
    return [row["text"] for row in rows_of("secrets", split) if "text" in row]


def hit(found: list[str], secret: str) -> bool:
    """True if a find covers a secret; lenient to judges that read line by line and report only a part of it."""
    return any(one and (one in secret or secret.strip() in one) for one in found)


def ours(text: str) -> list[str]:
    """Scan a text as every write does."""
    return [text[secret.start : secret.end] for secret in find_secrets(text)]


def random_words(text: str) -> list[str]:
    """Report every long word with high entropy as a secret: the naive baseline."""
    return [word for word in re.findall(RANDOM, text) if _entropy(word) >= LEAST_ENTROPY]


def _entropy(word: str) -> float:
    return -sum(n / len(word) * math.log2(n / len(word)) for n in Counter(word).values())


def detect_secrets() -> Judge | None:
    """Return a judge that uses the library `detect-secrets` with all its plugins, if it is installed."""
    try:
        from detect_secrets.core.scan import scan_file
        from detect_secrets.settings import default_settings
    except ImportError:
        return None

    def judge(text: str) -> list[str]:
        with TemporaryDirectory() as folder, default_settings():
            file = Path(folder) / "text.txt"  # given single lines, it reports nearly every word as a secret
            file.write_text(text, encoding="utf-8")
            return [found.secret_value or "" for found in scan_file(str(file))]

    return judge

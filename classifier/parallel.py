"""Find texts that stand in several languages: the catalogues of translated programs and manuals.

python -m classifier.parallel CLONES --out FILE.xz    packed: a JSON object a line, {"en": text, "de": text, …}

`CLONES` is a folder of git repositories, bare ones too, with gettext catalogues (`.po`) or with files of the same keys for
each language (`en.json` and `de.json`, `en.yml` and `de.yml`). `classifier.train --parallel FILE` begins with these texts.
"""

import json
import lzma
import re
import subprocess
from argparse import ArgumentParser
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

LANGUAGES = "en de fr es it pt nl pl ru ja ko zh tr sv uk id cs".split()
NAMED = re.compile(r"(?:^|[/._-])([a-z]{2})(?:[_-](?:BR|CN|Hans|[A-Z]{2}))?(?=[/._]|$)")
UNWANTED = ("zh_TW", "zh-TW", "zh_Hant", "zh_HK", "pt_PT", "tests/", "test/")
STRINGS = re.compile(r'"((?:[^"\\]|\\.)*)"')
MARKUP = (
    (r":[\w:]+:`~?\.?([^`<]*?)(?:\s*<[^`]*>)?`", r"\1"),
    (r"`+([^`]*)`+_*", r"\1"),
    (r"<[^>]*>|\*\*|__|linkgit:|_\{|\{\{?[\w .-]*\}?\}|%\(\w+\)[sd]|%[sd]|\[/?\w+[^\]]*\]", ""),
    (r"\s+", " "),
)
SHORTEST, LONGEST, FEWEST_WORDS = 12, 400, 3  # characters and words of an English text
NEWEST, FEWEST_FILES = 3, 60  # branches that are read of a repository without so many files in its main one


def texts_of(clone: Path) -> Iterator[tuple[str, str, str]]:
    """Yield the texts of a repository: what they stand for, language and text."""
    refs = _git(clone, "for-each-ref", "--sort=-committerdate", "--format=%(refname)", "refs/heads").split()
    names = {ref: _git(clone, "ls-tree", "-r", "--name-only", ref).splitlines() for ref in ("HEAD", *refs[:NEWEST])}
    only = next((part for part in clone.parent.name.split("-") if part in LANGUAGES), "")
    for ref in ["HEAD"] if len(names["HEAD"]) >= FEWEST_FILES else names:
        for name in names[ref]:
            codes = [code for code in NAMED.findall(name) if code in LANGUAGES]
            lang = codes[-1] if codes else only
            if not lang or any(part in name for part in UNWANTED):
                continue
            if name.endswith(".po"):
                yield from ((english, lang, text) for english, text in _catalogue(_git(clone, "show", f"{ref}:{name}")))
            elif name.endswith((".json", ".yml", ".yaml", ".ini")) and codes and re.search("i18n|local|lang", name):
                place = NAMED.sub("", name)
                for key, text in _keyed(_git(clone, "show", f"{ref}:{name}"), name):
                    yield f"{clone}/{place}#{key}", lang, text


def _catalogue(text: str) -> Iterator[tuple[str, str]]:
    for block in re.split(r"\n\s*\n", text):
        if "#, fuzzy" in block or "\n#~" in block or "msgid_plural" in block:
            continue
        source, _, target = block.partition("\nmsgstr ")
        english = "".join(STRINGS.findall(source.partition("msgid ")[2]))
        yield _plain(english), _plain("".join(STRINGS.findall(target)))


def _keyed(text: str, name: str) -> Iterator[tuple[str, str]]:
    if name.endswith(".json"):
        try:
            found = json.loads(text)
        except ValueError:
            return
        yield from ((key, _plain(value)) for key, value in found.items() if isinstance(value, str))
        return
    for line in text.splitlines():
        if parts := re.match(r"\s*([\w.-]+)\s*[:=]\s+(\S.*)$", line):
            yield parts[1], _plain(parts[2].strip("\"'"))


def _plain(text: str) -> str:
    text = text.replace('\\"', '"').replace("\\n", " ").replace("\\\\", "\\")
    for pattern, new in MARKUP:
        text = re.sub(pattern, new, text)
    return text.strip()


def _git(clone: Path, *arguments: str) -> str:
    asked = subprocess.run(["git", f"--git-dir={clone}", *arguments], capture_output=True, check=False)
    return asked.stdout.decode("utf-8", "replace")


def main() -> None:
    """Write what is found."""
    parser = ArgumentParser(description="Find texts that stand in several languages.")
    parser.add_argument("clones", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    found = defaultdict[str, dict[str, str]](dict)
    for clone in sorted(
        {*options.clones.glob("*/repo"), *options.clones.glob("*/.git"), *options.clones.glob("*.git")}
    ):
        before = len(found)
        for key, lang, text in texts_of(clone):
            found[key].setdefault(lang, text)
        print(clone.parent.name, len(found) - before, flush=True)
    with lzma.open(options.out, "wt", encoding="utf-8") as file:
        count = defaultdict[str, int](int)
        for key, texts in found.items():
            english = texts.get("en") or ("" if "#" in key else key)
            if not SHORTEST <= len(english) <= LONGEST or len(english.split()) < FEWEST_WORDS:
                continue
            own = {lang: text for lang, text in texts.items() if 4 <= len(text) <= 2 * LONGEST and text != english}
            if others := {lang: text for lang, text in own.items() if lang != "en"}:
                file.write(json.dumps({"en": english, **others}, ensure_ascii=False) + "\n")
                for lang in others:
                    count[lang] += 1
    print(dict(count))


if __name__ == "__main__":
    main()

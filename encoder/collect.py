"""Collect what the encoder is trained on: our own labelled data, and the public code that it points to.

python -m encoder.collect OUT --wheels FOLDER --clones FOLDER

`--wheels` holds wheels of the packages named in `data/functions.jsonl.xz`, `--clones` bare clones of the repositories
named in `data/commits.jsonl.xz` (a folder for each, the name of the repository last in it). OUT becomes a JSON file.
"""

import ast
import hashlib
import json
import lzma
import re
import subprocess
import zipfile
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from holdfast.engine.tokens import pieces

DATA, SENTENCES = Path(__file__).parent / "data", Path(__file__).parent.parent / "classifier" / "data"
DOCSTRING = re.compile(r'("""|\'\'\').*?\1', re.DOTALL)
SECTION = re.compile(r'^(?:#+ )?([A-Z][^\n]{12,90})\n(?:[=\-~^"]{8,}\n)?\n((?:[^\n]+\n){2,12})', re.MULTILINE)
DIFF = re.compile(r"^(?=diff --git )", re.MULTILINE)
TEST = re.compile(r"diff --git \S+ b/\S*test")  # in the name of a file
COMMITS = "9000"  # of each clone, the newest
LONGEST = 900  # characters of a patch
LEAST, MOST = 150, 3_500  # characters of a commit that is worth reading
Row = dict[str, Any]


def main() -> None:
    """Write all kinds of examples to one file."""
    parser = ArgumentParser(description="Collect what the encoder is trained on.")
    parser.add_argument("out", type=Path)
    parser.add_argument("--wheels", type=Path, required=True)
    parser.add_argument("--clones", type=Path, required=True)
    options = parser.parse_args()
    functions = {key_of(code): (code, doc) for code, doc in functions_in(options.wheels)}
    commits = {key_of(patch): (subject, patch) for subject, patch in commits_in(options.clones)}
    asked = [(row["q"], functions[row["key"]][0]) for row in read("functions") if row["key"] in functions]
    reported = [(row, commits[row["key"]][1]) for row in read("commits") if row["key"] in commits]
    found = {
        "dialogues": read("dialogues"),
        "questions": [{"m": row["m"], "q": row["q"]} for path in sorted(SENTENCES.glob("qa-*.jsonl")) for row in lines_of(path)],
        "functions": [{"q": queries, "d": [code, code, code, DOCSTRING.sub("", code, count=1)]} for queries, code in asked],
        "docstrings": [{"q": [doc], "d": [DOCSTRING.sub("", code, count=1)]} for code, doc in functions.values()],
        "issues": [row for written, patch in reported for row in _from_issue(written, plain(patch))],
        "commits": [{"q": [subject], "d": [plain(patch)]} for subject, patch in commits.values()],
        "sections": [{"q": [heading], "d": [text[:700]]} for heading, text in sections_in(options.clones)],
        "reports": [{"q": [row["a"], row["a"].split("\n")[0]], "d": [row["b"]]} for row in read("reports")],
        "texts": sorted(set(_texts())),
    }  # fmt: skip
    options.out.write_text(json.dumps(found), encoding="utf-8")
    print({kind: len(rows) for kind, rows in found.items()})


def read(name: str) -> list[Row]:
    """Return the rows of one of our files."""
    with lzma.open(DATA / f"{name}.jsonl.xz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def lines_of(path: Path) -> list[Row]:
    """Return the rows of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def key_of(text: str) -> str:
    """Return the key by which our data names a piece of public code."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def plain(patch: str) -> str:
    """Return a patch as the product embeds it: one path for each file, no line numbers."""
    return "\n".join(pieces(patch))[:LONGEST]


def functions_in(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield short documented functions of wheels, with the first paragraph of their docstring."""
    for wheel in sorted(folder.glob("*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if name.endswith(".py"):
                    yield from _functions(archive.read(name).decode("utf-8", "replace"))


def _functions(source: str) -> Iterator[tuple[str, str]]:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return
    lines = source.split("\n")
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and (doc := ast.get_docstring(node)) and len(node.body) > 1:
            own = lines[node.lineno - 1 : node.end_lineno]
            indent = len(own[0]) - len(own[0].lstrip())
            code = "\n".join(line[indent:] for line in own)
            if code.isascii() and len(code) <= 1_100 and 4 <= len(own) <= 24:
                yield code, " ".join(doc.split("\n\n")[0].split())[:200]


def commits_in(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the subject and the patch of small commits to source files; a clone may lack the older part of its history."""
    for clone in sorted(folder.glob("*/repo")):
        command = ["git", "-C", str(clone), "log", "--no-merges", "-n", COMMITS, "-p", "-U2", "--format=%x01%s", "--", "*.py"]  # fmt: skip
        with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8", errors="replace") as log:
            for entry in _entries(log.stdout or ()):
                subject, *parts = DIFF.split(entry)
                files = [part for part in parts if not TEST.match(part)]
                if 1 <= len(files) <= 3 and LEAST < len(patch := "".join(files)) < MOST:
                    yield re.sub(r"\s*\(#\d+\)$", "", subject.strip()), patch


def _entries(lines: Iterable[str]) -> Iterator[str]:
    """Yield the entries of a log, each of which begins with a character of its own."""
    entry = list[str]()
    for line in lines:
        if line[0] == "\x01":
            yield "".join(entry)
            entry = []
        entry.append(line.lstrip("\x01"))
    yield "".join(entry)


def sections_in(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the headings of manuals with what stands below them."""
    for clone in sorted(folder.glob("*/repo")):
        for name in _git(clone, "ls-tree", "-r", "--name-only", "HEAD").split("\n"):
            if name.endswith((".rst", ".md")) and "change" not in name.lower():
                yield from SECTION.findall(_git(clone, "show", f"HEAD:{name}"))


def _git(clone: Path, *arguments: str) -> str:
    made = subprocess.run(["git", "-C", str(clone), *arguments], capture_output=True, check=True)
    return made.stdout.decode("utf-8", "replace")


def _from_issue(written: Row, patch: str) -> Iterator[Row]:
    """Yield what an issue should find: the patch, and what was written about it afterwards."""
    queries = [written["title"], written["title"], f"{written['title']}\n{written['body']}"]
    yield {"q": queries, "d": [patch]}
    yield {"q": queries, "d": [patch, written["note"], written["lesson"]]}


def _texts() -> Iterator[str]:
    """Yield sentences in many languages, on which the encoder should stay as it is."""
    for path in sorted(SENTENCES.glob("*.jsonl")):
        for row in lines_of(path):
            for value in row.values():
                for text in value if isinstance(value, list) else [value]:
                    if isinstance(text, str) and len(text) > 12:
                        yield text[:400]


if __name__ == "__main__":
    main()

"""Which files a parsed command writes, moves or removes."""

from __future__ import annotations

import re

from holdfast.model.patterns import lazy
from holdfast.policy.activity.patterns import anatomy
from holdfast.policy.activity.programs import INTERPRETERS, REWRITING

MYPY = False
if MYPY:
    from collections.abc import Iterable, Iterator, Sequence  # noqa: TC003

    from holdfast.policy.activity.shell import Call  # noqa: TC001

_TEXTS = ("cat", "echo", "printf")
_NOWHERE = ("/dev/", "$(")
_WRITING_CODE = lazy(
    r"\.write_(?:text|bytes)\b|\bopen\([^)]*,\s*(?:mode\s*=\s*)?['\"][rb]*[wax+]|\b(?:write|append)File(?:Sync)?\b|\bFile\.write\b|"
    r"\bos\.(?:remove|rename|replace|unlink)\b|\.unlink\(|\bshutil\.(?:copy|move)|\bcreateWriteStream\b|\binplace=True"
)
_PATCHED = lazy(r"^\*\*\* (Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$", re.MULTILINE)
_STRING = lazy(r"['\"]([^'\"\n]{1,300})['\"]")


def writes_of(pipelines: Iterable[Sequence[Call]], *, outputs: bool = True) -> Iterator[tuple[str, str]]:
    """Yield (create, edit or delete, path) for each file that a command writes, moves or removes.

    Without `outputs`, a file that only receives what another program prints does not count.
    """
    for calls in pipelines:
        for call in calls:
            is_text = not call.views or call.views[-1][0] in _TEXTS
            redirected = call.writes if outputs or is_text else ()
            for how, path in (*(("create", path) for path in redirected), *_by_program(call)):
                if path and not path.startswith(_NOWHERE):
                    plain = path.replace("\\", "/").removeprefix("./")
                    is_placed = plain.startswith(("/", "~")) or not call.folder
                    yield how, plain if is_placed else f"{call.folder.removeprefix('./')}{plain}"


def patched(patch: str) -> Iterator[tuple[str, str]]:
    """Yield (create, edit or delete, path) for each file of a patch in the form that Codex applies."""
    actions = {"Add": "create", "Update": "edit", "Delete": "delete", None: "create"}
    for match in _PATCHED.finditer(patch):
        yield actions[match[1]], (match[2] or match[3]).strip()


def _by_program(call: Call) -> Iterator[tuple[str, str]]:
    for view in call.views:
        found = anatomy(view)
        name, flags, words = found.program.lower(), found.flags, [word for word, _ in found.operands]
        if flags & {"help", "dry-run", "diff", "check"}:
            continue
        if name == "git" and words:
            name, words = f"git {words[0]}", words[1:]
        if name in REWRITING and (not REWRITING[name] or flags.intersection(REWRITING[name])):
            # Editors of streams take a script first, unless an option gave it.
            if name == "yq" or (name in ("sed", "gsed") and not flags & {"e", "expression", "f", "file"}):
                words = [word for word in words if word][1:]
            yield from (("edit", word) for word in words)
        elif name in ("cp", "install", "ln", "mv", "git mv"):
            *sources, target = words or [""]
            yield from (("delete", word) for word in words[:-1] if name.endswith("mv"))
            yield "create", target
            if target.endswith("/") or len(sources) > 1:
                yield from (("create", f"{target.rstrip('/')}/{source.rpartition('/')[2]}") for source in sources)
        elif name in INTERPRETERS and _WRITING_CODE.search(code := " ".join((*view[1:], call.input))):
            yield from (("edit", text) for text in _STRING.findall(code) if "/" in text or "." in text)
        else:
            yield from _by_name(name, words, flags, view)


def _by_name(name: str, words: list[str], flags: set[str], view: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield what a program that is known by its name writes or removes."""
    match name:
        case "rm" | "git rm":
            yield from (("delete", word) for word in words if "cached" not in flags)
        case "dd" | "curl" | "wget" | "sort":  # what follows an option that names the output
            for option, value in zip(view, view[1:], strict=False):  # noqa: RUF007  importing itertools takes time
                if option in ("-o", "-O", "--output", "--output-document", "--out"):
                    yield "create", value
            yield from (("create", word[3:]) for word in view if word.startswith("of="))
        case "ruff" | "biome" if words[:1] == ["format"] or (words[:1] == ["check"] and "fix" in flags):
            yield from (("edit", word) for word in words[1:])
        case "git checkout" | "git restore":  # the files that it takes back
            if "checkout" in view:
                words = list(view[view.index("--") + 1 :]) if "--" in view else [word for word in words if "." in word]
            elif "staged" in flags and "worktree" not in flags:
                words = []
            yield from (("edit", word) for word in words if word != ".")

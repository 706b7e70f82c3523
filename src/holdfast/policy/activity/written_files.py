"""Which files a parsed command writes, moves or removes."""

from __future__ import annotations

import re

from holdfast.policy.activity.patterns import anatomy
from holdfast.policy.activity.programs import INTERPRETERS

MYPY = False
if MYPY:
    from collections.abc import Iterable, Iterator, Sequence  # noqa: TC003

    from holdfast.policy.activity.shell import Call  # noqa: TC001

_TEXTS = ("cat", "echo", "printf")
_NOWHERE = ("/dev/", "$(")
# Formatters and other programs that rewrite the files they are given; with one of these flags, or always.
_REWRITING: dict[str, tuple[str, ...]] = {
    "sed": ("in-place",),
    "gsed": ("in-place", "i"),
    "perl": ("in-place",),
    "ruby": ("i",),
    "yq": ("inplace",),
    "prettier": ("write", "w"),
    "gofmt": ("w",),
    "goimports": ("w",),
    "eslint": ("fix",),
    "clang-format": ("i",),
    "shfmt": ("w",),
    "black": (),
    "isort": (),
    "rustfmt": (),
    "sponge": (),
    "truncate": (),
    "shred": (),
    "patch": (),
    "ex": (),
    "ed": (),
    "set-content": (),
    "add-content": (),
    "out-file": (),
    "clear-content": (),
    "tee": (),
    "tee-object": (),
}
_WRITING_CODE = re.compile(
    r"\.write_(?:text|bytes)\b|\bopen\([^)]*,\s*(?:mode\s*=\s*)?['\"][rb]*[wax+]|\b(?:write|append)File(?:Sync)?\b|\bFile\.write\b|"
    r"\bos\.(?:remove|rename|replace|unlink)\b|\.unlink\(|\bshutil\.(?:copy|move)|\bcreateWriteStream\b|\binplace=True"
)
_PATCHED = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$", re.MULTILINE)
_STRING = re.compile(r"['\"]([^'\"\n]{1,300})['\"]")


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
                    yield how, _placed(call.folder, path)


def patched(patch: str) -> Iterator[tuple[str, str]]:
    """Yield (create, edit or delete, path) for each file of a patch in the form that Codex applies."""
    actions = {"Add": "create", "Update": "edit", "Delete": "delete", None: "create"}
    for match in _PATCHED.finditer(patch):
        yield actions[match[1]], (match[2] or match[3]).strip()


def _placed(folder: str, path: str) -> str:
    path = path.replace("\\", "/").removeprefix("./")
    return path if path.startswith(("/", "~")) or not folder else f"{folder.removeprefix('./')}{path}"


def _by_program(call: Call) -> Iterator[tuple[str, str]]:
    for view in call.views:
        found = anatomy(view)
        name = found.program.lower()
        words = [word for word, _ in found.operands]
        if found.flags & {"help", "dry-run", "diff", "check"}:
            continue
        if name in _REWRITING and (not _REWRITING[name] or found.flags.intersection(_REWRITING[name])):
            yield from (("edit", word) for word in _files_of(name, words, found.flags))
        elif name in _OTHERS:
            yield from _OTHERS[name](words, found.flags, view)
        elif name == "git" and words:
            yield from _by_git(words[0], words[1:], found.flags, view)
        elif name in INTERPRETERS:
            code = " ".join((*view[1:], call.input))
            if _WRITING_CODE.search(code):
                yield from (("edit", text) for text in _STRING.findall(code) if "/" in text or "." in text)


def _files_of(name: str, words: list[str], flags: frozenset[str] | set[str]) -> list[str]:
    """Return the files among words: editors of streams take a script first, unless an option gave it."""
    if name in ("sed", "gsed") and not flags & {"e", "expression", "f", "file"}:
        words = [word for word in words if word]
        return words[1:]
    if name == "yq":
        return words[1:]
    return words


def _copied(words: list[str], _: object, __: object) -> Iterator[tuple[str, str]]:
    *sources, target = words or [""]
    yield "create", target
    if target.endswith("/") or len(sources) > 1:
        yield from (("create", f"{target.rstrip('/')}/{source.rpartition('/')[2]}") for source in sources)


def _moved(words: list[str], flags: object, view: object) -> Iterator[tuple[str, str]]:
    yield from (("delete", word) for word in words[:-1])
    yield from _copied(words, flags, view)


def _removed(words: list[str], _: object, __: object) -> Iterator[tuple[str, str]]:
    yield from (("delete", word) for word in words)


def _outputs(_: object, __: object, view: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield what follows an option that names the output."""
    for option, value in zip(view, view[1:], strict=False):  # noqa: RUF007  importing itertools takes time
        if option in ("-o", "-O", "--output", "--output-document", "--out"):
            yield "create", value
    yield from (("create", word[3:]) for word in view if word.startswith("of="))


def _formatted(words: list[str], flags: set[str], _: object) -> Iterator[tuple[str, str]]:
    if words[:1] == ["format"] or (words[:1] == ["check"] and "fix" in flags):
        yield from (("edit", word) for word in words[1:])


_OTHERS = {
    "cp": _copied,
    "install": _copied,
    "ln": _copied,
    "mv": _moved,
    "rm": _removed,
    "dd": _outputs,
    "curl": _outputs,
    "wget": _outputs,
    "sort": _outputs,
    "ruff": _formatted,
    "biome": _formatted,
}


def _by_git(subcommand: str, words: list[str], flags: set[str], view: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    if subcommand == "mv":
        yield from _moved(words, flags, view)
    elif subcommand == "rm" and "cached" not in flags:
        yield from _removed(words, flags, view)
    elif subcommand == "checkout":
        files = list(view[view.index("--") + 1 :]) if "--" in view else [word for word in words if "." in word]
        yield from (("edit", word) for word in files if word != ".")
    elif subcommand == "restore" and ("staged" not in flags or "worktree" in flags):
        yield from (("edit", word) for word in words if word != ".")

"""Import markdown of Claude Code and similar clients: the auto memory folder of a project, CLAUDE.md, AGENTS.md."""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from holdfast.adapters.checkout import GitCheckout
from holdfast.adapters.importers.files import front_matter, json_lines, read_text, sections
from holdfast.adapters.importers.maps import first, map_of, mapping, text, texts, when
from holdfast.model.errors import Invalid
from holdfast.model.event import Actor
from holdfast.model.files import lines_in, open_regular
from holdfast.model.foreign import Foreign, ForeignLink, Item, Remark
from holdfast.model.record import Draft

INSTRUCTIONS = ("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", ".claude/CLAUDE.md", "GEMINI.md")
INDEX = "MEMORY.md"
TOPICS = map_of("claude-code topics")
LOOKED_AT = 50  # lines of a transcript that are searched for the folder
_KINDS = {"user": "preference", "feedback": "preference", "project": "fact", "reference": "reference"}
# Blocks that programs generate from their own store.
_GENERATED = re.compile(r"<(claude-mem-context)>.*?</\1>", re.DOTALL)
_POINTER = re.compile(r"^\s*[-*]\s*\[[^\]]*\]\([\w.-]+\.md\).*$", re.MULTILINE)
_WIKI_LINK = re.compile(r"\[\[([^\[\]|#]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file, the name its memories are known by, and the project it belongs to."""

    file: Path
    name: str
    project: str | None
    siblings: frozenset[str] = frozenset()  # names of the other files in its folder


def read(path: Path) -> Iterator[Item]:
    """Yield the memories of a memory folder, of a file of instructions, or of a project that has such files."""
    sources = list(_sources(path))
    if not sources:
        raise Invalid(
            f"{path} contains no memories of Claude Code.", hint=f"Looked for {', '.join(INSTRUCTIONS)} and *.md."
        )
    for source in sources:
        try:
            content = read_text(source.file)
            is_topic = source.file.parent.name == "memory" and source.file.name != INDEX
            yield from _topic(source, content) if is_topic else _instructions(source, content)
        except Invalid as problem:
            yield Remark(where=source.name, why=problem.message)


def _sources(path: Path) -> Iterator[Source]:
    if path.is_file():
        yield _instruction_file(path)
    elif path.name == "memory" or (path / INDEX).is_file():
        files, project = sorted(path.glob("*.md")), _project_of_folder(path)
        names = frozenset(file.stem for file in files)
        for file in files:
            yield Source(file=file, name=f"{path.parent.name}/{file.name}", project=project, siblings=names)
    elif path.is_dir():
        for file in (path / name for name in INSTRUCTIONS):
            if file.is_file():
                yield _instruction_file(file)


def _instruction_file(file: Path) -> Source:
    """Return a file by its place in the repository; the file in the user's settings folder applies everywhere."""
    file = file.resolve()
    root = next((folder for folder in file.parents if (folder / ".git").exists()), None)
    everywhere = root is None and file.parent.name == ".claude"
    return Source(
        file=file,
        name=file.relative_to(root).as_posix() if root else str(file),
        project=GitCheckout(root).project() if root else "" if everywhere else None,
    )


def _project_of_folder(folder: Path) -> str | None:
    """Return the project of a memory folder by the transcripts next to it, which name the folder worked in."""
    for transcript in sorted(folder.parent.glob("*.jsonl")):
        with suppress(OSError), open_regular(transcript) as lines:
            head = (line.decode(errors="replace") for line in islice(lines_in(lines), LOOKED_AT))
            for entry in json_lines(transcript.name, head):
                if not isinstance(entry, Remark) and (cwd := text(entry[1].get("cwd"))):
                    return GitCheckout(Path(cwd)).project() if Path(cwd).is_dir() else cwd
    return None


def _topic(source: Source, content: str) -> Iterator[Item]:
    """Yield a file of the auto memory as a single memory, or its sections if it has no front matter."""
    meta, body = front_matter(content)
    if not meta:
        yield from _instructions(source, content)
        return
    nested, folder = mapping(meta.get("metadata")), source.name.rpartition("/")[0]
    title = first(meta, "description", "name") or source.file.stem
    names = dict.fromkeys(name.strip() for name in _WIKI_LINK.findall(body))
    linked = [name for name in names if name in source.siblings and name != source.file.stem]
    yield TOPICS.memory(
        meta,
        source.name,
        key=source.name,
        kind=_KINDS.get(text(nested.get("type")) or text(meta.get("type")), "fact"),
        title=title,
        body=body or title,
        tags=texts(meta.get("tags")),
        project=source.project,
        at=when(source.file.stat().st_mtime),
        by=Actor(kind="agent", name="claude", session=text(nested.get("originSessionId"))),
        links=tuple(ForeignLink(relation="mentions", key=f"{folder}/{name}.md") for name in linked),
        dated=False,
    )


def _instructions(source: Source, content: str) -> Iterator[Item]:
    """Yield the sections of a file, each under the headings that lead to it."""
    for block in _GENERATED.finditer(content):
        yield Remark(
            where=source.name, why=f"the content of <{block[1]}> is left out: a program generated it from its own store"
        )
    if source.file.name == INDEX:
        content = _POINTER.sub("", content)  # the files it links to are read anyway
    yield from sections_of(source, _GENERATED.sub("", content), "instructions")


def sections_of(source: Source, content: str, category: str) -> Iterator[Foreign]:
    """Yield the sections of a markdown text as memories."""
    at = when(source.file.stat().st_mtime)
    for section in sections(content):
        path = " › ".join(section.path)
        nth = f" #{section.nth}" if section.nth > 1 else ""
        title = f"{source.file.name} › {path}" if path else ""
        yield Foreign(
            key=f"{source.name} › {path}{nth}",
            where=f"{source.name} › {path}{nth}",
            draft=Draft(
                title=title,
                body=section.body,
                fields={"category": category},
                project=source.project,
                at=at,
                extra={"file": source.name, "headings": list(section.path)},
            ),
            by=Actor(kind="user"),
            dated=False,
        )

"""Import markdown of Claude Code and similar clients: the auto memory folder of a project, CLAUDE.md, AGENTS.md."""

import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

from holdfast.adapters.checkout import GitCheckout
from holdfast.adapters.importers.files import front_matter, json_lines, read_text, sections
from holdfast.adapters.importers.maps import Row, first, map_of, mapping, text, texts, when
from holdfast.model.errors import Invalid
from holdfast.model.event import Actor
from holdfast.model.files import lines_in, open_regular
from holdfast.model.record import Draft
from holdfast.model.replica import Foreign, ForeignLink, Item, Remark

INSTRUCTIONS = ("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", ".claude/CLAUDE.md", "GEMINI.md")
INDEX = "MEMORY.md"
TOPICS = map_of("claude-code topics")
LOOKED_AT = 50  # lines of a transcript that are searched for the folder
_KINDS = {"user": "preference", "feedback": "preference", "project": "fact", "reference": "reference"}
# Blocks that programs generate from their own store.
_GENERATED = re.compile(r"<(claude-mem-context)>.*?</\1>", re.DOTALL)
_POINTER = re.compile(r"^\s*[-*]\s*\[[^\]]*\]\([\w.-]+\.md\).*$", re.MULTILINE)
_WIKI_LINK = re.compile(r"\[\[([^\[\]|#]+)")


Source = tuple[Path, str, str | None]  # a file, the name its memories are known by, and the project it belongs to


def read(path: Path) -> Iterator[Item]:
    """Yield the memories of a memory folder, of a file of instructions, or of a project that has such files."""
    sources = list(_sources(path))
    if not sources:
        hint = f"Looked for {', '.join(INSTRUCTIONS)} and *.md."
        raise Invalid(f"{path} contains no memories of Claude Code.", hint=hint)
    for file, name, project in sources:
        try:
            content = read_text(file)
            meta, body = front_matter(content) if file.parent.name == "memory" and file.name != INDEX else ({}, "")
            if meta:
                yield _topic(file, name, project, meta, body)
                continue
            for block in _GENERATED.finditer(content):
                why = "is left out: a program generated it from its own store"
                yield Remark(name, f"the content of <{block[1]}> {why}")
            if file.name == INDEX:
                content = _POINTER.sub("", content)  # the files it links to are read anyway
            yield from sections_of((file, name, project), _GENERATED.sub("", content), "instructions")
        except Invalid as problem:
            yield Remark(name, problem.message)


def _sources(path: Path) -> Iterator[Source]:
    if not path.is_file() and (path.name == "memory" or (path / INDEX).is_file()):
        project = _project_of_folder(path)
        yield from ((file, f"{path.parent.name}/{file.name}", project) for file in sorted(path.glob("*.md")))
        return
    for file in [path] if path.is_file() else filter(Path.is_file, (path / name for name in INSTRUCTIONS)):
        # By its place in the repository; the file in the user's settings folder applies everywhere.
        place = file.resolve()
        root = next((folder for folder in place.parents if (folder / ".git").exists()), None)
        if root:
            yield place, place.relative_to(root).as_posix(), GitCheckout(root).project()
        else:
            yield place, str(place), "" if place.parent.name == ".claude" else None


def _project_of_folder(folder: Path) -> str | None:
    """Return the project of a memory folder by the transcripts next to it, which name the folder worked in."""
    for transcript in sorted(folder.parent.glob("*.jsonl")):
        with suppress(OSError), open_regular(transcript) as lines:
            head = (line.decode(errors="replace") for line in islice(lines_in(lines), LOOKED_AT))
            for entry in json_lines(transcript.name, head):
                if not isinstance(entry, Remark) and (cwd := text(entry[1].get("cwd"))):
                    return GitCheckout(Path(cwd)).project() if Path(cwd).is_dir() else cwd
    return None


def _topic(file: Path, name: str, project: str | None, meta: Row, body: str) -> Foreign:
    nested, folder, title = mapping(meta.get("metadata")), name.rpartition("/")[0], first(meta, "description", "name")
    siblings = {other.stem for other in file.parent.glob("*.md")} - {file.stem}
    linked = dict.fromkeys(link for found in _WIKI_LINK.findall(body) if (link := found.strip()) in siblings)
    return TOPICS.memory(
        meta,
        name,
        key=name,
        kind=_KINDS.get(text(nested.get("type")) or text(meta.get("type")), "fact"),
        title=title or file.stem,
        body=body or title or file.stem,
        tags=texts(meta.get("tags")),
        project=project,
        at=when(file.stat().st_mtime),
        by=Actor(kind="agent", name="claude", session=text(nested.get("originSessionId"))),
        links=tuple(ForeignLink("mentions", f"{folder}/{link}.md") for link in linked),
        dated=False,
    )


def sections_of(source: Source, content: str, category: str) -> Iterator[Foreign]:
    """Yield the sections of a markdown text as memories, each under the headings that lead to it."""
    file, name, project = source
    for headings, body, nth in sections(content):
        path = " › ".join(headings)
        key = f"{name} › {path}{f' #{nth}' if nth > 1 else ''}"
        title, at = f"{file.name} › {path}" if path else "", when(file.stat().st_mtime)
        fields, extra = {"category": category}, {"file": name, "headings": list(headings)}
        draft = Draft(title=title, body=body, fields=fields, project=project, at=at, extra=extra)
        yield Foreign(key=key, where=key, draft=draft, by=Actor(kind="user"), dated=False)

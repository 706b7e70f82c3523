"""The table of commands: where each one is defined, how the help groups them, and what people type for them instead."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A command: its module in `hosts/cli`, a line for the overview, and its own commands if it is a group of this table."""

    line: str
    module: str = ""
    commands: "Mapping[str, Entry]" = field(default_factory=dict)


def _table(rows: str) -> dict[str, Entry]:
    """Parse rows of name, module and line."""
    cells = (row.split(maxsplit=2) for row in rows.strip().splitlines())
    return {name: Entry(module=module, line=line) for name, module, line in cells}


# What most people need, in the order a newcomer meets it.
FIRST: dict[str, Entry] = _table("""
init      setup     Set up the AI clients on this machine.
remember  memories  Save a memory.
recall    memories  Search memories by word and meaning.
show      memories  Show a memory in full.
list      memories  List memories, newest first.
revise    edit      Change a memory.
forget    edit      Retire a memory, or erase it for good.
verify    verify    Check memories against the code.
review    review    Decide on everything that waits for you.
brief     sessions  Print what a session, or a plan, should know first.
sync      replicas  Sync with your team.
web       serve     Open the viewer in a browser.
doctor    doctor    Check that everything works.
""")
GROUPS: dict[str, Entry] = {
    **_table("""
session  sessions  Start, list and close sessions; transcripts.
thread   sessions  Track unfinished work.
hot      feedback  The few memories that matter most.
"""),
    "ingest": Entry(
        line="Import documents, git history and observations.",
        commands=_table("""
bootstrap  ingest  Import the project's documents.
seed       ingest  Import a file.
learn      ingest  Learn from the git history of this repository.
mine       ingest  Find recurring patterns in logged output.
absorb     ingest  Save what a sub-agent observed.
"""),
    ),
    "stats": Entry(
        line="Health, costs and reports.",
        commands=_table("""
health     stats  Show the health of the memory, and what to do first.
quality    stats  Show the cost and success of recent recalls.
receipts   stats  Show what was injected, and whether it helped.
analyze    stats  Summarise recent sessions.
learnings  stats  List learnings and decisions.
audit      stats  Show what was retired, erased or restored, by whom and why.
graph      stats  Show how memories, sessions, issues and people are connected.
metrics    stats  Show counters.
observer   stats  Show which observer is configured and what it costs.
"""),
    ),
    "store": Entry(
        line="Back up, export, import, move and repair the store.",
        commands=_table("""
backup        store.backup    Copy the store to a checked file while it is in use.
restore       store.backup    Replace the store by a backup.
export        store.transfer  Export the store as JSON lines, or its memories in another format.
import        store.transfer  Import an export, or the data of another system.
separate      store.maintain  Use a separate store for a folder.
detach        store.maintain  Use the usual store for a folder again.
project       store.maintain  List the projects of the store, or move memories to another one.
rename-scope  store.maintain  Rename a scope in all memories.
scan          store.maintain  Search the whole store for secrets, and mask them.
maintain      store.maintain  Retire expired memories and free space.
rebuild       store.maintain  Rebuild views or vectors from the journal, or a store from markdown files.
recover       store.backup    Recover what can be read from a damaged store.
migrate       store.backup    Move the store to PostgreSQL, or back to a file.
"""),
    ),
    "server": Entry(
        line="One memory for a team: the server, its users and keys.",
        commands=_table("""
run   server  Serve the memory to a team: many users, each with a key.
user  server  Add, list and remove the users of a server.
key   server  Create, list, rotate and revoke the keys of a server's users.
"""),
    ),
    **_table("""
replica  replicas  Copies for your team: git notes, markdown files.
"""),
}
MORE: dict[str, Entry] = _table("""
history     edit      Show every change of a memory.
restore     edit      Bring back a retired memory.
undo        edit      Take back your last change.
link        edit      Link a memory to another.
unlink      edit      Remove a link.
timeline    memories  Show what was saved before and after a memory.
judge       feedback  Report whether a memory helped, or answer a scar.
trust       feedback  Show or change the trust in a memory.
share       replicas  Share memories with your team.
unshare     replicas  Stop sharing memories.
check       verify    Fail if a change makes a team memory untrue (for CI).
watch       serve     Follow activity and new memories live.
status      doctor    Show what is in the store.
config      doctor    Show every setting and its source.
mcp         serve     Serve the memory to MCP clients.
uninstall   setup     Undo `init`.
completion  main      Print a completion script for a shell.
demo        ingest    Load a sample store: three months of a made-up team.
help        main      Show this overview, or the help of a command.
""")
# For programs: hooks, other systems' names, and names of earlier versions that documents still use.
HIDDEN: dict[str, Entry] = _table("""
work     serve     Process activity from hooks; hooks start this themselves.
compat   compat    Run a command of another system under its original name.
next     stats     Show what sessions used after a memory.
opening  sessions  Print the brief that a session would start with.
""")
COMMANDS: dict[str, Entry] = {**FIRST, **GROUPS, **MORE, **HIDDEN}
HEADINGS = {"Everyday": FIRST, "Groups": GROUPS, "More": MORE}

# What was a command of its own once, and is now.
MOVED: dict[str, str] = {
    **{name: f"{group} {name}" for group, entry in GROUPS.items() for name in entry.commands if name not in COMMANDS},
    "serve": "server run",
    "use": "judge",
    "log": "stats learnings",
    "confirm": "review approve",
    "cancel": "review reject",
    "accept": "review approve",
    "reject": "review reject",
    "quarantine": "review list --sort quarantined",
    "contradictions": "review contradictions",
    "duplicates": "review duplicates",
}
del MOVED["run"]
# What people type who do not know a command's name yet.
SYNONYMS: dict[str, str] = {
    word: command
    for command, words in {
        "recall": "search find query ask grep lookup",
        "remember": "add save new note create write put learned",
        "forget": "rm delete del remove retire erase drop",
        "init": "setup install configure start",
        "show": "get read view cat open",
        "list": "ls list-all all memories",
        "revise": "edit update change amend modify correct",
        "review": "approve pending inbox queue decide todo resolve merge",
        "brief": "context prime onboard",
        "sync": "push pull fetch",
        "web": "ui gui viewer browse dashboard",
        "doctor": "diagnose test validate selftest repair fix",
        "status": "info state count",
        "config": "settings set options",
        "restore": "undelete unforget",
        "history": "diff blame versions",
        "store export": "dump save-all",
        "store import": "load",
        "store maintain": "gc vacuum clean cleanup prune compact",
        "store scan": "secrets",
        "stats": "report statistics",
        "session": "sessions",
        "thread": "threads tasks",
        "--version": "version",
        "judge": "used helped feedback rate",
        "server": "users keys",
    }.items()
    for word in words.split()
}
# Examples for the help of commands whose docstring has none, without the word holdfast; a test runs every one of them.
EXAMPLES: dict[str, str] = {
    "init": "init --dry-run | init --client claude-code --client codex --yes | init --surface gitmem",
    "uninstall": "uninstall --dry-run | uninstall --client cursor",
    "show": "show QD7Q2M4X | show QD7Q2M4X --level files | show QD7Q2M4X --as-of yesterday",
    "list": "list --kind decision --since 7d | list --state retired | list --scopes",
    "timeline": "timeline QD7Q2M4X --before 10 | timeline how many requests does the API allow",
    "revise": 'revise QD7Q2M4X --text "The API allows 120 requests a minute." | revise QD7Q2M4X --tag api --tag limits | revise QD7Q2M4X --visibility team',
    "check": "check | check --base origin/main --format github | check --format sarif --output check.sarif",
    "forget": 'forget QD7Q2M4X --reason "the queue is gone" | forget QD7Q2M4X --erase',
    "restore": "list --state retired | restore QD7Q2M4X",
    "undo": "undo | undo QD7Q2M4X",
    "history": "history QD7Q2M4X",
    "link": "link QD7Q2M4X supersedes 8HX9K4TN",
    "unlink": "unlink QD7Q2M4X supersedes 8HX9K4TN",
    "judge": 'judge applied QD7Q2M4X --note "set the lock timeout" | judge contradicted QD7Q2M4X | judge verified QD7Q2M4X --note "read the retry loop"',
    "brief": "brief | brief add a column to the orders table | brief --form gate deploy the shop",
    "trust": "trust QD7Q2M4X | trust QD7Q2M4X --lower --reason outdated",
    "hot": "hot | hot pin QD7Q2M4X | hot suggest",
    "next": "next QD7Q2M4X | next QD7Q2M4X --warm",
    "work": "work | work --seconds 10",
    "opening": "opening",
    "compat": "compat memory-mcp run-mining | compat bettermemory doctor",
    "sync": "sync --dry-run | sync | sync --offline",
    "replica": "replica | replica on notes | replica off folder",
    "share": "share QD7Q2M4X 8HX9K4TN",
    "unshare": "unshare QD7Q2M4X",
    "status": "status | status --json",
    "doctor": "doctor",
    "config": "config | --set recall_limit=3 config",
    "help": "help | help recall | help store backup",
    "ingest": "ingest bootstrap --dry-run | ingest learn --dry-run",
    "ingest bootstrap": "ingest bootstrap --dry-run | ingest bootstrap | ingest bootstrap --file 'docs/*.md' --kind reference",
    "ingest seed": "ingest seed NOTES.md --kind learning --tag onboarding",
    "ingest learn": "ingest learn --dry-run | ingest learn --since 2026-01",
    "ingest absorb": 'ingest absorb --source reviewer "The retry loop has no bound." | ingest absorb --file observations.json | ingest absorb --candidates',
    "stats": "stats health | stats receipts --days 30",
    "stats health": "stats health | stats health --days 90",
    "stats quality": "stats quality --days 7",
    "stats receipts": "stats receipts --days 30",
    "stats analyze": "stats analyze | stats analyze blind-spots --days 90",
    "stats learnings": "stats learnings --days 7 | stats learnings --kind scar --severity critical",
    "stats audit": "stats audit | stats audit --verb erased --days 365",
    "stats metrics": "stats metrics",
    "stats observer": "stats observer",
    "store": "store backup | store export -o memories.jsonl",
    "store separate": "store separate | store separate . --at /srv/memories",
    "store detach": "store detach",
    "store restore": "store restore ~/holdfast-backup.db",
    "store export": "store export -o memories.jsonl | store export --as json | store export ./markdown --as bettermemory",
    "store import": "store import memories.jsonl | store import --from gitmem .gitmem --dry-run | store import --from claude-mem ~/.claude-mem/claude-mem.db",
    "store project": "store project | store project move foo github.com/me/foo",
    "store rename-scope": "store rename-scope backend services:backend",
    "store maintain": "store maintain --dry-run | store maintain",
    "store rebuild": "store rebuild | store rebuild vectors --missing",
    "server": "server user add anna | server run",
}
# A slip of the finger must not lead to one of these.
NEVER_GUESSED = frozenset({"forget", "uninstall", "unlink", "unshare", *HIDDEN})


def suggestion(word: str) -> str:
    """Return the command that was probably meant, in the words to type; "" if there is no good guess."""
    known = word.lower()
    if known in MOVED:
        return MOVED[known]
    if known in SYNONYMS:
        return SYNONYMS[known]
    meant = {name: name for name in COMMANDS} | MOVED | SYNONYMS
    near = nearest(known, [name for name, command in meant.items() if command not in NEVER_GUESSED])
    return meant.get(near, "")


def nearest(word: str, names: Iterable[str]) -> str:
    """Return the name a mistyped word resembles, never one that removes something."""
    return next(iter(get_close_matches(word, [name for name in names if name not in NEVER_GUESSED], n=1)), "")


def examples_of(path: str) -> str:
    """Return the examples of a command as the end of its help; empty if its own text has them."""
    lines = EXAMPLES[path].split(" | ") if path in EXAMPLES else ()
    return "\n".join(("\b", "Examples:", *(f"  holdfast {line}" for line in lines))) if lines else ""

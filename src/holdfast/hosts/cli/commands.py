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


def _of(module: str, **lines: str) -> dict[str, Entry]:
    return {name.replace("_", "-"): Entry(module=module, line=line) for name, line in lines.items()}


# What most people need, in the order a newcomer meets it.
FIRST: dict[str, Entry] = {
    **_of("setup", init="Set up the AI clients on this machine."),
    **_of(
        "memories",
        remember="Save a memory.",
        recall="Search memories by word and meaning.",
        show="Show a memory in full.",
        list="List memories, newest first.",
    ),
    **_of("edit", revise="Change a memory.", forget="Retire a memory, or erase it for good."),
    **_of("verify", verify="Check memories against the code."),
    **_of("review", review="Decide on everything that waits for you."),
    **_of("brief", brief="Print what a session, or a plan, should know first."),
    **_of("replicas", sync="Sync with your team."),
    **_of("web", web="Open the viewer in a browser."),
    **_of("doctor", doctor="Check that everything works."),
}
GROUPS: dict[str, Entry] = {
    **_of("sessions", session="Start, list and close sessions; transcripts."),
    **_of("threads", thread="Track unfinished work."),
    **_of("hot", hot="The few memories that matter most."),
    "ingest": Entry(
        line="Import documents, git history and observations.",
        commands=_of(
            "ingest",
            bootstrap="Import the project's documents.",
            seed="Import a file.",
            learn="Learn from the git history of this repository.",
            mine="Find recurring patterns in logged output.",
            absorb="Save what a sub-agent observed.",
        ),
    ),
    "stats": Entry(
        line="Health, costs and reports.",
        commands=_of(
            "stats",
            health="Show the health of the memory, and what to do first.",
            quality="Show the cost and success of recent recalls.",
            receipts="Show what was injected, and whether it helped.",
            analyze="Summarise recent sessions.",
            learnings="List learnings and decisions.",
            audit="Show what was retired, erased or restored, by whom and why.",
            graph="Show how memories, sessions, issues and people are connected.",
            metrics="Show counters.",
            observer="Show which observer is configured and what it costs.",
        ),
    ),
    "store": Entry(
        line="Back up, export, import, move and repair the store.",
        commands={
            **_of(
                "store.backup",
                backup="Copy the store to a checked file while it is in use.",
                restore="Replace the store by a backup.",
            ),
            **_of("store.transfer", export="Export the store as JSON lines, or its memories in another format."),
            "import": Entry(module="store.transfer", line="Import an export, or the data of another system."),
            **_of(
                "store.maintain",
                separate="Use a separate store for a folder.",
                detach="Use the usual store for a folder again.",
                project="List the projects of the store, or move memories to another one.",
                rename_scope="Rename a scope in all memories.",
            ),
            **_of("store.scan", scan="Search the whole store for secrets, and mask them."),
            **_of("store.maintain", maintain="Retire expired memories and free space."),
            **_of(
                "store.maintain", rebuild="Rebuild views or vectors from the journal, or a store from markdown files."
            ),
            **_of("store.backup", recover="Recover what can be read from a damaged store."),
            **_of("store.migrate", migrate="Move the store to PostgreSQL, or back to a file."),
        },
    ),
    "server": Entry(
        line="One memory for a team: the server, its users and keys.",
        commands=_of(
            "server",
            run="Serve the memory to a team: many users, each with a key.",
            user="Add, list and remove the users of a server.",
            key="Create, list, rotate and revoke the keys of a server's users.",
        ),
    ),
    **_of("replicas", replica="Copies for your team: git notes, markdown files."),
}
MORE: dict[str, Entry] = {
    **_of(
        "edit",
        history="Show every change of a memory.",
        restore="Bring back a retired memory.",
        undo="Take back your last change.",
        link="Link a memory to another.",
        unlink="Remove a link.",
    ),
    **_of("memories", timeline="Show what was saved before and after a memory."),
    **_of(
        "feedback",
        judge="Report whether a memory helped, or answer a scar.",
        trust="Show or change the trust in a memory.",
    ),
    **_of("replicas", share="Share memories with your team.", unshare="Stop sharing memories."),
    **_of("verify", check="Fail if a change makes a team memory untrue (for CI)."),
    **_of("web", watch="Follow activity and new memories live."),
    **_of("doctor", status="Show what is in the store.", config="Show every setting and its source."),
    **_of("mcp", mcp="Serve the memory to MCP clients."),
    **_of("setup", uninstall="Undo `init`."),
    **_of("completion", completion="Print a completion script for a shell."),
    **_of("demo", demo="Load a sample store: three months of a made-up team."),
    **_of("overview", help="Show this overview, or the help of a command."),
}
# For programs: hooks, other systems' names, and names of earlier versions that documents still use.
HIDDEN: dict[str, Entry] = {
    **_of("hooks", work="Process activity from hooks; hooks start this themselves."),
    **_of("compat", compat="Run a command of another system under its original name."),
    **_of("stats", next="Show what sessions used after a memory."),
    **_of("brief", opening="Print the brief that a session would start with."),
}
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
    **dict.fromkeys(("search", "find", "query", "ask", "grep", "lookup"), "recall"),
    **dict.fromkeys(("add", "save", "new", "note", "create", "write", "put", "learned"), "remember"),
    **dict.fromkeys(("rm", "delete", "del", "remove", "retire", "erase", "drop"), "forget"),
    **dict.fromkeys(("setup", "install", "configure", "start"), "init"),
    **dict.fromkeys(("get", "read", "view", "cat", "open"), "show"),
    **dict.fromkeys(("ls", "list-all", "all", "memories"), "list"),
    **dict.fromkeys(("edit", "update", "change", "amend", "modify", "correct"), "revise"),
    **dict.fromkeys(("approve", "pending", "inbox", "queue", "decide", "todo", "resolve", "merge"), "review"),
    **dict.fromkeys(("context", "prime", "onboard"), "brief"),
    **dict.fromkeys(("push", "pull", "fetch"), "sync"),
    **dict.fromkeys(("ui", "gui", "viewer", "browse", "dashboard"), "web"),
    **dict.fromkeys(("diagnose", "test", "validate", "selftest"), "doctor"),
    **dict.fromkeys(("info", "state", "count"), "status"),
    **dict.fromkeys(("settings", "set", "options"), "config"),
    **dict.fromkeys(("undelete", "unforget"), "restore"),
    **dict.fromkeys(("diff", "blame", "versions"), "history"),
    **dict.fromkeys(("dump", "save-all"), "store export"),
    **dict.fromkeys(("load",), "store import"),
    **dict.fromkeys(("gc", "vacuum", "clean", "cleanup", "prune", "compact"), "store maintain"),
    **dict.fromkeys(("repair", "fix"), "doctor"),
    **dict.fromkeys(("secrets",), "store scan"),
    **dict.fromkeys(("report", "statistics"), "stats"),
    **dict.fromkeys(("sessions",), "session"),
    **dict.fromkeys(("threads", "tasks"), "thread"),
    **dict.fromkeys(("version",), "--version"),
    **dict.fromkeys(("used", "helped", "feedback", "rate"), "judge"),
    **dict.fromkeys(("users", "keys"), "server"),
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

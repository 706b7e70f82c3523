"""Examples for the help of commands whose docstring has none; a test runs every one of them."""

EXAMPLES: dict[str, tuple[str, ...]] = {
    "init": (
        "holdfast init --dry-run",
        "holdfast init --client claude-code --client codex --yes",
        "holdfast init --surface gitmem",
    ),
    "uninstall": ("holdfast uninstall --dry-run", "holdfast uninstall --client cursor"),
    "show": (
        "holdfast show QD7Q2M4X",
        "holdfast show QD7Q2M4X --level files",
        "holdfast show QD7Q2M4X --as-of yesterday",
    ),
    "list": ("holdfast list --kind decision --since 7d", "holdfast list --state retired", "holdfast list --scopes"),
    "timeline": ("holdfast timeline QD7Q2M4X --before 10", "holdfast timeline how many requests does the API allow"),
    "revise": (
        'holdfast revise QD7Q2M4X --text "The API allows 120 requests a minute."',
        "holdfast revise QD7Q2M4X --tag api --tag limits",
        "holdfast revise QD7Q2M4X --visibility team",
    ),
    "check": (
        "holdfast check",
        "holdfast check --base origin/main --format github",
        "holdfast check --format sarif --output check.sarif",
    ),
    "forget": ('holdfast forget QD7Q2M4X --reason "the queue is gone"', "holdfast forget QD7Q2M4X --erase"),
    "restore": ("holdfast list --state retired", "holdfast restore QD7Q2M4X"),
    "undo": ("holdfast undo", "holdfast undo QD7Q2M4X"),
    "history": ("holdfast history QD7Q2M4X",),
    "link": ("holdfast link QD7Q2M4X supersedes 8HX9K4TN",),
    "unlink": ("holdfast unlink QD7Q2M4X supersedes 8HX9K4TN",),
    "judge": (
        'holdfast judge applied QD7Q2M4X --note "set the lock timeout"',
        "holdfast judge contradicted QD7Q2M4X",
        'holdfast judge verified QD7Q2M4X --note "read the retry loop"',
    ),
    "brief": (
        "holdfast brief",
        "holdfast brief add a column to the orders table",
        "holdfast brief --form gate deploy the shop",
    ),
    "trust": ("holdfast trust QD7Q2M4X", "holdfast trust QD7Q2M4X --lower --reason outdated"),
    "hot": ("holdfast hot", "holdfast hot pin QD7Q2M4X", "holdfast hot suggest"),
    "next": ("holdfast next QD7Q2M4X", "holdfast next QD7Q2M4X --warm"),
    "work": ("holdfast work", "holdfast work --seconds 10"),
    "opening": ("holdfast opening",),
    "compat": ("holdfast compat memory-mcp run-mining", "holdfast compat bettermemory doctor"),
    "sync": ("holdfast sync --dry-run", "holdfast sync", "holdfast sync --offline"),
    "replica": ("holdfast replica", "holdfast replica on notes", "holdfast replica off folder"),
    "share": ("holdfast share QD7Q2M4X 8HX9K4TN",),
    "unshare": ("holdfast unshare QD7Q2M4X",),
    "status": ("holdfast status", "holdfast status --json"),
    "doctor": ("holdfast doctor",),
    "config": ("holdfast config", "holdfast --set recall_limit=3 config"),
    "help": ("holdfast help", "holdfast help recall", "holdfast help store backup"),
    "ingest": ("holdfast ingest bootstrap --dry-run", "holdfast ingest learn --dry-run"),
    "ingest bootstrap": (
        "holdfast ingest bootstrap --dry-run",
        "holdfast ingest bootstrap",
        "holdfast ingest bootstrap --file 'docs/*.md' --kind reference",
    ),
    "ingest seed": ("holdfast ingest seed NOTES.md --kind learning --tag onboarding",),
    "ingest learn": ("holdfast ingest learn --dry-run", "holdfast ingest learn --since 2026-01"),
    "ingest absorb": (
        'holdfast ingest absorb --source reviewer "The retry loop has no bound."',
        "holdfast ingest absorb --file observations.json",
        "holdfast ingest absorb --candidates",
    ),
    "stats": ("holdfast stats health", "holdfast stats receipts --days 30"),
    "stats health": ("holdfast stats health", "holdfast stats health --days 90"),
    "stats quality": ("holdfast stats quality --days 7",),
    "stats receipts": ("holdfast stats receipts --days 30",),
    "stats analyze": ("holdfast stats analyze", "holdfast stats analyze blind-spots --days 90"),
    "stats learnings": (
        "holdfast stats learnings --days 7",
        "holdfast stats learnings --kind scar --severity critical",
    ),
    "stats audit": ("holdfast stats audit", "holdfast stats audit --verb erased --days 365"),
    "stats metrics": ("holdfast stats metrics",),
    "stats observer": ("holdfast stats observer",),
    "store": ("holdfast store backup", "holdfast store export -o memories.jsonl"),
    "store separate": ("holdfast store separate", "holdfast store separate . --at /srv/memories"),
    "store detach": ("holdfast store detach",),
    "store restore": ("holdfast store restore ~/holdfast-backup.db",),
    "store export": (
        "holdfast store export -o memories.jsonl",
        "holdfast store export --as json",
        "holdfast store export ./markdown --as bettermemory",
    ),
    "store import": (
        "holdfast store import memories.jsonl",
        "holdfast store import --from gitmem .gitmem --dry-run",
        "holdfast store import --from claude-mem ~/.claude-mem/claude-mem.db",
    ),
    "store project": ("holdfast store project", "holdfast store project move foo github.com/me/foo"),
    "store rename-scope": ("holdfast store rename-scope backend services:backend",),
    "store maintain": ("holdfast store maintain --dry-run", "holdfast store maintain"),
    "store rebuild": ("holdfast store rebuild", "holdfast store rebuild vectors --missing"),
    "server": ("holdfast server user add anna", "holdfast server run"),
}


def examples_of(path: str) -> str:
    """Return the examples of a command as the end of its help; empty if its own text has them."""
    lines = EXAMPLES.get(path, ())
    return "\n".join(("\b", "Examples:", *(f"  {line}" for line in lines))) if lines else ""

"""Examples for the help of commands whose docstring has none; a test parses every one of them."""

EXAMPLES: dict[str, tuple[str, ...]] = {
    "init": (
        "holdfast init --dry-run",
        "holdfast init --client claude-code --client codex --yes",
        "holdfast init --surface gitmem",
    ),
    "uninstall": ("holdfast uninstall --dry-run", "holdfast uninstall --client cursor"),
    "show": (
        "holdfast show 01JD7Q2M",
        "holdfast show 01JD7Q2M --level files",
        "holdfast show 01JD7Q2M --as-of 2026-06-01",
    ),
    "list": ("holdfast list --kind decision --limit 50", "holdfast list --state retired", "holdfast list --scopes"),
    "timeline": ("holdfast timeline 01JD7Q2M --before 10", "holdfast timeline when did we change the queue"),
    "revise": (
        'holdfast revise 01JD7Q2M --text "The API allows 120 requests a minute."',
        "holdfast revise 01JD7Q2M --tag api --tag limits",
        "holdfast revise 01JD7Q2M --visibility team",
    ),
    "check": (
        "holdfast check",
        "holdfast check --base origin/main --format github",
        "holdfast check --format sarif --output check.sarif",
    ),
    "confirm": ("holdfast list --state pending", "holdfast confirm 01JD7Q2M"),
    "cancel": ("holdfast list --state pending", "holdfast cancel 01JD7Q2M"),
    "forget": ('holdfast forget 01JD7Q2M --reason "the queue is gone"', "holdfast forget 01JD7Q2M --erase"),
    "restore": ("holdfast list --state retired", "holdfast restore 01JD7Q2M"),
    "history": ("holdfast history 01JD7Q2M",),
    "link": ("holdfast link 01JD7Q2M supersedes 01HX9K4T",),
    "unlink": ("holdfast unlink 01JD7Q2M supersedes 01HX9K4T",),
    "use": ('holdfast use applied 01JD7Q2M --note "set the lock timeout"', "holdfast use contradicted 01JD7Q2M"),
    "rename-scope": ("holdfast rename-scope backend services:backend",),
    "judge": (
        'holdfast judge APPLYING 01JD7Q2M --evidence "lock_timeout is set in migrate.sql"',
        'holdfast judge N_A 01JD7Q2M --evidence "no table is altered"',
        "holdfast judge applied 01JD7Q2M",
    ),
    "brief": ("holdfast brief add a column to the orders table", "holdfast brief --form gate deploy the shop"),
    "absorb": (
        'holdfast absorb --source reviewer "The retry loop has no upper bound."',
        "holdfast absorb --file observations.json",
        "holdfast absorb --candidates",
    ),
    "log": ("holdfast log --days 7", "holdfast log --kind scar --severity critical"),
    "analyze": ("holdfast analyze", "holdfast analyze blind-spots --days 90"),
    "learn": ("holdfast learn --dry-run", "holdfast learn --since 2026-01-01"),
    "observer": ("holdfast observer",),
    "health": ("holdfast health", "holdfast health --days 90"),
    "trust": ("holdfast trust 01JD7Q2M", "holdfast trust 01JD7Q2M --lower --reason outdated"),
    "hot": ("holdfast hot", "holdfast hot pin 01JD7Q2M", "holdfast hot suggest"),
    "next": ("holdfast next 01JD7Q2M", "holdfast next 01JD7Q2M --warm"),
    "quality": ("holdfast quality --days 7",),
    "maintain": ("holdfast maintain --dry-run", "holdfast maintain"),
    "audit": ("holdfast audit", "holdfast audit --verb erased --days 365"),
    "metrics": ("holdfast metrics",),
    "opening": ("holdfast opening", "holdfast --set brief_budget=500 opening"),
    "receipts": ("holdfast receipts --days 30",),
    "work": ("holdfast work", "holdfast work --seconds 10"),
    "duplicates": (
        "holdfast duplicates",
        "holdfast duplicates merge 01JD7Q2M 01HX9K4T",
        "holdfast duplicates split 01JD7Q2M",
    ),
    "bootstrap": (
        "holdfast bootstrap --dry-run",
        "holdfast bootstrap",
        "holdfast bootstrap --file 'docs/*.md' --kind reference",
    ),
    "seed": ("holdfast seed NOTES.md --kind learning --tag onboarding",),
    "project": ("holdfast project", "holdfast project move foo github.com/me/foo"),
    "compat": ("holdfast compat memory-mcp run-mining", "holdfast compat bettermemory doctor"),
    "sync": ("holdfast sync --dry-run", "holdfast sync", "holdfast sync --offline"),
    "replica": ("holdfast replica", "holdfast replica on notes", "holdfast replica off folder"),
    "quarantine": ("holdfast quarantine", "holdfast quarantine --json"),
    "accept": ("holdfast accept mira@example.org", "holdfast accept 01JD7Q2M"),
    "reject": ("holdfast reject 01JD7Q2M", "holdfast reject stranger@example.org"),
    "share": ("holdfast share 01JD7Q2M 01HX9K4T",),
    "unshare": ("holdfast unshare 01JD7Q2M",),
    "export": (
        "holdfast export -o memories.jsonl",
        "holdfast export --as json",
        "holdfast export ./markdown --as bettermemory",
    ),
    "import": (
        "holdfast import memories.jsonl",
        "holdfast import --from gitmem .gitmem --dry-run",
        "holdfast import --from claude-mem ~/.claude-mem/claude-mem.db",
    ),
    "rebuild": ("holdfast rebuild", "holdfast rebuild vectors --missing"),
    "status": ("holdfast status", "holdfast status --json"),
    "doctor": ("holdfast doctor",),
    "config": ("holdfast config", "holdfast --set recall_limit=3 config"),
}


def examples_of(name: str) -> str:
    """Return the examples of a command as the end of its help; empty if its own text has them."""
    lines = EXAMPLES.get(name, ())
    return "\n".join(("\b", "Examples:", *(f"  {line}" for line in lines))) if lines else ""

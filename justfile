# Set everything up and run the command line.
run *arguments:
    python3 dev.py holdfast {{arguments}}

# Every test, with all rows of the large tables, browsers, crashes and the soak.
whole *arguments:
    python3 dev.py whole {{arguments}}

# Formatting, lint, types and tests: what CI runs.
test *arguments:
    python3 dev.py test {{arguments}}

# Every test once more, with all memories in PostgreSQL.
postgres *arguments:
    python3 dev.py postgres {{arguments}}

# Write the offers of the surfaces, after a tool has changed.
offers:
    python3 dev.py uv run python scripts/offers.py

# The reference pages of the site, after a command, setting or tool has changed.
reference:
    python3 dev.py uv run python scripts/reference.py

# The documentation site, every link checked.
docs *arguments:
    python3 dev.py docs {{arguments}}

# The pictures of the README, from a real run.
picture:
    python3 dev.py picture

# Generated input for hooks, verbs, tools, files, notes and HTTP.
fuzz *arguments:
    python3 dev.py fuzz {{arguments}}

# How many lines of the inner layers the tests run.
coverage *tests:
    python3 dev.py coverage {{tests}}

# Everything at once on one store for ten minutes, while things go wrong.
soak *arguments:
    python3 dev.py soak {{arguments}}

# The official MCP tools on our servers: Inspector and the conformance suite, in both protocol eras.
protocol:
    python3 dev.py protocol

# The plugin in the real Claude Code, Codex and Copilot CLI; fetches about 1 GB the first time.
plugin:
    python3 dev.py plugin

# Every promise in the real Claude Code, Codex, Gemini CLI and OpenCode; fetches about 1 GB the first time.
clients *arguments:
    python3 dev.py clients {{arguments}}

# Pictures of the viewer, light and dark, into docs/screenshots; needs chromium.
screenshots:
    python3 dev.py screenshots

# Fix formatting and whatever lint can fix.
fix:
    python3 dev.py uv run ruff check --fix
    python3 dev.py uv run ruff format

# Retrieval quality on labelled sets, next to plain FTS5: just bench-retrieval DATA_FOLDER
bench-retrieval data:
    python3 dev.py bench retrieval --data {{data}} --cache .bench

# The store of `holdfast demo` again, after a change to its story or to what is kept of it.
demo:
    python3 dev.py demo

# Speed at 1k, 10k and 100k records, a fresh process, many writers and kill -9.
bench:
    python3 dev.py bench speed
    python3 dev.py bench fresh
    python3 dev.py bench durability

# The same at a million records in a hundred projects (about a quarter of an hour).
bench-million:
    python3 dev.py bench speed --size 1m

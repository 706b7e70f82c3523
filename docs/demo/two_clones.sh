#!/bin/sh
# Two clones of one repository share a decision: ada writes it down, bob accepts what she sends, his agent knows it, bob amends it, ada sees that;
# then bob changes the code, and ada learns that the decision went stale, from which commit, and what to do.
# Runs in a temporary folder with homes of its own; needs git and the holdfast command. COMMAND names another one.
set -eu

holdfast="${COMMAND:-holdfast}"
place="$(mktemp -d)"
trap 'rm -rf "$place"' EXIT
export HOLDFAST_EMBEDDER=none HOLDFAST_STARTERS=false GIT_CONFIG_NOSYSTEM=1

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }

# Run a command as somebody: their home, their store, their clone.
as() {
    who="$1"
    shift
    (
        cd "$place/$who/shop"
        HOME="$place/$who" HOLDFAST_HOME="$place/$who/store" XDG_CONFIG_HOME="$place/$who/config" HOLDFAST_AGENT="$who" "$@"
    )
}

say "# A repository with a remote and two clones"
git init -q --bare -b main "$place/shop.git"
for who in ada bob; do
    mkdir -p "$place/$who"
    git clone -q "$place/shop.git" "$place/$who/shop" 2>/dev/null
    as "$who" git config user.name "$who"
    as "$who" git config user.email "$who@example.org"
done
echo "orders: postgres" >"$place/ada/shop/stack.yml"
as ada git add stack.yml
as ada git commit -q -m "orders are kept in PostgreSQL"
as ada git push -q origin HEAD:main
as bob git pull -q origin main

say "# ada decides something, for the team, and syncs"
as ada $holdfast replica on notes --no-git-config
as ada $holdfast remember --team --kind decision --anchor stack.yml::orders=postgres \
    --title "Orders live in PostgreSQL" "We keep orders in PostgreSQL: the ledger needs transactions across tables."
as ada $holdfast remember "My own note, which stays on this machine: ask Grace about the invoice numbers."
as ada $holdfast sync

say "# bob syncs: nobody here knows ada yet, so what she sent waits; he accepts her, once, and asks"
as bob $holdfast replica on notes --no-git-config
as bob $holdfast sync
as bob $holdfast review list --sort quarantined
as bob $holdfast review approve ada@example.org
as bob $holdfast recall "where do we keep orders"

say "# bob amends it; ada sees who did"
id="$(as bob $holdfast list --json | sed -n 's/^ *"id": "\(.*\)",*$/\1/p' | head -n 1)"
as bob $holdfast revise "$id" --tag storage --tag ledger
as bob $holdfast sync
as ada $holdfast review approve bob@example.org
as ada $holdfast sync
as ada $holdfast history "$id"

say "# What git carries: one line an event, readable without Holdfast"
as bob git notes --ref holdfast/decisions list
as bob git notes --ref holdfast/decisions show "$(as bob git rev-parse HEAD)" | cut -f 1

say "# bob moves orders elsewhere; a pull request would have been stopped"
as bob sh -c 'echo "orders: sqlite" > stack.yml && git commit -q -a -m "orders move to SQLite" && git push -q origin HEAD:main'
as bob $holdfast check --base HEAD~1 || echo "(exit code $?)"

say "# ada pulls: what they know is no longer so, and says it"
as ada git pull -q origin main
as ada $holdfast recall "where do we keep orders"
as ada $holdfast verify "$id" || echo "(exit code $?)"
as ada $holdfast verify --all || echo "(exit code $?)"

say "# ada mends it, and bob knows"
as ada $holdfast revise "$id" --title "Orders live in SQLite" --anchor stack.yml::orders=sqlite \
    --text "We keep orders in SQLite: one shop, one file, transactions all the same."
as ada $holdfast sync
as bob $holdfast sync
as bob $holdfast recall "where do we keep orders"

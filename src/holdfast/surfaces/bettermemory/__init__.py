"""The compatible surface of bettermemory: search with staleness, gated writes, tombstones, curation."""

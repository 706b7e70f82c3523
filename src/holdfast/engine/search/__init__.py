"""Search: find records by words, by vectors and as near-duplicates."""

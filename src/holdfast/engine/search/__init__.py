"""Find candidates: words, vectors, near-duplicates."""

"""Keep records true: verify, trust, contradictions, duplicates."""

"""Makes the demo store: three months of a made-up team of two people and their agents."""

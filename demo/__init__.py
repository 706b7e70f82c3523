"""Generate the demo store: three months of work by a made-up team of two people and their agents."""

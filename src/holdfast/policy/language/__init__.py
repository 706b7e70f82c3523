"""Read texts: statements, what is worth keeping, comparisons, documents and titles."""

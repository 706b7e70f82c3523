"""LLM observers that read activity, and their modes."""

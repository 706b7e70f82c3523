"""Where something stands in source text."""

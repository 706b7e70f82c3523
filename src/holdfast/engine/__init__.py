"""How memories are kept and found: the journal, its views, search, ranking and packing."""

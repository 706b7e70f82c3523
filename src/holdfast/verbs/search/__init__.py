"""Find records: recall, vectors, timelines, the graph."""

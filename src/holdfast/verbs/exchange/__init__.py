"""Import, export and sync records."""

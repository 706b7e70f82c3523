"""Find and mask credentials: rules, places where they occur, and undoing of escapes."""

"""Back up and restore stores, move them, and recover damaged ones."""

"""Models that read what happened, and the modes they read it in."""
